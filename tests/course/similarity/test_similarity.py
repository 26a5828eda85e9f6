"""The similarity report: copies rank above independent work, and the page runs nothing."""

import ast
import io
import json
import os
import re
import shutil
import signal
from itertools import combinations, cycle, product

import hypothesis
import pytest
from bs4 import BeautifulSoup
from copydetect import CodeFingerprint, compare_files
from copydetect.utils import get_token_coverage
from hypothesis import strategies as st

from course.answers import answers_of
from course.collecting import opening
from course.rehearsal.synthetic_answers import read_tasks
from course.rehearsal.synthetic_class import draw_class
from course.similarity import pairs, pieces, report, taken
from course.similarity.sources import LONGEST, Work, code_cells
from tests.conftest import ROOT, read_page
from tests.exercises.test_assignments import PROJECT

pytestmark = pytest.mark.slow

ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.ipynb"))
GIVEN = {name: code_cells(ROOT / f"exercises/{name}/{name}.ipynb") for name in ASSIGNMENTS}


@pytest.fixture(scope="module")
def functions():
    """The course's own functions, which take some seconds to read."""
    return taken.course_functions(ROOT)


def solved(assignment):
    """Task -> the solution, as a student would have it."""
    cells = read_page(ROOT / "solutions" / assignment / f"{assignment}.ipynb").code
    return {
        cell.id: re.sub(r" *### (BEGIN|END) SOLUTION\n?", "", cell.source)
        for cell in cells
        if cell.metadata.nbgrader.solution
    }


def other_ways(assignment):
    """Independent right solutions: as many students as the task with the most ways has ways."""
    ways = {}
    for task, _, code in answers_of(assignment).right:
        ways.setdefault(task, []).append(code)
    most = max(map(len, ways.values()))
    endless = {task: cycle(codes) for task, codes in ways.items()}
    return [{task: next(codes) for task, codes in endless.items()} for _ in range(most)]


def disguised(tasks):
    """A disguised copy: other names, other comments, other order, other spacing."""
    return {task: renamed(code) for task, code in reversed(tasks.items())}


def renamed(code):
    """The code reformatted, with its own variables renamed and a comment on each line."""
    tree = ast.parse(code)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    arguments = [node for node in ast.walk(tree) if isinstance(node, ast.arg)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in arguments}
    for node in names:
        node.id = f"{node.id}_of_mine" if node.id in own else node.id
    for node in arguments:
        node.arg += "_of_mine"
    return "".join(f"{line}  # my own idea\n" for line in ast.unparse(tree).splitlines())


def hand_in(room, student, assignment, tasks):
    """Save a notebook where nbgrader collects it: the release with these solutions."""
    notebook = json.loads((ROOT / "exercises" / assignment / f"{assignment}.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["id"] not in tasks]
    own = [{"cell_type": "code", "source": [code]} for code in tasks.values()]
    notebook["cells"] = cells + own
    return write(room, student, assignment, json.dumps(notebook))


def write(room, student, assignment, text):
    path = room / "submitted" / student / assignment / f"{assignment}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def room(tmp_path, functions, monkeypatch):
    """A course's folder with what students were given; the library is read once for all."""
    monkeypatch.setattr(report, "course_functions", lambda root: functions)
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises")
    return tmp_path


def work(who, tasks):
    return Work(who, tuple(tasks.values()))


def alike(here, before, given):
    """All pairs, the most similar first."""
    comparison = pairs.Comparison(here, before, given)
    return [comparison.pair(place) for place in comparison.above(0)]


def fingerprint(code, length, given=frozenset()):
    """copydetect's fingerprint with every piece, without those of `given`."""
    made = CodeFingerprint("code.py", length, 1, fp=io.StringIO(code), language="python")
    made.hashes -= given
    left = {piece: at for piece, at in made.hash_idx.items() if piece in made.hashes}
    made.token_coverage = get_token_coverage(left, length, len(made.filtered_code))
    return made


def compared_in_pairs(here, before, given):
    """copydetect's result for each pair."""
    known = fingerprint("\n\n".join(given), pairs.LENGTH).hashes
    prints = {one.who: fingerprint(one.code, pairs.LENGTH, known) for one in (*here, *before)}
    names = [[one.who for one in works] for works in (here, before)]
    found = []
    for who in (*combinations(names[0], 2), *product(*names)):
        overlap, shares, _ = compare_files(*(prints[name] for name in who))
        found.append(pairs.Pair(who, tuple(shares) if overlap >= pairs.SHORT else (0, 0)))
    return sorted(found, key=lambda pair: (-max(pair.shares), pair.who))


LINES = ["a = b", "f(1)", "x += 2 * y", "for i in z: g()", "return {1: 2}[0]"]
CODES = st.lists(st.sampled_from(LINES), max_size=12).map("\n".join)


@hypothesis.given(st.lists(CODES, min_size=2, max_size=6), CODES, st.integers(1, 12))
def test_the_index_finds_what_copydetect_finds_in_pairs(codes, given, room):
    """Also with repeated pieces, gaps of given pieces, and few runs at a time."""
    works = [Work(f"{number}", (code,)) for number, code in enumerate(codes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "CAN_FORK", False)  # in this process: faster
        patch.setattr(pieces, "ROOM", room)
        patch.setattr(pairs, "LENGTH", 7)
        expected = compared_in_pairs(works[:2], works[2:], [given])
        assert alike(works[:2], works[2:], [given]) == expected


@pytest.mark.parametrize("assignment", ["ex01_bpe", "ex08_pretraining"])
def test_a_class_is_compared_as_copydetect_compares_its_pairs(assignment):
    students = draw_class(read_tasks(assignment), 16, seed=1)
    works = [work(s.name, {t: a.source for t, a in s.answers.items()}) for s in students[::-1]]
    here, before, given = works[:11], works[11:], GIVEN[assignment]
    expected = compared_in_pairs(here, before, given)
    assert alike(here, before, given) == expected
    assert max(expected[0].shares) > report.THRESHOLD > max(expected[-1].shares)


# In the project all students start from the given entry.
@pytest.mark.parametrize("assignment", [name for name in ASSIGNMENTS if name != PROJECT])
def test_a_disguised_copy_is_found_and_independent_work_ranks_far_below(assignment):
    mine = solved(assignment)
    others = other_ways(assignment)
    works = [work("mine", mine), work("copy", disguised(mine))]
    works += [work(f"other {number}", tasks) for number, tasks in enumerate(others)]
    # Rows of OTHER_WAYS that represent two students at once are not independent.
    first, *rest = [pair for pair in alike(works, [], GIVEN[assignment]) if "mine" in pair.who]
    assert first.who == ("mine", "copy")
    assert min(first.shares) > 1.25 * report.THRESHOLD
    assert max(max(pair.shares) for pair in rest) < 0.75 * report.THRESHOLD
    assert len(rest) == len(others)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_independent_functions_are_not_mistaken_for_the_courses_own(assignment, functions):
    works = [work(f"{n}", tasks) for n, tasks in enumerate(other_ways(assignment))]
    assert taken.taken_from(works, functions, GIVEN[assignment]) == []


def test_a_function_of_the_library_is_detected_under_other_names(functions):
    source = (ROOT / "bertlab" / "tokenizers" / "wordpiece.py").read_text(encoding="utf-8")
    copied = dict(taken.functions_of(source))["longest_match"]
    works = [Work("eve", ("x = 1", renamed(copied)))]
    (found,) = taken.taken_from(works, functions, GIVEN["ex02_wordpiece"])
    assert found.who == "eve"
    assert found.source == "bertlab.tokenizers.wordpiece.longest_match"
    assert found.share > 0.95


def test_the_command_prints_what_stands_out_and_writes_a_page(room, capsys):
    mine = solved("ex06_bert_encoder")
    hand_in(room, "ada", "ex06_bert_encoder", mine)
    hand_in(room, "ben", "ex06_bert_encoder", disguised(mine))
    hand_in(room, "cy", "ex06_bert_encoder", other_ways("ex06_bert_encoder")[0])
    hand_in(room, "dee", "ex06_bert_encoder", other_ways("ex06_bert_encoder")[1])
    assert report.main(["ex06_bert_encoder", "--root", str(room)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("ex06_bert_encoder: 4 submissions, 6 pairs; in half of the pairs")
    assert re.findall(r"^  (\w+) and (\w+): \d+%", said, re.M) == [("ada", "ben")]
    assert "  ada: 100% of layer_norm is in bertlab.model.layers.layer_norm\n" in said
    assert "cy:" not in said
    assert "a reason to look, not a proof" in said
    page = BeautifulSoup((room / "similarity/ex06_bert_encoder.html").read_text(), "html.parser")
    shown = [summary.get_text() for summary in page.find_all("summary")]
    assert shown == re.findall(r"^  (.*)$", said, re.M)
    first = page.find("details").find_all("pre")
    assert len(first) == 2
    assert "x.mean(" in "".join(mark.get_text() for mark in first[0].find_all("mark"))
    assert report.CAUTION in page.get_text()


def test_given_code_does_not_count(room, capsys):
    """Two unchanged hand-ins, or two that differ in a short function, are not similar."""
    release = (ROOT / "exercises" / "ex01_bpe" / "ex01_bpe.ipynb").read_text(encoding="utf-8")
    for student in ("ada", "ben", "cy"):
        write(room, student, "ex01_bpe", release)
    assert report.main(["ex01_bpe", "--root", str(room)]) == 2
    assert "0 submissions with code of their own" in capsys.readouterr().out
    given = GIVEN["ex01_bpe"]
    works = [Work(who, (given[-1] + f"\n{who} = 1",)) for who in ("ada", "ben")]
    (pair,) = alike(works, [], given)
    assert pair.shares == (0, 0)


def test_earlier_terms_are_compared_with_this_one_but_not_with_each_other(room, tmp_path, capsys):
    mine = solved("ex04_attention")
    hand_in(room, "ada", "ex04_attention", mine)
    hand_in(room, "ben", "ex04_attention", other_ways("ex04_attention")[0])
    for student in ("old", "older"):
        hand_in(tmp_path / "2025", student, "ex04_attention", disguised(mine))
    before = str(tmp_path / "2025" / "submitted")
    assert report.main(["ex04_attention", "--root", str(room), "--also", before]) == 0
    said = capsys.readouterr().out
    assert "2 submissions, 5 pairs" in said
    pairs = re.findall(r"^  (\S+) and (\S+):", said, re.M)
    assert pairs == [("ada", "submitted/old"), ("ada", "submitted/older")]


def test_bad_submissions_and_an_unknown_assignment_are_named_the_others_compared(room, capsys):
    mine = solved("ex01_bpe")
    hand_in(room, "ada", "ex01_bpe", mine)
    hand_in(room, "ben", "ex01_bpe", mine)
    write(room, "text", "ex01_bpe", "not a notebook")
    write(room, "deep", "ex01_bpe", "[" * 200_000)
    write(room, "list", "ex01_bpe", "[]")
    write(room, "bytes", "ex01_bpe", "").write_bytes(b"\xff\xfe")
    link = room / "submitted" / "link" / "ex01_bpe" / "ex01_bpe.ipynb"
    link.parent.mkdir(parents=True)
    link.symlink_to(room / "exercises" / "ex01_bpe" / "ex01_bpe.ipynb")
    write(room, "odd", "ex01_bpe", json.dumps({"cells": [1, {"cell_type": "code", "source": [2]}]}))
    hand_in(room, "nul", "ex01_bpe", {"encode": "def encode(\0" + "(" * 5000})
    hand_in(room, "half", "ex01_bpe", mine | {"encode": "# \ud800\n" + mine["encode"]})
    hand_in(room, "long", "ex01_bpe", {"train": "a = 1", "encode": "b" * LONGEST})
    assert report.main(["ex01_bpe", "--root", str(room)]) == 0
    said = capsys.readouterr().out
    not_read = re.findall(r"^(\w+): not read: (.*)$", said, re.M)
    assert [who for who, _ in not_read] == ["bytes", "deep", "link", "list", "text"]
    assert dict(not_read)["link"] == "it is a link to somewhere else"
    assert dict(not_read)["list"] == "it is not a notebook"
    assert "\nlong: only the first 200,000 characters are compared\n" in said
    for pair in ("ada and ben", "ada and half"):
        assert f"  {pair}: 100% of the first, 100% of the second" in said
    assert report.main(["ex99", "--root", str(room)]) == 2
    assert capsys.readouterr().out.startswith("ex99: no assignment of that name")


def test_nothing_of_a_submission_runs_in_the_page_or_in_the_terminal(room, capsys):
    evil = 'x = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>"\n'
    mine = {task: evil + code for task, code in solved("ex01_bpe").items()}
    hand_in(room, "<script>alert(3)<", "ex01_bpe", mine)
    hand_in(room, "\x1b[2Jben", "ex01_bpe", mine)
    assert report.main(["ex01_bpe", "--root", str(room)]) == 0
    assert "\x1b" not in capsys.readouterr().out
    page = BeautifulSoup((room / "similarity" / "ex01_bpe.html").read_text(), "html.parser")
    assert page.find_all(["script", "img", "link", "iframe"]) == []
    assert page.find("pre").get_text().count("<script>alert(1)</script>") > 1
    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_code_shared_by_many_is_one_line_not_all_pairs(room, capsys):
    """300 with one code are 44,850 pairs; here 20 are 190, beside two more who share another."""
    mine = solved("ex06_bert_encoder")
    for number in range(20):
        hand_in(room, f"s{number:02}", "ex06_bert_encoder", mine)
    for student in ("x", "y"):
        hand_in(room, student, "ex06_bert_encoder", other_ways("ex06_bert_encoder")[0])
    assert report.main(["ex06_bert_encoder", "--root", str(room)]) == 0
    said = capsys.readouterr().out
    names = [f"s{number:02}" for number in range(20)]
    line = "20 students, any two share 100% or more: "
    assert f"  {line}{', '.join(names[:10])} and 10 more\n" in said
    assert "  bertlab.model.layers.layer_norm, 20 students: s00, s01," in said
    shown = re.findall(r"^  (\w+) and (\w+): \d+%", said, re.M)
    assert shown == [*(("s00", other) for other in names[1:4]), ("x", "y")]
    assert "  4 of 191 are shown: up to 3 for each group or function, up to 100 in all\n" in said
    page = BeautifulSoup((room / "similarity/ex06_bert_encoder.html").read_text(), "html.parser")
    assert line + ", ".join(names) in [li.get_text() for li in page("li")]


def test_a_code_whose_comparison_ends_its_process_costs_one_line(room, capsys, monkeypatch):
    for student in ("ada", "ben"):
        hand_in(room, student, "ex01_bpe", solved("ex01_bpe"))
    hand_in(room, "cy", "ex01_bpe", {"encode": "x = 1  # dies here"})
    monkeypatch.setattr(pairs, "read_pieces", dies_here)
    monkeypatch.setattr(taken, "_own_texts", dies_here)
    assert report.main(["ex01_bpe", "--root", str(room)]) == 0
    said = capsys.readouterr().out
    assert "cy: its code is not compared: it cannot be read within" in said
    assert "  ada and ben: 100% of the first, 100% of the second" in said


def dies_here(code, length, given=pieces.NOTHING):
    if "dies here" in "".join(code):
        os.kill(os.getpid(), signal.SIGKILL)
    texts = [code] if isinstance(code, str) else code
    found = [pieces.read_pieces(text, pairs.LENGTH, given) for text in texts]
    return found[0] if isinstance(code, str) else found
