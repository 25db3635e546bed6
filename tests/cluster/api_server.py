"""A kube-apiserver with its etcd and nothing else: no node, no controllers. For tests of what reads and writes objects.

    own_network()                                     # ports are then this process's alone
    with ApiServer() as server:
        server.define(*crd_files())
        server.api.create({"apiVersion": "v1", "kind": "Service", ...})
        run_something(server.kubeconfig)

Objects are stored as JSON, so that a test may change in etcd what no client may: creation times and generations. Everybody
with the token may do everything. Leaving the block ends both programs and removes their files.
"""
import base64
import ctypes
import http.client
import json
import pathlib
import shutil
import signal
import subprocess
import tempfile

from kube_api import ApiError, KubeApi, documents
from kubebox import PROGRAMS, end_with_parent, wait_until

ETCD, PEERS, API, ADDRESS = 2379, 2380, 6443, "172.30.0.2"
TOKEN, OTHER_TOKEN = "secret", "another"  # of the same user


def own_network():
    """Moves this process and its children into a network namespace of their own, with a loopback and one address."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000):  # CLONE_NEWNET
        raise OSError(ctypes.get_errno(), "unshare: a network namespace needs root")
    batch = f"link set lo up\nlink add eth0 type bridge\naddr add {ADDRESS}/24 dev eth0\nlink set eth0 up\n"
    subprocess.run(["ip", "-batch", "-"], input=batch, text=True, check=True)


def crd_files():
    """The definitions of Istio's and the Gateway API's kinds, as the set-up fetched them, and of a few more."""
    schemas, own = PROGRAMS.parent / "schemas", pathlib.Path(__file__).resolve().parent / "manifests" / "definitions.yaml"
    gateway_api = sorted((schemas / "sigs.k8s.io/gateway-api/config/crd/experimental").glob("gateway*.yaml"))
    return [schemas / "istio.io/api/kubernetes/customresourcedefinitions.gen.yaml", *gateway_api, own]


class Etcd:
    """The few calls of etcd's that tests need, over its JSON interface."""

    def __init__(self, port=ETCD):
        self.port = port

    def call(self, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", path, json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise OSError(f"etcd {path}: {answer.status} {text[:300]!r}")
        return json.loads(text)

    def read(self, prefix="/registry/", keys_only=False):
        """What is below the prefix, by key; with keys_only the values are empty."""
        found = self.call("/v3/kv/range", {"key": encode(prefix), "range_end": encode(prefix[:-1] + chr(ord(prefix[-1]) + 1)),
                                           "keys_only": keys_only})
        return {base64.b64decode(kv["key"]).decode(): base64.b64decode(kv.get("value", "")) for kv in found.get("kvs", ())}

    def put(self, values):
        self._transactions([{"request_put": {"key": encode(k), "value": encode(v)}} for k, v in values.items()])

    def delete(self, keys):
        self._transactions([{"request_delete_range": {"key": encode(key)}} for key in keys])

    def _transactions(self, operations, most=100):
        for at in range(0, len(operations), most):
            self.call("/v3/kv/txn", {"success": operations[at:at + most]})

    def compact(self):
        """Forgets all revisions but the last."""
        now = self.call("/v3/kv/range", {"key": encode("/none")})["header"]["revision"]
        self.call("/v3/kv/compaction", {"revision": now, "physical": True})


def encode(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


class ApiServer:
    def __init__(self, *flags, authorization="AlwaysAllow", number=0):
        """Flags: more of kube-apiserver's. With the authorization RBAC the test's own user may do everything, others what
        roles say. Number: another one for each server of a network."""
        self.authorization, self.flags = authorization, flags
        self.etcd_port, self.peer_port, self.port = ETCD + 10 * number, PEERS + 10 * number, API + number
        self.processes, self.etcd, self.api = {}, Etcd(self.etcd_port), None

    def __enter__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-api-server-"))
        try:
            self._make_keys()
            self.kubeconfig = self.write_kubeconfig("kubeconfig", {"token": TOKEN})
            self._run("etcd", "etcd", "--data-dir", self.dir / "etcd", "--unsafe-no-fsync", "--log-level=warn", "--logger=zap",
                      "--experimental-watch-progress-notify-interval=1s",
                      f"--listen-client-urls=http://127.0.0.1:{self.etcd_port}",
                      f"--advertise-client-urls=http://127.0.0.1:{self.etcd_port}",
                      f"--listen-peer-urls=http://127.0.0.1:{self.peer_port}")
            self.start()
            self._hide_own_service()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        if self.api:
            self.api.close()
        for name in list(self.processes)[::-1]:
            self._end(name, signal.SIGKILL)
        shutil.rmtree(self.dir, ignore_errors=True)

    def _run(self, name, *command):
        with open(self.dir / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                    preexec_fn=end_with_parent)

    def _end(self, name, sig):
        process = self.processes.pop(name, None)
        if process:
            process.send_signal(signal.SIGCONT)
            process.send_signal(sig)
            process.wait()

    def start(self):
        """Starts kube-apiserver and returns when it is ready."""
        self._run(
            "kube-apiserver", PROGRAMS / "kube", "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            f"--secure-port={self.port}",
            f"--advertise-address={ADDRESS}", f"--tls-cert-file={self.dir}/api.crt", f"--tls-private-key-file={self.dir}/api.key",
            f"--client-ca-file={self.dir}/ca.crt", "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={self.dir}/sa.key", f"--service-account-signing-key-file={self.dir}/sa.key",
            f"--authorization-mode={self.authorization}", f"--token-auth-file={self.dir}/tokens", "--storage-media-type=application/json",
            # Any address that an object asks for; no accounts and namespaces that controllers would have to make.
            "--service-cluster-ip-range=10.0.0.0/8,fd00:96::/108", "--disable-admission-plugins=ServiceAccount,NamespaceLifecycle",
            "--max-requests-inflight=4000", "--max-mutating-requests-inflight=2000", "--profiling=false", *self.flags)
        self.api = KubeApi(self.kubeconfig)
        wait_until("the API server", self._ready, 90)

    def _ready(self):
        if self.processes["kube-apiserver"].poll() is not None:
            raise AssertionError(f"kube-apiserver ended: {(self.dir / 'kube-apiserver.log').read_text()[-2000:]}")
        try:
            return self.api.call("GET", "/readyz")[0] == 200
        except ApiError as error:
            raise OSError(error) from error

    def kill(self):
        """Ends kube-apiserver at once; start() brings it back, with what etcd has and without a history of its own."""
        self.api.close()
        self._end("kube-apiserver", signal.SIGKILL)

    def pause(self, paused=True):
        """Stops kube-apiserver from answering, or lets it go on; connections stay."""
        self.processes["kube-apiserver"].send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def define(self, *files):
        """Creates the definitions of kinds in the files, and waits until they are served."""
        definitions = [d for f in files for d in documents(f)]
        for definition in definitions:
            self.api.create(definition)
        names = [d["metadata"]["name"] for d in definitions if d["kind"] == "CustomResourceDefinition"]
        wait_until("the definitions", lambda: all(map(self._served, names)), 60)
        self.api.forget_kinds()

    def _served(self, name):
        found = self.api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name)
        return any(c["type"] == "Established" and c["status"] == "True" for c in found.get("status", {}).get("conditions", ()))

    def _hide_own_service(self):
        """The server's own Service is exported to nobody, as it is in no test's objects."""
        hidden = {"metadata": {"annotations": {"networking.istio.io/exportTo": "~"}}}
        path = "/api/v1/namespaces/default/services/kubernetes"
        wait_until("the Service kubernetes", lambda: self.api.call("PATCH", path, hidden, "application/merge-patch+json", (404,))[0] == 200)

    def _make_keys(self):
        def openssl(*words):
            subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
        ec = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        openssl("req", "-x509", *ec, "-days", "2", "-subj", "/CN=test-ca", "-keyout", self.dir / "ca.key", "-out", self.dir / "ca.crt")
        openssl("req", *ec, "-subj", "/CN=kube-apiserver", "-keyout", self.dir / "api.key", "-out", self.dir / "api.csr")
        (self.dir / "names").write_text(f"subjectAltName=IP:127.0.0.1,IP:{ADDRESS},DNS:localhost")
        openssl("x509", "-req", "-in", self.dir / "api.csr", "-CA", self.dir / "ca.crt", "-CAkey", self.dir / "ca.key", "-CAcreateserial",
                "-days", "2", "-extfile", self.dir / "names", "-out", self.dir / "api.crt")
        openssl("genrsa", "-out", self.dir / "sa.key", "2048")
        (self.dir / "tokens").write_text(f'{TOKEN},admin,1,"system:masters"\n{OTHER_TOKEN},admin,1,"system:masters"\n')

    def write_kubeconfig(self, name, user):
        """A kubeconfig with a user's credentials, as kubeconfigs have them; its path."""
        authority = encode((self.dir / "ca.crt").read_bytes())
        path = self.dir / name
        path.write_text(json.dumps({  # JSON is YAML
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test",
                          "cluster": {"server": f"https://127.0.0.1:{self.port}", "certificate-authority-data": authority}}],
            "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}))
        return str(path)
