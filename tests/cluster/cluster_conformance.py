#!/usr/bin/env python3
"""Runs a control plane on a real Kubernetes API server over conformance cases and compares what proxies receive.

  cluster_conformance.py --cases DIR --xdsdump PATH --server 'CMD' [--one-server] [--filter S] [--sample N] [--show N]
  cluster_conformance.py --cases DIR --statuses OUT --server 'CMD' …

CMD is run once per case, by the shell's rules, with these placeholders filled in:
  {kubeconfig}  of an API server that has the case's objects       {port}  the plaintext xDS port to listen on
  {mesh}, {networks}  the case's mesh.yaml and networks.yaml       {http}  the port of /ready
A word that holds {mesh} or {networks}, and the flag before it, are left out for a case without that file.

One etcd and API server serve all cases; between two of them everything that a case brought is deleted. A case with objects
that the API server refuses is left out. With --one-server the control plane serves all cases that have no files of settings
one after the other, without a restart: what a case leaves behind, or lacks, is seen in the next.
With --statuses: what the server writes into the statuses of a case's objects, as JSON in OUT, once it writes no more.
Versions of objects are left aside. Exit 1 if anything differs. Needs root and scripts/setup.sh cluster.
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

import kubebox
from api_server import ApiServer, crd_files, own_network
from case_objects import CaseLoader, CaseObjects, name_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
import conformance  # noqa: E402

STATUS_GROUPS = ("gateway.networking.k8s.io", "gateway.networking.x-k8s.io", "inference.networking.k8s.io")
SETTINGS = ("mesh.yaml", "networks.yaml", "env")
VERSION = re.compile(r'("ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION": )"[^"]*"')


def unversioned(resources):
    """Without the versions that an API server gives to objects."""
    return json.loads(VERSION.sub(r'\1""', json.dumps(resources)))


class Server:
    """The control plane under test, on the API server and with a case's settings."""

    def __init__(self, a, kubeconfig, case, home):
        self.a, self.port, http = a, conformance.free_port(), conformance.free_port()
        template = a.server.replace("{kubeconfig}", kubeconfig).replace("{http}", str(http))
        self.ready_url = f"http://127.0.0.1:{http}/ready"
        self.log = open(os.path.join(home, "server.log"), "w+")
        self.process = subprocess.Popen(
            conformance.command(template, case, "", self.port), stdout=self.log, stderr=self.log, preexec_fn=kubebox.end_with_parent,
            env={"POD_NAMESPACE": "istio-system", "POD_NAME": "istiod-1", "CLUSTER_ID": "Kubernetes",
                 **(conformance.environment(case) or os.environ)})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def wait_ready(self):
        """Whether /ready says 200 in time; else the end of the server's log is in the notes."""
        end = time.monotonic() + self.a.wait
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if urllib.request.urlopen(self.ready_url, timeout=1).status == 200:
                    return []
            time.sleep(0.02)
        self.log.seek(0)
        return ["the server is not ready: " + self.log.read()[-500:].strip().replace("\n", " | ")]

    def dump(self, case):
        """What each of the case's proxies receives, and notes."""
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([self.a.xdsdump, "-addr", f"127.0.0.1:{self.port}", "-proxies", os.path.join(case, "proxies.yaml"),
                                   "-out", out, "-wait", f"{self.a.wait}s"], capture_output=True, text=True)
            got = {f[:-5]: unversioned(json.loads(pathlib.Path(out, f).read_text())) for f in os.listdir(out)}
        return got, done.stderr.strip().splitlines()


def goldens(case):
    folder = pathlib.Path(case, "golden")
    return {f.stem: unversioned(json.loads(f.read_text())) for f in sorted(folder.iterdir())}


class Comparison:
    def __init__(self, a):
        self.a, self.tally = a, collections.defaultdict(collections.Counter)

    def of_case(self, server, case):
        """Whether the proxies receive the golden; a server that serves on gets time to take up what changed."""
        end = time.monotonic() + (self.a.settle if self.a.one_server else 0)
        want = goldens(case)
        while True:
            got, notes = server.dump(case)
            if all(got.get(proxy) == dump for proxy, dump in want.items()) or time.monotonic() > end:
                break
            time.sleep(0.2)
        area = os.path.basename(os.path.dirname(os.path.abspath(case)))
        same = [conformance.compare(got.get(proxy, {}), dump, self.tally, area, notes, proxy) for proxy, dump in want.items()]
        return all(same), notes


def statuses(loader, case_objects, seconds=25, quiet=3):
    """The statuses of objects whose statuses a mesh writes, once none has changed for `quiet` seconds."""
    classes = {o["metadata"]["name"] for o in case_objects.objects if o["kind"] == "GatewayClass"}
    last, since, began = None, time.monotonic(), time.monotonic()
    while time.monotonic() - began < seconds:
        found = []
        for _, obj in loader.objects():
            watched = obj["apiVersion"].split("/")[0] in STATUS_GROUPS or obj["kind"] in ("Ingress", "ServiceEntry")
            if watched and obj.get("status") and (obj["kind"] != "GatewayClass" or obj["metadata"]["name"] in classes):
                # An object without a generation in the case has the first here and none in the golden.
                has = case_objects.generations.get(name_of(obj))
                found.append({"kind": obj["kind"], "apiVersion": obj["apiVersion"], "namespace": obj["metadata"].get("namespace", ""),
                              "name": obj["metadata"]["name"], "status": obj["status"] if has else without_first_generation(obj["status"])})
        if found != last:
            last, since = found, time.monotonic()
        if time.monotonic() - max(since, began + 2) > quiet:
            break
        time.sleep(0.25)
    return last


def without_first_generation(value):
    if isinstance(value, dict):
        return {k: without_first_generation(v) for k, v in value.items() if (k, v) != ("observedGeneration", 1)}
    return [without_first_generation(v) for v in value] if isinstance(value, list) else value


class Run:
    """All cases, one after the other, on one API server."""

    def __init__(self, a, server, home):
        self.a, self.kubeconfig, self.home = a, server.kubeconfig, home
        self.loader, self.comparison = CaseLoader(server), Comparison(a)
        self.passed, self.refused, self.notes = 0, [], {}

    def all(self, cases):
        with contextlib.ExitStack() as stack:
            one = stack.enter_context(Server(self.a, self.kubeconfig, self.home, self.home)) if self.a.one_server else None
            if one and (notes := one.wait_ready()):
                sys.exit(notes[0])
            for case in cases:
                self._case(case, one)
                self.loader.clear()

    def _case(self, case, one):
        folder = os.path.join(case, "config") if self.a.statuses else case
        objects = CaseObjects(folder)
        if refused := self.loader.load(objects):
            self.refused.append(os.path.relpath(case, self.a.cases))
            self._say(case, refused, "left out, objects are refused")
            return
        if one:
            ok, notes = self.comparison.of_case(one, case)
        else:
            with tempfile.TemporaryDirectory(dir=self.home) as home, Server(self.a, self.kubeconfig, case, home) as server:
                ok, notes = False, server.wait_ready()
                if not notes:
                    ok, notes = self._of_server(server, case, objects)
        self.passed += ok
        if not ok:
            self._say(case, notes, "differs")

    def _of_server(self, server, case, objects):
        if not self.a.statuses:
            return self.comparison.of_case(server, case)
        out = pathlib.Path(self.a.statuses, os.path.relpath(case, self.a.cases))
        out.mkdir(parents=True, exist_ok=True)
        (out / "status.json").write_text(json.dumps(statuses(self.loader, objects), indent=1))
        return True, []

    def _say(self, case, notes, what):
        if self.a.show:
            print(f"--- {os.path.relpath(case, self.a.cases)}: {what}", *(n[:300] for n in notes[:self.a.show]), sep="\n    ", flush=True)


def find_cases(a):
    if a.statuses:
        cases = sorted(d for d, _, files in os.walk(a.cases) if "status.json" in files)
    else:
        cases = conformance.find(a.cases)
    cases = [c for c in cases if a.filter in c]
    if a.one_server:
        cases = [c for c in cases if not any(os.path.exists(os.path.join(c, name)) for name in SETTINGS)]
    if 0 < a.sample < len(cases):
        cases = sorted(random.Random(a.seed).sample(cases, a.sample))
    if not cases:
        sys.exit(f"no case under {a.cases} matches {a.filter!r}")
    return cases


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--cases", required=True)
    ap.add_argument("--server", required=True)
    ap.add_argument("--xdsdump", default="")
    ap.add_argument("--filter", default="")
    ap.add_argument("--show", type=int, default=3, help="differences to print per case that differs")
    ap.add_argument("--sample", type=int, default=0, help="that many cases, chosen by --seed")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--wait", type=int, default=20, help="seconds to wait for the server and for the responses")
    ap.add_argument("--settle", type=float, default=10, help="seconds that --one-server may take for what changed")
    ap.add_argument("--one-server", action="store_true")
    ap.add_argument("--statuses", default="")
    return ap.parse_args()


def main():
    a = arguments()
    kubebox.require()
    cases = find_cases(a)
    own_network()
    with ApiServer() as server, tempfile.TemporaryDirectory() as home:
        server.define(*crd_files())
        run = Run(a, server, home)
        run.all(cases)
    asked = len(cases) - len(run.refused)
    if run.refused:
        print(f"left out, as the API server refuses objects of theirs: {len(run.refused)}: {' '.join(run.refused)}")
    if not a.statuses:
        conformance.table(run.comparison.tally, run.passed, asked)
    sys.exit(run.passed != asked)


if __name__ == "__main__":
    main()
