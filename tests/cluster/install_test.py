#!/usr/bin/env python3
"""The commands of docs/kubernetes/install.md, in the cluster: the control plane comes up from the chart, pods of a namespace get
sidecars, a Gateway gets its Deployment, and requests go through both with mutual TLS. Then all of it is removed.

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import json
import subprocess
import unittest

import kubebox
from installed import InstalledBox


class Installation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = InstalledBox()
        cls.box.__enter__()
        cls.addClassCleanup(cls.box.__exit__, None, None, None)

    def test_the_images_are_whole(self):
        """Each program starts with nothing but its image."""
        for image, *command in (("fairlead", "/usr/local/bin/fairlead", "version"), ("proxy", "/usr/local/bin/pilot-agent", "--help"),
                                ("proxy", "/usr/local/bin/envoy", "--version"), ("proxy", "/usr/sbin/iptables", "--version")):
            done = subprocess.run(["chroot", "--userspec=1337:1337", self.box.folder / image, *command], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        self.assertFalse([p for p in (self.box.folder / "fairlead").rglob("*") if p.name in ("sh", "bash", "apt", "dpkg")])

    def test_the_page(self):
        for heading in ("Definitions", "The control plane", "Sidecars", "Gateways"):
            self.box.run_section(heading)
        pods = self.box.get("pods", "-n", "shop", "-l", "app=web")["items"]
        names = [c["name"] for c in pods[0]["spec"]["containers"] + pods[0]["spec"]["initContainers"]]
        self.assertEqual(sorted(names), ["istio-init", "istio-proxy", "web"])
        self.assertTrue(all(c["ready"] for c in pods[0]["status"]["containerStatuses"]))

        def answer():
            code, said = self.box.exec("curl", "-sS", "-m", "5", "http://front-istio.shop.svc.cluster.local/hello")
            return json.loads(said) if code == 0 and said.startswith("{") else None
        try:
            said = kubebox.wait_until("an answer through the gateway", answer, 60)
        except AssertionError as error:
            self.fail(f"{error}{self.box.state()}")
        self.assertEqual(said["path"], "/hello")
        headers = {name.lower(): value for name, value in said["headers"].items()}
        self.assertIn("spiffe://cluster.local/ns/shop/sa/front-istio", headers["x-forwarded-client-cert"])
        # Without an identity there is no way to the pod.
        code, said = self.box.exec("curl", "-sS", "-m", "5", "http://web.shop.svc.cluster.local/")
        self.assertNotEqual(code, 0, said)
        self.assertNotIn("is forbidden", self.box.kubectl("logs", "-n", "istio-system", "deployment/istiod").stdout)
        self.check_restart()
        self.box.run_section("Removal")
        kubebox.wait_until("the end of the control plane", lambda: self.box.kubectl(
            "get", "deployment", "istiod", "-n", "istio-system").returncode != 0)

    def check_restart(self):
        """Two replicas are replaced one after the other, and no pod is refused or without a sidecar meanwhile."""
        kubectl = self.box.kubectl
        kubectl("patch", "hpa/istiod", "-n", "istio-system", "--type=merge", "-p", '{"spec": {"minReplicas": 2}}')
        kubectl("scale", "deployment/istiod", "-n", "istio-system", "--replicas=2")
        kubectl("rollout", "status", "deployment/istiod", "-n", "istio-system", "--timeout=60s")
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "dry-", "namespace": "shop"},
               "spec": {"containers": [{"name": "app", "image": "app"}]}}
        self.assertEqual(kubectl("rollout", "restart", "deployment/istiod", "-n", "istio-system").returncode, 0)
        rollout = subprocess.Popen(["kubectl", "rollout", "status", "deployment/istiod", "-n", "istio-system", "--timeout=90s"],
                                   env=self.box.env, stdout=subprocess.DEVNULL)
        tried = 0
        while rollout.poll() is None or tried < 20:
            done = kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(pod))
            self.assertEqual(done.returncode, 0, f"after {tried} pods: {done.stderr}")
            self.assertIn("istio-proxy", done.stdout)
            tried += 1
        self.assertEqual(rollout.returncode, 0)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
