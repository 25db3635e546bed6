import unittest

from check_prose import KNOWN, anchors, bad_headings, broken_links, check, findings

LONG = "A server reads " + "very " * 21 + "much text."
SHORT = "A server reads " + "very " * 20 + "much text."


def messages(text):
    return [message for _, _, message in findings("page.md", text)]


class CheckProseTest(unittest.TestCase):
    def says(self, text, *parts):
        found = messages(text)
        self.assertEqual(len(found), len(parts), found)
        for message, part in zip(found, parts):
            self.assertIn(part, message)

    def test_plain_text_passes(self):
        self.says("# What is this?\n\nThe server reads a folder. It sends the result.\n\n- One item.\n- Another item; a second part.\n")

    def test_a_sentence_has_25_words_at_most(self):
        self.says(SHORT)
        self.says(LONG, "page.md:1: 26 words, 25 at most")
        self.says(f"Short.\n\nAlso short. {LONG}", "page.md:3: 26 words")

    def test_lines_of_a_paragraph_are_read_together(self):
        self.says(LONG.replace("very very", "very\nvery"), "26 words")
        self.says("It is short.\n- " + SHORT)

    def test_riddles_at_the_beginning(self):
        for opening in ("What is read is kept.", "That which is kept is old.", "Those of a host win.", "Of two objects the older wins.",
                        "Who asks gets it.", "Which of them wins is said.", "Whoever writes, rules.", "The same of routes.",
                        "It is the older object that wins.", "There is a rule which wins."):
            self.says(opening, "name the subject first")
        self.says("What is it? It is a folder. That is all. Offices are open.")

    def test_words_in_place_of_nouns(self):
        self.says("A rule that a client has wins over those of a host.")
        self.says("A rule that a client has says what those get.", "3 words in place of nouns (that, what, those)")

    def test_code_and_links_count_as_one_word(self):
        self.says(SHORT.replace("much", "`much text of a program`").replace("text", "[text](https://a.example/b c)"))
        self.says(SHORT.replace("much", "`a`, `b`, `c` and `d`"))
        self.says("`what` is a word. `a.b`. `of`")

    def test_code_blocks_are_not_read(self):
        self.says(f"Text.\n\n    What {LONG}\n\n    - {LONG}\n\nText.\n\n```\n{LONG}\n```\n\nText.")
        self.says(f"- An item:\n\n      {LONG}\n\n- Another.")
        self.says(f"- An item.\n\n  {LONG}", "26 words")

    def test_a_code_block_after_a_list_is_none_of_its_items(self):
        self.says(f"- An item.\n\n## By hand\n\n    {LONG}\n")

    def test_cells_are_lists_of_statements(self):
        head = "| what | of |\n|---|---|\n"
        self.says(f"{head}| `a|b` | {SHORT[:-1]}; {SHORT[:-1]} |")
        self.says(f"{head}| name | {LONG} |", "page.md:3: 26 words")
        self.says(f"{head}| what it is | of a host; the rest |", "what", "of")

    def test_printed_parts_are_not_read(self):
        self.says(f"Text.\n\n<!-- printed by scripts/x.py -->\n{LONG}\n\n| a |\n|---|\n| what |\n<!-- end -->\n\n{LONG}", "26 words")

    def test_abbreviations_end_no_sentence(self):
        self.says(LONG.replace("reads", "reads, e.g."), "27 words")

    def test_known_sentences_may_stay_until_they_are_mended(self):
        first = "page.md: A server reads very very very"
        self.assertEqual(check({"page.md": LONG}, [first]), [])
        self.assertEqual(check({"page.md": SHORT}, [first]), [f"{KNOWN}: this sentence is mended or gone, remove its line: {first}"])

    def test_headings_name_their_subject(self):
        self.assertEqual(list(bad_headings("a.md", "# Tests\n## What is it?\n## Whatever\n")),
                         ["a.md:3: the heading begins with a riddle: name its subject: Whatever"])

    def test_links_lead_somewhere(self):
        self.assertEqual(anchors('# One\n## `fairlead status`: all, of it\n<a id="here"></a>'),
                         {"one", "fairlead-status-all-of-it", "here"})
        files = {"docs/b.md": "## Is there\n", "docs": "", "README.md": ""}
        text = "[a](b.md) [a](b.md#is-there) [a](#top) [a](../README.md) [a](https://x.example/y) `[a](z)`\n# Top\n"
        self.assertEqual(list(broken_links("docs/a.md", text, files.get)), [])
        self.assertEqual(list(broken_links("docs/a.md", "\n[a](c.md) [a](b.md#is-not)", files.get)),
                         ["docs/a.md:2: the link c.md leads nowhere", "docs/a.md:2: the link b.md#is-not leads nowhere"])


if __name__ == "__main__":
    unittest.main()
