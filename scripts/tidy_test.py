import pathlib
import tempfile
import unittest

import tidy


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def file(self, name, *lines):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*lines, ""]))
        return str(path)

    def source(self, name, own):
        return self.file(name, "namespace x {", "namespace {", f"int {own}() {{ return 1; }}", "}  // namespace", "}")


class Flags(Tidy):
    def command(self, file, *words):
        return {"file": file, "command": " ".join(["ccache /usr/bin/c++ -Isrc", *words, "-o a.o -c", file])}

    def test_what_clang_does_not_take_is_left_out(self):
        command = self.command("/a.cc", "-DX=1 -Winvalid-pch -include /b/cmake_pch.hxx -include /b/own.h -std=c++20")
        self.assertEqual(tidy.flags_of(command), ("-Isrc", "-DX=1", "-include", "/b/own.h", "-std=c++20"))

    def test_sources_of_the_builds_batches_have_their_batchs_flags(self):
        a, b, main = self.source("src/a/a.cc", "A"), self.source("src/a/b.cc", "B"), self.source("cmd/main.cc", "C")
        batch = self.file("build/src/a_batches/batch_0.cc", '#include "a/a.cc"', '#include "a/b.cc"')
        generated = self.file("build/gen_batches/batch_0.cc", '#include "envoy/a.pb.cc"')
        commands = [self.command(batch, "-DA"), self.command(main), self.command(generated), self.command(self.file("src/a.S"))]
        self.assertEqual(tidy.flags_of_sources(commands, self.root),
                         {a: ("-Isrc", "-DA"), b: ("-Isrc", "-DA"), main: ("-Isrc",)})


class Plan(Tidy):
    def plan(self, flags):
        return [(all_flags, [str(pathlib.Path(path).relative_to(self.root)) for path in batch])
                for all_flags, batch in tidy.plan(flags, flags, self.root)]

    def test_sources_of_all_folders_go_together_fuzzers_first_and_tests_last(self):
        flags = {self.source(name, f"Own{i}"): () for i, name in enumerate(("src/b_test.cc", "src/c.cc", "tests/a.cc", "tests/d_fuzz.cc"))}
        self.assertEqual(self.plan(flags), [((), ["tests/d_fuzz.cc", "src/c.cc", "tests/a.cc", "src/b_test.cc"])])

    def test_a_batch_has_a_largest_size(self):
        flags = {self.source(f"src/{i:02}.cc", f"Own{i}"): () for i in range(tidy.SIZE + 1)}
        self.assertEqual([len(batch) for _, batch in self.plan(flags)], [tidy.SIZE, 1])

    def test_those_whose_names_meet_are_kept_apart(self):
        flags = {self.source("src/a.cc", "Own"): (), self.source("src/b.cc", "Own"): ()}
        self.assertEqual([batch for _, batch in self.plan(flags)], [["src/a.cc"], ["src/b.cc"]])

    def test_folders_and_names_that_flags_add_are_joined_other_flags_keep_apart(self):
        a, b, c = (self.source(f"src/{name}.cc", name) for name in "abc")
        self.assertEqual(self.plan({a: ("-Isrc", "-O0"), b: ("-Isrc", "-DX", "-O0"), c: ("-Isrc", "-O2")}),
                         [(("-Isrc", "-O0", "-DX"), ["src/a.cc", "src/b.cc"]), (("-Isrc", "-O2"), ["src/c.cc"])])

    def test_a_flags_argument_stays_with_it(self):
        a = self.source("src/a.cc", "Own")
        flags = ("-isystem", "/x", "-isystem", "/y", "-include", "/x")
        self.assertEqual(self.plan({a: flags}), [(flags, ["src/a.cc"])])


class Places(Tidy):
    def test_what_is_said_of_a_batch_is_said_of_its_sources(self):
        a, b = self.file("a.cc", "1", "2", "3"), self.file("b.cc", "1", "2")
        batch = tidy.Batch(self.root / "batch_0.cc", [a, b])
        self.assertEqual((self.root / "batch_0.cc").read_text(), "1\n2\n3\n1\n2\n")
        self.assertEqual([batch.place(line) for line in range(1, 6)], [f"{a}:1", f"{a}:2", f"{a}:3", f"{b}:1", f"{b}:2"])
        self.assertEqual(batch.findings(f"{batch.file}:5:7: error: no\n/x.h:5:1: note: that"), f"{b}:2:7: error: no\n/x.h:5:1: note: that")


class Check(Tidy):
    def setUp(self):
        super().setUp()
        self.said, self.asked = {}, []
        self.addCleanup(setattr, tidy, "clang_tidy", tidy.clang_tidy)
        tidy.clang_tidy = lambda file, flags: self.asked.append(str(file)) or self.said.get(str(file), "")
        self.sources = [self.file("a.cc", "1"), self.file("b.cc", "1")]
        self.batch = self.root / "batch_0.cc"

    def check(self):
        """What was said of sources that did not pass, and those that passed."""
        results = tidy.check(self.batch, (), self.sources)
        return [result for result in results if result[1]], [source for sources, text in results if not text for source in sources]

    def test_sources_pass_if_nothing_was_found_in_them_or_a_header(self):
        a, b = self.sources
        self.assertEqual(self.check(), ([], [a, b]))
        self.said[str(self.batch)] = f"{self.batch}:2:1: error: no [a-check]\n/x.h:1:1: note: this"
        self.assertEqual(self.check(), ([([b], f"{b}:1:1: error: no [a-check]\n/x.h:1:1: note: this")], [a]))
        self.said[str(self.batch)] += "\n/x.h:5:1: error: no [a-check]"
        self.assertEqual([sources for sources, _ in self.check()[0]], [[a, b]])
        self.said[str(self.batch)] = "clang-tidy died"
        self.assertEqual(self.check(), ([([a, b], "clang-tidy died")], []))

    def test_what_does_not_compile_with_the_others_is_checked_alone(self):
        said = iter([f"/x.h:1:1: error: two [clang-diagnostic-error]\n{self.batch}:2:1: note: the other", "its own", ""])
        tidy.clang_tidy = lambda file, flags: self.asked.append(str(file)) or next(said)
        a, b = self.sources
        self.assertEqual(self.check(), ([([b], "its own")], [a]))
        self.assertEqual(self.asked, [str(self.batch), b, str(self.batch)])
        self.assertEqual(self.batch.read_text(), "1\n")

    def test_all_are_checked_alone_if_a_header_does_not_compile(self):
        self.said[str(self.batch)] = "/x.h:2:1: fatal error: two [clang-diagnostic-error,-warnings-as-errors]"
        self.assertEqual(self.check(), ([], self.sources))
        self.assertEqual(self.asked, [str(self.batch), *self.sources])

    def test_a_source_that_does_not_compile_fails(self):
        self.said[str(self.batch)] = f"{self.batch}:1:1: error: no [clang-diagnostic-error]"
        del self.sources[1]
        self.assertEqual(self.check(), ([(self.sources, f"{self.sources[0]}:1:1: error: no [clang-diagnostic-error]")], []))


class Prints(Tidy):
    def prints(self, source, *flags):
        return tidy.prints_of({source: flags}, [source], self.root)[source]

    def test_whatever_a_sources_passing_depends_on_changes_its_print(self):
        rules = self.file(".clang-tidy", "Checks: a")
        source = self.file("tests/a.cc", '#include "a/a.h"', '#include "tests/b.h"', "#include <vector>")
        a, b, c = self.file("src/a/a.h", '#include "c.h"'), self.file("tests/b.h"), self.file("src/c.h")
        prints = [self.prints(source), self.prints(source, "-DX")]
        for path in (rules, source, a, b, c):
            with open(path, "a") as file:
                file.write("// more\n")
            prints.append(self.prints(source))
        self.assertEqual(len(set(prints)), len(prints))
        self.file("src/other.h", "1")
        self.assertEqual(self.prints(source), prints[-1])


if __name__ == "__main__":
    unittest.main()
