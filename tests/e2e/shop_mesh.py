"""The mesh of the security tests: a server and two callers with sidecars, an authorizer and a caller without, an authority
of the test's own."""
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import time

from issuer import Issuer
from mesh import APPS, HERE, ROOT, Mesh, in_namespace, replace_atomically, wait_until

LIFETIME = 20  # seconds, of workloads' certificates: renewed after 4
WEB = "10.77.1.30"
MESH_CONFIG = """
extensionProviders:
- name: checker
  envoyExtAuthzHttp:
    service: checker.shop.example
    port: 9000
    includeRequestHeadersInCheck: [x-pass]
- name: grpc-checker
  envoyExtAuthzGrpc:
    service: grpc-checker.shop.example
    port: 9001
    timeout: 2s
"""
EXTENSIONS = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"


class OwnAuthority:
    """A root that signs nothing but the authority below it; all in one folder."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        folder.mkdir()
        (folder / "extensions").write_text(EXTENSIONS)
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        self.openssl("req", "-x509", *key, "-days", "2", "-keyout", "root.key", "-out", "root-cert.pem", "-subj", f"/O={name}")
        self.openssl("req", *key, "-keyout", "ca-key.pem", "-out", "ca.csr", "-subj", f"/O={name}/CN=below")
        self.openssl("x509", "-req", "-in", "ca.csr", "-CA", "root-cert.pem", "-CAkey", "root.key", "-CAcreateserial",
                     "-days", "2", "-extfile", "extensions", "-out", "ca-cert.pem")
        shutil.copy(folder / "ca-cert.pem", folder / "cert-chain.pem")
        serial = self.openssl("x509", "-in", "root-cert.pem", "-noout", "-serial").decode().strip()
        self.serial = serial.split("=")[1].lower().lstrip("0")
        self.roots = (folder / "root-cert.pem").read_text()

    def workload(self, identity):
        """Files of a certificate for a SPIFFE id, with what leads to the root, and of its key."""
        (self.folder / "leaf").write_text(f"subjectAltName=critical,URI:{identity}\nextendedKeyUsage=clientAuth\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "leaf.key", "-out",
                     "leaf.csr", "-subj", "/")
        self.openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca-cert.pem", "-CAkey", "ca-key.pem", "-CAcreateserial",
                     "-days", "1", "-extfile", "leaf", "-out", "leaf.pem")
        (self.folder / "leaf.pem").write_text((self.folder / "leaf.pem").read_text() + (self.folder / "ca-cert.pem").read_text())
        return self.folder / "leaf.pem", self.folder / "leaf.key"

    def openssl(self, *words):
        return subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True).stdout


class ShopMesh(Mesh):
    """Policies are what `apply` was given last. `authority` holds what Fairlead signs with."""

    def __init__(self):
        self.own = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-shop-"))
        config = self.own / "mesh"
        shutil.copytree(HERE / "shop", config)
        mesh_config = self.own / "meshConfig"
        mesh_config.write_text(MESH_CONFIG)
        self.west = OwnAuthority(self.own / "west", "west")  # another mesh's
        self.first, self.second = (OwnAuthority(self.own / name, name) for name in ("first", "second"))
        authority = self.own / "authority"
        authority.mkdir()
        super().__init__(config, authority=authority, lifetime=LIFETIME, mesh_config=mesh_config)
        self.server_environment = {"ISTIO_MULTIROOT_MESH": "true"}
        self.sign_with(self.first, self.first.roots)
        self.users = Issuer(self.own / "users", "https://users.example")
        self.others = Issuer(self.own / "others", "https://users.example")  # another key of the same name

    def sign_with(self, authority, roots):
        """Fairlead signs with this authority from now on, and workloads are to trust `roots`."""
        for name in ("ca-cert.pem", "ca-key.pem", "cert-chain.pem"):
            replace_atomically(self.authority / name, (authority.folder / name).read_text())
        replace_atomically(self.authority / "root-cert.pem", roots)

    def __enter__(self):
        super().__enter__()
        self.start_fairlead()
        self.client = self.pod("client", "10.77.1.31", {"app": "client"}, namespace="shop")
        self.stranger = self.pod("stranger", "10.77.1.32", {"app": "stranger"}, namespace="elsewhere")
        self.web = self.pod("web", WEB, {"app": "web"}, namespace="shop")
        self.outsider = self.pod("outsider", "10.77.1.34", {}, sidecar=False)
        self.checker = self.pod("checker", "10.77.1.33", {}, sidecar=False)
        self.app(self.web, "http", 8080, "web")
        self.app(self.checker, "authorizer", 9000, "checker")
        self.start_authorizer()
        self.sidecars = [self.client, self.stranger, self.web]
        for pod in self.sidecars:
            self.start_sidecar(pod, PROXY_CONFIG_XDS_AGENT="true")
        self.wait_sidecars(self.sidecars)
        return self

    def start_authorizer(self):
        """One that is asked over gRPC."""
        program = os.environ.get("AUTHORIZER") or str(ROOT / "build" / "release" / "bin" / "authorizer")
        self.authorizer = self.checker.start([program, "9001", "grpc-checker"])
        self.wait_listens(self.checker, 9001)

    def __exit__(self, *error):
        super().__exit__(*error)
        shutil.rmtree(self.own, ignore_errors=True)

    def apply(self, *objects):
        if not objects:  # an empty file would keep its policies: nothing says that they are to go
            return (self.config / "policies.yaml").unlink(missing_ok=True)
        replace_atomically(self.config / "policies.yaml", "\n---\n".join(json.dumps(one) for one in objects))

    def trust(self, authority=None):
        """The mesh is to trust another's authority, whose trust domain has the same name; or none."""
        others = [{"pem": authority.roots, "trustDomains": [f"{authority.name}.example"]}] if authority else []
        replace_atomically(self.mesh_config, MESH_CONFIG + "caCertificates: " + json.dumps(others) + "\n")

    # Calls: how often each answer came; what starts with "!" is none, or not 200.

    def get(self, caller, path="/", *headers, count=8):
        address = WEB + ":8080" if caller is self.outsider else "10.77.100.30:80"
        host, port = address.split(":")
        return self.client_of(caller, f"http://web.shop:{port}{path}", count, f"@connect={host}", *headers)

    def client_of(self, caller, url, count, *headers):
        return Mesh.client(self, caller, "get", url, count, *headers)

    def answers(self, caller, path="/", *headers):
        """The different answers of some calls."""
        return set(self.get(caller, path, *headers))

    def wait_answer(self, start, caller, path="/", *headers):
        """Waits for all answers to start so; they must go on to."""
        good = lambda: all(one.startswith(start) for one in self.answers(caller, path, *headers))
        wait_until(f"{caller.name} {path} is answered with {start}", lambda: good() and good())

    def start_load(self, seconds, rate, path="/"):
        return subprocess.Popen(
            self.client.command([*APPS, "load", f"http://web.shop:80{path}", str(seconds), str(rate), "@connect=10.77.100.30"]),
            stdout=subprocess.PIPE, text=True)

    def call_by_tls(self, certificate, key):
        """The first line of the server's answer to who shows this certificate, "" where there is none."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["istio-http/1.1"])
        context.load_cert_chain(certificate, key)

        def call():
            try:
                with context.wrap_socket(socket.create_connection((WEB, 8080), 5)) as s:
                    s.sendall(b"GET / HTTP/1.1\r\nhost: web.shop\r\nconnection: close\r\n\r\n")
                    return s.recv(4096).split(b"\r\n")[0].decode()
            except OSError:
                return ""
        return in_namespace(self.outsider.namespace, call)

    # What a sidecar's Envoy has and did.

    def certificates(self, pod):
        """Serial numbers: of the roots that it trusts, and of its own certificate."""
        found = json.loads(self.admin(pod, "/certs")).get("certificates", [])
        numbers = lambda kind: {one["serial_number"].lstrip("0") for pair in found for one in pair.get(kind, [])}
        return numbers("ca_cert"), numbers("cert_chain")

    def wait_renewed(self):
        """Every sidecar has a certificate that was signed from now on."""
        time.sleep(1.5)  # files are looked at every second
        before = {pod.name: self.certificates(pod)[1] for pod in self.sidecars}
        for pod in self.sidecars:
            wait_until(f"{pod.name} has a new certificate",
                       lambda p=pod: not self.certificates(p)[1] & before[p.name] and self.certificates(p)[1])

    def wait_roots(self, *authorities):
        serials = {one.serial for one in authorities}
        for pod in self.sidecars:
            wait_until(f"{pod.name} trusts {len(serials)}", lambda p=pod: self.certificates(p)[0] == serials)

    def handshakes(self):
        """That the server's sidecar has had with callers."""
        text = self.admin(self.web, "/stats?filter=^listener.*15006.*ssl.handshake")
        return sum(int(line.split(": ")[1]) for line in text.splitlines())
