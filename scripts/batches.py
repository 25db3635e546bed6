#!/usr/bin/env python3
"""Puts the sources of a target into a few files that are compiled in their place, as most of a small source's time is its headers'.

  batches.py --count ROOT SOURCE...          says how many files it takes
  batches.py --write FOLDER N ROOT SOURCE... writes FOLDER/batch_0.cc to batch_(N-1).cc, which include sources by their path in ROOT;
                                             what is already so is left alone

Sources that would not compile together are kept apart: one declares a name for itself alone (in an unnamed namespace, by using)
that the other declares, too, uses from elsewhere, or brings along in a header. A folder of the build is one namespace, near enough;
where sources are of all folders (tidy.py), names meet only if one's namespace sees the other's.
"""
import collections
import pathlib
import re
import sys

SIZE = 4
UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.S | re.M)
ALIAS = re.compile(r"^(?:using|namespace) [^;{]*?(\w+)(?: = [^;{]*)?;", re.M)
TYPE = re.compile(r"(?:template.*> )?(?:struct|class|union|enum(?: class)?) (\w+)")
CONSTANT = re.compile(r"(?:constexpr|const|inline|static) ")
FREE_NAME = re.compile(r"(?<![\w.:>])[A-Za-z_]\w*|(?<=[^-]>)[A-Za-z_]\w*")
MATCHER = re.compile(r"MATCHER(?:_P\d*)?\((\w+)")
# A class of a source that others may know of, and with members of types that are the source's own: GCC warns of it in all but a main file.
OUTER_TYPE = re.compile(r"^(?:class|struct) [\w:]+[^;]*? \{$", re.M)
LINKAGE = '#pragma GCC diagnostic ignored "-Wsubobject-linkage"\n'
OWN_INCLUDE = re.compile(r'^#include "(\w[\w/]*\.h)"', re.M)
HEADER_NAME = re.compile(r"^(?:struct|class|enum class|enum|using|namespace|[\w:<>,*& ]*?)[ &*]*\b(\w+)(?: = |\(|;| \{| :)", re.M)
LINKED = re.compile(r'^(?:extern "C" [^(;]*?|int (?=main\())(\w+)\([^;]*$', re.M)  # defined, not declared; one name in all namespaces
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.M)
GTEST = re.compile(r"(?:TEST|TEST_F|TEST_P|TYPED_TEST|INSTANTIATE_\w+)\((\w+)")


def names_of_line(line):
    """The names that a line in the first column declares."""
    if found := MATCHER.match(line):
        return [found[1]]
    if line[0] in " }/#)" or GTEST.match(line):
        return []
    if found := TYPE.match(line):
        return [found[1]]
    names = re.findall(r"\bk[A-Z]\w*", line) if CONSTANT.match(line) else []
    if found := re.match(r"[^(={;]*?([A-Za-z_]\w*)\s*(?:\[\w*\]\s*)?[(={;]", line):
        if not line[: found.start(1)].endswith("::"):
            names.append(found[1])
    return names


class Headers:
    """What the project's own headers name; all of it in one namespace unless told otherwise."""

    def __init__(self, root, by_namespace=False):
        self.root, self.by_namespace, self.known = pathlib.Path(root), by_namespace, {}

    def namespaces_of(self, text):
        return self.by_namespace and set(NAMESPACE.findall(text)) or {""}

    def names(self, text):
        """What the headers that a text includes name, with those that they include, by namespace."""
        todo, seen, names = OWN_INCLUDE.findall(text), set(), collections.defaultdict(set)
        while todo:
            header = todo.pop()
            if header in seen:
                continue
            seen.add(header)
            if header not in self.known:
                path = self.root / header
                inner = path.read_text(encoding="utf-8") if path.exists() else ""  # else it is generated
                self.known[header] = set(HEADER_NAME.findall(inner)), self.namespaces_of(inner), OWN_INCLUDE.findall(inner)
            own, namespaces, more = self.known[header]
            for namespace in namespaces:
                names[namespace] |= own
            todo += more
        return names


class Source:
    def __init__(self, path, headers):
        text = pathlib.Path(path).read_text(encoding="utf-8")
        code = re.sub(r"//.*|\"(?:[^\"\\\n]|\\.)*\"", "", text)
        self.aliases = {found[1]: found[0] for found in ALIAS.finditer(code)}
        unnamed = "\n".join(UNNAMED.findall(text))
        self.own = {name for line in unnamed.splitlines() if line for name in names_of_line(line)} - set(self.aliases)
        self.path, self.outer = path, OUTER_TYPE.search(UNNAMED.sub("", text)) is not None
        self.uses, self.linked = set(FREE_NAME.findall(code)), set(LINKED.findall(text))
        self.namespaces, self.includes = headers.namespaces_of(text), headers.names(text)

    def fits(self, other):
        return not self.linked & other.linked and self.leaves_alone(other) and other.leaves_alone(self)

    def is_seen_by(self, other):
        """Whether the other has code in a namespace of this one, or inside one."""
        return any(not outer or f"{inner}::".startswith(f"{outer}::") for outer in self.namespaces for inner in other.namespaces)

    def leaves_alone(self, other):
        if any(self.own & (other.includes[name] - self.includes[name]) for name in self.namespaces):
            return False
        if not self.is_seen_by(other):
            return True
        same = all(other.aliases.get(name) == text for name, text in self.aliases.items() if name in other.uses)
        return same and not self.own & other.uses


def batches_of(root, sources, size=SIZE, by_namespace=False):
    headers, batches = Headers(root, by_namespace), []
    for path in sources:
        source = Source(path, headers)
        for batch in batches:
            if len(batch) < size and all(source.fits(other) for other in batch):
                batch.append(source)
                break
        else:
            batches.append([source])
    return batches


def write(folder, count, root, sources):
    batches = batches_of(root, sources)
    if len(batches) > count:
        sys.exit(f"{folder}: the sources take {len(batches)} files now, not {count}: run cmake again")
    for number in range(count):
        batch = batches[number] if number < len(batches) else []
        text = LINKAGE if any(source.outer for source in batch) else ""
        text += "".join(f'#include "{pathlib.Path(source.path).relative_to(root)}"\n' for source in batch)
        file = pathlib.Path(folder, f"batch_{number}.cc")
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def main(arguments):
    if arguments[0] == "--count":
        print(len(batches_of(arguments[1], arguments[2:])))
    else:
        folder, count, root = arguments[1:4]
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        write(folder, int(count), root, arguments[4:])


if __name__ == "__main__":
    main(sys.argv[1:])
