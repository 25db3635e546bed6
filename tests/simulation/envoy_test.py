#!/usr/bin/env python3
"""The calls of the tables through a real Envoy: it decides as the simulation does, at the proxy that sends a call and at
those that it reaches.

  unshare --net python3 -B envoy_test.py [TABLE…]

Compared are the filter chain, the route, the cluster and the endpoint, the path and host that are sent on, status codes and
redirects. SIMULATION_FEED names the program that prints the tables; needs root and the fetched Envoy.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import envoy_peer

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def value_of(outcome, list_name, what):
    key = "name" if list_name == "steps" else "value"
    return next((f[key] for f in outcome[list_name] if f["what"] == what), None)


def left_to_chance(outcome):
    return any(f["what"].startswith("fault") and not f["value"].endswith(" 100%") for f in outcome["changes"])


def text(logged):
    return "" if logged is None else logged


class Comparison:
    """What is different between the simulation's outcome and what Envoy logged."""

    def __init__(self, outcome, entry, answer, names):
        self.outcome, self.entry, self.answer, self.names = outcome, entry, answer, names
        self.differences = []
        getattr(self, "check_" + outcome["verdict"].replace(" ", "_"))()
        chain = value_of(outcome, "steps", "filter chain")
        # A gateway's chains have no names; the simulation names them after the hosts.
        if chain is not None and entry is not None and outcome["request"]["direction"] != "gateway":
            self.equal("filter chain", text(entry["chain"]), chain)

    def equal(self, what, got, want):
        if got != want:
            self.differences.append(f"{what}: Envoy {got!r}, simulation {want!r}")

    def among(self, what, got, want):
        if got not in want:
            self.differences.append(f"{what}: Envoy {got!r}, simulation one of {sorted(want)}")

    def check_destination(self):
        by_name = {d["cluster"]: d for d in self.outcome["destinations"]}
        if self.entry["flags"] == "NC" and any(d["problem"].startswith("no cluster") for d in by_name.values()):
            return  # the share of a split whose cluster is unknown
        self.among("cluster", text(self.entry["cluster"]), by_name)
        host = text(self.entry["host"])
        if host and self.entry["cluster"] in by_name:
            for address, name in self.names.items():
                host = host.replace(address + ":", name + ":")
            candidates = {e["address"] for e in by_name[self.entry["cluster"]]["endpoints"]}
            self.among("endpoint", host, candidates)

    def check_http(self):
        self.equal("kind", self.entry["kind"], "http")
        self.check_destination()
        self.equal("route", text(self.entry["route"]), value_of(self.outcome, "steps", "route"))
        request = self.outcome["request"]
        path = value_of(self.outcome, "changes", "path")
        if path:
            self.equal("path", self.entry["path"], path)
        host = value_of(self.outcome, "changes", "host")
        self.equal("host", self.entry["authority"], host or request.get("authority"))

    def check_tcp(self):
        self.equal("kind", self.entry["kind"], "tcp")
        self.check_destination()

    def check_redirect(self):
        self.equal("status", self.entry["code"], self.outcome["status"])
        self.equal("location", self.entry["location"], self.outcome["location"])

    def check_direct_response(self):
        self.equal("status", self.entry["code"], self.outcome["status"])

    def check_not_found(self):
        self.equal("status", self.entry["code"], 404)
        self.among("flags", self.entry["flags"], {"NR"})

    def check_unavailable(self):
        self.equal("status", self.entry["code"], self.outcome["status"])
        self.among("flags", self.entry["flags"], {"UH", "NC"})

    def check_closed(self):
        # Envoy answers what is no HTTP with 400 before it closes.
        allowed = b"HTTP/1.1 400" if "HTTP is expected" in self.outcome["reason"] else b""
        if not (self.answer == b"" or allowed and self.answer.startswith(allowed)):
            self.differences.append(f"not closed: {self.answer!r}")
        if self.entry is None:
            self.equal("reason", "no listener takes the connection", self.outcome["reason"])
        elif self.outcome["destinations"]:
            # Envoy has chosen one: of clusters without endpoints it logs the name, of unknown ones it cannot.
            flags = {"NC" if d["problem"].startswith("no cluster") else "UH": d for d in self.outcome["destinations"]}
            self.among("flags", self.entry["flags"], flags)
            if self.entry["flags"] == "UH":
                self.among("cluster", text(self.entry["cluster"]), {d["cluster"] for d in self.outcome["destinations"]})
        elif self.outcome["reason"].startswith("no filter chain"):
            self.equal("flags", self.entry["flags"], "NR")


def check_proxy(table, resources, folder, caller):
    """Gives how many calls were made, and the differences."""
    config = envoy_peer.StaticConfig(resources, folder)
    made, problems = [], []
    with envoy_peer.Envoy(envoy_peer.envoy_binary(), config, folder) as envoy:
        for call in resources["calls"]:
            if not left_to_chance(call["outcome"]) and caller.can_call(call["outcome"]["request"]):
                made.append((call, *caller.call(call["outcome"]["request"], call["application"])))
        logged = envoy.logged([port for _, port, _ in made if port])
    for call, port, answer in made:
        kinds = logged.get(str(port), {})
        entry = next((kinds[k] for k in ("http", "tcp", "listener") if k in kinds), None)
        where = f"{table}/calls:{call['line']}: {call['call']}"
        if port and entry is None:
            problems.append(f"{where}: Envoy logged nothing")
        elif not port and call["outcome"]["verdict"] != "closed":
            problems.append(f"{where}: refused")
        else:
            compared = Comparison(call["outcome"], entry, answer, config.names)
            problems += [f"{where}: {d}\n    {entry}" for d in compared.differences]
    return len(made), problems


def main(tables):
    feed = os.environ.get("SIMULATION_FEED") or str(ROOT / "build/dev/bin/simulation_feed")
    tables = tables or sorted(p.parent.name for p in pathlib.Path(__file__).parent.glob("*/calls"))
    done = subprocess.run([feed, "--follow", *tables], capture_output=True, text=True, cwd=ROOT, check=True)
    has_ipv6 = envoy_peer.prepare_network()
    backend = envoy_peer.Backend()
    made, problems = 0, []
    with tempfile.TemporaryDirectory(prefix="fairlead-peer-") as name:
        folder = pathlib.Path(name)
        envoy_peer.make_certificates(folder)
        caller = envoy_peer.Caller(folder, has_ipv6)
        for table, proxies in json.loads(done.stdout).items():
            for resources in proxies.values():
                calls, differences = check_proxy(table, resources, folder, caller)
                made += calls
                problems += differences
    backend.listener.close()
    print("\n".join(problems))
    without = "" if has_ipv6 else ", none over IPv6: this machine cannot redirect it"
    print(f"{made} calls{without}, {len(problems)} differences between Envoy and the simulation")
    return 1 if problems or not made else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
