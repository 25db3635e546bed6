#!/usr/bin/env python3
"""Checks that #include lines go one way, by the table of docs/architecture.md.

  check_includes.py ROOT

A folder of src/ includes itself, the folders that its row names, and what those may include in turn. Inside of a folder
that has a table of its own, so do its sub-folders; what lies in the folder itself is at the disposal of all of them.
Prints file:line for each edge that the table does not have.
"""

import pathlib
import re
import sys

ALLOWED = {
    "base": "",
    "proto": "base",
    "kube": "base",
    "config": "base proto",
    "source": "config kube",
    "model": "base config",
    "registry": "model config",
    "mesh": "cache model config",
    "state": "registry mesh",
    "gateway_api": "state",
    "ingress": "state",
    "gen": "cache mesh model proto",
    "cache": "base",
    "xds": "cache proto",
    "simulate": "gateway_api gen source xds",
    "validate": "model source",
    "fetch": "base",
    "jwks": "fetch mesh",
    "push": "gen cache mesh source xds",
    "ca": "fetch kube config model xds rpc",
    "webhook": "kube config model gen rpc validate",
    "debug": "push mesh registry source xds rpc",
    "wasm": "fetch proto",
    "agent": "kube source xds ca rpc wasm",
    "transport": "base",
    "rpc": "base proto transport",
    "transports": "debug push rpc source xds",
    "app": "*",
}

# Of the sub-folders of a folder.
INSIDE = {
    "config": {
        "cel": "",
        "schema": "cel",
        "check": "cel schema",
    },
    "gen": {
        "naming": "",
        "policy": "naming",
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
    "gateway_api": {
        "conversion": "",
        "status": "conversion",
    },
    "simulate": {
        "command": "",
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
    """"check" of config/check/names.h; none of config/yaml.h."""
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


def main(root):
    src = pathlib.Path(root) / "src"
    paths = [p for p in src.rglob("*") if p.suffix in (".h", ".cc", ".inc")]
    found = list(violations({str(p.relative_to(src)): p.read_text() for p in paths}, ALLOWED, INSIDE))
    print("\n".join(found) if found else f"{len(paths)} files, every include goes one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
