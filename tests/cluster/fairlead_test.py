#!/usr/bin/env python3
"""Fairlead runs in the cluster as it is deployed: it becomes ready, answers under its Service's name, and ends when asked to.

Needs root, build/fairlead and scripts/setup.sh cluster.
"""
import time
import unittest

import kubebox
from fairlead_box import FairleadBox


class Deployed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = FairleadBox()
        cls.box.__enter__()
        cls.addClassCleanup(cls.box.__exit__, None, None, None)

    def test_it_answers_under_its_name(self):
        name = "istiod.istio-system.svc.cluster.local"
        code, said = self.box.exec("curl", "-sS", "-m", "5", f"http://{name}:15014/metrics")
        self.assertEqual(code, 0, said)
        self.assertIn("# TYPE", said)

    def metric(self, name):
        code, said = self.box.exec("curl", "-sS", "-m", "5", "http://istiod.istio-system.svc.cluster.local:15014/metrics")
        self.assertEqual(code, 0, said)
        return next((float(line.split()[-1]) for line in said.splitlines() if line.startswith(name + " ")), None)

    def await_virtual_services(self, count):
        end = time.monotonic() + 30
        while self.metric("pilot_virt_services") != count:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def test_what_is_applied_is_in_its_mesh(self):
        self.assertGreater(self.metric("pilot_services"), 1)  # kubernetes and its own
        self.await_virtual_services(0)
        self.box.apply({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": {"name": "seen", "namespace": "default"},
                        "spec": {"hosts": ["istiod.istio-system"], "http": [{"route": [{"destination": {"host": "istiod.istio-system"}}]}]}})
        self.await_virtual_services(1)
        self.box.kubectl("delete", "virtualservice", "seen")
        self.await_virtual_services(0)

    def test_kubectl_knows_the_kinds(self):
        self.box.apply({"apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry", "metadata": {"name": "one", "namespace": "default"},
                        "spec": {"hosts": ["one.example.com"], "ports": [{"number": 80, "name": "http", "protocol": "HTTP"}], "resolution": "DNS"}})
        self.assertIn("one.example.com", self.box.kubectl("get", "serviceentries").stdout)

    def test_it_writes_with_its_rights(self):
        self.box.apply({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "istio"},
                        "spec": {"controllerName": "istio.io/gateway-controller"}})
        self.box.apply({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "edge", "namespace": "default"},
                        "spec": {"gatewayClassName": "istio", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}})
        self.box.wait("gateway.gateway.networking.k8s.io/edge", "condition=Accepted", "-n", "default")
        kubebox.wait_until("the root certificate", lambda: self.box.kubectl(
            "get", "configmap", "istio-ca-root-cert", "-n", "default").returncode == 0)
        self.assertEqual(self.box.kubectl("get", "secret", "istio-ca-secret", "-n", "istio-system").returncode, 0)
        self.assertNotRegex(self.box.logs(), "says 403|forbidden")

    def test_a_pod_that_is_deleted_is_replaced(self):
        pod = self.box.get("pods", "-n", "istio-system")["items"][0]["metadata"]["name"]
        began = time.monotonic()
        self.assertEqual(self.box.kubectl("delete", "pod", "-n", "istio-system", pod).returncode, 0)
        self.assertLess(time.monotonic() - began, 20)  # it ends of itself, before it would be killed
        self.box.wait("deployment/fairlead", "condition=available", "-n", "istio-system")


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
