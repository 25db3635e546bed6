#!/usr/bin/env python3
"""README's and the guides' commands as they stand, each host a network namespace with files of its own.

A guide's blocks begin with "# on HOST…", which says where they run. After a command "#> TEXT" says what it prints, within a while.
Needs root, curl, iptables and OpenSSL's program. FAIRLEAD and ENVOY name other binaries than the build's and the fetched one.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from mesh import envoy_binary  # noqa: E402
from podnet import PodNetwork  # noqa: E402

FAIRLEAD = os.environ.get("FAIRLEAD") or str(ROOT / "build" / "fairlead")
PATIENCE = 60  # seconds, for what a command is to print
COPY = """#!/bin/sh
# What ssh would do: copies files to another host's, HOST:PATH.
flags=; while [ "${1#-}" != "$1" ]; do flags="$flags $1"; shift; done
for target; do :; done
host=${target%%:*} path=${target#*:}
case $path in
  /etc/*) path=@/$host/etc/${path#/etc/} ;;
  /var/lib/*) path=@/$host/lib/${path#/var/lib/} ;;
  *) path=@/$host/home/$path ;;
esac
while [ $# -gt 1 ]; do cp $flags "$1" "$path" || exit 1; shift; done
"""


class Host:
    """A shell in a network namespace, with a home, an /etc and a /var/lib of its own."""

    def __init__(self, net, folder, name, address):
        self.name = name
        files = folder / address
        (files / "home").mkdir(parents=True)
        (files / "lib").mkdir()
        subprocess.run(["cp", "-a", "/etc", files / "etc"], check=True)
        for path in (folder, files, files / "home", files / "lib"):
            path.chmod(0o755)
        script = (f"mount --make-rprivate / && mount --bind {files}/etc /etc && mount --bind {files}/lib /var/lib && "
                  f"cd {files}/home && exec bash --norc")
        self.shell = subprocess.Popen(
            net.pod(f"host-{name}", address).command(["unshare", "--mount", "bash", "-c", script]), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env={"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(files / "home"), "LC_ALL": "C.UTF-8"})
        self.home = files / "home"

    def run(self, lines):
        """Exit status of the last command, and what all of them printed."""
        self.shell.stdin.write("\n".join(lines) + '\nended=$?; echo; echo "__END__ $ended"\n')
        self.shell.stdin.flush()
        printed = []
        for line in self.shell.stdout:
            if line.startswith("__END__ "):
                return int(line.split()[1]), "".join(printed)
            printed.append(line)
        raise AssertionError(f"{self.name}: the shell ended: {''.join(printed)}")

    def logs(self):
        return "\n".join(f"-- {path}\n{path.read_text(errors='replace')[-1500:]}"
                         for path in (*self.home.rglob("*.log"), *(self.home.parent / "lib").rglob("*.log")))

    def close(self):
        # Only what this shell has started: its own session.
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.shell.pid, how)
            except ProcessLookupError:
                break
            time.sleep(0.5 if how == signal.SIGTERM else 0)
        self.shell.stdin.close()
        self.shell.stdout.close()
        self.shell.wait()


def sections(text):
    """Of a guide: hosts and lines of each part."""
    parts = []
    for line in text.splitlines():
        if line.startswith("    # on "):
            parts.append((line.split()[2:], []))
        elif line.startswith("    ") and parts:
            parts[-1][1].append(line[4:])
        elif not line.strip() and parts:
            parts[-1][1].append("")
        elif parts and parts[-1][0]:
            parts.append(([], []))  # text: what is indented after it and says no host, is not run
    return [(hosts, lines) for hosts, lines in parts if hosts]


def pieces(lines):
    """Of a part: what is run, the last command, and what that one is to print (None: nothing in particular)."""
    run = []
    for line in lines:
        if not line.startswith("#> "):
            run.append(line)
            continue
        while run and not run[-1]:
            run.pop()
        begin = len(run) - 1
        while begin > 0 and run[begin - 1].endswith("\\"):
            begin -= 1
        yield run[:begin], run[begin:], line[3:]
        run = []
    if any(run):
        yield run, [], None


class GuidesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-guide-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.net = PodNetwork("10.90.255.254/16")
        self.net.__enter__()
        self.addCleanup(self.net.close)
        self.hosts = {}
        self.addCleanup(lambda: [host.close() for host in self.hosts.values()])
        (self.folder / "bin").mkdir()
        (self.folder / "bin/fairlead").symlink_to(pathlib.Path(FAIRLEAD).resolve())
        (self.folder / "bin/envoy").symlink_to(envoy_binary())
        (self.folder / "bin/scp").write_text(COPY.replace("@", str(self.folder)))
        (self.folder / "bin/scp").chmod(0o755)

    def host(self, name, address):
        self.hosts[name] = Host(self.net, self.folder, name, address)
        return self.hosts[name]

    def logs(self):
        return "\n".join(f"== {host.name}\n{host.logs()}" for host in self.hosts.values())

    def runs(self, host, lines):
        status, printed = host.run(lines)
        self.assertEqual(status, 0, f"on {host.name}:\n" + "\n".join(lines) + f"\n{printed}\n{self.logs()}")

    def prints(self, host, command, expected):
        end = time.monotonic() + PATIENCE
        while True:
            _, printed = host.run(command)
            if expected in printed:
                return
            if time.monotonic() > end:
                self.fail(f"on {host.name}: {command} prints {printed!r}, not {expected!r}\n{self.logs()}")
            time.sleep(0.1)

    def follow(self, page, **addresses):
        for name, address in addresses.items():
            self.host(name, address)
        parts = sections((ROOT / "docs/guides" / page).read_text())
        self.assertEqual({name for names, _ in parts for name in names}, set(addresses))
        for names, lines in parts:
            for name in names:
                for before, command, expected in pieces(lines):
                    if any(before):
                        self.runs(self.hosts[name], before)
                    if command:
                        self.prints(self.hosts[name], command, expected)

    def test_three_hosts(self):
        self.follow("three-hosts.md", hub="10.90.0.1", web="10.90.0.2", client="10.90.0.3")

    def test_a_gateway(self):
        self.follow("gateway.md", hub="10.90.0.1", edge="10.90.0.9")

    def test_two_replicas(self):
        self.follow("two-replicas.md", one="10.90.0.1", two="10.90.0.2", client="10.90.0.3")

    def test_a_fleet_on_etcd(self):
        if not shutil.which("etcd"):
            self.skipTest("no etcd: scripts/setup.sh cluster installs Debian's")
        self.follow("etcd-fleet.md", one="10.90.0.1", two="10.90.0.2", three="10.90.0.3", edge="10.90.0.9")

    def test_a_virtual_machine(self):
        self.follow("virtual-machine.md", hub="10.90.0.1", vm="10.90.0.2")

    def test_coming_from_istiod(self):
        self.follow("coming-from-istiod.md", hub="10.90.0.1")

    def test_readme_attaches_an_envoy_either_way(self):
        text = (ROOT / "README.md").read_text()
        text = text[text.index("## Attach an Envoy"):]
        text = text[:text.index("\n## ", 5)].replace("FOLDER", "mesh").replace("/usr/bin/envoy", envoy_binary())
        blocks = ["\n".join(line[4:] for line in block.splitlines()).strip()
                  for block in re.findall(r"(?:^(?:    .*|)\n)+", text, re.M) if block.strip()]
        commands = [part for block in blocks for part in block.split("\n\n")]
        discovery = next(part for part in commands if "fairlead discovery" in part).replace("make build\n", "").split("#")[0]
        plain = next(part for part in commands if "localhost:15010" in part)
        plaintext = next(part for part in commands if "kind: PeerAuthentication" in part)
        token = next(part for part in commands if "fairlead token" in part)
        secure = next(part for part in commands if "localhost:15012" in part)
        for name, address, agent, manifest in (("plain", "10.90.0.1", [plain], plaintext), ("secure", "10.90.0.2", [token, secure], "")):
            host = self.host(name, address)
            self.runs(host, ["mkdir mesh build", f"ln -s {self.folder}/bin/fairlead build/fairlead"])
            (host.home / "mesh/mesh.yaml").write_text(manifest)
            self.runs(host, [f"{discovery} > discovery.log 2>&1 &",
                             "curl -sf --retry 20 --retry-delay 1 --retry-connrefused --retry-all-errors localhost:8080/ready"])
            self.runs(host, [*agent[:-1], f"{agent[-1]} > agent.log 2>&1 &"])
            self.prints(host, ["curl -s localhost:15000/ready"], "LIVE")


if __name__ == "__main__":
    unittest.main()
