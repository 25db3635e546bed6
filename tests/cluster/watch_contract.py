"""The contract of a client that copies what an API server has: how it is run, what it says, and what a test asks of it.

A client is a program that is called with --kubeconfig FILE COLLECTION... and writes a line of JSON for each change of its
copy (reference_client.py says which). WatchContract starts it beside an API server, changes objects there, and compares.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

from api_server import ApiServer, crd_files, own_network
from kube_api import documents
from kubebox import end_with_parent, wait_until

CONFIG_MAPS = "/api/v1/configmaps"
# Two of the mesh's kinds, as a mesh's own client does not copy any others. The second comes and goes.
FILTERS = "/apis/networking.istio.io/v1alpha3/envoyfilters"
TELEMETRIES = "/apis/telemetry.istio.io/v1/telemetries"
AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}


class Client:
    """A client program and the copy that its lines make."""

    def __init__(self, command, kubeconfig, collections, env=None):
        self.lines, self.copies, self.synced, self.faults = [], {c: {} for c in collections}, set(), []
        self.process = subprocess.Popen([*command, "--kubeconfig", kubeconfig, *collections], stdout=subprocess.PIPE, text=True, env=env,
                                        preexec_fn=end_with_parent)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for text in self.process.stdout:
            line = json.loads(text)
            copy, key = self.copies[line["collection"]], (line.get("namespace", ""), line.get("name"))
            if line["event"] == "put":
                if int(copy.get(key, 0)) > int(line["version"]):
                    self.faults.append(f"{key} goes back from version {copy[key]} to {line['version']}")
                copy[key] = line["version"]
            elif line["event"] == "gone":
                if copy.pop(key, None) is None:
                    self.faults.append(f"{key} is gone, and was not there")
            else:
                self.synced.add(line["collection"])
            self.lines.append(line)

    def said(self, event, since=0):
        return [line for line in self.lines[since:] if line["event"] == event]

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()


class World:
    """An API server, and what is asked of it by tests; one for all of them, as it takes seconds to start."""

    def __enter__(self):
        own_network()
        self.audit = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-audit-"))
        (self.audit / "policy.json").write_text(json.dumps(AUDIT_POLICY))
        self.server = ApiServer(f"--audit-policy-file={self.audit}/policy.json", f"--audit-log-path={self.audit}/log",
                                "--audit-log-mode=blocking", authorization="RBAC")
        self.server.__enter__()
        definitions = {d["metadata"]["name"]: d for d in documents(crd_files()[0])}
        self.definition = definitions["telemetries.telemetry.istio.io"]
        self.api.create(definitions["envoyfilters.networking.istio.io"])
        wait_until("the kind is served", lambda: self.serves(FILTERS))
        self.define()
        return self

    def __exit__(self, *_):
        self.server.__exit__(None, None, None)
        shutil.rmtree(self.audit, ignore_errors=True)

    @property
    def api(self):
        return self.server.api

    def has(self, collection):
        """What the server has: version by namespace and name."""
        status, found = self.api.call("GET", collection, also=(404,))
        if status == 404:
            return {}
        return {(o["metadata"]["namespace"], o["metadata"]["name"]): o["metadata"]["resourceVersion"] for o in found["items"]}

    def lists(self, collection):
        """How often the collection was listed, by the server's own log."""
        entries = map(json.loads, (self.audit / "log").read_text().splitlines())
        return sum(1 for e in entries if e["verb"] == "list" and e["requestURI"].split("?")[0] == collection
                   and "limit=" in e["requestURI"])

    def serves(self, collection):
        return self.api.call("GET", collection, also=(404, 503))[0] == 200

    def define(self):
        """The second kind is there."""
        self.api.create(self.definition)
        wait_until("the kind is served", lambda: self.serves(TELEMETRIES))
        self.api.forget_kinds()

    def undefine(self):
        self.api.delete(self.definition)
        wait_until("the kind is not served", lambda: not self.serves(TELEMETRIES))
        self.api.forget_kinds()


class Account:
    """A service account whose token is in a file, with a role of its own; what it may read besides is told one by one."""

    def __init__(self, world, name):
        self.api, self.name, self.token = world.api, name, world.server.dir / f"{name}.token"
        self.object = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}}
        self.role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": []}
        self.api.create(self.role)
        self.api.create({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]})
        self.renew()
        self.kubeconfig = world.server.write_kubeconfig(f"{name}.kubeconfig", {"tokenFile": str(self.token)})

    def renew(self):
        """A new account of this name: tokens of the one before are not valid any more. The file has the new one's."""
        self.revoke()
        self.api.create(self.object)
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        fresh = self.token.with_suffix(".new")
        fresh.write_text(self.api.call("POST", self.api.path(self.object) + "/token", request)[1]["status"]["token"])
        os.replace(fresh, self.token)

    def revoke(self):
        self.api.delete(self.object)

    def allow(self, *rules):
        """(group, resource) that it may read, and discovery, which all may."""
        self.role["rules"] = [{"apiGroups": [g], "resources": [r], "verbs": ["get", "list", "watch"]} for g, r in rules]
        self.api.patch(self.role, {"rules": self.role["rules"]})

    def delete(self):
        for kind in ("ClusterRoleBinding", "ClusterRole"):
            self.api.delete({**self.role, "kind": kind})
        self.revoke()


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}


def envoy_filter(name, namespace="default", text=""):
    patch = {"applyTo": "CLUSTER", "match": {"context": "ANY"},
             "patch": {"operation": "MERGE", "value": {"metadata": {"filter_metadata": {"test": {"text": text}}}}}}
    return {"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": {"name": name, "namespace": namespace},
            "spec": {"configPatches": [patch]}}


def telemetry(name, namespace="default"):
    return {"apiVersion": "telemetry.istio.io/v1", "kind": "Telemetry", "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": {"matchLabels": {"app": name}}, "accessLogging": [{"disabled": True}]}}


def stored(obj, number):
    """Key and value of an object in etcd, for those that no client writes."""
    plural = obj["kind"].lower().removesuffix("y") + ("ies" if obj["kind"].endswith("y") else "s")
    metadata = {**obj["metadata"], "uid": f"00000000-0000-4000-8000-{number:012}", "creationTimestamp": "2024-01-01T00:00:00Z", "generation": 1}
    key = f"/registry/{obj['apiVersion'].split('/')[0]}/{plural}/{metadata['namespace']}/{metadata['name']}"
    return key, json.dumps({**obj, "metadata": metadata})


def step(number):
    """A change of an object of either kind."""
    return {"metadata": {"labels": {"step": str(number)}}}


def client_command():
    """The client under test."""
    return [sys.executable, "-B", str(pathlib.Path(__file__).resolve().parent / "reference_client.py")]
