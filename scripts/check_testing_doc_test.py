import os, tempfile, unittest

import check_testing_doc

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


if __name__ == "__main__":
    unittest.main()
