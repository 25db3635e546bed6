#!/usr/bin/env python3
"""Prints which tests prove a feature, from tests/features.txt and from the tests themselves.

  list_tests.py [WORD…]        features with all of the words, their tests, and file:line of each unit test
  list_tests.py --suites [FOLDER]   the unit tests of a folder of src/ or tests/, as sentences
  list_tests.py --write        writes the table of areas into docs/testing.md
"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FEATURES, PAGE = "tests/features.txt", "docs/testing.md"
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)
PRINTED = re.compile(r"(<!-- printed by scripts/list_tests\.py -->\n).*?(<!-- end -->)", re.S)
KINDS = {"updates": "updates", "simulation": "simulations"}


def features(text):
    """[(area, feature, names)] of tests/features.txt."""
    found, area = [], ""
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("== "):
            area = line[3:]
        elif line.startswith("  "):
            found[-1][2].extend(line.split())
        else:
            found.append((area, line, []))
    return found


def unit_tests(root):
    """{Suite.Test: file:line} of all sources."""
    found = {}
    for top in ("src", "tests"):
        for path in sorted((pathlib.Path(root) / top).rglob("*.cc")):
            text = path.read_text(encoding="utf-8")
            for match in TEST.finditer(text):
                found[f"{match[1]}.{match[2]}"] = f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"
    return found


def kind(name):
    if "/" in name:
        return KINDS.get(name.split("/")[0], "cases")
    return "unit tests" if "." in name else "programs"


def table(found):
    """A row for each area: its features, and how many tests of each kind they name."""
    lines = ["| area | features | tests |", "|---|---|---|"]
    for area in dict.fromkeys(area for area, _, _ in found):
        rows = [row for row in found if row[0] == area]
        names = {name for row in rows for name in row[2]}
        counts = {k: sum(kind(name) == k for name in names) for k in ("unit tests", "cases", "updates", "simulations", "programs")}
        lines.append(f"| {area} | {len(rows)} | {', '.join(f'{n} {k}' for k, n in counts.items() if n)} |")
    return "\n".join(lines) + "\n"


def drawn(page, found):
    return PRINTED.sub(lambda match: match[1] + table(found) + match[2], page)


def sentence(name):
    """"Load balancers become policies" of LoadBalancersBecomePolicies."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).split()
    return " ".join([words[0], *(word if word.isupper() and len(word) > 1 else word.lower() for word in words[1:])])


def print_features(words):
    places = unit_tests(ROOT)
    area = None
    for of, feature, names in features((ROOT / FEATURES).read_text(encoding="utf-8")):
        if not all(word.lower() in f"{of} {feature}".lower() for word in words):
            continue
        if of != area:
            print(f"\n== {of}")
            area = of
        print(feature)
        for name in names:
            print(f"  {name}" + (f"  {places[name]}" if name in places else ""))


def print_suites(folder):
    suites = {}
    for name, place in unit_tests(ROOT).items():
        if not folder or place.startswith((f"src/{folder}", f"tests/{folder}")):
            suite, _, test = name.partition(".")
            suites.setdefault((place.split(":")[0], suite), []).append(sentence(test))
    for (path, suite), tests in sorted(suites.items()):
        print(f"{suite} ({path})", *(f"  {test}" for test in tests), sep="\n")


def main(words):
    if words[:1] == ["--suites"]:
        return print_suites(words[1] if len(words) > 1 else "")
    if words[:1] == ["--write"]:
        page = ROOT / PAGE
        return page.write_text(drawn(page.read_text(encoding="utf-8"), features((ROOT / FEATURES).read_text(encoding="utf-8")))) and None
    return print_features(words)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        os.close(1)
