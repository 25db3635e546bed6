#!/usr/bin/env python3
"""Makes one of the benchmark's changes; xdsload runs it as a trigger.

  MARKER=... change.py NAME          writes changes/NAME.yaml with the marker into the mesh's folder, $MESH, atomically
  MARKER=... change.py NAME APPLY    hands the same to the shell command APPLY, on standard input
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def text_of(name, marker):
    return (HERE / "changes" / f"{name}.yaml").read_text().replace("$MARKER", marker)


def write(path, text):
    """Readers see the old file or the new one, never half of it."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    new.rename(path)


def main():
    name, marker = sys.argv[1], os.environ["MARKER"]
    text = text_of(name, marker)
    if len(sys.argv) > 2:
        subprocess.run(["sh", "-c", sys.argv[2]], input=text.encode(), check=True)
        return
    # A service is new each time, the others are the same object with another content.
    suffix = f"-{marker}" if name == "service" else ""
    write(pathlib.Path(os.environ["MESH"]) / f"change-{name}{suffix}.yaml", text)


if __name__ == "__main__":
    main()
