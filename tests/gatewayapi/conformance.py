#!/usr/bin/env python3
"""The Gateway API's conformance suite against Fairlead on a folder of manifests, with stock Envoys as gateways.

    conformance.py --fairlead PROGRAM --suite PROGRAM --echo PROGRAM --client PROGRAM --definitions FOLDER [--only NAME,...] [--table FILE]

Exit status 0: each test that is not in known-failures.txt passes, and none that is. Needs root, an Envoy binary and
OpenSSL's program.
"""
import argparse
import pathlib
import re
import sys
import time
import urllib.error

from node import Node
from mesh import Mesh

HERE = pathlib.Path(__file__).resolve().parent
API = "127.0.0.1:6443"
RESULT = re.compile(r"^\s*--- (PASS|FAIL|SKIP): TestGatewayAPI/([^/\s]+) \(([\d.]+)s\)")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("fairlead", "suite", "echo", "client", "definitions"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--only", default="", help="names of tests, with commas between")
    parser.add_argument("--every-feature", action="store_true", help="also tests of what Istio does not declare")
    parser.add_argument("--log", help="the suite's output")
    parser.add_argument("--table", help="file for the table test by test")
    parser.add_argument("--seconds", type=int, default=2400, help="the suite's time")
    parser.add_argument("--keep", help="file for Fairlead's log")
    return parser.parse_args()


def known_failures():
    """Names, each with its reason."""
    lines = (HERE / "known-failures.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def run(args):
    """Runs the suite; gives its output."""
    with Mesh(pathlib.Path("/nowhere"), fairlead=args.fairlead) as mesh:
        folders = {name: mesh.folder / name for name in ("objects", "statuses", "logs", "networks")}
        for folder in folders.values():
            folder.mkdir()
        mesh.config = folders["objects"]
        mesh.server_flags = ["--statusDir", str(folders["statuses"])]
        mesh.start_fairlead()
        log = pathlib.Path(args.log) if args.log else mesh.folder / "suite.log"
        log.unlink(missing_ok=True)
        suite = mesh.net.hub.start(
            [args.suite, "-test.v=test2json", f"-test.timeout={args.seconds}s"], log=log,
            env={"API_ADDRESS": API, "OBJECTS": str(folders["objects"]), "STATUSES": str(folders["statuses"]),
                 "LOGS": str(folders["logs"]), "NETWORKS": str(folders["networks"]), "MESH_CLIENT": args.client,
                 "DEFINITIONS": args.definitions, "ONLY": args.only,
                 "EVERY_FEATURE": "1" if args.every_feature else ""})
        follow(suite, Node(mesh, folders["objects"], API, args.echo, folders["logs"], folders["networks"]), args.seconds + 60)
        if args.keep:
            pathlib.Path(args.keep).write_text(mesh.log())
        return log.read_text(errors="replace").replace("\x16", "")  # which marks verdicts


def follow(suite, node, seconds):
    """Does what the controllers would do until the suite ends."""
    end = time.monotonic() + seconds
    while suite.poll() is None:
        if time.monotonic() > end:
            raise AssertionError(f"the suite did not end within {seconds} s")
        try:
            node.step()
        except urllib.error.URLError:
            if suite.wait(5) is None:
                raise
        time.sleep(0.1)


def results(output):
    return {name: (verdict, float(seconds)) for verdict, name, seconds in
            (m.groups() for m in map(RESULT.match, output.splitlines()) if m)}


def reasons_for_skipping(output):
    """By test; go test prints a skipped test's reason above its verdict."""
    found, last = {}, ""
    for line in output.splitlines():
        if match := RESULT.match(line):
            if match[1] == "SKIP":
                found[match[2]] = last
        elif " Skipping" in line or "skipping" in line:
            last = line.split(": ", 1)[-1].strip()
    return found


def write_table(path, found, reasons, known):
    lines = [f"{verdict:5} {seconds:7.2f} s  {name}" +
             (f"  ({known[name] if verdict == 'FAIL' and name in known else reasons.get(name, '')})"
              if verdict != "PASS" and (name in known or reasons.get(name)) else "")
             for name, (verdict, seconds) in sorted(found.items())]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def main():
    args = arguments()
    output = run(args)
    found, known = results(output), known_failures()
    if args.table:
        write_table(args.table, found, reasons_for_skipping(output), known)
    by = lambda verdict: sorted(name for name, (v, _) in found.items() if v == verdict)
    failed, passed = by("FAIL"), by("PASS")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(by('SKIP'))} skipped")
    wrong = [f"{name} fails" for name in failed if name not in known]
    wrong += [f"{name} passes, and is in known-failures.txt" for name in passed if name in known]
    if not passed:
        wrong.append("nothing passed:\n" + output[-3000:])
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
