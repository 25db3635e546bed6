#!/usr/bin/env python3
"""Checks that every test exists that tests/features.txt, docs/protocol.md and docs/threat-model.md name, that each feature names
a test, and that docs/testing.md has the table of today's features.

  check_testing_doc.py ROOT [CASES]

CASES is the folder of all conformance cases. A checkout carries a fifth of them: without CASES their names are believed.
"""
import os, re, sys

from list_tests import FEATURES, PAGE, drawn, features

NAME = re.compile(r"`([A-Za-z0-9_]+(?:[./][A-Za-z0-9_-]+|\.\*)?)`")
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)
AREAS = ("destinations", "routing", "sidecars", "security", "gateways", "extensions", "mixed")
HEADS = ("feature", "paragraph", "attack")
# The column that names tests, and the heading from which on.
DOCUMENTS = {"docs/protocol.md": (2, ""), "docs/threat-model.md": (3, "## Attacks")}
FOLDERS = {"updates": ("tests/updates/cases", ".txt"), "simulation": ("tests/simulation", "")}


def sources(root):
    for top in ("src", "tests"):
        for folder, _, files in os.walk(os.path.join(root, top)):
            yield from (os.path.join(folder, f) for f in files)


def unit_tests(root):
    found = set()
    for path in sources(root):
        if path.endswith(".cc"):
            with open(path, encoding="utf-8") as f:
                found |= {f"{suite}.{test}" for suite, test in TEST.findall(f.read())}
    return found


def entries(root):
    """The names of ctest entries, as far as CMakeLists.txt files spell them out."""
    text = ""
    for path in sources(root):
        if os.path.basename(path) == "CMakeLists.txt":
            with open(path, encoding="utf-8") as f:
                text += f.read()
    names = set(re.findall(r"NAME (\w+)", text)) | set(re.findall(r"(?:fairlead|cluster)_test\((\w+)", text))
    names |= {f"source_{name}" for name in re.findall(r"source_test\((\w+)", text)}
    names |= {f"fuzz_{name}" for name in re.findall(r"fairlead_fuzzer\((\w+)", text)}
    return names | {f"laws_{area}" for area in AREAS}


def absent(names, root, cases):
    """Those of the names that are no test."""
    tests, ctest = unit_tests(root), entries(root)

    def exists(name):
        if name.endswith(".*"):
            return any(test.startswith(name[:-1]) for test in tests)
        if "." in name:
            return name in tests
        if "/" not in name:
            return name in ctest
        area, case = name.split("/")
        if area in FOLDERS:
            folder, ending = FOLDERS[area]
            return os.path.exists(os.path.join(root, folder, case + ending))
        return area in AREAS and (not cases or os.path.isdir(os.path.join(cases, area, case)))

    return sorted({name for name in names if not exists(name)})


def missing(text, root, cases, column=2):
    """The names in the tables of `text` that are no test, and how many names there are."""
    rows = [line for line in text.splitlines() if line.startswith("| ") and "…" not in line]
    named = [name for row in rows for name in NAME.findall(row.split("|")[column]) if row.split("|")[1].strip() not in HEADS]
    return absent(named, root, cases), len(named)


def of_features(text, page, root, cases):
    """Messages about tests/features.txt and the page that has its table."""
    found, seen = features(text), set()
    messages = [f"{FEATURES}: there is no test {name}" for name in absent([n for _, _, names in found for n in names], root, cases)]
    for area, feature, names in found:
        if not names:
            messages.append(f"{FEATURES}: {area}: {feature}: no test is named")
        if (area, feature) in seen:
            messages.append(f"{FEATURES}: {area}: {feature}: has two rows")
        seen.add((area, feature))
    if drawn(page, found) != page:
        messages.append(f"{PAGE}: the table is not that of {FEATURES}; run scripts/list_tests.py --write")
    return messages


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def main():
    root, failed = sys.argv[1], False
    for document, (column, heading) in DOCUMENTS.items():
        text = read(root, document)
        text = text[text.index(heading):]
        wrong, named = missing(text, root, sys.argv[2] if len(sys.argv) > 2 else "", column)
        for name in wrong:
            print(f"{document}: there is no test {name}")
        if not named:
            print(f"{document}: no test is named")
        failed |= bool(wrong) or not named
    messages = of_features(read(root, FEATURES), read(root, PAGE), root, sys.argv[2] if len(sys.argv) > 2 else "")
    for message in messages:
        print(message)
    sys.exit(failed or bool(messages))


if __name__ == "__main__":
    main()
