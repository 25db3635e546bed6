"""A mesh of real Envoys in network namespaces: Fairlead on the hub, a stock Envoy sidecar and an application in each pod.

Used by the end-to-end tests and by the demo. Each sidecar proves who it is by a token, gets its certificate from Fairlead
and speaks xDS over TLS. Needs root, build/fairlead, an Envoy binary and OpenSSL's program.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from issuer import Issuer
from podnet import PROXY_UID, PodNetwork

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HUB = "10.77.0.1"
XDS, PLAINTEXT_XDS, HTTP, MONITORING, ADMIN = 15012, 15010, 8080, 15014, 15000
APPS = [sys.executable, str(HERE / "apps.py")]


def envoy_binary():
    deps = pathlib.Path(os.environ.get("FAIRLEAD_DEPS") or ROOT / ".deps")
    return os.environ.get("ENVOY") or str((deps / "envoy").resolve())


def istio_agent():
    """Istio's pilot-agent in place of Fairlead's agent, where ISTIO_AGENT names it: its program and the template of its
    bootstrap, ISTIO_BOOTSTRAP."""
    program = os.environ.get("ISTIO_AGENT")
    return (program, os.environ["ISTIO_BOOTSTRAP"]) if program else None


def in_namespace(name, function):
    """Runs a function in a thread that has entered the network namespace."""
    box = {}

    def body():
        with open(f"/var/run/netns/{name}") as handle:
            if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), 0x40000000):  # CLONE_NEWNET
                box["error"] = OSError(ctypes.get_errno(), f"setns {name}")
                return
        try:
            box["value"] = function()
        except Exception as e:  # carried to the caller's thread
            box["error"] = e

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if "error" in box:
        raise box["error"]
    return box.get("value")


def enter_own_network():
    """Moves this process and its children into a network namespace of their own, with a loopback alone."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000):  # CLONE_NEWNET
        raise OSError(ctypes.get_errno(), "unshare: a network namespace needs root")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def replace_atomically(path, text):
    """Readers see the old file or the new one, never half of it."""
    fresh = path.with_name("." + path.name + ".new")
    fresh.write_text(text)
    os.replace(fresh, path)


def fetch(url, seconds=2):
    """The body of an answer with a good status; OSError (urllib's HTTPError among them) for everything else."""
    try:
        with urllib.request.urlopen(url, timeout=seconds) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as e:
        with e:
            raise OSError(f"{url}: {e.code} {e.reason}") from None


def wait_until(what, check, seconds=60):
    """Polls until `check` gives something true; that is the result. Errors of a peer that is not up yet count as false."""
    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end:
        try:
            last = check()
            if last:
                return last
        except OSError as e:
            last = e
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {seconds} s (last: {last})")


class Mesh:
    """Everything that runs. Use as a context; leaving it stops all that it started.

    `authority`: folder of an operator's authority; without one Fairlead makes a root of its own. `lifetime`: seconds, of
    workloads' certificates, which are renewed after a fifth of it. `secure`: proxies come over TLS and prove who they are;
    else over plaintext, and are who they say.
    """

    def __init__(self, manifests, fairlead=None, authority=None, lifetime=3600, mesh_config="", secure=True):
        self.fairlead_binary = fairlead or os.environ.get("FAIRLEAD") or str(ROOT / "build" / "fairlead")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-mesh-"))
        self.folder.chmod(0o755)
        self.config = pathlib.Path(manifests)
        self.authority, self.lifetime, self.mesh_config = authority, lifetime, mesh_config
        self.server_environment, self.server_flags = {}, []
        self.secure, self.xds = secure, f"{HUB}:{XDS if secure else PLAINTEXT_XDS}"
        self.issuer = Issuer(self.folder / "issuer")
        self.net = PodNetwork(f"{HUB}/16")
        self.control_plane = None

    def __enter__(self):
        self.net.__enter__()
        return self

    def __exit__(self, *_):
        pods = [*self.net.pods, "hub"]
        self.net.close()
        for pod in pods:
            shutil.rmtree(f"/etc/netns/{self.net.prefix}-{pod}", ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    # Fairlead

    @property
    def log_file(self):
        return self.folder / "fairlead.log"

    def log(self):
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def start_fairlead(self):
        own_root = self.folder / "ca" / "root-cert.pem"
        self.control_plane = self.net.hub.start(
            [self.fairlead_binary, "discovery", "--configDir", str(self.config), "--meshConfig", str(self.mesh_config),
             "--grpcAddr", "" if self.secure else self.xds, "--secureGRPCAddr", self.xds if self.secure else "", "--httpAddr", f":{HTTP}",
             "--monitoringAddr", f":{MONITORING}", "--httpsAddr", "", "--stateDir=", *self.server_flags],
            log=self.log_file,
            env={"TOKEN_ISSUER": self.issuer.name, "FAIRLEAD_TOKEN_KEYS": str(self.issuer.public_key),
                 "FAIRLEAD_CA_DIR": str(own_root.parent), "ROOT_CA_DIR": str(self.authority or self.folder / "none"),
                 **({} if self.secure else {"FAIRLEAD_PLAINTEXT_IDENTITY": "node"}), **self.server_environment})
        wait_until("Fairlead is ready", self.ready)
        if self.secure:
            self.publish_roots((pathlib.Path(self.authority) / "root-cert.pem" if self.authority else own_root).read_text())

    def publish_roots(self, roots):
        """What agents believe the control plane by, as Istio's ConfigMap istio-ca-root-cert."""
        replace_atomically(self.folder / "root-cert.pem", roots)

    def ready(self):
        if self.control_plane.poll() is not None:
            raise AssertionError(f"Fairlead ended with {self.control_plane.returncode}:\n{self.log()[-2000:]}")
        return in_namespace(self.net.hub.namespace, lambda: fetch(f"http://{HUB}:{HTTP}/ready")) is not None

    def kill_fairlead(self):
        self.net.hub.stop(self.control_plane, signal.SIGKILL)

    def stop_fairlead(self):
        return self.net.hub.stop(self.control_plane, signal.SIGTERM)

    def metrics(self):
        return in_namespace(self.net.hub.namespace, lambda: fetch(f"http://{HUB}:{MONITORING}/metrics"))

    def rejects(self):
        """NACKs that Fairlead has counted, over all types."""
        return sum(float(v) for v in re.findall(r"^pilot_total_xds_rejects(?:\{[^}]*\})? (\S+)", self.metrics(), re.M))

    # Pods

    def pod(self, name, address, labels, namespace="bookshop", sidecar=True, nameserver=None, redirection=()):
        """A pod with a sidecar (not yet started) whose traffic is redirected, or a plain host outside of the mesh. Its
        service account is the one of its label `app`. `redirection`: more flags of fairlead agent iptables."""
        pod = self.net.pod(name, address)
        pod.labels, pod.kube_namespace, pod.account = labels, namespace, labels.get("app", "default")
        if nameserver:
            folder = pathlib.Path("/etc/netns") / pod.namespace
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "resolv.conf").write_text(f"nameserver {nameserver}\n")
        if sidecar:
            pod.redirect(self.fairlead_binary, *redirection)
        return pod

    def start_sidecar(self, pod, role="sidecar", user=PROXY_UID, **environment):
        """Starts the agent and its Envoy in the pod; `environment` is added to the agent's. Its group is always the proxy's."""
        work = self.folder / pod.name
        token = work / "var/run/secrets/tokens/istio-token"
        token.parent.mkdir(parents=True, exist_ok=True)
        token.write_text(self.issuer.workload_token(pod.kube_namespace, pod.account))
        for path in (work, *work.rglob("*")):
            os.chown(path, user, PROXY_UID)
        agent, proxy_config = [self.fairlead_binary, "agent", role], {
            "discoveryAddress": self.xds, "concurrency": 1, "binaryPath": envoy_binary(), "configPath": str(work),
            "terminationDrainDuration": "1s", "proxyStatsMatcher": {"inclusionRegexps": [".*"]}}
        roots = str(self.folder / "root-cert.pem")
        if istio_agent():
            program, template = istio_agent()
            agent = [program, "proxy", role, "--domain", f"{pod.kube_namespace}.svc.cluster.local"]
            environment |= {"ISTIO_BOOTSTRAP": template, "CA_ROOT_CA": roots}
        pod.sidecar = pod.start(
            ["setpriv", "--reuid", str(user), "--regid", str(PROXY_UID), "--clear-groups", *agent], log=work / "agent.log",
            folder=work,
            env={"POD_NAME": pod.name, "POD_NAMESPACE": pod.kube_namespace, "INSTANCE_IP": pod.address,
                 "SERVICE_ACCOUNT": pod.account, "ISTIOD_SAN": "istiod.istio-system.svc", "XDS_ROOT_CA": roots,
                 "ECC_SIGNATURE_ALGORITHM": "ECDSA", "SECRET_TTL": f"{self.lifetime}s", "SECRET_GRACE_PERIOD_RATIO": "0.8",
                 "ISTIO_METAJSON_LABELS": json.dumps(pod.labels), "ISTIO_META_CLUSTER_ID": "Kubernetes",
                 "PROXY_CONFIG": json.dumps(proxy_config)} | environment)

    def admin(self, pod, path):
        return in_namespace(pod.namespace, lambda: fetch(f"http://127.0.0.1:{ADMIN}{path}"))

    def wait_sidecars(self, pods):
        for pod in pods:
            try:
                wait_until(f"{pod.name}'s sidecar is ready", lambda p=pod: self.admin(p, "/ready").strip() == "LIVE", 90)
            except AssertionError as e:
                raise AssertionError(f"{e}\n{(self.folder / pod.name / 'agent.log').read_text()[-2000:]}") from None

    def update_rejections(self, pod):
        """What the sidecar's Envoy has refused, by its own statistics."""
        text = self.admin(pod, "/stats?filter=update_rejected")
        return sum(int(n) for n in re.findall(r"update_rejected: (\d+)", text))

    def app(self, pod, kind, port, name):
        pod.start([*APPS, kind, str(port), name])
        self.wait_listens(pod, port)

    def wait_listens(self, pod, port):
        wait_until(f"{pod.name} listens on {port}", lambda: in_namespace(pod.namespace, lambda: _open(port)))

    def client(self, pod, *words, seconds=120):
        """Runs the load client in a pod; gives what it printed, as JSON."""
        done = subprocess.run(pod.command([*APPS, *map(str, words)]), capture_output=True, text=True, timeout=seconds)
        if done.returncode:
            raise AssertionError(f"client {words}: {done.stderr}")
        return json.loads(done.stdout)


def _open(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0
