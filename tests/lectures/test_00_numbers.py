"""The numbers of lecture 00 that no cell of it computes."""

import re

from course.publishing import tables
from tests.conftest import read_page
from tests.lectures.counts import lectures


def core_minutes(path):
    """How long the core path of a lecture takes, as its title says."""
    said = re.search(
        r"\*\*Time\*\* (\d+) minutes to read(?: and play)?(?:, (\d+) of)?", read_page(path).prose
    )
    return int(said[2] or said[1])


def test_the_longest_core_path(states):
    states(f"takes at most {max(map(core_minutes, lectures()))} minutes per lecture")


def test_the_map_has_every_lecture_and_counts_them(its_lecture, states):
    numbers = [path.name.partition("_")[0].removeprefix("0") for path in lectures()]
    for number, path in zip(numbers[1:], lectures()[1:], strict=True):
        row = rf"\| \*\*{number}\*\* \| \[[^]]+\]\({re.escape(path.name)}\) \|"
        assert re.search(row, its_lecture.prose), f"the map lacks {path.name}"
    states("**10** | [what heads look at", "**11** | [Sentence-BERT", "**12** | [after BERT")
    states("**13** | [your own BERT")
    assert [number.isdecimal() for number in numbers].count(True) == 1 + 13
    course = tables.read_course()
    further = [one.number.removeprefix("0") for one in course.lectures if one.further]
    assert (len(course.core), len(further)) == (1 + 15, 5)
    states("Fifteen lectures follow, and five for further reading")
    states(f"Lectures {', '.join(further[:-1])} and {further[-1]} are further reading")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("""
        The paper rounds them to 110 and 340 million ... a GLUE score of 80.5 % (7.7 points above
        what came before), MultiNLI 86.7 % (+4.6) ... F1 of 93.2 on SQuAD 1.1 (+1.5) and 83.1 on
        SQuAD 2.0 (+5.1) ... BooksCorpus, 800 million words, and the English Wikipedia, 2,500
        million words ... [over 70 languages] ... multilingual model reads 104 languages
    """)
