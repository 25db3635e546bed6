#!/usr/bin/env python3
"""Runs clang-tidy over sources of a build, many at a time, and again only over those that changed since they passed.

  tidy.py [-j JOBS] BUILD_DIR [SOURCE...]      without sources: every source of ours that the build compiles

What counts as a change: the source, a header of ours that it includes (however deep), how it is compiled, or .clang-tidy.

Most of what clang-tidy does with a source it does with the source's headers, so sources are checked in batches (batches.py keeps
those apart that would not compile together). A batch, BUILD_DIR/tidy/batch_N.cc, is its sources' text one after another and not
their #includes: a few checks (misc-unused-using-decls, the compiler's on constants) look at nothing but the main file, and
bugprone-suspicious-include would find each. Any other finds in a batch what it finds in the source alone, but a using-declaration
is taken for used where another source of the batch names what it means: check_style.py looks at those. The
sources of a batch in which nothing was found pass; all of them fail if something was found in a header. Sources that do not compile
in theirs are checked alone.
"""

import argparse
import bisect
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import batches

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZE = 48
FOUND = re.compile(r"^(.*?):\d+:\d+: (?:fatal )?error: ", re.MULTILINE)
NAMED = re.compile(r"^(.*?):\d+:\d+: ", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def flags_of(command):
    """The flags of a compile command that clang understands: no compiler, files or precompiled headers of GCC."""
    words = iter(shlex.split(command["command"]))
    while not re.search(r"(c|g|clang)\+\+[-0-9]*$", next(words)):
        pass
    flags = []
    for word in words:
        if word == "-o":
            next(words)
        elif word == "-include":
            file = next(words)
            flags += [] if file.endswith("cmake_pch.hxx") else [word, file]
        elif word not in ("-c", "-Winvalid-pch", "-fpch-preprocess", command["file"]):
            flags.append(word)
    return tuple(flags)


def headers_of(text, root):
    found = (folder / name for name in INCLUDE.findall(text) for folder in (root / "src", root))
    return [path for path in found if path.exists()]


def fingerprint(source, root, memo):
    """A hash of the source and all headers of ours below it."""
    seen, todo, digest = set(), [source], hashlib.sha256()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        if path not in memo:
            text = path.read_bytes()
            memo[path] = (hashlib.sha256(text).digest(), headers_of(text.decode(), root))
        todo += memo[path][1]
    for path in sorted(seen):
        digest.update(str(path.relative_to(root)).encode() + memo[path][0])
    return digest.hexdigest()


def sources_of(file, root):
    """What a file of the build compiles: the sources of a batch (batches.py), or itself."""
    path = pathlib.Path(file)
    if path.parent.name.endswith("_batches") and path.name.startswith("batch_"):
        return [str(root / "src" / name) for name in INCLUDE.findall(path.read_text())]
    return [file]


def flags_of_sources(commands, root):
    """The flags of each source of ours; a generated one is none."""
    ours, flags = tuple(str(root / folder) + "/" for folder in ("src", "cmd", "tests")), {}
    for command in commands:
        for source in sources_of(command["file"], root):
            if source.startswith(ours) and source.endswith(".cc") and os.path.exists(source):
                flags[source] = flags_of(command)
    return flags


def units(flags):
    """Each flag with its argument, where that is a word of its own."""
    words = iter(flags)
    return ((word, next(words)) if word in ("-isystem", "-include") else (word,) for word in words)


def joined(all_flags):
    """The flags of all, each -I and -D of theirs once; the rest they have in common."""
    return tuple(word for unit in dict.fromkeys(unit for flags in all_flags for unit in units(flags)) for word in unit)


def order(source):
    """Fuzzers first, as each has a batch of its own to fill; tests, whose headers are others, last."""
    return not source.endswith("_fuzz.cc"), source.endswith(("_test.cc", "_bench.cc")), source


def plan(flags, sources, root):
    """The batches: pairs of flags and the sources that are checked with them. Sources that differ in -I and -D alone may meet."""
    groups = collections.defaultdict(list)
    for source in sorted(sources, key=order):
        groups[tuple(flag for flag in flags[source] if not flag.startswith(("-I", "-D")))].append(source)
    found = (batch for group in groups.values() for batch in batches.batches_of(root / "src", group, SIZE, by_namespace=True))
    paths = ([source.path for source in batch] for batch in found)
    return [(joined(flags[path] for path in batch), batch) for batch in paths]


class Batch:
    def __init__(self, file, sources):
        self.file, self.sources, self.starts = file, sources, []
        lines = []
        for source in sources:
            self.starts.append(len(lines))
            lines += pathlib.Path(source).read_text(encoding="utf-8").splitlines()
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def place(self, line):
        """The source and the line in it of a line of the batch."""
        at = bisect.bisect_right(self.starts, line - 1) - 1
        return f"{self.sources[at]}:{line - self.starts[at]}"

    def findings(self, text):
        """What clang-tidy says of the batch, said of the sources."""
        return re.sub(re.escape(str(self.file)) + r":(\d+)", lambda found: self.place(int(found[1])), text)


def clang_tidy(file, flags):
    """What it finds in a file: nothing if all is well."""
    command = ["clang-tidy-16", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", str(file), "--", *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return (done.stdout.strip() or done.stderr.strip()) if done.returncode else ""


def check(file, flags, sources):
    """What was found in which sources: pairs of a list of sources and a text."""
    text = Batch(file, sources).findings(clang_tidy(file, flags))
    if "[clang-diagnostic-error" not in text or len(sources) == 1:
        found = set(FOUND.findall(text))
        at_fault = [source for source in sources if source in found] if found and found <= set(sources) else sources
        return [(at_fault, text), ([source for source in sources if source not in at_fault], "")]
    named = set(NAMED.findall(text))  # the source, too, whose name an error in a header meets: a note says so
    alone = [source for source in sources if source in named] or sources
    rest = [source for source in sources if source not in alone]
    return [([source], clang_tidy(source, flags)) for source in alone] + (check(file, flags, rest) if rest else [])


def prints_of(flags, sources, root):
    """What each source's passing depends on."""
    memo, rules = {}, (root / ".clang-tidy").read_text()
    return {source: hashlib.sha256("\0".join([rules, *flags[source], fingerprint(pathlib.Path(source), root, memo)]).encode()).hexdigest()
            for source in sources}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("sources", nargs="*")
    options = parser.parse_args()
    out = options.build.resolve() / "tidy"
    out.mkdir(exist_ok=True)
    flags = flags_of_sources(json.loads((options.build / "compile_commands.json").read_text()), ROOT)
    wanted = [str((ROOT / source).resolve()) for source in options.sources] or sorted(flags)
    if unknown := [source for source in wanted if source not in flags]:
        sys.exit(f"the build does not compile {' '.join(unknown)}")

    passed_file = out / "passed.json"
    passed = json.loads(passed_file.read_text()) if passed_file.exists() else {}
    prints = prints_of(flags, wanted, ROOT)
    todo = [source for source in wanted if passed.get(source) != prints[source]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(check, out / f"batch_{i}.cc", *batch) for i, batch in enumerate(plan(flags, todo, ROOT))]
        for sources, text in (result for job in concurrent.futures.as_completed(jobs) for result in job.result()):
            if text:
                failed += len(sources)
                print(text, flush=True)
            else:
                passed.update((source, prints[source]) for source in sources)
                passed_file.write_text(json.dumps(passed))
    print(f"clang-tidy: {len(todo)} sources checked in {len(jobs)} batches, {len(wanted) - len(todo)} unchanged, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
