import os, tempfile, unittest

import check_testing_doc
import list_tests

PAGE = """
| feature | tests |
|---|---|
| one | `Suite.Is` `Suite.IsNot` `updates/is` `updates/is-not` |
| two | `entry` `no_entry` `laws_routing` `routing/is` `routing/is-not` |
"""


class CheckTestingDocTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for path, text in {
            "src/a_test.cc": "TEST_F(Suite,\n       Is) {\n",
            "tests/CMakeLists.txt": "add_test(NAME entry COMMAND true)\n",
            "tests/updates/cases/is.txt": "",
            "cases/routing/is/input.yaml": "",
        }.items():
            os.makedirs(os.path.join(self.folder.name, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(self.folder.name, path), "w") as f:
                f.write(text)

    def tearDown(self):
        self.folder.cleanup()

    def test_what_is_not_there_is_named(self):
        wrong, named = check_testing_doc.missing(PAGE, self.folder.name, os.path.join(self.folder.name, "cases"))
        self.assertEqual(wrong, ["Suite.IsNot", "no_entry", "routing/is-not", "updates/is-not"])
        self.assertEqual(named, 9)

    def test_without_all_cases_their_names_are_believed(self):
        wrong, _ = check_testing_doc.missing(PAGE, self.folder.name, "")
        self.assertNotIn("routing/is-not", wrong)

    def test_a_page_may_name_suites_and_in_another_column(self):
        page = "| attack | defence | test |\n|---|---|---|\n| one | `none` | `Suite.*` `Other.*` |\n"
        wrong, named = check_testing_doc.missing(page, self.folder.name, "", 3)
        self.assertEqual((wrong, named), (["Other.*"], 2))

    def test_features(self):
        text = "== Area\none\n  Suite.Is entry\ntwo\n  Suite.IsNot updates/is\nthree\none\n  entry\n"
        page = list_tests.drawn("<!-- printed by scripts/list_tests.py -->\n<!-- end -->\n", list_tests.features(text))
        self.assertEqual(check_testing_doc.of_features(text, page, self.folder.name, ""), [
            "tests/features.txt: there is no test Suite.IsNot",
            "tests/features.txt: Area: three: no test is named",
            "tests/features.txt: Area: one: has two rows",
        ])
        good = "== Area\none\n  Suite.Is\n"
        self.assertEqual(check_testing_doc.of_features(good, page, self.folder.name, ""),
                         ["docs/testing.md: the table is not that of tests/features.txt; run scripts/list_tests.py --write"])


if __name__ == "__main__":
    unittest.main()
