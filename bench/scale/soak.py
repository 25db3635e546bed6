#!/usr/bin/env python3
"""Lets random changes run under 500 connected sidecars, and looks at what is left.

  soak.py --fairlead BIN --tools DIR --work DIR [--seconds N] [--proxies N] [--seed N] [--delta] [--shadow] [--any-memory]

Fails where a stream broke, where a sidecar does not hold what a new one gets, where the server logged an internal error,
or where its memory grew: where the second half's median is more than a fifth and 16 MiB above the first half's.
--any-memory leaves out the last, for builds with sanitizers. --shadow has the server make everything anew at each change
and compare it with what it would have kept.
"""
import argparse
import os
import pathlib
import re
import shlex
import statistics
import sys

import meshes
import run

HERE = pathlib.Path(__file__).resolve().parent
# The shadow's findings and those of the sanitizers.
INTERNAL_ERROR = re.compile(r"what was made before is not what would be made now|\b(Address|Leak|Thread)Sanitizer: |: runtime error: ")


def growth(samples):
    """The complaint about the memory's course, or none. The first fifth is left out: caches fill."""
    rest = samples[len(samples) // 5:]
    half = len(rest) // 2
    if half < 2:
        return None
    first, second = statistics.median(rest[:half]), statistics.median(rest[half:])
    if second > first * 1.2 + 16:
        return f"the server's memory grew from {first:.0f} to {second:.0f} MiB"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fairlead", required=True)
    parser.add_argument("--tools", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("--proxies", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--delta", action="store_true")
    parser.add_argument("--shadow", action="store_true")
    parser.add_argument("--any-memory", action="store_true")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    os.environ["FAIRLEAD_SHADOW"] = str(options.shadow).lower()
    run.raise_file_limit()
    folder, nodes = meshes.make("A", str(options.tools / "meshgen"), options.work)
    config = options.work / "soak-mesh.yaml"
    config.write_text("accessLogFile: /dev/stdout\n")
    words = ["python3", "-B", str(HERE / "churn.py"), str(folder), str(config), "--seed", str(options.seed)]
    log = options.work / "soak.log"
    with run.fairlead(options.fairlead, folder, log, ["--meshConfig", str(config)]) as server:
        report = run.xdsload(str(options.tools / "xdsload"), f"127.0.0.1:{server.port}", nodes, options.proxies, options.work,
                             pid=server.pid, quiet="5s", timeout="300s",
                             flags=("-soak", f"{options.seconds}s", "-churn", shlex.join(words), *(["-delta"] if options.delta else [])))
    soak = report.get("soak") or {}
    print(f"{options.proxies} sidecars, {soak.get('seconds', 0):.0f} s, {soak.get('responses', {}).get('all', 0)} responses, "
          f"{soak.get('server_cpu_s', 0):.1f} CPU s, RSS {soak.get('server_rss_mb')}")
    complaints = [report["complaints"]] if report["complaints"] else []
    if report["reconnects"]:
        complaints.append(f"{report['reconnects']} streams broke")
    complaints += [line for line in log.read_text(errors="replace").splitlines() if INTERNAL_ERROR.search(line)][:5]
    if not options.any_memory and (grown := growth(soak.get("server_rss_mb", []))):
        complaints.append(grown)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
