"""`fairlead cni` on a node: installed into a network configuration, called by the CNI protocol for pods, with its repair.

  cni_test.py FAIRLEAD

Pods are network namespaces of the test's own, and a small server stands for the API server. Needs root, iptables and nftables.
"""
import http.server, json, os, pathlib, re, shutil, signal, subprocess, sys, tempfile, threading, time, unittest

import yaml

FAIRLEAD = ""
NETWORK = {"cniVersion": "1.0.0", "name": "net", "plugins": [{"type": "bridge", "bridge": "cni0"}]}
BEFORE = {"cniVersion": "1.0.0", "interfaces": [{"name": "eth0", "sandbox": "x"}], "ips": [{"address": "10.94.0.2/24"}], "dns": {}}
NODE = "node-1"


def pod(name, address="", sidecar=True, exit_code=None, **annotations):
    containers = [{"name": "app"}] + ([{"name": "istio-proxy", "args": ["proxy", "sidecar"]}] if sidecar else [])
    state = {"name": "istio-validation", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    if exit_code is not None:
        state["lastState"] = {"terminated": {"exitCode": exit_code, "reason": "Error"}}
    notes = {**({"sidecar.istio.io/status": "{}"} if sidecar else {}), **annotations}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": "5", "annotations": notes},
            "spec": {"nodeName": NODE, "containers": containers}, "status": {"podIP": address, "initContainerStatuses": [state]}}


class ApiServer(http.server.ThreadingHTTPServer):
    """Pods by name, and what was done to them."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.pods, self.done, self.selectors = {}, [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def put(self, one):
        self.pods[one["metadata"]["name"]] = one

    def wait_for(self, text, seconds=20):
        end = time.time() + seconds
        while not any(text in line for line in self.done):
            if time.time() > end:
                raise AssertionError(f"{text} is not among {self.done}")
            time.sleep(0.05)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def one(self):
        return self.server.pods.get(self.path.split("/")[6]) if self.path.startswith("/api/v1/namespaces/shop/pods/") else None

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def do_GET(self):
        if self.path.startswith("/api/v1/pods?"):
            self.server.selectors.append(self.path)
            if "watch=" not in self.path:
                return self.answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"},
                                         "items": list(self.server.pods.values())})
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            return time.sleep(30)
        self.answer(200, self.one()) if self.one() else self.answer(404, {"kind": "Status", "message": "pods not found"})

    def do_DELETE(self):
        self.server.done.append(f"delete {self.path.split('/')[6]} {json.dumps(self.body()['preconditions'], sort_keys=True)}")
        self.answer(200, {})

    def do_PATCH(self):
        self.server.done.append(f"patch {self.path.split('/', 6)[6]} {self.headers['Content-Type']} {json.dumps(self.body(), sort_keys=True)}")
        self.answer(200, {})


class CniTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-cni-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.api = ApiServer()
        self.addCleanup(self.api.server_close)
        self.addCleanup(self.api.shutdown)
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.api.server_address[1]}"}}],
            "users": [{"name": "u", "user": {"token": "secret"}}]}))

    def namespace(self, name="pod", address="10.94.0.2/24"):
        name = f"flcni-{os.getpid()}-{name}"
        for words in (["netns", "add", name], ["-n", name, "link", "set", "lo", "up"], ["-n", name, "link", "add", "eth0", "type", "bridge"],
                      ["-n", name, "addr", "add", address, "dev", "eth0"], ["-n", name, "link", "set", "eth0", "up"]):
            subprocess.run(["ip", *words], check=True)
            if words[1] == "add" and words[0] == "netns":
                self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
        return name

    def call(self, command, namespace="", name="web-0", plugin=None, config=None, program=None):
        env = {**os.environ, "CNI_COMMAND": command, "CNI_CONTAINERID": "c1", "CNI_IFNAME": "eth0", "CNI_PATH": "/opt/cni/bin",
               "CNI_NETNS": f"/var/run/netns/{namespace}" if namespace else "",
               "CNI_ARGS": f"IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME={name}"}
        config = config or {"cniVersion": "1.0.0", "name": "net", "type": "fairlead-cni", "kubeconfig": str(self.kubeconfig),
                            "prevResult": BEFORE, **(plugin or {})}
        if "/" in namespace:
            env["CNI_NETNS"] = namespace
        done = subprocess.run([program or FAIRLEAD], input=json.dumps(config), env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    def rules(self, namespace, program="iptables-nft-save"):
        return subprocess.run(["ip", "netns", "exec", namespace, *program.split()], capture_output=True, text=True, check=True).stdout

    def test_a_pod_comes_is_checked_and_goes(self):
        namespace = self.namespace()
        self.api.put(pod("web-0", **{"traffic.sidecar.istio.io/excludeOutboundPorts": "5432"}))
        self.assertEqual(self.call("CHECK", namespace)[1]["code"], 101)
        code, result, errors = self.call("ADD", namespace)
        self.assertEqual((code, result), (0, BEFORE), errors)
        saved = self.rules(namespace)
        self.assertIn("-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports 15006", saved)
        self.assertIn("--dport 5432 -j RETURN", saved)
        self.assertEqual(self.call("CHECK", namespace)[:2], (0, None))
        subprocess.run(["ip", "netns", "exec", namespace, "iptables-nft", "-t", "nat", "-F", "ISTIO_OUTPUT"], check=True)
        self.assertIn("ISTIO_OUTPUT", self.call("CHECK", namespace)[1]["msg"])
        self.assertEqual(self.call("DEL")[:2], (0, None))

    def test_by_nft(self):
        namespace = self.namespace()
        self.api.put(pod("web-0"))
        plugin = {"native_nftables": True}
        self.assertEqual(self.call("ADD", namespace, plugin=plugin)[0], 0)
        self.assertIn("redirect to :15006", self.rules(namespace, "nft list ruleset"))
        self.assertEqual(self.call("CHECK", namespace, plugin=plugin)[0], 0)
        subprocess.run(["ip", "netns", "exec", namespace, "nft", "flush", "chain", "inet", "istio-proxy-nat", "istio-output"], check=True)
        self.assertEqual(self.call("CHECK", namespace, plugin=plugin)[1]["code"], 101)

    def test_a_pod_with_users_of_its_own(self):
        process = subprocess.Popen(["unshare", "--user", "--net", "sleep", "60"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        own, inside = os.readlink("/proc/self/ns/user"), ["nsenter", f"--target={process.pid}", "--net"]
        while os.readlink(f"/proc/{process.pid}/ns/user") == own:
            time.sleep(0.05)
        for kind in ("uid_map", "gid_map"):
            pathlib.Path(f"/proc/{process.pid}/{kind}").write_text("0 100000 65536\n")
        for words in ("link set lo up", "link add eth0 type bridge", "addr add 10.94.0.9/24 dev eth0", "link set eth0 up"):
            subprocess.run([*inside, "ip", *words.split()], check=True)
        self.api.put(pod("web-0"))
        code, _, errors = self.call("ADD", f"/proc/{process.pid}/ns/net")
        self.assertEqual(code, 0, errors)
        saved = subprocess.run([*inside, "iptables-nft-save"], capture_output=True, text=True, check=True).stdout
        # The kernel takes a rule with a user from nobody but a user of that namespace.
        self.assertIn("--uid-owner 1337 -j RETURN", saved)

    def test_other_pods_stay_as_they_are(self):
        namespace = self.namespace()
        self.api.put(pod("web-0", sidecar=False))
        self.assertEqual(self.call("ADD", namespace)[:2], (0, BEFORE))
        self.assertNotIn("ISTIO", self.rules(namespace))
        self.api.put(pod("web-0", **{"sidecar.istio.io/interceptionMode": "MAGIC"}))
        code, error, _ = self.call("ADD", namespace)
        self.assertEqual((code, error["code"]), (1, 100))
        self.assertIn("interceptionMode", error["msg"])

    def test_installed_into_a_conflist_and_called_as_a_runtime_does(self):
        namespace, account = self.namespace(), self.folder / "account"
        self.api.put(pod("web-0"))
        for name in ("net.d", "account"):
            (self.folder / name).mkdir()
        (account / "token").write_text("secret")
        (account / "ca.crt").write_text("roots")
        (self.folder / "net.d" / "10-net.conflist").write_text(json.dumps(NETWORK))
        flags = [f"--mounted-cni-net-dir={self.folder}/net.d", f"--cni-bin-dir={self.folder}/bin", f"--cni-agent-run-dir={self.folder}/run",
                 f"--service-account-dir={account}", "--exclude-namespaces=kube-system"]
        port = str(self.api.server_address[1])
        env = {**os.environ, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port}
        subprocess.run([FAIRLEAD, "cni", "install", "--once", *flags], env=env, check=True, capture_output=True)
        installed = json.loads((self.folder / "net.d" / "10-net.conflist").read_text())
        self.assertEqual([p["type"] for p in installed["plugins"]], ["bridge", "fairlead-cni"])
        # The test's API server has no TLS.
        written = self.folder / "run" / "istio-cni-kubeconfig"
        self.assertIn(f"https://127.0.0.1:{port}", written.read_text())
        shutil.copy(self.kubeconfig, written)
        config = {**installed["plugins"][1], "name": installed["name"], "cniVersion": installed["cniVersion"], "prevResult": BEFORE}
        program = str(self.folder / "bin" / "fairlead-cni")
        code, result, errors = self.call("ADD", namespace, config=config, program=program)
        self.assertEqual((code, result), (0, BEFORE), errors)
        self.assertIn("--to-ports 15001", self.rules(namespace))
        process = subprocess.Popen([FAIRLEAD, "cni", "install", *flags], env=env, stdout=subprocess.DEVNULL)
        while "certificate" not in written.read_text():
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 0)
        self.assertEqual(json.loads((self.folder / "net.d" / "10-net.conflist").read_text())["plugins"], NETWORK["plugins"])
        self.assertFalse(os.path.exists(program) or written.exists())

    def test_the_example_has_flags_that_there_are(self):
        example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "cni" / "daemonset.yaml"
        containers = list(yaml.safe_load_all(example.read_text()))[-1]["spec"]["template"]["spec"]["containers"]
        for container in containers:
            done = subprocess.run([FAIRLEAD, *container["args"], "--help"], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), container["name"])

    def repair(self, *flags):
        process = subprocess.Popen([FAIRLEAD, "cni", "repair", "--kubeconfig", str(self.kubeconfig), "--repair-node-name", NODE,
                                    "--host-proc=/proc", *flags], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)

        def stop():
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(20), 0)

        self.addCleanup(stop)
        return process

    def test_broken_pods_are_deleted(self):
        for name, code in (("broken", 126), ("other", 1), ("fine", None)):
            self.api.put(pod(name, exit_code=code))
        self.repair("--repair-delete-pods")
        self.api.wait_for("delete broken " + json.dumps({"resourceVersion": "5", "uid": "uid-broken"}))
        self.assertEqual(len(self.api.done), 1)
        self.assertIn("fieldSelector=spec.nodeName%3Dnode-1", self.api.selectors[0])

    def test_broken_pods_are_labelled(self):
        self.api.put(pod("broken", exit_code=126))
        self.repair("--repair-label-pods")
        self.api.wait_for("patch broken/status application/merge-patch+json")
        self.assertIn('"cni.istio.io/uninitialized": "true"', self.api.done[0])

    def test_broken_pods_get_their_rules(self):
        namespace = self.namespace(address="10.94.7.7/24")
        process = subprocess.Popen(["ip", "netns", "exec", namespace, "sleep", "60"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.api.put(pod("broken", address="10.94.7.7", exit_code=126))
        self.repair("--repair-repair-pods")
        end = time.time() + 20
        while not re.search("ISTIO_IN_REDIRECT .*15006", self.rules(namespace)) and time.time() < end:
            time.sleep(0.1)
        self.assertIn("--to-ports 15006", self.rules(namespace))


if __name__ == "__main__":
    FAIRLEAD = str(pathlib.Path(sys.argv.pop(1)).resolve())
    lacking = "root" if os.geteuid() else next((p for p in ("ip", "iptables", "nft") if not shutil.which(p)), "")
    if lacking:
        print(f"skipped: {lacking} is needed")
        sys.exit(77)
    unittest.main()
