import unittest

from check_includes import ALLOWED, INSIDE, link_violations, reachable, rows_for_cmake, violations

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

    def test_sub_folders_go_one_way_too(self):
        inside = {"gen": {"naming": "", "route": "naming", "listener": "route"}}

        def lines(path, include):
            return list(violations({path: f'#include "{include}"'}, TABLE, inside))

        for path, include in (
            ("gen/listener/a.cc", "gen/listener/b.h"),
            ("gen/listener/a.cc", "gen/route/b.h"),
            ("gen/listener/a.cc", "gen/naming/b.h"),
            ("gen/naming/a.cc", "gen/generator.h"),
            ("gen/all.cc", "gen/listener/b.h"),
            ("gen/naming/a.cc", "model/deep/b.h"),
        ):
            self.assertEqual(lines(path, include), [], path)
        self.assertEqual(
            lines("gen/naming/a.cc", "gen/route/b.h"),
            ["src/gen/naming/a.cc:1: gen/naming must not include gen/route (gen/route/b.h)"],
        )
        self.assertEqual(len(lines("gen/new/a.cc", "gen/naming/b.h")), 1)

    def test_what_is_linked_goes_one_way_too(self):
        text = "fairlead_folder(config DEPS base mesh PkgConfig::YAML\n  TEST_DEPS app)\nfairlead_embed(config app)\n"
        allowed = {"base": "", "config": "base", "mesh": "config", "app": "*"}
        self.assertEqual(list(link_violations({"config": text}, allowed)), ["src/config/CMakeLists.txt:1: config must not link mesh"])
        self.assertEqual(list(link_violations({"mesh": "fairlead_folder(mesh DEPS config base)\n"}, allowed)), [])

    def test_rows_for_cmake(self):
        self.assertEqual(rows_for_cmake({"naming": "", "route": "naming patch"}), "naming=;route=naming,patch")

    def test_the_real_tables_have_no_cycles(self):
        for table in INSIDE.values():
            reachable(table)

    def test_a_cycle_in_the_table_is_an_error(self):
        with self.assertRaises(ValueError):
            reachable({"a": "b", "b": "a"})

    def test_the_real_table_has_no_cycle(self):
        self.assertNotIn("app", set().union(*(v for k, v in reachable(ALLOWED).items() if k != "app")))


if __name__ == "__main__":
    unittest.main()
