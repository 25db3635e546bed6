#!/usr/bin/env python3
"""Several sources at once: their order, what a failing one does to the others, and the ways to name them."""
import signal
import subprocess
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


class TogetherTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)
        self.a, self.b, self.served = (self.folder(name) for name in ("a", "b", "served"))

    def folder(self, name):
        path = self.processes.path / name
        path.mkdir()
        return path

    def put(self, folder, name, address):
        part = folder / f".{name}"
        part.write_text(ENTRY % {"name": name, "address": address})
        part.rename(folder / f"{name}.yaml")

    def serve(self):
        return self.processes.start("server", page.FAIRLEAD, "discovery", f"--configDir={self.served}", f"--grpcAddr=127.0.0.1:{SERVER_PORT}",
                                    "--secureGRPCAddr=", "--httpAddr=", "--httpsAddr=", "--monitoringAddr=", "--stateDir=")

    def control_plane(self, *flags):
        fairlead = page.ControlPlane(self.processes, *flags)
        fairlead.wait_ready()
        return fairlead

    def follow_order(self, fairlead):
        """Of three sources with one object the first that has it counts, whoever brings it last."""
        web = CLUSTER % "web"
        self.assertEqual(fairlead.endpoints(web), ["10.0.0.1"])
        self.put(self.b, "web", "10.0.0.22")
        (self.a / "web.yaml").unlink()
        self.put(self.a, "other", "10.0.9.9")
        fairlead.wait_endpoints(web, ["10.0.0.22"])
        (self.b / "web.yaml").unlink()
        self.put(self.b, "another", "10.0.9.8")
        fairlead.wait_endpoints(web, ["10.0.0.3"])
        self.put(self.a, "web", "10.0.0.11")
        fairlead.wait_endpoints(web, ["10.0.0.11"])

    def prepare(self):
        for folder, address in ((self.a, "10.0.0.1"), (self.b, "10.0.0.2"), (self.served, "10.0.0.3")):
            self.put(folder, "web", address)
        self.serve()

    def test_sources_of_a_flag_in_their_order(self):
        self.prepare()
        self.follow_order(self.control_plane(f"--configDir={self.a}", f"--configSource=fs://{self.b},xds://127.0.0.1:{SERVER_PORT}"))

    def test_sources_of_the_mesh_config_in_their_order(self):
        self.prepare()
        mesh = self.processes.path / "mesh.yaml"
        mesh.write_text(f"configSources:\n- address: fs://{self.a}\n- address: fs://{self.b}\n- address: xds://127.0.0.1:{SERVER_PORT}\n")
        fairlead = self.control_plane(f"--meshConfig={mesh}")
        self.assertNotIn("configSources", fairlead.diagnostics())
        self.follow_order(fairlead)

    def test_sources_among_the_registries(self):
        self.prepare()
        self.follow_order(self.control_plane(f"--configDir={self.a}", f"--registries=Kubernetes,fs://{self.b},xds://127.0.0.1:{SERVER_PORT}"))

    def test_a_source_that_fails_takes_nothing_of_others_away(self):
        self.put(self.a, "web", "10.0.0.1")
        self.put(self.served, "api", "10.0.0.3")
        server = self.serve()
        fairlead = self.control_plane(f"--configDir={self.a}", f"--configSource=xds://127.0.0.1:{SERVER_PORT}")
        self.processes.stop(server, signal.SIGKILL)
        page.eventually(lambda: "unreachable-source" in fairlead.diagnostics(), "the diagnostic")
        self.put(self.a, "web", "10.0.0.2")
        fairlead.wait_endpoints(CLUSTER % "web", ["10.0.0.2"])
        self.assertEqual(fairlead.endpoints(CLUSTER % "api"), ["10.0.0.3"])
        # After a restart the kept view of the one that is away counts beside the others.
        fairlead.stop()
        fairlead = self.control_plane(f"--configDir={self.a}", f"--configSource=xds://127.0.0.1:{SERVER_PORT}")
        self.assertEqual((fairlead.endpoints(CLUSTER % "web"), fairlead.endpoints(CLUSTER % "api")), (["10.0.0.2"], ["10.0.0.3"]))
        self.assertIn("kept-source", fairlead.diagnostics())

    def test_mistakes_are_named(self):
        def refused(*flags):
            done = subprocess.run([page.FAIRLEAD, "discovery", "--httpAddr=", "--grpcAddr=", "--secureGRPCAddr=", "--stateDir=", *flags],
                                  capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            return done.stdout + done.stderr

        self.assertIn('"Eureka" is neither Kubernetes nor the URL of a platform', refused(f"--configDir={self.a}", "--registries=Eureka"))
        self.assertIn("option readdy is not known; did you mean ready?", refused("--registries=consul://h?readdy=any"))
        self.assertIn("k8s://: no API server is read", refused(f"--configDir={self.a}", "--configSource=k8s://"))
        self.assertIn('"fs://x": a source is one of', refused("--configSource=fs://x"))
        self.assertIn("there is no source", refused())


if __name__ == "__main__":
    page.own_network()
    unittest.main()
