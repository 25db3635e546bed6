#!/usr/bin/env python3
"""An API server asks Fairlead's webhooks: pods get sidecars by the injector's ConfigMap, which may change and break, and objects
get the verdicts that Istio's webhook and the definitions give them.

Needs root, build/fairlead with the program for templates beside it, and scripts/setup.sh cluster.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import kubebox
from api_server import ApiServer, crd_files, own_network
from kube_api import ApiError, documents

FAIRLEAD = os.environ.get("FAIRLEAD") or str(kubebox.ROOT / "build" / "fairlead")
SHARED = kubebox.ROOT.parent / "shared" / "validation"
OBJECTS = SHARED if SHARED.exists() else kubebox.ROOT / "tests" / "validation"
# An API server takes out nulls before it asks, so that the object is another one.
CHANGED_BEFORE = {"telemetry/tag-override-null"}
SETTINGS = {"meshconfig", "meshnetworks"}  # files of the mesh, no objects
TEMPLATE = """
policy: enabled
templates:
  sidecar: |
    metadata:
      labels: {stamp: %s}
    spec:
      containers:
      - name: istio-proxy
        image: {{ .ProxyImage }}
"""


def hook(name, path, root, rules, **more):
    return {"name": name, "admissionReviewVersions": ["v1", "v1beta1"], "sideEffects": "None", "failurePolicy": "Fail", "timeoutSeconds": 5,
            "clientConfig": {"url": f"https://localhost:15017{path}", "caBundle": root}, "rules": rules, **more}


class Webhooks:
    """An API server with Fairlead beside it, in this process's network. Secure and http: where it listens, too."""
    secure = http = ""
    env = {}

    def way(self):
        """The kubeconfig by which Fairlead reaches the API server."""
        return self.server.kubeconfig

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = ApiServer().__enter__()
        self.api = self.server.api
        self.server.define(*crd_files())
        for name in ("istio-system", "market"):
            self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.api.create(self.config_map(TEMPLATE % "one"))
        state = self.folder.name
        self.log = open(f"{state}/log", "w+")
        self.process = subprocess.Popen(
            [FAIRLEAD, "discovery", f"--kubeconfig={self.way()}", "--grpcAddr=127.0.0.1:15010", f"--secureGRPCAddr={self.secure}",
             f"--httpAddr={self.http}", "--monitoringAddr=", "--ctrlz_port=0", "--httpsAddr=127.0.0.1:15017", f"--stateDir={state}/state"],
            env={**os.environ, "ISTIOD_CUSTOM_HOST": "localhost", "REVISION": "dock", "FAIRLEAD_PLAINTEXT_IDENTITY": "node", **self.env}, stdout=self.log,
            stderr=self.log, preexec_fn=kubebox.end_with_parent)
        root = pathlib.Path(state, "state", "root-cert.pem")
        kubebox.wait_until("the templates", lambda: "templates sidecar" in self.said(), 60)
        self.root = base64.b64encode(root.read_bytes()).decode()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        self.server.__exit__(None, None, None)
        self.folder.cleanup()

    def said(self):
        return pathlib.Path(self.folder.name, "log").read_text()

    @staticmethod
    def config_map(config):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio-sidecar-injector-dock", "namespace": "istio-system"},
                "data": {"config": config, "values": json.dumps({"global": {"hub": "example", "tag": "1"}})}}

    def configure(self, config):
        self.api.call("PUT", "/api/v1/namespaces/istio-system/configmaps/istio-sidecar-injector-dock", self.config_map(config))

    def register(self):
        pods = [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]
        groups = ["networking.istio.io", "security.istio.io", "telemetry.istio.io", "extensions.istio.io"]
        objects = [{"operations": ["CREATE", "UPDATE", "DELETE"], "apiGroups": groups, "apiVersions": ["*"], "resources": ["*"]}]
        selector = {"matchLabels": {"kubernetes.io/metadata.name": "market"}}
        api = "admissionregistration.k8s.io/v1"
        self.api.create({"apiVersion": api, "kind": "MutatingWebhookConfiguration", "metadata": {"name": "injector"}, "webhooks": [
            hook("injector.fairlead.example", "/inject/net/pier", self.root, pods, namespaceSelector=selector)]})
        self.api.create({"apiVersion": api, "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "validator"}, "webhooks": [
            hook("validator.fairlead.example", "/validate", self.root, objects)]})

    def pod(self, name):
        """A new pod as the API server keeps it."""
        return self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "market"},
                                "spec": {"containers": [{"name": "app", "image": "app"}]}})


def check_pods(test, box):
    def stamped(name):
        return box.pod(name)["metadata"].get("labels", {}).get("stamp")

    kubebox.wait_until("the first sidecar", lambda: stamped(f"first-{os.urandom(4).hex()}") == "one")
    pod = box.pod("whole")
    proxy = pod["spec"]["containers"][1]
    test.assertEqual((proxy["name"], proxy["image"]), ("istio-proxy", "example/proxyv2:1"))
    test.assertIn({"name": "ISTIO_META_NETWORK", "value": "pier"}, proxy["env"])
    test.assertEqual(json.loads(pod["metadata"]["annotations"]["sidecar.istio.io/status"])["revision"], "dock")
    box.configure("policy: enabled\ntemplates: {sidecar: '{{ broken'}")
    kubebox.wait_until("the complaint", lambda: "the last good one stays" in box.said())
    test.assertEqual(stamped("after-broken"), "one")
    box.configure(TEMPLATE % "two")
    kubebox.wait_until("the change", lambda: stamped(f"changed-{os.urandom(4).hex()}") == "two")
    box.configure("policy: enabled\ntemplates: {sidecar: '{{ fail \"no berth\" }}'}")

    def refused():
        try:
            box.pod(f"refused-{os.urandom(4).hex()}")
        except ApiError as error:
            return "no berth" in str(error)
        return False
    kubebox.wait_until("the refusal", refused)


def check_objects(test, box):
    """Every object is tried as a dry run, so that none meets another."""
    tried, wrong = 0, []
    for path in sorted(OBJECTS.glob("*.yaml")):
        if path.stem in SETTINGS:
            continue
        golden = json.loads(path.with_suffix("").with_suffix(".golden.json").read_text())
        for obj in documents(path):
            name = obj["metadata"]["name"]
            if f"{path.stem}/{name}" in CHANGED_BEFORE or name not in golden or not obj["apiVersion"].split("/")[0].endswith("istio.io"):
                continue
            tried += 1
            obj["metadata"].setdefault("namespace", "default")
            why = refusal(box, obj)
            if (why == "") != golden[name]["valid"]:
                wrong.append(f"{path.stem}/{name}: {why or 'admitted'}")
    test.assertGreater(tried, 100)
    test.assertEqual(wrong, [], f"{len(wrong)} of {tried}")


def refusal(box, obj):
    try:
        box.api.call("POST", box.api.path(obj, collection=True) + "?dryRun=All&fieldValidation=Strict", obj)
    except ApiError as error:
        return str(error)
    return ""


def check_changes(test, box):
    rule = {"apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": {"name": "v", "namespace": "market"},
            "spec": {"hosts": ["a.example"], "http": [{"route": [{"destination": {"host": "a"}}]}]}}
    box.api.create(rule)
    path = "/apis/networking.istio.io/v1/namespaces/market/virtualservices/v"
    worse = {"spec": {"http": [{"route": [{"destination": {"host": "a"}, "weight": -1}]}]}}
    with test.assertRaisesRegex(ApiError, "configuration is invalid"):
        box.api.call("PATCH", path, worse, "application/merge-patch+json")
    box.api.call("DELETE", path)


class InTheNetwork(unittest.TestCase):
    """In a process of its own, for its network."""

    def test_pods_and_objects(self):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                own_network()
                with Webhooks() as box:
                    try:
                        box.register()
                        check_pods(self, box)
                        check_changes(self, box)
                        check_objects(self, box)
                        code = 0
                    finally:
                        if code:
                            print(box.said()[-3000:], file=sys.stderr)
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
            finally:
                sys.stderr.flush()
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    kubebox.require()
    unittest.main(verbosity=2)
