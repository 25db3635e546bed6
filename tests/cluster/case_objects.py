"""The objects of a conformance case, as an API server takes them, and how they get into one with the case's ages.

A case's files are what a mesh reads: pods without containers, objects without a creation time, namespaces that no object
describes. An API server asks for more and sets times itself. So objects are completed, created and then, in etcd, given the
times and generations that the case's golden was made with.
"""
import json
import os

from kube_api import ApiError, documents

CLUSTER_WIDE = {"Namespace", "Node", "GatewayClass", "IngressClass", "ClusterTrustBundle"}
NOT_OBJECTS = {"mesh.yaml", "networks.yaml", "proxies.yaml"}
OLD, YOUNG = "2000-01-01T00:00:00Z", "2030-01-01T00:00:00Z"
# What an API server sets, and lets nobody create an object with.
SET_BY_SERVER = ("resourceVersion", "uid", "managedFields", "creationTimestamp", "generation")


class CaseObjects:
    """The objects of the YAML files in a folder, namespaces first, and their times and generations by name_of."""

    def __init__(self, folder):
        files = sorted(f for f in os.listdir(folder) if f.endswith(".yaml") and f not in NOT_OBJECTS)
        self.objects, self.times, self.generations = [], {}, {}
        for file in files:
            for document in documents(os.path.join(folder, file)):
                for obj in items_of(document):
                    self._add(obj)
        self._add_namespaces()

    def _add(self, obj):
        metadata = obj.setdefault("metadata", {})
        if obj["kind"] not in CLUSTER_WIDE:
            metadata["namespace"] = metadata.get("namespace") or "default"
        time, generation = metadata.get("creationTimestamp"), metadata.get("generation")
        for field in SET_BY_SERVER:
            metadata.pop(field, None)
        if obj["kind"] == "Pod":
            add_containers(obj)
        # Without a time, Istio's kinds were younger than all others where goldens were made, and all of one age.
        if not time and ".istio.io/" in obj.get("apiVersion", ""):
            time = YOUNG
        if time:
            self.times[name_of(obj)] = time if isinstance(time, str) else time.strftime("%Y-%m-%dT%H:%M:%SZ")
        if generation:
            self.generations[name_of(obj)] = generation
        self.objects.append(obj)

    def _add_namespaces(self):
        described = {o["metadata"]["name"] for o in self.objects if o["kind"] == "Namespace"}
        used = {o["metadata"].get("namespace") for o in self.objects} | {"istio-system", "default"}
        for name in sorted(used - described - {None}):
            self.objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.objects.sort(key=lambda o: o["kind"] != "Namespace")


def items_of(document):
    return document.get("items", []) if document.get("kind") == "List" else [document]


def name_of(obj):
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"].get("name")


def add_containers(pod):
    spec = pod.setdefault("spec", {})
    spec["containers"] = spec.get("containers") or [{}]
    for number, container in enumerate(spec["containers"]):
        container.setdefault("name", f"app-{number}")
        container.setdefault("image", "app")


class CaseLoader:
    """Puts one case after the other into an API server that is the test's own."""

    def __init__(self, server):
        self.server, self.etcd = server, server.etcd
        self.base = self.etcd.read()

    def load(self, case):
        """Creates the case's objects; what the API server said of those that it refused."""
        refused = []
        for obj in case.objects:
            try:
                self.server.api.create(obj, replace=obj["kind"] == "Namespace")
            except ApiError as error:
                refused.append(f"{' '.join(map(str, name_of(obj)))}: {error}")
        self._set_times(case)
        return refused

    def _set_times(self, case):
        """Gives what is there beyond the empty server the case's creation times and generations."""
        changed = {}
        for key, obj in self.objects():
            metadata, name = obj["metadata"], name_of(obj)
            metadata["creationTimestamp"] = case.times.get(name, OLD)
            metadata.pop("generation", None)
            if name in case.generations:
                metadata["generation"] = case.generations[name]
            changed[key] = json.dumps(obj)
        self.etcd.put(changed)

    def objects(self):
        """(key in etcd, object) of all that the empty server did not have."""
        for key, value in self.etcd.read().items():
            if key in self.base:
                continue
            try:
                obj = json.loads(value)
            except ValueError:
                continue  # what the server keeps for itself
            if isinstance(obj, dict) and "kind" in obj:
                yield key, obj

    def clear(self):
        """Makes the server what it was before the case: objects are deleted, namespaces as they were."""
        now = self.etcd.read()
        self.etcd.delete([key for key in now if key not in self.base])
        self.etcd.put({key: value for key, value in self.base.items()
                       if key.startswith("/registry/namespaces/") and now.get(key) != value})
