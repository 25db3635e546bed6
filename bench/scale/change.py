#!/usr/bin/env python3
"""Makes one of the benchmark's changes; xdsload runs it as a trigger.

  MARKER=... change.py NAME          writes changes/NAME.yaml with the marker into the mesh's folder, $MESH, atomically
  MARKER=... change.py NAME APPLY    hands the same to the shell command APPLY, on standard input
"""
import os
import sys

# Few imports: the time that this takes is part of what is measured.
HERE = os.path.dirname(os.path.abspath(__file__))


def text_of(name, marker):
    with open(f"{HERE}/changes/{name}.yaml", encoding="utf-8") as file:
        return file.read().replace("$MARKER", marker)


def write(path, text):
    """Readers see the old file or the new one, never half of it."""
    folder, name = os.path.split(path)
    new = os.path.join(folder, f".{name}.new")
    with open(new, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(new, path)


def main():
    name, marker = sys.argv[1], os.environ["MARKER"]
    text = text_of(name, marker)
    if len(sys.argv) > 2:
        import subprocess

        subprocess.run(["sh", "-c", sys.argv[2]], input=text.encode(), check=True)
        return
    # A service is new each time, the others are the same object with another content.
    suffix = f"-{marker}" if name == "service" else ""
    write(os.path.join(os.environ["MESH"], f"change-{name}{suffix}.yaml"), text)


if __name__ == "__main__":
    main()
