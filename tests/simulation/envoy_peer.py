"""A real Envoy that serves what a proxy is sent, for calls whose ends are to be compared with the simulation's.

Meant for a network namespace of its own (unshare --net): every address is local there, connections that carry mark 1 are
redirected to the outbound listener and those with mark 2 to the inbound one, as a pod's iptables do, those with mark 3 go
where they say, to a gateway's listeners, and whatever Envoy opens itself ends at one server that answers for all endpoints.
"""
import copy
import ipaddress
import itertools
import json
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import threading
import time

BACKEND, ADMIN = 18080, 15000
MARKS = {"outbound": 1, "inbound": 2, "gateway": 3}
IP_FREEBIND, IPV6_FREEBIND = 15, 78
TYPES = "type.googleapis.com/"
MANAGER = TYPES + "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
TCP_PROXY = TYPES + "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"
TOKENS = TYPES + "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication"
AUTHORIZERS = ("envoy.filters.http.ext_authz", "envoy.filters.network.ext_authz")
DOWNSTREAM_TLS = TYPES + "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
LOG_FIELDS = {"port": "%DOWNSTREAM_DIRECT_REMOTE_PORT%", "chain": "%FILTER_CHAIN_NAME%", "route": "%ROUTE_NAME%",
              "cluster": "%UPSTREAM_CLUSTER_RAW%", "host": "%UPSTREAM_HOST%", "code": "%RESPONSE_CODE%",
              "flags": "%RESPONSE_FLAGS%", "location": "%RESP(LOCATION)%", "path": "%REQ(:PATH)%",
              "authority": "%REQ(:AUTHORITY)%"}


def run(*words, text=None):
    done = subprocess.run(words, input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")


def redirect(version, restore, loopback):
    run("ip", version, "route", "add", "local", "default", "dev", "lo", "table", "local")
    run(restore, text="\n".join([
        "*nat", f"-A OUTPUT -d {loopback} -j RETURN",
        f"-A OUTPUT -p tcp -m mark --mark {MARKS['outbound']} -j REDIRECT --to-ports 15001",
        f"-A OUTPUT -p tcp -m mark --mark {MARKS['inbound']} -j REDIRECT --to-ports 15006",
        f"-A OUTPUT -p tcp -m mark --mark {MARKS['gateway']} -j RETURN",
        f"-A OUTPUT -p tcp -j REDIRECT --to-ports {BACKEND}", "COMMIT", ""]))


def prepare_network():
    """Whether there is IPv6, too: not every kernel can redirect it."""
    run("ip", "link", "set", "lo", "up")
    redirect("-4", "iptables-restore", "127.0.0.0/8")
    try:
        redirect("-6", "ip6tables-restore", "::1/128")
    except RuntimeError:
        return False
    return True


def make_certificates(folder):
    """An authority, a certificate of it for Envoy, and one for clients. The latter names nobody: Envoy takes a subject for an
    identity where there is no other name."""
    at = lambda name: str(folder / name)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    run("openssl", "req", "-x509", *key, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-subj", "/CN=mesh")
    for name, subject in (("peer", "/CN=peer"), ("nobody", "/")):
        run("openssl", "req", *key, "-keyout", at(f"{name}.key"), "-out", at(f"{name}.csr"), "-subj", subject)
        run("openssl", "x509", "-req", "-in", at(f"{name}.csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial",
            "-days", "2", "-out", at(f"{name}.pem"))


def make_certificate(folder, identity):
    """A certificate of the authority with a SPIFFE identity, made once; with its key in one file."""
    path = folder / (identity.replace("/", "_") + ".pem")
    if not path.exists():
        names = folder / "names"
        names.write_text(f"subjectAltName=URI:{identity}\n")
        run("openssl", "x509", "-req", "-in", str(folder / "peer.csr"), "-CA", str(folder / "ca.pem"), "-CAkey",
            str(folder / "ca.key"), "-CAcreateserial", "-days", "2", "-extfile", str(names), "-out", str(path))
        path.write_text(path.read_text() + (folder / "peer.key").read_text())
    return path


class Backend:
    """Answers HTTP/1 requests with 200; closes everything else once something has come."""

    def __init__(self):
        self.listener = socket.create_server(("::", BACKEND), family=socket.AF_INET6, dualstack_ipv6=True, backlog=128)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        with connection:
            connection.settimeout(10)
            try:
                if b" HTTP/1." in connection.recv(65536).split(b"\r\n")[0]:
                    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            except OSError:
                pass


def is_ours(filter_config):
    """Filters that a stock Envoy does not have, and that let everything pass; and authorizers, taken to allow it."""
    return filter_config["name"] in AUTHORIZERS or filter_config["name"].startswith("istio.") or "TypedStruct" in filter_config.get("typed_config", {}).get("@type", "")


def is_ip(text):
    try:
        return ipaddress.ip_address(text) is not None
    except ValueError:
        return False


class StaticConfig:
    """A proxy's resources as one bootstrap. Endpoints and routes are put where they belong, names that DNS would resolve
    become addresses, TLS uses the certificates of `folder`, and tokens are verified with the proxy's "key_set" where it is
    given; nothing else changes."""

    def __init__(self, resources, folder):
        self.folder = folder
        self.key_set = resources.get("key_set")
        self.names = {}  # address that stands for a name -> name
        self.routes = {r["name"]: r for r in resources["routes"]}
        self.endpoints = {e["cluster_name"]: e for e in resources["endpoints"]}
        self.bootstrap = {
            "node": {"id": "peer", "cluster": "peer"},
            "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": ADMIN}}},
            "static_resources": {"clusters": [self.cluster(c) for c in resources["clusters"]],
                                 "listeners": [self.listener(one) for one in resources["listeners"]]}}

    def cluster(self, cluster):
        cluster = copy.deepcopy(cluster)
        for field in ("transport_socket", "transport_socket_matches", "filters", "dns_lookup_family", "dns_refresh_rate",
                      "respect_dns_ttl", "dns_jitter", "typed_dns_resolver_config"):
            cluster.pop(field, None)
        if cluster.get("type") == "EDS":
            service = cluster.pop("eds_cluster_config").get("service_name") or cluster["name"]
            cluster["load_assignment"] = self.endpoints.get(service, {"cluster_name": service})
        if cluster.get("type") in ("EDS", "STRICT_DNS", "LOGICAL_DNS"):
            cluster["type"] = "STATIC"
        for group in cluster.get("load_assignment", {}).get("endpoints", []):
            for endpoint in group.get("lb_endpoints", []):
                self.resolve(endpoint["endpoint"]["address"].get("socket_address"))
        return cluster

    def resolve(self, address):
        if address and not is_ip(address["address"]):
            stand_in = f"198.18.0.{len(self.names) + 1}"
            self.names[stand_in] = address["address"]
            address["address"] = stand_in

    def log(self, kind):
        return [{"name": "envoy.access_loggers.file", "typed_config": {
            "@type": TYPES + "envoy.extensions.access_loggers.file.v3.FileAccessLog", "path": str(self.folder / "access.log"),
            "log_format": {"json_format": dict(LOG_FIELDS, kind=kind)}}}]

    def listener(self, listener):
        listener = copy.deepcopy(listener)
        listener["access_log"] = self.log("listener")
        chains = listener.get("filter_chains", []) + [listener[k] for k in ("default_filter_chain",) if k in listener]
        for chain in chains:
            self.chain(chain)
        return listener

    def chain(self, chain):
        chain["filters"] = [f for f in chain.get("filters", []) if not is_ours(f)]
        for one in chain["filters"]:
            config = one["typed_config"]
            if config["@type"] == TCP_PROXY:
                config["access_log"] = self.log("tcp")
            elif config["@type"] == MANAGER:
                self.manager(config)
        tls = chain.get("transport_socket", {}).get("typed_config", {})
        if tls.get("@type") == DOWNSTREAM_TLS:
            old = tls["common_tls_context"]
            at = lambda name: {"filename": str(self.folder / name)}
            tls["common_tls_context"] = {
                "tls_certificates": [{"certificate_chain": at("peer.pem"), "private_key": at("peer.key")}],
                "validation_context": {"trusted_ca": at("ca.pem")}, "alpn_protocols": old.get("alpn_protocols", [])}

    def manager(self, config):
        config["access_log"] = self.log("http")
        config.pop("tracing", None)
        config["http_filters"] = [f for f in config["http_filters"] if not is_ours(f)]
        typed = [f["typed_config"] for f in config["http_filters"] if "typed_config" in f]
        for tokens in (one for one in typed if one["@type"] == TOKENS and self.key_set):
            for provider in tokens.get("providers", {}).values():
                provider.pop("remote_jwks", None)
                provider["local_jwks"] = {"inline_string": self.key_set}
        if "rds" in config:
            config["route_config"] = self.routes[config.pop("rds")["route_config_name"]]
        config["route_config"]["validate_clusters"] = False


class Rejected(AssertionError):
    """Envoy does not take the configuration."""


class Envoy:
    """One Envoy at a time, as a context."""

    def __init__(self, binary, config, folder):
        self.folder = folder
        self.log_file = folder / "access.log"
        self.log_file.write_text("")
        path = folder / "bootstrap.json"
        path.write_text(json.dumps(config.bootstrap))
        self.names = config.names
        self.process = subprocess.Popen(
            [binary, "-c", str(path), "--concurrency", "1", "-l", "error", "--disable-hot-restart", "--file-flush-interval-msec",
             "20"], stdout=open(folder / "envoy.log", "wb"), stderr=subprocess.STDOUT)

    def __enter__(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", ADMIN), 5) as probe:
                    probe.sendall(b"GET /ready HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n\r\n")
                    if b"LIVE" in probe.makefile("rb").read():
                        return self
            except OSError:
                pass  # not up yet
            time.sleep(0.02)
        self.__exit__()
        raise Rejected("Envoy does not start: " + (self.folder / "envoy.log").read_text()[-500:])

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def entries(self):
        """What has been logged so far: port -> kind -> entry."""
        found = {}
        for line in self.log_file.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                entry = json.loads(line)
                found.setdefault(str(entry["port"]), {})[entry["kind"]] = entry
        return found

    def logged(self, ports, seconds=60):
        """The log once the connections from these ports have ended. Envoy ends, too: only then all that it logged is
        written."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not {str(p) for p in ports} <= self.entries().keys():
            time.sleep(0.02)
        self.process.terminate()
        self.process.wait(30)
        return self.entries()


def http2_request(call):
    """A request's first frames; header fields as literals (RFC 7541, 6.2.2)."""
    def length(n):  # RFC 7541, 5.1, with a prefix of 7 bits
        if n < 127:
            return bytes([n])
        n, out = n - 127, [127]
        while n >= 128:
            n, out = n >> 7, out + [n & 127 | 128]
        return bytes(out + [n])

    def literal(name, value):
        return b"".join(length(len(t)) + t for t in (name.encode(), value.encode()))
    fields = [(":method", call["method"]), (":scheme", "https" if "tls" in call else "http"), (":authority", call["authority"]), (":path", call["path"])]
    fields += [(h["name"], h["value"]) for h in call["headers"]]
    block = b"".join(b"\x00" + literal(*field) for field in fields)
    frame = lambda kind, flags, stream, body: struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, stream) + body
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 5, 1, block)


def payload(call, application):
    if application == "TCP":
        return b"\x00\x01 neither HTTP nor TLS\n"
    if application == "HTTP/2":
        return http2_request(call)
    lines = [f"{call['method']} {call['path']} {application}", f"host: {call['authority']}"]
    lines += [f"{h['name']}: {h['value']}" for h in call["headers"]]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Caller:
    """Makes calls, each from a port of its own: it tells them apart in the log."""

    def __init__(self, folder, has_ipv6):
        self.folder, self.has_ipv6 = folder, has_ipv6
        self.ports = itertools.cycle(range(20000, 60000))

    def can_call(self, request):
        """Whether the workload has an address that could reach the destination, and this machine a way. Claims without a
        token are the simulation's alone."""
        if "claims" in request:
            return False
        v6 = request["destination"].startswith("[")
        return (self.has_ipv6 or not v6) and (not request["source"] or (":" in request["source"]) == v6)

    def tls(self, connection, wanted):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(wanted["alpn"])
        if wanted["clientCertificate"]:
            if wanted["identity"]:
                context.load_cert_chain(make_certificate(self.folder, wanted["identity"]))
            else:
                context.load_cert_chain(self.folder / "nobody.pem", self.folder / "nobody.key")
        return context.wrap_socket(connection, server_hostname=wanted["serverName"] or None)

    def call(self, request, application):
        """Makes the call. Gives its source port (None: refused) and the first line of what came back."""
        address, _, port = request["destination"].rpartition(":")
        address = address.strip("[]")
        v6 = ":" in address
        connection = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET)
        connection.settimeout(10)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, MARKS[request["direction"]])
        connection.setsockopt(socket.IPPROTO_IPV6 if v6 else socket.IPPROTO_IP, IPV6_FREEBIND if v6 else IP_FREEBIND, 1)
        source = request["source"]
        if not source or (":" in source) != v6:
            source = "2001:db8::10" if v6 else "192.0.2.10"
        try:
            if not ipaddress.ip_address(address).is_loopback:
                connection.bind((source, next(self.ports)))
            connection.connect((address, int(port)))
        except ConnectionRefusedError:
            connection.close()
            return None, b""
        own_port = connection.getsockname()[1]
        answer = b""
        try:
            if "tls" in request:
                connection = self.tls(connection, request["tls"])
                if connection.selected_alpn_protocol() == "h2":  # clients speak the protocol that was chosen
                    application = "HTTP/2"
            connection.sendall(payload(request, application))
            while block := connection.recv(65536):
                answer += block
                if application == "HTTP/2" and len(answer) > 60 or b"\r\n\r\n" in answer:
                    break
        except OSError:
            pass  # closed: the log says why
        finally:
            connection.close()
        return own_port, answer.split(b"\r\n")[0]


def envoy_binary():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    deps = pathlib.Path(os.environ.get("FAIRLEAD_DEPS") or root / ".deps")
    return os.environ.get("ENVOY") or str((deps / "envoy").resolve())
