"""A client of one ADS stream, without a library: gRPC over HTTP/2 on a socket.

    with Stream(port, node) as stream:
        stream.ask(CLUSTER)
        stream.wait_answer()
        stream.say_health("connection refused")
"""
import socket
import struct
import threading
import time

CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
ENDPOINT = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
HEALTH = "type.googleapis.com/istio.v1.HealthInformation"
METHOD = b"/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
WINDOW = 1 << 28


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def struct_value(value):
    """A google.protobuf.Value of texts and mappings."""
    return field(5, struct_fields(value)) if isinstance(value, dict) else field(3, value)


def struct_fields(mapping):
    return b"".join(field(1, field(1, key) + field(2, struct_value(value))) for key, value in mapping.items())


def node_bytes(node):
    return field(1, node["id"]) + field(3, struct_fields(node["metadata"]))


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def request_headers():
    def text(value):
        return bytes([len(value)]) + value
    return b"\x83\x86\x04" + text(METHOD) + b"\x01" + text(b"x") + b"\x0f\x10" + text(b"application/grpc")


class Stream:
    def __init__(self, port, node):
        self.node, self.answers, self.closed, self.rest = node, 0, threading.Event(), b""
        self.changed = threading.Condition()
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.socket.settimeout(None)
        self.lock = threading.Lock()
        window = struct.pack(">I", WINDOW)
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, struct.pack(">H", 4) + window) +
                  frame(WINDOW_UPDATE, 0, 0, window) + frame(HEADERS, 4, 1, request_headers()))
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def send(self, data):
        with self.lock:
            self.socket.sendall(data)

    def request(self, body):
        first, self.node = self.node, None
        body = (field(2, node_bytes(first)) if first else b"") + body
        self.send(frame(DATA, 0, 1, b"\0" + struct.pack(">I", len(body)) + body))

    def ask(self, kind, *names):
        self.request(b"".join(field(3, name) for name in names) + field(4, kind))

    def say_health(self, error=""):
        """Healthy without an error."""
        self.request(field(4, HEALTH) + (field(6, b"\x08\x0d" + field(2, error)) if error else b""))

    def read_exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise OSError("the server has closed")
            data += piece
        return data

    def read(self):
        try:
            while True:
                head = self.read_exactly(9)
                kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
                payload = self.read_exactly(struct.unpack(">I", b"\0" + head[:3])[0])
                if kind == SETTINGS and not flags & 1:
                    self.send(frame(SETTINGS, 1, 0))
                if kind == PING and not flags & 1:
                    self.send(frame(PING, 1, 0, payload))
                if kind == DATA:
                    self.take(payload)
                if stream == 1 and (kind == RST_STREAM or kind in (DATA, HEADERS) and flags & 1):
                    break
        except OSError:
            pass
        self.closed.set()
        with self.changed:
            self.changed.notify_all()

    def take(self, payload):
        self.rest += payload
        while len(self.rest) >= 5 and len(self.rest) >= 5 + struct.unpack(">I", self.rest[1:5])[0]:
            self.rest = self.rest[5 + struct.unpack(">I", self.rest[1:5])[0]:]
            with self.changed:
                self.answers += 1
                self.changed.notify_all()

    def wait_answer(self, seconds=20):
        end = time.monotonic() + seconds
        with self.changed:
            while not self.answers and not self.closed.is_set() and time.monotonic() < end:
                self.changed.wait(0.2)
            if not self.answers:
                raise AssertionError("the stream was closed" if self.closed.is_set() else f"no answer within {seconds} s")

    def wait_closed(self, seconds=20):
        if not self.closed.wait(seconds):
            raise AssertionError(f"the stream is still open after {seconds} s")
        if self.answers:
            raise AssertionError("the stream was served")


def proxy(group, address, name="vm", account="vm", **metadata):
    return {"id": f"sidecar~{address}~{name}.shop~shop.svc.cluster.local",
            "metadata": {"NAMESPACE": "shop", "AUTO_REGISTER_GROUP": group, "SERVICE_ACCOUNT": account, "CLUSTER_ID": "Kubernetes",
                         "PROXY_CONFIG": {"readinessProbe": {"httpGet": {"path": "/ready"}}}, **metadata}}
