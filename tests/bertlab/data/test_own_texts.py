"""A reader's own texts: the documents of a file, and a one-line error for unreadable ones."""

import codecs
import json
import re
import sys

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from bertlab.data import DataError
from bertlab.data.own_texts import files_digest, own_documents

TWO = "First one. It goes on.\nStill the first.\n \t\n\nSecond one."
SENTENCES = [["First one.", "It goes on.", "Still the first."], ["Second one."]]


def read(path, field="text"):
    return own_documents(path, field, progress=False)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [TWO, f"\n\n{TWO}\n\n \n", TWO.replace("\n", "\r\n"), TWO.replace("\n", "\r"), f"\ufeff{TWO}"],
)
def test_blank_lines_divide_a_text_file_into_documents(tmp_path, content):
    assert read(write(tmp_path / "my.TXT", content)) == SENTENCES


LINES = {  # of which syntok makes one sentence
    "lower case": "the king saw a house.\nit was old.\nhe went in.",
    "verse": "Tyger Tyger, burning bright,\nIn the forests of the night\nWhat immortal hand or eye",
    "questions": "who saw the king?\nwhat did he say?\n where is he? ",
    "Hindi": "राजा ने घर देखा।\nवह पुराना था।\nवह अंदर गया।",
    "Arabic": "هل رأى الملك البيت؟\nنعم، رآه\nكان قديما",
    "Greek": "ο βασιλιάς είδε το σπίτι.\nήταν παλιό.\nμπήκε μέσα.",
    "Windows": "- hi\r\n- how are you\r\n- fine",
}


@pytest.mark.parametrize("what", LINES)
def test_where_most_paragraphs_have_no_sentence_end_each_line_is_a_sentence(tmp_path, what, capsys):
    text = LINES[what]
    lines = [line.strip() for line in text.split("\n")]
    write(tmp_path / "my.txt", f"{text}\n\n" * 2 + "One line.\n\nFirst one. It goes\non.")
    assert read(tmp_path / "my.txt") == [lines, lines, ["One line."], ["First one.", "It goes on."]]
    rows = [json.dumps({"text": f"{text}\n\n{text}"}) for _ in range(2)]
    assert read(write(tmp_path / "my.jsonl", "\n".join(rows))) == [lines * 2] * 2
    own_documents(tmp_path / "my.jsonl")
    assert "no sentence end inside; each line is a sentence" in capsys.readouterr().out


def test_a_sentence_over_two_lines_stays_whole_where_most_paragraphs_have_ends(tmp_path, capsys):
    write(tmp_path / "my.txt", f"{TWO}\n\nA long sentence over\ntwo lines.")
    assert read(tmp_path / "my.txt") == [*SENTENCES, ["A long sentence over two lines."]]
    own_documents(tmp_path / "my.txt")
    assert "each line" not in capsys.readouterr().out


@pytest.mark.slow
@given(st.lists(st.lists(st.text("aZäß,.!?", min_size=1), min_size=1), min_size=1))
def test_nothing_but_white_space_is_lost(tmp_path_factory, documents):
    text = "\n\n".join("\n".join(words) for words in documents)
    found = read(write(tmp_path_factory.mktemp("mine") / "my.txt", text))
    kept = ["".join("".join(document).split()) for document in found]
    assert kept == ["".join(words) for words in documents]


def test_a_folder_has_a_document_for_each_text_file(tmp_path):
    write(tmp_path / "b.txt", TWO)
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "a.txt", "Deep down.")
    write(tmp_path / "empty.txt", "\n")
    write(tmp_path / "picture.png", b"\x89PNG\0")  # not for us
    (tmp_path / ".hidden").mkdir()
    write(tmp_path / ".hidden" / "c.txt", b"\0")
    write(tmp_path / "rows.jsonl", '{"text": "A row."}\n')
    assert read(tmp_path) == [[*SENTENCES[0], *SENTENCES[1]], ["Deep down."], ["A row."]]


@pytest.mark.parametrize("run", [".", "run", "deep/down/run"])
def test_what_a_run_has_written_into_the_folder_is_not_read(tmp_path, run):
    write(tmp_path / "a.txt", "Mine.")
    before, digest = read(tmp_path), files_digest(tmp_path)
    for name in ("corpus/corpus.json", "settings.json", "metrics.jsonl", "model/vocab.txt"):
        (tmp_path / run / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / run / name, "{}")
    assert read(tmp_path) == before
    assert files_digest(tmp_path) == digest
    write(tmp_path / run / "b.txt", "Mine, too.")
    assert len(read(tmp_path)) == 2


def test_rows_are_documents_and_half_a_character_is_replaced(tmp_path):
    texts = [TWO, "One\u2028line, ein Ü.", None, ""]
    expected = [[*SENTENCES[0], *SENTENCES[1]], ["One line, ein Ü."]]
    lines = [json.dumps({"id": n, "body": text}) for n, text in enumerate(texts)]
    write(tmp_path / "my.jsonl", "\n".join(lines) + "\n\n")
    parquet.write_table(pyarrow.table({"id": [1, 2, 3, 4], "body": texts}), tmp_path / "my.parquet")
    assert read(tmp_path / "my.jsonl", "body") == read(tmp_path / "my.parquet", "body") == expected
    found = read(write(tmp_path / "my.jsonl", r'{"text": "A \ud83d and \ud83d\ude00."}'))
    assert found == [["A \ufffd and \U0001f600."]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("my.txt", "", "my.txt is empty"),
        ("my.txt", " \n\n\t", "my.txt is empty"),
        ("my.txt", b"ELF\0\0\1", "my.txt is binary, not text"),
        ("my.txt", "Wörter".encode("utf-16"), "my.txt is UTF-16, not UTF-8; save it as UTF-8"),
        ("my.txt", "Wörter".encode("utf-32"), "my.txt is UTF-32, not UTF-8; save it as UTF-8"),
        ("my.txt", codecs.BOM_UTF32_BE + "a".encode("utf-32-be"), "my.txt is UTF-32, not UTF-8"),
        ("my.jsonl", '{"text": 1}'.encode("utf-32"), "my.jsonl is UTF-32, not UTF-8"),
        ("my.txt", codecs.BOM_UTF16_BE + "a".encode("utf-16-be"), "my.txt is UTF-16, not UTF-8"),
        ("my.txt", "Wörter".encode("utf-32-le"), "my.txt is binary, not text"),
        ("my.txt", "a\nWörter".encode("latin-1"), r"not UTF-8 (byte 0xf6 in line 2); save it as"),
        ("my.pdf", b"%PDF", "must end in .txt, .jsonl or .parquet; got"),
        ("my.jsonl", "", "my.jsonl is empty"),
        ("my.jsonl", '{"text": "a"}\n{"text"', "my.jsonl, line 2 is not JSON"),
        ("my.jsonl", "[" * 100_000, "my.jsonl, line 1 is not JSON"),
        ("my.jsonl", "[1]", "my.jsonl, line 1 must be a JSON object; got [1]"),
        ("my.jsonl", '{"id": 1, "body": "a"}', "has no field 'text'; expected one of id, body"),
        ("my.jsonl", '{"text": 1}', "my.jsonl, line 1: 'text' must be text; got int"),
        ("my.jsonl", b'{"text": "\xff"}', "my.jsonl is not UTF-8 (byte 0xff in line 1)"),
        ("my.parquet", "text", "my.parquet is not a Parquet file"),
    ],
)
def test_a_file_that_cannot_be_read_gives_a_one_line_error(tmp_path, name, content, message):
    for path in (write(tmp_path / name, content), tmp_path):
        if path.is_dir() and ("empty" in message or "must end" in message):
            continue  # other lines, see below
        with pytest.raises(ValueError, match=re.escape(message)) as told:
            read(path)
        assert len(str(told.value).splitlines()) == 1


def test_a_missing_column_or_file_or_text_or_pyarrow_is_reported(tmp_path, monkeypatch):
    def rejected(message, *arguments, error=ValueError):
        with pytest.raises(error, match=message):
            read(*arguments)

    table = tmp_path / "my.parquet"
    rejected("there is no file or folder .*none.txt", tmp_path / "n/none.txt", error=OSError)
    rejected("must hold a .txt, .jsonl or .parquet file; it has none", tmp_path)
    write(tmp_path / "empty.txt", "")
    rejected("is empty; it must hold text", tmp_path)
    parquet.write_table(pyarrow.table({"id": [1], "body": ["a"]}), table)
    rejected(r"my.parquet has no field 'text'; expected .* id, body", table)
    rejected(r"my.parquet, row 1: 'id' must be text; got int", table, "id")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    rejected("needs pyarrow, .* pip install pyarrow", table, error=DataError)


def test_a_digest_changes_with_names_and_contents(tmp_path):
    digests = set()
    for name, content in (("a.txt", "a"), ("a.txt", "b"), ("b.txt", "a"), ("c.txt", "c")):
        write(tmp_path / name, content)
        digests.add(files_digest(tmp_path))
    assert len(digests) == 4
    write(tmp_path / "notes.md", "not read")
    assert files_digest(tmp_path) in digests
