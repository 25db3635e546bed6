#!/usr/bin/env python3
"""Gateways in an API server get their Deployments, Services and accounts by the chart's templates: made once, repaired when they
are edited, changed with the Gateway, the templates and the overlays, and left alone where they are somebody else's.

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import chart
import kubebox
from api_server import ApiServer, crd_files, own_network
from kube_api import ApiError

FAIRLEAD = os.environ.get("FAIRLEAD") or str(kubebox.ROOT / "build" / "fairlead")
MANAGED = "gateway.istio.io/managed"
MANAGER = "istio.io/gateway-controller"


class Cluster:
    """An API server with Fairlead beside it, in this process's network."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = ApiServer().__enter__()
        self.api = self.server.api
        self.server.define(*crd_files())
        for name in ("istio-system", "shop"):
            self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.injector = next(d for d in chart.render() if d["metadata"]["name"] == "istio-sidecar-injector")
        self.api.create(self.injector)
        self.processes = {}
        return self

    def __exit__(self, *_):
        for name in list(self.processes):
            self.stop(name)
        self.server.__exit__(None, None, None)
        self.folder.cleanup()

    def start(self, name, **env):
        port = 20000 + 10 * len(self.processes)
        log = open(f"{self.folder.name}/{name}.log", "w")
        self.processes[name] = subprocess.Popen(
            [FAIRLEAD, "discovery", f"--kubeconfig={self.server.kubeconfig}", "--grpcAddr=", "--secureGRPCAddr=", "--httpAddr=",
             f"--monitoringAddr=127.0.0.1:{port}", "--ctrlz_port=0", f"--httpsAddr=127.0.0.1:{port + 1}", "--stateDir="],
            env={**os.environ, "POD_NAME": name, **env}, stdout=log, stderr=log, preexec_fn=kubebox.end_with_parent)
        log.close()

    def stop(self, name, kill=False):
        process = self.processes.pop(name)
        (process.kill if kill else process.terminate)()
        process.wait()

    def said(self, name):
        return pathlib.Path(self.folder.name, f"{name}.log").read_text()

    def get(self, kind, name, namespace="shop"):
        """The object, or None."""
        version = {"Deployment": "apps/v1", "HorizontalPodAutoscaler": "autoscaling/v2", "PodDisruptionBudget": "policy/v1",
                   "Gateway": "gateway.networking.k8s.io/v1", "GatewayClass": "gateway.networking.k8s.io/v1"}.get(kind, "v1")
        status, found = self.api.call(
            "GET", self.api.path({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}), also=(404,))
        return found if status == 200 else None

    def gateway(self, name, annotations=None, labels=None, **spec):
        self.api.create({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
                         "metadata": {"name": name, "namespace": "shop", "annotations": annotations or {}, "labels": labels or {}},
                         "spec": {"gatewayClassName": "istio", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}], **spec}})

    def change(self, kind, name, change):
        return self.api.patch(self.get(kind, name), change)

    def versions(self, *names):
        """The versions of all that is made for Gateways."""
        return {(kind, name): (self.get(kind, name) or {"metadata": {"resourceVersion": None}})["metadata"]["resourceVersion"]
                for kind in ("Deployment", "Service", "ServiceAccount") for name in names}


def soon(what, condition, seconds=30):
    kubebox.wait_until(what, condition, seconds)


def check_objects(test, box):
    soon("the classes", lambda: box.get("GatewayClass", "istio", "") and box.get("GatewayClass", "istio-remote", ""))
    box.gateway("front", labels={"tier": "edge"}, annotations={"note": "x", "kubectl.kubernetes.io/last-applied-configuration": "{}"})
    soon("the Service", lambda: box.get("Service", "front-istio"))
    service, deployment = box.get("Service", "front-istio"), box.get("Deployment", "front-istio")
    account, gateway = box.get("ServiceAccount", "front-istio"), box.get("Gateway", "front")
    for obj in (service, deployment, account):
        labels = obj["metadata"]["labels"]
        test.assertEqual(labels[MANAGED], "istio.io-gateway-controller")
        test.assertEqual(labels["gateway.networking.k8s.io/gateway-name"], "front")
        test.assertEqual(labels["tier"], "edge")
        test.assertEqual(obj["metadata"]["annotations"]["note"], "x")
        test.assertNotIn("kubectl.kubernetes.io/last-applied-configuration", obj["metadata"]["annotations"])
        test.assertEqual([(o["kind"], o["uid"]) for o in obj["metadata"]["ownerReferences"]], [("Gateway", gateway["metadata"]["uid"])])
        test.assertEqual({m["manager"] for m in obj["metadata"]["managedFields"]}, {MANAGER})
    test.assertEqual([(p["name"], p["port"]) for p in service["spec"]["ports"]], [("status-port", 15021), ("http", 80)])
    test.assertEqual(service["spec"]["type"], "LoadBalancer")
    pod = deployment["spec"]["template"]["spec"]
    test.assertEqual((pod["serviceAccountName"], pod["containers"][0]["args"][:2]), ("front-istio", ["proxy", "router"]))
    test.assertIsNone(box.get("HorizontalPodAutoscaler", "front-istio"))


def check_repair(test, box):
    versions = box.versions("front-istio")
    time.sleep(2)
    test.assertEqual(box.versions("front-istio"), versions)  # nothing is written twice
    box.change("Service", "front-istio", {"spec": {"ports": [{"name": "status-port", "port": 15021}, {"name": "other", "port": 99}]},
                                          "metadata": {"labels": {"tier": "none", "more": "stays"}}})

    def repaired():
        service = box.get("Service", "front-istio")
        return {p["port"] for p in service["spec"]["ports"]} >= {15021, 80} and service["metadata"]["labels"]["tier"] == "edge"
    soon("the repair", repaired)
    test.assertEqual(box.get("Service", "front-istio")["metadata"]["labels"]["more"], "stays")
    box.api.delete(box.get("Deployment", "front-istio"))
    soon("the Deployment again", lambda: box.get("Deployment", "front-istio"))
    # What others add is theirs.
    box.change("Deployment", "front-istio", {"spec": {"replicas": 3}})
    time.sleep(2)
    test.assertEqual(box.get("Deployment", "front-istio")["spec"]["replicas"], 3)


def check_changes(test, box):
    box.change("Gateway", "front", {"metadata": {"annotations": {"networking.istio.io/service-type": "ClusterIP"}}})
    soon("the other type", lambda: box.get("Service", "front-istio")["spec"]["type"] == "ClusterIP")
    box.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own", "namespace": "shop"},
                    "data": {"deployment": "spec: {template: {spec: {containers: [{name: istio-proxy, env: [{name: OWN, value: x}]}]}}}",
                             "podDisruptionBudget": "spec: {minAvailable: 1}"}})
    box.api.create({"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": "all", "namespace": "istio-system", "labels": {"gateway.istio.io/defaults-for-class": "istio"}},
                    "data": {"horizontalPodAutoscaler": "spec: {minReplicas: 2, maxReplicas: 4}"}})
    box.change("Gateway", "front", {"spec": {"infrastructure": {"parametersRef": {"group": "", "kind": "ConfigMap", "name": "own"}}}})
    soon("the overlays", lambda: box.get("PodDisruptionBudget", "front-istio") and box.get("HorizontalPodAutoscaler", "front-istio"))
    test.assertEqual(box.get("HorizontalPodAutoscaler", "front-istio")["spec"]["maxReplicas"], 4)

    def variables():
        proxy = box.get("Deployment", "front-istio")["spec"]["template"]["spec"]["containers"][0]
        return {v["name"] for v in proxy["env"]}
    soon("the variable", lambda: "OWN" in variables())
    test.assertIn("CA_ADDR", variables())
    box.change("ConfigMap", "own", {"data": {"deployment": "metadata: {name: other}"}})
    soon("the complaint", lambda: "illegal metadata change" in box.said("one"))
    config = re.sub(r"(\n *)- router\n", r"\1- router\1- --concurrency=2\n", box.injector["data"]["config"])
    test.assertNotEqual(config, box.injector["data"]["config"])
    box.change("ConfigMap", "own", {"data": {"deployment": None}})
    box.api.patch(box.injector, {"data": {"config": config}})
    soon("the changed template", lambda: "--concurrency=2" in box.get(
        "Deployment", "front-istio")["spec"]["template"]["spec"]["containers"][0]["args"])


def check_others(test, box):
    box.api.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "taken-istio", "namespace": "shop"},
                    "spec": {"ports": [{"port": 7}]}})
    box.gateway("taken")
    box.gateway("manual", addresses=[{"type": "Hostname", "value": "own.shop.svc.cluster.local"}])
    box.gateway("newer", annotations={"gateway.istio.io/controller-version": "6"})
    box.gateway("canary", labels={"istio.io/rev": "canary"})
    soon("the other's Service", lambda: "left alone" in box.said("one"))
    test.assertEqual(box.get("Service", "taken-istio")["spec"]["ports"][0]["port"], 7)
    box.gateway("last")
    soon("the last", lambda: box.get("Service", "last-istio"))
    for name in ("manual", "newer", "canary"):
        test.assertIsNone(box.get("Service", f"{name}-istio"), name)
    # The release of the revision deploys its own, and leaves the rest.
    before = box.versions("front-istio", "last-istio")
    box.api.create({**box.injector, "metadata": {**box.injector["metadata"], "name": "istio-sidecar-injector-canary"}})
    box.start("two", REVISION="canary")
    soon("the revision's", lambda: box.get("Service", "canary-istio"))
    time.sleep(2)
    test.assertEqual(box.versions("front-istio", "last-istio"), before)
    annotations = box.get("Deployment", "canary-istio")["spec"]["template"]["metadata"]["annotations"]
    test.assertEqual(annotations["istio.io/rev"], "canary")


def check_leaders(test, box):
    """A second replica takes over from one that was killed, and changes nothing that is right."""
    before = box.versions("front-istio", "last-istio")
    box.start("three")
    soon("the replica", lambda: "templates" in box.said("three"))
    box.stop("one", kill=True)
    box.gateway("late")
    soon("the successor's work", lambda: box.get("Service", "late-istio"), 90)
    time.sleep(2)
    test.assertEqual(box.versions("front-istio", "last-istio"), before)
    box.api.delete(box.get("GatewayClass", "istio", ""))
    soon("the class again", lambda: box.get("GatewayClass", "istio", ""))


class InTheNetwork(unittest.TestCase):
    """In a process of its own, for its network."""

    def test_gateways(self):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                own_network()
                with Cluster() as box:
                    box.start("one")
                    try:
                        for check in (check_objects, check_repair, check_changes, check_others, check_leaders):
                            check(self, box)
                        code = 0
                    finally:
                        if code:
                            for path in sorted(pathlib.Path(box.folder.name).glob("*.log")):
                                print(path.name, path.read_text()[-3000:], file=sys.stderr)
            except BaseException as error:
                import traceback
                traceback.print_exc()
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
            finally:
                sys.stderr.flush()
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
