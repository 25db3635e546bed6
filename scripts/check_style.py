#!/usr/bin/env python3
"""Checks of the sources that clang-format and clang-tidy do not make.

  check_style.py ROOT

A file has at most 500 lines, a header's include guard is named after its path, no file or folder has a name that says
nothing about what it holds, what throws is called by its wrapper alone, a source uses the names that it has by using-declarations,
no name is one that is reserved for the implementation, and no text admits to unfinished work.
"""

import pathlib
import re
import sys

from batches import FREE_NAME

MAX_LINES = 500
# Words that say nothing in any name, and those that say nothing alone: Envoy has a connection_manager and a tls_context.
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "common", "misc"}
EMPTY_NAMES = {"manager", "context"}
# Libraries that throw are wrapped in one file each; tests may use them as they are.
WRAPPED = {
    re.compile(r"std::filesystem|#include <filesystem>"): "src/base/files.cc",
    re.compile(r"\bjson::parse\(|\bJson::parse\(|[.>]dump\("): "src/base/json.cc",
    re.compile(r"std::j?thread( [a-z]\w*)?[({]|std::async\("): "src/base/thread.cc",
    re.compile(r"std::sto(i|l|ll|ul|ull|f|d|ld)\("): "",
    re.compile(r"std::regex"): "",
}
FOR_TESTS = re.compile(r"^(?!src/)|_(test|bench|fixture|fake|fakes)\.(h|cc)$")
NO_CODE = re.compile(r"//.*|\"(?:[^\"\\\n]|\\.)*\"")
USING = re.compile(r"^using (?:\w*::)+(\w+);")
# Names with two underscores or a first one before a capital, but those that the implementation gives us.
RESERVED = re.compile(r"\b(?!__int128\b|__builtin_|_SC_|_Exit\b)(?:_[A-Z]\w*|\w*__\w*)")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\bnot (yet )?implemented\b", re.IGNORECASE)


def guard_of(path):
    return "FAIRLEAD_" + re.sub(r"\W", "_", path.removeprefix("src/")).upper() + "_"


def findings(path, text):
    """Yields "path:line: message" for a source file, its path given relative to the checkout."""
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        yield f"{path}:{MAX_LINES}: {len(lines)} lines; split the file before {MAX_LINES}"
    guard = guard_of(path)
    if path.endswith(".h") and not (f"#ifndef {guard}" in lines and f"#define {guard}" in lines):
        yield f"{path}:1: the include guard must be {guard}"
    for part in pathlib.PurePath(path).with_suffix("").parts:
        if part in EMPTY_NAMES or EMPTY_WORDS & set(part.split("_")):
            yield f"{path}:1: the name {part} does not say what is inside"
    code = [NO_CODE.sub("", line) for line in lines]
    used = set(FREE_NAME.findall("\n".join(code))) if path.endswith(".cc") else None
    for number, line in enumerate(lines, 1):
        if used is not None and (name := USING.match(line)) and name[1] not in used:
            yield f"{path}:{number}: {name[1]} is not used"
        if reserved := RESERVED.search(code[number - 1]):
            yield f"{path}:{number}: {reserved.group()} is a name of the implementation's"
        for pattern, wrapper in WRAPPED.items():
            if path != wrapper and not FOR_TESTS.search(path) and pattern.search(line):
                yield f"{path}:{number}: {pattern.search(line).group()} may throw" + (f"; use {wrapper}" if wrapper else "")
        found = UNFINISHED.search(line)
        if found:
            yield f"{path}:{number}: {found.group()} does not belong in the code"


def main(root):
    root = pathlib.Path(root)
    paths = [p for folder in ("src", "cmd", "tests") for p in (root / folder).rglob("*") if p.suffix in (".h", ".cc", ".inc")]
    found = [line for p in sorted(paths) for line in findings(str(p.relative_to(root)), p.read_text())]
    print("\n".join(found) if found else f"{len(paths)} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
