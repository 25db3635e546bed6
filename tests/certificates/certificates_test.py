#!/usr/bin/env python3
"""Certificates from end to end: `fairlead discovery` with its own authority, `fairlead agent` and a real Envoy that speaks
xDS over TLS with the certificate that its agent got. Needs root, for a network namespace, and OpenSSL's program.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from issuer import AUDIENCE, Issuer  # noqa: E402
from mesh import enter_own_network, envoy_binary  # noqa: E402

XDS, PLAINTEXT, MONITORING, ADMIN, SIGNER = 15012, 15010, 15014, 15000, 18888
LIFETIME = 12  # seconds, of certificates; half of it is renewed at
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.0.0.10, ports: [{name: http, port: 80}], selector: {app: web}}
"""
RULE = """
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: web, namespace: shop}}
spec: {{host: web, trafficPolicy: {{tls: {{mode: SIMPLE, caCertificates: {}}}}}}}
"""


def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return ""


def wait_until(what, holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)


class Setting:
    """A folder with all that the programs keep, and the programs."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        for name in ("mesh", "agent"):
            (self.folder / name).mkdir()
        (self.folder / "mesh" / "service.yaml").write_text(SERVICE)
        self.issuer = Issuer(self.folder / "issuer")
        self.programs = {}
        self.flags, self.environment, self.agent_environment = [], {}, {}  # more than the usual
        self.roots = self.folder / "ca" / "root-cert.pem"  # of the server

    def write_token(self, account, seconds=3600, audience=AUDIENCE):
        claims = {"aud": [audience], "exp": int(time.time()) + seconds, "sub": f"system:serviceaccount:{account}"}
        (self.folder / "token").write_text(self.issuer.token(claims))

    def start(self, name, words, environment, folder="."):
        with open(self.folder / f"{name}.log", "a") as log:
            self.programs[name] = subprocess.Popen([os.environ["FAIRLEAD"], *map(str, words)], stdout=log, stderr=log,
                                                   cwd=self.folder / folder, env=os.environ | environment)

    def stop(self, name):
        program = self.programs.pop(name, None)
        if program is not None:
            program.send_signal(signal.SIGTERM)
            program.wait()

    def start_signer(self):
        """CFSSL with an authority of its own; what the server is told of it."""
        folder = self.folder / "signer"
        folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-keyout", "ca-key.pem", "-out", "root-cert.pem", "-subj", "/O=signer"], cwd=folder, check=True, capture_output=True)
        (folder / "secret").write_text("sesame")
        # Of the listener's own certificate: the signer gives workloads theirs, and nobody else.
        names = folder / "names"
        names.write_text("subjectAltName=DNS:localhost")
        for words in (["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "tls.key", "-out", "tls.csr", "-subj", "/"],
                      ["x509", "-req", "-in", "tls.csr", "-CA", "root-cert.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "2",
                       "-extfile", "names", "-out", "tls.crt"]):
            subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
        with open(self.folder / "signer.log", "a") as log:
            self.programs["signer"] = subprocess.Popen(
                [os.environ["EXTERNAL_SIGNER"], "-addr", f"127.0.0.1:{SIGNER}", "-cert", "root-cert.pem", "-key", "ca-key.pem", "-token",
                 "secret", "-lifetime", "10m"], cwd=folder, stdout=log, stderr=log)
        self.flags = [f"--tlsCertFile={folder}/tls.crt", f"--tlsKeyFile={folder}/tls.key"]
        self.environment = {"FAIRLEAD_SIGNER_URL": f"http://127.0.0.1:{SIGNER}/api/v1/cfssl/sign",
                            "FAIRLEAD_SIGNER_TOKEN": str(folder / "secret"), "ROOT_CA_DIR": str(folder)}
        self.roots = folder / "root-cert.pem"
        # CFSSL counts in minutes, so that a certificate's end is not waited for.
        self.agent_environment = {"SECRET_GRACE_PERIOD_RATIO": "1", "SECRET_GRACE_PERIOD_RATIO_JITTER": "0"}

    def start_server(self):
        self.start("server", [
            "discovery", "--configDir", "mesh", "--meshConfig=", "--networksConfig=", "--grpcAddr=", "--httpAddr=",
            "--httpsAddr=", f"--secureGRPCAddr=127.0.0.1:{XDS}", f"--monitoringAddr=127.0.0.1:{MONITORING}",
            "--shutdownDuration=1s", "--stateDir=", *self.flags], {
                "TOKEN_ISSUER": self.issuer.name, "FAIRLEAD_TOKEN_KEYS": str(self.issuer.public_key),
                "ISTIOD_CUSTOM_HOST": "localhost", "FAIRLEAD_CA_DIR": str(self.folder / "ca"),
                **self.environment})
        wait_until("the server gives certificates", lambda: self.roots.exists() and
                   fetch(f"http://127.0.0.1:{MONITORING}/metrics"))

    def start_agent(self):
        self.start("agent", [
            "agent", "sidecar", "--discoveryAddress", f"localhost:{XDS}", "--binaryPath", envoy_binary(),
            "--proxyAdminPort", ADMIN, "--envoyPrometheusPort", 0, "--terminationDrainDuration", "0s"], {
                "XDS_ROOT_CA": str(self.roots), "INSTANCE_IP": "127.0.0.1",
                "FAIRLEAD_TOKEN_FILE": str(self.folder / "token"), "POD_NAME": "web-1", "POD_NAMESPACE": "shop",
                "SERVICE_ACCOUNT": "web", "ECC_SIGNATURE_ALGORITHM": "ECDSA", "SECRET_TTL": f"{LIFETIME}s",
                "ISTIO_META_INTERCEPTION_MODE": "NONE",
                "PROXY_CONFIG": '{"proxyStatsMatcher": {"inclusionPrefixes": ["control_plane"]}}', **self.agent_environment}, "agent")

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()

    def close(self):
        for name in list(self.programs):
            self.stop(name)
        self.temporary.cleanup()


def issued():
    found = re.search(r"^citadel_server_success_cert_issuance_count (\d+)", fetch(f"http://127.0.0.1:{MONITORING}/metrics"), re.M)
    return int(found[1]) if found else 0


def shown_by_envoy():
    """The serial numbers of certificates with the workload's identity that Envoy has."""
    text = fetch(f"http://127.0.0.1:{ADMIN}/certs")
    chains = [chain for one in json.loads(text or "{}").get("certificates", []) for chain in one.get("cert_chain", [])]
    return {chain["serial_number"] for chain in chains
            if {"uri": "spiffe://cluster.local/ns/shop/sa/web"} in chain["subject_alt_names"]}


def is_connected():
    return "control_plane.connected_state: 1" in fetch(f"http://127.0.0.1:{ADMIN}/stats?filter=control_plane")


class CertificatesTest(unittest.TestCase):
    def setUp(self):
        self.setting = Setting()
        self.addCleanup(self.setting.close)
        self.setting.start_server()
        if "nothing listens on" in self.setting.log("server"):
            self.skipTest("the transport has no TLS")

    def test_renewal_and_outage(self):
        setting = self.setting
        setting.write_token("shop:web")
        setting.start_agent()
        wait_until("Envoy has its certificate and its configuration", lambda: shown_by_envoy() and is_connected())
        first = shown_by_envoy()
        # From now on the agent proves itself by the certificate that it has.
        (setting.folder / "token").unlink()
        wait_until("the certificate is renewed", lambda: shown_by_envoy() and not shown_by_envoy() & first)
        setting.stop("server")
        before = shown_by_envoy()
        wait_until("the agent asks in vain", lambda: "the present one holds" in setting.log("agent"))
        self.assertEqual(shown_by_envoy(), before)
        setting.start_server()
        wait_until("the certificate is renewed after the outage", lambda: shown_by_envoy() and not shown_by_envoy() & before)
        wait_until("Envoy is connected again", is_connected)
        for name in ("server", "agent"):
            self.assertNotIn("PRIVATE KEY", setting.log(name))

    def test_a_signer_elsewhere(self):
        setting = self.setting
        setting.stop("server")
        setting.start_signer()
        setting.start_server()
        setting.write_token("shop:web")
        setting.start_agent()
        wait_until("Envoy has its certificate and its configuration", lambda: shown_by_envoy() and is_connected())
        first = shown_by_envoy()
        wait_until("the certificate is renewed", lambda: shown_by_envoy() and not shown_by_envoy() & first)
        setting.stop("signer")
        wait_until("the agent asks in vain", lambda: "the present one holds" in setting.log("agent"))
        self.assertTrue(shown_by_envoy() and is_connected())
        self.assertIn("the signer cannot be asked", setting.log("server"))

    def test_who_proves_nothing_gets_nothing(self):
        setting = self.setting
        for account, seconds, audience in ("shop:web", -1, "istio-ca"), ("shop:web", 60, "other"), ("web", 60, "istio-ca"):
            setting.write_token(account, seconds, audience)
            setting.start_agent()
            wait_until("the agent is refused", lambda: "request authenticate failure" in setting.log("agent"))
            setting.stop("agent")
            (setting.folder / "agent.log").unlink()
        self.assertEqual(issued(), 0)

    def test_what_lacks_is_said_with_the_way_out(self):
        """Within two seconds of the agent's start, each."""
        setting = self.setting
        setting.write_token("shop:web")
        token, good = setting.folder / "token", str(setting.roots)
        nothing, other = setting.folder / "nothing", setting.folder / "other.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                        "/dev/null", "-out", other, "-subj", "/O=other"], check=True, capture_output=True)
        for what, environment, *texts in (
                ("token", {"FAIRLEAD_TOKEN_FILE": str(nothing)}, f"no token for the workload's identity: {nothing}: No such file",
                 "`fairlead token` makes one"),
                ("root", {"XDS_ROOT_CA": str(nothing)}, f"no root that vouches for the control plane: {nothing}: No such file",
                 "root-cert.pem in its --stateDir"),
                ("other root", {"XDS_ROOT_CA": str(other)}, "has another root than the control plane's"),
                ("name", {"ISTIOD_SAN": "example.com"}, "hostname mismatch: the certificate is for ", "localhost", "ISTIOD_SAN says which"),
                ("port", {"CA_ADDR": f"127.0.0.1:{MONITORING}"}, f"127.0.0.1:{MONITORING}: ", "this port speaks no TLS and hands out no certificates"),
                ("nobody", {"CA_ADDR": "127.0.0.1:15999"}, "nothing listens there")):
            setting.agent_environment = {"XDS_ROOT_CA": good, "FAIRLEAD_TOKEN_FILE": str(token), **environment}
            setting.start_agent()
            with self.subTest(what):
                wait_until(f"{what}: {texts} in {setting.log('agent')}",
                           lambda: all(text in setting.log("agent") for text in ("no certificate: ", *texts)), 2)
                wait_until(f"{what}: it is told once more as what the agent lacks",
                           lambda: "Envoy is not ready after" in setting.log("agent"), 10)
                self.assertIn(texts[0], setting.log("agent").split("Envoy is not ready after", 1)[1])
            setting.stop("agent")
            (setting.folder / "agent.log").unlink()

    def test_a_port_without_certificates(self):
        setting = self.setting
        setting.stop("server")
        setting.start("server", ["discovery", "--configDir", "mesh", "--meshConfig=", "--networksConfig=", f"--grpcAddr=127.0.0.1:{PLAINTEXT}",
                                 "--httpAddr=", "--httpsAddr=", "--secureGRPCAddr=", f"--monitoringAddr=127.0.0.1:{MONITORING}", "--stateDir="], {})
        wait_until("the server is there", lambda: fetch(f"http://127.0.0.1:{MONITORING}/metrics"))
        setting.start("agent", ["agent", "sidecar", "--discoveryAddress", f"localhost:{PLAINTEXT}", "--binaryPath", envoy_binary(),
                                "--terminationDrainDuration", "0s"], {"INSTANCE_IP": "127.0.0.1", "POD_NAMESPACE": "shop"}, "agent")
        wait_until("it says so", lambda: f"no certificate: the control plane at localhost:{PLAINTEXT} hands out none on this port; "
                   "discovery's port that does is 15012" in setting.log("agent"), 3)

    def test_a_ca_file_that_is_not_there(self):
        setting = self.setting
        setting.write_token("shop:web")
        missing = setting.folder / "nosuch.pem"
        (setting.folder / "mesh" / "rule.yaml").write_text(RULE.format(missing))
        wait_until("the rule counts", lambda: "for DestinationRule" in setting.log("server"))
        setting.start_agent()
        wait_until("the file is named", lambda: f"file-root:{missing}: {missing}: No such file or directory" in setting.log("agent"), 10)
        wait_until("and that it is waited for",
                   lambda: "what needs it waits" in setting.log("agent"), 10)
        missing.write_text(setting.roots.read_text())
        wait_until("Envoy is ready", lambda: "LIVE" in fetch(f"http://127.0.0.1:{ADMIN}/ready"), 10)

    def test_a_node_of_another_namespace_is_refused(self):
        setting = self.setting
        setting.write_token("other:web")
        setting.start_agent()
        wait_until("the stream is refused", lambda: "authorization failed" in setting.log("server"))
        self.assertFalse(is_connected() and "lds.update_success: 1" in fetch(f"http://127.0.0.1:{ADMIN}/stats?filter=lds"))


if __name__ == "__main__":
    enter_own_network()
    unittest.main()
