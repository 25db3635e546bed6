#!/usr/bin/env python3
"""Figures of sources: from the start to ready, a change at a proxy, CPU at rest.

  sources.py --fairlead PROGRAM consul [--services 5000 --instances 10] [--agent PROGRAM]
  sources.py --fairlead PROGRAM mesos [--services 5000 --instances 10]
  sources.py --fairlead PROGRAM etcd [--services 10000]

--agent is a real agent of Consul, a server; its time is in the figures. Without it Consul is played by a peer in this process, as Mesos
always is. These answer the questions of the source as an agent does, with blocking queries, and as a master does, with a stream; what is
measured is Fairlead, not them. etcd is Debian's program, with one member. Ports are free ones of the loopback device.
"""
import argparse
import asyncio
import base64
import concurrent.futures
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

PATIENCE = 120  # seconds


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(url, body=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except OSError:
        return 0, b""


class Peer:
    """A server in a thread of its own."""

    def __init__(self):
        self.port = free_port()
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        threading.Thread(target=self.run, args=(started,), daemon=True).start()
        started.wait()

    def run(self, started):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", self.port, backlog=10000))
        started.set()
        self.loop.run_forever()

    def stop(self):
        pass  # it ends with this process


class ConsulPeer(Peer):
    """/v1/catalog/services, /v1/health/service/NAME and /v1/config/KIND, each with an index of its own."""

    def __init__(self, services, instances):
        self.instances = instances
        self.index = {}
        self.critical = {}
        self.changed = {}
        self.names = [f"service-{number}" for number in range(services)]
        self.catalog = json.dumps({name: ["version=v1"] for name in self.names}).encode()
        super().__init__()

    def set_critical(self, name, instance):
        def change():
            self.critical[name] = instance
            self.index[name] = self.index.get(name, 10) + 1
            if name in self.changed:
                self.changed.pop(name).set()
        self.loop.call_soon_threadsafe(change)

    def service(self, name):
        number = self.names.index(name)
        found = []
        for instance in range(self.instances):
            status = "critical" if self.critical.get(name) == instance else "passing"
            found.append({
                "Node": {"Node": f"node-{instance}", "Address": f"10.200.0.{instance}", "Datacenter": "dc1", "Meta": {}},
                "Service": {"ID": f"{name}-{instance}", "Service": name, "Tags": ["version=v1", "protocol=http"], "Port": 8080, "Meta": {},
                            "Address": f"10.{instance}.{number // 250}.{number % 250 + 1}", "Weights": {"Passing": 1, "Warning": 1}},
                "Checks": [{"CheckID": "serfHealth", "Status": "passing", "Output": "Agent alive and reachable"},
                           {"CheckID": f"service:{name}", "Status": status, "Output": "HTTP GET: 200 OK"}]})
        return json.dumps(found).encode()

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path, _, query = head.split(b" ", 2)[1].decode().partition("?")
                parameters = dict(urllib.parse.parse_qsl(query))
                name = path.rpartition("/")[2] if path.startswith("/v1/health/") else path
                if int(parameters.get("index", 0)) == self.index.setdefault(name, 10):
                    try:
                        await asyncio.wait_for(self.changed.setdefault(name, asyncio.Event()).wait(), 300)
                    except asyncio.TimeoutError:
                        pass
                body = self.catalog if "catalog" in path else self.service(name) if "health" in path else b"[]"
                writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Consul-Index: {self.index[name]}\r\nX-Consul-KnownLeader: true\r\n"
                             f"X-Consul-LastContact: 0\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


class ConsulAgent:
    """A server of Consul's with nodes of other machines in its catalog, and a check for each instance."""
    WRITES = 128   # of a transaction, as many as the server takes
    WRITERS = 4    # at once

    def __init__(self, program, folder, services, instances):
        self.port, self.instances, started = free_port(), instances, time.monotonic()
        with open("/dev/null", "ab") as log:
            self.process = subprocess.Popen(
                [program, "agent", "-server", "-bootstrap-expect=1", "-bind=127.0.0.1", f"-data-dir={folder}/consul", "-log-level=error",
                 f"-hcl=ports {{ http = {self.port} dns = -1 grpc = -1 grpc_tls = -1 serf_wan = -1 serf_lan = {free_port()} server = {free_port()} }}",
                 f"-hcl=limits {{ http_max_conns_per_client = {services + 200} }} performance {{ raft_multiplier = 1 }}"], stdout=log, stderr=log)
        while len(ask(f"http://127.0.0.1:{self.port}/v1/status/leader")[1]) < 4:
            assert self.process.poll() is None and time.monotonic() - started < PATIENCE, "Consul has no leader"
            time.sleep(0.05)
        self.write([{"Node": {"Verb": "set", "Node": {"Node": f"machine-{instance}", "Address": f"10.200.0.{instance}"}}} for instance in range(instances)])
        writes = [write for number in range(services) for instance in range(instances) for write in self.instance(number, instance)]
        with concurrent.futures.ThreadPoolExecutor(self.WRITERS) as writers:
            list(writers.map(self.write, (writes[first:first + self.WRITES] for first in range(0, len(writes), self.WRITES))))
        print(f"{services * instances} instances are registered after {time.monotonic() - started:.0f} s")

    @staticmethod
    def instance(number, instance):
        name = f"service-{number}"
        yield {"Service": {"Verb": "set", "Node": f"machine-{instance}", "Service": {
            "ID": f"{name}-{instance}", "Service": name, "Tags": ["version=v1", "protocol=http"], "Port": 8080,
            "Address": f"10.{instance}.{number // 250}.{number % 250 + 1}"}}}
        yield ConsulAgent.check(name, instance, "passing")

    @staticmethod
    def check(name, instance, status):
        return {"Check": {"Verb": "set", "Check": {"Node": f"machine-{instance}", "CheckID": f"service:{name}-{instance}", "Name": "it answers",
                                                   "Status": status, "ServiceID": f"{name}-{instance}", "Output": "HTTP GET: 200 OK"}}}

    def write(self, writes):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("PUT", "/v1/txn", json.dumps(writes))
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text[:500]
        connection.close()

    def set_critical(self, name, instance):
        self.write([self.check(name, instance, "critical")])

    def stop(self):
        self.process.kill()
        self.process.wait()


class MesosPeer(Peer):
    """POST /api/v1 with SUBSCRIBE: the state, then each change."""

    def __init__(self, services, instances):
        self.writers = []
        tasks = [self.task(f"service-{number}", number, instance) for number in range(services) for instance in range(instances)]
        self.state = self.record({"type": "SUBSCRIBED", "subscribed": {"heartbeat_interval_seconds": 15.0, "get_state": {
            "get_tasks": {"tasks": tasks}, "get_frameworks": {"frameworks": [{"framework_info": {"id": {"value": "F"}, "name": "aurora"}}]},
            "get_agents": {"agents": []}}}})
        super().__init__()

    @staticmethod
    def record(event):
        text = json.dumps(event).encode()
        text = str(len(text)).encode() + b"\n" + text
        return f"{len(text):x}\r\n".encode() + text + b"\r\n"

    @staticmethod
    def task(name, number, instance):
        status = {"state": "TASK_RUNNING", "healthy": True, "container_status": {"network_infos": [
            {"ip_addresses": [{"protocol": "IPv4", "ip_address": f"10.{instance}.{number // 250}.{number % 250 + 1}"}]}]}}
        return {"name": name, "task_id": {"value": f"{name}.{instance}"}, "framework_id": {"value": "F"}, "agent_id": {"value": "A"},
                "state": "TASK_RUNNING", "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 0.1}, "role": "*"}],
                "statuses": [status], "labels": {"labels": [{"key": "version", "value": "v1"}]},
                "discovery": {"visibility": "CLUSTER", "name": name, "ports": {"ports": [{"number": 8080, "name": "http", "protocol": "tcp"}]}}}

    def set_unhealthy(self, name, instance):
        event = self.record({"type": "TASK_UPDATED", "task_updated": {"framework_id": {"value": "F"}, "state": "TASK_RUNNING", "status": {
            "task_id": {"value": f"{name}.{instance}"}, "state": "TASK_RUNNING", "healthy": False}}})
        self.loop.call_soon_threadsafe(lambda: [writer.write(event) for writer in self.writers])

    async def serve(self, reader, writer):
        try:
            await reader.readuntil(b"}")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + self.state)
            self.writers.append(writer)
            while True:
                await asyncio.sleep(15)
                writer.write(self.record({"type": "HEARTBEAT"}))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


class Etcd:
    def __init__(self, folder, services):
        self.port, peer = free_port(), free_port()
        client, own = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{peer}"
        self.process = subprocess.Popen(
            [shutil.which("etcd"), f"--data-dir={folder}/etcd", "--name=one", f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
             f"--listen-peer-urls={own}", f"--initial-advertise-peer-urls={own}", f"--initial-cluster=one={own}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while ask(f"{client}/health")[0] != 200:
            time.sleep(0.05)
        for first in range(0, services, 100):
            self.put({number: f"10.1.{number // 250}.{number % 250 + 1}" for number in range(first, min(first + 100, services))})

    def put(self, addresses):
        def coded(text):
            return base64.b64encode(text.encode()).decode()
        puts = [{"requestPut": {"key": coded(f"/mesh/ServiceEntry/shop/service-{number}"), "value": coded(json.dumps({
            "apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry", "metadata": {"name": f"service-{number}", "namespace": "shop"},
            "spec": {"hosts": [f"service-{number}.service.consul"], "ports": [{"number": 8080, "name": "http", "protocol": "HTTP"}], "resolution": "STATIC",
                     "endpoints": [{"address": address}]}}))}} for number, address in addresses.items()]
        assert ask(f"http://127.0.0.1:{self.port}/v3/kv/txn", json.dumps({"success": puts}).encode())[0] == 200

    def stop(self):
        self.process.kill()
        self.process.wait()


class Fairlead:
    def __init__(self, program, folder, source):
        self.grpc, self.http, self.monitoring = free_port(), free_port(), free_port()
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [program, "discovery", f"--configSource={source}", f"--grpcAddr=127.0.0.1:{self.grpc}", f"--httpAddr=127.0.0.1:{self.http}",
             f"--monitoringAddr=127.0.0.1:{self.monitoring}", "--secureGRPCAddr=", "--httpsAddr=", "--stateDir="], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_ready(self):
        while ask(f"http://127.0.0.1:{self.http}/ready")[0] != 200:
            assert self.process.poll() is None and time.monotonic() - self.started < PATIENCE, "not ready"
            time.sleep(0.01)
        return time.monotonic() - self.started

    def cpu(self):
        fields = open(f"/proc/{self.process.pid}/stat", encoding="utf-8").read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        for line in open(f"/proc/{self.process.pid}/status", encoding="utf-8"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) // 1024
        return 0

    def endpoints(self, service):
        request = {"node": {"id": "sidecar~10.9.9.9~me.default~default.svc.cluster.local"},
                   "resource_names": [f"outbound|8080||{service}.service.consul"]}
        answer = ask(f"http://127.0.0.1:{self.http}/v3/discovery:endpoints", json.dumps(request).encode())[1]
        return json.loads(answer or "{}").get("resources")

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def time_of_changes(fairlead, change, count):
    """Milliseconds from each change to the answer of another EDS request. Changes are further apart than any that wait for each other."""
    times = []
    for number in range(count):
        service = f"service-{number * 7}"
        before = fairlead.endpoints(service)
        time.sleep(0.5)
        begun = time.monotonic()
        change(number * 7, service)
        while fairlead.endpoints(service) == before:
            assert time.monotonic() - begun < PATIENCE, f"{service} does not change"
            time.sleep(0.001)
        times.append((time.monotonic() - begun) * 1000)
    return sorted(times)


def start_platform(options, folder, services):
    """What has the services, its URL, and what changes an instance of one: its number and name."""
    if options.platform == "consul":
        peer = ConsulAgent(options.agent, folder, services, options.instances) if options.agent else ConsulPeer(services, options.instances)
        return peer, f"consul://127.0.0.1:{peer.port}?watches={services + 100}", lambda number, service: peer.set_critical(service, 0)
    if options.platform == "mesos":
        peer = MesosPeer(services, options.instances)
        return peer, f"mesos://127.0.0.1:{peer.port}?names={{name}}.service.consul", lambda number, service: peer.set_unhealthy(service, 0)
    peer = Etcd(folder, services)
    return peer, f"etcd://127.0.0.1:{peer.port}/mesh", lambda number, service: peer.put({number: f"10.2.{number // 250}.{number % 250 + 1}"})


def measure(what, fairlead, change, changes):
    ready = fairlead.wait_ready()
    print(f"{what}: ready after {ready:.2f} s, {fairlead.cpu():.2f} s of CPU, {fairlead.memory()} MB")
    time.sleep(2)
    times = time_of_changes(fairlead, change, changes)
    print(f"a change at a proxy: median {times[len(times) // 2]:.0f} ms, slowest {times[-1]:.0f} ms")
    time.sleep(2)
    before = fairlead.cpu()
    time.sleep(10)
    print(f"at rest: {(fairlead.cpu() - before) * 10:.1f}% of one CPU in 10 s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fairlead", required=True)
    parser.add_argument("platform", choices=["consul", "mesos", "etcd"])
    parser.add_argument("--services", type=int)
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--agent", type=os.path.abspath, help="Consul's program")
    options = parser.parse_args()
    services = options.services or {"consul": 5000, "mesos": 5000, "etcd": 10000}[options.platform]
    with tempfile.TemporaryDirectory() as folder:
        peer, source, change = start_platform(options, folder, services)
        fairlead = None
        try:
            fairlead = Fairlead(os.path.abspath(options.fairlead), folder, source)
            measure(f"{options.platform}: {services} services", fairlead, change, min(20, services // 7))
        finally:
            if fairlead:
                fairlead.stop()
            peer.stop()


if __name__ == "__main__":
    main()
