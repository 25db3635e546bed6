#!/usr/bin/env python3
"""Checks that one word has one meaning.

  check_words.py ROOT

No two rows of docs/glossary.md share a word, and each word occurs in src/. No two public types of src/ share a name: a type is
public if a header declares it at the top of a namespace. A row of *_questions.h has its answer's name on purpose.
scripts/words_known.txt lists names that two types share today; a name there with one type is an error, so that the list only shrinks.
"""

import collections
import pathlib
import re
import sys

GLOSSARY, KNOWN = "docs/glossary.md", "scripts/words_known.txt"
ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.M)
TYPE = re.compile(
    r"^(?:template <[^>]*>\s*)?(?:class|struct|enum class|enum|union)\s+(?:\[\[\w+\]\]\s+)?(\w+)(?:\s+final)?\s*(?::(?!:)[^;{]*)?\{", re.M)
NOT_PUBLIC = re.compile(r"_(fixture|fakes?|test|questions)\.h$|^(test|scripted)_")


def words(glossary):
    """The names of each row, in order; the heads of tables are none."""
    found = [[name.strip(" `") for name in row[1].split(",")] for row in ROW.finditer(glossary)]
    return [names for names in found if names != ["word"] and not re.fullmatch(r"-+", names[0])]


def of_glossary(glossary, source):
    """Messages about rows that share a word and words that `source`, the text of all files, does not have."""
    counts = collections.Counter(name.lower() for names in words(glossary) for name in set(names))
    messages = [f"{GLOSSARY}: {name} has {count} rows" for name, count in counts.items() if count > 1]
    return messages + [f"{GLOSSARY}: {name} occurs nowhere in src/" for names in words(glossary) for name in names
                       if not re.search(r"[ _\n/]*".join(map(re.escape, re.split(r"[ ]+", name))), source, re.I)]


def public_types(headers):
    """{name: paths} of {path: text of a header}."""
    found = collections.defaultdict(set)
    for path, text in headers.items():
        if not NOT_PUBLIC.search(path.rpartition("/")[2]):
            for name in TYPE.findall(text):
                found[name].add(path)
    return found


def of_types(headers, known):
    shared = {name: paths for name, paths in public_types(headers).items() if len(paths) > 1}
    return [f"{', '.join(sorted(paths))}: two public types have the name {name}" for name, paths in sorted(shared.items())
            if name not in known] + \
           [f"{KNOWN}: only one type has the name {name}, remove its line" for name in sorted(set(known) - set(shared))]


def main(root):
    root = pathlib.Path(root)
    paths = [p for p in (root / "src").rglob("*") if p.suffix in (".h", ".cc", ".inc")]
    texts = {str(p.relative_to(root)): p.read_text(encoding="utf-8") for p in paths}
    glossary = (root / GLOSSARY).read_text(encoding="utf-8")
    known = [line for line in (root / KNOWN).read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    headers = {path: text for path, text in texts.items() if path.endswith(".h")}
    messages = of_glossary(glossary, "\n".join(texts.values()).replace("//", "")) + of_types(headers, known)
    print("\n".join(messages) or f"{len(words(glossary))} words, {len(public_types(headers))} types, {len(known)} names shared")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
