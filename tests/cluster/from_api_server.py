#!/usr/bin/env python3
"""Runs a control plane that reads files on what an API server has now: `from_api_server.py --kubeconfig FILE FAIRLEAD WORD...`.

The objects are written into a folder, and FAIRLEAD WORD... --configDir FOLDER takes the place of this program. The ages and
names of objects are thus an API server's while nothing else of one is asked for: what differs from the case's files then is
the objects' way through the API server.
"""
import json
import os
import pathlib
import sys
import tempfile

from kube_api import KubeApi

GROUPS = ("gateway.networking.k8s.io", "gateway.networking.x-k8s.io", "inference.networking.k8s.io", "multicluster.x-k8s.io",
          "discovery.k8s.io", "networking.k8s.io")
CORE = {"services", "pods", "nodes", "namespaces", "configmaps", "secrets", "serviceaccounts"}
OTHERS = {"networkpolicies", "ipaddresses", "servicecidrs"}


def collections(api):
    """(path, apiVersion) of each kind that a mesh reads, in the version that the server prefers."""
    for resource in api.get("/api/v1")["resources"]:
        if resource["name"] in CORE:
            yield f"/api/v1/{resource['name']}", "v1", resource["kind"]
    for group in api.get("/apis")["groups"]:
        if group["name"] in GROUPS or group["name"].endswith(".istio.io"):
            seen = set()
            for version in [group["preferredVersion"], *group["versions"]]:
                version = version["groupVersion"]
                for resource in api.get(f"/apis/{version}")["resources"]:
                    if "/" not in resource["name"] and resource["name"] not in OTHERS | seen:
                        seen.add(resource["name"])
                        yield f"/apis/{version}/{resource['name']}", version, resource["kind"]


def objects(api):
    for path, api_version, kind in collections(api):
        for obj in api.get(path)["items"]:
            obj["metadata"].pop("managedFields", None)
            yield {"apiVersion": api_version, "kind": kind, **obj}


def main():
    kubeconfig, program = sys.argv[2], sys.argv[3:]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="objects-", dir=os.path.dirname(kubeconfig)))
    text = "\n---\n".join(json.dumps(obj) for obj in objects(KubeApi(kubeconfig)))
    (folder / "objects.yaml").write_text(text)
    os.execv(program[0], [*program, "--configDir", str(folder)])


if __name__ == "__main__":
    main()
