import pathlib
import tempfile
import unittest

import batches


class Batches(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def source(self, name, unnamed="", text="", includes=(), namespace="x"):
        lines = [f'#include "{header}"' for header in includes]
        path = self.root / name
        path.write_text("\n".join([*lines, f"namespace {namespace} {{", "namespace {", unnamed, "}  // namespace", text, "}", ""]))
        return str(path)

    def batches(self, *sources, **options):
        found = batches.batches_of(self.root, sources, **options)
        return [[pathlib.Path(source.path).name for source in batch] for batch in found]

    def test_four_go_together(self):
        sources = [self.source(f"{i}.cc", f"int Own{i}() {{ return {i}; }}") for i in range(5)]
        self.assertEqual(self.batches(*sources), [["0.cc", "1.cc", "2.cc", "3.cc"], ["4.cc"]])

    def test_those_that_declare_one_name_are_kept_apart(self):
        for own in ("int Text(int a) {", "constexpr int kA = 1, kB = 2;", "struct Text {", "LogScope text_log(\"t\");",
                    "MATCHER_P(Text, n, \"\") {", "using Text = int;", "const char* current = nullptr;"):
            other = own.replace("kA = 1, ", "").replace("= int", "= long")
            self.assertEqual(len(self.batches(self.source("a.cc", own), self.source("b.cc", other))), 2, own)

    def test_those_that_say_the_same_of_a_name_are_not(self):
        a, b = (self.source(name, "using config::Node;\nnamespace net = istio::net;") for name in ("a.cc", "b.cc"))
        self.assertEqual(self.batches(a, b), [["a.cc", "b.cc"]])

    def test_a_name_that_the_other_has_from_elsewhere_is_no_own_one_there(self):
        (self.root / "kind.h").write_text("namespace x {\nenum class Kind : int {\n};\n}\n")
        own = self.source("a.cc", "struct Kind {")
        self.assertEqual(len(self.batches(own, self.source("b.cc", includes=["kind.h"]))), 2)
        self.assertEqual(len(self.batches(own, self.source("c.cc", text="int Use() { return Kind(); }"))), 2)
        self.assertEqual(len(self.batches(own, self.source("d.cc", text="int Use(A a) { return a.Kind(); }"))), 1)

    def test_two_c_functions_of_one_name_are_kept_apart(self):
        a, b = (self.source(name, namespace=name[0], text='extern "C" int Fuzz(const char* data) {') for name in ("a.cc", "b.cc"))
        other = self.source("c.cc", namespace="c", text='extern "C" int Fuzz(const char* data);')
        self.assertEqual(self.batches(a, b, other, by_namespace=True), [["a.cc", "c.cc"], ["b.cc"]])
        mains = [self.source(f"{name}_main.cc", namespace=name, text="}\nint main() {") for name in "ab"]
        self.assertEqual(len(self.batches(*mains, by_namespace=True)), 2)

    def test_names_of_namespaces_that_do_not_see_each_other_do_not_meet(self):
        own = self.source("a.cc", "struct Kind {", namespace="x::a")
        for namespace, count in (("x::a", 2), ("x::a::b", 2), ("x", 2), ("x::ab", 1), ("x::b", 1), ("y", 1)):
            self.assertEqual(len(self.batches(own, self.source("b.cc", "struct Kind {", namespace=namespace), by_namespace=True)), count, namespace)
        for namespace, count in (("x::a", 2), ("x::a::b", 1), ("x", 1), ("x::b", 1)):
            (self.root / "kind.h").write_text(f"namespace {namespace} {{\nenum class Kind : int {{\n}};\n}}\n")
            self.assertEqual(len(self.batches(own, self.source("b.cc", includes=["kind.h"], namespace="y"), by_namespace=True)), count, namespace)

    def test_what_is_so_already_is_left_alone(self):
        source = self.source("a.cc")
        batches.write(self.root, 1, self.root, [source])
        file = self.root / "batch_0.cc"
        self.assertEqual(file.read_text(), '#include "a.cc"\n')
        before = file.stat().st_mtime_ns
        batches.write(self.root, 1, self.root, [source])
        self.assertEqual(file.stat().st_mtime_ns, before)

    def test_too_few_files_are_an_error(self):
        sources = [self.source("a.cc", "struct A {"), self.source("b.cc", "struct A {")]
        with self.assertRaisesRegex(SystemExit, "run cmake again"):
            batches.write(self.root, 1, self.root, sources)


if __name__ == "__main__":
    unittest.main()
