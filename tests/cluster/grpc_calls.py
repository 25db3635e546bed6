"""Single gRPC calls over TLS by curl, and the few protobuf messages that tests of identities need.

    calls = Calls(15012, "root-cert.pem")
    status, why, certificates = calls.certificate(csr, token)
    status, why, body = calls.secrets(["kubernetes://web"], "shop", token)
"""
import pathlib
import struct
import subprocess
import tempfile


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def struct_of(**texts):
    """A google.protobuf.Struct of texts."""
    return b"".join(field(1, field(1, name) + field(2, field(3, text))) for name, text in texts.items())


def fields(message):
    """(number, bytes) of a message's fields that have a length."""
    at, found = 0, []

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(message):
        key = take()
        if key & 7 == 2:
            size = take()
            found.append((key >> 3, message[at:at + size]))
            at += size
        else:
            assert key & 7 == 0, "only texts, messages and numbers"
            take()
    return found


class Calls:
    def __init__(self, port, roots, host="localhost"):
        self.url, self.roots = f"https://{host}:{port}", str(roots)

    def call(self, path, message, headers=()):
        """(gRPC status, its message, the answer's bytes)."""
        with tempfile.TemporaryDirectory() as folder:
            request, heads, body = (pathlib.Path(folder, name) for name in ("request", "heads", "body"))
            request.write_bytes(b"\0" + struct.pack(">I", len(message)) + message)
            words = [word for header in ("content-type: application/grpc", "te: trailers", *headers) for word in ("-H", header)]
            done = subprocess.run(["curl", "-sS", "--http2", "-m", "15", "--cacert", self.roots, "-D", heads, "-o", body, "--data-binary", f"@{request}",
                                   *words, self.url + path], capture_output=True, text=True)
            said = dict(line.split(": ", 1) for line in heads.read_text().splitlines() if ": " in line) if heads.exists() else {}
            answer = body.read_bytes()[5:] if body.exists() else b""
        if "grpc-status" not in said:
            raise OSError(f"{path}: no answer: {done.stderr}")
        return int(said["grpc-status"]), said.get("grpc-message", ""), answer

    @staticmethod
    def proof(token, cluster=""):
        return ([f"authorization: Bearer {token}"] if token else []) + ([f"clusterid: {cluster}"] if cluster else [])

    def certificate(self, csr, token, cluster="", seconds=0, **metadata):
        message = field(1, csr) + field(3, seconds) + (field(4, struct_of(**metadata)) if metadata else b"")
        status, why, answer = self.call("/istio.v1.auth.IstioCertificateService/CreateCertificate", message, self.proof(token, cluster))
        return status, why, [text.decode() for number, text in fields(answer) if number == 1]

    def secrets(self, names, namespace, token, account="web", cluster="", kind="sidecar", header_cluster=""):
        """(gRPC status, its message, the response's bytes) of a poll for secrets."""
        metadata = struct_of(NAMESPACE=namespace, SERVICE_ACCOUNT=account, **({"CLUSTER_ID": cluster} if cluster else {}))
        node = field(1, f"{kind}~10.255.0.1~{account}-0.{namespace}~{namespace}.svc.cluster.local") + field(3, metadata)
        message = field(2, node) + b"".join(field(3, name) for name in names) + field(
            4, "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret")
        return self.call("/envoy.service.secret.v3.SecretDiscoveryService/FetchSecrets", message, self.proof(token, header_cluster))


def signing_request(identity):
    """(CSR in PEM, its key) with an identity as its only name, as agents make them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key", "-out", "csr",
                        "-subj", "/", "-addext", f"subjectAltName=critical,URI:{identity}"], cwd=folder, check=True, capture_output=True)
        return pathlib.Path(folder, "csr").read_text(), pathlib.Path(folder, "key").read_text()


def names_of(certificate):
    """What openssl says of a certificate's names."""
    return subprocess.run(["openssl", "x509", "-noout", "-ext", "subjectAltName"], input=certificate, capture_output=True, text=True, check=True).stdout
