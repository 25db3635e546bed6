import unittest

from draw_rooms import below, differences, drawn, picture_of_life, picture_of_rooms, steps

ALLOWED = {"base": "", "config": "base", "mesh": "config base", "empty": "base", "app": "*"}
ROOMS = ["base", "config", "mesh", "app"]
DOCUMENT = """# House

<!-- printed by scripts/draw_rooms.py: rooms -->
<!-- end -->

| folder | holds | may include |
|---|---|---|
| `src/base` | strings | |
| `src/config` | objects | |
| `src/mesh` | indexes | |
| `src/app` | wiring | |

### The life of a change

<!-- printed by scripts/draw_rooms.py: life of a change -->
<!-- end -->

| step | thread | file |
|---|---|---|
| a file differs | watcher | `config/a.cc` |
| it is read | watcher | `config/TYPE.cc`, `mesh/` |
| it is sent | loop | `mesh/b.h` |

### The life of a request

| step | thread | file |
|---|---|---|
| it comes | loop | `app/a.cc` |
"""


class DrawRoomsTest(unittest.TestCase):
    def test_an_arrow_that_follows_from_others_is_left_out(self):
        self.assertEqual(below("mesh", ROOMS, ALLOWED), ["config"])
        self.assertEqual(below("app", ROOMS, ALLOWED), ["mesh"])

    def test_rooms(self):
        self.assertEqual(picture_of_rooms(ROOMS, ALLOWED),
                         "```mermaid\nflowchart TB\n  app --> mesh\n  mesh --> config\n  config --> base\n```\n")

    def test_a_life_has_a_frame_for_each_thread(self):
        self.assertEqual(picture_of_life(steps(DOCUMENT, "change")), """```mermaid
flowchart TB
  subgraph t0 ["watcher"]
    s0["a file differs"]
    s1["it is read"]
  end
  subgraph t2 ["loop"]
    s2["it is sent"]
  end
  s0 --> s1
  s1 --> s2
```
""")

    def test_what_was_drawn_stays(self):
        once = drawn(DOCUMENT, ROOMS, ALLOWED)
        self.assertIn("| `src/mesh` | indexes | config base |", once)
        self.assertIn("| `src/app` | wiring | all |", once)
        self.assertEqual(drawn(once, ROOMS, ALLOWED), once)
        self.assertEqual(differences(once, ROOMS, ALLOWED, lambda name: True), [])

    def test_differences_are_told(self):
        self.assertIn("not as the rooms are", differences(DOCUMENT, ROOMS, ALLOWED, lambda name: True)[0])
        once = drawn(DOCUMENT, ROOMS, ALLOWED)
        self.assertEqual(len(differences(once, ROOMS, ALLOWED | {"mesh": "base"}, lambda name: True)), 1)
        self.assertIn("room empty has no row", "".join(differences(once, [*ROOMS, "empty"], ALLOWED, lambda name: True)))
        self.assertIn("there is no room mesh", "".join(differences(once, ["base", "config", "app"], ALLOWED, lambda name: True)))
        self.assertEqual(differences(once, ROOMS, ALLOWED, lambda name: name != "mesh/b.h"), ["docs/architecture.md: there is no mesh/b.h"])


if __name__ == "__main__":
    unittest.main()
