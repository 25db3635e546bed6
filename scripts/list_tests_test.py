import tempfile, pathlib, unittest

import list_tests

TEXT = """# How it is written.

== Traffic / Rules
load balancers: simple
  Suite.A area/case
  updates/case
hashing
  Suite.A Suite.* simulation/table program
== Security
policies
  Suite.B
"""


class ListTestsTest(unittest.TestCase):
    def test_features(self):
        self.assertEqual(list_tests.features(TEXT), [
            ("Traffic / Rules", "load balancers: simple", ["Suite.A", "area/case", "updates/case"]),
            ("Traffic / Rules", "hashing", ["Suite.A", "Suite.*", "simulation/table", "program"]),
            ("Security", "policies", ["Suite.B"]),
        ])

    def test_the_table_counts_each_name_of_an_area_once(self):
        page = "# Tests\n\n<!-- printed by scripts/list_tests.py -->\nold\n<!-- end -->\nrest\n"
        drawn = list_tests.drawn(page, list_tests.features(TEXT))
        self.assertIn("| Traffic / Rules | 2 | 2 unit tests, 1 cases, 1 updates, 1 simulations, 1 programs |\n| Security | 1 | 1 unit tests |\n"
                      "<!-- end -->\nrest", drawn)
        self.assertEqual(list_tests.drawn(drawn, list_tests.features(TEXT)), drawn)

    def test_names_become_sentences(self):
        self.assertEqual(list_tests.sentence("LoadBalancersBecomePolicies"), "Load balancers become policies")
        self.assertEqual(list_tests.sentence("TLSWithoutFilesTrustsTheSystem"), "TLS without files trusts the system")

    def test_places_of_unit_tests(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src/a").mkdir(parents=True)
            (root / "tests").mkdir()
            (root / "src/a/a_test.cc").write_text("\nTEST_F(Suite,\n       Is) {\n")
            self.assertEqual(list_tests.unit_tests(root), {"Suite.Is": "src/a/a_test.cc:2"})


if __name__ == "__main__":
    unittest.main()
