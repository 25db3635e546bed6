#!/usr/bin/env python3
"""Stock Envoys as gateways, real traffic: TLS in all its modes, routes of both APIs, egress, two networks, extensions.

  outside -> ingress -> apps        client's sidecar -> egress -> outside        client's sidecar -> east -> net2's sidecar

Needs root, OpenSSL's and curl's programs. FAIRLEAD and ENVOY name other binaries than the build's and the fetched one.
"""
import base64
import collections
import http.client
import json
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from mesh import APPS, HERE, Mesh, in_namespace, replace_atomically, wait_until

SINKS = [sys.executable, str(HERE / "sinks.py")]
INGRESS, EAST = "10.77.2.1", "10.77.2.3"
NAME = "shop.example.org"
MESH_CONFIG = {"extensionProviders": [
    {"name": "als", "envoyHttpAls": {"service": "logs.shop.svc.cluster.local", "port": 9000}},
    {"name": "zipkin", "zipkin": {"service": "traces.shop.svc.cluster.local", "port": 9411}}]}


def workload(name, address, ns, port, protocol, labels, cluster_ip, balancer=False):
    """A Service, its Pod and their EndpointSlice; `balancer`: a load balancer has the pod's address."""
    labels = {"app": name, **labels}
    transport = "UDP" if protocol == "udp" else "TCP"
    ports = [{"name": protocol, "port": port, "targetPort": port, "protocol": transport}]
    service = {"selector": {"app": name}, "clusterIP": cluster_ip, "ports": ports}
    status = {"loadBalancer": {"ingress": [{"ip": address}]}} if balancer else {}
    if balancer:
        service["type"] = "LoadBalancer"
    pod_status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
                  "conditions": [{"type": "Ready", "status": "True"}]}
    slice_ = {"addressType": "IPv4", "ports": [{"name": protocol, "port": port, "protocol": transport}],
              "endpoints": [{"addresses": [address], "conditions": {"ready": True},
                             "targetRef": {"kind": "Pod", "name": name, "namespace": ns}}]}
    meta = lambda labels: {"name": name, "namespace": ns, "labels": labels}
    return [{"apiVersion": "v1", "kind": "Service", "metadata": meta(labels), "spec": service, "status": status},
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta(labels), "status": pod_status,
             "spec": {"serviceAccountName": name, "containers": [{"name": "app", "image": "app"}]}},
            {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
             "metadata": meta({"kubernetes.io/service-name": name}), **slice_}]


MTLS = {"security.istio.io/tlsMode": "istio"}
NET2 = {"topology.istio.io/network": "net2"}
WORKLOADS = [o for args in (
    ("ingress", INGRESS, "edge", 8090, "http", {"gateway": "ingress"}, "10.77.100.1"),
    ("egress", "10.77.2.2", "edge", 8080, "http", {"gateway": "egress"}, "10.77.100.2"),
    ("east", EAST, "edge", 15443, "tls", {"gateway": "east", **NET2}, "10.77.100.3", True),
    ("web-v1", "10.77.2.11", "shop", 9080, "http", {}, "10.77.100.11"),
    ("web-v2", "10.77.2.12", "shop", 9080, "http", {}, "10.77.100.12"),
    ("secure", "10.77.2.13", "shop", 9443, "tls", {}, "10.77.100.13"),
    ("greeter", "10.77.2.14", "shop", 9090, "grpc", {}, "10.77.100.14"),
    ("echo", "10.77.2.15", "shop", 7000, "tcp", {}, "10.77.100.15"),
    ("logs", "10.77.2.16", "shop", 9000, "grpc", {}, "10.77.100.16"),
    ("traces", "10.77.2.17", "shop", 9411, "http", {}, "10.77.100.17"),
    ("dns-a", "10.77.2.18", "shop", 53, "udp", {}, "10.77.100.18"),
    ("dns-b", "10.77.2.19", "shop", 53, "udp", {}, "10.77.100.19"),
    ("remote", "10.77.2.21", "shop", 9080, "http", {**MTLS, **NET2}, "10.77.100.21"),
    ("client", "10.77.2.10", "shop", 9080, "http", {**MTLS, "topology.istio.io/network": "net1"}, "10.77.100.10"),
) for o in workload(*args)]


class Authority:
    """A root and what it signs, as PEM files in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-subj",
                     "/O=test", "-days", "2")

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def issue(self, name, alternative):
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                     "/O=test")
        (self.folder / f"{name}.ext").write_text(f"subjectAltName=critical,{alternative}\n")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-out",
                     f"{name}.crt", "-days", "2", "-extfile", f"{name}.ext")

    def file(self, name):
        return str(self.folder / name)

    def secret(self, name, certificate, root=False):
        read = lambda file: base64.b64encode((self.folder / file).read_bytes()).decode()
        data = {"tls.crt": read(f"{certificate}.crt"), "tls.key": read(f"{certificate}.key")}
        if root:
            data["ca.crt"] = read("ca.crt")
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "edge"}, "data": data,
                "type": "Opaque"}


class Gateways(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.config = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-gateways-"))
        cls.addClassCleanup(shutil.rmtree, cls.config, ignore_errors=True)
        cls.mesh = Mesh(cls.config, secure=False)
        cls.mesh.__enter__()
        cls.addClassCleanup(cls.mesh.__exit__, None, None, None)
        (cls.mesh.folder / "keys").mkdir()
        cls.keys = Authority(cls.mesh.folder / "keys")
        for name in ("a", "b", "mutual", "pass", "fresh"):
            cls.keys.issue(name, f"DNS:{'a' if name == 'fresh' else name}.example.com")
        cls.keys.issue("visitor", "DNS:visitor")
        shutil.copy(HERE / "gateways" / "routes.yaml", cls.config)
        cls.write("workloads.yaml", WORKLOADS)
        cls.write("cert-a.yaml", [cls.keys.secret("cert-a", "a")])
        cls.write("certs.yaml", [cls.keys.secret("cert-b", "b"), cls.keys.secret("cert-m", "mutual", root=True)])
        (cls.mesh.folder / "mesh.json").write_text(json.dumps(MESH_CONFIG))
        cls.mesh.mesh_config = cls.mesh.folder / "mesh.json"
        cls.mesh.start_fairlead()
        cls.start_apps()
        cls.start_proxies()

    @classmethod
    def write(cls, name, objects):
        replace_atomically(cls.config / name, "\n---\n".join(map(json.dumps, objects)))

    @classmethod
    def start_apps(cls):
        mesh = cls.mesh
        cls.logs, cls.traces = mesh.folder / "logs", mesh.folder / "traces"
        host = lambda name, last: mesh.pod(name, f"10.77.2.{last}", {}, sidecar=False)
        for name, last in (("web-v1", 11), ("web-v2", 12), ("outside", 30)):
            pod = host(name, last)
            pod.start([*SINKS, "echo", "9080", name])
        cls.outside = mesh.net.pods["outside"]
        host("secure", 13).start([*SINKS, "tls", "9443", "secure", cls.keys.file("pass.crt"), cls.keys.file("pass.key")])
        host("greeter", 14).start([*SINKS, "grpc", "9090", "hello", str(mesh.folder / "calls")])
        mesh.app(host("echo", 15), "tcp", 7000, "echo")
        for name, last in (("dns-a", 18), ("dns-b", 19)):
            host(name, last).start([*APPS, "dns", "53", f"{NAME}=10.1.1.{last}"])
        host("logs", 16).start([*SINKS, "grpc", "9000", "", str(cls.logs)])
        host("traces", 17).start([*SINKS, "http", "9411", str(cls.traces)])

    @classmethod
    def start_proxies(cls):
        mesh = cls.mesh
        cls.routers = [cls.proxy(name, last, "net2" if name == "east" else "net1", "router")
                       for name, last in (("ingress", 1), ("egress", 2), ("east", 3))]
        cls.client, cls.remote = cls.proxy("client", 10, "net1"), cls.proxy("remote", 21, "net2")
        cls.remote.start([*SINKS, "echo", "9080", "remote"])
        # net2's workload hears nobody of net1 but the gateway.
        cls.remote.run("iptables", "-A", "INPUT", "-s", cls.client.address, "-j", "DROP")
        cls.proxies = [*cls.routers, cls.client, cls.remote]
        mesh.wait_sidecars(cls.proxies)

    @classmethod
    def proxy(cls, name, last, network, role="sidecar"):
        """A pod with an Envoy whose certificate is in files."""
        ns, labels = ("shop", {"app": name, **MTLS}) if role == "sidecar" else ("edge", {"app": name, "gateway": name})
        pod = cls.mesh.pod(name, f"10.77.2.{last}", labels, namespace=ns, sidecar=role == "sidecar")
        folder = cls.mesh.folder / name / "etc" / "certs"
        folder.mkdir(parents=True)
        cls.keys.issue(name, f"URI:spiffe://cluster.local/ns/{ns}/sa/{name}")
        for file, to in ((f"{name}.crt", "cert-chain.pem"), (f"{name}.key", "key.pem"), ("ca.crt", "root-cert.pem")):
            shutil.copy(cls.keys.file(file), folder / to)
            (folder / to).chmod(0o644)
        cls.mesh.start_sidecar(pod, role, FILE_MOUNTED_CERTS="true", ISTIO_META_NETWORK=network)
        return pod

    def tearDown(self):
        self.assertEqual(self.mesh.rejects(), 0, "NACKs counted by Fairlead")
        for pod in self.proxies:
            self.assertEqual(self.mesh.update_rejections(pod), 0, f"updates rejected by the Envoy of {pod.name}")

    # Calls from outside of the mesh

    def context(self, certificate=None):
        context = ssl.create_default_context(cafile=self.keys.file("ca.crt"))
        if certificate:
            context.load_cert_chain(self.keys.file(f"{certificate}.crt"), self.keys.file(f"{certificate}.key"))
        return context

    def https(self, name, certificate=None):
        """The body of GET /, and the serial number of the certificate that was shown."""
        def call():
            with socket.create_connection((INGRESS, 8443), 5) as plain:
                with self.context(certificate).wrap_socket(plain, server_hostname=name) as tls:
                    tls.sendall(f"GET / HTTP/1.1\r\nhost: {name}\r\nconnection: close\r\n\r\n".encode())
                    answer = http.client.HTTPResponse(tls)
                    answer.begin()
                    return answer.read().decode(), tls.getpeercert()["serialNumber"]
        return in_namespace(self.outside.namespace, call)

    def get(self, pod, address, port, host, path="/"):
        """Status, headers and body."""
        def call():
            connection = http.client.HTTPConnection(address, port, timeout=5)
            try:
                connection.request("GET", path, headers={"host": host})
                answer = connection.getresponse()
                return answer.status, answer.headers, answer.read().decode()
            finally:
                connection.close()
        return in_namespace(pod.namespace, call)

    def eventually(self, what, check):
        return wait_until(what, check, 30)

    def test_https_by_name_with_two_certificates(self):
        self.eventually("a's certificate is there", lambda: self.https("a.example.com"))
        body_a, serial_a = self.https("a.example.com")
        body_b, serial_b = self.https("b.example.com")
        self.assertEqual((body_a, body_b), ("web-v1 /", "web-v2 /"))
        self.assertNotEqual(serial_a, serial_b)

    def test_mutual_tls(self):
        self.eventually("the server is there", lambda: self.https("mutual.example.com", "visitor"))
        self.assertEqual(self.https("mutual.example.com", "visitor")[0], "web-v1 /")
        with self.assertRaises(OSError):
            self.https("mutual.example.com")

    def test_passthrough(self):
        self.eventually("the route is there", lambda: self.https("pass.example.com"))
        body, serial = self.https("pass.example.com")
        self.assertEqual(body, "secure")
        shown = subprocess.run(["openssl", "x509", "-noout", "-serial", "-in", self.keys.file("pass.crt")],
                               capture_output=True, text=True, check=True).stdout
        self.assertEqual(shown.strip().split("=")[1], serial, "the application's own certificate")

    def test_redirect(self):
        status, headers, _ = self.get(self.outside, INGRESS, 8080, "a.example.com", "/x?y=1")
        self.assertEqual((status, headers["location"]), (301, "https://a.example.com/x?y=1"))

    @staticmethod
    def talk(port):
        with socket.create_connection((INGRESS, port), 5) as s:
            s.sendall(b"hi\n")
            got = b""
            while not got.endswith(b"\n") and (block := s.recv(100)):
                got += block
            return got

    def test_tcp(self):
        self.assertEqual(in_namespace(self.outside.namespace, lambda: self.talk(7000)), b"echo hi\n")

    def ask(self, name=NAME):
        """The address that the DNS server behind the ingress gives, over UDP from a port of its own."""
        question = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0\0\1\0\1"

        def call():
            with socket.socket(type=socket.SOCK_DGRAM) as s:
                s.settimeout(5)
                s.sendto(b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + question, (INGRESS, 5353))
                return socket.inet_ntoa(s.recv(1000)[-4:])
        return in_namespace(self.outside.namespace, call)

    def test_udp_route_with_weights_beside_tcp(self):
        self.eventually("the route is there", self.ask)
        answers = collections.Counter(self.ask() for _ in range(400))
        self.assertEqual(set(answers), {"10.1.1.18", "10.1.1.19"})
        # Binomial(400, 0.25), as above.
        self.assertTrue(57 <= answers["10.1.1.19"] <= 143, answers)
        self.assertEqual(in_namespace(self.outside.namespace, lambda: self.talk(5353)), b"echo hi\n", "TCP, on the same port")

    def test_http_route_with_rewrite_and_weights(self):
        answers = collections.Counter(
            self.get(self.outside, INGRESS, 8090, "shop.example.com", "/old/page")[2] for _ in range(400))
        self.assertEqual(set(answers), {"web-v1 /new/page", "web-v2 /new/page"})
        # Binomial(400, 0.25): mean 100, standard deviation 8.7; five of them either way.
        self.assertTrue(57 <= answers["web-v2 /new/page"] <= 143, answers)
        self.assertEqual(self.get(self.outside, INGRESS, 8090, "shop.example.com", "/else")[0], 404)

    def grpc(self, method):
        message = self.mesh.folder / "message"
        message.write_bytes(b"\0\0\0\0\0")
        return subprocess.run(
            self.outside.command(["curl", "-sS", "-i", "--max-time", "5", "--http2-prior-knowledge", "--data-binary",
                                  f"@{message}", "-H", "content-type: application/grpc", "-H", "te: trailers",
                                  "--connect-to", f"::{INGRESS}:8090", f"http://grpc.example.com:8090/shop.Greeter/{method}"]),
            capture_output=True, text=True).stdout

    def test_grpc_route(self):
        answer = self.grpc("Greet")
        self.assertIn("hello", answer)
        self.assertNotIn("grpc-status: 12", answer)
        # Envoy answers at once and resets the stream; curl, when that overtakes its message, shows nothing.
        answer = wait_until("an answer comes", lambda: self.grpc("Leave"))
        self.assertIn("grpc-status: 12", answer, "a method without a route is not implemented")

    def counter(self, pod, pattern):
        found = re.findall(rf"^{pattern}: (\d+)$", self.mesh.admin(pod, "/stats"), re.M)
        return sum(map(int, found))

    def test_egress(self):
        egress = self.routers[1]
        through = lambda: self.counter(egress, r"cluster\.outbound\|80\|\|outside\.example\.org;?\.upstream_rq_total")
        before = through()
        self.assertEqual(self.get(self.client, "10.77.200.30", 80, "outside.example.org")[2], "outside /")
        self.assertEqual(through() - before, 1)

    def test_two_networks(self):
        east = self.routers[2]
        status, _, body = self.eventually("the other network is reached",
                                          lambda: self.get(self.client, "10.77.100.21", 9080, "remote.shop"))
        self.assertEqual((status, body), (200, "remote /"))
        self.assertGreaterEqual(
            self.counter(east, r"cluster\.outbound_\.9080_\._\.remote\.shop\.svc\.cluster\.local;?\.upstream_cx_total"), 1)
        self.assertGreaterEqual(self.counter(self.remote, r"listener\.0\.0\.0\.0_15006\.ssl\.handshake"), 1)

    def test_lua_on_a_sidecar(self):
        _, headers, body = self.get(self.client, "10.77.100.11", 9080, "web-v1.shop")
        self.assertEqual((headers["x-lua"], body), ("here", "web-v1 /"))
        self.assertNotIn("x-lua", self.get(self.outside, INGRESS, 8090, "shop.example.com", "/old")[1])

    def test_logs_and_traces_arrive(self):
        path = f"/old/{time.time_ns()}"
        self.assertEqual(self.get(self.outside, INGRESS, 8090, "shop.example.com", path)[0], 200)
        self.eventually("the log entry arrives", lambda: path.encode() in self.logs.read_bytes())
        spans = lambda: [line for line in self.traces.read_text().splitlines() if path in line]
        self.eventually("the span arrives", spans)
        self.assertIn("POST /api/v2/spans", self.traces.read_text())

    def test_a_certificate_replaced_under_load(self):
        self.eventually("a's certificate is there", lambda: self.https("a.example.com"))
        serials, failures, over = [], [], threading.Event()

        def visit():
            while not over.is_set():
                try:
                    serials.append(self.https("a.example.com")[1])
                except (OSError, http.client.HTTPException) as e:
                    failures.append(repr(e))

        visitors = [threading.Thread(target=visit) for _ in range(4)]
        for visitor in visitors:
            visitor.start()
        try:
            self.eventually("handshakes are made", lambda: len(serials) > 20)
            self.write("cert-a.yaml", [self.keys.secret("cert-a", "fresh")])
            self.eventually("the new one is shown", lambda: serials[-1] != serials[0])
            seen = len(serials)
            self.eventually("and used", lambda: len(serials) > seen + 20)
        finally:
            over.set()
            for visitor in visitors:
                visitor.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(set(serials)), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
