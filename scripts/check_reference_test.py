import unittest

import check_reference as reference

FLAGS_PAGE = """# Flags

| flag | default | meaning |
|---|---|---|
| `--one`, `-o` | `1` | ... |

| variable | default | meaning |
|---|---|---|
| `PILOT_A` | `5s` | ... |
| `NOTHING` | | ... |

## `another command`

| flag | default | meaning |
|---|---|---|
| `--other` | | ... |
"""
HELP = """Usage: fairlead discovery [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  -o,--one TEXT=1             ...
"""
ENVIRONMENT = "PILOT_A=5s\n    ...\nNOTHING=\n    ...\n"
METRICS_PAGE = "| metric | meaning |\n|---|---|\n| `a_total{type}`, `b` | ... |\n"
EXPOSITION = "# HELP a_total ...\n# TYPE a_total counter\na_total{type=\"x\"} 1\n# TYPE b gauge\nb 0\n"


class Reference(unittest.TestCase):
    def test_what_is_as_documented(self):
        self.assertEqual(reference.check_flags(FLAGS_PAGE, HELP, ENVIRONMENT), [])
        self.assertEqual(reference.check_metrics(METRICS_PAGE, EXPOSITION), [])

    def test_what_is_missing_on_either_side(self):
        self.assertEqual(reference.check_flags(FLAGS_PAGE, HELP + "  --two ...\n", ENVIRONMENT),
                         ["flag --two is not documented"])
        self.assertEqual(reference.check_flags(FLAGS_PAGE, HELP, "PILOT_A=5s\n"),
                         ["variable NOTHING is documented, but there is none"])
        self.assertEqual(reference.check_metrics(METRICS_PAGE, EXPOSITION + "# TYPE c gauge\n"),
                         ["metric c is not documented"])
        self.assertEqual(reference.check_metrics(METRICS_PAGE, ""),
                         ["metric a_total is documented, but there is none", "metric b is documented, but there is none"])

    def test_metrics_that_stand_for_others(self):
        mapping = "\n## In place of istiod's metrics\n\n| istiod | here |\n|---|---|\n| `go_x` | `b` |\n| `go_y` | nothing |\n"
        self.assertEqual(reference.check_metrics(METRICS_PAGE + mapping + "\n## More\n", EXPOSITION), [])
        self.assertEqual(reference.check_metrics(METRICS_PAGE + mapping.replace("`b`", "`c`"), EXPOSITION),
                         ["metric c stands for `go_x`, but there is none"])

    def test_another_default(self):
        self.assertEqual(reference.check_flags(FLAGS_PAGE, HELP, ENVIRONMENT.replace("5s", "6s")),
                         ["variable PILOT_A: the default is '6s', documented is '`5s`'"])


if __name__ == "__main__":
    unittest.main()
