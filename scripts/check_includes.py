#!/usr/bin/env python3
"""Checks that #include lines and CMake's DEPS go one way. The tables below are the only ones: scripts/draw_rooms.py draws
docs/architecture.md from them, and src/gen/CMakeLists.txt asks here which part links which.

  check_includes.py ROOT            prints file:line for each edge that the table does not have
  check_includes.py --deps FOLDER   prints the rows of FOLDER's sub-folders for CMake: NAME=ROOM,ROOM;NAME=

A folder of src/ includes itself, the folders of its row, and the folders of their rows. The same holds for the sub-folders of a
folder with a table of its own; all of them may include the files of the folder itself.
"""

import pathlib
import re
import sys

ALLOWED = {
    "base": "",
    "proto": "base",
    "config": "base proto",
    "kube": "config fetch",
    "source": "config kube http2 dns",
    "model": "base config",
    "registration": "model source",
    "injection": "model source",
    "registry": "model config",
    "mesh": "cache model config",
    "state": "registry mesh",
    "gateway_api": "state",
    "controllers": "gateway_api injection source",
    "ingress": "state",
    "gen": "cache mesh model proto",
    "cache": "base",
    "xds": "cache proto",
    "simulate": "gateway_api gen source xds",
    "validate": "model source",
    "fetch": "base",
    "jwks": "fetch mesh",
    "push": "gen cache mesh source state xds",
    "ca": "model source xds server",
    "debug": "push mesh registry source xds server",
    "wasm": "fetch proto",
    "dns": "http2 proto",
    "agent": "kube source xds ca server wasm dns",
    "redirect": "base",
    "cni": "kube redirect",
    "http2": "base",
    "server": "base proto http2",
    "webhook": "injection server validate",
    "serving": "debug push server source xds",
    "app": "*",
}

# Of the sub-folders of a folder.
INSIDE = {
    "config": {
        "read": "",
        "cel": "read",
        "schema": "cel read",
        "check": "cel read schema",
    },
    "gen": {
        "resource": "",
        "naming": "resource",
        "hosts": "resource",
        "policy": "hosts naming",
        "patch": "naming",
        "extension": "naming patch",
        "endpoint": "naming policy",
        "cluster": "endpoint patch",
        "route": "naming patch",
        "telemetry": "naming policy",
        "security": "naming policy route",
        "listener": "extension naming patch policy route security telemetry",
        "secret": "naming",
        "gateway": "extension listener naming patch policy route security",
        "name_table": "naming",
        "proxy_config": "naming",
        "object": "naming",
        "grpc": "cluster endpoint naming policy route security",
    },
    "mesh": {
        "index": "",
        "view": "index",
    },
    "push": {
        "stream": "",
        "publish": "stream",
    },
    "gateway_api": {
        "conversion": "",
        "status": "conversion",
    },
    "simulate": {
        "command": "",
    },
    "agent": {
        "bootstrap": "",
        "status": "",
    },
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def reachable(allowed):
    """Each folder's own row and the rows of all it may include."""
    memo = {}

    def visit(folder, path=()):
        if folder in path:
            raise ValueError(f"the table has a cycle: {' -> '.join(path + (folder,))}")
        if folder not in memo:
            row = list(allowed) if allowed[folder] == "*" else allowed[folder].split()
            below = {folder, *row}
            for other in row:
                if other != folder:
                    below |= visit(other, path + (folder,))
            memo[folder] = below
        return memo[folder]

    for folder in allowed:
        visit(folder)
    return memo


def sub_folder(path):
    """"check" of config/check/names.h; none of config/read/yaml.h."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else None


def violations(sources, allowed, inside={}):
    """sources: {path relative to src: text}. Yields "path:line: message" for each forbidden edge."""
    reach = reachable(allowed)
    reach_inside = {folder: reachable(table) for folder, table in inside.items()}
    for path, text in sorted(sources.items()):
        folder = path.split("/")[0]
        if folder not in allowed:
            yield f"src/{path}:1: folder {folder} has no row in the table of allowed includes"
            continue
        part, parts = sub_folder(path), reach_inside.get(folder, {})
        if part and parts and part not in parts:
            yield f"src/{path}:1: folder {folder}/{part} has no row in the table of allowed includes"
            continue
        for number, line in enumerate(text.splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            included = found.group(1)
            if included.startswith(("./", "../")):
                yield f'src/{path}:{number}: "{included}" is relative; includes start at src/'
                continue
            # A generated header counts as proto's, whatever its path: xds/core/v3/resource.pb.h is not src/xds.
            target = "proto" if included.endswith(".pb.h") else included.split("/")[0]
            if target in allowed and target not in reach[folder]:
                yield f"src/{path}:{number}: {folder} must not include {target} ({included})"
            other = sub_folder(included)
            if target == folder and part and other in parts and other not in parts[part]:
                yield f"src/{path}:{number}: {folder}/{part} must not include {folder}/{other} ({included})"


FOLDER_CALL = re.compile(r"fairlead_folder\((\w+)\b([^)]*)\)")


def link_violations(texts, allowed):
    """texts: {room: text of its CMakeLists.txt}. Yields a message for each of its libraries that its room must not include."""
    reach = reachable(allowed)
    for room, text in sorted(texts.items()):
        for _, words in FOLDER_CALL.findall(text):
            linked = words.partition("DEPS ")[2].partition("TEST_DEPS ")[0].split()
            yield from (f"src/{room}/CMakeLists.txt:1: {room} must not link {other}"
                        for other in linked if other in allowed and other not in reach[room])


def rows_for_cmake(table):
    return ";".join(f"{name}={','.join(row.split())}" for name, row in table.items())


def main(root):
    src = pathlib.Path(root) / "src"
    paths = [p for p in src.rglob("*") if p.suffix in (".h", ".cc", ".inc")]
    found = list(violations({str(p.relative_to(src)): p.read_text() for p in paths}, ALLOWED, INSIDE))
    found += link_violations({p.parent.name: p.read_text() for p in src.glob("*/CMakeLists.txt") if p.parent.name in ALLOWED}, ALLOWED)
    print("\n".join(found) if found else f"{len(paths)} files, every include goes one way")
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1] == "--deps":
        sys.exit(print(rows_for_cmake(INSIDE[sys.argv[2]])))
    sys.exit(main(sys.argv[1]))
