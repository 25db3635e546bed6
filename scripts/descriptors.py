#!/usr/bin/env python3
"""Makes the descriptor sets that the build generates C++ from and embeds.

  descriptors.py --deps DIR --own DIR --roots FILE --out DIR

Reads the Envoy API (serialized inside the Python modules of xds-protos, its contrib extensions inside Go sources), Istio's
and Kubernetes' .proto files from the dependency folder, this project's own .proto files, and protobuf's well-known types. Writes into the output folder:

  generate.binpb     the files to generate C++ for, as C++ wants it (see for_cpp): input of protoc --cpp_out
  whole_api.binpb    Envoy's, xDS', Istio's and gRPC's files and what they import, as their authors named things
  kubernetes.binpb   the Kubernetes API's files
  generated.txt      the files to generate C++ for, in the order of their imports
  *.yaml             the CRDs of Istio and of the Gateway API

Outputs that would not change are not touched. Needs Python's standard library and protoc alone.
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys
import tempfile

import wire

# Field numbers of google/protobuf/descriptor.proto.
FILE_NAME, FILE_PACKAGE, FILE_DEPENDENCY, FILE_PUBLIC_DEPENDENCY, FILE_WEAK_DEPENDENCY = 1, 2, 3, 10, 11
MESSAGE_NAME, ENUM_NAME, FIELD_NAME, FIELD_JSON_NAME = 1, 1, 1, 10
FIELD_EXTENDEE, FIELD_TYPE_NAME, METHOD_INPUT, METHOD_OUTPUT = 2, 6, 2, 3

# The messages inside each kind of descriptor: field number -> kind.
CHILDREN = {
    "file": {4: "message", 5: "enum", 6: "service", 7: "field", 8: "options"},
    "message": {2: "field", 3: "message", 4: "enum", 5: "range", 6: "field", 7: "options", 8: "oneof"},
    "field": {8: "options"},
    "oneof": {2: "options"},
    "range": {3: "options"},
    "enum": {2: "value", 3: "options"},
    "value": {3: "options"},
    "service": {2: "method", 3: "options"},
    "method": {4: "options"},
    "options": {},
}

# Options from here on are extensions: validation rules, annotations.
FIRST_CUSTOM_OPTION = 1000

# What C++20 reserves and protoc 3.21 does not yet know about (it escapes C++11's words itself).
CPP20_WORDS = {
    "char8_t", "concept", "consteval", "constinit", "co_await", "co_return", "co_yield", "requires",
}  # fmt: skip

# Names in istio.io/api are relative to its root; here they get a folder of their own, so that an include says whose it is.
ISTIO_PREFIX = "istio/"
ISTIO_FOLDERS = (
    "analysis", "envoy", "extensions", "mcp", "mesh", "meta", "networking", "security", "telemetry", "type",
)  # fmt: skip


def python_descriptors(folder):
    """The FileDescriptorProtos that protoc put as bytes literals into *_pb2.py; the modules are read, never run."""
    files = {}
    for path in sorted(folder.rglob("*_pb2.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "AddSerializedFile":
                encoded = node.args[0].value
                files[wire.strings(wire.parse(encoded), FILE_NAME)[0]] = encoded
    return files


GO_ESCAPE = re.compile(r'\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))')
GO_LETTERS = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, '"': 34}


def go_string(literal):
    """The bytes that a Go string literal stands for; Go's \\x is a byte, its \\u a character."""
    out, at = bytearray(), 0
    for found in GO_ESCAPE.finditer(literal):
        out += literal[at : found.start()].encode()
        byte, short, long, letter = found.groups()
        if byte:
            out.append(int(byte, 16))
        elif letter:
            out.append(GO_LETTERS[letter])
        else:
            out += chr(int(short or long, 16)).encode()
        at = found.end()
    return bytes(out + literal[at:].encode())


def go_descriptors(folder):
    """The FileDescriptorProtos that protoc-gen-go put as string literals into *.pb.go."""
    files = {}
    for path in sorted(folder.rglob("*.pb.go")):
        found = re.search(r'^const \w+_rawDesc = ""((?: \+\n\t".*")+)$', path.read_text(), re.MULTILINE)
        if not found:
            sys.exit(f"descriptors.py: {path} holds no descriptor")
        encoded = b"".join(go_string(line[2:-1]) for line in found.group(1).replace(" +\n", "\n").splitlines()[1:])
        files[wire.strings(wire.parse(encoded), FILE_NAME)[0]] = encoded
    return files


def compile_protos(roots, names):
    """What protoc makes of .proto files: {file name: encoded FileDescriptorProto}, imports included."""
    with tempfile.NamedTemporaryFile(suffix=".binpb") as out:
        command = ["protoc", "--include_imports", f"--descriptor_set_out={out.name}"]
        command += [f"-I{root}" for root in roots] + sorted(names)
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        encoded = pathlib.Path(out.name).read_bytes()
    files = [value for number, _, value in wire.parse(encoded) if number == 1]
    return {wire.strings(wire.parse(file), FILE_NAME)[0]: file for file in files}


def with_file_names(files, rename):
    """The same files under other file names, in their own heads and in the imports of each other."""

    def edit(encoded):
        fields = wire.parse(encoded)
        for i, (number, kind, value) in enumerate(fields):
            if number in (FILE_NAME, FILE_DEPENDENCY) and value.decode() in files:
                fields[i] = (number, kind, rename(value.decode()).encode())
        return wire.join(fields)

    return {rename(name): edit(encoded) for name, encoded in files.items()}


def rewrite(data, edit, kind="file"):
    """Rebuilds a descriptor bottom-up; edit(kind, fields) gives each part's new fields."""
    children = CHILDREN[kind]
    fields = [
        (n, k, rewrite(v, edit, children[n])) if n in children and k == wire.BYTES else (n, k, v)
        for n, k, v in wire.parse(data)
    ]
    return wire.join(edit(kind, fields))


def for_cpp(kind, fields):
    """Renames fields that are C++20 words: `requires` becomes `requires_`, and JSON goes on saying `requires`.

    Leaves custom options out: generated code has no use for them, and their headers are most of a clean build's time."""
    if kind == "options":
        return [field for field in fields if field[0] < FIRST_CUSTOM_OPTION]
    if kind != "field":
        return fields
    name = wire.strings(fields, FIELD_NAME)[0]
    if name not in CPP20_WORDS:
        return fields
    json_name = (wire.strings(fields, FIELD_JSON_NAME) or [name])[0]
    kept = [field for field in fields if field[0] not in (FIELD_NAME, FIELD_JSON_NAME)]
    return kept + [(FIELD_NAME, wire.BYTES, f"{name}_".encode()), (FIELD_JSON_NAME, wire.BYTES, json_name.encode())]


def types(encoded):
    """The full names, with a dot first, of the types that a file defines, and of those that it uses."""
    defined, used = set(), set()

    def visit(kind, fields, scope):
        if kind == "field":
            used.update(wire.strings(fields, FIELD_TYPE_NAME) + wire.strings(fields, FIELD_EXTENDEE))
        elif kind == "method":
            used.update(wire.strings(fields, METHOD_INPUT) + wire.strings(fields, METHOD_OUTPUT))
        elif kind in ("message", "enum"):
            scope += "." + wire.strings(fields, MESSAGE_NAME)[0]
            defined.add(scope)
        for number, _, value in fields:
            if number in CHILDREN[kind]:
                visit(CHILDREN[kind][number], wire.parse(value), scope)

    fields = wire.parse(encoded)
    visit("file", fields, "".join("." + package for package in wire.strings(fields, FILE_PACKAGE)))
    return defined, used


def without_types_of(files, others):
    """The files that define no type which the others define: Envoy's contrib has copies of Istio's filters."""
    taken = set().union(*(types(encoded)[0] for encoded in others.values()))
    return {name: encoded for name, encoded in files.items() if not types(encoded)[0] & taken}


def check_unique(files, names):
    """Stops at a type that two files define: a pool of them could not be built."""
    owner = {}
    for name in names:
        for defined in types(files[name])[0]:
            if defined in owner:
                sys.exit(f"descriptors.py: {owner[defined]} and {name} both define {defined}")
            owner[defined] = name


def without_unused_imports(files):
    """The same files, importing only files that they take a type from. Public imports stay, their positions adjusted."""
    known = {name: types(encoded) for name, encoded in files.items()}
    reexported = {}

    def offers(name):
        if name not in reexported:
            fields = wire.parse(files[name])
            imports = wire.strings(fields, FILE_DEPENDENCY)
            public = [imports[value] for number, _, value in fields if number == FILE_PUBLIC_DEPENDENCY]
            reexported[name] = known[name][0].union(*(offers(other) for other in public))
        return reexported[name]

    def edit(name, encoded):
        fields = wire.parse(encoded)
        imports = wire.strings(fields, FILE_DEPENDENCY)
        public = {imports[value] for number, _, value in fields if number == FILE_PUBLIC_DEPENDENCY}
        kept = [other for other in imports if other in public or offers(other) & known[name][1]]
        fields = [f for f in fields if f[0] not in (FILE_DEPENDENCY, FILE_PUBLIC_DEPENDENCY, FILE_WEAK_DEPENDENCY)]
        fields += [(FILE_DEPENDENCY, wire.BYTES, other.encode()) for other in kept]
        fields += [(FILE_PUBLIC_DEPENDENCY, wire.VARINT, kept.index(other)) for other in kept if other in public]
        return wire.join(fields)

    return {name: edit(name, encoded) for name, encoded in files.items()}


def closure(files, roots):
    """The roots and all they import, each file after its imports."""
    ordered, state = [], {}

    def visit(name, wanted_by):
        if state.get(name) == "done":
            return
        if name not in files:
            sys.exit(f"descriptors.py: {wanted_by} imports {name}, which no dependency has")
        state[name] = "done"
        for dependency in wire.strings(wire.parse(files[name]), FILE_DEPENDENCY):
            visit(dependency, name)
        ordered.append(name)

    for root in sorted(roots):
        visit(root, "the list of roots")
    return ordered


def select(files, patterns):
    """Files named by the patterns: a file, or a folder (ending in /) with all below it. A pattern must match something."""
    chosen = set()
    for pattern in patterns:
        found = [n for n in files if n == pattern or (pattern.endswith("/") and n.startswith(pattern))]
        if not found:
            sys.exit(f"descriptors.py: nothing matches {pattern}")
        chosen.update(found)
    return chosen


def write(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def descriptor_set(files, names):
    return wire.join([(1, wire.BYTES, files[name]) for name in names])


def istio_files(schemas):
    api = schemas / "istio.io/api"
    names = [str(p.relative_to(api)) for folder in ISTIO_FOLDERS for p in (api / folder).rglob("*.proto")]
    compiled = compile_protos([api, api / "common-protos"], names)
    return with_file_names({name: compiled[name] for name in names}, lambda name: ISTIO_PREFIX + name)


def kubernetes_files(schemas):
    names = [str(p.relative_to(schemas)) for p in (schemas / "k8s.io").rglob("generated.proto")]
    return compile_protos([schemas], names)


def own_files(folder):
    return compile_protos([folder], [str(p.relative_to(folder)) for p in folder.rglob("*.proto")])


def well_known_files():
    names = "any api descriptor duration empty field_mask source_context struct timestamp type wrappers".split()
    return compile_protos(["/usr/include"], [f"google/protobuf/{name}.proto" for name in names])


def documents(paths):
    """YAML files as one, with a separator before each."""
    return b"".join(b"---\n" + path.read_bytes().removeprefix(b"---\n") for path in paths)


def main():
    parser = argparse.ArgumentParser()
    for flag in ("deps", "own", "roots", "out"):
        parser.add_argument(f"--{flag}", type=pathlib.Path, required=True)
    args = parser.parse_args()
    schemas = args.deps / "schemas"
    args.out.mkdir(parents=True, exist_ok=True)

    kubernetes = kubernetes_files(schemas)
    files = python_descriptors(args.deps / "python/xds-protos")
    istio = istio_files(schemas)
    contrib = go_descriptors(schemas / "github.com/envoyproxy/go-control-plane/contrib")
    files |= without_types_of(contrib, istio)
    files.update(istio | own_files(args.own) | well_known_files())

    roots = [line.split("#")[0].strip() for line in args.roots.read_text().splitlines()]
    chosen = closure(files, select(files, [root for root in roots if root]))
    generate = without_unused_imports({name: rewrite(files[name], for_cpp) for name in chosen})
    generated = closure(generate, select(generate, [root for root in roots if root]))
    known = well_known_files()
    api = closure(files, select(files, ["envoy/", "contrib/", "xds/", "udpa/", "istio/", "opentelemetry/", "grpc/"]))

    check_unique(files, api)
    write(args.out / "generate.binpb", descriptor_set(generate, generated))
    write(args.out / "whole_api.binpb", descriptor_set(files, api))
    write(args.out / "kubernetes.binpb", descriptor_set(kubernetes, closure(kubernetes, kubernetes)))
    names = [name for name in generated if name not in known]
    write(args.out / "generated.txt", "".join(f"{name}\n" for name in names).encode())

    crds = schemas / "sigs.k8s.io/gateway-api/config/crd"
    for channel in ("standard", "experimental"):
        paths = sorted(p for p in (crds / channel).glob("*.yaml") if p.name != "kustomization.yaml")
        write(args.out / f"gateway_api_{channel}.yaml", documents(paths))
    write(args.out / "istio.yaml", documents([schemas / "istio.io/api/kubernetes/customresourcedefinitions.gen.yaml"]))


if __name__ == "__main__":
    main()
