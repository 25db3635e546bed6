"""The meshes of the benchmark: what meshgen makes of a few numbers, ready for changes."""
import json
import pathlib
import re
import shutil
import subprocess
from dataclasses import dataclass

import change
import gateways


@dataclass(frozen=True)
class Mesh:
    namespaces: int
    services: int
    endpoints: int  # of a service
    scoped: bool    # each namespace has a Sidecar that imports only itself and one other
    policies: int = 0      # AuthorizationPolicies: one of each namespace, the others of a service's workloads
    token_rules: int = 0   # RequestAuthentications, likewise
    filtered: bool = False  # an EnvoyFilter of the root namespace adds an HTTP filter everywhere
    sidecars: int = 0  # where they are to be more than pods: each pod has several

    @property
    def flags(self):
        flags = ["-namespaces", self.namespaces, "-services", self.services, "-endpoints", self.endpoints, "-vs", 0.5]
        return [str(f) for f in flags] + (["-sidecar-scoping"] if self.scoped else [])


MESHES = {
    "A": Mesh(5, 100, 10, False),
    "B": Mesh(20, 1000, 5, False),
    "C": Mesh(20, 1000, 5, True),
    "C-policies": Mesh(20, 1000, 5, True, policies=500, token_rules=100),
    "D": Mesh(100, 5000, 3, True),
    "E": Mesh(100, 10000, 5, True),
    "F": Mesh(100, 5000, 4, True),  # 20,000 pods
    "H": Mesh(500, 5000, 20, True),  # 100,000 pods
    "P": Mesh(1, 20, 50, False),  # few names, 1,000 pods
    "P-small": Mesh(1, 4, 18, False, sidecars=1000),
    "B-filter": Mesh(20, 1000, 5, False, filtered=True),
    "G": gateways.Mesh(),
    "G-small": gateways.Mesh(routers=3, hosts=20, routes=80, services=10),
}


def split_route(folder):
    """Moves svc-0's VirtualService into a file of its own, which the route change then replaces."""
    for path in sorted(folder.glob("*routing*.yaml")):
        documents = re.split(r"(?m)^---[ \t]*\n", path.read_text())
        ours = [d for d in documents if "kind: VirtualService" in d and re.search(r"name: svc-0\b[^-]", d)]
        if ours:
            change.write(folder / "change-route.yaml", ours[0])
            change.write(path, "---\n".join(d for d in documents if d is not ours[0]))
            return
    raise RuntimeError(f"no VirtualService svc-0 in {folder}")


def objects(mesh, kind, number, spec_of):
    """The first of each namespace, then of the workloads of one service after another."""
    for i in range(number):
        namespace = i % mesh.namespaces
        spec = spec_of(i)
        if i >= mesh.namespaces:
            spec["selector"] = {"matchLabels": {"app": f"svc-{i}"}}
        yield {"apiVersion": "security.istio.io/v1", "kind": kind, "metadata": {"name": f"{kind.lower()}-{i}", "namespace": f"ns-{namespace}"},
               "spec": spec}


def access_of(i):
    source = [{"principals": [f"cluster.local/ns/ns-{i % 7}/sa/default"]}, {"namespaces": [f"ns-{i % 5}", "ns-*"]},
              {"ipBlocks": [f"10.{i % 200}.0.0/16"]}, {"requestPrincipals": ["https://users.example/*"]}][i % 4]
    operation = {"paths": [f"/api/{i}/*", "/healthz"], "methods": ["GET", "POST"]}
    return {"action": "DENY" if i % 3 == 0 else "ALLOW", "rules": [{"from": [{"source": source}], "to": [{"operation": operation}]}]}


def tokens_of(i):
    keys = {"keys": [{"kty": "RSA", "kid": f"key-{i}", "alg": "RS256", "e": "AQAB", "n": "sXch" * 85 + "s"}]}
    return {"jwtRules": [{"issuer": "https://users.example", "audiences": [f"service-{i}"], "jwks": json.dumps(keys)}]}


def add_policies(mesh, folder):
    policies = [*objects(mesh, "AuthorizationPolicy", mesh.policies, access_of),
                *objects(mesh, "RequestAuthentication", mesh.token_rules, tokens_of)]
    if policies:
        change.write(folder / "policies.yaml", "\n---\n".join(json.dumps(one) for one in policies))


def add_filter(folder):
    lua = {"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "inlineCode": "function envoy_on_request(handle) end"}
    of_all = {"context": "ANY", "listener": {"filterChain": {"filter": {"name": "envoy.filters.network.http_connection_manager"}}}}
    patch = {"applyTo": "HTTP_FILTER", "match": of_all, "patch": {"operation": "INSERT_FIRST", "value": {"name": "lua", "typed_config": lua}}}
    one = {"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": {"name": "all", "namespace": "istio-system"},
           "spec": {"configPatches": [patch]}}
    change.write(folder / "filter.yaml", json.dumps(one))


def make(name, meshgen, work):
    """A fresh folder of the mesh and its list of nodes: earlier runs' changes are gone."""
    folder, nodes = pathlib.Path(work) / name, pathlib.Path(work) / f"{name}.nodes.yaml"
    if isinstance(MESHES[name], gateways.Mesh):
        return gateways.make(MESHES[name], folder, nodes)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([meshgen, *MESHES[name].flags, "-format", "k8s", "-out", folder, "-proxies", nodes], check=True,
                   stderr=subprocess.DEVNULL)
    if MESHES[name].sidecars:
        pods = nodes.read_text()
        nodes.write_text(pods * (MESHES[name].sidecars // pods.count("- name: ") + 1))
    split_route(folder)
    add_policies(MESHES[name], folder)
    if MESHES[name].filtered:
        add_filter(folder)
    return folder, nodes
