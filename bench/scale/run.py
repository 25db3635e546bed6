"""Starts servers and runs xdsload against them."""
import contextlib
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PLANS = {
    "route": {"marker": "token", "types": "rds"},
    "endpoint": {"marker": "ip", "types": "eds"},
    "policy": {"marker": "token", "types": "lds"},
    "service": {"marker": "token", "types": "cds+eds+rds"},
    "gateway-route": {"marker": "token", "types": "rds"},
    "http-route": {"marker": "token", "types": "rds"},
}
PORT_RANGE = "/proc/sys/net/ipv4/ip_local_port_range"


def raise_file_limit():
    """A connection is a file, here and in the server: as many as the system lets us have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(hard, 65536), max(hard, 65536)))
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def streams_per_connection(proxies):
    """One, as real sidecars have it, unless there are more proxies than files that a process may open."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return -(-proxies // max(1, limit - 500))


def free_port():
    """One outside the range that connections take theirs from."""
    low = int(pathlib.Path(PORT_RANGE).read_text().split()[0])
    for port in range(20010 + os.getpid() % 1000 * 4, 65536):
        if port >= low:
            break
        with socket.socket() as s:
            with contextlib.suppress(OSError):
                s.bind(("127.0.0.1", port))
                return port
    raise RuntimeError("no free port")


def memory(pid):
    """RSS and its peak in MiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return [int(re.search(rf"{key}:\s+(\d+)", status)[1]) / 1024 for key in ("VmRSS", "VmHWM")]


def await_open(port, process, seconds):
    """Waits until the port takes connections; how long it took in ms."""
    start = time.monotonic()
    while time.monotonic() < start + seconds:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}; see its log")
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return (time.monotonic() - start) * 1e3
        time.sleep(0.002)
    raise RuntimeError("the server did not start in time")


class Process:
    """A server's process; its output goes to a log."""

    def __init__(self, words, log, environment=None, folder=None):
        self.log = log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(words, stdout=out, stderr=out, env=os.environ | (environment or {}), cwd=folder)

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Server(Process):
    """A server on a port of its own."""

    def __init__(self, words, port, log, environment=None):
        super().__init__(words, log, environment)
        self.port = port
        try:
            self.ready_ms = await_open(port, self.process, 120)
        except Exception:
            self.stop()
            raise
        self.ready_rss = memory(self.pid)[0]


def fairlead(binary, folder, log, more=(), environment=None):
    port = free_port()
    words = [binary, "discovery", "--configDir", str(folder), "--grpcAddr", f"127.0.0.1:{port}", "--httpAddr", "",
             "--httpsAddr", "", "--secureGRPCAddr", "", "--monitoringAddr", "", "--stateDir=", *more]
    # All proxies are of one address, and none has an identity.
    return Server(words, port, log, {"FAIRLEAD_MAX_CONNECTIONS_PER_ADDRESS": "0"} | (environment or {}))


def replay(binary, recorded, log):
    port = free_port()
    return Server([binary, f"127.0.0.1:{port}", str(recorded)], port, log)


def plan(changes, expect, folder, apply=None):
    """xdsload's list of changes, as JSON, which is YAML."""
    python, script = shlex.quote(sys.executable), shlex.quote(str(HERE / "change.py"))
    entries = []
    for name in changes:
        command = f"MESH={shlex.quote(str(folder))} {python} -ISB {script} {name}"
        if apply:
            command += f" {shlex.quote(apply)}"
        entries.append({"name": name, "command": command, "expect": expect, **PLANS[name]})
    return json.dumps(entries)


def xdsload(binary, address, nodes, proxies, work, *, pid=0, plan_text="[]", repeats=3, quiet="1s", timeout="180s", flags=()):
    """One run; its report. A proxy that lacks something is in the report as well as an error."""
    plan_file = pathlib.Path(work) / "plan.json"
    plan_file.write_text(plan_text)
    words = [binary, "-addr", address, "-proxies", str(proxies), "-nodes", str(nodes), "-streams-per-conn", str(streams_per_connection(proxies)), "-rate", "0",
             "-pid", str(pid), "-plan", str(plan_file), "-repeats", str(repeats), "-quiet", quiet, "-timeout", timeout, *flags]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if not done.stdout:
        raise RuntimeError(f"xdsload: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    report["complaints"] = done.stderr.strip()
    return report
