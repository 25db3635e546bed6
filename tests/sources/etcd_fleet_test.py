#!/usr/bin/env python3
"""Several replicas on one etcd of three members, with Debian's program: who leads, what is written, what a partition does."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import page

ETCD, ETCDCTL = shutil.which("etcd"), shutil.which("etcdctl")
MEMBERS = {"one": 2379, "two": 2479, "three": 2579}
STORE = "etcd://" + ",".join(f"127.0.0.1:{port}" for port in MEMBERS.values()) + "/mesh"
ENTRY = """apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: %(name)s, namespace: shop}
spec:
  hosts: [%(name)s.example.com]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: %(address)s}]
"""
ROUTE = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}  # the shop's
spec:
  parentRefs: [{group: networking.istio.io, kind: ServiceEntry, name: web}]
  rules: [{backendRefs: [{group: networking.istio.io, kind: Hostname, name: api.example.com, port: 80}]}]
"""


class Replica:
    """A discovery server with ports and a state folder of its own."""

    def __init__(self, processes, name, number, options="?writes=true"):
        self.processes, self.name = processes, name
        self.http, self.monitoring = 9000 + number, 9100 + number
        self.state = processes.path / f"state-{name}"
        os.environ["POD_NAME"] = name
        self.process = processes.start(
            name, page.FAIRLEAD, "discovery", f"--configSource={STORE}{options}", f"--grpcAddr=127.0.0.1:{9200 + number}",
            f"--secureGRPCAddr=127.0.0.1:{9300 + number}", f"--httpAddr=127.0.0.1:{self.http}", f"--monitoringAddr=127.0.0.1:{self.monitoring}",
            "--httpsAddr=", f"--stateDir={self.state}")
        del os.environ["POD_NAME"]

    def ready(self):
        return page.ask(f"http://127.0.0.1:{self.http}/ready")[0] == 200

    def metric(self, name):
        _, text = page.ask(f"http://127.0.0.1:{self.monitoring}/metrics")
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))

    def leads(self):
        return self.process.poll() is None and self.metric('fairlead_leader{lock="istio-status-leader"}') == 1

    def config(self):
        return page.ask(f"http://127.0.0.1:{self.monitoring}/debug/configz")[1]

    def kill(self):
        self.processes.stop(self.process, signal.SIGKILL)


class FleetTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)
        self.members = {name: self.start_member(name) for name in MEMBERS}
        page.eventually(lambda: self.ctl("endpoint", "health", check=False).returncode == 0, "three members")

    def start_member(self, name):
        port = MEMBERS[name]
        return self.processes.start(
            f"etcd-{name}", ETCD, f"--name={name}", f"--data-dir={self.processes.path}/{name}", "--unsafe-no-fsync",
            f"--listen-client-urls=http://127.0.0.1:{port}", f"--advertise-client-urls=http://127.0.0.1:{port}",
            f"--listen-peer-urls=http://127.0.0.1:{port + 1}", f"--initial-advertise-peer-urls=http://127.0.0.1:{port + 1}",
            "--initial-cluster=" + ",".join(f"{one}=http://127.0.0.1:{MEMBERS[one] + 1}" for one in MEMBERS))

    def ctl(self, *words, text="", check=True, members=MEMBERS):
        done = subprocess.run(
            [ETCDCTL, "--endpoints=" + ",".join(f"127.0.0.1:{port}" for port in members.values()), *words], input=text,
            capture_output=True, text=True, timeout=60, env=os.environ | {"ETCDCTL_API": "3"})
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fairlead(self, *words, text="", check=True, **environment):
        done = subprocess.run([page.FAIRLEAD, *words, f"--store={STORE}"], input=text, capture_output=True, text=True, timeout=60,
                              env=os.environ | environment)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def replicas(self, count, options="?writes=true"):
        made = [Replica(self.processes, f"replica-{number}", number, options) for number in range(count)]
        for one in made:
            page.eventually(one.ready, f"{one.name} is ready: {page.ask(f'http://127.0.0.1:{one.http}/ready')} {self.processes.log(one.name)}")
        return made

    def test_one_writes_statuses_and_another_follows_it(self):
        entries = "---\n".join(ENTRY % {"name": name, "address": "10.0.0.1"} for name in ("web", "api"))
        self.fairlead("apply", "-f", "-", text=entries + "---\n" + ROUTE)
        replicas = self.replicas(3)
        status = lambda: self.fairlead("get", "HTTPRoute", "web", "-n", "shop")  # noqa: E731
        page.eventually(lambda: "reason: Accepted" in status() and "# status:" in status(), "the status")
        page.eventually(lambda: sum(one.leads() for one in replicas) == 1, "one leader")
        self.assertIn("# status:", status())
        # A written status is no change of an object.
        time.sleep(1)
        revision = status().split("revision ")[1].split()[0]
        objects = [one.metric("pilot_source_objects") for one in replicas]
        self.assertEqual(objects, [3, 3, 3])
        # The leader is lost; the next one writes within its lease.
        leader = next(one for one in replicas if one.leads())
        leader.kill()
        begun = time.monotonic()
        self.fairlead("delete", "ServiceEntry", "api", "-n", "shop")
        left = [one for one in replicas if one is not leader]
        page.eventually(lambda: sum(one.leads() for one in left) == 1, "the next leader", 60)
        print(f"another leads {time.monotonic() - begun:.0f} s after the loss of the leader")
        page.eventually(lambda: "reason: BackendNotFound" in status(), "the next status")
        self.assertEqual(status().split("revision ")[1].split()[0], revision)
        # One that ends properly gives the lock back at once.
        leader = next(one for one in left if one.leads())
        begun = time.monotonic()
        self.processes.stop(leader.process)
        last = next(one for one in left if one is not leader)
        page.eventually(last.leads, "the last one leads", 30)
        self.assertLess(time.monotonic() - begun, 25)
        # An object that goes takes its status along.
        self.assertIn("/mesh-control/status/", self.ctl("get", "--prefix", "--keys-only", "/mesh-control/").stdout)
        self.fairlead("delete", "HTTPRoute", "web", "-n", "shop")
        self.assertNotIn("/mesh-control/status/HTTPRoute", self.ctl("get", "--prefix", "--keys-only", "/mesh-control/").stdout)

    def test_replicas_have_one_authority_and_etcd_does_not_show_its_key(self):
        key = self.processes.path / "ca.key"
        key.write_bytes(os.urandom(32))
        key.chmod(0o600)
        options = f"?writes=true&caKeyFile={key}"
        replicas = self.replicas(3, options)
        roots = {(one.state / "root-cert.pem").read_text() for one in replicas}
        self.assertEqual(len(roots), 1)
        self.assertFalse((replicas[0].state / "ca" / "ca-key.pem").exists())
        kept = self.ctl("get", "--prefix", "/mesh-control/secrets/").stdout
        self.assertIn("fairlead-sealed-1:", kept)
        self.assertNotIn("PRIVATE KEY", kept)
        # A root that is deleted is made again, the same.
        self.ctl("del", "--prefix", "/mesh-control/secrets/")
        page.eventually(lambda: "fairlead-sealed-1:" in self.ctl("get", "--prefix", "/mesh-control/secrets/").stdout, "the root again")
        again = Replica(self.processes, "replica-3", 3, options)
        page.eventually(again.ready, "a fourth replica")
        self.assertEqual({(again.state / "root-cert.pem").read_text()}, roots)
        # Another key opens nothing, and no second authority is made.
        key.write_bytes(os.urandom(32))
        wrong = Replica(self.processes, "replica-4", 4, options)
        page.eventually(lambda: "not sealed with this key" in self.processes.log("replica-4"), "the reason")
        self.assertFalse(wrong.ready())

    def test_a_member_is_cut_off_and_history_is_compacted(self):
        """A partition: what comes to the first member's ports is dropped, as on a broken network."""
        self.fairlead("apply", "-f", "-", text=ENTRY % {"name": "web", "address": "10.0.0.1"})
        replica, = self.replicas(1)
        ports = (str(MEMBERS["one"]), str(MEMBERS["one"] + 1))
        rules = [(chain, side, port) for chain in ("INPUT",) for side in ("--dport", "--sport") for port in ports]
        for chain, side, port in rules:
            subprocess.run(["iptables", "-A", chain, "-p", "tcp", side, port, "-j", "DROP"], check=True)
        left = {name: port for name, port in MEMBERS.items() if name != "one"}
        page.eventually(lambda: self.ctl("endpoint", "health", check=False, members=left).returncode == 0, "two members")
        begun = time.monotonic()
        self.ctl("put", "/mesh/ServiceEntry/shop/web", text=ENTRY % {"name": "web", "address": "10.0.0.2"}, members=left)
        page.eventually(lambda: "10.0.0.2" in replica.config(), "the change", 60)
        print(f"a change behind a partition: {time.monotonic() - begun:.0f} s")
        # All history is forgotten meanwhile.
        revision = self.ctl("get", "/mesh/ServiceEntry/shop/web", "-w", "fields", members=left).stdout.split('"Revision" : ')[1].split()[0]
        self.ctl("compact", revision, members=left)
        for chain, side, port in rules:
            subprocess.run(["iptables", "-D", chain, "-p", "tcp", side, port, "-j", "DROP"], check=True)
        page.eventually(lambda: self.ctl("endpoint", "health", check=False).returncode == 0, "three members again")
        self.ctl("put", "/mesh/ServiceEntry/shop/web", text=ENTRY % {"name": "web", "address": "10.0.0.3"})
        page.eventually(lambda: "10.0.0.3" in replica.config(), "a change afterwards")

    def test_an_object_is_edited(self):
        self.ctl("put", "/mesh/HTTPRoute/shop/web", text=ROUTE)
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        edit = lambda editor, check=True: self.fairlead(  # noqa: E731
            "edit", "HTTPRoute", "web", "-n", "shop", check=check, EDITOR=editor, VISUAL="", TMPDIR=folder)
        self.assertIn("unchanged", edit("true"))
        self.assertIn("edited", edit("sed -i s/80/81/"))
        now = self.fairlead("get", "HTTPRoute", "web", "-n", "shop")
        self.assertIn("port: 81", now)
        self.assertIn("# the shop's", now)
        # A mistake opens the editor again, with what is wrong; saved so again, the text is kept and nothing is written.
        printed = edit("sed -i s/rules/rulez/", check=False)
        self.assertIn("rulez", printed)
        self.assertIn("nothing is written; the text with its mistakes is in", printed)
        self.assertIn("#! There are mistakes", pathlib.Path(printed.split("is in ")[1].strip()).read_text())
        mended = edit(f"sh -c 'if grep -q rulez \"$1\"; then sed -i s/rulez/rules/ \"$1\"; sed -i s/81/82/ \"$1\"; else sed -i s/rules/rulez/ \"$1\"; fi' sh")
        self.assertIn("edited", mended)
        # Somebody else was faster.
        command = f"{ETCDCTL} --endpoints=127.0.0.1:{MEMBERS['one']} put /mesh/HTTPRoute/shop/web < \"$1\" && sed -i s/82/83/ \"$1\""
        script = self.processes.path / "faster"
        script.write_text(f"#!/bin/sh\nexport ETCDCTL_API=3\n{command}\n")
        script.chmod(0o755)
        printed = edit(str(script), check=False)
        self.assertIn("has changed: its revision is", printed)
        self.assertIn("port: 83", pathlib.Path(printed.split("your text is in ")[1].strip()).read_text())
        self.assertIn("port: 82", self.fairlead("get", "HTTPRoute", "web", "-n", "shop"))


if __name__ == "__main__":
    if not ETCD or not ETCDCTL:
        page.skip("no etcd: scripts/setup.sh cluster installs Debian's")
    page.own_network()
    unittest.main()
