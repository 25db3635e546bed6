#!/usr/bin/env python3
"""The real Envoy by every transport: ADS and streams of one type, state of the world and delta, REST, files, and virtual
hosts on demand. Each gets the demo's mesh, is told of an edit, and refuses nothing.

All run at once in a network namespace of the test's own, so ports are free; that needs root. Environment: FAIRLEAD and
FAIRLEAD_DEPS.
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from mesh import ROOT, enter_own_network, envoy_binary, fetch, replace_atomically, wait_until  # noqa: E402

XDS, HTTP, MONITORING = 15010, 8080, 15014
CLIENT = "sidecar~10.77.1.10~client-{}.bookshop~bookshop.svc.cluster.local"
SPLIT = "reviews-split.yaml"
V2 = "outbound|9080|v2|reviews.bookshop.svc.cluster.local"
CONTROL_PLANE = "control-plane"


def cluster(name, port, http2):
    endpoint = {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}}
    out = {"name": name, "type": "STATIC", "connect_timeout": "5s",
           "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]}}
    if http2:
        out["typed_extension_protocol_options"] = {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
            "explicit_http_config": {"http2_protocol_options": {}}}}
    return out


def api(kind):
    service = {"cluster_names": [CONTROL_PLANE], "refresh_delay": "0.5s", "request_timeout": "10s"} if kind == "REST" else {
        "grpc_services": [{"envoy_grpc": {"cluster_name": CONTROL_PLANE}}]}
    return {"api_type": kind, "transport_api_version": "V3", **service}


def source(specifier):
    return {"resource_api_version": "V3", **specifier}


def on_demand_listener():
    """A listener whose routes are asked for host by host."""
    manager = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "on_demand",
        # Envoy's first request names no host and no route configuration: nobody can answer it, so let it not wait for long.
        "route_config": {"name": "8000", "vhds": {"config_source": source({"ads": {}, "initial_fetch_timeout": "0.1s"})}},
        "http_filters": [
            {"name": "envoy.filters.http.on_demand",
             "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand"}},
            {"name": "envoy.filters.http.router",
             "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}
    return {"name": "on-demand", "address": {"socket_address": {"address": "127.0.0.1", "port_value": 18001}},
            "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}]}


class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.headers["Host"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Setting:
    """Fairlead over a folder, and an Envoy for each transport."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-transports-"))
        self.config, self.out = self.folder / "mesh", self.folder / "out"
        self.config.mkdir()
        for folder in (ROOT / "examples" / "bookinfo", HERE / "manifests"):
            for manifest in folder.glob("*.yaml"):
                shutil.copy(manifest, self.config)
        self.nodes = self.folder / "nodes.yaml"
        # Nobody tells what a proxy has whose resources are files: any list of extensions says that it is no istio-proxy.
        stock = {"extensions": [{"name": "envoy.filters.http.router", "category": "envoy.filters.http"}]}
        self.nodes.write_text(json.dumps([self.node("files") | stock]))
        self.processes, self.admin_ports = [], {}

    @staticmethod
    def node(name):
        return {"id": CLIENT.format(name), "cluster": "client.bookshop",
                "metadata": {"NAMESPACE": "bookshop", "CLUSTER_ID": "Kubernetes", "LABELS": {"app": "client"},
                             "FAIRLEAD_XDS_CLUSTER": CONTROL_PLANE}}

    def start(self, name, command):
        with open(self.folder / f"{name}.log", "a") as log:
            self.processes.append(subprocess.Popen(list(map(str, command)), stdout=log, stderr=log))

    def start_fairlead(self):
        self.start("fairlead", [
            os.environ["FAIRLEAD"], "discovery", "--configDir", self.config, "--grpcAddr", f"127.0.0.1:{XDS}",
            "--httpAddr", f"127.0.0.1:{HTTP}", "--monitoringAddr", f"127.0.0.1:{MONITORING}", "--httpsAddr", "",
            "--secureGRPCAddr", "", "--stateDir=", "--xdsOutDir", self.out, "--xdsOutNodes", self.nodes])
        wait_until("Fairlead is ready", lambda: fetch(f"http://127.0.0.1:{HTTP}/ready") is not None)

    def start_envoy(self, name, resources, static_listeners=(), rest=False):
        port = self.admin_ports[name] = 19000 + len(self.admin_ports)
        bootstrap = {
            "node": self.node(name),
            "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}},
            "static_resources": {
                "clusters": [cluster(CONTROL_PLANE, HTTP if rest else XDS, http2=not rest)],
                "listeners": list(static_listeners)},
            "dynamic_resources": resources}
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(bootstrap))
        self.start(name, [envoy_binary(), "-c", path, "--concurrency", 1, "--use-dynamic-base-id", "--log-level", "warning"])

    def start_all(self):
        ads = lambda kind: {"ads_config": api(kind), "cds_config": source({"ads": {}}), "lds_config": source({"ads": {}})}
        each = lambda kind: {f"{t}ds_config": source({"api_config_source": api(kind)}) for t in "cl"}
        self.start_envoy("ads", ads("GRPC"))
        self.start_envoy("delta-ads", ads("DELTA_GRPC"))
        self.start_envoy("types", each("GRPC"))
        self.start_envoy("delta-types", each("DELTA_GRPC"))
        self.start_envoy("rest", each("REST"), rest=True)
        wait_until("the files are written", (self.out / CLIENT.format("files") / "lds.json").exists)
        self.start_envoy("files", {f"{t}ds_config": source({"path_config_source": {
            "path": str(self.out / CLIENT.format("files") / f"{t}ds.json")}}) for t in "cl"})
        on_demand = ads("DELTA_GRPC")
        del on_demand["lds_config"]
        self.start_envoy("on-demand", on_demand, [on_demand_listener()])

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def admin(self, name, path):
        return fetch(f"http://127.0.0.1:{self.admin_ports[name]}{path}", 5)

    def stats(self, name, pattern):
        """Sums of an Envoy's counters whose names match."""
        text = self.admin(name, f"/stats?filter={pattern}")
        return sum(int(n) for n in re.findall(r": (\d+)$", text, re.M))

    def metrics(self):
        return fetch(f"http://127.0.0.1:{MONITORING}/metrics")


PROXIES = ("ads", "delta-ads", "types", "delta-types", "rest", "files")


class Transports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        enter_own_network()
        cls.setting = Setting()
        cls.addClassCleanup(cls.setting.stop)
        echo = http.server.ThreadingHTTPServer(("127.0.0.1", 18000), Echo)
        threading.Thread(target=echo.serve_forever, daemon=True).start()
        cls.addClassCleanup(echo.server_close)
        cls.addClassCleanup(echo.shutdown)
        cls.setting.start_fairlead()
        cls.setting.start_all()
        try:
            for name in (*PROXIES, "on-demand"):
                wait_until(f"{name} is live", lambda n=name: cls.setting.admin(n, "/ready").strip() == "LIVE", 90)
        except AssertionError as e:
            logs = "\n".join(f"== {n}\n{cls.setting.log(n)[-1500:]}" for n in (*PROXIES, "on-demand", "fairlead"))
            raise AssertionError(f"{e}\n{logs}") from None

    def tearDown(self):
        for name in (*PROXIES, "on-demand"):
            self.assertEqual(self.setting.stats(name, "update_rejected"), 0, f"{name}\n{self.setting.log(name)[-2000:]}")
        rejects = re.findall(r"^pilot_total_xds_rejects\{[^}]*\} (\S+)", self.setting.metrics(), re.M)
        self.assertEqual(sum(map(float, rejects)), 0, "NACKs counted by Fairlead")

    def routes(self, name):
        """The clusters of the split route of port 9080, as the Envoy has it."""
        dump = json.loads(self.setting.admin(name, "/config_dump?resource=dynamic_route_configs"))
        names = set()
        for config in (entry["route_config"] for entry in dump.get("configs", [])):
            if config["name"] != "9080":
                continue
            for route in (r for host in config.get("virtual_hosts", []) for r in host["routes"]):
                if route.get("name") == "split":
                    split = route["route"].get("weighted_clusters", {}).get("clusters")
                    names |= {c["name"] for c in split if c["weight"]} if split else {route["route"]["cluster"]}
        return names

    def endpoints(self, name):
        return set(re.findall(rf"^{re.escape(V2)}::([\d.]+:\d+)::health_flags", self.setting.admin(name, "/clusters"), re.M))

    def test_each_gets_clusters_endpoints_listeners_and_routes(self):
        for name in PROXIES:
            with self.subTest(name):
                wait_until(f"{name} has both subsets in its routes", lambda n=name: len(self.routes(n)) == 2)
                wait_until(f"{name} has endpoints", lambda n=name: self.endpoints(n) == {"10.77.1.14:9080"})
                self.assertIn("virtualOutbound", self.setting.admin(name, "/listeners"))

    def test_each_is_told_of_an_edit(self):
        path = self.setting.config / SPLIT
        before = path.read_text()
        self.addCleanup(replace_atomically, path, before)
        replace_atomically(path, before.replace("weight: 75", "weight: 0").replace("weight: 25", "weight: 100"))
        for name in PROXIES:
            wait_until(f"the edit is in {name}", lambda n=name: self.routes(n) == {V2})

    def test_each_is_told_of_a_new_service_and_of_its_end(self):
        path = self.setting.config / "fresh.yaml"
        path.write_text((HERE / "manifests" / "echo.yaml").read_text().replace("echo", "fresh").replace(".30]", ".31]"))
        has = lambda n: "outbound|8000||fresh.example.com::127.0.0.1:18000" in self.setting.admin(n, "/clusters")
        for name in PROXIES:
            wait_until(f"the service is in {name}", lambda n=name: has(n))
        path.unlink()
        for name in PROXIES:
            wait_until(f"the service is gone from {name}", lambda n=name: "fresh" not in self.setting.admin(n, "/clusters"))

    def get(self, host):
        request = urllib.request.Request("http://127.0.0.1:18001/", headers={"Host": host})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            with e:
                return e.code, ""

    def test_virtual_hosts_come_on_demand(self):
        wait_until("its clusters are there", lambda: "echo.example.com" in self.setting.admin("on-demand", "/clusters"))
        self.assertEqual(self.asked_for("on-demand"), [])
        self.assertEqual(self.get("echo.example.com:8000"), (200, "echo.example.com:8000"))
        self.assertEqual(self.asked_for("on-demand"), ["8000/echo.example.com:8000"])
        self.assertEqual(self.get("echo.example.com:8000"), (200, "echo.example.com:8000"))
        self.assertEqual(self.setting.stats("on-demand", "vhds.8000.update_success"), 1, "once is enough")

    def asked_for(self, name):
        """The virtual hosts that a proxy has asked for."""
        clients = json.loads(fetch(f"http://127.0.0.1:{HTTP}/debug/adsz?proxyID=client-{name}."))["clients"]
        return [host for c in clients for url, names in c["watches"].items() if url.endswith(".VirtualHost") for host in names]

    def test_what_is_sent_by_stream_is_reported(self):
        sync = json.loads(fetch(f"http://127.0.0.1:{HTTP}/debug/syncz"))
        connected = {entry["proxy"] for entry in sync}
        self.assertLessEqual({f"client-{n}.bookshop" for n in ("ads", "delta-ads", "types", "delta-types")}, connected)
        for entry in sync:
            for url, state in entry.get("resources", {}).items():
                self.assertNotIn("lastError", state, url)

    def test_files_are_whole_and_stay(self):
        folder = self.setting.out / CLIENT.format("files")
        for path in folder.rglob("*.json"):
            response = json.loads(path.read_text())
            self.assertTrue(response["versionInfo"], path)
        self.assertFalse(list(folder.rglob("*.new")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
