#!/usr/bin/env python3
"""Two replicas of Fairlead in the cluster, with webhooks that fail closed: while both are replaced, no pod and no object is refused.

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import json
import os
import threading
import time
import unittest

import kubebox
from fairlead_box import IMAGE, FairleadBox, program
from kube_api import ApiError, KubeApi
from webhooks_test import TEMPLATE

SERVICE = {"name": "istiod", "namespace": "istio-system", "port": 443}


def webhook(name, path, rules, **more):
    return {"name": name, "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail", "timeoutSeconds": 10,
            "clientConfig": {"service": {**SERVICE, "path": path}}, "rules": rules, **more}


class Load(threading.Thread):
    """Creates pods that never run, and objects, as fast as the API server takes them."""

    def __init__(self, kubeconfig):
        super().__init__(daemon=True)
        self.api, self.refused, self.made, self.stopping = KubeApi(kubeconfig), [], 0, threading.Event()

    def run(self):
        while not self.stopping.is_set():
            name = f"load-{os.urandom(6).hex()}"
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "market"},
                   "spec": {"containers": [{"name": "app", "image": "app"}], "nodeSelector": {"no": "node"}}}
            rule = {"apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry", "metadata": {"name": name, "namespace": "market"},
                    "spec": {"hosts": [f"{name}.example"], "ports": [{"number": 80, "name": "http"}]}}
            try:
                made = self.api.call("POST", "/api/v1/namespaces/market/pods?dryRun=All", pod)[1]
                if made["metadata"].get("labels", {}).get("stamp") != "one":
                    self.refused.append("a pod without a sidecar")
                self.api.call("POST", "/apis/networking.istio.io/v1/namespaces/market/serviceentries?dryRun=All", rule)
            except (ApiError, OSError) as error:
                self.refused.append(str(error))
            self.made += 1


class Restart(unittest.TestCase):
    def test_a_rolling_restart_refuses_nothing(self):
        templates = program().parent / "fairlead-templates"
        images = {IMAGE: {"path": str(program()), "entrypoint": ["/fairlead"], "files": {"/fairlead-templates": str(templates)}}}
        with FairleadBox(images) as box:
            box.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "market"}},
                      {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio-sidecar-injector", "namespace": "istio-system"},
                       "data": {"config": TEMPLATE % "one", "values": json.dumps({"global": {"hub": "example", "tag": "1"}})}})
            box.kubectl("scale", "deployment/fairlead", "-n", "istio-system", "--replicas=2")
            box.wait("deployment/fairlead", "jsonpath={.status.readyReplicas}=2", "-n", "istio-system")
            self.register(box)
            loads = [Load(box.kubeconfig) for _ in range(2)]
            for load in loads:
                load.start()
            self.goes_on(loads)
            for _ in range(2):
                box.kubectl("rollout", "restart", "deployment/fairlead", "-n", "istio-system")
                done = box.kubectl("rollout", "status", "deployment/fairlead", "-n", "istio-system", "--timeout=90s", timeout=100)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.goes_on(loads)
            time.sleep(8)  # the last one that ends
            for load in loads:
                load.stopping.set()
            for load in loads:
                load.join(30)
            print(f"{sum(load.made for load in loads)} pods and objects in the meantime")
            self.assertEqual([text for load in loads for text in load.refused], [])

    def goes_on(self, loads):
        before = [load.made for load in loads]
        kubebox.wait_until("each load goes on", lambda: all(load.made >= old + 5 for load, old in zip(loads, before)), 60)

    def register(self, box):
        selector = {"matchLabels": {"kubernetes.io/metadata.name": "market"}}
        pods = [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]
        objects = [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["networking.istio.io"], "apiVersions": ["*"], "resources": ["*"]}]
        api, labels = "admissionregistration.k8s.io/v1", {"istio.io/rev": "default"}
        box.apply({"apiVersion": api, "kind": "MutatingWebhookConfiguration", "metadata": {"name": "istio-sidecar-injector", "labels": labels},
                   "webhooks": [webhook("rev.namespace.sidecar-injector.istio.io", "/inject", pods, namespaceSelector=selector)]},
                  {"apiVersion": api, "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "istio-validator-istio-system", "labels": labels},
                   "webhooks": [webhook("rev.validation.istio.io", "/validate", objects)]})

        def works():
            done = box.kubectl("create", "--dry-run=server", "-f", "-", "-o", "json", stdin=json.dumps(
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "first", "namespace": "market"},
                 "spec": {"containers": [{"name": "app", "image": "app"}]}}))
            return done.returncode == 0 and json.loads(done.stdout)["metadata"].get("labels", {}).get("stamp") == "one"
        kubebox.wait_until("the webhooks work", works, 60, pause=0.5)


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
