#!/usr/bin/env python3
"""The source of Consul with three real servers (scripts/setup.sh consul): one is killed, the leader is, one says nothing, two are killed."""
import json
import signal
import subprocess
import threading
import time
import unittest

import page

CONSUL = page.DEPS / "consul" / "consul"
SERVERS = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
URL = "consul://" + ",".join(f"{server}:8500" for server in SERVERS)
WEB = "outbound|8080||web.service.consul"


class Watched:
    """Every different list of endpoints of a cluster that a proxy could see, in its order."""

    def __init__(self, fairlead):
        self.fairlead, self.seen, self.over = fairlead, [], threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over.wait(0.01):
            found = self.fairlead.endpoints(WEB)
            if not self.seen or self.seen[-1] != found:
                self.seen.append(found)

    def stop(self):
        self.over.set()
        self.thread.join()
        return self.seen


class ConsulServersTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)
        self.servers = {server: self.start(server) for server in SERVERS}
        self.wait_for_all()
        self.register("web", 1)
        self.fairlead = page.ControlPlane(self.processes, f"--configSource={URL}")
        self.fairlead.wait_ready()
        self.fairlead.wait_endpoints(WEB, ["10.0.0.1"])
        self.watched = Watched(self.fairlead)
        self.addCleanup(self.watched.stop)

    def start(self, server):
        return self.processes.start(
            f"consul-{server}", str(CONSUL), "agent", "-server", "-bootstrap-expect=3", f"-bind={server}", f"-client={server}", f"-node=node-{server[-1]}",
            f"-data-dir={self.processes.path}/{server}", "-log-level=warn", *(f"-retry-join={other}" for other in SERVERS if other != server),
            "-retry-interval=1s", "-hcl=performance { raft_multiplier = 1 }")

    def kill(self, server):
        self.processes.stop(self.servers.pop(server), signal.SIGKILL)

    def ask(self, server, path, document=None, method="GET"):
        return page.ask(f"http://{server}:8500{path}", json.dumps(document) if document is not None else None, method, timeout=2)

    def leader(self):
        """Where there is one that the majority of those that run agrees on; "" otherwise."""
        said = [self.ask(server, "/v1/status/leader")[1].strip('"\n').partition(":")[0] for server in self.servers]
        return said[0] if len(set(said)) == 1 and said[0] in self.servers else ""

    def wait_for_all(self):
        page.eventually(self.leader, "a leader of Consul")
        page.eventually(lambda: len([one for one in json.loads(self.ask(self.leader(), "/v1/operator/raft/configuration")[1] or "{}").get("Servers", [])
                                     if one["Voter"]]) == len(SERVERS), "three voters")

    def lead(self, server):
        """Has a server lead."""
        def moved():
            leader = self.leader()
            if leader in ("", server):
                return leader == server
            servers = json.loads(self.ask(leader, "/v1/operator/raft/configuration")[1] or "{}").get("Servers", [])
            ids = [one["ID"] for one in servers if one["Address"].startswith(server + ":")]
            self.ask(leader, f"/v1/operator/raft/transfer-leader?id={ids[0]}" if ids else "/v1/status/leader", method="POST")
            return False
        page.eventually(moved, f"{server} leads")

    def register(self, service, number):
        """In the catalog, not with an agent: it outlives every server."""
        def taken():
            server = next(iter(self.servers))
            return self.ask(server, "/v1/catalog/register", {
                "Node": f"machine-{number}", "Address": f"10.0.0.{number}", "SkipNodeUpdate": False,
                "Service": {"Service": service, "ID": f"{service}-{number}", "Port": 8080}}, "PUT")[0] == 200
        page.eventually(taken, "a registration")

    def asked(self):
        """The server with which Fairlead's questions wait."""
        lines = subprocess.run(["ss", "-Htnp", "state", "established", "dport", "=", ":8500"], check=True, capture_output=True, text=True).stdout
        found = {server for server in SERVERS for line in lines.splitlines() if "fairlead" in line and f" {server}:8500" in line}
        return found.pop() if len(found) == 1 else ""

    def wait_asked(self, server):
        page.eventually(lambda: self.asked() == server, f"{server} is asked; it is {self.asked()}")

    def change_arrives(self, number, what):
        """A further instance, and no other change before it."""
        begun = time.monotonic()
        self.register("web", number)
        taken = time.monotonic()
        self.fairlead.wait_endpoints(WEB, [f"10.0.0.{one}" for one in range(1, number + 1)])
        print(f"{what}: registered after {taken - begun:.2f} s, at a proxy {time.monotonic() - taken:.2f} s later")

    def nothing_was_withdrawn(self, most):
        expected = [[f"10.0.0.{one}" for one in range(1, number + 1)] for number in range(1, most + 1)]
        page.eventually(lambda: len(self.watched.seen) >= most, "the last change")
        self.assertEqual(self.watched.stop(), expected)

    def test_servers_are_killed(self):
        self.wait_asked(SERVERS[0])
        self.lead(SERVERS[1])
        self.kill(SERVERS[0])
        self.change_arrives(2, "the server that is asked is killed")
        self.wait_asked(SERVERS[1])
        self.servers[SERVERS[0]] = self.start(SERVERS[0])
        self.wait_for_all()
        self.lead(SERVERS[0])
        self.kill(SERVERS[0])
        self.change_arrives(3, "the leader, which is not asked, is killed")
        self.servers[SERVERS[0]] = self.start(SERVERS[0])
        self.wait_for_all()
        self.lead(self.asked())
        self.kill(self.asked())
        self.change_arrives(4, "the leader, which is asked, is killed")
        page.eventually(lambda: "unreachable-source" not in self.fairlead.diagnostics(), "no diagnostic")
        self.nothing_was_withdrawn(4)

    def test_a_server_that_says_nothing_is_left(self):
        self.wait_asked(SERVERS[0])
        self.lead(SERVERS[1])
        self.servers[SERVERS[0]].send_signal(signal.SIGSTOP)
        self.addCleanup(self.servers[SERVERS[0]].send_signal, signal.SIGCONT)
        begun = time.monotonic()
        del self.servers[SERVERS[0]]
        self.register("web", 2)
        page.eventually(lambda: self.fairlead.endpoints(WEB) == ["10.0.0.1", "10.0.0.2"], "the change", 20)
        print(f"the server that is asked is stopped: at a proxy after {time.monotonic() - begun:.1f} s")
        self.nothing_was_withdrawn(2)

    def test_a_minority_is_not_believed(self):
        self.kill(SERVERS[0])
        self.kill(SERVERS[1])
        page.eventually(lambda: "no leader" in self.fairlead.diagnostics() or "No cluster leader" in self.fairlead.diagnostics(), "the diagnostic", 60)
        self.assertEqual(self.fairlead.endpoints(WEB), ["10.0.0.1"])
        for server in SERVERS[:2]:
            self.servers[server] = self.start(server)
        self.wait_for_all()
        self.change_arrives(2, "a majority is there again")
        page.eventually(lambda: "unreachable-source" not in self.fairlead.diagnostics(), "no diagnostic", 60)
        self.nothing_was_withdrawn(2)


if __name__ == "__main__":
    if not CONSUL.exists():
        page.skip("no agent of Consul: scripts/setup.sh consul builds one")
    page.own_network()
    unittest.main(verbosity=2)
