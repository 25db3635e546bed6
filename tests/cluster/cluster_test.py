#!/usr/bin/env python3
"""The test cluster is a Kubernetes: pods, DNS, services, exec, logs, volumes, rights, tokens, webhooks; and it ends whole.

Needs root and scripts/setup.sh cluster.
"""
import base64
import json
import os
import pathlib
import subprocess
import time
import unittest

import kubebox

HERE = pathlib.Path(__file__).resolve().parent
MANIFESTS = HERE / "manifests"
IMAGES = {"example/echo": {"path": str(HERE / "echo.py"), "entrypoint": ["/usr/bin/python3", "/echo.py"], "cmd": ["3000"], "user": "65532"}}
SPDY = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false", "KUBECTL_PORT_FORWARD_WEBSOCKETS": "false"}
box = None


def setUpModule():
    global box
    kubebox.require()
    box = kubebox.Box(IMAGES)
    box.__enter__()
    unittest.addModuleCleanup(end_of_the_box)
    box.apply((MANIFESTS / "basic.yaml").read_text(), validate=False)
    box.wait("deployment/echo", "condition=available", "-n", "basic")
    box.kubectl("wait", "pod/client", "pod/sidecar-like", "-n", "basic", "--for=condition=ready", "--timeout=60s")


def end_of_the_box():
    """Processes, mounts and the folder are gone once the box has ended."""
    folder = str(box.dir)
    box.__exit__(None, None, None)
    left = [pid for pid in os.listdir("/proc") if pid.isdigit() and folder in command_line(pid)]
    assert not left, [command_line(pid) for pid in left]
    assert folder not in pathlib.Path("/proc/mounts").read_text()
    assert not os.path.exists(folder)


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def of_client(*command, **options):
    """What a command in the pod `client` writes."""
    return box.in_pod("basic", "client", *command, container="shell", **options)[1]


def field(path, *words):
    return box.kubectl("get", *words, "-o", f"jsonpath={path}").stdout


class Network(unittest.TestCase):
    """From pods and from the node: addresses of pods, services and load balancers, and their names."""

    def test_what_is_reached_from_a_pod(self):
        pod = field("{.items[0].status.podIP}", "pod", "-n", "basic", "-l", "app=echo")
        service = field("{.spec.clusterIP}", "service", "echo", "-n", "basic")
        balancer = kubebox.wait_until("a load balancer's address", lambda: field(
            "{.status.loadBalancer.ingress[0].ip}", "service", "echo-lb", "-n", "basic"))
        self.assertRegex(balancer, r"^172\.30\.1\.")
        addresses = [f"{service}:8080", "echo:8080", "echo.basic.svc.cluster.local:8080", f"{pod}:3000", balancer]
        for where, say in (("a pod", lambda *c: of_client(*c)), ("the node", lambda *c: box.exec(*c)[1])):
            for address in addresses if where == "a pod" else addresses[:1] + addresses[2:]:
                with self.subTest(address=address, where=where):
                    self.assertIn('"pod": "echo-', say("curl", "-sS", "-m", "5", f"http://{address}/"))

    def test_a_pod_reaches_itself_through_its_service(self):
        service = field("{.spec.clusterIP}", "service", "echo", "-n", "basic")
        self.assertIn('"pod": "echo-', box.in_pod("basic", "deploy/echo", "curl", "-sS", "-m", "5", f"http://{service}:8080/")[1])

    def test_names_outside_do_not_exist(self):
        self.assertIn("Could not resolve", of_client("curl", "-sS", "-m", "5", "http://nothing.example.com/"))

    def test_the_api_server_is_reached_from_pods(self):
        self.assertIn('"gitVersion": "v1.34.1"', of_client("curl", "-sSk", "-m", "5", "https://kubernetes.default/version"))


class Streams(unittest.TestCase):
    """exec, logs, copy, attach, port-forward, debug containers."""

    def test_exec_over_both_protocols(self):
        for env in ({}, SPDY):
            with self.subTest(env=env):
                code, text = box.in_pod("basic", "client", "sh", "-c", "tr a-z A-Z; exit 7", container="shell", stdin="hello\n", env=env)
                self.assertEqual((code, text.split()[0]), (7, "HELLO"))

    def test_exec_with_a_terminal(self):
        kubectl = f"{kubebox.PROGRAMS}/kube kubectl --kubeconfig {box.kubeconfig}"
        done = subprocess.run(["script", "-qec", f"{kubectl} exec -it -n basic client -c shell -- test -t 1 && echo terminal", "/dev/null"],
                              capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
        self.assertIn("terminal", done.stdout)

    def test_much_output(self):
        self.assertEqual(len(of_client("sh", "-c", "head -c 2000000 /dev/zero | tr '\\0' x")), 2000000)

    def test_logs_have_both_streams(self):
        self.assertEqual(set(box.kubectl("logs", "-n", "basic", "client", "-c", "shell").stdout.split()), {"started", "oops"})

    def test_files_are_copied_into_a_pod(self):
        done = box.kubectl("cp", str(HERE / "echo.py"), "basic/client:/tmp/copied", "-c", "shell")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(of_client("cat", "/tmp/copied"), (HERE / "echo.py").read_text())

    def test_attach(self):
        box.kubectl("run", "talker", "-n", "basic", f"--image={kubebox.SHELL}", "--restart=Never", "--command", "--",
                    "sh", "-c", "while sleep 0.2; do echo tick; done")
        box.wait("pod/talker", "condition=ready", "-n", "basic")
        with self.assertRaises(subprocess.TimeoutExpired) as said:
            box.kubectl("attach", "-n", "basic", "talker", timeout=2)
        self.assertIn(b"tick", said.exception.stdout)
        box.kubectl("delete", "pod", "-n", "basic", "talker", "--wait=false")

    def test_port_forward(self):
        forward = subprocess.Popen(
            [str(kubebox.PROGRAMS / "kube"), "kubectl", "--kubeconfig", box.kubeconfig, "port-forward", "-n", "basic", "deploy/echo", ":3000"],
            stdout=subprocess.PIPE, text=True)
        try:
            port = forward.stdout.readline().split("127.0.0.1:")[1].split(" ")[0]
            done = subprocess.run(["curl", "-sS", "-m", "5", f"http://127.0.0.1:{port}/"], capture_output=True, text=True)
            self.assertIn('"pod": "echo-', done.stdout)
        finally:
            forward.terminate()
            forward.wait()
            forward.stdout.close()

    def test_debug_containers(self):
        box.kubectl("debug", "-n", "basic", "client", f"--image={kubebox.SHELL}", "-c", "debugger", "--profile=general", "--",
                    "sh", "-c", "echo debugging")
        kubebox.wait_until("the debug container's log", lambda: "debugging" in box.kubectl(
            "logs", "-n", "basic", "client", "-c", "debugger").stdout)


class Pods(unittest.TestCase):
    """Volumes, rights and what a container sees; what is said of containers that fail."""

    def test_volumes(self):
        said = of_client("sh", "-c", "cat /etc/settings/color; echo; cat /etc/one-file; echo; cat /etc/hidden/word; echo; "
                                     "cat /shared/first /shared/hook; echo $COLOR; touch /etc/hidden/x; cat /etc/about/labels")
        for line in ("blue\nblue\nsesame\ndone\nhook\nblue\n", "Read-only", 'role="client"'):
            self.assertIn(line, said)

    def test_own_processes_and_name(self):
        self.assertEqual(of_client("sh", "-c", "pgrep -x sleep; hostname").split(), ["1", "client"])

    def test_rights(self):
        code, said = box.in_pod("basic", "sidecar-like", "sh", "-c", "id; grep -E 'CapBnd|NoNewPrivs' /proc/self/status; touch /x; "
                                "cat /proc/sys/net/ipv4/ip_unprivileged_port_start")
        self.assertRegex(said, r"uid=1337 gid=1337[^$]*CapBnd:\s0000000000000000\s+NoNewPrivs:\s1")
        self.assertIn("Read-only", said)
        self.assertIn("80", said.split())

    def test_an_init_container_redirects(self):
        self.assertIn("to-ports 7777", box.kubectl("logs", "-n", "basic", "sidecar-like", "-c", "redirect").stdout)

    def test_failures_are_said(self):
        def waiting(pod):
            return field("{.status.containerStatuses[0].state}{.status.containerStatuses[0].lastState}", "pod", "-n", "basic", pod)
        for pod, what in (("no-image", "ImagePull"), ("no-program", "no such file"), ("crash", '"exitCode":3')):
            with self.subTest(pod=pod):
                kubebox.wait_until(f"{pod}: {what}", lambda: what in waiting(pod))

    def test_what_ends_is_started_again(self):
        def count():
            return field("{.items[0].status.containerStatuses[0].restartCount}", "pod", "-n", "basic", "-l", "role=restarted")
        box.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "restarted", "namespace": "basic", "labels": {"role": "restarted"}},
                   "spec": {"terminationGracePeriodSeconds": 1, "containers": [
                       {"name": "x", "image": kubebox.SHELL, "command": ["sleep", "3456"]}]}})
        box.wait("pod/restarted", "condition=ready", "-n", "basic")
        box.exec("pkill", "-KILL", "-f", "^sleep 3456", node=True)  # sees the cluster's processes alone
        kubebox.wait_until("a restart", lambda: count() == "1")


class Tokens(unittest.TestCase):
    """Tokens of service accounts are of the audience that is asked for, and reviewed by it."""

    def review(self, token, audience):
        done = box.kubectl("create", "-f", "-", "-o", "json", stdin=json.dumps({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token, "audiences": [audience]}}))
        return json.loads(done.stdout)["status"]

    def test_the_projected_token(self):
        token = of_client("cat", "/var/run/secrets/tokens/istio-token").strip()
        payload = token.split(".")[1]
        self.assertEqual(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["aud"], ["istio-ca"])
        status = self.review(token, "istio-ca")
        self.assertTrue(status["authenticated"])
        self.assertEqual(status["user"]["username"], "system:serviceaccount:basic:default")
        self.assertFalse(self.review(token, "other").get("authenticated", False))


class Scaling(unittest.TestCase):
    def ready(self):
        slices = box.get("endpointslices", "-n", "basic", "-l", "kubernetes.io/service-name=echo")["items"]
        return {e["addresses"][0] for s in slices for e in s.get("endpoints") or () if e["conditions"].get("ready")}

    def test_endpoints_follow_the_replicas(self):
        box.kubectl("scale", "-n", "basic", "deploy/echo", "--replicas=3")
        kubebox.wait_until("three endpoints", lambda: len(self.ready()) == 3)
        def answered():
            said = of_client("sh", "-c", "for i in $(seq 30); do curl -sS -m 5 http://echo:8080/; echo; done")
            return {json.loads(line)["pod"] for line in said.split("\n") if line}
        kubebox.wait_until("answers of all three", lambda: len(answered()) == 3)
        gone = box.get("pods", "-n", "basic", "-l", "app=echo")["items"][0]
        box.kubectl("delete", "pod", "-n", "basic", gone["metadata"]["name"], "--wait=false")
        kubebox.wait_until("a replacement", lambda: len(self.ready()) == 3 and gone["status"]["podIP"] not in self.ready())
        box.kubectl("scale", "-n", "basic", "deploy/echo", "--replicas=1")
        kubebox.wait_until("one endpoint", lambda: len(self.ready()) == 1)


class Injection(unittest.TestCase):
    """A mutating webhook in a pod gives pods a native sidecar, as the mesh's injector does."""

    @classmethod
    def setUpClass(cls):
        folder = box.dir / "webhook"
        folder.mkdir()
        key, cert = folder / "tls.key", folder / "tls.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-keyout", key, "-out", cert, "-subj", "/CN=injector", "-addext", "subjectAltName=DNS:injector.mesh-system.svc"],
                       check=True, capture_output=True)
        def secret(path):
            return base64.b64encode(path.read_bytes()).decode()
        box.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mesh-system"}},
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cert", "namespace": "mesh-system"},
             "data": {"tls.crt": secret(cert), "tls.key": secret(key)}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "code", "namespace": "mesh-system"},
             "data": {"injector.py": (HERE / "injector.py").read_text()}},
            (MANIFESTS / "inject.yaml").read_text().replace("CABUNDLE", secret(cert)))
        box.wait("deployment/injector", "condition=available", "-n", "mesh-system")
        box.apply((MANIFESTS / "pods.yaml").read_text())
        box.wait("pod/app", "condition=ready", "-n", "injected")

    def test_the_sidecar_runs_beside_the_application(self):
        self.assertIn("HTTP/1.0 200", box.in_pod("injected", "app", "curl", "-sSi", "localhost:15021/", container="app")[1])
        said = box.in_pod("injected", "app", "sh", "-c", "id -u; cat /var/run/secrets/tokens/istio-token", container="sidecar")[1]
        self.assertRegex(said, r"^1337\neyJ")

    def test_a_job_ends_though_its_sidecar_would_not(self):
        box.wait("job/once", "condition=complete", "-n", "injected")
        self.assertIn("reached the sidecar", box.kubectl("logs", "-n", "injected", "job/once", "-c", "once").stdout)

    def test_the_hosts_network_and_the_clusters_names(self):
        box.wait("pod/on-host", "condition=ready", "-n", "default")
        self.assertEqual(field("{.status.podIP}", "pod", "on-host"), "172.30.0.2")
        self.assertIn("gitVersion", box.in_pod("default", "on-host", "curl", "-sSk", "-m", "5", "https://kubernetes.default.svc/version")[1])


class Parts(unittest.TestCase):
    def test_a_part_that_is_killed_comes_back(self):
        box.exec("pkill", "-KILL", "-f", "kube-scheduler", node=True)
        kubebox.wait_until("the scheduler's end is in the log", lambda: "kube-scheduler ended" in box.log("node"))
        box.kubectl("run", "scheduled", f"--image={kubebox.SHELL}", "--restart=Never")
        box.wait("pod/scheduled", "condition=ready")

    def test_the_api_server_is_reached_again_after_its_end(self):
        box.exec("pkill", "-KILL", "-f", "kube-apiserver", node=True)
        began = time.monotonic()
        kubebox.wait_until("the API server", lambda: box.kubectl("get", "--raw", "/readyz", timeout=5).stdout == "ok")
        self.assertLess(time.monotonic() - began, 30)


if __name__ == "__main__":
    kubebox.require()
    unittest.main()
