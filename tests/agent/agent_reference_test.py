#!/usr/bin/env python3
"""docs/agent.md has the agent's flags and variables as its help has them: names, defaults, meanings; all, and nothing else.

  agent_reference_test.py FAIRLEAD
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

FAIRLEAD = ""
PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/agent.md"


def helped(section):
    """{name: (default, meaning)} of a section of the help."""
    text = subprocess.run([FAIRLEAD, "agent", "--help"], capture_output=True, text=True, check=True).stdout
    lines = text.partition(f"\n{section}:\n")[2].split("\n")
    found = {}
    for line in lines:
        row = re.fullmatch(r"  (\S+) +(.*?)(?: \[([^\]]*)\])?", line)
        if not row:
            break
        found[row[1]] = (row[3] or "", row[2])
    return found


def documented(title):
    rows = PAGE.read_text().partition(f"\n## {title}\n")[2].split("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in rows.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): (row[1].strip("`"), row[2].replace("\\|", "|")) for row in cells}


class ReferenceTest(unittest.TestCase):
    maxDiff = None

    def test_flags(self):
        self.assertGreater(len(helped("flags")), 20)
        self.assertEqual(documented("Flags"), helped("flags"))

    def test_variables(self):
        self.assertGreater(len(helped("environment")), 60)
        self.assertEqual(documented("Variables"), helped("environment"))

    def test_version_in_the_forms_of_istios_agent(self):
        def said(*words):
            return subprocess.run([FAIRLEAD, "agent", "version", *words], capture_output=True, text=True, check=True).stdout.strip()
        self.assertRegex(said(), r'^client version: version\.BuildInfo\{Version:"1\.\d+\.\d+", GitRevision:"fairlead-[^"]+", '
                                 r'GolangVersion:"none", BuildStatus:"Clean", GitTag:"fairlead-[^"]+"\}$')
        version = json.loads(said("-o", "json"))["clientVersion"]["version"]
        self.assertEqual(said("--short"), f"client version: {version}")
        self.assertIn(f"  version: {version}\n", said("-oyaml"))
        wrong = subprocess.run([FAIRLEAD, "agent", "version", "-o", "xml"], capture_output=True, text=True)
        self.assertEqual((wrong.returncode, wrong.stderr), (2, "fairlead agent version: --output must be 'yaml' or 'json'\n"))


if __name__ == "__main__":
    FAIRLEAD = sys.argv.pop(1)
    unittest.main()
