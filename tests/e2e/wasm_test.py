#!/usr/bin/env python3
"""A stock Envoy gets a WasmPlugin's module through the agent, over delta and state of the world; all on loopback."""
import functools
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.request

from mesh import ROOT, envoy_binary, wait_until

PLUGIN = "extensions.istio.io/trafficextension/default.p~istio-translated-wasmplugin"
MESH = [
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"},
     "spec": {"clusterIP": "10.9.0.1", "selector": {"app": "web"}, "ports": [{"name": "http", "port": 8080, "targetPort": 8080}]}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
     "spec": {"serviceAccountName": "default", "containers": [{"name": "app", "image": "app"}]},
     "status": {"phase": "Running", "podIP": "10.9.1.1", "podIPs": [{"ip": "10.9.1.1"}],
                "conditions": [{"type": "Ready", "status": "True"}]}},
    {"apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication", "metadata": {"name": "default", "namespace": "istio-system"},
     "spec": {"mtls": {"mode": "DISABLE"}}},
]


def module():
    """A module of Proxy-Wasm's ABI 0.2.1 that lets everything be."""
    vec = lambda items: bytes([len(items)]) + b"".join(items)
    section = lambda number, content: bytes([number]) + length(len(content)) + content
    length = lambda n: bytes([n]) if n < 128 else bytes([n & 127 | 128, n >> 7])
    name = lambda text: bytes([len(text)]) + text.encode()
    integers = lambda count: vec([b"\x7f"] * count)
    types = [b"\x60" + integers(i) + integers(o) for i, o in ((0, 0), (1, 1), (2, 1), (2, 0))]
    true, address = b"\x41\x01", b"\x41\x80\x08"
    functions = [("proxy_abi_version_0_2_1", 0, b""), ("malloc", 1, address), ("proxy_on_vm_start", 2, true),
                 ("proxy_on_configure", 2, true), ("proxy_on_context_create", 3, b"")]
    bodies = [b"\x00" + code + b"\x0b" for _, _, code in functions]
    exports = [name(n) + b"\x00" + bytes([i]) for i, (n, _, _) in enumerate(functions)] + [name("memory") + b"\x02\x00"]
    return (b"\0asm\1\0\0\0" + section(1, vec(types)) + section(3, vec([bytes([t]) for _, t, _ in functions])) +
            section(5, vec([b"\x00\x02"])) + section(7, vec(exports)) + section(10, vec([length(len(b)) + b for b in bodies])))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class WasmTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-wasm-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        files, config = self.folder / "files", self.folder / "config"
        files.mkdir(), config.mkdir()
        (files / "m.wasm").write_bytes(module())
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(files)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_address[1]}/"
        (config / "mesh.yaml").write_text("\n---\n".join(map(json.dumps, MESH)))
        self.put_plugin("m.wasm")
        self.xds, self.admin = free_port(), free_port()
        http_port = free_port()
        self.start("discovery", ["discovery", "--configDir", str(config), "--grpcAddr", f"127.0.0.1:{self.xds}", "--secureGRPCAddr", "",
                                 "--httpAddr", f"127.0.0.1:{http_port}", "--monitoringAddr", "", "--httpsAddr", "", "--stateDir="], {})
        wait_until("discovery is ready", lambda: urllib.request.urlopen(f"http://127.0.0.1:{http_port}/ready", timeout=5).status == 200)

    def put_plugin(self, file):
        plugin = {"apiVersion": "extensions.istio.io/v1alpha1", "kind": "WasmPlugin", "metadata": {"name": "p", "namespace": "default"},
                  "spec": {"url": self.url + file, "selector": {"matchLabels": {"app": "web"}}}}
        beside = self.folder / "plugin"
        beside.write_text(json.dumps(plugin))
        os.replace(beside, self.folder / "config" / "plugin.yaml")

    def start(self, name, words, environment):
        binary = os.environ.get("FAIRLEAD") or str(ROOT / "build" / "fairlead")
        with open(self.folder / f"{name}.log", "w") as log:
            process = subprocess.Popen([binary, *words], stdout=log, stderr=log, env=os.environ | environment)

        def stop():
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

        self.addCleanup(stop)

    def filter(self):
        """What the plugin's filter is in Envoy."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/config_dump?resource=ecds_filters", timeout=5) as answer:
            found = [c["ecds_filter"]["typed_config"] for c in json.load(answer).get("configs", [])
                     if c["ecds_filter"]["name"] == PLUGIN]
        return found[0] if found else {}

    def check(self, delta):
        self.start("agent", ["agent", "sidecar", "--discoveryAddress", f"127.0.0.1:{self.xds}", "--binaryPath", envoy_binary(),
                             "--configPath", str(self.folder / "proxy"), "--proxyAdminPort", str(self.admin), "--envoyPrometheusPort", "0",
                             "--concurrency", "1", "--terminationDrainDuration", "1s"],
                   {"ISTIO_DELTA_XDS": delta, "POD_NAME": "web", "POD_NAMESPACE": "default", "INSTANCE_IP": "10.9.1.1",
                    "ISTIO_METAJSON_LABELS": '{"app": "web"}', "FAIRLEAD_WASM_DIR": str(self.folder / "modules")})
        wait_until("Envoy has the plugin", lambda: self.filter().get("config"))
        code = self.filter()["config"]["vm_config"]["code"]
        self.assertEqual(pathlib.Path(code["local"]["filename"]).read_bytes(), module())
        self.assertNotIn("ISTIO_META", json.dumps(self.filter()))
        # A module that is not there: nothing is let through, and the agent says why.
        self.put_plugin("none.wasm")
        wait_until("Envoy has a verdict", lambda: "rbac" in self.filter().get("@type", ""))
        self.assertIn("none.wasm: the answer is status 404", (self.folder / "agent.log").read_text())

    def test_delta(self):
        self.check("true")

    def test_state_of_the_world(self):
        self.check("false")


if __name__ == "__main__":
    unittest.main()
