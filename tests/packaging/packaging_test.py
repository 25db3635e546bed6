"""The Debian package: it is built, installed below a root of its own, and what it installed works.

  packaging_test.py BINARY SOURCE
"""
import gzip
import pathlib
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

    def test_the_unit_starts_what_was_installed(self):
        unit = (self.root / "usr/lib/systemd/system/fairlead.service").read_text()
        self.assertIn("ExecStart=/usr/bin/fairlead discovery", unit)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
