#!/usr/bin/env python3
"""The manual page of a binary, from what it says itself: manual.py BINARY"""
import subprocess
import sys


def ask(binary, *arguments):
    return subprocess.run([binary, *arguments], capture_output=True, text=True, check=True).stdout


def escape(line):
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line.startswith((".", "'")) else line


def verbatim(text):
    return [".nf", *map(escape, text.rstrip().splitlines()), ".fi"]


def page(binary):
    version = ask(binary, "--version").split()[-1]
    overview = ask(binary, "--help")
    commands = [line.split()[0] for line in overview.splitlines() if line.startswith("  ")]
    lines = [f'.TH FAIRLEAD 1 "" "fairlead {version}"', ".SH NAME", "fairlead \\- service\\-mesh control plane",
             ".SH SYNOPSIS", ".B fairlead", ".I COMMAND", "[FLAGS]", ".SH COMMANDS", *verbatim(overview)]
    for command in commands:
        lines += [f".SH {command.upper()}", *verbatim(ask(binary, "help", command))]
    lines += [".SH EXIT STATUS", "0 if all went well, 1 if it did not, 2 for a wrong call."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(sys.argv[1]))
