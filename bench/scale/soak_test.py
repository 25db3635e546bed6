"""What soak.py takes for an internal error."""
import pathlib
import unittest

import soak

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class InternalErrorTest(unittest.TestCase):
    def test_what_shadow_mode_logs(self):
        self.assertRegex((ROOT / "src/mesh/view/view.cc").read_text(), soak.INTERNAL_ERROR)

    def test_what_sanitizers_print(self):
        for line in ("==1==ERROR: AddressSanitizer: heap-use-after-free", "WARNING: ThreadSanitizer: data race (pid=1)",
                     "a.cc:1:2: runtime error: signed integer overflow"):
            self.assertRegex(line, soak.INTERNAL_ERROR)

    def test_what_is_none(self):
        self.assertNotRegex("error\tads\tthe client rejected what it was sent", soak.INTERNAL_ERROR)


if __name__ == "__main__":
    unittest.main()
