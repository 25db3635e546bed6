#!/usr/bin/env python3
"""A mesh in the cluster, installed from the chart, as its users see it: native and classic sidecars, STRICT mutual TLS, tokens of end
users, an external authorizer, egress by a ServiceEntry where all else is closed, and a Gateway whose certificate is exchanged under load.

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import base64
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import kubebox
from installed import InstalledBox, sections

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from issuer import Issuer  # noqa: E402

MESH = {"meshConfig": {"outboundTrafficPolicy": {"mode": "REGISTRY_ONLY"}, "extensionProviders": [
    {"name": "authorizer", "envoyExtAuthzHttp": {"service": "authorizer.shop.svc.cluster.local", "port": 9000, "includeRequestHeadersInCheck": ["x-pass"],
                                                 "headersToUpstreamOnAllow": ["x-authorized-by"]}}]}}


class Mesh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-e2e-"))
        cls.addClassCleanup(lambda: subprocess.run(["rm", "-rf", cls.folder], check=False))
        cls.box = box = InstalledBox(images={"fairlead/authorizer": {
            "path": str(HERE / "authorizer.py"), "entrypoint": ["/usr/bin/python3", "/authorizer.py"], "cmd": ["9000"], "user": "65532"}})
        box.__enter__()
        cls.addClassCleanup(box.__exit__, None, None, None)
        box.run_section("Definitions")
        (box.work / "values.yaml").write_text(json.dumps(MESH))
        install = sections()["The control plane"]
        assert "--namespace istio-system |" in install
        box.run_shell(install.replace("--namespace istio-system |", "--namespace istio-system --values values.yaml |"))
        cls.issuer = Issuer(cls.folder / "issuer")
        box.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"istio-injection": "enabled"}}})
        box.apply(cls.make_certificate("one"))
        box.apply((HERE / "manifests" / "e2e.yaml").read_text().replace("JWKS", cls.issuer.key_set()))
        for name, namespace in ("web", "shop"), ("old", "shop"), ("authorizer", "shop"), ("front-istio", "shop"), ("stranger", "outside"):
            kubebox.wait_until(name, lambda n=name, s=namespace: box.kubectl("get", "deployment", n, "-n", s).returncode == 0)
            done = box.kubectl("rollout", "status", f"deployment/{name}", "-n", namespace, "--timeout=120s", timeout=140)
            if done.returncode:
                raise AssertionError(done.stderr + box.state())

    @classmethod
    def make_certificate(cls, name):
        """The Gateway's Secret with a new certificate for shop.example, which is the file NAME.crt, too."""
        ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        subprocess.run(["openssl", "req", "-x509", *ec, "-days", "5", "-subj", f"/O={name}", "-addext", "subjectAltName=DNS:shop.example", "-keyout",
                        f"{name}.key", "-out", f"{name}.crt"], cwd=cls.folder, check=True, capture_output=True)
        data = {key: base64.b64encode((cls.folder / f"{name}.{end}").read_bytes()).decode() for key, end in (("tls.crt", "crt"), ("tls.key", "key"))}
        return {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": {"name": "front-cert", "namespace": "shop"}, "data": data}

    def ask(self, caller, url, *headers, namespace="shop"):
        """(status, body) of a request that a workload makes; status 000 where there is no answer."""
        words = [word for header in headers for word in ("-H", header)]
        said = self.box.in_pod(namespace, f"deploy/{caller}", "curl", "-s", "-m", "5", "-w", "\n%{http_code}", *words, url, container="app")[1]
        body, _, status = said.strip().rpartition("\n")
        return status[:3], body

    def until(self, expected, *request, **more):
        """The body of the answer once it has the status."""
        last = []

        def same():
            last[:] = self.ask(*request, **more)
            return last[0] == expected
        try:
            kubebox.wait_until(f"{request}: {expected}", same, 40, pause=0.5)
        except AssertionError as error:
            self.fail(f"{error}: {last}{self.box.state()}")
        return last[1]

    def containers(self, app):
        spec = self.box.get("pods", "-n", "shop", "-l", f"app={app}")["items"][0]["spec"]
        return [c["name"] for c in spec.get("initContainers", ()) if c.get("restartPolicy") == "Always"], [c["name"] for c in spec["containers"]]

    def test_native_and_classic_sidecars_with_mutual_tls(self):
        self.assertEqual(self.containers("web")[0], ["istio-proxy"])
        native, containers = self.containers("old")
        self.assertEqual((native, sorted(containers)), ([], ["app", "istio-proxy"]))
        for caller, url in (("old", "http://web.shop/"), ("web", "http://old.shop/open")):
            headers = json.loads(self.until("200", caller, url))["headers"]
            self.assertIn("spiffe://cluster.local/ns/shop/sa/default", {k.lower(): v for k, v in headers.items()}["x-forwarded-client-cert"])
        self.until("000", "stranger", "http://web.shop/", namespace="outside")

    def test_tokens_of_end_users(self):
        alice, bob = (self.issuer.token({"sub": name}) for name in ("alice", "bob"))
        self.until("200", "web", "http://old.shop/", f"Authorization: Bearer {alice}")
        self.until("403", "web", "http://old.shop/", f"Authorization: Bearer {bob}")
        self.until("403", "web", "http://old.shop/")
        self.until("401", "web", "http://old.shop/", f"Authorization: Bearer {alice[:-8]}AAAAAAAA")

    def test_an_external_authorizer(self):
        self.until("403", "old", "http://web.shop/guarded")
        body = self.until("200", "old", "http://web.shop/guarded", "x-pass: yes")
        self.assertIn("authorizer", body.lower())
        self.until("200", "old", "http://web.shop/elsewhere")

    def test_egress_by_a_service_entry(self):
        address = self.box.get("pods", "-n", "outside", "-l", "app=stranger")["items"][0]["status"]["podIP"]
        entry = {"apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry", "metadata": {"name": "api", "namespace": "shop"}, "spec": {
            "hosts": ["api.example"], "addresses": ["240.1.1.1"], "location": "MESH_EXTERNAL", "resolution": "STATIC",
            "ports": [{"number": 80, "name": "http", "protocol": "HTTP"}], "endpoints": [{"address": address, "ports": {"http": 3000}}]}}
        self.assertNotEqual(self.ask("web", "http://240.1.1.1/", "Host: api.example")[0], "200")
        self.assertNotEqual(self.ask("web", f"http://{address}:3000/")[0], "200", "what is not registered is closed")
        self.box.apply(entry)
        body = self.until("200", "web", "http://240.1.1.1/", "Host: api.example")
        self.assertNotIn("x-forwarded-client-cert", body.lower(), "it is outside of the mesh")
        self.box.kubectl("delete", "serviceentry", "api", "-n", "shop")
        kubebox.wait_until("closed again", lambda: self.ask("web", "http://240.1.1.1/", "Host: api.example")[0] != "200", 30)

    def through_the_gateway(self, authority):
        address = self.box.get("service", "front-istio", "-n", "shop")["spec"]["clusterIP"]
        return self.box.exec("curl", "-sS", "-m", "5", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", str(self.folder / authority), "--resolve",
                             f"shop.example:443:{address}", "https://shop.example/")[1]

    def test_a_gateways_certificate_is_exchanged_under_load(self):
        kubebox.wait_until("an answer", lambda: self.through_the_gateway("one.crt") == "200", 40)
        (self.folder / "both.crt").write_text((self.folder / "one.crt").read_text())
        said, done = [[], []], threading.Event()

        def load(own):
            while not done.is_set():
                own.append(self.through_the_gateway("both.crt"))

        def goes_on(when):
            before = [len(own) for own in said]
            kubebox.wait_until(f"each client is answered {when}", lambda: all(len(own) >= old + 3 for own, old in zip(said, before)), 60)
        threads = [threading.Thread(target=load, args=(own,)) for own in said]
        for thread in threads:
            thread.start()
        try:
            goes_on("at first")
            for name in "two", "three":
                self.exchange(name)
                goes_on(f"with {name}")
        finally:
            done.set()
            for thread in threads:
                thread.join()
        self.assertEqual([status for own in said for status in own if status != "200"], [], f"of {[len(own) for own in said]}")

    def exchange(self, name):
        """Clients trust the next certificate before it is there; then it alone is served."""
        secret = self.make_certificate(name)
        trusted = (self.folder / "both.crt").read_text() + (self.folder / f"{name}.crt").read_text()
        (self.folder / "both.new").write_text(trusted)
        (self.folder / "both.new").rename(self.folder / "both.crt")
        self.box.apply(secret)
        kubebox.wait_until(f"the certificate {name}", lambda: self.through_the_gateway(f"{name}.crt") == "200", 30)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
