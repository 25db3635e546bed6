"""A page of docs/sources as a user follows it, and a process of the control plane, in a network of the test's own."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FAIRLEAD = os.environ.get("FAIRLEAD") or str(ROOT / "build" / "fairlead")
DEPS = pathlib.Path(os.environ.get("FAIRLEAD_DEPS") or ROOT / ".deps")
SKIPPED = 77
PATIENCE = 30  # seconds


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def own_network():
    """Runs the test in a network namespace with a loopback device alone; whatever it starts ends with it."""
    if os.geteuid() != 0:
        skip("a network of its own needs root")
    if os.environ.get("FAIRLEAD_OWN_NETWORK") == "1":
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    os.environ["FAIRLEAD_OWN_NETWORK"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-B", *sys.argv])


def eventually(holds, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {patience} s: {what}")


def ask(url, body=None, method=None, timeout=10):
    """Status and text of an answer; 0 where there is none."""
    data = body.encode() if isinstance(body, str) else body
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=data, method=method), timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


class Processes:
    """What a test starts, and ends by its number."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.started = []

    def start(self, name, *words):
        with open(self.path / f"{name}.log", "ab") as log:
            process = subprocess.Popen(words, stdout=log, stderr=log, cwd=self.path)
        self.started.append(process)
        return process

    def stop(self, process, how=signal.SIGTERM):
        process.send_signal(how)
        process.wait(timeout=30)
        self.started.remove(process)

    def log(self, name):
        return (self.path / f"{name}.log").read_text(errors="replace")

    def close(self):
        for process in list(self.started):
            self.stop(process, signal.SIGKILL)
        self.folder.cleanup()


class ControlPlane:
    """A discovery server on the default ports."""

    def __init__(self, processes, *flags):
        self.processes = processes
        self.process = processes.start("fairlead", FAIRLEAD, "discovery", "--secureGRPCAddr=", f"--stateDir={processes.path}/state", *flags)

    def ready(self):
        return ask("http://127.0.0.1:8080/ready")[0] == 200

    def wait_ready(self):
        eventually(self.ready, f"ready: {ask('http://127.0.0.1:8080/ready')} {self.processes.log('fairlead')}")

    def stop(self):
        self.processes.stop(self.process)

    def endpoints(self, cluster):
        """Addresses of a cluster as a sidecar gets them, sorted."""
        request = {"node": {"id": "sidecar~10.9.9.9~me.default~default.svc.cluster.local"}, "resource_names": [cluster]}
        _, text = ask("http://127.0.0.1:8080/v3/discovery:endpoints", json.dumps(request), "POST")
        found = []
        for resource in json.loads(text or "{}").get("resources", []):
            for locality in resource.get("endpoints", []):
                for endpoint in locality.get("lb_endpoints", locality.get("lbEndpoints", [])):
                    address = endpoint["endpoint"]["address"]
                    found.append((address.get("socket_address") or address["socketAddress"])["address"])
        return sorted(found)

    def wait_endpoints(self, cluster, expected):
        eventually(lambda: self.endpoints(cluster) == expected, f"{cluster}: {expected}; it has {self.endpoints(cluster)}")

    def metric(self, name):
        _, text = ask("http://127.0.0.1:15014/metrics")
        found = re.search(rf"^{name}\{{[^}}]*\}} (\S+)$", text, re.M)
        return float(found.group(1)) if found else None

    def diagnostics(self):
        return ask("http://127.0.0.1:15014/debug/diagnostics")[1]


def check_renewed_password(test, processes, url):
    """A platform that wants the user "me" with the password "secret": a wrong one is said, and its file may be renewed."""
    password = processes.path / "password"
    password.write_text("wrong\n")
    fairlead = ControlPlane(processes, f"--configSource={url}?user=me&passwordFile={password}")
    eventually(lambda: "status 401" in fairlead.diagnostics(), "the reason")
    test.assertFalse(fairlead.ready())
    password.write_text("secret\n")
    fairlead.wait_ready()


def blocks(page):
    """The commands of a page: those that are indented."""
    block = []
    for line in (ROOT / "docs" / "sources" / page).read_text().splitlines() + ["."]:
        if line.startswith("    "):
            block.append(line[4:])
        elif line and block:
            yield block
            block = []


def run_page(page, programs):
    """Runs the commands; after a command "#> TEXT" says what it prints, within a while."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "bin").mkdir()
        for name, program in programs.items():
            (path / "bin" / name).symlink_to(program)
        environment = {"PATH": f"{path}/bin:{os.environ['PATH']}", "HOME": folder, "LC_ALL": "C.UTF-8"}
        shell = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, cwd=folder, env=environment, start_new_session=True)
        try:
            for block in blocks(page):
                run_block(shell, block)
        finally:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.communicate()


def run_block(shell, block):
    command = []
    for number, line in enumerate(block):
        if line.startswith("#> "):
            continue
        command.append(line)
        if line.endswith("\\") or line.count("<<") or (number + 1 < len(block) and "EOF" in "".join(command) and line != "EOF"):
            continue
        wanted = block[number + 1][3:] if number + 1 < len(block) and block[number + 1].startswith("#> ") else None
        end = time.monotonic() + PATIENCE
        while True:
            status, printed = run(shell, command)
            if status == 0 and (wanted is None or wanted in printed):
                break
            if wanted is None or time.monotonic() > end:
                raise AssertionError(f"{command}: exit status {status}, wanted {wanted}:\n{printed[-3000:]}")
            time.sleep(0.1)
        command = []


def run(shell, command):
    shell.stdin.write("\n".join(command) + '\nended=$?; echo; echo "__END__ $ended"\n')
    shell.stdin.flush()
    printed = []
    for line in shell.stdout:
        if line.startswith("__END__ "):
            return int(line.split()[1]), "".join(printed)
        printed.append(line)
    raise AssertionError(f"the shell ended: {''.join(printed)}")
