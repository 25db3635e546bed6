import pathlib
import subprocess
import tempfile
import unittest

import descriptors
import wire

PROTO = """
syntax = "proto3";
package a.b;
import "used.proto";
import "google/protobuf/descriptor.proto";
extend google.protobuf.FieldOptions { string note = 50001; }
message Outer {
  message Inner { bool requires = 1 [(note) = "x", deprecated = true]; }
  Inner inner = 1;
  c.Used used = 2;
  enum Kind { NONE = 0; }
}
"""
USED = 'syntax = "proto3"; package c; message Used {}'


def compiled():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "main.proto").write_text(PROTO)
        pathlib.Path(folder, "used.proto").write_text(USED)
        return descriptors.compile_protos([folder, "/usr/include"], ["main.proto"])


def described(encoded):
    return subprocess.run(
        ["protoc", "-I/usr/include", "--decode=google.protobuf.FileDescriptorProto", "google/protobuf/descriptor.proto"],
        input=encoded, stdout=subprocess.PIPE, check=True,
    ).stdout.decode()  # fmt: skip


class DescriptorsTest(unittest.TestCase):
    def test_wire_round_trip(self):
        for encoded in compiled().values():
            self.assertEqual(wire.join(wire.parse(encoded)), encoded)

    def test_cut_off_message_is_an_error(self):
        with self.assertRaises((ValueError, IndexError)):
            wire.parse(compiled()["main.proto"][:-1])

    def test_cpp_names_and_options(self):
        text = described(descriptors.rewrite(compiled()["main.proto"], descriptors.for_cpp))
        self.assertIn('name: "requires_"', text)
        self.assertIn('json_name: "requires"', text)
        self.assertIn("deprecated: true", text)
        self.assertNotIn("50001: ", text)

    def test_types(self):
        defined, used = descriptors.types(compiled()["main.proto"])
        self.assertEqual(defined, {".a.b.Outer", ".a.b.Outer.Inner", ".a.b.Outer.Kind"})
        self.assertEqual(used, {".a.b.Outer.Inner", ".c.Used", ".google.protobuf.FieldOptions"})

    def test_unused_imports_go_and_used_ones_stay(self):
        files = {name: encoded for name, encoded in compiled().items()}
        fields = [f for f in wire.parse(files["main.proto"]) if f[0] != 7]  # the extension was what used descriptor.proto
        files["main.proto"] = wire.join(fields)
        edited = wire.parse(descriptors.without_unused_imports(files)["main.proto"])
        self.assertEqual(wire.strings(edited, descriptors.FILE_DEPENDENCY), ["used.proto"])

    def test_closure_puts_imports_first(self):
        order = descriptors.closure(compiled(), ["main.proto"])
        self.assertLess(order.index("used.proto"), order.index("main.proto"))

    def test_go_strings(self):
        self.assertEqual(descriptors.go_string(r"a\x00\xff\n\v\"\\é"), b"a\x00\xff\n\v\"\\" + "é".encode())
        self.assertEqual(descriptors.go_string(r"\u00e9"), "é".encode())

    def test_two_files_with_one_type_are_an_error(self):
        files = {"a": compiled()["used.proto"], "b": compiled()["used.proto"]}
        with self.assertRaises(SystemExit):
            descriptors.check_unique(files, files)
        self.assertEqual(descriptors.without_types_of({"a": files["a"]}, {"b": files["b"]}), {})


if __name__ == "__main__":
    unittest.main()
