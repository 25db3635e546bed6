#!/usr/bin/env python3
"""Draws the pictures of docs/architecture.md from the tables that the checks use, so that they cannot lie.

  draw_rooms.py ROOT            says where the document differs from the tables
  draw_rooms.py ROOT --write    writes the pictures and the column "may include"

The rooms and their arrows come from ALLOWED of scripts/check_includes.py; a room without sources is left out. The two lives (of a
change, of a request) come from the document's own tables of steps, whose files must exist.
"""

import pathlib
import re
import sys

from check_includes import ALLOWED, reachable

DOCUMENT = "docs/architecture.md"
PRINTED = re.compile(r"(<!-- printed by scripts/draw_rooms\.py: ([\w ]+) -->\n).*?(<!-- end -->)", re.S)
ROOM_ROW = re.compile(r"^\| `src/(\w+)` \| (.*?) \|([^|]*)\|$", re.M)
STEP_ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \|$")
FILE = re.compile(r"`([\w/*]+(?:/[\w*]*|\.\w+))`")


def rooms_with_sources(src):
    return [room for room in ALLOWED if any(path.suffix in (".h", ".cc", ".inc") for path in (src / room).rglob("*"))]


def below(room, rooms, allowed):
    """The rooms that this one includes directly and through no other room."""
    reach = reachable(allowed)
    row = [other for other in (allowed if allowed[room] == "*" else allowed[room].split()) if other in rooms and other != room]
    return [other for other in row if not any(other in reach[third] for third in row if third != other)]


def picture_of_rooms(rooms, allowed):
    lines = ["```mermaid", "flowchart TB"]
    lines += [f"  {room} --> {' & '.join(below(room, rooms, allowed))}" for room in reversed(rooms) if below(room, rooms, allowed)]
    return "\n".join([*lines, "```", ""])


def steps(text, life):
    """The rows below the heading "### The life of a LIFE"."""
    section = text.partition(f"\n### The life of a {life}\n")[2].split("\n### ")[0].split("\n## ")[0]
    rows = [match.groups() for line in section.splitlines() if (match := STEP_ROW.match(line))]
    return [row for row in rows[1:] if not set(row[0]) <= set("-| ")]


def picture_of_life(rows):
    """A box a step, threads as frames around steps that follow one another."""
    lines, thread = ["```mermaid", "flowchart TB"], None
    for number, (step, where, _) in enumerate(rows):
        if where != thread:
            lines += (["  end"] if thread is not None else []) + [f'  subgraph t{number} ["{where}"]']
            thread = where
        lines.append(f'    s{number}["{step.replace("`", "")}"]')
    lines += ["  end"] + [f"  s{number} --> s{number + 1}" for number in range(len(rows) - 1)]
    return "\n".join([*lines, "```", ""])


def drawn(text, rooms, allowed):
    """The document as it has to be."""
    def picture(match):
        subject = match[2]
        body = picture_of_rooms(rooms, allowed) if subject == "rooms" else picture_of_life(steps(text, subject.removeprefix("life of a ")))
        return match[1] + body + match[3]

    def row(match):
        name, holds, _ = match.groups()
        if name not in allowed:
            return match[0]
        included = "all" if allowed[name] == "*" else " ".join(other for other in allowed[name].split() if other in rooms) or "none"
        return f"| `src/{name}` | {holds} | {included} |"
    return ROOM_ROW.sub(row, PRINTED.sub(picture, text))


def differences(text, rooms, allowed, exists):
    """Messages about a document that is not as drawn, lacks a room or names a file that is not there."""
    messages = []
    if drawn(text, rooms, allowed) != text:
        messages.append(f"{DOCUMENT}: pictures or tables are not as the rooms are; run scripts/draw_rooms.py . --write")
    written = [match[1] for match in ROOM_ROW.finditer(text)]
    messages += [f"{DOCUMENT}: room {room} has no row" for room in rooms if room not in written]
    messages += [f"{DOCUMENT}: there is no room {room}" for room in written if room not in rooms]
    for life in ("change", "request"):
        rows = steps(text, life)
        messages += [] if rows else [f"{DOCUMENT}: the life of a {life} has no steps"]
        messages += [f"{DOCUMENT}: there is no {name}" for row in rows for name in FILE.findall(row[2]) if not exists(name)]
    return messages


def main(root, *options):
    root = pathlib.Path(root)
    path = root / DOCUMENT
    text, rooms = path.read_text(encoding="utf-8"), rooms_with_sources(root / "src")
    if "--write" in options:
        text = drawn(text, rooms, ALLOWED)
        path.write_text(text, encoding="utf-8")
    messages = differences(text, rooms, ALLOWED, lambda name: any((root / "src").glob(name.rstrip("/").replace("TYPE", "*"))))
    print("\n".join(messages) or f"{len(rooms)} rooms as drawn")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
