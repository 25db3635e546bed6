#!/usr/bin/env python3
"""The source of etcd with Debian's program, and the commands of docs/sources/etcd.md."""
import os
import shutil
import signal
import subprocess
import time
import unittest

import page

ETCD, ETCDCTL = shutil.which("etcd"), shutil.which("etcdctl")
WEB = "outbound|80||web.example.com"
MEMBERS = {"one": 2379, "two": 2479, "three": 2579}
ENTRY = """apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: %(name)s, namespace: shop}
spec:
  hosts: [%(name)s.example.com]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: %(address)s}]
"""


class EtcdTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)

    def start(self, name, cluster):
        port = MEMBERS[name]
        return self.processes.start(
            f"etcd-{name}", ETCD, f"--name={name}", f"--data-dir={self.processes.path}/{name}",
            f"--listen-client-urls=http://127.0.0.1:{port}", f"--advertise-client-urls=http://127.0.0.1:{port}",
            f"--listen-peer-urls=http://127.0.0.1:{port + 1}", f"--initial-advertise-peer-urls=http://127.0.0.1:{port + 1}",
            "--initial-cluster=" + ",".join(f"{one}=http://127.0.0.1:{MEMBERS[one] + 1}" for one in cluster))

    def ctl(self, *words, text="", check=True, members=MEMBERS):
        done = subprocess.run(
            [ETCDCTL, "--endpoints=" + ",".join(f"127.0.0.1:{port}" for port in members.values()), *words], input=text,
            capture_output=True, text=True, timeout=60, env=os.environ | {"ETCDCTL_API": "3"})
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def put(self, name, address, members=MEMBERS):
        self.ctl("put", f"/mesh/ServiceEntry/shop/{name}", text=ENTRY % {"name": name, "address": address}, members=members)

    def test_the_page(self):
        page.run_page("etcd.md", {"etcd": ETCD, "etcdctl": ETCDCTL, "fairlead": page.FAIRLEAD})

    def test_three_members_lose_one_then_their_majority(self):
        members = {name: self.start(name, MEMBERS) for name in MEMBERS}
        page.eventually(lambda: self.ctl("endpoint", "health", check=False).returncode == 0, "three members")
        self.put("web", "10.0.0.1")
        url = "etcd://" + ",".join(f"127.0.0.1:{port}" for port in MEMBERS.values()) + "/mesh"
        fairlead = page.ControlPlane(self.processes, "--configSource", url)
        fairlead.wait_ready()
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1"])
        # The first one is watched.
        self.processes.stop(members["one"], signal.SIGKILL)
        left = {name: port for name, port in MEMBERS.items() if name != "one"}
        page.eventually(lambda: self.ctl("endpoint", "health", check=False, members=left).returncode == 0, "two members")
        begun = time.monotonic()
        self.put("web", "10.0.0.2", left)
        fairlead.wait_endpoints(WEB, ["10.0.0.2"])
        print(f"a change after the loss of a member: {(time.monotonic() - begun) * 1000:.0f} ms")
        # Without a majority nothing changes, and what is known stays.
        self.processes.stop(members["two"], signal.SIGKILL)
        page.eventually(lambda: "unreachable-source" in fairlead.diagnostics(), "the diagnostic")
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.2"])
        for name in ("one", "two"):
            self.start(name, MEMBERS)
        page.eventually(lambda: self.ctl("endpoint", "health", check=False).returncode == 0, "three members again")
        page.eventually(lambda: "source" not in fairlead.diagnostics(), "no diagnostic", 60)
        self.ctl("del", "/mesh/ServiceEntry/shop/web")
        self.put("api", "10.0.0.3")
        fairlead.wait_endpoints("outbound|80||api.example.com", ["10.0.0.3"])
        fairlead.wait_endpoints(WEB, [])

    def test_commands(self):
        self.start("one", ["one"])
        one = {"one": MEMBERS["one"]}
        page.eventually(lambda: self.ctl("endpoint", "health", check=False, members=one).returncode == 0, "a member")

        def call(*words, text=""):
            done = subprocess.run([page.FAIRLEAD, *words, "--store=etcd://127.0.0.1:2379/mesh"], input=text, capture_output=True, text=True, timeout=60)
            return done.returncode, done.stdout + done.stderr

        first, second = ENTRY % {"name": "web", "address": "10.0.0.1"}, ENTRY % {"name": "api", "address": "10.0.0.2"}
        self.assertEqual(call("apply", "-f", "-", text=f"{first}---\n{second}"), (0, "ServiceEntry shop/web created\nServiceEntry shop/api created\n"))
        self.assertEqual(call("apply", "-f", "-", text=first), (0, "ServiceEntry shop/web unchanged\n"))
        status, printed = call("get", "ServiceEntry", "web", "-n", "shop")
        self.assertEqual((status, "10.0.0.1" in printed), (0, True), printed)
        revision = printed.split("revision ")[1].split()[0]
        changed = first.replace("10.0.0.1", "10.0.0.3")
        self.assertEqual(call("apply", "-f", "-", "--expect", revision, text=changed), (0, "ServiceEntry shop/web configured\n"))
        status, printed = call("apply", "-f", "-", "--expect", revision, text=first)
        self.assertEqual(status, 1)
        self.assertIn(f"/mesh/ServiceEntry/shop/web has changed: its revision is {int(revision) + 1}, not {revision}", printed)
        self.assertIn("10.0.0.3", call("get", "ServiceEntry")[1])
        # One mistake, and nothing is written.
        status, printed = call("apply", "-f", "-", text=f"{first}---\n{second.replace('hosts', 'hots')}")
        self.assertEqual((status, "unknown field" in printed), (1, True), printed)
        self.assertIn("10.0.0.3", call("get", "ServiceEntry")[1])
        self.assertIn("did you mean ServiceEntry?", call("get", "ServiceEntri")[1])
        self.assertEqual(call("delete", "ServiceEntry", "web", "-n", "shop"), (0, "ServiceEntry shop/web deleted\n"))
        self.assertEqual(call("delete", "-f", "-", text=second), (0, "ServiceEntry shop/api deleted\n"))
        self.assertEqual(call("get", "ServiceEntry"), (0, ""))
        status, printed = call("delete", "ServiceEntry", "web", "-n", "shop")
        self.assertEqual((status, "is not there" in printed), (1, True), printed)

    def test_users(self):
        self.start("one", ["one"])
        one = {"one": MEMBERS["one"]}
        page.eventually(lambda: self.ctl("endpoint", "health", check=False, members=one).returncode == 0, "a member")
        self.put("web", "10.0.0.1", one)
        for words in (("user", "add", "root:rootpw"), ("user", "grant-role", "root", "root"), ("role", "add", "reader"),
                      ("role", "grant-permission", "reader", "--prefix=true", "read", "/mesh/"), ("user", "add", "fairlead:secret"),
                      ("user", "grant-role", "fairlead", "reader"), ("auth", "enable")):
            self.ctl(*words, members=one)
        password = self.processes.path / "password"
        password.write_text("wrong\n")
        fairlead = page.ControlPlane(self.processes, f"--configSource=etcd://127.0.0.1:2379/mesh?user=fairlead&passwordFile={password}")
        page.eventually(lambda: "authentication failed" in fairlead.diagnostics(), "the reason")
        self.assertFalse(fairlead.ready())
        password.write_text("secret\n")
        fairlead.wait_ready()
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1"])


if __name__ == "__main__":
    if not ETCD or not ETCDCTL:
        page.skip("no etcd: scripts/setup.sh cluster installs Debian's")
    page.own_network()
    unittest.main()
