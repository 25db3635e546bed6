#!/usr/bin/env python3
"""gRPC's interop client, h2spec and h2load against the transport, on loopback.

Environment: TEST_SERVICE is the server, PEERS the folder of the clients `client` and `h2spec`.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PEERS = pathlib.Path(os.environ["PEERS"])

# Of the interop client's cases, those for a server whose methods answer each message by itself: client_streaming
# and custom_metadata want what no method of Fairlead's does, the rest is of Google's clouds.
INTEROP = ["empty_unary", "large_unary", "server_streaming", "ping_pong", "empty_stream", "timeout_on_sleeping_server",
           "cancel_after_begin", "cancel_after_first_response", "status_code_and_message", "special_status_message",
           "unimplemented_method", "unimplemented_service", "pick_first_unary"]

# What h2spec may find, and why; another finding fails the test. A frame on a closed stream is passed over like one that was
# under way when it closed: closed streams are not kept (ADR 9). 5.1.1/2 is a HEADERS frame on one.
H2SPEC_KNOWN = {"http2/5.1/8", "http2/5.1/9", "http2/5.1/10", "http2/5.1/11", "http2/5.1/12", "http2/5.1.1/2"}
# h2spec's requests are no gRPC, which fields alone answer, at once: mostly before what is wrong with the frames that follow
# is seen. A finding is none where what h2spec saw is that answer, or the RST_STREAM after it.
ANSWERED_AT_ONCE = re.compile(r"\n(HEADERS Frame \(length:\d+, flags:0x05|RST_STREAM Frame \(length:4, flags:0x00), [^\n]*</(error|failure)>")


class Certificate:
    def __init__(self, folder):
        self.key, self.chain = folder / "key.pem", folder / "cert.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", self.key, "-out", self.chain, "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)


class Http2Peers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.certificate = Certificate(pathlib.Path(cls.folder.name))
        cls.server = subprocess.Popen([os.environ["TEST_SERVICE"], cls.certificate.chain, cls.certificate.key],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.plaintext, cls.tls = map(int, cls.server.stdout.readline().split())

    @classmethod
    def tearDownClass(cls):
        cls.server.stdin.close()
        code = cls.server.wait(timeout=30)
        cls.server.stdout.close()
        cls.folder.cleanup()
        assert code == 0, f"the server ended with {code}"

    def call(self, case, *flags):
        got = subprocess.run([PEERS / "client", f"--test_case={case}", "--server_host=localhost", *flags],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(got.returncode, 0, f"{case} {flags}: {got.stderr[-2000:]}")

    def test_interop(self):
        secure = [f"--server_port={self.tls}", "--use_tls", "--use_test_ca", f"--ca_file={self.certificate.chain}"]
        for case in INTEROP:
            for flags in ([f"--server_port={self.plaintext}"], secure):
                with self.subTest(case=case, flags=flags):
                    self.call(case, *flags)

    def test_many_calls_on_one_connection_and_on_one_each(self):
        for case in ("rpc_soak", "channel_soak"):
            self.call(case, f"--server_port={self.plaintext}", "--soak_iterations=200", "--soak_max_failures=0",
                      "--soak_per_iteration_max_acceptable_latency_ms=10000", "--soak_overall_timeout_seconds=60",
                      "--soak_request_size=1000", "--soak_response_size=1000")

    def h2spec(self, *flags):
        """The names of what failed, and how many passed."""
        report = pathlib.Path(self.folder.name) / "h2spec.xml"
        got = subprocess.run([PEERS / "h2spec", "-h", "127.0.0.1", "-t", "-k", "-p", str(self.tls), "-o", "3",
                              "-j", str(report), *flags], capture_output=True, text=True, timeout=240)
        del got  # its code says that there were failures, which are told apart below
        return report.read_text()

    def test_h2spec(self):
        text = self.h2spec()
        failed, passed = set(), 0
        for suite in re.findall(r"<testsuite .*?</testsuite>", text, re.S):
            package = re.search(r'package="([^"]*)"', suite).group(1)
            for number, case in enumerate(re.findall(r"<testcase .*?</testcase>", suite, re.S), 1):
                if "<failure" in case or "<error" in case:
                    if not ANSWERED_AT_ONCE.search(case):
                        failed.add(f"{package}/{number}")
                elif "<skipped" not in case:
                    passed += 1
        self.assertLessEqual(failed, H2SPEC_KNOWN)
        self.assertGreater(passed, 125)

    def test_h2load(self):
        message = pathlib.Path(self.folder.name) / "message"
        message.write_bytes(b"\0\0\0\0\3\x10\xe8\x07")  # a SimpleRequest for an answer of 1,000 bytes
        for url in (f"http://127.0.0.1:{self.plaintext}", f"https://127.0.0.1:{self.tls}"):
            got = subprocess.run(["h2load", "-n", "5000", "-c", "20", "-m", "50", "-d", message, "-H", "te: trailers",
                                  "-H", "content-type: application/grpc", f"{url}/grpc.testing.TestService/UnaryCall"],
                                 capture_output=True, text=True, timeout=120)
            self.assertRegex(got.stdout, r"5000 succeeded, 0 failed, 0 errored, 0 timeout", got.stdout + got.stderr)


if __name__ == "__main__":
    unittest.main()
