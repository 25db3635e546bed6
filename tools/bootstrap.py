#!/usr/bin/env python3
"""Compares Envoy's bootstrap and command line as `fairlead agent` makes them with pilot-agent's.

  bootstrap.py --cases DIR --command 'build/fairlead agent {role}' [--known FILE] [--filter S] [--show N]

A case is a YAML file: {role: sidecar|router, args: [...], env: {...}, files: {path: text}, addresses: [...],
golden: {args: [...], bootstrap: {...}}}. The agent starts in an empty folder and a network namespace of its own: the control plane's
root and a token are there, `files` as well, eth0 has `addresses`, and ./envoy keeps its arguments and bootstrap. A golden without
a bootstrap: the agent refuses to start. Objects of a list that have names are compared by name, a number with its text.
FILE has regular expressions of "CASE: VALUE" that may differ, and why. Needs root and iproute2. Last lines: "values E/T" and
"cases E/T" (equal / total). Exit 1 if a value differs that FILE does not have.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests/bootstrap/root-cert.pem"
STUB = """#!/bin/sh
[ "$1" = --version ] && { echo "envoy  version: 0/1.37.0/Clean/RELEASE/BoringSSL"; exit 0; }
mkdir -p kept
for word in "$@"; do printf '%s\\n' "$word"; done > kept/args
while [ $# -gt 0 ]; do
  case $1 in -c|--config-path) cp "$2" kept/half && mv kept/half kept/bootstrap.json;; esac
  shift
done
exec sleep 20
"""


def ip(*words):
    subprocess.run(["ip", *words], capture_output=True, check=False)


def prepare(home, case):
    files = {"envoy": STUB, "var/run/secrets/istio/root-cert.pem": ROOT.read_text(), "var/run/secrets/tokens/istio-token": "a.b.c",
             **case.get("files", {})}
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home / "envoy").chmod(0o755)


def add_network(space, case):
    ip("netns", "add", space)
    ip("-n", space, "link", "set", "lo", "up")
    ip("-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0-peer")
    ip("-n", space, "link", "set", "eth0-peer", "up")
    ip("-n", space, "link", "set", "eth0", "up")
    for address in case.get("addresses", ["10.1.2.3/24"]):
        ip("-n", space, "addr", "add", address, "dev", "eth0", *(["nodad"] if ":" in address else []))


def run(command, case, number):
    """What Envoy got, and what the agent said where it got nothing."""
    space, home = f"bootcase-{os.getpid()}-{number}", pathlib.Path(tempfile.mkdtemp(prefix="bootcase-"))
    kept = home / "kept/bootstrap.json"
    try:
        prepare(home, case)
        add_network(space, case)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), **{k: str(v) for k, v in case.get("env", {}).items()}}
        config = yaml.safe_load(environment.get("PROXY_CONFIG", "{}")) or {}
        environment["PROXY_CONFIG"] = json.dumps({**config, "binaryPath": "./envoy"})
        with open(home / "log", "w+") as log:
            words = shlex.split(command.replace("{role}", case.get("role", "sidecar")))
            agent = subprocess.Popen(["ip", "netns", "exec", space, *words, *map(str, case.get("args", []))], cwd=home, env=environment,
                                     stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
            end = time.monotonic() + 15
            while not kept.exists() and agent.poll() is None and time.monotonic() < end:
                time.sleep(0.02)
            if agent.poll() is None:
                os.killpg(agent.pid, signal.SIGKILL)
            agent.wait()
            log.seek(0)
            said = log.read()[-400:]
        if not kept.exists():
            return {"args": [], "bootstrap": {}}, said
        return {"args": (home / "kept/args").read_text().splitlines(), "bootstrap": json.loads(kept.read_text())}, ""
    finally:
        ip("netns", "del", space)
        shutil.rmtree(home, ignore_errors=True)


def flat(value, path=""):
    """{path: value} of a JSON value; elements with a name under that name."""
    if isinstance(value, dict):
        found = {} if value else {path + "{}": True}
        for key, member in value.items():
            found |= flat(member, f"{path}.{key}")
        return found
    if isinstance(value, list):
        found = {} if value else {path + "[]": True}
        names = [one.get("name") if isinstance(one, dict) else None for one in value]
        by_name = all(names) and len(set(names)) == len(names)
        for at, one in enumerate(value):
            found |= flat(one, f"{path}[{names[at] if by_name else at}]")
        return found
    return {path: value if isinstance(value, bool) else str(value)}


def read_known(path):
    if not path:
        return []
    lines = pathlib.Path(path).read_text().splitlines()
    return [re.compile(line.split("  ")[0]) for line in lines if line and not line.startswith("#")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--command", required=True)
    parser.add_argument("--known")
    parser.add_argument("--filter", default="")
    parser.add_argument("--show", type=int, default=6)
    a = parser.parse_args()
    known = read_known(a.known)
    paths = sorted(p for p in pathlib.Path(a.cases).glob("*.yaml") if a.filter in p.stem)
    cases = [yaml.safe_load(p.read_text()) for p in paths]
    equal = same = total = unknown = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda numbered: run(a.command, numbered[1], numbered[0]), enumerate(cases))
        for path, case, (got, said) in zip(paths, cases, results):
            ours, wanted = flat(got), flat(case["golden"])
            differ = sorted(k for k in set(ours) | set(wanted) if ours.get(k) != wanted.get(k))
            same, total, equal = same + len(set(ours) | set(wanted)) - len(differ), total + len(set(ours) | set(wanted)), equal + (not differ)
            new = [k for k in differ if not any(one.search(f"{path.stem}: {k}") for one in known)]
            unknown += len(new)
            if new and a.show:
                print(f"{path.stem}: {len(new)} differ {said}")
                for k in new[:a.show]:
                    print(f"    {k}: {str(ours.get(k, 'missing'))[:150]}, wanted {str(wanted.get(k, 'nothing'))[:150]}")
    if known:
        print(f"{total - same - unknown} known differences, {unknown} others")
    print(f"values {same}/{total}")
    print(f"cases {equal}/{len(cases)}")
    return 1 if unknown or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
