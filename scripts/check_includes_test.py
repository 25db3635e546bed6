import unittest

from check_includes import ALLOWED, reachable, violations

TABLE = {"base": "", "model": "base", "gen": "model", "app": "*"}


def check(path, *lines):
    return list(violations({path: "\n".join(lines)}, TABLE))


class CheckIncludesTest(unittest.TestCase):
    def test_down_and_sideways_pass(self):
        self.assertEqual(check("gen/a.cc", '#include "gen/a.h"', '#include "model/b.h"', '#include "base/c.h"'), [])

    def test_up_fails_with_its_line(self):
        self.assertEqual(
            check("model/a.cc", '#include "base/b.h"', '  #  include "gen/c.h"'),
            ["src/model/a.cc:2: model must not include gen (gen/c.h)"],
        )

    def test_headers_of_others_are_free(self):
        self.assertEqual(check("base/a.cc", '#include "absl/status/status.h"', "#include <gen/a.h>"), [])

    def test_generated_headers_are_protos(self):
        table = {"base": "", "proto": "base", "xds": "proto"}
        include = '#include "xds/core/v3/resource.pb.h"'
        self.assertEqual(list(violations({"proto/a.h": include}, table)), [])
        self.assertEqual(len(list(violations({"base/a.h": include}, table))), 1)

    def test_relative_fails(self):
        self.assertEqual(len(check("gen/a.cc", '#include "../app/a.h"')), 1)

    def test_unknown_folder_fails(self):
        self.assertEqual(len(check("new/a.cc")), 1)

    def test_app_may_include_all(self):
        self.assertEqual(check("app/a.cc", '#include "gen/a.h"'), [])

    def test_a_cycle_in_the_table_is_an_error(self):
        with self.assertRaises(ValueError):
            reachable({"a": "b", "b": "a"})

    def test_the_real_table_has_no_cycle(self):
        self.assertNotIn("app", set().union(*(v for k, v in reachable(ALLOWED).items() if k != "app")))


if __name__ == "__main__":
    unittest.main()
