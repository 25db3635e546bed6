#!/usr/bin/env python3
"""fairlead register and deregister with a control plane on a folder of manifests, and the commands of docs/sources/register.md."""
import os
import signal
import socket
import subprocess
import unittest

import page

MESH = """
apiVersion: networking.istio.io/v1
kind: WorkloadGroup
metadata: {name: db, namespace: shop}
spec:
  metadata: {labels: {app: db}}
  template: {serviceAccount: db, ports: {tcp: 5432}}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: db, namespace: shop}
spec:
  hosts: [db.example.com]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 5432, name: tcp, protocol: TCP}]
  workloadSelector: {labels: {app: db}}
"""
DB = "outbound|5432||db.example.com"


class RegisterTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)
        self.mesh = self.processes.path / "mesh"
        self.mesh.mkdir()
        (self.mesh / "mesh.yaml").write_text(MESH)
        os.environ.update(FAIRLEAD_PLAINTEXT_IDENTITY="node", PILOT_WORKLOAD_ENTRY_GRACE_PERIOD="1s")
        self.fairlead = self.discovery()

    def discovery(self):
        fairlead = page.ControlPlane(self.processes, f"--configDir={self.mesh}")
        fairlead.wait_ready()
        return fairlead

    def register(self, name, *words):
        return self.processes.start(name, page.FAIRLEAD, "register", "-f", str(self.mesh / "mesh.yaml"), "--discoveryAddress=127.0.0.1:15010",
                                    "--plaintext", "--drain=100ms", f"--runDir={self.processes.path}/run", *words)

    def deregister(self, *words):
        return subprocess.run([page.FAIRLEAD, "deregister", "db", "-n", "shop", f"--runDir={self.processes.path}/run", *words],
                              capture_output=True, text=True, timeout=30)

    def test_the_page(self):
        self.processes.close()
        self.processes = page.Processes()
        for name in ("FAIRLEAD_PLAINTEXT_IDENTITY", "PILOT_WORKLOAD_ENTRY_GRACE_PERIOD"):
            os.environ.pop(name)
        page.run_page("register.md", {"fairlead": page.FAIRLEAD})

    def test_workloads_come_and_go(self):
        first = self.register("first", "--address=10.0.0.7")
        self.register("second", "--address=10.0.0.8")
        self.fairlead.wait_endpoints(DB, ["10.0.0.7", "10.0.0.8"])
        twice = self.register("twice", "--address=10.0.0.8")
        self.assertEqual(twice.wait(timeout=30), 1)
        self.assertIn("runs it already", self.processes.log("twice"))
        several = self.deregister()
        self.assertEqual(several.returncode, 1)
        self.assertIn("--address says which", several.stderr)
        self.assertEqual(self.deregister("--address=10.0.0.8").returncode, 0)
        self.fairlead.wait_endpoints(DB, ["10.0.0.7"])
        self.processes.stop(first, signal.SIGKILL)
        self.fairlead.wait_endpoints(DB, [])
        self.assertIn("it does not run", self.deregister("--address=10.0.0.7").stderr)

    def test_a_probe_decides(self):
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        self.register("probed", "--address=10.0.0.7", f"--probe=tcp://127.0.0.1:{port}", "--periodSeconds=1", "--failureThreshold=1")
        self.fairlead.wait_endpoints(DB, ["10.0.0.7"])
        listener.close()
        self.fairlead.wait_endpoints(DB, [])
        self.assertIn("the workload is not healthy", self.processes.log("probed"))

    def test_a_control_plane_is_lost_and_comes_back(self):
        self.register("kept", "--address=10.0.0.7")
        self.fairlead.wait_endpoints(DB, ["10.0.0.7"])
        self.processes.stop(self.fairlead.process, signal.SIGKILL)
        self.fairlead = self.discovery()
        self.fairlead.wait_endpoints(DB, ["10.0.0.7"])

    def test_a_group_that_is_not_there_is_said(self):
        other = self.processes.path / "other.yaml"
        other.write_text(MESH.replace("name: db, namespace: shop", "name: others, namespace: shop").split("---")[0])
        self.processes.start("refused", page.FAIRLEAD, "register", "-f", str(other), "--address=10.0.0.9", "--plaintext",
                             "--discoveryAddress=127.0.0.1:15010", f"--runDir={self.processes.path}/run")
        page.eventually(lambda: "not registered: 10.0.0.9 of group shop/others" in self.processes.log("refused"), "the refusal")


if __name__ == "__main__":
    page.own_network()
    unittest.main(verbosity=2)
