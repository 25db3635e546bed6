#!/usr/bin/env python3
"""The source of MCP over xDS with another Fairlead as server, and the commands of docs/sources/mcp.md."""
import os
import shutil
import signal
import subprocess
import sys
import unittest

import page

ENTRY = """apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: %(name)s, namespace: shop}
spec:
  hosts: [%(name)s.example.com]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: %(address)s}]
"""
CLUSTER = "outbound|80||%s.example.com"
SERVER_PORT = 16010


class McpTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)
        self.mesh = self.processes.path / "mesh"
        self.mesh.mkdir()

    def put(self, name, address):
        part = self.mesh / f".{name}"
        part.write_text(ENTRY % {"name": name, "address": address})
        part.rename(self.mesh / f"{name}.yaml")

    def serve(self, folder=None):
        return self.processes.start(
            "server", page.FAIRLEAD, "discovery", f"--configDir={folder or self.mesh}", f"--grpcAddr=127.0.0.1:{SERVER_PORT}", "--secureGRPCAddr=",
            "--httpAddr=", "--httpsAddr=", "--monitoringAddr=", "--stateDir=")

    def test_the_page(self):
        page.run_page("mcp.md", {"fairlead": page.FAIRLEAD})

    def test_a_server_is_lost_and_comes_back(self):
        for protocol in ("sotw", "delta"):
            with self.subTest(protocol):
                self.follow(protocol)

    def follow(self, protocol):
        self.put("web", "10.0.0.1")
        self.put("shop", "10.0.1.1")
        server = self.serve()
        fairlead = page.ControlPlane(self.processes, f"--configSource=xds://127.0.0.1:{SERVER_PORT}?protocol={protocol}")
        fairlead.wait_ready()
        self.assertEqual(fairlead.endpoints(CLUSTER % "web"), ["10.0.0.1"])
        self.put("web", "10.0.0.2")
        fairlead.wait_endpoints(CLUSTER % "web", ["10.0.0.2"])
        (self.mesh / "shop.yaml").unlink()
        fairlead.wait_endpoints(CLUSTER % "shop", [])
        # What the server said stays in effect while it is away, and nothing more once it is back with less.
        self.processes.stop(server, signal.SIGKILL)
        page.eventually(lambda: "unreachable-source" in fairlead.diagnostics(), "the diagnostic")
        self.assertEqual(fairlead.endpoints(CLUSTER % "web"), ["10.0.0.2"])
        (self.mesh / "web.yaml").unlink()
        self.put("new", "10.0.2.1")
        server = self.serve()
        fairlead.wait_endpoints(CLUSTER % "new", ["10.0.2.1"])
        fairlead.wait_endpoints(CLUSTER % "web", [])
        self.processes.stop(server)
        fairlead.stop()
        shutil.rmtree(self.processes.path / "state", ignore_errors=True)

    def test_a_mesh_that_another_serves_is_as_from_files(self):
        """Cases of each area; `make mcp-conformance` runs all."""
        tools = page.ROOT / "build" / "tools"
        if not (tools / "xdsdump").exists():
            self.skipTest("no xdsdump: make tools")
        server = f"{sys.executable} -B {page.HERE}/through_mcp.py {page.FAIRLEAD} {{config}} {{port}} --meshConfig {{mesh}} --networksConfig {{networks}}"
        for cases in ("/destinations/se-", "/routing/", "/security/"):
            done = subprocess.run(
                [sys.executable, "-B", page.ROOT / "tools" / "conformance.py", "--cases", page.ROOT / "tests" / "conformance", "--xdsdump", tools / "xdsdump",
                 "--server", server, "--filter", cases, "--show", "3"], capture_output=True, text=True, timeout=200,
                env=os.environ | {"FAIRLEAD_ENDPOINTS_FROM_PODS": "false", "FAIRLEAD_PLAINTEXT_IDENTITY": "node"})
            self.assertRegex(done.stdout, r"[1-9]\d* passed, 0 failed", done.stdout[-2000:] + done.stderr[-2000:])


if __name__ == "__main__":
    page.own_network()
    unittest.main(verbosity=2)
