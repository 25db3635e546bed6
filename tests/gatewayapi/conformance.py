#!/usr/bin/env python3
"""The Gateway API's conformance suite against Fairlead on a folder of manifests, with stock Envoys as gateways.

    conformance.py --fairlead PROGRAM --suite PROGRAM --echo PROGRAM --client PROGRAM --definitions FOLDER [--only NAME,...] [--table FILE]

Exit status 0: each test that is not in known-failures.txt passes, and none that is. Needs root, an Envoy binary and
OpenSSL's program.
"""
import argparse
import os
import pathlib
import sys
import time
import urllib.error

import verdicts
from node import Node
from mesh import Mesh

API = "127.0.0.1:6443"


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
        return log.read_text(errors="replace"), mesh.rejects()


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


def main():
    args = arguments()
    output, refused = run(args)
    return verdicts.judge(output, refused, args.table)


if __name__ == "__main__":
    sys.exit(main())
