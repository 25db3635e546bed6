#!/usr/bin/env python3
"""Fairlead keeps its webhooks working: it writes and repairs their caBundle, lets validation fail closed once it works, follows
new roots and certificates, and goes on with what it has when a ConfigMap breaks or a Secret goes.

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import base64
import os
import pathlib
import subprocess
import sys
import time
import unittest

import kubebox
from api_server import own_network
from kube_api import ApiError
from webhooks_test import FAIRLEAD, TEMPLATE, Webhooks, hook

API = "admissionregistration.k8s.io/v1"
PODS = [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]
OBJECTS = [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["networking.istio.io"], "apiVersions": ["*"], "resources": ["*"]}]
VALIDATORS = "istio-validator-dock-istio-system", "istiod-default-validator"
SECRET = "/api/v1/namespaces/istio-system/secrets/istio-ca-secret"


def path_of(kind, name):
    return f"/apis/{API}/{kind}webhookconfigurations/{name}"


def without_bundle(webhook):
    del webhook["clientConfig"]["caBundle"]
    return webhook


class Upkeep:
    """Checks, one after the other; each leaves things as it found them."""

    def __init__(self, test, box):
        self.test, self.box, self.api = test, box, box.api

    def register(self):
        """As Istio's charts have them, without a caBundle."""
        market, none = {"matchLabels": {"kubernetes.io/metadata.name": "market"}}, {"matchLabels": {"none": "none"}}
        injector = [without_bundle(hook(name, "/inject", "", PODS, namespaceSelector=selector)) for name, selector in (
            ("rev.namespace.sidecar-injector.istio.io", market), ("rev.object.sidecar-injector.istio.io", none), ("other.fairlead.example", none))]
        validators = [{**without_bundle(hook(name, "/validate", "", OBJECTS, **selector)), "failurePolicy": "Ignore"} for name, selector in (
            ("rev.validation.istio.io", {"objectSelector": {"matchLabels": {"istio.io/rev": "dock"}}}), ("validation.istio.io", {}))]
        for kind, name, revision, webhooks in (
                ("Mutating", "istio-sidecar-injector-dock", "dock", injector), ("Mutating", "of-another", "other", injector[1:]),
                ("Mutating", "istio-revision-tag-default", "dock", injector[1:2]),
                *(("Validating", name, "dock", [validator]) for name, validator in zip(VALIDATORS, validators))):
            self.api.create({"apiVersion": API, "kind": f"{kind}WebhookConfiguration", "metadata": {"name": name, "labels": {"istio.io/rev": revision}},
                             "webhooks": webhooks})

    def bundles(self, kind, name):
        found = self.api.get(path_of(kind, name))["webhooks"]
        return [base64.b64decode(one["clientConfig"].get("caBundle", "")).decode() for one in found]

    def root(self):
        return base64.b64decode(self.api.get(SECRET)["data"]["ca-cert.pem"]).decode().strip()

    def await_bundles(self, what):
        def same():
            return all(self.root() in bundle for name in ("istio-sidecar-injector-dock", "istio-revision-tag-default")
                       for bundle in self.bundles("mutating", name)[:2]) and all(self.root() in self.bundles("validating", name)[0] for name in VALIDATORS)
        kubebox.wait_until(what, same, 30)

    def stamp(self):
        return self.box.pod(f"pod-{os.urandom(5).hex()}")["metadata"].get("labels", {}).get("stamp")

    def written(self):
        """The first caBundle; then a pod is injected, and validation fails closed."""
        self.register()
        self.await_bundles("the caBundle")
        self.test.assertEqual(self.bundles("mutating", "istio-sidecar-injector-dock")[2], "", "that of somebody else")
        self.test.assertEqual(self.bundles("mutating", "of-another"), ["", ""], "those of another revision")
        self.test.assertEqual(self.stamp(), "one")
        kubebox.wait_until("validation fails closed", self.fails_closed)
        kubebox.wait_until("the log", lambda: "an invalid object was refused" in self.box.said())
        # Nothing is left of the object that was tried.
        self.test.assertEqual(self.api.get("/apis/networking.istio.io/v1/gateways")["items"], [])

    def fails_closed(self):
        return all(self.api.get(path_of("validating", name))["webhooks"][0]["failurePolicy"] == "Fail" for name in VALIDATORS)

    def repaired(self):
        """What somebody empties or edits."""
        for bundle in "", base64.b64encode(b"nonsense").decode(), base64.b64encode(subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=evil",
                 "-keyout", "/dev/null"], capture_output=True, check=True).stdout).decode():
            for kind, name in ("mutating", "istio-sidecar-injector-dock"), *(("validating", name) for name in VALIDATORS):
                change = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}]
                try:
                    self.api.call("PATCH", path_of(kind, name), change, "application/json-patch+json")
                except ApiError as error:  # the API server refuses a text that is no PEM
                    self.test.assertIn("caBundle", str(error))
            self.await_bundles("the repair")
        self.test.assertEqual(self.stamp(), "one")
        for name in VALIDATORS:
            self.api.call("PATCH", path_of("validating", name), [{"op": "add", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}],
                          "application/json-patch+json")
        kubebox.wait_until("validation fails closed again", self.fails_closed)
        writes = self.writes()
        time.sleep(1)
        self.test.assertEqual(self.writes(), writes, "what is right is not written")

    def writes(self):
        return [one["metadata"]["resourceVersion"] for kind in ("mutating", "validating") for one in self.api.get(path_of(kind, "")[:-1])["items"]]

    def secret_gone(self):
        """The authority's Secret is made again with the same root."""
        before = self.root()
        self.api.call("DELETE", SECRET)
        kubebox.wait_until("the Secret", lambda: self.api.call("GET", SECRET, also=(404,))[0] == 200)
        self.test.assertEqual(self.root(), before)
        self.await_bundles("the caBundle as it was")
        self.test.assertEqual(self.stamp(), "one")

    def new_root(self):
        """Another authority: certificate and caBundle follow, and pods are injected."""
        folder, words = self.box.folder.name, ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9", "-subj", "/O=new"]
        subprocess.run(["openssl", "req", "-x509", *words, "-keyout", f"{folder}/new.key", "-out", f"{folder}/new.crt"], check=True, capture_output=True)
        data = {name: base64.b64encode(pathlib.Path(f"{folder}/new.{end}").read_bytes()).decode() for name, end in (
            ("ca-cert.pem", "crt"), ("ca-key.pem", "key"), ("root-cert.pem", "crt"))}
        self.api.call("PATCH", SECRET, {"data": data}, "application/merge-patch+json")
        self.await_bundles("the new caBundle")

        def injected():
            try:
                return self.stamp() == "one"
            except ApiError:
                return False
        kubebox.wait_until("pods are injected", injected, 10)

    def broken_config_map(self):
        """The last good configuration goes on, and the log says so."""
        self.box.configure("policy: enabled\ntemplates: {sidecar: '{{ broken'}")
        kubebox.wait_until("the complaint", lambda: "the last good one stays" in self.box.said())
        self.test.assertEqual(self.stamp(), "one")
        self.api.call("DELETE", "/api/v1/namespaces/istio-system/configmaps/istio-sidecar-injector-dock")
        time.sleep(0.5)
        self.test.assertEqual(self.stamp(), "one")
        self.api.create(self.box.config_map(TEMPLATE % "one"))

    def command_line(self):
        """`fairlead inject` reads the same ConfigMaps, and says which is missing."""
        def inject():
            return subprocess.run([FAIRLEAD, "inject", "-f", "-", "--kubeconfig", self.box.server.kubeconfig, "-r", "dock"], capture_output=True, text=True,
                                  input="{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: app, image: app}]}}")
        done = inject()
        self.test.assertIn("ConfigMap istio-system/istio-dock: ", done.stderr)
        self.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio-dock", "namespace": "istio-system"},
                         "data": {"mesh": "accessLogFile: /dev/stdout"}})
        done = inject()
        self.test.assertEqual(done.returncode, 0, done.stderr)
        self.test.assertIn("example/proxyv2:1", done.stdout)

    def given_certificate(self):
        """An operator's certificate: its file's roots are the caBundle; an expired one is replaced in the file, and all goes on."""
        folder = self.box.folder.name

        def make(days):
            ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
            for words in (["req", "-x509", *ec, "-days", "9", "-subj", "/O=given", "-keyout", "ca.key", "-out", "ca.crt"],
                          ["req", *ec, "-subj", "/", "-keyout", "tls.key", "-out", "tls.csr"],
                          ["x509", "-req", "-in", "tls.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", str(days), "-extfile", "names",
                           "-out", "tls.crt"]):
                subprocess.run(["openssl", *words], cwd=f"{folder}/new", check=True, capture_output=True)
            for name in "ca.crt", "tls.key", "tls.crt":
                os.replace(f"{folder}/new/{name}", f"{folder}/given/{name}")
        for name in "new", "given":
            os.mkdir(f"{folder}/{name}")
        with open(f"{folder}/new/names", "w", encoding="utf-8") as f:
            f.write("subjectAltName=DNS:localhost")
        make(1)
        self.box.process.terminate()
        self.box.process.wait()
        self.box.process = subprocess.Popen([*self.box.process.args, f"--tlsCertFile={folder}/given/tls.crt", f"--tlsKeyFile={folder}/given/tls.key",
                                             f"--caCertFile={folder}/given/ca.crt"], env={**os.environ, "REVISION": "dock"},
                                            stdout=self.box.log, stderr=self.box.log, preexec_fn=kubebox.end_with_parent)

        def given():
            root = pathlib.Path(folder, "given", "ca.crt").read_text().strip()
            return root in self.bundles("mutating", "istio-sidecar-injector-dock")[0]

        def injected():
            try:
                return self.stamp() == "one"
            except ApiError as error:
                return self.refusals.append(str(error))
        self.refusals = []
        kubebox.wait_until("the given roots", given)
        kubebox.wait_until("pods are injected", injected)
        make(-1)
        kubebox.wait_until("the refusal", lambda: not injected() and "certificate" in self.refusals[-1])
        make(1)
        kubebox.wait_until("the next roots", given)
        kubebox.wait_until("pods are injected again", injected)

    def not_fought_over(self):
        """A second replica with the same root writes nothing."""
        writes = self.writes()
        with self.box.another():
            self.test.assertEqual(self.stamp(), "one")
            time.sleep(2)
        self.test.assertEqual(self.writes(), writes)


class Box(Webhooks):
    def another(self):
        """A second replica, on other ports."""
        return Replica(self)


class Replica:
    def __init__(self, box):
        self.box = box

    def __enter__(self):
        command = [word.replace(":15010", ":16010").replace(":15017", ":16017").replace("/state", "/state-2") for word in self.box.process.args]
        self.log = open(f"{self.box.folder.name}/log-2", "w+")
        self.process = subprocess.Popen(command, env={**os.environ, "ISTIOD_CUSTOM_HOST": "localhost", "REVISION": "dock", "POD_NAME": "two"},
                                        stdout=self.log, stderr=self.log, preexec_fn=kubebox.end_with_parent)
        kubebox.wait_until("the second replica", lambda: "webhooks on" in pathlib.Path(self.log.name).read_text(), 30)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class InTheNetwork(unittest.TestCase):
    """In a process of its own, for its network."""

    def test_upkeep(self):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                own_network()
                with Box() as box:
                    try:
                        checks = Upkeep(self, box)
                        for check in (checks.written, checks.repaired, checks.not_fought_over, checks.broken_config_map, checks.command_line,
                                      checks.secret_gone, checks.new_root, checks.given_certificate):
                            check()
                            print(check.__name__, "ok", file=sys.stderr)
                        code = 0
                    finally:
                        if code:
                            print(box.said()[-4000:], file=sys.stderr)
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
            finally:
                sys.stderr.flush()
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
