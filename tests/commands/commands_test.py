"""The program as a user or an init system calls it.

  commands_test.py FAIRLEAD
"""

import base64
import http.server
import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

FAIRLEAD = ""
ADDRESSES = ("--secureGRPCAddr=", "--httpsAddr=", "--meshConfig=", "--networksConfig=", "--stateDir=")
ROUTE = """apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: reviews, namespace: shop}
spec:
  hosts: [reviews.example.com]
  http:
  - route:
    - {destination: {host: one.example.com}, weight: 100}
    - {destination: {host: two.example.com}, weight: 0}
"""
POLICY = """apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: p, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  action: DENY
  rules:
  - from: [{source: {namespaces: [evil]}}]
"""
NAMESPACE = """apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels: {a: b}
"""


def call(*words):
    return subprocess.run([FAIRLEAD, *words], capture_output=True, text=True, timeout=60)


def answer(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as page:
            return page.status, page.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class CommandsTest(unittest.TestCase):
    def test_version_in_each_spelling(self):
        for words in (("version",), ("--version",), ("-v",)):
            done = call(*words)
            self.assertEqual((done.returncode, done.stdout[:9]), (0, "fairlead "), words)

    def test_the_version_as_json(self):
        text = call("version").stdout.split()[1]
        for words in (("-o", "json"), ("--output=json",), ("--output", "json")):
            self.assertEqual(json.loads(call("version", *words).stdout), {"name": "fairlead", "version": text}, words)

    def test_words_that_mean_nothing_are_refused(self):
        for words in (("version", "-o", "yaml"), ("version", "--junk"), ("version", "--junk", "json"), ("environment", "--junk")):
            done = call(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("is not expected", done.stderr)

    def test_a_token_is_made_with_a_key_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            first = call("token", "shop/web", "--stateDir", folder)
            self.assertEqual((first.returncode, first.stderr), (0, ""))
            claims = first.stdout.split(".")[1]
            claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
            self.assertEqual((claims["iss"], claims["sub"], claims["aud"]), ("fairlead", "system:serviceaccount:shop:web", ["istio-ca"]))
            self.assertEqual(claims["exp"] - claims["iat"], 24 * 3600)
            keys = pathlib.Path(folder, "tokens")
            self.assertEqual([oct(path.stat().st_mode & 0o777) for path in (keys, keys / "issuer-key.pem")], ["0o700", "0o600"])
            for words, message in ((("web",), "is not NAMESPACE/ACCOUNT"), (("shop/web", "--expires", "soon"), "is no duration"),
                                   (("shop/web", "--expires", "400h", "--expires", "9000h"), ""), (("shop/a:b",), "is no name"),
                                   (("shop/web", "--expires", "9000h"), "366 days"), ((), "ACCOUNT is required")):
                done = call("token", *words, "--stateDir", folder)
                self.assertEqual((done.returncode, done.stdout), (2, ""), words)
                self.assertIn(message, done.stderr)

    def test_each_command_has_help(self):
        for command in ("agent", "apply", "cni", "delete", "deregister", "discovery", "environment", "get", "register", "simulate", "token", "validate", "version"):
            done = call("help", command)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertTrue(command in done.stdout or "discovery" in done.stdout, command)
            self.assertEqual(call(command, "--help").stdout, done.stdout)
        for words in (("agent", "iptables"), ("agent", "wait"), ("agent", "request"), ("cni", "repair")):
            self.assertIn(" ".join(("fairlead", *words)), call("help", *words).stdout)

    def test_misspelt_commands(self):
        done = call("discvery")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean discovery?", done.stderr)
        self.assertEqual(call("help", "nothing-like-it").returncode, 2)
        self.assertEqual(call().returncode, 2)


class DiscoveryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def refused(self, status, message, *words):
        flags = {word.split("=")[0] for word in words}
        done = call("discovery", *(word for word in ADDRESSES if word[:-1] not in flags), *words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)
        return done.stdout + done.stderr

    def test_wrong_calls(self):
        folder = self.folder.name
        self.refused(2, "unknown flag --confgDir; did you mean --configDir?", "--confgDir", folder)
        self.refused(2, '"stray" is not expected', "--configDir", folder, "stray")
        self.refused(2, "--keepaliveTimeout", "--configDir", folder, "--keepaliveTimeout=soon")
        self.refused(2, "there is no source")
        self.refused(2, '"nowhere" is no host:port', "--configDir", folder, "--grpcAddr=nowhere", "--httpAddr=", "--monitoringAddr=")
        self.refused(2, '"edge=10.0.0.9" is not GATEWAY.NAMESPACE=ADDRESS', "--configDir", folder, "--gatewayAddress", "edge=10.0.0.9")

    def test_what_cannot_be_had(self):
        folder = self.folder.name
        self.refused(1, f"cannot read the folder {folder}/none", "--configDir", folder + "/none")
        self.refused(1, f"--kubeconfig: {folder}/none: No such file", "--kubeconfig", folder + "/none")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            for flag in ("--grpcAddr", "--httpAddr", "--monitoringAddr"):
                addresses = {"--grpcAddr": "", "--httpAddr": "", "--monitoringAddr": "", flag: address}
                output = self.refused(1, f"cannot listen on {address}: Address already in use", "--configDir", folder,
                                      *(f"{name}={value}" for name, value in addresses.items()))
                self.assertNotIn("signal", output, "none was sent")

    def test_settings_that_are_named_must_be_there(self):
        folder = self.folder.name
        for flag in ("--meshConfig", "--networksConfig"):
            self.refused(1, f"{flag}: cannot read {folder}/none: No such file or directory", "--configDir", folder, f"{flag}={folder}/none")

    def test_a_policy_that_cannot_be_read(self):
        """At the start it holds readiness until it is mended; `deny` closes its workloads, `serve` says so alone."""
        folder = pathlib.Path(self.folder.name)
        (folder / "mesh").mkdir()
        policy = folder / "mesh/policy.yaml"
        broken = POLICY.replace("rules:", "rulez:")
        said = f"{policy}:1: error: the policy shop/p cannot be read and has no earlier version: "

        def serve(*words):
            policy.write_text(broken)
            ports = []
            for _ in range(2):
                with socket.create_server(("127.0.0.1", 0)) as free:
                    ports.append(free.getsockname()[1])
            log = folder / "log"
            with open(log, "w", encoding="utf-8") as out:
                server = subprocess.Popen(
                    [FAIRLEAD, "discovery", *ADDRESSES, "--configDir", str(folder / "mesh"), "--grpcAddr=127.0.0.1:0",
                     f"--httpAddr=127.0.0.1:{ports[0]}", f"--monitoringAddr=127.0.0.1:{ports[1]}", "--ctrlz_port=0", *words],
                    stdout=out, stderr=out)
            self.addCleanup(server.wait)
            self.addCleanup(server.kill)
            return server, log, f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}"

        server, log, pages, monitoring = serve()
        self.until(server, log, said + "it is not in force")
        status, text = answer(pages + "/ready")
        self.assertEqual(status, 503)
        self.assertIn(said + "it is not in force (unreadable-policy)", text)
        self.assertIn("\nfairlead_unreadable_policies 1\n", answer(monitoring + "/metrics")[1])
        self.assertNotIn("ready after", log.read_text())
        policy.write_text(POLICY)
        self.until(server, log, "ready after")
        self.assertEqual(answer(pages + "/ready")[0], 200)
        self.assertIn("\nfairlead_unreadable_policies 0\n", answer(monitoring + "/metrics")[1])
        (folder / "mesh/later.yaml").write_text(broken.replace("name: p", "name: q"))
        self.until(server, log, "the policy shop/q cannot be read")
        self.assertEqual(answer(pages + "/ready")[0], 200)
        (folder / "mesh/later.yaml").unlink()

        server, log, pages, _ = serve("--onInvalidPolicy=serve")
        self.until(server, log, "ready after")
        self.assertIn(said + "it is not in force", log.read_text())
        server, log, pages, _ = serve("--onInvalidPolicy=deny")
        self.until(server, log, "ready after")
        self.assertIn(said + "every request to its workloads is denied until it is mended", log.read_text())
        self.assertIn("unreadable~p~", answer(pages + "/debug/configz")[1])

    def test_signals(self):
        log = pathlib.Path(self.folder.name) / "log"
        with open(log, "w", encoding="utf-8") as out:
            server = subprocess.Popen(
                [FAIRLEAD, "discovery", *ADDRESSES, "--configDir", self.folder.name, "--grpcAddr=127.0.0.1:0", "--httpAddr=",
                 "--monitoringAddr=", "--ctrlz_port=0", "--resync", "60s", "--profile"], stdout=out, stderr=out)
        try:
            self.until(server, log, "ready after")
            self.assertIn("without a meaning to this version: --resync, --profile", log.read_text())
            for number in (signal.SIGHUP, signal.SIGUSR1):
                server.send_signal(number)
                self.until(server, log, f"signal {number.value}: nothing to do")
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(timeout=60), 0)
        finally:
            server.kill()

    def test_signals_that_come_together(self):
        """A signal that nobody waits for just then is taken later; it never ends the process."""
        log = pathlib.Path(self.folder.name) / "log"
        for _ in range(3):
            with open(log, "w", encoding="utf-8") as out:
                server = subprocess.Popen(
                    [FAIRLEAD, "discovery", *ADDRESSES, "--configDir", self.folder.name, "--grpcAddr=127.0.0.1:0", "--httpAddr=",
                     "--monitoringAddr=", "--ctrlz_port=0"], stdout=out, stderr=out)
            try:
                self.until(server, log, "ready after")
                for _ in range(200):
                    server.send_signal(signal.SIGHUP)
                    server.send_signal(signal.SIGUSR1)
                server.send_signal(signal.SIGTERM)
                self.assertEqual(server.wait(timeout=60), 0)
            finally:
                server.kill()

    def test_the_last_good_state_outlives_the_process(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "mesh").mkdir()
        manifest, mesh_config = folder / "mesh/routes.yaml", folder / "mesh-config.yaml"
        manifest.write_text(ROUTE)
        mesh_config.write_text("rootNamespace: roots\n")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        words = ["--secureGRPCAddr=", "--httpsAddr=", "--networksConfig=", "--grpcAddr=127.0.0.1:0", "--httpAddr=",
                 "--meshConfig", str(mesh_config), f"--monitoringAddr=127.0.0.1:{port}", "--stateDir", str(folder / "state"),
                 "--configDir", str(folder / "mesh")]

        def serve(expected, stop):
            log = folder / "log"
            with open(log, "w", encoding="utf-8") as out:
                server = subprocess.Popen([FAIRLEAD, "discovery", *words], stdout=out, stderr=out)
            try:
                self.until(server, log, "ready after")
                stop(server, log)
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/debug/configz", timeout=60) as page:
                    self.assertIn(expected, page.read().decode())
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/debug/mesh", timeout=60) as page:
                    self.assertIn('"roots"', page.read().decode())
                return log.read_text()
            finally:
                server.kill()  # SIGKILL: nothing is put in order at the end
                server.wait()

        def typo(server, log):
            # A version outlives the process once the disk has it, which takes a disk's time and delays no push.
            self.wait(server, log, lambda: len(list((folder / "state").rglob("*.good"))) == 2, "both files are kept")
            manifest.write_text(ROUTE.replace("weight: 0", "wieght: 0"))
            mesh_config.write_text("rootNamespace: [\n")
            self.until(server, log, "unknown field")

        serve("one.example.com", typo)
        for _ in range(2):
            said = serve("one.example.com", lambda server, log: self.until(server, log, "last-good"))
            self.assertRegex(said, r"routes.yaml:9: warning: VirtualService shop/reviews: serving the version of 20\d\d-")
            self.assertRegex(said, r"mesh-config.yaml: warning: serving the version of 20\d\d-")
        for kept in (folder / "state").rglob("*.good"):
            kept.write_bytes(kept.read_bytes()[:-9])
        mesh_config.write_text("")
        self.refused(1, "routes.yaml:9: error: VirtualService shop/reviews", *words, "--onInvalid=refuse")

    def test_a_mesh_with_mistakes_can_be_refused(self):
        folder = pathlib.Path(self.folder.name)
        addresses = ("--grpcAddr=127.0.0.1:0", "--httpAddr=", "--monitoringAddr=", "--onInvalid=refuse", "--configDir", str(folder))
        (folder / "a.yaml").write_text(ROUTE.replace("weight: 0", "wieght: 0") + "---\n" + ROUTE)
        self.refused(1, "--onInvalid=refuse: the start is refused for 2 reasons:", *addresses)
        self.refused(2, "--onInvalid", "--configDir", str(folder), "--onInvalid=perhaps")

    def test_what_is_not_acted_on_is_said_and_can_be_refused(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "a.yaml").write_text("apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XListenerSet\nmetadata: {name: more}\n"
                                       "spec: {parentRef: {name: edge}, listeners: [{name: a, port: 80, protocol: HTTP}]}\n")
        said = "a.yaml:1: warning: XListenerSet default/more: this has no effect"
        self.refused(1, said, "--onUnsupported=refuse", "--configDir", str(folder), "--grpcAddr=127.0.0.1:0", "--httpAddr=",
                     "--monitoringAddr=")
        (folder / "mesh").write_text("hboneIdleTimeout: 3s\nenablePrometheusMerge: true\n")
        (folder / "good").mkdir()
        (folder / "good" / "a.yaml").write_text(NAMESPACE)
        self.refused(1, "mesh:1: warning: hboneIdleTimeout: this has no effect: there is no ambient mode", "--onUnsupported=refuse",
                     "--configDir", str(folder / "good"), "--meshConfig", str(folder / "mesh"), "--grpcAddr=127.0.0.1:0",
                     "--httpAddr=", "--monitoringAddr=")
        done = call("validate", str(folder / "a.yaml"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("note: XListenerSet default/more: this has no effect", done.stdout)

    def test_a_folder_for_the_state_that_cannot_be_had(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "file").write_text("")
        self.refused(1, "--stateDir: cannot create the folder", "--configDir", str(folder), "--grpcAddr=127.0.0.1:0", "--httpAddr=",
                     "--monitoringAddr=", "--stateDir", str(folder / "file/state"))

    def test_logs_as_asked(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "mesh").mkdir()
        (folder / "mesh" / "one.yaml").write_text(NAMESPACE + "---\n" + NAMESPACE.replace("shop", "other"))
        (folder / "mesh" / "two.yaml").write_text(NAMESPACE.replace("labels", "lables"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        logs = folder / "log", folder / "copy"
        server = subprocess.Popen(
            [FAIRLEAD, "discovery", *ADDRESSES, "--configDir", str(folder / "mesh"), "--grpcAddr=", "--httpAddr=", "--monitoringAddr=",
             f"--ctrlz_port={port}", "--log_as_json", "--log_target", str(logs[0]), "--log_target", str(logs[1]),
             "--log_output_level", "default:info,nothing:debug", "--log_caller=push"], stdout=subprocess.PIPE)
        try:
            self.wait(server, logs[0], logs[0].exists, "there is a log")
            self.until(server, logs[0], "ready after")
            lines = [json.loads(line) for line in logs[0].read_text().splitlines()]
            texts = [line["msg"] for line in lines]
            self.assertIn("loaded 2 files, 2 objects, 1 error", texts)
            self.assertTrue(any(text.startswith("the log has no scopes nothing; there are ads,") for text in texts), texts)
            publish = next(line for line in lines if line["scope"] == "push")
            self.assertEqual((publish["level"], publish["caller"].rpartition(":")[0]), ("info", "push/publish/control_loop.cc"))
            self.assertIn(" for Namespace other (", publish["msg"])
            self.assertFalse(any("caller" in line for line in lines if line["scope"] != "push"))
            scope = f"http://127.0.0.1:{port}/scopej/push"
            with urllib.request.urlopen(urllib.request.Request(scope, b'{"output_level": "none"}', method="PUT"), timeout=60) as done:
                self.assertEqual(done.status, 202)
            with urllib.request.urlopen(scope, timeout=60) as done:
                self.assertEqual(json.load(done)["output_level"], "none")
        finally:
            server.terminate()
            self.assertEqual(server.communicate()[0], b"")
        self.assertEqual(logs[0].read_text(), logs[1].read_text())

    def test_levels_and_targets_that_are_none(self):
        folder = self.folder.name
        self.refused(2, 'log level "ads:loud" is not SCOPE:LEVEL or LEVEL; a level is debug, info, warn, error or none',
                     "--configDir", folder, "--log_output_level=ads:loud")
        self.refused(2, f"cannot write the log to {folder}: Is a directory", "--configDir", folder, "--log_target", folder)

    def test_the_index_of_debug_pages(self):
        log = pathlib.Path(self.folder.name) / "log"
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with open(log, "w", encoding="utf-8") as out:
            server = subprocess.Popen(
                [FAIRLEAD, "discovery", *ADDRESSES, "--configDir", self.folder.name, "--grpcAddr=", "--httpAddr=",
                 f"--monitoringAddr=127.0.0.1:{port}"], stdout=out, stderr=out)
        try:
            self.until(server, log, "ready after")
            for path in ("/debug", "/debug/"):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as page:
                    self.assertIn("config_dump", page.read().decode(), path)
        finally:
            server.kill()
            server.wait()

    def until(self, server, log, text):
        self.wait(server, log, lambda: text in log.read_text(), text)

    def wait(self, server, log, holds, what):
        end = time.monotonic() + 60
        while not holds():
            if server.poll() is not None or time.monotonic() > end:
                said = log.read_text() if log.exists() else ""
                self.fail(f"{what}: not within a minute, or the server ended with {server.poll()}; the log:\n{said}")
            time.sleep(0.002)

    def test_wait_and_request_of_an_agents_proxy(self):
        asked, ready = [], []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                status = {"/ready": 200 if ready else 503, "/none": 404, "/bad": 500}.get(self.path, 200)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(f"{status} of {self.command}".encode())

            do_POST = do_GET

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            flags = ["agent", "wait", f"--url=http://127.0.0.1:{server.server_port}/ready", "--periodMillis=50", "--log_output_level=info"]
            done = call(*flags, "--timeoutSeconds=1")
            self.assertEqual(done.returncode, 1)
            self.assertIn("not ready after 1s", done.stderr)
            self.assertIn("status 503", done.stderr)
            threading.Timer(0.3, lambda: ready.append(True)).start()
            self.assertEqual(call(*flags).returncode, 0)
            server.shutdown()
        self.assertEqual(call("agent", "wait", "--periodMillis=0").returncode, 2)
        self.assertEqual(call("agent", "request", "GET", "x", "--debug-port=80").returncode, 2)
        self.assertEqual(call("agent", "request", "GET").returncode, 2)

    def test_a_program_named_pilot_agent_is_the_agent(self):
        with tempfile.TemporaryDirectory() as folder:
            link = pathlib.Path(folder) / "pilot-agent"
            link.symlink_to(pathlib.Path(FAIRLEAD).resolve())
            done = subprocess.run([link, "istio-iptables", "--help"], capture_output=True, text=True, timeout=60)
            self.assertIn("--envoy-port", done.stdout)
            done = subprocess.run([link, "request", "GET", "x"], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, "fairlead agent request" in done.stderr), (1, True))


if __name__ == "__main__":
    FAIRLEAD = sys.argv.pop(1)
    unittest.main()
