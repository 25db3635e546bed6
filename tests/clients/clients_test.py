#!/usr/bin/env python3
"""gRPC's own xDS clients, without a proxy: a folder of manifests, Fairlead, real servers, real calls.

grpc-go, grpc-js and gRPC C++ do the same tests. All run in a network namespace of the test's own, so ports are free;
that needs root. Environment: FAIRLEAD, CLIENT_GO, CLIENT_CPP are programs, NODE_PATH has grpc-js's packages.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from mesh import enter_own_network, fetch, replace_atomically, wait_until  # noqa: E402

XDS, HTTP, MONITORING = 15010, 8080, 15014
ECHO = "echo.echo.svc.cluster.local"  # the others are called by short names
CLIENT_IP, SECURE_IP = "127.0.12.1", "127.0.11.4"
FIVE_SIGMA = 5


class Certificates:
    """A root and certificates with SPIFFE identities, as the bootstrap's certificate provider reads them."""

    def __init__(self, folder):
        self.folder = folder
        self._openssl("req", "-x509", "-subj", "/O=cluster.local", *self._key(folder / "root.key"), "-out", folder / "root.pem")

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _key(self, path):
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path

    def of(self, account):
        """The folder of an account's key, certificate and root."""
        own = self.folder / f"certificates-{account}"
        own.mkdir()
        shutil.copy(self.folder / "root.pem", own / "root-cert.pem")
        (own / "extensions").write_text(f"subjectAltName=critical,URI:spiffe://cluster.local/ns/echo/sa/{account}\n")
        self._openssl("req", "-subj", "/", *self._key(own / "key.pem"), "-out", own / "request.pem")
        self._openssl("x509", "-req", "-in", own / "request.pem", "-CA", self.folder / "root.pem", "-CAkey",
                      self.folder / "root.key", "-CAcreateserial", "-extfile", own / "extensions", "-out", own / "cert-chain.pem")
        return own


class Setting:
    """Fairlead over a folder, and servers. Entered once for all tests."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-clients-"))
        self.config = self.folder / "mesh"
        shutil.copytree(HERE / "manifests", self.config)
        self.certificates = Certificates(self.folder)
        self.processes = []

    def start(self, command, log, **arguments):
        with open(self.folder / f"{log}.log", "a") as output:
            process = subprocess.Popen(list(map(str, command)), stderr=output, **arguments)
        self.processes.append(process)
        return process

    def start_fairlead(self):
        self.fairlead = self.start(
            [os.environ["FAIRLEAD"], "discovery", "--configDir", self.config, "--grpcAddr", f"127.0.0.1:{XDS}",
             "--httpAddr", f"127.0.0.1:{HTTP}", "--monitoringAddr", f"127.0.0.1:{MONITORING}", "--httpsAddr", "",
             "--secureGRPCAddr", "", "--stateDir="], "fairlead", stdout=subprocess.DEVNULL)
        wait_until("Fairlead is ready", self.ready, 60)

    def kill_fairlead(self):
        self.fairlead.kill()
        self.fairlead.wait()

    @staticmethod
    def ready():
        try:
            return fetch(f"http://127.0.0.1:{HTTP}/ready") is not None
        except OSError:
            return False

    def start_servers(self, *names_and_addresses, bootstrap=None):
        options = ["-xds"] if bootstrap else []
        process = self.start([os.environ["CLIENT_GO"], "server", *names_and_addresses, *options], names_and_addresses[0],
                             stdout=subprocess.PIPE, text=True, env=self.environment(bootstrap))
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"servers do not listen:\n{self.logs()}")
        return process

    def bootstrap(self, name, ip, certificates=None):
        """Writes what a gRPC library is started with: what `fairlead agent` prints for it."""
        path = self.folder / f"{name}.json"
        environment = {"POD_NAME": name, "POD_NAMESPACE": "echo", "INSTANCE_IP": ip, "ISTIO_META_CLUSTER_ID": "Kubernetes",
                       **({"OUTPUT_CERTS": str(certificates)} if certificates else {})}
        with open(path, "w") as output:
            subprocess.run([os.environ["FAIRLEAD"], "agent", "grpc-bootstrap", f"--discoveryAddress=127.0.0.1:{XDS}"],
                           check=True, env=environment, stdout=output)
        return path

    @staticmethod
    def environment(bootstrap):
        return {**os.environ, "GRPC_XDS_BOOTSTRAP": str(bootstrap)} if bootstrap else None

    def rejects(self):
        metrics = fetch(f"http://127.0.0.1:{MONITORING}/metrics")
        return [line for line in metrics.splitlines() if line.startswith("pilot_total_xds_rejects") and not line.endswith(" 0")]

    def logs(self):
        return "\n".join(f"--- {log.name}\n{log.read_text()[-2000:]}" for log in self.folder.glob("*.log"))

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def setUpModule():
    global setting
    enter_own_network()
    setting = Setting()
    unittest.addModuleCleanup(setting.stop)
    setting.start_fairlead()
    setting.start_servers(*(f"v{n}=127.0.11.{n}:7000" for n in (1, 2, 3)))
    for library in (GrpcJs, GrpcGo, GrpcCpp):  # at once: Node takes its time to start
        library.client = Client(library.command(), library.__name__)


class Client:
    """A process that calls services, batch after batch."""

    def __init__(self, command, name, certificates=None):
        bootstrap = setting.bootstrap(name, CLIENT_IP, certificates)
        self.process = setting.start(command, name, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                     env=setting.environment(bootstrap))

    def call(self, service, count, method="Say", **headers):
        order = {"target": f"xds:///{service}:7000", "count": count, "method": method,
                 "headers": {key.replace("_", "-"): value for key, value in headers.items()}}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the client is gone:\n{setting.logs()}")
        return json.loads(line)


class Edited:
    """A manifest with other text for a while."""

    def __init__(self, name, *replacements):
        self.path = setting.config / name
        self.before = self.path.read_text()
        self.after = self.before
        for old, new in replacements:
            assert old in self.after, old
            self.after = self.after.replace(old, new)

    def __enter__(self):
        replace_atomically(self.path, self.after)

    def __exit__(self, *_):
        replace_atomically(self.path, self.before)


class ClientTests:
    """What each library has to do: `command` starts it, `client` is the process."""

    def answers(self, service, count, *method, **headers):
        outcome = self.client.call(service, count, *method, **headers)
        self.assertEqual(outcome["errors"], {}, setting.logs())
        return outcome["answers"]

    def setUp(self):
        self.rejects = setting.rejects()

    def tearDown(self):
        self.assertEqual(setting.rejects(), self.rejects, setting.logs())

    def test_calls_are_spread_over_the_endpoints(self):
        answers = self.answers("pool", 30)
        self.assertEqual(set(answers), {"v1", "v2", "v3"}, answers)

    def test_calls_are_split_by_weight(self):
        count, share = 400, 0.25
        bound = FIVE_SIGMA * (count * share * (1 - share)) ** 0.5
        answers = self.answers(ECHO, count)
        self.assertEqual(sum(answers.values()), count)
        self.assertAlmostEqual(answers["v2"], count * share, delta=bound, msg=answers)

    def test_a_route_retries(self):
        self.assertEqual(self.answers(ECHO, 8, "Flaky"), {"v1": 8})
        with Edited("echo-routes.yaml", ("attempts: 2, retryOn: unavailable", "attempts: 0")):
            wait_until("nothing is retried", lambda: not self.client.call(ECHO, 5, "Flaky")["answers"])
        wait_until("calls are retried again", lambda: not self.client.call(ECHO, 5, "Flaky")["errors"])

    def test_a_route_limits_the_time(self):
        errors = self.client.call(ECHO, 1, "Slow")["errors"]
        self.assertRegex(" ".join(errors), "(?i)deadline.?exceeded")

    def test_a_route_injects_a_fault(self):
        errors = self.client.call(ECHO, 1, "Denied")["errors"]  # the servers have no such method
        self.assertRegex(" ".join(errors), "(?i)permission.?denied|^7 ")

    def test_weights_shift_under_calls(self):
        with Edited("echo-routes.yaml", ("weight: 75", "weight: 0"), ("weight: 25", "weight: 100")):
            wait_until("all calls go to v2", lambda: set(self.answers(ECHO, 40)) == {"v2"})
        wait_until("both are called again", lambda: set(self.answers(ECHO, 40)) == {"v1", "v2"})

    def test_a_killed_control_plane_fails_no_call_and_is_found_again(self):
        for service in ("pool", ECHO):  # what was never asked for fails while nobody is there
            self.answers(service, 30)
        setting.kill_fairlead()
        self.assertEqual(set(self.answers("pool", 30)), {"v1", "v2", "v3"})
        setting.start_fairlead()
        with Edited("echo-routes.yaml", ("weight: 75", "weight: 0"), ("weight: 25", "weight: 100")):
            wait_until("all calls go to v2", lambda: set(self.answers(ECHO, 40)) == {"v2"})
        wait_until("both are called again", lambda: set(self.answers(ECHO, 40)) == {"v1", "v2"})

    def test_a_removed_endpoint_fails_no_call(self):
        whole = (setting.config / "pool-endpoints.yaml").read_text()
        last = whole[whole.index("- addresses: [127.0.11.3]"):]
        with Edited("pool-endpoints.yaml", (last, "")):
            wait_until("v3 is called no more", lambda: set(self.answers("pool", 30)) == {"v1", "v2"})
        wait_until("v3 is called again", lambda: set(self.answers("pool", 30)) == {"v1", "v2", "v3"})


class NewerTests:
    """What gRPC C++ 1.51 cannot: it knows no string_match of headers (gRPC proposal A63) and crashes when it hashes
    (grpc/grpc#31766)."""

    def test_a_header_chooses_the_route(self):
        self.assertEqual(self.answers("headers.echo", 50, x_user="tester"), {"v2": 50})
        self.assertEqual(self.answers("headers.echo", 50, x_user="nobody"), {"v1": 50})

    def test_a_header_keeps_a_caller_at_one_server(self):
        servers = [set(self.answers("sticky.echo.svc", 3, x_session=f"session-{n}")) for n in range(30)]
        self.assertEqual({len(of_session) for of_session in servers}, {1}, servers)
        self.assertEqual(set.union(*servers), {"v1", "v2", "v3"})


class GrpcGo(ClientTests, NewerTests, unittest.TestCase):
    @staticmethod
    def command():
        return [os.environ["CLIENT_GO"], "call"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = setting.bootstrap("secure", SECURE_IP, setting.certificates.of("secure"))
        setting.start_servers(f"secure={SECURE_IP}:7000", bootstrap=server)
        cls.own = setting.certificates.of("client")

    def ask_secure(self, *method):
        """By a new connection: one that is there stays as it is."""
        return Client(self.command(), "secure-client", self.own).call("secure", 1, *method)

    def accepted(self):
        return self.ask_secure()["answers"] == {"secure": 1}

    def test_mutual_tls_between_client_and_server(self):
        self.assertTrue(self.accepted(), setting.logs())
        with Edited("secure.yaml", ("mode: ISTIO_MUTUAL", "mode: DISABLE")):
            wait_until("plain text is refused", lambda: not self.accepted())
        wait_until("mutual TLS is accepted again", self.accepted)
        with Edited("secure.yaml", ("serviceAccountName: secure", "serviceAccountName: other")):
            wait_until("a server of another identity is refused", lambda: not self.accepted())
        wait_until("the right identity is accepted again", self.accepted)

    def test_a_server_that_takes_plain_text(self):
        with Edited("secure.yaml", ("mode: STRICT", "mode: DISABLE"), ("mode: ISTIO_MUTUAL", "mode: DISABLE")), \
                Edited("secure-access.yaml", ("source: {principals: [cluster.local/ns/echo/sa/client]}", "source: {ipBlocks: [127.0.0.0/8]}")):
            wait_until("plain text is accepted", self.accepted)
        wait_until("mutual TLS is demanded again", self.accepted)

    def test_a_server_asks_who_may_call_what(self):
        self.assertTrue(self.accepted(), setting.logs())
        self.assertIn("PermissionDenied", str(self.ask_secure("Flaky")["errors"]))
        with Edited("secure-access.yaml", ("sa/client", "sa/nobody")):
            wait_until("the client is refused", lambda: "PermissionDenied" in str(self.ask_secure()["errors"]))
        wait_until("the client is accepted again", self.accepted)
        with Edited("secure-access.yaml", ("secure-deny", "secure-deny-more"), ("  - to:\n    - operation: {paths: [/fairlead.test.Echo/Flaky]}", "  - {}")):
            wait_until("everybody is refused", lambda: "PermissionDenied" in str(self.ask_secure()["errors"]))
        wait_until("the client is accepted in the end", self.accepted)


class GrpcJs(ClientTests, NewerTests, unittest.TestCase):
    @staticmethod
    def command():
        return ["node", HERE / "js" / "call.js"]


class GrpcCpp(ClientTests, unittest.TestCase):
    @staticmethod
    def command():
        return [os.environ["CLIENT_CPP"]]


if __name__ == "__main__":
    unittest.main()
