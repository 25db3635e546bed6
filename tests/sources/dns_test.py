#!/usr/bin/env python3
"""The source of DNS with Debian's dnsmasq (scripts/setup.sh cluster), and the commands of docs/sources/dns.md."""
import shutil
import signal
import unittest

import page

DNSMASQ = shutil.which("dnsmasq") or shutil.which("dnsmasq", path="/usr/sbin")
NAME = "_http._tcp.web.example.com"
WEB = "outbound|80||web.example.com"


class DnsTest(unittest.TestCase):
    def setUp(self):
        self.processes = page.Processes()
        self.addCleanup(self.processes.close)
        self.hosts = self.processes.path / "hosts"

    def resolver(self, *records):
        return self.processes.start("dnsmasq", DNSMASQ, "--no-daemon", "--user=root", "--conf-file=/dev/null", "--port=5353", "--no-resolv",
                                    "--no-hosts", "--local-ttl=1", f"--addn-hosts={self.hosts}", f"--pid-file={self.processes.path}/pid",
                                    *(f"--srv-host={record}" for record in records))

    def follow(self, names=f"{NAME}:80"):
        return page.ControlPlane(self.processes, f"--configSource=dns+srv://{names}?resolver=127.0.0.1:5353&leastSeconds=1")

    def test_the_page(self):
        page.run_page("dns.md", {"dnsmasq": DNSMASQ, "fairlead": page.FAIRLEAD})

    def test_records_of_many_machines(self):
        machines = range(1, 121)
        self.hosts.write_text("".join(f"10.0.1.{i} a-machine-with-a-long-name-{i}.example.com\n" for i in machines))
        self.resolver(*(f"{NAME},a-machine-with-a-long-name-{i}.example.com,8080" for i in machines))
        fairlead = self.follow()
        fairlead.wait_ready()
        self.assertEqual(len(fairlead.endpoints(WEB)), 120)

    def test_a_resolver_is_lost_and_comes_back(self):
        self.hosts.write_text("10.0.0.1 w1.example.com\nfd00::1 w1.example.com\n10.0.0.2 w2.example.com\n")
        resolver = self.resolver(f"{NAME},w1.example.com,8080,1", f"{NAME},w2.example.com,8080,1")
        fairlead = self.follow()
        fairlead.wait_ready()
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1", "10.0.0.2", "fd00::1"])
        self.processes.stop(resolver, signal.SIGKILL)
        page.eventually(lambda: "unreachable-source" in fairlead.diagnostics(), "the diagnostic")
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1", "10.0.0.2", "fd00::1"])
        # A control plane that starts meanwhile has the answers of the last one.
        fairlead.stop()
        fairlead = self.follow()
        fairlead.wait_ready()
        self.assertEqual(fairlead.endpoints(WEB), ["10.0.0.1", "10.0.0.2", "fd00::1"])
        self.resolver(f"{NAME},w2.example.com,8080,1")
        fairlead.wait_endpoints(WEB, ["10.0.0.2"])

    def test_without_a_resolver_it_is_not_ready(self):
        fairlead = self.follow()
        page.eventually(lambda: "unreachable-source" in fairlead.diagnostics(), "the reason")
        self.assertFalse(fairlead.ready())


if __name__ == "__main__":
    if not DNSMASQ:
        page.skip("no dnsmasq: scripts/setup.sh cluster installs Debian's")
    page.own_network()
    unittest.main(verbosity=2)
