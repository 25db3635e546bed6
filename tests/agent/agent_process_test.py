#!/usr/bin/env python3
"""The agent as an init system runs it: what its standard output is, signals, probes, what it says of what it lacks. Envoy is
stood in for. Needs root, for another user and a network namespace.

  agent_process_test.py FAIRLEAD
"""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from mesh import enter_own_network  # noqa: E402
from podnet import PROXY_UID  # noqa: E402

FAIRLEAD = ""
ADMIN, STATUS, ENVOY_STATUS = 15000, 15020, 15021
AS_PROXY = ["setpriv", "--reuid", str(PROXY_UID), "--regid", str(PROXY_UID), "--clear-groups"]


def wait_until(what, holds, seconds=30):
    end = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.01)
    return found


def probe(port, path="/healthz/ready"):
    """Status and text; (0, why) where nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, e.read().decode()
    except OSError as e:
        return 0, str(e)


class AgentTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.folder.chmod(0o755)
        self.envoy = self.folder / "envoy"
        self.work = self.folder / "work"
        for folder in (self.envoy, self.work):
            folder.mkdir()
            os.chown(folder, PROXY_UID, PROXY_UID)
        self.log = self.folder / "log"

    def start(self, *words, user=True, stdout=None, environment=None):
        """The agent, as another user than root who owns `stdout`; its errors go to the log."""
        with open(self.log, "ab") as log:
            agent = subprocess.Popen(
                [*(AS_PROXY if user else []), FAIRLEAD, "agent", "sidecar", "--discoveryAddress", "localhost:15010", "--binaryPath",
                 str(HERE / "stand_in.py"), "--configPath",
                 str(self.work / "proxy"), "--terminationDrainDuration", "0s", *words], cwd=self.work, stdin=subprocess.DEVNULL,
                stdout=log if stdout is None else stdout, stderr=log,
                env=os.environ | {"FAKE_ENVOY": str(self.envoy), "POD_NAME": "web-1", "INSTANCE_IP": "127.0.0.1"} | (environment or {}))
        self.addCleanup(self.end, agent)
        return agent

    def end(self, agent):
        if agent.stdout:
            agent.stdout.close()
        if agent.poll() is None:
            agent.terminate()
            try:
                agent.wait(20)
            except subprocess.TimeoutExpired:
                agent.kill()
                agent.wait()

    def said(self):
        return self.log.read_text()

    def wait_said(self, text, seconds=30):
        wait_until(lambda: f"'{text}' in:\n{self.said()}", lambda: text in self.said(), seconds)

    def write(self, lines):
        (self.envoy / "write").write_text(str(lines))

    def wait_wrote(self):
        wait_until("Envoy has written", (self.envoy / "wrote").exists)

    def wait_runs(self):
        return int(wait_until("Envoy runs", lambda: (self.envoy / "pid").exists() and (self.envoy / "pid").read_text()))

    # Standard output

    def test_stdout_is_a_socket(self):
        """As a systemd unit's is."""
        ours, its = socket.socketpair()
        with ours:
            with its:
                self.write(3)
                self.start(stdout=its)
            self.wait_wrote()
            ours.settimeout(20)
            text = b""
            while b"0000002 200 GET" not in text:
                text += ours.recv(65536)
        self.assertNotIn("unable to open", self.said())

    def test_stdout_is_roots_file(self):
        self.write(3)
        with open(os.open(self.folder / "out", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
            self.start(stdout=out)
        self.wait_wrote()
        wait_until("the lines are in the file", lambda: "0000002 200 GET" in (self.folder / "out").read_text())
        self.wait_said("an Envoy that is none")
        self.assertNotIn("unable to open", self.said())

    def test_no_line_is_lost_or_torn(self):
        self.write(100_000)
        agent = self.start(stdout=subprocess.PIPE)
        numbers = []
        for line in agent.stdout:
            if b" 200 GET " in line:
                numbers.append(int(line[:7]))
                if numbers[-1] == 99_999:
                    break
                if len(numbers) % 20_000 == 0:
                    time.sleep(0.3)  # longer than a pipe lasts
        agent.stdout.close()
        self.assertEqual(numbers, list(range(100_000)))

    def test_what_was_written_last_comes(self):
        self.write(5_000)
        agent = self.start(stdout=subprocess.PIPE)
        text = []
        reader = threading.Thread(target=lambda: text.append(agent.stdout.read()))
        reader.start()
        self.wait_wrote()
        agent.terminate()
        self.assertEqual(agent.wait(20), 0)
        reader.join()
        agent.stdout.close()
        self.assertEqual(text[0].count(b" 200 GET "), 5_000)

    def test_a_reader_that_reads_nothing_stops_nobody(self):
        self.write(40_000)  # some 6 MB
        agent = self.start(stdout=subprocess.PIPE)
        self.wait_wrote()
        text = b""
        os.set_blocking(agent.stdout.fileno(), False)

        def heard():
            nonlocal text
            text += agent.stdout.read() or b""
            return b"lines of Envoy's are lost" in text or agent.poll() is not None
        wait_until("the loss is told", heard)
        agent.stdout.close()

    def test_stdout_that_is_closed(self):
        self.write(3)
        ours, its = os.pipe()
        self.start(stdout=its)
        os.close(its)
        os.close(ours)
        self.wait_wrote()
        wait_until("Envoy serves", lambda: probe(ADMIN, "/init_dump")[0] == 200)

    # Signals

    def test_signals_that_do_not_end_it(self):
        agent = self.start()
        envoy = self.wait_runs()
        for _ in range(200):
            agent.send_signal(signal.SIGHUP)
            agent.send_signal(signal.SIGUSR1)
        wait_until("SIGUSR1 has reached Envoy", (self.envoy / "signals").exists)
        time.sleep(0.2)
        self.assertIsNone(agent.poll())
        self.assertEqual(set((self.envoy / "signals").read_text().split()), {str(signal.SIGUSR1.value)})
        os.kill(envoy, 0)
        agent.terminate()
        self.assertEqual(agent.wait(20), 0)

    def test_signals_while_envoy_starts(self):
        agent = self.start()
        self.wait_said("Envoy runs as process")
        for _ in range(100):
            agent.send_signal(signal.SIGUSR1)
            time.sleep(0.002)
        self.wait_runs()
        self.assertNotIn("Envoy ended", self.said())

    def test_an_agent_that_is_killed_takes_envoy_along(self):
        agent = self.start()
        self.wait_runs()
        wait_until("Envoy serves", lambda: probe(ADMIN, "/init_dump")[0] == 200)
        agent.kill()
        agent.wait()
        wait_until("Envoy has ended", lambda: probe(ADMIN, "/init_dump")[0] == 0)

    def test_a_killed_envoy_is_back_at_once(self):
        self.start()
        first = self.wait_runs()
        os.kill(first, signal.SIGKILL)
        wait_until("the next one runs", lambda: self.said().count("Envoy runs as process") == 2)
        self.assertIn("; next start in 50 ms", self.said())

    # Without Envoy

    def test_an_application_without_envoy(self):
        bootstrap = self.work / "grpc" / "bootstrap.json"
        agent = self.start(environment={"DISABLE_ENVOY": "true", "GRPC_XDS_BOOTSTRAP": str(bootstrap)})
        wait_until("it says ready", lambda: probe(STATUS) == (200, "ready\n"))
        self.assertIn(f"unix://{self.work}/proxy/XDS", bootstrap.read_text())
        self.assertEqual(bootstrap.stat().st_mode & 0o777, 0o644)
        self.assertEqual((self.work / "proxy/XDS").stat().st_mode & 0o777, 0o666, "an application has a user of its own")
        self.assertFalse((self.envoy / "pid").exists())
        self.assertEqual(self.post("/drain"), "OK")
        self.assertEqual(self.post("/quitquitquit"), "OK")
        self.assertEqual(agent.wait(10), 0)

    def test_what_is_not_acted_on_is_said(self):
        self.start(environment={"DISABLE_ENVOY": "true", "XDS_AUTH_PROVIDER": "gcp"})
        self.wait_said("warning: XDS_AUTH_PROVIDER: without meaning here: ")

    def test_the_environment_of_an_injected_pod(self):
        """Names and forms of Istio's template for sidecars; the API server fills in the downward fields."""
        self.start("--domain", "shop.svc.cluster.local", "--proxyLogLevel=warning", "--proxyComponentLogLevel=misc:error",
                   "--log_output_level=default:info", environment={
                       "PILOT_CERT_PROVIDER": "istiod", "CA_ADDR": "localhost:15012", "POD_NAME": "web-1", "POD_NAMESPACE": "shop",
                       "INSTANCE_IP": "127.0.0.1", "SERVICE_ACCOUNT": "web", "HOST_IP": "10.0.0.7", "ISTIO_CPU_LIMIT": "2",
                       "PROXY_CONFIG": '{"discoveryAddress":"localhost:15012"}\n', "GOMEMLIMIT": "1073741824", "GOMAXPROCS": "2",
                       "ISTIO_META_POD_PORTS": '[\n    {"name":"http","containerPort":8080,"protocol":"TCP"}\n]',
                       "ISTIO_META_APP_CONTAINERS": "web", "ISTIO_META_CLUSTER_ID": "Kubernetes", "ISTIO_META_NODE_NAME": "node-1",
                       "ISTIO_META_INTERCEPTION_MODE": "REDIRECT", "ISTIO_META_WORKLOAD_NAME": "web", "TRUST_DOMAIN": "cluster.local",
                       "ISTIO_META_OWNER": "kubernetes://apis/apps/v1/namespaces/shop/deployments/web", "ISTIO_META_MESH_ID": "cluster.local",
                       "ISTIO_PROMETHEUS_ANNOTATIONS": '{"scrape":"true","path":"","port":"9102"}',
                       "ISTIO_KUBE_APP_PROBERS": '{"/app-health/web/readyz":{"httpGet":{"path":"/ready","port":8080,"scheme":"HTTP"},'
                                                 '"timeoutSeconds":1}}'})
        self.wait_runs()
        self.assertNotIn("warning: ", self.said())
        self.wait_said("no root that vouches for the control plane: ")  # it waits for what may be mounted later

    # Probes

    def test_probes(self):
        self.start()
        wait_until("it says why not", lambda: probe(STATUS)[0] == 503 and "It waits for: LDS" in probe(STATUS)[1])
        (self.envoy / "ready").touch()
        wait_until("it says ready", lambda: probe(STATUS) == (200, "ready\n"))
        self.assertEqual(probe(ENVOY_STATUS)[0], 0, "that port is Envoy's")
        self.assertEqual(probe(STATUS, "/nosuch")[0], 404)
        (self.envoy / "ready").unlink()
        envoy = self.wait_runs()
        (self.envoy / "pid").unlink()
        os.kill(envoy, signal.SIGKILL)
        wait_until("its end is seen", lambda: probe(STATUS)[0] == 503)

    def post(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{STATUS}{path}", data=b"", timeout=5) as answer:
            return answer.read().decode()

    def test_what_is_asked_for_ends_it_at_once(self):
        for path in ("/quitquitquit", "/drain"):
            agent = self.start("--terminationDrainDuration", "60s")
            envoy = self.wait_runs()
            wait_until("it answers", lambda: probe(STATUS)[0])
            self.assertEqual(probe(STATUS, path)[0], 405)
            self.assertEqual(self.post(path), "OK")
            if path == "/drain":
                time.sleep(0.2)
                self.assertIsNone(agent.poll(), "draining alone ends nothing")
                agent.terminate()
            self.assertEqual(agent.wait(10), 0, path)
            self.assertFalse(pathlib.Path(f"/proc/{envoy}").exists())
            (self.envoy / "pid").unlink()

    def test_the_applications_probes_and_metrics(self):
        with socket.create_server(("127.0.0.1", 18080)):
            self.start(environment={
                "ISTIO_KUBE_APP_PROBERS": '{"/app-health/web/livez": {"tcpSocket": {"port": 18080}}}',
                "ISTIO_PROMETHEUS_ANNOTATIONS": '{"scrape": "true", "port": "18081"}'})
            wait_until("the application is probed", lambda: probe(STATUS, "/app-health/web/livez")[0] == 200)
        self.assertEqual(probe(STATUS, "/app-health/web/livez")[0], 500)
        self.assertIn("istio_agent_scrapes_total", probe(STATUS, "/stats/prometheus")[1])

    def test_mistakes_in_probes_end_it(self):
        agent = self.start(environment={"ISTIO_KUBE_APP_PROBERS": "{"})
        self.assertEqual(agent.wait(20), 1)
        self.assertIn("ISTIO_KUBE_APP_PROBERS: not a JSON object", self.said())

    def test_ports_that_are_taken_or_not_wanted(self):
        with socket.create_server(("0.0.0.0", STATUS)):
            self.start("--envoyStatusPort=0")
            self.wait_said("no probes: ")
            self.wait_runs()
        self.assertEqual(probe(ENVOY_STATUS)[0], 0)

    # What it says

    def test_mistakes_in_its_proxy_config(self):
        self.start(environment={"PROXY_CONFIG": '{"discoveryAdress": "x:15010", "nosuch": 1}'})
        self.wait_said('PROXY_CONFIG line 1: discoveryAdress: unknown field, passed over; did you mean "discoveryAddress"?')
        self.assertIn("PROXY_CONFIG line 1: nosuch: unknown field", self.said())


if __name__ == "__main__":
    FAIRLEAD = sys.argv.pop(1)
    enter_own_network()
    unittest.main()
