#!/usr/bin/env python3
"""The commands of docs/kubernetes/move-from-istiod.md, under load: a canary by revision, namespace by namespace, and a move in place,
each with the way back. No request fails, no pod is refused, and nobody says a word of certificates.

    ISTIOD=PATH ISTIO_CHARTS=DIR move_test.py    istiod itself: its pilot-discovery, and manifests/charts of the same release

Without these another Fairlead, installed from its chart as istiod is, stands in for istiod.
Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import yaml

import chart
import kubebox
from installed import InstalledBox

HERE = pathlib.Path(__file__).resolve().parent
ISTIOD, CHARTS = os.environ.get("ISTIOD"), os.environ.get("ISTIO_CHARTS")
PAGE = "move-from-istiod"
# A stock Envoy lacks some of Istio's own filters.
ISTIODS_VALUES = {"global": {"hub": "istio", "tag": "1"}, "autoscaleEnabled": False, "telemetry": {"enabled": False}, "env": {
    "PILOT_ENABLE_METADATA_EXCHANGE": "false", "PILOT_ENABLE_TELEMETRY_LABEL": "false", "PILOT_ENABLE_ALPN_FILTER": "false"}}
STAND_IN = {"podAnnotations": {"stands-in-for": "istiod"}}
TROUBLE = re.compile(r"x509|certificate verify failed|CERTIFICATE_VERIFY_FAILED|TLS_error|certificate.*(?:expired|unknown|invalid)", re.I)
PLACE = "istio-system"
MAPS = "istio-leader", "istio-namespace-controller-election", "istio-ip-autoallocate"
LEASES = "istio-gateway-deployment-default", "istio-gateway-status-leader-default"


def istiods_manifests():
    """What the cluster's istiod was installed from."""
    if not ISTIOD:
        return chart.text(STAND_IN)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(f"{CHARTS}/istio-control/istio-discovery", f"{folder}/chart", ignore=shutil.ignore_patterns("NOTES.txt"))
        pathlib.Path(folder, "values.yaml").write_text(yaml.safe_dump(ISTIODS_VALUES))
        done = subprocess.run([str(kubebox.PROGRAMS / "helm"), f"{folder}/chart", PLACE, f"{folder}/values.yaml"], capture_output=True, text=True,
                              check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


class Load:
    """What asks all the time: the client in the cluster, requests through the gateway, and new pods."""

    def __init__(self, box):
        self.box, self.failed, self.counts = box, [], {"caller": 0, "gateway": 0, "pods": 0}
        self.stopping, self.threads, self.followed = threading.Event(), [], set()
        for work in self.follow_callers, self.ask_gateway, self.make_pods:
            self.threads.append(threading.Thread(target=self.repeat, args=(work,), daemon=True))
            self.threads[-1].start()

    def repeat(self, work):
        while not self.stopping.is_set():
            work()
            time.sleep(0.3)

    def follow_callers(self):
        """Each client's words are read until it has ended."""
        names = self.box.kubectl("get", "pods", "-n", "callers", "-l", "app=caller", "-o", "jsonpath={.items[*].metadata.name}").stdout.split()
        for name in set(names) - self.followed:
            self.followed.add(name)
            thread = threading.Thread(target=self.follow, args=(name,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def follow(self, name):
        self.box.kubectl("wait", f"pod/{name}", "-n", "callers", "--for=condition=ready", "--timeout=120s", timeout=140)
        logs = subprocess.Popen(["kubectl", "logs", "-f", name, "-c", "caller", "-n", "callers"], env=self.box.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=kubebox.end_with_parent)
        asked = 0
        for line in logs.stdout:
            if not line.startswith("{"):  # a word of the kubelet's about logs that go
                continue
            said = json.loads(line)
            if "failed" in said:
                self.failed.append(f"{name}: {said}")
            self.counts["caller"] += said.get("asked", asked) - asked
            asked = said.get("asked", asked)
        logs.stdout.close()
        logs.wait()

    def ask_gateway(self):
        code, said = self.box.exec("curl", "-sS", "-m", "10", "-f", "http://front-istio.shop.svc.cluster.local/")
        self.counts["gateway"] += 1
        if code:
            self.failed.append(f"through the gateway: {said} at {time.time()}")

    def make_pods(self):
        """A dry run: the webhook is asked, and no pod is made."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "dry-", "namespace": "shop"},
               "spec": {"containers": [{"name": "app", "image": "app"}]}}
        done = self.box.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(pod))
        self.counts["pods"] += 1
        if done.returncode or "istio-proxy" not in done.stdout:
            self.failed.append(f"a pod: {done.stderr or 'no sidecar'} at {time.time()}")

    def goes_on(self, step):
        """Each part of the load asks more, now that the step is taken."""
        least = {part: count + more for (part, count), more in zip(self.counts.items(), (20, 2, 2))}
        kubebox.wait_until(f"load after the step {step}", lambda: all(self.counts[part] >= count for part, count in least.items()), 60)

    def end(self):
        self.stopping.set()
        for thread in self.threads[:3]:
            thread.join(30)


class Move(unittest.TestCase):
    def setUp(self):
        self.box = InstalledBox(images={"fairlead/caller": {"path": str(HERE / "caller.py"), "entrypoint": ["/usr/bin/python3", "/caller.py"],
                                                            "user": "65532"}})
        self.box.__enter__()
        self.addCleanup(self.box.__exit__, None, None, None)
        if ISTIOD:
            proxy = {"path": str(self.box.folder / "proxy"), "whole": True, "entrypoint": ["/usr/local/bin/pilot-agent"], "user": "1337"}
            self.box.set_images(self.box.images | {"istio/pilot": {"path": ISTIOD, "entrypoint": [f"/{pathlib.Path(ISTIOD).name}"], "user": "1337"},
                                                   "istio/proxyv2": proxy})
        (self.box.work / "istiod.yaml").write_text(istiods_manifests())

    def run_page(self, heading, **instead):
        began = time.monotonic()
        said = self.box.run_section(heading, page=PAGE, instead=instead)
        print(f"{heading} {' '.join(instead.values())}: {time.monotonic() - began:.0f} s", file=sys.stderr)
        return said

    def install(self):
        """The cluster as it is before the move."""
        box = self.box
        box.run_section("Definitions")
        self.assertEqual(box.kubectl("create", "namespace", PLACE).returncode, 0)
        done = box.kubectl("apply", "-n", PLACE, "-f", str(box.work / "istiod.yaml"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.rolled_out("istiod", PLACE)
        kubebox.wait_until("the caBundle", lambda: box.kubectl(
            "get", "mutatingwebhookconfiguration", "istio-sidecar-injector", "-o", "jsonpath={.webhooks[0].clientConfig.caBundle}").stdout)
        box.apply((HERE / "manifests" / "move.yaml").read_text())
        for name, namespace in ("web", "shop"), ("front-istio", "shop"), ("caller", "callers"):
            kubebox.wait_until(name, lambda n=name, s=namespace: box.kubectl("get", "deployment", n, "-n", s).returncode == 0)
            self.rolled_out(name, namespace)

    def rolled_out(self, name, namespace):
        done = self.box.kubectl("rollout", "status", f"deployment/{name}", "-n", namespace, "--timeout=180s", timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr + self.box.state())

    def revisions(self, namespace):
        """Of the injected pods that run and stay."""
        pods = [p for p in self.box.get("pods", "-n", namespace)["items"] if "deletionTimestamp" not in p["metadata"]]
        texts = [p["metadata"].get("annotations", {}).get("sidecar.istio.io/status") for p in pods]
        return {json.loads(text)["revision"] for text in texts if text}

    def identity(self):
        secret = self.box.get("secret", "istio-ca-secret", "-n", PLACE)["data"]
        return secret["ca-key.pem"], secret["ca-cert.pem"]

    def follows(self, step):
        """The control plane that is there now changes the proxies' configuration."""
        self.box.apply({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": {"name": "web", "namespace": "shop"}, "spec": {
            "hosts": ["web.shop.svc.cluster.local"], "http": [{"headers": {"request": {"set": {"x-step": step}}}, "route": [
                {"destination": {"host": "web.shop.svc.cluster.local"}}]}]}})

        def seen():
            said = self.box.in_pod("callers", "deploy/caller", "curl", "-sS", "-m", "5", "http://web.shop.svc.cluster.local/", container="caller")[1]
            return f'"x-step": "{step}"' in said.lower() and "spiffe://cluster.local/ns/callers/sa/default" in said
        kubebox.wait_until(f"the step {step} in an answer", seen, 40, pause=0.5)

    def holders(self):
        """Who holds the locks that both share."""
        maps = {m["metadata"]["name"]: m["metadata"].get("annotations", {}) for m in self.box.get("configmaps", "-n", PLACE)["items"]}
        leases = {lease["metadata"]["name"]: lease["spec"].get("holderIdentity") for lease in self.box.get("leases", "-n", PLACE)["items"]}
        return [json.loads(maps.get(name, {}).get("control-plane.alpha.kubernetes.io/leader", "{}")).get("holderIdentity") for name in MAPS] + [
            leases.get(name) for name in LEASES]

    def control_planes(self):
        return set(self.box.kubectl("get", "pods", "-n", PLACE, "-l", "app=istiod", "-o", "jsonpath={.items[*].metadata.name}").stdout.split())

    def troubles(self):
        """Lines of logs about certificates that were not accepted."""
        lines = []
        for namespace, label in (PLACE, "app=istiod"), ("shop", "app=web"), ("callers", "app=caller"), (
                "shop", "gateway.networking.k8s.io/gateway-name=front"):
            lines += self.box.kubectl("logs", "-n", namespace, "-l", label, "--all-containers", "--tail=-1", "--prefix").stdout.splitlines()
        return [line for line in lines if "\tinfo\t" not in line and TROUBLE.search(line)]

    def test_the_page(self):
        self.install()
        identity, load = self.identity(), Load(self.box)
        kubebox.wait_until("requests", lambda: load.counts["caller"] > 60 and load.counts["gateway"] > 4 and load.counts["pods"] > 2)
        load.failed.clear()  # what was asked while the mesh came up
        self.run_page("Before")
        try:
            self.canary(load)
            self.in_place(load)
        finally:
            load.end()
            print(f"under load: {load.counts}, failed: {len(load.failed)} {load.failed[:5]}", file=sys.stderr)
        self.assertEqual(load.failed, [], self.box.state())
        self.assertEqual(self.identity(), identity)

    def step(self, name, load, **revisions):
        for namespace, revision in revisions.items():
            kubebox.wait_until(f"{namespace} is of {revision}", lambda n=namespace, r=revision: self.revisions(n) == {r}, 60)
        self.follows(name)
        load.goes_on(name)
        self.assertEqual(self.troubles(), [])
        self.assertEqual(load.failed, [], f"{name}: {self.box.state()}")

    def canary(self, load):
        other = {"shop": "callers", "web": "caller"}
        self.run_page("Canary: the control plane")
        self.step("beside", load, shop="default", callers="default")
        self.assertIn("fairlead", self.run_page("Canary: a namespace"))
        self.rolled_out("front-istio", "shop")
        self.step("one-namespace", load, shop="fairlead", callers="default")
        self.run_page("Canary: a namespace", **other)
        self.step("both-namespaces", load, shop="fairlead", callers="fairlead")
        gateway = self.box.get("gateway", "front", "-n", "shop")
        self.assertIn({"type": "Programmed", "status": "True"}, [{k: c[k] for k in ("type", "status")} for c in gateway["status"]["conditions"]])
        self.run_page("Canary: back", **other)
        self.run_page("Canary: back")
        self.rolled_out("front-istio", "shop")
        self.step("back", load, shop="default", callers="default")
        self.run_page("Canary: the end")
        self.step("alone-again", load)

    def in_place(self, load):
        before = self.control_planes()
        self.run_page("In place")
        kubebox.wait_until("the end of the old ones", lambda: not self.control_planes() & before, 60)
        self.step("in-place", load)
        kubebox.wait_until("the locks", lambda: set(self.holders()) <= self.control_planes(), 60)
        image = self.box.kubectl("get", "pods", "-n", PLACE, "-l", "app=istiod", "-o", "jsonpath={.items[*].spec.containers[*].image}").stdout
        self.assertIn("fairlead/fairlead", image)
        self.box.kubectl("rollout", "restart", "deployment/web", "-n", "shop")
        self.rolled_out("web", "shop")
        self.step("in-place-new-pods", load, shop="default")
        before = self.control_planes()
        self.run_page("In place: back")
        kubebox.wait_until("the end of the old ones", lambda: not self.control_planes() & before, 60)
        self.step("in-place-back", load)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
