"""A server under test beside an API server, what it costs, and simulated sidecars at it."""
import json
import pathlib
import re
import shlex
import subprocess
import time
import urllib.error
import urllib.request

import run

PORT, HTTP = 25110, 28180  # in this program's own network
FAIRLEAD = ('{binary} discovery --kubeconfig {{kubeconfig}} --meshConfig {{mesh}} --networksConfig "" --grpcAddr 127.0.0.1:{{port}} '
            '--httpAddr 127.0.0.1:{{http}} --httpsAddr "" --secureGRPCAddr "" --monitoringAddr "" --stateDir {{state}} --ctrlz_port 0')
ENVIRONMENT = {"POD_NAMESPACE": "istio-system", "POD_NAME": "istiod-1", "CLUSTER_ID": "Kubernetes",
               "FAIRLEAD_MAX_CONNECTIONS_PER_ADDRESS": "0"}


def cpu_seconds(pid):
    """Of all threads, by the process's own clock: clock_getcpuclockid(3). The figures in /proc come in steps of 10 ms."""
    return time.clock_gettime((~pid << 3) | 2)


def wakes(pid):
    """How often a thread of the process gave up its processor to wait, by the thread's name."""
    counts = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text()
        name = re.search(r"Name:\s+(.*)", text)[1]
        counts[name] = counts.get(name, 0) + int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", text)[1])
    return counts


class Server(run.Process):
    """Started; ready_seconds is how long it took until /ready."""

    def __init__(self, command, work, log_name="server.log", **values):
        (work / "mesh.yaml").write_text("accessLogFile: /dev/stdout\n")
        words = shlex.split(command.format(mesh=work / "mesh.yaml", port=PORT, http=HTTP, state=work / "state", **values))
        begun = time.monotonic()
        super().__init__(words, work / log_name, ENVIRONMENT, work)
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > begun + 120:
                self.stop()
                raise RuntimeError(f"the server is not ready: {self.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.004)
        self.ready_seconds = time.monotonic() - begun
        self.ready_cpu, self.ready_memory = cpu_seconds(self.pid), run.memory(self.pid)

    @staticmethod
    def is_ready():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{HTTP}/ready", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False


class Sidecars:
    """xdsload's, connected and held for a time; then each must have what a new one gets."""

    def __init__(self, binary, nodes, number, seconds, pid, work, flags=("-delta",)):
        self.connected, self.report_file = work / "connected", work / "load.json"
        self.connected.unlink(missing_ok=True)
        hold = f"sh -c 'touch {self.connected}; exec sleep 1000'"
        words = [binary, "-addr", f"127.0.0.1:{PORT}", "-proxies", str(number), "-nodes", str(nodes), "-streams-per-conn", "1", "-rate", "50",
                 "-pid", str(pid), "-churn", hold, "-soak", f"{seconds}s", "-timeout", "300s", *flags]
        self.errors = open(work / "load.err", "w+", encoding="utf-8")
        with open(self.report_file, "wb") as out:
            self.process = subprocess.Popen(words, stdout=out, stderr=self.errors)
        while not self.connected.exists():
            if self.process.poll() is not None:
                raise RuntimeError(f"xdsload: {self.complaints()}")
            time.sleep(0.05)

    def complaints(self):
        self.errors.flush()
        self.errors.seek(0)
        return self.errors.read().strip()

    def report(self):
        """Waits for the end."""
        self.process.wait()
        text = self.report_file.read_text()
        if not text:
            raise RuntimeError(f"xdsload: {self.complaints()}")
        return {**json.loads(text), "complaints": self.complaints()}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.errors.close()
