#!/usr/bin/env python3
"""Runs clang-tidy over sources of a build, in parallel, and again only over those that changed since they passed.

  tidy.py BUILD_DIR [SOURCE...]      without sources: every source of ours that the build compiles

What counts as a change: the source, a header of ours that it includes (however deep), or .clang-tidy.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def without_pch(command):
    """A compile command as clang can run it: GCC's precompiled headers and cache launcher left out."""
    words = shlex.split(command["command"])
    compiler = next(i for i, word in enumerate(words) if re.search(r"(c|g|clang)\+\+[-0-9]*$", word))
    kept, skip = [], 0
    for i, word in enumerate(words[compiler:]):
        following = words[compiler + i + 1] if compiler + i + 1 < len(words) else ""
        if skip:
            skip -= 1
        elif word == "-include" and following.endswith("cmake_pch.hxx"):
            skip = 1
        elif word not in ("-Winvalid-pch", "-fpch-preprocess"):
            kept.append(word)
    return dict(command, command=shlex.join(kept))


def fingerprint(source, memo):
    """A hash of the source and all headers of ours below it."""
    seen, todo, digest = set(), [source], hashlib.sha256()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        if path not in memo:
            text = path.read_bytes()
            includes = [ROOT / "src" / name for name in INCLUDE.findall(text.decode())]
            memo[path] = (hashlib.sha256(text).digest(), [p for p in includes if p.exists()])
        todo += memo[path][1]
    for path in sorted(seen):
        digest.update(str(path.relative_to(ROOT)).encode() + memo[path][0])
    return digest.hexdigest()


def of_sources(command):
    """The command of each source that is compiled in a batch (batches.py); any other as it is."""
    file = pathlib.Path(command["file"])
    if not file.parent.name.endswith("_batches") or not file.name.startswith("batch_"):
        return [command]
    sources = [str(ROOT / "src" / name) for name in INCLUDE.findall(file.read_text())]
    return [{**command, "file": source, "command": command["command"].replace(str(file), source)} for source in sources]


def main(build, sources):
    ours = {str(ROOT / folder) + "/" for folder in ("src", "cmd", "tests")}
    commands = json.loads((build / "compile_commands.json").read_text())
    commands = [one for c in commands for one in of_sources(c)]
    commands = {c["file"]: c for c in commands if any(c["file"].startswith(folder) for folder in ours) and c["file"].endswith(".cc")}
    wanted = [str((ROOT / source).resolve()) for source in sources] or sorted(commands)
    out = build / "tidy"
    out.mkdir(exist_ok=True)
    (out / "compile_commands.json").write_text(json.dumps([without_pch(c) for c in commands.values()]))

    memo, rules = {}, (ROOT / ".clang-tidy").read_text()
    passed_file = out / "passed.json"
    passed = json.loads(passed_file.read_text()) if passed_file.exists() else {}
    prints = {s: hashlib.sha256((rules + fingerprint(pathlib.Path(s), memo)).encode()).hexdigest() for s in wanted if s in commands}
    todo = [source for source, value in prints.items() if passed.get(source) != value]

    def check(source):
        command = ["clang-tidy-16", "-p", str(out), "--quiet", source]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return source, done.returncode, done.stdout + (done.stderr if done.returncode and not done.stdout else "")

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, code, text in pool.map(check, todo):
            if code:
                failed += 1
                print(text.strip(), flush=True)
            else:
                passed[source] = prints[source]
    passed_file.write_text(json.dumps(passed))
    print(f"clang-tidy: {len(todo)} checked, {len(prints) - len(todo)} unchanged, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]))
