#!/usr/bin/env python3
"""Stock Envoys as sidecars, their pods' traffic redirected by `fairlead agent iptables` in each of its ways: by iptables, by nft, and with
TPROXY, where the workload sees its client's own address.

Needs root. FAIRLEAD and ENVOY name other binaries than the build's and the fetched one.
"""
import json
import pathlib
import shutil
import tempfile
import unittest

from mesh import PROXY_UID, Mesh, wait_until

PORT, ADDRESS = 8080, "10.99.0.8"
PODS = {"client": "10.77.3.1", "plain": "10.77.3.2", "native": "10.77.3.3", "tproxy": "10.77.3.4", "nativetproxy": "10.77.3.5"}
FLAGS = {"native": ["--native-nftables"], "tproxy": ["-m", "TPROXY"], "nativetproxy": ["--native-nftables", "-m", "TPROXY"]}


def meta(name, **more):
    return {"name": name, "namespace": "bookshop", **more}


def service(name, number):
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta(name),
            "spec": {"clusterIP": f"10.99.0.{number}", "selector": {"app": name}, "ports": [{"name": "http", "port": PORT}]}}


def pod(name):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta(name, labels={"app": name, "security.istio.io/tlsMode": "istio"}),
            "spec": {"serviceAccountName": name, "containers": [{"name": "app", "image": "app"}]},
            "status": {"phase": "Running", "podIP": PODS[name], "podIPs": [{"ip": PODS[name]}],
                       "conditions": [{"type": "Ready", "status": "True"}]}}


class InterceptionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-interception-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        objects = [pod(name) for name in PODS] + [service(name, number) for number, name in enumerate(PODS, 8)]
        objects += [{"apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication", "metadata": meta("default"),
                     "spec": {"mtls": {"mode": "STRICT"}}}]
        (folder / "mesh.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
        cls.mesh = Mesh(folder)
        cls.mesh.__enter__()
        cls.addClassCleanup(cls.mesh.__exit__, None, None, None)
        cls.mesh.start_fairlead()
        cls.pods = {name: cls.mesh.pod(name, address, {"app": name}, redirection=FLAGS.get(name, ())) for name, address in PODS.items()}
        for name, one in cls.pods.items():
            tproxy = "TPROXY" in FLAGS.get(name, ())
            # As Istio injects it: a proxy that keeps its clients' addresses is root, of the proxy's group.
            cls.mesh.start_sidecar(one, user=0 if tproxy else PROXY_UID, ISTIO_META_INTERCEPTION_MODE="TPROXY" if tproxy else "REDIRECT")
            cls.mesh.app(one, "http", PORT, name)
        cls.mesh.wait_sidecars(cls.pods.values())
        wait_until("the first request is answered", lambda: "plain" in str(cls.answers(cls, "client", "plain")))

    def answers(self, caller, host):
        number = 8 + list(PODS).index(host)
        return self.mesh.client(self.pods[caller], "get", f"http://10.99.0.{number}:{PORT}/from", 4)

    def test_every_way_in_and_out(self):
        for host in ("plain", "native", "tproxy", "nativetproxy"):
            # The proxy of a pod calls from an address of its own, unless it keeps the client's.
            address = PODS["client"] if "tproxy" in host else "127.0.0.6"
            with self.subTest(host):
                self.assertEqual(self.answers("client", host), {f"{host} {address}": 4})

    def test_every_way_out(self):
        for caller in FLAGS:
            with self.subTest(caller):
                self.assertEqual(self.answers(caller, "plain"), {"plain 127.0.0.6": 4})

    def test_strict_mutual_tls_keeps_strangers_out(self):
        stranger = self.mesh.pod("stranger", "10.77.3.9", {"app": "stranger"}, sidecar=False)
        for host in ("plain", "native", "tproxy", "nativetproxy"):
            answers = self.mesh.client(stranger, "get", f"http://{PODS[host]}:{PORT}/from", 2)
            self.assertFalse([a for a in answers if a.startswith(host)], answers)


if __name__ == "__main__":
    unittest.main()
