"""Pasted pictures are read in a process that may die: a damaged one costs nothing but itself."""

from base64 import b64encode

import pytest
from nbformat.v4 import new_markdown_cell

from course.grading import outputs
from tests.course.grading.hostile.texts import picture, with_chunk, with_scans


def attached(*files):
    """The pictures of a text with these files, and the notes."""
    forms = {f"{n}.png": {"image/png": b64encode(file).decode()} for n, file in enumerate(files)}
    cell = new_markdown_cell()
    notes = outputs.attach([cell], [{"attachments": forms}])
    return dict(cell.get("attachments", {})), [note.text for note in notes]


@pytest.mark.parametrize(
    "content",
    [
        with_chunk(b"iCCP"),
        with_scans(60),
        picture(10_000, 9_000),
        picture(3, 2, "GIF"),
        picture(30, 20)[:-30],
        picture(30, 20, "JPEG")[:200],
        b"",
    ],
    ids=["profile", "scans", "large", "GIF", "PNG cut off", "JPEG cut off", "nothing"],
)
def test_a_picture_that_cannot_be_read_is_left_out_and_the_next_one_shown(content):
    odd_profile = picture(3, 2, "JPEG", icc_profile=b"x")
    shown, notes = attached(content, picture(30, 20), odd_profile)
    assert {name: [*forms] for name, forms in shown.items()} == {
        "1.png": ["image/png"],
        "2.png": ["image/jpeg"],
    }
    assert len(notes) == 1
    assert notes[0].startswith("1 attached files were left out")
