"""Pods without Kubernetes: network namespaces of this process's own, joined by a bridge in one more namespace.

    with PodNetwork("10.77.0.1/16") as net:
        pod = net.pod("reviews-v1", "10.77.1.13")
        pod.redirect("build/fairlead")       # outbound to 15001, inbound to 15006
        pod.start(["python3", "app.py"])

Every namespace's name holds the process id; leaving the block ends the processes that were started, and only these, and
deletes the namespaces. Nothing outside of them is touched: there is no link to the host's own network.
"""
import os
import signal
import subprocess
import time

PROXY_UID = 1337  # the user that a sidecar runs as; what it sends is not redirected


def run(*words, check=True):
    done = subprocess.run(words, capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Pod:
    """One network namespace with an address of its own."""

    def __init__(self, net, name, address):
        self.net, self.name, self.address = net, name, address
        self.namespace = f"{net.prefix}-{name}"
        self.processes = []

    def command(self, words):
        return ["ip", "netns", "exec", self.namespace, *words]

    def run(self, *words, check=True):
        return run(*self.command(words), check=check)

    def start(self, words, log=None, env=None, folder=None):
        """Starts a process in the pod, in a folder if one is given; `log` is a file to append its output to."""
        out = open(log, "ab") if log else subprocess.DEVNULL
        process = subprocess.Popen(
            self.command(words), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT if log else out,
            env={**os.environ, **(env or {})}, cwd=folder, start_new_session=True)
        if log:
            out.close()
        self.processes.append(process)
        return process

    def redirect(self, fairlead, *flags):
        """What the init container of an injected pod sets up: TCP that leaves goes to 15001, TCP that arrives to 15006, the proxy's
        own passes."""
        self.run(fairlead, "agent", "iptables", "-p", "15001", "-z", "15006", "-u", str(PROXY_UID), "-m", "REDIRECT", "-i", "*", "-x", "",
                 "-b", "*", "-d", "15090,15021,15020", *flags)

    def stop(self, process, how=signal.SIGTERM, wait=10):
        """Ends one process of this pod; kills it if it has not ended in time. Gives its exit status."""
        if process.poll() is None:
            os.kill(process.pid, how)
            try:
                process.wait(wait)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
        if process in self.processes:
            self.processes.remove(process)
        return process.returncode


class PodNetwork:
    """The bridge that joins the pods, with an address of its own where the control plane may listen."""

    def __init__(self, bridge):
        self.bridge = bridge  # address/prefix length
        self.prefix = f"fl{os.getpid()}"
        self.pods = {}
        self.hub = Pod(self, "hub", bridge.split("/")[0])

    def __enter__(self):
        try:
            run("ip", "netns", "add", self.hub.namespace)
            self.hub.run("ip", "link", "set", "lo", "up")
            self.hub.run("ip", "link", "add", "br0", "type", "bridge")
            self.hub.run("ip", "addr", "add", self.bridge, "dev", "br0")
            self.hub.run("ip", "link", "set", "br0", "up")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def pod(self, name, address, extra_addresses=()):
        pod = Pod(self, name, address)
        self.pods[name] = pod
        length = self.bridge.split("/")[1]
        end = f"v{len(self.pods)}"
        run("ip", "netns", "add", pod.namespace)
        self.hub.run("ip", "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", pod.namespace)
        self.hub.run("ip", "link", "set", end, "master", "br0", "up")
        pod.run("ip", "link", "set", "lo", "up")
        for one in (address, *extra_addresses):
            pod.run("ip", "addr", "add", f"{one}/{length}", "dev", "eth0")
        pod.run("ip", "link", "set", "eth0", "up")
        pod.run("ip", "route", "add", "default", "via", self.bridge.split("/")[0])
        return pod

    def close(self):
        everyone = [*self.pods.values(), self.hub]
        for pod in everyone:
            for process in list(pod.processes):
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
        end = time.time() + 5
        for pod in everyone:
            for process in list(pod.processes):
                try:
                    process.wait(max(0.1, end - time.time()))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            pod.processes.clear()
            run("ip", "netns", "del", pod.namespace, check=False)
        self.pods.clear()
