#!/usr/bin/env python3
"""Random calls over the conformance cases: a real Envoy and the simulation must decide alike.

  unshare --net python3 -B random_calls.py --cases FOLDER [--filter TEXT] [--seed N] [--calls N]

The calls are made of what a case's text mentions (names, addresses, ports, paths, headers, identities, tokens) and of what it
does not. A call that reaches a sidecar of the mesh is made there, too, as the first proxy sends it on: by routers and
sidecars alike, with the sender's own identity. Prints each difference with the call. SIMULATION_FEED as for envoy_test.py.
"""
import argparse
import ipaddress
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import envoy_peer
import envoy_test
from random_identities import Identities

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from issuer import Issuer  # noqa: E402

# What a stand-alone Envoy cannot show: ports of the proxy other than the usual ones.
OTHER_PORTS = re.compile(r"^proxy(Listen|InboundListen|Http)Port:", re.M)
QUAD = r"\b\d{1,3}(?:\.\d{1,3}){3}\b"
IPV6 = r"\b[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7}\b"


def is_unicast(text):
    """Whether one can connect to it from a pod and leave the pod."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_unspecified or address.is_multicast or address.is_loopback or address.is_link_local
                or text.startswith("255."))


def is_name(text):
    return len(text) < 254 and all(re.fullmatch(r"[a-zA-Z\d-]{1,63}", label) for label in text.split("."))


class Words:
    """What a case's manifests mention."""

    def __init__(self, text):
        found = lambda pattern: set(re.findall(pattern, text))
        names = found(r"\bname: \"?([a-z][\w-]*)\"?")
        dotted = found(r"\b(?:[a-zA-Z\d*-]+\.)+[a-z]{2,}\b") | {n.lstrip("*.") for n in found(r"\*\.[\w.-]+")}
        hosts = names | dotted | {f"{n}.default.svc.cluster.local" for n in names} | {f"any.{d}" for d in dotted}
        self.hosts = sorted(h for h in hosts if is_name(h)) + ["nowhere.example.net"]
        self.ports = sorted({int(p) for p in found(r"(?:[pP]ort|number): (\d+)") if 0 < int(p) < 65536} | {80, 443, 9999})
        paths = {p for p in found(r"(?<![\w.:/])/[\w/.-]*") if "//" not in p}
        self.paths = sorted(paths | {p + "/y" for p in paths} | {p + "z" for p in paths} | {p.upper() for p in paths} | {"/"})
        addresses = {a for a in found(QUAD) | found(IPV6) | {"203.0.113.5"} if is_unicast(a)}
        self.addresses = sorted(f"[{a}]" if ":" in a else a for a in addresses)
        self.headers = sorted(found(r"\b(x-[\w-]+|end-user|cookie): *\{(?:exact|prefix|regex): \"?([\w.=-]+)"))
        self.queries = sorted(found(r"\b(\w+): *\{(?:exact|prefix|regex): \"?(\w+)")) + [("q", "1")]


def random_call(words, identities, rnd):
    kind = rnd.choice(["http"] * 5 + ["tcp", "https", "tls"])
    flags, query = [], ""
    if kind == "http":
        flags += [rnd.choice(["--http2", "-X POST", "-X PUT", "--http1.0", "-X OPTIONS"])] * (rnd.random() < 0.3)
    for name, value in rnd.sample(words.headers, min(len(words.headers), rnd.choice([0, 0, 1, 2]))):
        flags.append(f"-H '{name}: {value}'")
    if identities.has_policies and kind in ("http", "tcp") and rnd.random() < 0.8:
        asked, query = identities.flags(rnd, bool({"-X POST", "-X PUT", "-X OPTIONS", "--http1.0"} & set(flags)))
        flags += ["--inbound"] + asked
    elif rnd.random() < 0.25:
        flags.append(rnd.choice(["--inbound", "--inbound --mtls"]))
    elif rnd.random() < 0.3:
        flags.append("--destination " + rnd.choice(words.addresses))
    if kind in ("https", "tls") and rnd.random() < 0.5:
        flags.append("--sni " + rnd.choice(words.hosts))
    path = rnd.choice(words.paths) if kind.startswith("http") else ""
    if path and query:
        path += query
    elif path and rnd.random() < 0.2:
        path += "?{}={}".format(*rnd.choice(words.queries))
    return f"{' '.join(flags)} {kind}://{rnd.choice(words.hosts)}:{rnd.choice(words.ports)}{path}"


def gateway_call(words, rnd):
    """To a router, from outside of the mesh."""
    kind = rnd.choice(["http"] * 3 + ["https"] * 3 + ["tls", "tcp"])
    flags = []
    if kind.startswith("http"):
        flags += [rnd.choice(["--http2", "-X POST", "-X PUT"])] * (rnd.random() < 0.4)
        for name, value in rnd.sample(words.headers, min(len(words.headers), rnd.choice([0, 0, 1, 2]))):
            flags.append(f"-H '{name}: {value}'")
    if kind in ("https", "tls") and rnd.random() < 0.3:
        flags.append("--sni " + rnd.choice(words.hosts))
    path = rnd.choice(words.paths) if kind.startswith("http") else ""
    if path and rnd.random() < 0.2:
        path += "?{}={}".format(*rnd.choice(words.queries))
    return f"{' '.join(flags)} {kind}://{rnd.choice(words.hosts)}:{rnd.choice(words.ports)}{path}"


def with_sidecars(text, rnd):
    """The manifests with the label of an injected sidecar at some of the Pods: only those have a proxy to follow to."""
    documents = re.split(r"^(?=---)", text, flags=re.M)
    for i, document in enumerate(documents):
        if re.search(r"^kind: Pod$", document, re.M) and "tlsMode" not in document and rnd.random() < 0.6:
            document = re.sub(r"labels: \{", "labels: {security.istio.io/tlsMode: istio, ", document, count=1)
            documents[i] = re.sub(r"labels:\n( +)", r"labels:\n\1security.istio.io/tlsMode: istio\n\1", document, count=1)
    return "".join(documents)


def make_table(case, folder, calls, issuer, rnd):
    """A table of the case; false where it has no proxy that this can be tried on."""
    text = (case / "input.yaml").read_text()
    mesh = (case / "mesh.yaml").read_text() if (case / "mesh.yaml").exists() else ""
    proxies = re.findall(r"\bid: \"?((?:sidecar|router)~[^\s\",]+)", (case / "proxies.yaml").read_text())
    if not proxies or OTHER_PORTS.search(mesh):
        return False
    folder.mkdir(parents=True)
    (folder / "input.yaml").write_text(with_sidecars(text, rnd))
    if mesh:
        (folder / "meshConfig").write_text(mesh)
    words, identities = Words(text), Identities(text, issuer)
    lines = []
    for proxy in sorted(set(proxies)):
        one = (lambda: gateway_call(words, rnd)) if proxy.startswith("router") else (lambda: random_call(words, identities, rnd))
        lines += [f"[{proxy}]"] + [one() + " => anywhere" for _ in range(calls)]
    (folder / "calls").write_text("\n".join(lines) + "\n")
    return True


def wrong_identities(resources):
    """Calls between proxies that do not show the identity of the sender: its namespace, and the default account, since the
    tables' nodes name none."""
    for call in resources["calls"]:
        tls = call["outcome"]["request"].get("tls")
        if "from" not in call or not tls or not tls["identity"]:
            continue
        namespace = call["from"].rsplit(".", 1)[1]
        if not tls["identity"].endswith(f"/ns/{namespace}/sa/default"):
            yield f"{call['call']}: {call['from']} shows {tls['identity']}"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--cases", required=True)
    ap.add_argument("--filter", default="")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--calls", type=int, default=40, help="for each proxy")
    a = ap.parse_args()
    cases = sorted(p.parent for p in pathlib.Path(a.cases).resolve().glob("*/*/input.yaml") if a.filter in str(p.parent))
    feed = os.environ.get("SIMULATION_FEED") or str(envoy_test.ROOT / "build/dev/bin/simulation_feed")
    rnd = random.Random(a.seed)
    has_ipv6 = envoy_peer.prepare_network()
    envoy_peer.Backend()
    made = followed = differences = 0
    with tempfile.TemporaryDirectory(prefix="fairlead-random-") as name:
        root = pathlib.Path(name)
        (root / "tests/simulation/base").mkdir(parents=True)
        envoy_peer.make_certificates(root)
        caller = envoy_peer.Caller(root, has_ipv6)
        issuer = Issuer(root / "issuer")
        key_set = issuer.key_set()
        for case in cases:
            table = f"{case.parent.name}-{case.name}"
            if not make_table(case, root / "tests/simulation" / table, a.calls, issuer, rnd):
                continue
            done = subprocess.run([feed, "--follow", table], capture_output=True, text=True, cwd=root)
            if done.returncode:
                sys.exit(done.stderr)
            # Logs go before: of what is wrong with a case.
            for resources in json.loads(done.stdout.splitlines()[-1])[table].values():
                resources["key_set"] = key_set
                try:
                    calls, problems = envoy_test.check_proxy(table, resources, root, caller)
                except envoy_peer.Rejected as e:  # some cases are mistakes on purpose
                    print(f"{table}: passed over: {e}")
                    continue
                problems += list(wrong_identities(resources))
                made += calls
                followed += sum("from" in call for call in resources["calls"])
                differences += len(problems)
                print("".join(p + "\n" for p in problems), end="", flush=True)
    print(f"seed {a.seed}: {made} calls, {followed} of them from proxy to proxy, {differences} differences between Envoy and the simulation")
    return 1 if differences or not made else 0


if __name__ == "__main__":
    sys.exit(main())
