#!/usr/bin/env python3
"""Proxies register themselves with a server on a folder of manifests: their addresses are endpoints while they are there and
healthy. A real Envoy is one of them.

Needs the set-up and build/fairlead (FAIRLEAD names another program).
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from mesh import ROOT, envoy_binary  # noqa: E402
from xds_stream import CLUSTER, Stream, proxy  # noqa: E402

GRACE = 1.0
MESH = """
apiVersion: networking.istio.io/v1
kind: WorkloadGroup
metadata: {name: vms, namespace: shop}
spec:
  metadata: {labels: {app: db}}
  template: {serviceAccount: vm, ports: {tcp: 5432}}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: db, namespace: shop}
spec:
  hosts: [db.example.com]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 5432, name: tcp, protocol: TCP}]
  workloadSelector: {labels: {app: db}}
"""
WRITTEN = """
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata:
  name: written
  namespace: shop
  labels: {app: db}
  annotations: {proxy.istio.io/health-checks-enabled: "true"}
spec: {address: 10.0.0.99, serviceAccount: vm, ports: {tcp: 5432}}
"""
GATEWAY = """
apiVersion: networking.istio.io/v1
kind: WorkloadGroup
metadata: {name: edges, namespace: shop}
spec:
  metadata: {labels: {app: edge}}
  template: {serviceAccount: edge-istio}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: istio
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: db, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  rules: [{backendRefs: [{group: networking.istio.io, kind: Hostname, name: db.example.com, port: 5432}]}]
"""
HOST = "outbound|5432||db.example.com"
CLIENT = {"id": "sidecar~10.9.0.1~client.shop~shop.svc.cluster.local", "metadata": {"NAMESPACE": "shop"}}


def free_ports(count):
    taken = [socket.socket() for _ in range(count)]
    for one in taken:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


def until(what, so, seconds=20):
    end = time.monotonic() + seconds
    while not (found := so()):
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.02)
    return found


class Registration(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory(prefix="registration-")
        self.addCleanup(self.home.cleanup)
        self.folder = pathlib.Path(self.home.name, "mesh")
        self.folder.mkdir()
        (self.folder / "mesh.yaml").write_text(MESH)
        self.grpc, self.http, self.monitoring = free_ports(3)
        self.start()

    def start(self, *flags, **environment):
        log = open(pathlib.Path(self.home.name, "log"), "w")
        self.addCleanup(log.close)
        program = os.environ.get("FAIRLEAD", str(ROOT / "build/release/bin/fairlead"))
        server = subprocess.Popen(
            [program, "discovery", f"--configDir={self.folder}", f"--grpcAddr=127.0.0.1:{self.grpc}", "--secureGRPCAddr=",
             f"--httpAddr=127.0.0.1:{self.http}", "--httpsAddr=", f"--monitoringAddr=127.0.0.1:{self.monitoring}", "--stateDir=",
             "--ctrlz_port=0", *flags], cwd=self.home.name, stdout=log, stderr=log,
            env={**os.environ, "FAIRLEAD_PLAINTEXT_IDENTITY": "node", "POD_NAME": "istiod-1",
                 "PILOT_WORKLOAD_ENTRY_GRACE_PERIOD": f"{GRACE}s", **environment})
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        until("ready", lambda: self.get("/ready") is not None)

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=5) as answer:
                return answer.read()
        except OSError:
            return None

    def resources(self, kind, node, *names):
        body = json.dumps({"node": node, "resourceNames": names}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.http}/v3/discovery:{kind}", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer).get("resources", [])

    def endpoints(self):
        resources = self.resources("endpoints", CLIENT, HOST)
        return {one["endpoint"]["address"]["socketAddress"]["address"]: one.get("healthStatus", "HEALTHY")
                for resource in resources for place in resource.get("endpoints", []) for one in place["lbEndpoints"]}

    def wait_endpoints(self, *addresses):
        until(f"endpoints {addresses}", lambda: set(self.endpoints()) == set(addresses))

    def test_a_proxy_is_an_endpoint_while_it_is_here_and_healthy(self):
        self.wait_endpoints()
        with Stream(self.grpc, proxy("vms", "10.0.0.7")) as stream:
            stream.ask(CLUSTER)
            stream.wait_answer()
            time.sleep(0.5)
            self.assertEqual(self.endpoints(), {}, "it has not said yet that it is healthy")
            stream.say_health()
            self.wait_endpoints("10.0.0.7")
            stream.say_health("connection refused")
            self.wait_endpoints()
            stream.say_health()
            self.wait_endpoints("10.0.0.7")
            left = time.monotonic()
        time.sleep(GRACE / 2)
        self.assertEqual(set(self.endpoints()), {"10.0.0.7"}, "within the grace period")
        self.wait_endpoints()
        self.assertGreater(time.monotonic() - left, GRACE * 0.9)

    def test_a_proxy_that_comes_back_stays_an_endpoint(self):
        plain = {"PROXY_CONFIG": {}}
        with Stream(self.grpc, proxy("vms", "10.0.0.7", **plain)) as stream:
            stream.ask(CLUSTER)
            self.wait_endpoints("10.0.0.7")
        with Stream(self.grpc, proxy("vms", "10.0.0.7", **plain)) as stream:
            stream.ask(CLUSTER)
            stream.wait_answer()
            end = time.monotonic() + 2.5 * GRACE
            while time.monotonic() < end:
                self.assertEqual(set(self.endpoints()), {"10.0.0.7"})
                time.sleep(0.05)

    def test_proxies_without_a_group_or_of_another_account_are_refused(self):
        with Stream(self.grpc, proxy("none", "10.0.0.8")) as stream:
            stream.ask(CLUSTER)
            stream.wait_closed()
        with Stream(self.grpc, proxy("vms", "10.0.0.8", account="thief")) as stream:
            stream.ask(CLUSTER)
            stream.wait_closed()
        with Stream(self.grpc, proxy("../vms", "10.0.0.8")) as stream:
            stream.ask(CLUSTER)
            stream.wait_closed()
        self.assertEqual(self.endpoints(), {})

    def test_an_entry_of_a_file_has_the_health_that_its_proxy_reports(self):
        (self.folder / "written.yaml").write_text(WRITTEN)
        until("the entry", lambda: b"written" in (self.get("/debug/configz") or b""))
        node = proxy("", "10.0.0.99", WORKLOAD_ENTRY="written")
        with Stream(self.grpc, node) as stream:
            stream.ask(CLUSTER)
            stream.wait_answer()
            stream.say_health()
            self.wait_endpoints("10.0.0.99")
            stream.say_health("down")
            self.wait_endpoints()
            stream.say_health()
            self.wait_endpoints("10.0.0.99")
        self.wait_endpoints()

    def test_a_gateway_that_registers_itself_keeps_its_listeners(self):
        (self.folder / "edge.yaml").write_text(GATEWAY)
        self.grpc, self.http, self.monitoring = free_ports(3)
        self.start("--gatewayAddress=edge.shop=10.0.0.9")
        node = proxy("edges", "10.0.0.9", name="edge-1", account="edge-istio", PROXY_CONFIG={})
        node["id"] = node["id"].replace("sidecar", "router")

        def listeners():
            return [one["name"] for one in self.resources("listeners", node)]
        self.assertEqual(listeners(), ["0.0.0.0_80"])
        with Stream(self.grpc, node) as stream:
            stream.ask(CLUSTER)
            stream.wait_answer()
            until("the entry", lambda: b"edges-10.0.0.9" in (self.get("/debug/configz") or b""))
            time.sleep(0.5)
            self.assertEqual(listeners(), ["0.0.0.0_80"])

    def test_a_real_envoy_registers_itself(self):
        admin, = free_ports(1)
        node = proxy("vms", "10.0.0.7", PROXY_CONFIG={})
        (pathlib.Path(self.home.name) / "envoy.yaml").write_text(json.dumps({
            "node": {"id": node["id"], "cluster": "vm", "metadata": node["metadata"]},
            "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": admin}}},
            "dynamic_resources": {"ads_config": {"api_type": "GRPC", "transport_api_version": "V3",
                                                 "grpc_services": [{"envoy_grpc": {"cluster_name": "xds"}}]},
                                  "cds_config": {"ads": {}, "resource_api_version": "V3"}},
            "static_resources": {"clusters": [{
                "name": "xds", "type": "STATIC", "connect_timeout": "1s", "typed_extension_protocol_options": {
                    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                        "explicit_http_config": {"http2_protocol_options": {}}}},
                "load_assignment": {"cluster_name": "xds", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {
                    "socket_address": {"address": "127.0.0.1", "port_value": self.grpc}}}}]}]}}]}}))
        envoy = subprocess.Popen([envoy_binary(), "-c", "envoy.yaml", "--use-dynamic-base-id", "--concurrency", "1", "--log-level",
                                  "warning"], cwd=self.home.name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(envoy.wait)
        self.addCleanup(envoy.kill)
        self.wait_endpoints("10.0.0.7")
        envoy.kill()
        self.wait_endpoints()


if __name__ == "__main__":
    unittest.main()
