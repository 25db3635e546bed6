"""The Debian package: it is built, installed below a root of its own, and what it installed works.

  packaging_test.py BINARY SOURCE
"""
import gzip
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


class PackagingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        cls.package = run("sh", SOURCE / "packaging/deb.sh", BINARY, folder).strip()
        cls.root = folder / "root"
        for path in ("var/lib/dpkg/info", "var/lib/dpkg/updates"):
            (cls.root / path).mkdir(parents=True)
        (cls.root / "var/lib/dpkg/status").write_text("")
        (cls.root / "etc").mkdir()
        for name in ("passwd", "group", "shadow", "gshadow"):
            (cls.root / "etc" / name).write_text("")
        # Of an earlier unit, which kept it below its working folder.
        old = cls.root / "var/lib/fairlead/var/lib/fairlead/ca"
        old.mkdir(parents=True)
        (old / "ca-key.pem").write_text("an old key")
        # The libraries that it depends on are the machine's, not the root's.
        run("dpkg", f"--root={cls.root}", "--force-depends", "--force-script-chrootless", "--install", cls.package)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_program_runs(self):
        self.assertEqual(run(self.root / "usr/bin/fairlead", "--version"), run(BINARY, "--version"))
        service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n"
        run(self.root / "usr/bin/fairlead", "validate", "-", input=service)

    def test_it_says_which_libraries_it_needs(self):
        depends = run("dpkg-deb", "--field", self.package, "Depends")
        self.assertIn("libc6", depends)
        self.assertIn("libprotobuf", depends)

    def test_the_manual_names_every_command_and_its_flags(self):
        page = gzip.decompress((self.root / "usr/share/man/man1/fairlead.1.gz").read_bytes()).decode()
        for command in ("DISCOVERY", "AGENT", "VALIDATE", "SIMULATE"):
            self.assertIn(f".SH {command}\n", page)
        self.assertIn("\\-\\-configDir", page)

    def test_completion_offers_commands_and_flags(self):
        script = (f"PATH={self.root}/usr/bin:$PATH; . {self.root}/usr/share/bash-completion/completions/fairlead; "
                  "COMP_WORDS=(fairlead dis); COMP_CWORD=1; _fairlead; echo ${COMPREPLY[@]}; "
                  "COMP_WORDS=(fairlead discovery --configD); COMP_CWORD=2; _fairlead; echo ${COMPREPLY[@]}")
        self.assertEqual(run("bash", "-c", script).split(), ["discovery", "--configDir"])

    def unit(self, name):
        return self.root / f"usr/lib/systemd/system/{name}.service"

    def start_of(self, name, machine="", **settings):
        """Words and environment that the unit starts with, by systemd's rules, where /etc/default says `settings` and
        cluster.env is the text `machine`."""
        environment, command = {}, ""
        for line in self.unit(name).read_text().splitlines():
            key, _, value = line.partition("=")
            if key == "Environment":
                environment[value.partition("=")[0]] = value.partition("=")[2]
            if key == "EnvironmentFile":
                self.assertIn(value, (f"-/etc/default/{name}", "-/etc/fairlead/agent/cluster.env"))
                # A later setting of a variable replaces an earlier one.
                environment |= settings if value.startswith("-/etc/default/") else dict(
                    shlex.split(line)[0].split("=", 1) for line in machine.splitlines())
            if key == "ExecStart":
                command = value
        words = []
        for word in command.split():
            if word.startswith("${"):
                words.append(environment.get(word[2:-1], ""))
            elif word.startswith("$"):
                words += environment.get(word[1:], "").split()
            else:
                words.append(word)
        return words, environment

    def test_systemd_has_nothing_to_say_against_the_units(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("there is no systemd-analyze")
        for name in ("fairlead", "fairlead-agent"):
            with self.subTest(name):
                text = self.unit(name).read_text().replace("/usr/bin/fairlead", str(self.root / "usr/bin/fairlead"))
                copy = pathlib.Path(self.folder.name) / f"{name}.service"
                copy.write_text(text.replace("Documentation=man:fairlead(1)\n", ""))  # which is not installed here
                said = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
                self.assertNotIn(str(copy), said.stderr + said.stdout)

    def test_further_flags_replace_none_of_the_units(self):
        words, _ = self.start_of("fairlead", FAIRLEAD_ARGS="--log_as_json --onInvalid refuse")
        self.assertEqual(words[:4], ["/usr/bin/fairlead", "discovery", "--configDir", "/etc/fairlead/mesh"])
        self.assertEqual(words[-3:], ["--log_as_json", "--onInvalid", "refuse"])
        self.assertEqual(words[8:10], ["--stateDir", "/var/lib/fairlead"])  # where `fairlead token` looks, too
        self.assertIn("/elsewhere", self.start_of("fairlead", FAIRLEAD_CONFIG_DIR="/elsewhere")[0])

    def completed(self, *words):
        quoted = " ".join(f"'{word}'" for word in ("fairlead", *words))
        script = (f"PATH={self.root}/usr/bin:$PATH; . {self.root}/usr/share/bash-completion/completions/fairlead; "
                  f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _fairlead; echo ${{COMPREPLY[@]}}")
        return run("bash", "-c", script).split()

    def test_completion_offers_flags_that_exist_each_once(self):
        self.assertEqual(self.completed("discovery", "--ctrlz"), ["--ctrlz_address", "--ctrlz_port"])
        self.assertEqual(self.completed("discovery", "--log"),
                         ["--log_as_json", "--log_caller", "--log_output_level", "--log_target"])
        for command in ("discovery", "simulate", "status", "token", "validate"):
            offered = self.completed(command, "--")
            self.assertEqual(len(offered), len(set(offered)), command)
            for flag in offered:
                known = subprocess.run([self.root / "usr/bin/fairlead", command, flag], capture_output=True, text=True, input="",
                                       cwd=self.folder.name)
                self.assertNotRegex(known.stderr, f"unknown flag {flag}|not expected: {flag}", command)

    def test_completion_offers_the_agents_roles(self):
        self.assertEqual(self.completed("agent", "s"), ["sidecar"])
        self.assertEqual(self.completed("agent", ""), ["bootstrap", "grpc-bootstrap", "router", "sidecar"])
        self.assertEqual(self.completed("agent", "bootstrap", ""), ["router", "sidecar"])

    def test_the_unit_starts_what_was_installed(self):
        words, environment = self.start_of("fairlead", FAIRLEAD_ARGS="--log_as_json --grpcAddr=127.0.0.1:0 --httpAddr= --monitoringAddr= "
                                                                    "--secureGRPCAddr= --httpsAddr= --ctrlz_port=0")
        below = lambda text: f"{self.root}{text}" if text.startswith(("/etc", "/var", "/usr")) else text
        state = self.root / "var/lib/fairlead"
        environment = {name: below(value) for name, value in environment.items()}
        server = subprocess.Popen([below(word) for word in words], cwd=state, env=os.environ | environment, stdout=subprocess.PIPE, text=True)
        try:
            lines = []
            for line in server.stdout:
                lines.append(json.loads(line))
                if "ready after" in lines[-1]["msg"]:
                    break
            # The folder is empty until somebody writes manifests, and that is the only thing to warn of.
            self.assertEqual([line["msg"].rpartition(" ")[2] for line in lines if line["level"] not in ("info", "debug")], ["(empty-folder)"])
        finally:
            server.terminate()
            self.assertEqual(server.wait(30), 0)
            server.stdout.close()

    def test_the_agents_unit_starts_what_was_installed(self):
        words, environment = self.start_of("fairlead-agent", FAIRLEAD_AGENT_ROLE="router",
                                           FAIRLEAD_AGENT_ARGS="--discoveryAddress x:15012")
        self.assertEqual(words[:3], ["/usr/bin/fairlead", "agent", "router"])
        bootstrap = json.loads(run(self.root / "usr/bin/fairlead", "agent", "bootstrap", *words[2:], env=os.environ | environment))
        self.assertTrue(bootstrap["node"]["id"].startswith("router~"))
        self.assertTrue((self.root / "etc/fairlead/agent").is_dir())
        text = self.unit("fairlead-agent").read_text()
        self.assertIn("User=istio-proxy\n", text)
        self.assertIn("istio-proxy:x:1337:1337:", (self.root / "etc/passwd").read_text())

    def test_the_agents_unit_takes_the_files_of_a_virtual_machine(self):
        """As `istioctl x workload entry configure` writes them."""
        machine = ("ISTIO_METAJSON_LABELS='{\"app\":\"web\"}'\nISTIO_META_AUTO_REGISTER_GROUP=web\nISTIO_META_WORKLOAD_NAME=web\n"
                   "POD_NAMESPACE=shop\nSERVICE_ACCOUNT=web\nTRUST_DOMAIN=cluster.local\nISTIO_META_MESH_ID=''\n")
        words, environment = self.start_of("fairlead-agent", machine, SERVICE_ACCOUNT="other")
        at = words.index("--meshConfig") + 1
        self.assertEqual(words[at], "/etc/fairlead/agent/mesh.yaml")
        words[at] = pathlib.Path(self.folder.name) / "mesh.yaml"
        words[at].write_text("defaultConfig:\n  discoveryAddress: istiod-canary.istio-system.svc:15012\n"
                             "  readinessProbe: {httpGet: {port: 8000}}\n")
        bootstrap = json.loads(run(self.root / "usr/bin/fairlead", "agent", "bootstrap", *words[2:], env=os.environ | environment))
        metadata = bootstrap["node"]["metadata"]
        self.assertEqual([metadata[key] for key in ("AUTO_REGISTER_GROUP", "WORKLOAD_NAME", "NAMESPACE", "SERVICE_ACCOUNT")],
                         ["web", "web", "shop", "other"])
        self.assertEqual(metadata["LABELS"], {"app": "web"})
        self.assertEqual(metadata["PROXY_CONFIG"]["discoveryAddress"], "istiod-canary.istio-system.svc:15012")

    def test_an_earlier_units_keys_are_found(self):
        self.assertEqual((self.root / "var/lib/fairlead/ca/ca-key.pem").read_text(), "an old key")

    def test_settings_that_were_changed_stay(self):
        listed = run("dpkg", f"--root={self.root}", "--status", "fairlead")
        for path in ("/etc/default/fairlead", "/etc/default/fairlead-agent", "/etc/fairlead/mesh.yaml", "/etc/fairlead/networks.yaml"):
            self.assertIn(f" {path} ", listed)
            self.assertTrue((self.root / path[1:]).exists(), path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
