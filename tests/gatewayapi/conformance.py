#!/usr/bin/env python3
"""The Gateway API's conformance suite against Fairlead on a folder of manifests, with stock Envoys as gateways.

    conformance.py --fairlead PROGRAM --suite PROGRAM --echo PROGRAM --client PROGRAM --definitions FOLDER [--only NAME,...] [--table FILE]

Exit status 0: each test that is not in known-failures.txt passes, and none that is. Needs root, an Envoy binary and
OpenSSL's program.
"""
import argparse
import os
import pathlib
import re
import sys
import time
import urllib.error

from node import Node
from mesh import Mesh

HERE = pathlib.Path(__file__).resolve().parent
API = "127.0.0.1:6443"
RESULT = re.compile(r"^\s*--- (PASS|FAIL|SKIP): TestGatewayAPI/([^/\s]+) \([\d.]+s\)")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("fairlead", "suite", "echo", "client", "definitions"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--only", default="", help="names of tests, with commas between")
    parser.add_argument("--every-feature", action="store_true", help="also tests of what Istio does not declare")
    parser.add_argument("--sidecars", action="store_true", help="backends have sidecars, too, as in Istio's own run")
    parser.add_argument("--log", help="the suite's output")
    parser.add_argument("--table", help="file for the table test by test")
    parser.add_argument("--seconds", type=int, default=2400, help="the suite's time")
    parser.add_argument("--server-log", help="file for Fairlead's log")
    return parser.parse_args()


def known_failures():
    """Names, each with its reason."""
    lines = (HERE / "known-failures.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def run(args):
    """Runs the suite; gives its output and how many updates proxies refused."""
    with Mesh("", fairlead=args.fairlead) as mesh:
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
        node = Node(mesh, folders["objects"], API, args.echo, folders["logs"], folders["networks"], args.sidecars)
        follow(suite, node, args.seconds + 60)
        if args.server_log:
            pathlib.Path(args.server_log).write_text(mesh.log())
        return log.read_text(errors="replace").replace("\x16", ""), mesh.rejects()  # \x16 marks verdicts


def follow(suite, node, seconds):
    """Does what the controllers would do until the suite ends."""
    end = time.monotonic() + seconds
    while suite.poll() is None:
        if time.monotonic() > end:
            raise AssertionError(f"the suite did not end within {seconds} s")
        try:
            node.step()
        except urllib.error.URLError:
            suite.wait(5)  # it ended meanwhile, and the server with it
        time.sleep(0.1)


def results(output):
    return {m[2]: m[1] for m in map(RESULT.match, output.splitlines()) if m}


def reasons_for_skipping(output):
    """By test, as the suite says them."""
    return dict(re.findall(r": Skipping (\S+): (.+)", output))


def write_table(path, found, reasons, known):
    """A row a test, in Markdown."""
    lines = ["| test | verdict | reason |", "|---|---|---|"]
    for name, verdict in sorted(found.items()):
        lines.append(f"| {name} | {verdict} | {reasons.get(name) or known.get(name, '')} |")
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def main():
    args = arguments()
    output, refused = run(args)
    found, known = results(output), known_failures()
    if args.table:
        write_table(args.table, found, reasons_for_skipping(output), known)
    by = lambda verdict: sorted(name for name, v in found.items() if v == verdict)
    failed, passed = by("FAIL"), by("PASS")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(by('SKIP'))} skipped")
    wrong = [f"{name} fails" for name in failed if name not in known]
    wrong += [f"{name} passes, and is in known-failures.txt" for name in passed if name in known]
    if refused:
        wrong.append(f"{refused:g} updates were refused by proxies")
    if not passed:
        wrong.append("nothing passed:\n" + output[-3000:])
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
