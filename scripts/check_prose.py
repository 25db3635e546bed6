#!/usr/bin/env python3
"""Checks that the documents can be read: short sentences that begin with their subject.

  check_prose.py ROOT [FILE…]

A sentence of README.md and docs/ has at most 25 words. It does not begin with a riddle ("What is …", "Those of …", "Of two …") and
has at most two words that stand for a noun (what, that, those, which, who …). A piece of code, a link and a list of codes count
as one word. Code blocks and parts that a script prints (between "<!-- printed by" and "<!-- end -->") are not read.
A semicolon ends a statement in a table, where cells are lists; a question may begin as it likes.

A link to a file or heading of the checkout leads somewhere.

scripts/prose_known.txt lists sentences that fail and may stay for now: FILE: FIRST WORDS. An entry without its sentence is an error,
so that the list only shrinks.
"""

import pathlib
import posixpath
import re
import sys

MAX_WORDS = 25
MAX_STANDINS = 2
KNOWN = "scripts/prose_known.txt"

OPENING = re.compile(
    r"(what|whatever|which|whichever|that which|those|who|whoever|whose|whom|of|such|the same of|one that|ones that)\b", re.I)
CLEFT = re.compile(r"(it|there) (is|was|are) [^,.:;]{1,60}? (that|which|who)\b", re.I)
STANDIN = re.compile(r"\b(what|whatever|that|those|which|who|whoever|whose|whom)\b", re.I)

PRINTED, PRINTED_END = "<!-- printed by", "<!-- end -->"
ITEM = re.compile(r"(\s*)(?:[-*]|\d+\.)\s+")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx)\.", re.I)
# Names that begin a sentence with a small letter.
SMALL = "istiod|gRPC|xDS|inotify|nghttp2|libyaml|zlib|abseil|protobuf|clang"
END = re.compile(rf"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_]*(?:[A-Z0-9§]|{SMALL}))|(?<=[.!?])$")
CODES = re.compile(r"§(?:(?:,| or| and|, or|, and) §)+")


def blocks(text):
    """Yields (first line's number, text, whether it is a table's cell) for each paragraph, list item and cell."""
    lines = text.splitlines()
    pending, start, printed, fenced, listed, coded = [], 0, False, False, None, False

    def flush():
        nonlocal pending
        if pending:
            yield start, " ".join(pending), False
        pending = []

    for number, line in enumerate(lines, 1):
        stripped, indent, item = line.strip(), len(line) - len(line.lstrip()), ITEM.match(line)
        # An indented block is code: four columns deeper than the text around it, after an empty line.
        coded = bool(stripped) and not pending and indent >= (4 if listed is None else listed + 6) or coded and not stripped
        if fenced or printed or coded or not stripped or stripped.startswith(("```", "#", "|", PRINTED)):
            yield from flush()
            if stripped and indent == 0:
                listed = None
            fenced ^= stripped.startswith("```")
            printed = stripped.startswith(PRINTED) or printed and PRINTED_END not in line
            if not fenced and not printed and not coded and is_row(lines, number):
                for cell in re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", lambda m: m[0].replace("|", "\\|"), stripped))[1:-1]:
                    yield number, cell.strip(), True
            continue
        if item:
            yield from flush()
            listed, line = indent, line[item.end():]
        elif not pending and indent == 0:
            listed = None
        if not pending:
            start = number
        pending.append(line.strip())
    yield from flush()


def is_row(lines, number):
    """Whether the line is a table's row, but neither its head nor the rule below that."""
    rule = re.compile(r"\|[|\s:-]+$")
    line, following = lines[number - 1].strip(), lines[number].strip() if number < len(lines) else ""
    return line.startswith("|") and not rule.match(line) and not rule.match(following)


def plain(text):
    """The text with each piece of code as §, links as their words and no markup."""
    text = re.sub(r"<!--.*?-->|<[^<>]*>", "", text)
    text = re.sub(r"``.+?``|`[^`]*`", "§", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = ABBREVIATION.sub(lambda m: m[0].replace(".", ""), text)
    return CODES.sub("§", text.replace("**", ""))


def sentences(text, cell):
    """The sentences of a block; statements of a cell, which a semicolon ends, too."""
    for part in re.split(r";\s+", plain(text)) if cell else [plain(text)]:
        for sentence in END.split(part):
            if sentence and sentence.strip():
                yield sentence.strip()


def words(sentence):
    return [word for word in sentence.split() if re.search(r"[\w§]", word)]


def faults(sentence):
    """Yields what is wrong with one sentence."""
    count = len(words(sentence))
    if count > MAX_WORDS:
        yield f"{count} words, {MAX_WORDS} at most"
    opening = sentence.lstrip("\"'(*_")
    if not sentence.endswith("?"):
        if found := OPENING.match(opening):
            yield f'begins with "{found[0]}": name the subject first'
        elif found := CLEFT.match(opening):
            yield f'begins with "{found[0]}": name the subject first'
    stand_ins = STANDIN.findall(sentence)
    if len(stand_ins) > MAX_STANDINS:
        yield f"{len(stand_ins)} words in place of nouns ({', '.join(stand_ins)}), {MAX_STANDINS} at most"


def findings(path, text):
    """Yields (line, first words, message) for a document."""
    for line, block, cell in blocks(text):
        for sentence in sentences(block, cell):
            first = " ".join(words(sentence)[:6])
            for fault in faults(sentence):
                yield line, first, f"{path}:{line}: {fault}: {first} …"


def anchors(text):
    """The names of a document's headings, as GitHub makes them, and of its "<a id=…>"."""
    headings = [plain(line.lstrip("#").replace("`", "")).lower() for line in text.splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", heading.strip()).replace(" ", "-") for heading in headings} | set(re.findall(r'<a id="([^"]+)">', text))


def broken_links(path, text, read):
    """Yields a message for each link that leads nowhere; `read` gives the text of a file, "" of a folder, None of nothing."""
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            name, _, anchor = target.partition("#")
            there = text if not name else read(posixpath.normpath(posixpath.join(posixpath.dirname(path), name)))
            if there is None or anchor and anchor not in anchors(there):
                yield f"{path}:{number}: the link {target} leads nowhere"


def bad_headings(path, text):
    """Yields a message for each heading that begins with a riddle and is no question."""
    for number, line in enumerate(text.splitlines(), 1):
        if (found := re.match(r"#+ (.*)", line)) and OPENING.match(found[1]) and not found[1].endswith("?"):
            yield f"{path}:{number}: the heading begins with a riddle: name its subject: {found[1]}"


def check(documents, known):
    """documents: {path: text}; known: lines "path: first words". The messages of what is wrong."""
    left, messages = set(known), []
    met = set()
    for path, text in documents.items():
        for _, first, message in findings(path, text):
            entry = f"{path}: {first}"
            if entry in left:
                met.add(entry)
            else:
                messages.append(message)
    return messages + [f"{KNOWN}: this sentence is mended or gone, remove its line: {entry}" for entry in sorted(left - met)]


def main(root, names):
    root = pathlib.Path(root)
    paths = [root / name for name in names] or [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    documents = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}
    listed = root / KNOWN
    known = [line for line in listed.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"] if listed.exists() else []
    if names:
        known = [entry for entry in known if entry.split(":")[0] in documents]
    messages = check(documents, known)

    def read(name):
        target = root / name
        return target.read_text(encoding="utf-8") if target.is_file() else "" if target.is_dir() else None

    messages += [message for path, text in documents.items() for message in [*broken_links(path, text, read), *bad_headings(path, text)]]
    print("\n".join(messages) or f"{len(documents)} documents, {len(known)} sentences known to fail")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
