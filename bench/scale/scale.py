#!/usr/bin/env python3
"""Measures how Fairlead serves meshes of different sizes, and how far that is from the floor.

  scale.py --fairlead BIN --tools DIR --work DIR [--only A,C,...] [--repeats N] [--json FILE]

A scenario is a mesh of files made by meshgen, a fresh server that reads it, and xdsload's sidecars, each with a connection
of its own (two share one where the system does not let a process open enough files), all at once; then changes of the files under them, each --repeats times. The floor is the server replay, which
does nothing but send what one sidecar of the scenario got. CPU seconds are the server's, user and system, until nothing
has moved for a while; MB sent are 10^6 bytes of responses, RSS and its peak are MiB.

Where the environment names a running istiod over one of these meshes, the scenario ISTIOD_SCENARIO (A, C, ...) is run on
it as well: ISTIOD_ADDRESS host:port of its plaintext xDS; ISTIOD_PID, where it runs here, for CPU and memory;
ISTIOD_APPLY, a shell command that applies the YAML on its standard input, for the changes.

Exit code 1 where a sidecar of Fairlead's did not get what it had to, a stream broke, or a proxy that does not read was not cut.
What istiod's did not get is told, no more.
"""
import argparse
import json
import os
import pathlib
import sys
from dataclasses import dataclass, field

import gateways
import meshes
import run
import table


@dataclass(frozen=True)
class Scenario:
    mesh: str
    proxies: int
    changes: tuple = ("route", "endpoint", "service")
    expect: str = "all"
    flags: tuple = ()
    floor: bool = False
    quiet: str = "1s"
    timeout: str = "180s"
    certificate: bool = False  # one is replaced while all proxies are connected


SCOPED = "namespace ns-0"
SCENARIOS = {
    "A": Scenario("A", 200, floor=True),
    "A-delta": Scenario("A", 200, flags=("-delta", "-reconnect")),
    "C": Scenario("C", 1000, expect=SCOPED, floor=True),
    "C-delta": Scenario("C", 1000, expect=SCOPED, flags=("-delta", "-reconnect")),
    "C-policies": Scenario("C-policies", 1000, ("route", "endpoint", "service", "policy"), expect=SCOPED),
    "D": Scenario("D", 200, expect=SCOPED),
    "B200": Scenario("B", 200, floor=True, quiet="2s"),
    "B200-delta": Scenario("B", 200, flags=("-delta",), quiet="2s"),
    "B": Scenario("B", 1000, floor=True, quiet="3s", timeout="420s"),
    "E": Scenario("E", 100, expect=SCOPED),
    "stuck": Scenario("C", 1000, ("endpoint",), expect=SCOPED, flags=("-stuck", "10")),
    "B200-filter": Scenario("B-filter", 200, ("route",), floor=True, quiet="2s"),
    "G": Scenario("G", 20, ("gateway-route", "http-route"), floor=True, certificate=True),
    "G-small": Scenario("G-small", 3, ("gateway-route", "http-route"), floor=True, certificate=True),
    "push-small": Scenario("P-small", 1000, ("endpoint",)),  # 5 kB, acknowledged with a few names
    "push": Scenario("P", 1000, ("endpoint",)),  # 14 kB
    "push-names": Scenario("A", 1000, ("endpoint",)),  # with 30 kB of names
    "20000": Scenario("F", 20000, ("endpoint",), expect=SCOPED, quiet="3s", timeout="300s"),
    "100000": Scenario("H", 100000, ("endpoint",), expect=SCOPED, quiet="5s", timeout="500s"),
}
# What a run without --only takes: a quarter of an hour on two cores.
DEFAULT = ["A", "A-delta", "C", "C-delta", "C-policies", "D", "B200", "B200-delta", "B200-filter", "B", "E", "G", "stuck", "push",
           "push-names", "20000"]


@dataclass
class Bench:
    fairlead: str
    tools: pathlib.Path
    work: pathlib.Path
    repeats: int
    rows: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def load(self, name, who, server_address, nodes, **more):
        scenario = SCENARIOS[name]
        report = run.xdsload(str(self.tools / "xdsload"), server_address, nodes, scenario.proxies, self.work,
                             repeats=self.repeats, quiet=scenario.quiet, timeout=scenario.timeout, **more)
        if report["complaints"]:
            # istiod refuses new streams beyond a rate; they come again, and count as broken ones.
            (self.notes if who == "istiod" else self.failures).append(f"{name}, {who}: {report['complaints']}")
        return report

    def run_fairlead(self, name, folder, nodes, recorded):
        scenario = SCENARIOS[name]
        flags = (*scenario.flags, *(("-record", str(recorded)) if scenario.floor else ()))
        # Routers' certificates are for a router that says who it is.
        believed = {"FAIRLEAD_PLAINTEXT_IDENTITY": "node"} if scenario.certificate else None
        with run.fairlead(self.fairlead, folder, self.work / f"{name}.log", environment=believed) as server:
            report = self.load(name, "Fairlead", f"127.0.0.1:{server.port}", nodes, pid=server.pid, flags=flags,
                               plan_text=run.plan(scenario.changes, scenario.expect, folder))
            self.rows += table.rows(name, "Fairlead", report, ready_ms=server.ready_ms, ready_rss=server.ready_rss)
            if scenario.certificate:
                row = gateways.change_certificate(str(self.tools / "xdsdump"), f"127.0.0.1:{server.port}", nodes, folder, server.pid, self.work)
                self.rows.append({"scenario": name, "who": "Fairlead", **row})

    def run_floor(self, name, nodes, recorded):
        with run.replay(str(self.tools / "replay"), recorded, self.work / f"{name}-floor.log") as server:
            report = self.load(name, "floor", f"127.0.0.1:{server.port}", nodes, pid=server.pid)
            self.rows += table.rows(name, "floor", report)

    def run_istiod(self, name, folder, nodes):
        scenario, apply = SCENARIOS[name], os.environ.get("ISTIOD_APPLY")
        changes = scenario.changes if apply else ()
        report = self.load(name, "istiod", os.environ["ISTIOD_ADDRESS"], nodes, pid=int(os.environ.get("ISTIOD_PID", 0)),
                           flags=scenario.flags, plan_text=run.plan(changes, scenario.expect, folder, apply))
        self.rows += table.rows(name, "istiod", report)

    def run(self, name):
        print(f"{name} ...", file=sys.stderr, flush=True)
        scenario = SCENARIOS[name]
        folder, nodes = meshes.make(scenario.mesh, str(self.tools / "meshgen"), self.work)
        recorded = self.work / f"{name}.recorded"
        self.run_fairlead(name, folder, nodes, recorded)
        if scenario.floor:
            self.run_floor(name, nodes, recorded)
        if os.environ.get("ISTIOD_ADDRESS") and os.environ.get("ISTIOD_SCENARIO", "A") == name:
            self.run_istiod(name, folder, nodes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fairlead", required=True)
    parser.add_argument("--tools", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--only", default=",".join(DEFAULT))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    names = options.only.split(",")
    unknown = [n for n in names if n not in SCENARIOS]
    if unknown:
        parser.error(f"no scenario {', '.join(unknown)}; there are {', '.join(SCENARIOS)}")
    options.work.mkdir(parents=True, exist_ok=True)
    run.raise_file_limit()
    bench = Bench(options.fairlead, options.tools, options.work, options.repeats)
    for name in names:
        bench.run(name)
    if options.json:
        options.json.write_text(json.dumps(bench.rows, indent=1))
    print(table.text(bench.rows))
    for line in bench.failures + bench.notes:
        print(line, file=sys.stderr)
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
