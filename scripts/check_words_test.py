import unittest

from check_words import of_glossary, of_types, public_types, words

GLOSSARY = "# Glossary\n\n| word | meaning |\n|---|---|\n| object, `ConfigObject` | a manifest |\n| merged gateway | Gateways |\n"
SOURCE = "struct ConfigObject {};\nclass MergedGateway {};\n"


class CheckWordsTest(unittest.TestCase):
    def test_words(self):
        self.assertEqual(words(GLOSSARY), [["object", "ConfigObject"], ["merged gateway"]])
        self.assertEqual(of_glossary(GLOSSARY, SOURCE), [])

    def test_a_word_has_one_row(self):
        self.assertEqual(of_glossary(GLOSSARY + "| Object | another |\n", SOURCE), ["docs/glossary.md: object has 2 rows"])

    def test_a_word_occurs(self):
        self.assertEqual(of_glossary(GLOSSARY, "ConfigObject merged\n gateway"), [])
        self.assertEqual(of_glossary(GLOSSARY, "ConfigObject"), ["docs/glossary.md: merged gateway occurs nowhere in src/"])

    def test_public_types(self):
        text = ("class Ahead;\nclass A final : public B {\nenum class E : int {\n  struct Inner {\ntemplate <typename T>\nclass C {\n"
                "struct S : T {\nusing U = A;\n")
        self.assertEqual(set(public_types({"src/a.h": text})), {"A", "E", "C", "S"})
        self.assertEqual(public_types({"src/a_fixture.h": text, "src/test_scope.h": text}), {})

    def test_two_types_of_one_name(self):
        headers = {"src/a/x.h": "struct X {};\n", "src/b/x.h": "class X {\n"}
        self.assertEqual(of_types(headers, []), ["src/a/x.h, src/b/x.h: two public types have the name X"])
        self.assertEqual(of_types(headers, ["X"]), [])
        self.assertEqual(of_types({"src/a/x.h": "struct X {};\n"}, ["X"]),
                         ["scripts/words_known.txt: only one type has the name X, remove its line"])


if __name__ == "__main__":
    unittest.main()
