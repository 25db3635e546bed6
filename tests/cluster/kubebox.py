"""A Kubernetes cluster for a test: real programs, one node, everything in namespaces of its own (docs/test-cluster.md).

    with Box(images={"example/app": {"path": "/built/app"}}) as box:
        box.kubectl("apply", "-f", "objects.yaml")
        box.exec("curl", "http://app.default.svc.cluster.local/")     # from the node's network

Leaving the block ends the cluster and removes its folder. The end of this process ends the cluster too, however it comes.
"""
import ctypes
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAMS = pathlib.Path(os.environ.get("FAIRLEAD_DEPS") or ROOT / ".deps") / "cluster"
SHELL = "kubebox/shell"  # the image of the host's own programs
SKIPPED = 77             # the exit code by which ctest knows a test that was skipped


def missing():
    """What the set-up of the cluster has not brought yet."""
    lacks = [str(PROGRAMS / name) for name in ("kube", "kubebox", "coredns", "helm") if not (PROGRAMS / name).exists()]
    return lacks + [name for name in ("etcd", "ip", "iptables", "curl") if not shutil.which(name)]


def require():
    """Ends the program where the set-up was not done: as a failure if FAIRLEAD_NEEDS_CLUSTER asks for it, else as skipped."""
    lacks = missing()
    if lacks:
        print(f"the cluster's programs are missing, run scripts/setup.sh cluster: {', '.join(lacks)}", file=sys.stderr)
        sys.exit(1 if os.environ.get("FAIRLEAD_NEEDS_CLUSTER") else SKIPPED)


def end_with_parent():
    """For Popen's preexec_fn: the program is killed when the one that started it ends, however that comes."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def wait_until(what, probe, seconds=30, pause=0.1):
    """The probe's first result that is true; a result that stays false for that long, or an error, is an AssertionError."""
    end, last = time.monotonic() + seconds, None
    while True:
        try:
            last = probe()
        except (OSError, subprocess.SubprocessError) as error:
            last = error
        if last and not isinstance(last, Exception):
            return last
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s; last: {last}")
        time.sleep(pause)


class Box:
    def __init__(self, images=None, flags=(), keep=None):
        """Images: what stands in for container images, by name. Flags: more of kube-apiserver's. Keep: a folder that stays."""
        self.images, self.flags, self.keep = images or {}, flags, keep
        self.process = None

    def __enter__(self):
        self.dir = pathlib.Path(self.keep or tempfile.mkdtemp(prefix="fairlead-cluster-"))
        self.dir.mkdir(parents=True, exist_ok=True)
        self.image_table = self.dir / "images.json"  # JSON is YAML
        self.set_images(self.images)
        command = [str(PROGRAMS / "kubebox"), "up", "--dir", str(self.dir), "--attended", "--api", "127.0.0.1:0", "--images", str(self.image_table)]
        command += [word for flag in self.flags for word in ("--apiserver-flag", flag)]
        self.progress = open(self.dir / "up.log", "w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.progress, text=True)
        try:
            self.kubeconfig = self._first_line(120)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _first_line(self, seconds):
        readable, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline().strip() if readable else ""
        if not line:
            self.progress.seek(0)
            raise AssertionError(f"the cluster did not start within {seconds} s: {self.progress.read()}{self.log('node')[-2000:]}")
        return line

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.progress.close()
        if not self.keep:
            shutil.rmtree(self.dir, ignore_errors=True)

    def set_images(self, images):
        """The image table from now on."""
        self.images = images
        fresh = self.image_table.with_suffix(".new")
        fresh.write_text(json.dumps(images))
        os.replace(fresh, self.image_table)

    def log(self, part):
        """The log of a part: node, etcd, kube-apiserver, kubelet and so on."""
        path = self.dir / "log" / f"{part}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def kubectl(self, *words, stdin=None, timeout=60, env=None):
        """Runs kubectl; its result has text, whatever its exit code."""
        return subprocess.run(
            [str(PROGRAMS / "kube"), "kubectl", "--kubeconfig", self.kubeconfig, *words], input=stdin, capture_output=True, text=True,
            timeout=timeout, env={**os.environ, **(env or {})})

    def get(self, *words):
        """The JSON of kubectl get."""
        done = self.kubectl("get", *words, "-o", "json")
        if done.returncode:
            raise OSError(done.stderr.strip())
        return json.loads(done.stdout)

    def apply(self, *objects, validate=True):
        """Applies objects, given as YAML's text or as dictionaries."""
        text = "\n---\n".join(o if isinstance(o, str) else json.dumps(o) for o in objects)
        done = self.kubectl("apply", f"--validate={str(validate).lower()}", "-f", "-", stdin=text)
        if done.returncode:
            raise AssertionError(done.stderr.strip())

    def wait(self, what, condition, *words, seconds=60):
        """kubectl wait; with the pods and their events in the error."""
        done = self.kubectl("wait", what, f"--for={condition}", f"--timeout={seconds}s", *words, timeout=seconds + 20)
        if done.returncode:
            pods = self.kubectl("get", "pods", "-A", "-o", "wide").stdout
            events = self.kubectl("get", "events", "-A", "--field-selector", "type=Warning").stdout
            raise AssertionError(f"{what}: {done.stderr.strip()}\n{pods}{events[-2000:]}")

    def in_pod(self, namespace, pod, *command, container=None, stdin=None, env=None, timeout=60):
        """Runs a command in a pod: its exit code and its output, both streams."""
        words = ["exec", "-n", namespace, pod] + (["-i"] if stdin is not None else []) + (["-c", container] if container else [])
        done = self.kubectl(*words, "--", *command, stdin=stdin, env=env, timeout=timeout)
        return done.returncode, done.stdout + done.stderr

    def command(self, *words, node=False):
        """The command line that runs words in the cluster's network."""
        return [str(PROGRAMS / "kubebox"), "exec", "--dir", str(self.dir), *(["--node"] if node else []), "--", *words]

    def exec(self, *words, node=False, timeout=60):
        """Runs a program in the cluster's network (node: with the node's files and processes): its exit code and output."""
        done = subprocess.run(self.command(*words, node=node), capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout + done.stderr
