#!/usr/bin/env python3
"""Two revisions of Fairlead on one API server: tags and the default one decide whose statuses are written, and by whom.

A real API server without nodes. Needs root, build/fairlead and scripts/setup.sh cluster.
"""
import contextlib
import unittest

import kubebox
from api_server import ApiServer, crd_files, own_network
from fairlead_process import FairleadProcess
from kubebox import wait_until
from mesh_objects import namespace

HOOKS = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration"}

server = None


def setUpModule():
    global server
    own_network()
    stack = contextlib.ExitStack()
    server = stack.enter_context(ApiServer())
    unittest.addModuleCleanup(stack.close)
    server.define(*crd_files())
    for name in ("istio-system", "shop"):
        server.api.create(namespace(name))


def gateway(name, revision=None):
    return {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": {"name": name, "namespace": "shop", "labels": {"istio.io/rev": revision} if revision else {}},
            "spec": {"gatewayClassName": "istio", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}}


def tag(name, revision):
    return {**HOOKS, "metadata": {"name": f"istio-revision-tag-{name}", "labels": {"istio.io/tag": name, "istio.io/rev": revision}}, "webhooks": []}


class Revisions(unittest.TestCase):
    def setUp(self):
        self.fairleads = {}
        for revision in ("blue", "green"):
            started = FairleadProcess(server.kubeconfig, env={"REVISION": revision, "POD_NAME": f"istiod-{revision}"})
            started.__enter__()
            self.addCleanup(started.__exit__)
            started.await_ready()
            self.fairleads[revision] = started

    def make(self, obj):
        server.api.create(obj, replace=True)
        self.addCleanup(server.api.delete, obj)
        return obj

    def writers(self, obj):
        """The revisions whose pages have a status of the object."""
        name = obj["metadata"]["name"]
        return {revision for revision, one in self.fairleads.items()
                if any((s["kind"], s["name"]) == ("Gateway", name) for s in one.page("gatewayapi") or ())}

    def is_accepted(self, obj):
        found = server.api.get(server.api.path(obj))
        return any(c["type"] == "Accepted" and c.get("observedGeneration") == found["metadata"]["generation"]
                   for c in found.get("status", {}).get("conditions", ()) if c["reason"] != "Pending")

    def await_writers(self, obj, *revisions):
        wait_until(f"{obj['metadata']['name']} is of {revisions or 'nobody'}", lambda: self.writers(obj) == set(revisions), 20)

    def test_tags_decide(self):
        plain, blue, prod = (self.make(gateway(*words)) for words in (("plain",), ("own", "blue"), ("tagged", "prod")))
        self.await_writers(blue, "blue")
        self.await_writers(prod)
        self.await_writers(plain)
        self.make(tag("prod", "green"))
        self.await_writers(prod, "green")
        wait_until("its status is written", lambda: self.is_accepted(prod))
        self.make(tag("prod", "blue"))
        self.await_writers(prod, "blue")
        self.make(tag("default", "green"))
        self.await_writers(plain, "green")
        wait_until("its status is written", lambda: self.is_accepted(plain) and self.is_accepted(blue))
        locks = {one["metadata"]["name"]: one["spec"].get("holderIdentity")
                 for one in server.api.get("/apis/coordination.k8s.io/v1/namespaces/istio-system/leases")["items"]}
        for revision in ("blue", "green"):
            self.assertEqual(locks[f"istio-gateway-status-leader-{revision}"], f"istiod-{revision}")

    def test_namespaces_have_labels_for_their_objects(self):
        shop = namespace("shop")
        plain = self.make(gateway("plain"))
        server.api.patch(shop, {"metadata": {"labels": {"istio.io/rev": "blue"}}})
        self.addCleanup(server.api.patch, shop, {"metadata": {"labels": {"istio.io/rev": None}}})
        self.await_writers(plain, "blue")
        server.api.patch(shop, {"metadata": {"labels": {"istio.io/rev": "green"}}})
        self.await_writers(plain, "green")


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
