"""The traffic of a workload, as `fairlead agent iptables` redirects it: what should reach the proxy does, and nothing else.

  traffic_test.py FAIRLEAD

A pod and a peer are network namespaces of the test's own. Small servers stand for the workload, its proxy (user 1337), the agent's
resolver and everybody else; each says who answers. Needs root, iptables and nftables.
"""
import json, os, pathlib, shutil, subprocess, sys, unittest

HERE = pathlib.Path(__file__).resolve().parent
FAIRLEAD = ""
PROXY = 1337
POD, POD6 = "10.91.0.2", "2001:db8:91::2"
FAR, APART, RESOLVER, OTHER_RESOLVER = "10.92.0.1", "10.93.0.1", "10.92.0.53", "10.92.0.54"
FAR6 = "2001:db8:92::1"
CALL = """
import json, os, socket, sys
kind, host, port, source, user, group = sys.argv[1:]
os.setgroups([]); os.setgid(int(group)); os.setuid(int(user))
s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
s.settimeout(2)
if source: s.bind((source, 0))
s.connect((host, int(port)))
if kind == "udp": s.send(b"?")
print(s.recv(4096).decode())
"""


def run(*words, check=True, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, **more)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr or done.stdout}")
    return done


class Space:
    """A network namespace with servers."""

    def __init__(self, name):
        self.name, self.servers = f"fliptraf-{os.getpid()}-{name}", []
        self.etc = pathlib.Path("/etc/netns") / self.name
        run("ip", "netns", "add", self.name)
        self.ip("link", "set", "lo", "up")

    def ip(self, *words):
        run("ip", "-n", self.name, *words)

    def inside(self, *words):
        return ["ip", "netns", "exec", self.name, *words]

    def serve(self, name, user, *specs):
        server = subprocess.Popen(self.inside(sys.executable, "-B", str(HERE / "answerer.py"), name, str(user), *specs),
                                  stdout=subprocess.PIPE, text=True)
        self.servers.append(server)
        if server.stdout.readline() != "ready\n":
            raise RuntimeError(f"{name} does not start")

    def close(self):
        for server in self.servers:
            server.kill()
            server.wait()
            server.stdout.close()
        run("ip", "netns", "del", self.name, check=False)
        shutil.rmtree(self.etc, ignore_errors=True)


class TrafficTest(unittest.TestCase):
    backend = []

    def setUp(self):
        self.peer, self.pod = Space("peer"), None
        self.addCleanup(self.peer.close)
        self.pod = Space("pod")
        self.addCleanup(self.pod.close)
        self.pod.ip("link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", self.peer.name)
        for space, addresses in ((self.pod, [f"{POD}/24", f"{POD6}/64"]), (self.peer, ["10.91.0.1/24", "2001:db8:91::1/64"])):
            for address in addresses:
                space.ip("addr", "add", address, "dev", "eth0", *(["nodad"] if ":" in address else []))
            space.ip("link", "set", "eth0", "up")
        self.pod.ip("route", "add", "default", "via", "10.91.0.1")
        self.pod.ip("route", "add", "default", "via", "2001:db8:91::1")
        for address in (FAR, APART, RESOLVER, OTHER_RESOLVER, FAR6):
            self.peer.ip("addr", "add", address, "dev", "lo")
        self.pod.etc.mkdir(parents=True)
        (self.pod.etc / "resolv.conf").write_text(f"nameserver {RESOLVER}\n")

    def redirect(self, *flags, status=0, variables=None):
        words = self.pod.inside(FAIRLEAD, "agent", "iptables", "-p", "15001", "-z", "15006", "-u", str(PROXY), "-i", "*", "-b", "*",
                                "-d", "15020", *self.backend, *flags)
        done = run(*words, check=False, env={**os.environ, **(variables or {})})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def start(self, inbound="tcp"):
        self.peer.serve("peer", 0, "tcp:80", "tcp:5432", "tcp:53", f"udp:53@{RESOLVER}", f"udp:53@{OTHER_RESOLVER}")
        self.pod.serve("app", 1000, "tcp:8080", "tcp:15020")
        self.pod.serve("proxy", PROXY, "tcp:15001", f"{inbound}:15006", "tcp:15053", "udp:15053@127.0.0.1")

    def call(self, space, host, port, kind="tcp", user=1000, group=None, source=""):
        """What a client hears; None without an answer."""
        done = run(*space.inside(sys.executable, "-c", CALL, kind, host, str(port), source, str(user), str(group or user)), check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def hears(self, who, space, host, port, wanted=None, **more):
        answer = self.call(space, host, port, **more)
        self.assertIsNotNone(answer, f"no answer from {host}:{port}")
        self.assertEqual(answer["who"], who)
        if wanted:
            self.assertEqual(answer["wanted"], list(wanted))
        return answer

    def test_outbound(self):
        self.redirect("-x", "10.93.0.0/16", "-o", "5432", "--dual-stack", variables={"ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE": "3000"})
        self.start()
        self.hears("proxy/tcp:15001", self.pod, FAR, 80, wanted=(FAR, 80))
        self.hears("proxy/tcp:15001", self.pod, FAR6, 80, wanted=(FAR6, 80))
        self.hears("peer/tcp:5432", self.pod, FAR, 5432)
        self.hears("peer/tcp:80", self.pod, APART, 80)
        self.hears("peer/tcp:80", self.pod, FAR, 80, user=PROXY)
        self.hears("peer/tcp:80", self.pod, FAR, 80, group=3000)
        self.hears("peer/udp:53", self.pod, RESOLVER, 53, kind="udp")
        self.hears("app/tcp:8080", self.pod, "127.0.0.1", 8080)

    def test_only_given_ranges_and_ports(self):
        self.redirect("-i", "10.92.0.0/16", "-q", "5432")
        self.start()
        self.hears("proxy/tcp:15001", self.pod, FAR, 80, wanted=(FAR, 80))
        self.hears("peer/tcp:80", self.pod, APART, 80)
        self.hears("proxy/tcp:15001", self.pod, APART, 5432, wanted=(APART, 5432))

    def test_inbound(self):
        self.redirect("--dual-stack")
        self.start()
        self.hears("proxy/tcp:15006", self.peer, POD, 8080, wanted=(POD, 8080))
        self.hears("proxy/tcp:15006", self.peer, POD6, 8080, wanted=(POD6, 8080))
        self.hears("app/tcp:15020", self.peer, POD, 15020)
        # The pod calls itself: the proxy's outbound side reaches its inbound side, and that reaches the workload.
        self.hears("proxy/tcp:15006", self.pod, POD, 8080, user=PROXY, wanted=(POD, 8080))
        self.hears("app/tcp:8080", self.pod, POD, 8080, user=PROXY, source="127.0.0.6")
        self.hears("app/tcp:8080", self.pod, POD6, 8080, user=PROXY, source="::6")

    def test_inbound_ports(self):
        self.redirect("-b", "8080")
        self.start()
        self.pod.serve("late", 1000, "tcp:9090")
        self.hears("proxy/tcp:15006", self.peer, POD, 8080)
        self.hears("late/tcp:9090", self.peer, POD, 9090)

    def test_tproxy_keeps_the_clients_address(self):
        self.redirect("-m", "TPROXY", "--dual-stack")
        self.start(inbound="tproxy")
        answer = self.hears("proxy/tproxy:15006", self.peer, POD, 8080, wanted=(POD, 8080))
        self.assertEqual(answer["client"][0], "10.91.0.1")
        answer = self.hears("proxy/tproxy:15006", self.peer, POD6, 8080, wanted=(POD6, 8080))
        self.assertEqual(answer["client"][0], "2001:db8:91::1")
        self.hears("app/tcp:15020", self.peer, POD, 15020)
        self.hears("proxy/tcp:15001", self.pod, FAR, 80, wanted=(FAR, 80))

    def test_dns_to_the_pods_nameserver(self):
        self.redirect("--redirect-dns")
        self.start()
        self.hears("proxy/udp:15053", self.pod, RESOLVER, 53, kind="udp")
        self.hears("proxy/tcp:15053", self.pod, RESOLVER, 53)
        self.hears("peer/udp:53", self.pod, OTHER_RESOLVER, 53, kind="udp")
        self.hears("peer/udp:53", self.pod, RESOLVER, 53, kind="udp", user=PROXY)

    def test_all_dns(self):
        self.redirect("--redirect-dns", "--capture-all-dns")
        self.start()
        self.hears("proxy/udp:15053", self.pod, OTHER_RESOLVER, 53, kind="udp")
        self.hears("peer/udp:53", self.pod, OTHER_RESOLVER, 53, kind="udp", user=PROXY)

    def probe(self, status):
        """Validation, as the proxy's user, of rules that are there or not."""
        words = ["setpriv", "--reuid", str(PROXY), "--regid", str(PROXY), "--clear-groups", FAIRLEAD, "agent", "iptables",
                 "--skip-rule-apply", "--run-validation", "--probe-timeout=1500ms"]
        done = run(*self.pod.inside(*words), check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_probe_and_clean_up(self):
        self.assertIn("fairlead cni repair", self.probe(126))
        binary = [] if self.backend else ["--force-iptables-binary", "nft"]
        self.redirect(*binary)
        self.probe(0)
        self.redirect(*binary, "--cleanup-only")
        self.probe(126)

    def test_a_dry_run_changes_nothing(self):
        self.assertIn("15006", self.redirect("--dry-run").stdout)
        self.probe(126)


class NativeTrafficTest(TrafficTest):
    backend = ["--native-nftables"]


if __name__ == "__main__":
    FAIRLEAD = sys.argv.pop(1)
    lacking = "root" if os.geteuid() else next((p for p in ("ip", "iptables", "nft") if not shutil.which(p)), "")
    if lacking:
        print(f"skipped: {lacking} is needed")
        sys.exit(77)
    unittest.main()
