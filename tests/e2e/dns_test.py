#!/usr/bin/env python3
"""The agent's DNS proxy beside a stock Envoy: a pod's DNS is captured by `fairlead agent iptables --redirect-dns`, and glibc's resolver
asks by UDP and TCP. Names of the mesh come from the control plane's table, others from a resolver outside.

Needs root. FAIRLEAD and ENVOY name other binaries than the build's and the fetched one.
"""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from mesh import APPS, Mesh, fetch, in_namespace, replace_atomically, wait_until

PORT, RESOLVER, OUTSIDE = 8080, "10.77.4.53", "10.77.4.99"
WEB, DATA = "10.77.4.2", {"data-0": "10.77.4.3", "data-1": "10.77.4.4"}
MANY = [f"10.200.0.{i}" for i in range(1, 101)]


def meta(name, **more):
    return {"name": name, "namespace": "bookshop", **more}


def pod(name, address, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta(name, labels={"app": name.split("-")[0]}),
            "spec": {"serviceAccountName": name, "containers": [{"name": "app", "image": "app"}], **spec},
            "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def service(name, address):
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta(name),
            "spec": {"clusterIP": address, "selector": {"app": name}, "ports": [{"name": "http", "port": PORT}]}}


def entry(name, host, *addresses):
    return {"apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry", "metadata": meta(name),
            "spec": {"hosts": [host], "addresses": addresses, "location": "MESH_EXTERNAL", "resolution": "NONE",
                     "ports": [{"number": 443, "name": "tls", "protocol": "TLS"}]}}


class DnsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-dns-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        objects = [pod("client", "10.77.4.1"), pod("web", WEB), service("web", "10.99.4.2"), service("data", "None"),
                   entry("partner", "www.partner.example", "10.99.4.20", "2001:db8::20"), entry("wild", "*.wild.example", "10.99.4.21")]
        objects += [pod(name, address, hostname=name, subdomain="data") for name, address in DATA.items()]
        (cls.folder / "mesh.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
        cls.set_moving("10.99.4.30")
        cls.mesh = Mesh(cls.folder)
        cls.mesh.__enter__()
        cls.addClassCleanup(cls.mesh.__exit__, None, None, None)
        cls.mesh.start_fairlead()
        resolver = cls.mesh.pod("resolver", RESOLVER, {}, sidecar=False)
        resolver.start([*APPS, "dns", "53", f"outside.example.net={OUTSIDE}", f"many.example.net={','.join(MANY)}"])
        cls.client = cls.mesh.pod("client", "10.77.4.1", {"app": "client"}, nameserver=RESOLVER, redirection=["--redirect-dns"])
        with (pathlib.Path("/etc/netns") / cls.client.namespace / "resolv.conf").open("a") as file:
            file.write("search bookshop.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5 timeout:2\n")
        cls.web = cls.mesh.pod("web", WEB, {"app": "web"})
        for one, environment in ((cls.client, {"ISTIO_META_DNS_CAPTURE": "true"}), (cls.web, {})):
            cls.mesh.start_sidecar(one, **environment)
        cls.mesh.app(cls.web, "http", PORT, "web")
        cls.mesh.wait_sidecars([cls.client, cls.web])
        wait_until("the agent is ready", lambda: cls.status_page("/healthz/ready"))

    @classmethod
    def set_moving(cls, address):
        replace_atomically(cls.folder / "moving.yaml", json.dumps(entry("moving", "moving.example", address)))

    @classmethod
    def status_page(cls, path):
        return in_namespace(cls.client.namespace, lambda: fetch(f"http://127.0.0.1:15020{path}"))

    def look_up(self, name, family="ahostsv4"):
        """Addresses by glibc's resolver, in any order, and the canonical name."""
        done = subprocess.run(self.client.command(["getent", family, name]), capture_output=True, text=True, timeout=30)
        lines = [line.split() for line in done.stdout.splitlines()]
        return {line[0] for line in lines}, lines[0][2] if lines and len(lines[0]) > 2 else None

    def ask(self, name, transport):
        return self.mesh.client(self.client, "ask", RESOLVER, name, transport)

    def metric(self, name):
        found = re.search(rf"^istio_agent_dns_{name} (\S+)$", self.status_page("/stats/prometheus"), re.M)
        return float(found[1]) if found else 0

    def test_names_of_the_mesh_by_the_systems_resolver(self):
        for name in ("web", "web.bookshop", "web.bookshop.svc", "web.bookshop.svc.cluster.local"):
            self.assertEqual(self.look_up(name)[0], {"10.99.4.2"}, name)
        self.assertEqual(self.look_up("data")[0], set(DATA.values()), "a headless service")
        self.assertEqual(self.look_up("data-1.data")[0], {DATA["data-1"]})
        self.assertEqual(self.look_up("any.wild.example")[0], {"10.99.4.21"})
        self.assertEqual(self.look_up("www.partner.example"), ({"10.99.4.20"}, "www.partner.example"))
        self.assertEqual(self.look_up("www.partner.example", "ahostsv6")[0], {"2001:db8::20"})

    def test_other_names_by_the_resolver_outside(self):
        before = self.metric("upstream_requests_total")
        self.assertEqual(self.look_up("outside.example.net")[0], {OUTSIDE})
        self.assertEqual(self.look_up("none.example.net")[0], set())
        self.assertEqual(self.look_up("many.example.net")[0], set(MANY), "an answer that needs TCP")
        self.assertGreater(self.metric("upstream_requests_total"), before)

    def test_both_transports(self):
        for transport in ("udp", "tcp"):
            with self.subTest(transport):
                self.assertEqual(self.ask("web.bookshop.svc.cluster.local", transport), ["10.99.4.2"])
                self.assertEqual(self.ask("outside.example.net", transport), [OUTSIDE])
        self.assertEqual(self.ask("many.example.net", "tcp"), MANY)

    def test_a_request_by_name_goes_through_the_sidecar(self):
        self.assertEqual(self.mesh.client(self.client, "get", f"http://web:{PORT}/from", 4), {"web 127.0.0.6": 4})

    def test_the_agents_page_and_metrics(self):
        table = json.loads(self.status_page("/debug/ndsz"))["table"]
        self.assertEqual(table["web.bookshop.svc.cluster.local"]["ips"], ["10.99.4.2"])
        self.assertEqual(table["web."]["ips"], ["10.99.4.2"])
        before = self.metric("requests_total")
        self.ask("web", "udp")
        self.assertGreaterEqual(self.metric("requests_total"), before + 1)

    def test_no_query_is_lost_while_the_table_changes(self):
        load = subprocess.Popen(self.client.command([*APPS, "ask-often", RESOLVER, "moving.example", "100"]), stdout=subprocess.PIPE, text=True)
        try:
            for last in (31, 32, 33):
                self.set_moving(f"10.99.4.{last}")
                wait_until("the new address", lambda a=f"10.99.4.{last}": self.ask("moving.example", "udp") == [a])
                least = self.metric("requests_total") + 100
                wait_until("queries", lambda n=least: self.metric("requests_total") >= n)
            load.terminate()  # it prints what has been until now
            result = json.loads(load.communicate(timeout=30)[0])
        finally:
            load.kill()
        self.assertEqual(result["lost"], 0, result)
        self.assertGreaterEqual(set(result["addresses"]), {f"10.99.4.{last}" for last in (31, 32, 33)}, result)

    def test_without_the_control_plane_names_are_answered(self):
        self.mesh.kill_fairlead()
        try:
            time.sleep(1)
            self.assertEqual(self.look_up("web")[0], {"10.99.4.2"})
            self.assertEqual(self.look_up("outside.example.net")[0], {OUTSIDE})
            self.set_moving("10.99.4.40")
        finally:
            self.mesh.start_fairlead()
        wait_until("the new control plane's table has come", lambda: self.look_up("moving.example")[0] == {"10.99.4.40"})


if __name__ == "__main__":
    unittest.main()
