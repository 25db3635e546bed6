#!/usr/bin/env python3
"""End to end: a folder of manifests, Fairlead, stock Envoys as sidecars, real traffic through iptables.

  client pod -> its sidecar -> server's sidecar -> app

Needs root. FAIRLEAD and ENVOY name other binaries than the build's and the fetched one.
"""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

from mesh import APPS, HERE, ROOT, Mesh, in_namespace, replace_atomically, wait_until

SPLIT = "reviews-split.yaml"
V1 = "outbound|9080|v1|reviews.bookshop.svc.cluster.local"
V2 = "outbound|9080|v2|reviews.bookshop.svc.cluster.local"

SLOW = """apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: slow, namespace: bookshop}
spec:
  selector: {matchLabels: {app: slow}}
  mtls: {mode: PERMISSIVE}
"""


class EndToEnd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.config = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.config, ignore_errors=True)
        for folder in (ROOT / "examples" / "bookinfo", HERE / "manifests"):
            for manifest in folder.glob("*.yaml"):
                shutil.copy(manifest, cls.config)
        cls.mesh = Mesh(cls.config)
        cls.mesh.__enter__()
        cls.addClassCleanup(cls.mesh.__exit__, None, None, None)
        cls.mesh.start_fairlead()
        cls.start_pods()

    @classmethod
    def start_pods(cls):
        mesh = cls.mesh
        host = lambda name, address: mesh.pod(name, address, {}, sidecar=False)
        dns = host("dns", "10.77.1.53")
        dns.start([*APPS, "dns", "53", "backend.library.example.org=10.77.1.21"])
        inside = lambda name, address, labels: mesh.pod(name, address, labels, nameserver="10.77.1.53")
        cls.client = inside("client", "10.77.1.10", {"app": "client", "version": "v1"})
        workloads = {"productpage-v1": 11, "details-v1": 12, "reviews-v1": 13, "reviews-v2": 14, "ratings-v1": 15}
        cls.sidecars = [cls.client]
        for name, last in workloads.items():
            app, version = name.split("-")
            pod = inside(name, f"10.77.1.{last}", {"app": app, "version": version})
            mesh.app(pod, "http", 9080, name)
            cls.sidecars.append(pod)
        ledger = inside("ledger-v1", "10.77.1.16", {"app": "ledger", "version": "v1"})
        mesh.app(ledger, "tcp", 7000, "ledger-v1")
        cls.sidecars.append(ledger)
        for name, last in (("publisher", 20), ("library", 21)):
            mesh.app(host(name, f"10.77.1.{last}"), "http", 8080, name)
        for pod in cls.sidecars:
            mesh.start_sidecar(pod)
        mesh.wait_sidecars(cls.sidecars)

    def setUp(self):
        self.split = (self.config / SPLIT).read_text()
        # The test before may have just put the file back.
        for pod in self.sidecars:
            wait_until(f"the split is in {pod.name}", lambda p=pod: self.split_clusters(p) == {V1, V2}, 60)

    def tearDown(self):
        replace_atomically(self.config / SPLIT, self.split)
        self.assertEqual(self.mesh.rejects(), 0, "NACKs counted by Fairlead")
        for pod in self.sidecars:
            self.assertEqual(self.mesh.update_rejections(pod), 0, f"updates rejected by the Envoy of {pod.name}")

    def get(self, url, count, *headers):
        return self.mesh.client(self.client, "get", url, count, *headers)

    def reviews(self, count, *headers):
        return self.get("http://reviews:9080/", count, "@connect=10.77.100.13", *headers)

    def start_load(self, rate):
        return subprocess.Popen(
            self.client.command([*APPS, "load", "http://reviews:9080/", "100", str(rate), "@connect=10.77.100.13"]),
            stdout=subprocess.PIPE, text=True)

    def finish(self, load):
        """What has been until now, of which nothing failed."""
        load.terminate()
        result = json.loads(load.communicate(timeout=60)[0])
        self.assertEqual(result["failed"], 0, result["errors"])
        return result

    def all_to(self, subset):
        text = self.split.replace("weight: 75", f"weight: {100 if subset == 'v1' else 0}")
        return text.replace("weight: 25", f"weight: {0 if subset == 'v1' else 100}")

    def requests_received(self, pod):
        text = self.mesh.admin(pod, "/stats?filter=downstream_rq_2xx")
        return sum(int(n) for n in re.findall(r"^http\.inbound_.*downstream_rq_2xx: (\d+)", text, re.M))

    def goes_on(self, when):
        """The load is answered on and on."""
        received = lambda: sum(self.requests_received(pod) for pod in self.sidecars if pod.name.startswith("reviews"))
        least = received() + 100
        wait_until(f"the load is answered {when}", lambda: received() >= least)

    def test_http_goes_through_both_sidecars(self):
        productpage = next(p for p in self.sidecars if p.name == "productpage-v1")
        before = self.requests_received(productpage)
        answers = self.get("http://productpage.bookshop:9080/", 20, "@connect=10.77.100.11")
        self.assertEqual(answers, {"productpage-v1": 20})
        self.assertEqual(self.requests_received(productpage) - before, 20)

    def test_tcp(self):
        def talk():
            with socket.create_connection(("10.77.100.16", 7000), 5) as s:
                s.sendall(b"hello\n")
                got = b""
                while not got.endswith(b"\n"):
                    block = s.recv(100)
                    if not block:
                        break
                    got += block
                return got
        self.assertEqual(in_namespace(self.client.namespace, talk), b"ledger-v1 hello\n")
        stats = self.mesh.admin(self.client, "/stats?filter=upstream_cx_total")
        found = re.search(r"cluster\.outbound\|7000\|\|ledger\.bookshop\.svc\.cluster\.local;?\.upstream_cx_total: (\d+)", stats)
        self.assertTrue(found and int(found[1]) >= 1, stats)

    def test_static_service_entry(self):
        answers = self.get("http://publisher.example.com/", 10, "@connect=10.77.200.20")
        self.assertEqual(answers, {"publisher": 10})

    def test_dns_service_entry(self):
        wait_until("the DNS cluster is resolved",
                   lambda: self.get("http://library.example.org/", 1, "@connect=10.77.200.21") == {"library": 1})
        self.assertEqual(self.get("http://library.example.org/", 10, "@connect=10.77.200.21"), {"library": 10})

    def test_split(self):
        answers = self.reviews(2000)
        self.assertEqual(set(answers), {"reviews-v1", "reviews-v2"}, answers)
        # Binomial(2000, 0.25): mean 500, standard deviation 19.4; five of them either way.
        self.assertTrue(403 <= answers["reviews-v2"] <= 597, answers)

    def test_header_match(self):
        self.assertEqual(self.reviews(100, "x-tester=yes"), {"reviews-v2": 100})

    def test_edit_takes_effect_everywhere_under_load(self):
        replace_atomically(self.config / SPLIT, self.all_to("v1"))
        wait_until("all requests go to v1", lambda: set(self.reviews(40)) == {"reviews-v1"})
        load = self.start_load(200)
        self.goes_on("before the edit")
        edited = time.time()
        replace_atomically(self.config / SPLIT, self.all_to("v2"))
        for pod in self.sidecars:
            wait_until(f"the new route is in {pod.name}", lambda p=pod: self.split_clusters(p) == {V2}, 60)
        took = time.time() - edited
        self.goes_on("after the edit")
        result = self.finish(load)
        self.assertEqual(set(result["answers"]), {"reviews-v1", "reviews-v2"})
        first_v2 = next(at for at, answer in result["changes"] if answer == "reviews-v2")
        print(f"(first request by the new route after {first_v2 - edited:.2f} s, in all sidecars after {took:.2f} s) ",
              end="", flush=True)

    def split_clusters(self, pod):
        """The clusters that the split route of port 9080 sends requests to, as the sidecar has it."""
        dump = json.loads(self.mesh.admin(pod, "/config_dump?resource=dynamic_route_configs"))
        names = set()
        for config in (entry["route_config"] for entry in dump.get("configs", [])):
            if config["name"] != "9080":  # the hosts of VirtualServices are in the configurations of all ports
                continue
            for route in (r for host in config.get("virtual_hosts", []) for r in host["routes"]):
                if route.get("name") == "split":
                    split = route["route"].get("weighted_clusters", {}).get("clusters")
                    names |= {c["name"] for c in split if c["weight"]} if split else {route["route"]["cluster"]}
        return names

    def test_broken_edit_changes_nothing_and_its_repair_takes_effect(self):
        load = self.start_load(100)
        self.goes_on("before the edits")
        line = self.split[:self.split.index("weight: 75")].count("\n") + 1
        # What cannot be read, and what Istio would not admit.
        for wrong, path in (("weigth: 75", "weigth"), ("weight: -75", "weight")):
            log_before = len(self.mesh.log())
            replace_atomically(self.config / SPLIT, self.split.replace("weight: 75", wrong))
            wait_until("the mistake is reported with file, line and path", lambda: re.search(
                rf"{re.escape(SPLIT)}:{line}: error: VirtualService bookshop/reviews: spec\.http\[1\]\.route\[0\]\.{path}\b",
                self.mesh.log()[log_before:]), 60)
        answers = self.reviews(400)
        self.assertEqual(set(answers), {"reviews-v1", "reviews-v2"}, answers)
        self.assertTrue(57 <= answers["reviews-v2"] <= 143, answers)  # mean 100, five standard deviations of 8.7
        self.goes_on("after the edits")
        self.finish(load)
        replace_atomically(self.config / SPLIT, self.all_to("v2"))
        wait_until("the repair takes effect", lambda: set(self.reviews(40)) == {"reviews-v2"}, 60)

    def test_a_long_request_outlives_the_end_of_its_servers_sidecar(self):
        # The mesh knows of no such workload, so that clients send it plaintext.
        replace_atomically(self.config / "slow.yaml", SLOW)
        pod = self.mesh.pod("slow-v1", "10.77.1.17", {"app": "slow", "version": "v1"})
        self.mesh.app(pod, "http", 9080, "slow-v1")
        self.mesh.start_sidecar(pod, EXIT_ON_ZERO_ACTIVE_CONNECTIONS="true", MINIMUM_DRAIN_DURATION="1s")
        self.mesh.wait_sidecars([pod])
        request = subprocess.Popen(self.client.command([*APPS, "get", "http://10.77.1.17:9080/wait/8", "1"]),
                                   stdout=subprocess.PIPE, text=True)
        wait_until("the request is under way", lambda: self.connections(pod) > 0)
        pod.sidecar.terminate()
        self.assertIsNone(request.poll(), "it was over before the signal")
        self.assertEqual(json.loads(request.communicate(timeout=60)[0]), {"slow-v1": 1})
        self.assertEqual(pod.sidecar.wait(timeout=60), 0)
        log = (self.mesh.folder / pod.name / "agent.log").read_text()
        self.assertNotIn("cannot be drained", log)
        self.assertIn("connections are open", log)

    def connections(self, pod):
        text = self.mesh.admin(pod, "/stats?filter=15006.*downstream_cx_active$")
        return sum(int(n) for n in re.findall(r"15006\.downstream_cx_active: (\d+)", text))

    def test_killed_and_restarted_under_load(self):
        load = self.start_load(150)
        self.goes_on("at first")
        # The agent is between: an Envoy's connection, and its streams, are the same all the time.
        connections = lambda p: self.mesh.admin(p, "/stats?filter=xds-grpc.*upstream_(cx|rq)_total")
        before = [connections(pod) for pod in self.sidecars]
        self.mesh.kill_fairlead()
        self.goes_on("without Fairlead")
        self.mesh.start_fairlead()
        self.goes_on("with the new process")
        self.finish(load)
        # The new process is in charge: an edit reaches the client.
        replace_atomically(self.config / SPLIT, self.all_to("v2"))
        wait_until("an edit after the restart takes effect", lambda: set(self.reviews(40)) == {"reviews-v2"}, 60)
        self.assertEqual([connections(pod) for pod in self.sidecars], before, "an Envoy has connected anew")


if __name__ == "__main__":
    unittest.main(verbosity=2)
