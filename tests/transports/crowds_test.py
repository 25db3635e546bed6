#!/usr/bin/env python3
"""Clients without identity by the thousand: connections that say nothing, heads that never end, streams without a message.
Beside each of these crowds probes, metrics, streams, TLS and edits of the folder go on as if nobody were there.

On loopback, with a limit of files that is soon reached. Environment: FAIRLEAD.
"""
import os
import pathlib
import resource
import select
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

FILES = 1000  # of the server; it starts with few of them, and is to raise that by itself
SOON = 2.0  # seconds; well-behaved clients wait for 5 at least, and machines that test are busy

MESH = """apiVersion: v1
kind: Service
metadata: {name: NAME, namespace: a}
spec:
  clusterIP: ADDRESS
  ports: [{name: http, port: 80}]
"""
STREAM = b"/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY = 0, 1, 4, 6, 7


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def request_block():
    def text(value):
        return bytes([len(value)]) + value
    return b"\x83\x86\x04" + text(STREAM) + b"\x01" + text(b"x") + b"\x0f\x10" + text(b"application/grpc")


def field(number, value):
    return bytes([number << 3 | 2, len(value)]) + value


def first_message(name):
    node = field(1, f"sidecar~10.1.0.1~{name}.a~a.svc.cluster.local".encode())
    body = field(2, node) + field(4, b"type.googleapis.com/envoy.config.cluster.v3.Cluster")
    return b"\0" + struct.pack(">I", len(body)) + body


def free_ports(count):
    taken = [socket.socket() for _ in range(count)]
    for one in taken:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


class Server:
    def __init__(self, **environment):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="crowds-"))
        (self.folder / "mesh").mkdir()
        self.write("web", "10.96.0.1")
        self.xds, self.tls, self.http, self.monitoring = free_ports(4)
        self.log = open(self.folder / "log", "w+")
        words = [os.environ["FAIRLEAD"], "discovery", "--configDir", self.folder / "mesh", "--stateDir", self.folder / "state",
                 "--ctrlz_port", "0"]
        for flag, port in (("grpc", self.xds), ("secureGRPC", self.tls), ("http", self.http), ("monitoring", self.monitoring)):
            words += [f"--{flag}Addr", f"127.0.0.1:{port}"]
        self.process = subprocess.Popen(
            words, cwd=self.folder, stdout=self.log, stderr=subprocess.STDOUT, env={**os.environ, **environment},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, FILES)))
        self.until(lambda: self.get("/ready", self.http) == 200, "ready", 60)

    def write(self, name, address):
        fresh = self.folder / "new"
        fresh.write_text(MESH.replace("NAME", name).replace("ADDRESS", address))
        fresh.rename(self.folder / "mesh" / f"{name}.yaml")

    def until(self, so, what, seconds=SOON):
        end = time.monotonic() + seconds
        while not so():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"not {what} within {seconds} s: {self.text()[-2000:]}")
            time.sleep(0.02)

    def text(self):
        return (self.folder / "log").read_text()

    def get(self, path, port, seconds=SOON):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=seconds) as answer:
                answer.read()
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        self.process.terminate()
        code = self.process.wait(timeout=60)
        self.log.close()
        shutil.rmtree(self.folder)
        assert code == 0, f"the server ended with {code}"


def connections(port, count, first=b""):
    """So many of them at once, as many as are taken within a few seconds."""
    waiting, out, poll = {}, [], select.epoll()
    for _ in range(count):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(("127.0.0.1", port))
        waiting[one.fileno()] = one
        poll.register(one.fileno(), select.EPOLLOUT)
    end = time.monotonic() + 10
    while waiting and time.monotonic() < end:
        for number, _ in poll.poll(0.2):
            one = waiting.pop(number)
            poll.unregister(number)
            try:
                if first:
                    one.send(first)
                out.append(one)
            except OSError:
                one.close()
    for one in waiting.values():
        one.close()
    poll.close()
    return out


def standing(sockets):
    """Those that the server has not ended; they answer its pings, as anybody can."""
    alive = []
    for one in sockets:
        one.setblocking(False)
        try:
            heard = one.recv(65536)
            if not heard:
                one.close()
                continue
            ping = heard.find(frame(PING, 0, 0, b"12345678")[:9])
            if ping >= 0:
                one.send(frame(PING, 1, 0, heard[ping + 9:ping + 17]))
        except BlockingIOError:
            pass
        except OSError:
            one.close()
            continue
        alive.append(one)
    return alive


class Crowds(unittest.TestCase):
    environment = {}

    def setUp(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (8192, max(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
        self.sockets = []
        self.server = Server(**self.environment)

    def tearDown(self):
        for one in self.sockets:
            one.close()
        self.server.stop()

    def streams(self):
        """Whether a new stream is answered."""
        with socket.create_connection(("127.0.0.1", self.server.xds), timeout=SOON) as one:
            one.sendall(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 4, 1, request_block()) +
                        frame(DATA, 0, 1, first_message("new")))
            heard = b""
            while b"cluster.v3.Cluster" not in heard:
                more = one.recv(65536)
                if not more:
                    return False
                heard += more
            return True

    def shakes_hands(self):
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        trusting.set_alpn_protocols(["h2"])
        with socket.create_connection(("127.0.0.1", self.server.tls), timeout=SOON) as one:
            with trusting.wrap_socket(one) as secure:
                return secure.selected_alpn_protocol() == "h2"

    def expect_service(self):
        for attempt in range(5):
            self.assertEqual(self.server.get("/ready", self.server.http), 200, attempt)
            self.assertEqual(self.server.get("/metrics", self.server.monitoring), 200, attempt)
            self.assertTrue(self.streams(), attempt)
            self.assertTrue(self.shakes_hands(), attempt)
        name = f"web{time.monotonic_ns()}"
        self.server.write(name, "10.96.0.2")
        self.server.until(lambda: name in self.server.text(), "the edit is read", 10)
        self.assertLess(self.server.files(), FILES - 100, "the rest is for folders and certificates")
        self.assertNotIn("no connection can be accepted", self.server.text())

    def test_silent_connections_to_the_pages(self):
        self.sockets = connections(self.server.http, 1500)
        done = threading.Event()

        def go_on():
            while not done.wait(0.005):
                self.sockets += connections(self.server.http, 5)[:5]
        crowd = threading.Thread(target=go_on)
        crowd.start()
        try:
            self.expect_service()
        finally:
            done.set()
            crowd.join()

    def test_heads_that_never_end(self):
        self.sockets = connections(self.server.http, 1100, b"POST /v3/discovery:clusters HTTP/1.1\r\nHost: x\r\nX: ")
        self.expect_service()
        end = time.monotonic() + 8
        while self.sockets and time.monotonic() < end:
            for one in self.sockets:
                try:
                    one.send(b"a")
                except OSError:
                    pass
            self.sockets = standing(self.sockets)
            time.sleep(0.5)
        self.assertEqual(self.sockets, [], "5 s are for a head")

    def test_connections_without_a_stream(self):
        self.sockets = connections(self.server.xds, 1500, PREFACE + frame(SETTINGS, 0, 0))
        self.expect_service()
        for _ in range(2):  # each has the server's greeting first
            self.sockets = standing(self.sockets)
        self.assertLess(len(self.sockets), FILES)

    def test_streams_without_a_message(self):
        one = connections(self.server.xds, 1, PREFACE + frame(SETTINGS, 0, 0))[0]
        self.sockets = [one]
        one.settimeout(10)
        for stream in range(1, 100001, 2):
            try:
                one.sendall(frame(HEADERS, 4, stream, request_block()))
            except OSError:
                break
        try:
            while one.recv(65536):
                pass
        except TimeoutError:
            self.fail("50,000 streams were taken")
        except ConnectionError:
            pass
        self.expect_service()


class ShortTimes(Crowds):
    """The same with times that a test can wait for."""
    environment = {"FAIRLEAD_CONNECTION_IDLE": "2s", "FAIRLEAD_FIRST_MESSAGE_TIMEOUT": "1s"}
    test_silent_connections_to_the_pages = test_heads_that_never_end = test_streams_without_a_message = None

    def expect_end(self):
        end = time.monotonic() + 12
        while self.sockets and time.monotonic() < end:
            self.sockets = standing(self.sockets)
            time.sleep(0.2)
        self.assertEqual(self.sockets, [])

    def test_connections_without_a_stream(self):
        self.sockets = connections(self.server.xds, 20, PREFACE + frame(SETTINGS, 0, 0))
        self.expect_end()

    def test_what_has_no_first_message_has_no_stream_in_the_end(self):
        self.sockets = connections(self.server.xds, 20, PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 4, 1, request_block()))
        self.expect_end()

    def test_a_stream_stays_that_has_said_something(self):
        self.sockets = connections(self.server.xds, 1, PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 4, 1, request_block()) +
                                   frame(DATA, 0, 1, first_message("quiet")))
        end = time.monotonic() + 6
        while time.monotonic() < end:
            self.sockets = standing(self.sockets)
            self.assertEqual(len(self.sockets), 1)
            time.sleep(0.2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
