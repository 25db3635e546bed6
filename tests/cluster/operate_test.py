#!/usr/bin/env python3
"""The commands of docs/kubernetes/operate.md, in a cluster that was installed by those of install.md.

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import json
import unittest

import kubebox
from installed import InstalledBox, sections

PAGE = "operate"


class Operate(unittest.TestCase):
    def test_the_page(self):
        with InstalledBox() as box:
            for heading in ("Definitions", "The control plane", "Sidecars"):
                box.run_section(heading)
            said = box.run_inside("Look inside", PAGE)
            for part in ('"proxy":', "fairlead_leader{", "sidecar_injection_success_total", '"version"'):
                self.assertIn(part, said)
            box.run_section("Replicas", page=PAGE)
            self.assertEqual(len(self.replicas(box)), 2)
            before = self.replicas(box)
            box.run_section("Upgrade", page=PAGE)
            kubebox.wait_until("other replicas", lambda: len(self.replicas(box)) == 2 and not set(self.replicas(box)) & set(before), 60)
            self.assertIn("notAfter=", box.run_section("The authority", page=PAGE))
            self.webhooks(box)
            self.assertEqual({"Look inside", "Replicas", "Upgrade", "The authority", "Webhooks"}, {h for h, c in sections(PAGE).items() if c})

    def replicas(self, box):
        return [p["metadata"]["name"] for p in box.get("pods", "-n", "istio-system", "-l", "app=istiod")["items"]
                if "deletionTimestamp" not in p["metadata"]]

    def webhooks(self, box):
        """After the commands it fails closed again, and pods get their sidecars."""
        self.assertIn("istio-proxy", box.run_section("Webhooks", page=PAGE))
        found = box.get("mutatingwebhookconfiguration", "istio-sidecar-injector")["webhooks"]
        self.assertEqual({hook["failurePolicy"] for hook in found}, {"Fail"})
        self.assertTrue(all(hook["clientConfig"].get("caBundle") for hook in found))
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
        done = box.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(pod))
        self.assertIn("istio-proxy", done.stdout, done.stderr)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
