"""Clients without identity that mean ill, and a log that nobody reads: the program lives, says so in one line, and serves others.

  hostile_clients_test.py FAIRLEAD
"""

import concurrent.futures
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

FAIRLEAD = ""
MESH = """apiVersion: v1
kind: Service
metadata: {name: web, namespace: a}
spec:
  clusterIP: 10.96.0.1
  ports: [{name: http, port: 80, targetPort: 8080}]
"""
NODE = "sidecar~10.1.0.9~x.a~a.svc.cluster.local"
FORGED = "2026-01-02T15:04:05.123456Z\terror\tca\tFORGED by a client"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class HostileClientsTest(unittest.TestCase):
    def start(self, *words, stdout=None):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "mesh").mkdir()
        (self.folder / "mesh" / "web.yaml").write_text(MESH)
        self.http, self.monitoring = free_port(), free_port()
        with open(self.folder / "log", "wb") as log:
            self.server = subprocess.Popen(
                [FAIRLEAD, "discovery", "--configDir", str(self.folder / "mesh"), "--grpcAddr=127.0.0.1:0", "--secureGRPCAddr=",
                 "--httpsAddr=", "--meshConfig=", "--networksConfig=", "--stateDir=", "--ctrlz_port=0",
                 f"--httpAddr=127.0.0.1:{self.http}", f"--monitoringAddr=127.0.0.1:{self.monitoring}", *words],
                stdout=stdout or log, stderr=subprocess.STDOUT)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        end = time.monotonic() + 60
        while self.get("/ready")[0] != 200:
            self.assertLess(time.monotonic(), end, self.log())
            self.assertIsNone(self.server.poll(), self.log())
            time.sleep(0.01)

    def log(self):
        return (self.folder / "log").read_bytes().decode()

    def get(self, path, body=None, port=None, headers=None):
        request = urllib.request.Request(f"http://127.0.0.1:{port or self.http}{path}", data=body, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def poll(self, node, kind="clusters", **more):
        body = node if isinstance(node, bytes) else json.dumps({"node": node, **more}).encode()
        return self.get("/v3/discovery:" + kind, body, headers={"x-envoy-expected-rq-timeout-ms": "3000"})

    def rss(self):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024

    def assert_serves(self):
        self.assertIsNone(self.server.poll(), self.log()[-3000:])
        status, body = self.poll({"id": NODE})
        self.assertEqual(status, 200)
        self.assertIn("outbound|80||web.a.svc.cluster.local", body)

    def test_types_of_proxies_that_are_not_served(self):
        self.start()
        for kind in ("waypoint", "ztunnel"):
            for path in ("routes", "clusters", "listeners"):
                status, body = self.poll({"id": NODE.replace("sidecar", kind)}, path, resource_names=["80"])
                self.assertEqual(status, 501, body)
                self.assertIn(f"proxies of the type {kind} are not served", body)
        self.assertEqual(self.poll({"id": NODE.replace("sidecar", "butler")})[0], 400)
        self.assert_serves()

    def test_nodes_that_are_too_large(self):
        self.start()
        self.assert_serves()
        before = self.rss()
        bombs = {
            "empty values": b'{"node":{"id":"%s","metadata":{"X":[' % NODE.encode() + b"0," * 1_900_000 + b"0]}}}",
            "nested": b'{"node":{"id":"%s","metadata":{"X":' % NODE.encode() + b"[" * 1000 + b"]" * 1000 + b"}}}",
            "elsewhere": b'{"errorDetail":{"details":[{"x":[' + b"0," * 1_900_000 + b"0]}]}}",
        }
        for key in ("FAIRLEAD_XDS_CLUSTER", "TLS_CLIENT_CERT_CHAIN", "CLUSTER_ID", "ANYTHING"):
            bombs[key] = json.dumps({"node": {"id": NODE, "metadata": {key: "x" * 3_000_000}}}).encode()
        bombs["networks"] = json.dumps({"node": {"id": NODE, "metadata": {"REQUESTED_NETWORK_VIEW": "," * 400_000}}}).encode()
        bombs["ports"] = json.dumps({"node": {"id": NODE, "metadata": {"POD_PORTS": "[" + "{}," * 150_000 + "{}]"}}}).encode()
        with concurrent.futures.ThreadPoolExecutor(8) as clients:
            for name, (status, body) in zip(bombs, clients.map(self.poll, bombs.values())):
                self.assertIn(status, (400, 413), f"{name}: {body}")
        self.assertLess(self.rss() - before, 100, "MB; a sanitizer or an allocator's caches may keep some")
        self.assert_serves()

    def test_what_clients_say_stays_on_its_line(self):
        self.start()
        said = "x\n" + FORGED + "\x1b[2J\u009b2J\u202e"
        for node in ({"id": said}, {"id": NODE.replace("x.a", said)}, {"id": NODE, "metadata": {"CLUSTER_ID": 1, said: said}},
                     {"id": f"butler~10.1.0.9~{said}~a"}):
            self.poll(node)
        for _ in range(200):
            self.poll({"id": "x" * 5000})
        self.assert_serves()
        time.sleep(1.5)
        log = self.log()
        self.assertIn("refusing", log)
        self.assertFalse([line for line in log.split("\n") if line.startswith(FORGED)], log[-3000:])
        for odd in ("\x1b", "\u009b", "\u202e"):
            self.assertNotIn(odd, log)
        self.assertLess(len(log), 60_000, "bytes of log because of 200 refusals")

    def test_a_log_that_nobody_reads(self):
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        with self.assertRaises(BlockingIOError):
            while os.write(write_end, b"x" * 4096):
                pass
        os.set_blocking(write_end, True)
        self.addCleanup(os.close, read_end)
        self.start("--log_output_level=all:debug", stdout=write_end)
        os.close(write_end)
        for _ in range(20):
            self.assert_serves()
            self.poll({"id": "nobody"})
        (self.folder / "mesh" / "api.yaml").write_text(MESH.replace("name: web", "name: api"))
        end = time.monotonic() + 30
        while "outbound|80||api.a.svc.cluster.local" not in self.poll({"id": NODE})[1]:
            self.assertLess(time.monotonic(), end, "the edit is not read")
        self.assertIn("fairlead_log_lines_lost_total", self.get("/metrics", port=self.monitoring)[1])


if __name__ == "__main__":
    FAIRLEAD = sys.argv.pop(1)
    unittest.main()
