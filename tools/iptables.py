#!/usr/bin/env python3
"""Compares the network namespaces that `fairlead agent iptables` leaves behind with those that istio-iptables leaves.

  iptables.py --cases DIR --command 'build/fairlead agent iptables' [--filter S] [--show N]

A case is a YAML file: addresses of eth0, nameservers of /etc/resolv.conf (resolv), shell lines (before), the calls (runs: args and env),
and the result (golden). What counts: whether each call succeeds, the rules of each chain in their order and the policies of chains
(iptables-save, ip6tables-save), nft's ruleset, routing rules, and the routes of the table that the calls name (-r), else of 133. What does
not: handles, counters, tables without rules and chains of one's own. Each case has a namespace of its own, which is gone afterwards. Needs
root, iptables, nftables and iproute2; exit status 77 where one of these is missing, 1 if anything differs.
"""
import argparse, concurrent.futures, json, os, pathlib, re, shlex, shutil, subprocess, sys

import yaml

LACKING = 77
OF_IPTABLES = {"nat", "mangle", "raw", "filter", "security"}
COUNTS = {"packets", "bytes", "handle"}


def output(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, **more)


def saved(text):
    """{table: {chain: {policy, rules}}} of iptables-save's output."""
    tables = {}
    for line in text.splitlines():
        words = re.sub(r"\[\d+:\d+\]", "", line).split()
        if line.startswith("*"):
            chains = tables.setdefault(words[0][1:], {})
        elif line.startswith(":"):
            chains[words[0][1:]] = {"policy": words[1], "rules": []}
        elif line.startswith("-A"):
            chains[words[1]]["rules"].append(line.split(" ", 2)[2] if len(words) > 2 else "")
    return {name: chains for name, chains in tables.items() if any(c["rules"] or c["policy"] == "-" for c in chains.values())}


def without_counts(value):
    if isinstance(value, dict):
        return {k: without_counts(v) for k, v in value.items() if k not in COUNTS}
    return [without_counts(v) for v in value] if isinstance(value, list) else value


def ruleset(text):
    rows = json.loads(text)["nftables"] if text else []
    bodies = [(row, next(iter(row.values()))) for row in rows if "metainfo" not in row]
    return [without_counts(row) for row, body in bodies if body.get("table", body.get("name")) not in OF_IPTABLES]


class Namespace:
    def __init__(self, name, case):
        self.name, self.case, self.etc = name, case, pathlib.Path("/etc/netns") / name

    def ask(self, *words, **more):
        return output("ip", "netns", "exec", self.name, *words, **more)

    def __enter__(self):
        made = [["netns", "add", self.name]] + [["-n", self.name, *words] for words in (
            ["link", "set", "lo", "up"], ["link", "add", "eth0", "type", "veth", "peer", "name", "eth0-peer"],
            ["link", "set", "eth0-peer", "up"], ["link", "set", "eth0", "up"])]
        made += [["-n", self.name, "addr", "add", a, "dev", "eth0"] + (["nodad"] if ":" in a else []) for a in self.case.get("addresses", ["10.1.2.3/24"])]
        for words in made:
            if (done := output("ip", *words)).returncode:
                self.__exit__()
                raise RuntimeError(f"ip {' '.join(words)}: {done.stderr}")
        self.etc.mkdir(parents=True)
        (self.etc / "resolv.conf").write_text("".join(f"nameserver {n}\n" for n in self.case.get("resolv", ["10.96.0.10"])))
        return self

    def __exit__(self, *_):
        output("ip", "netns", "del", self.name)
        shutil.rmtree(self.etc, ignore_errors=True)

    def state(self, table):
        kept = lambda line: not re.search(r"lookup (local|main|default)", line)
        rules = [line for family in "46" for line in self.ask("ip", f"-{family}", "rule", "list").stdout.splitlines() if kept(line)]
        routes = [line for family in "46" for line in self.ask("ip", f"-{family}", "route", "show", "table", table).stdout.splitlines()]
        return {"iptables": saved(self.ask("iptables-save").stdout), "ip6tables": saved(self.ask("ip6tables-save").stdout),
                "nft": ruleset(self.ask("nft", "-j", "list", "ruleset").stdout),
                "rules": [line.split(":", 1)[1].strip() for line in rules], "routes": [line.strip() for line in routes]}


def result(command, case, name):
    """The state after a case's calls, and the words of those that failed."""
    with Namespace(name, case) as namespace:
        if case.get("before") and (done := namespace.ask("sh", "-ec", case["before"])).returncode:
            raise RuntimeError(f"before: {done.stderr}")
        codes, words, table = [], [], "133"
        for call in case["runs"]:
            args = [str(a) for a in call.get("args", [])]
            table = args[args.index("-r") + 1] if "-r" in args else table
            env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/root", **{k: str(v) for k, v in call.get("env", {}).items()}}
            done = namespace.ask(*shlex.split(command), *args, env=env)
            codes.append(min(done.returncode, 1))
            words.append(done.stderr.strip()[-300:])
        return {"exit": codes, **namespace.state(table)}, words


def differences(got, want, place=""):
    if isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(got.keys() | want.keys()):
            yield from differences(got.get(key), want.get(key), f"{place}/{key}")
    elif got != want:
        yield f"{place}:\n      {json.dumps(got)[:600]}\n      Istio: {json.dumps(want)[:600]}"


def lacking():
    if os.geteuid():
        return "root"
    return next((name for name in ("ip", "iptables", "ip6tables", "nft") if not shutil.which(name)), "")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--cases", required=True)
    ap.add_argument("--command", required=True)
    ap.add_argument("--filter", default="")
    ap.add_argument("--show", type=int, default=3, help="differences to print per case")
    ap.add_argument("--jobs", type=int, default=2)
    a = ap.parse_args()
    if lacks := lacking():
        print(f"skipped: {lacks} is needed")
        return LACKING
    files = sorted(f for f in pathlib.Path(a.cases).glob("*.yaml") if a.filter in f.name)
    cases = [yaml.safe_load(file.read_text()) for file in files]
    equal = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as threads:
        names = [f"iptcase-{os.getpid()}-{number}" for number in range(len(files))]
        for file, case, (got, words) in zip(files, cases, threads.map(lambda case, name: result(a.command, case, name), cases, names)):
            found = list(differences(got, case["golden"]))
            equal += not found
            if found:
                print(file.stem, *found[:a.show], *filter(None, words), sep="\n    ")
    print(f"cases {equal}/{len(files)}")
    return int(equal != len(files) or not files)


if __name__ == "__main__":
    sys.exit(main())
