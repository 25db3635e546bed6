import unittest

from check_style import MAX_LINES, findings


def check(path, *lines):
    return list(findings(path, "\n".join(lines)))


class CheckStyleTest(unittest.TestCase):
    def test_clean_files_pass(self):
        self.assertEqual(check("src/base/clock.h", "#ifndef FAIRLEAD_BASE_CLOCK_H_", "#define FAIRLEAD_BASE_CLOCK_H_", "// XXXL"), [])
        self.assertEqual(check("src/base/clock.cc", *["x"] * MAX_LINES), [])
        self.assertEqual(check("src/gen/listener/connection_manager.cc"), [])

    def test_each_rule_fails(self):
        self.assertEqual(len(check("src/base/clock.cc", *["x"] * (MAX_LINES + 1))), 1)
        self.assertEqual(len(check("src/base/clock.h", "#ifndef FAIRLEAD_CLOCK_H_", "#define FAIRLEAD_CLOCK_H_")), 1)
        self.assertEqual(len(check("src/base/string_utils.cc", "")), 1)
        self.assertEqual(len(check("src/common/clock.cc", "")), 1)
        self.assertEqual(len(check("src/base/manager.cc", "")), 1)
        self.assertEqual(check("src/base/clock.cc", "", "// todo: later"), ["src/base/clock.cc:2: todo does not belong in the code"])


class ReservedTest(unittest.TestCase):
    def test_the_implementations_names_fail(self):
        for line in ("int __a;", "class _Node;", "#define A__B", "void a__b();"):
            self.assertEqual(len(check("src/app/a.cc", line)), 1, line)

    def test_what_it_gives_us_passes(self):
        for line in ("__int128 a;", "__builtin_add_overflow(a, b, &c);", "_Exit(1);", "sysconf(_SC_PAGESIZE);", "int a_B, c_;", "// __a", '"a__b"'):
            self.assertEqual(check("src/app/a.cc", line), [], line)


class UsingTest(unittest.TestCase):
    def test_a_name_that_only_others_use_fails(self):
        for line in ("", "config::Node Of();", "node.Node();", "// a Node", 'Text("Node");', "NodeId Of();"):
            self.assertEqual(check("src/app/a.cc", "using config::Node;", line), ["src/app/a.cc:1: Node is not used"], line)

    def test_a_used_name_passes(self):
        for line in ("Node Of();", "std::vector<Node> all;", "Node::Kind kind;", "  return !Node();"):
            self.assertEqual(check("src/app/a.cc", "using config::Node;", line), [], line)
        self.assertEqual(check("src/app/a.cc", "class A : B {", "  using B::Of;", "};"), [])


class WrappedTest(unittest.TestCase):
    def test_what_throws_is_called_by_its_wrapper_alone(self):
        for line in (
            "for (auto& entry : std::filesystem::directory_iterator(path)) {",
            "out << json.dump(2);",
            "const auto value = json::parse(text);",
            "thread_ = std::thread([this] { Run(); });",
            "std::thread watcher([&] {",
            "const int n = std::stoi(text);",
        ):
            self.assertEqual(len(list(findings("src/app/a.cc", line))), 1, line)
        self.assertEqual(list(findings("src/base/thread.cc", "return std::thread(std::move(run));")), [])
        self.assertEqual(list(findings("src/app/a_test.cc", "std::thread watcher([&] {")), [])

    def test_members_of_these_types_are_free(self):
        for line in ("std::thread thread_;", "std::vector<std::thread> threads_;", "int cpus = std::thread::hardware_concurrency();"):
            self.assertEqual(list(findings("src/app/a.h", "#ifndef FAIRLEAD_APP_A_H_\n#define FAIRLEAD_APP_A_H_\n" + line)), [])


if __name__ == "__main__":
    unittest.main()
