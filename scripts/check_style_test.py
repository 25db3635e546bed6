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


if __name__ == "__main__":
    unittest.main()
