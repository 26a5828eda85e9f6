"""Odd texts in code, outputs and errors: scripts for the reader's browser, broken characters."""

# ruff: noqa: E501 (submitted code is not wrapped)

from base64 import b64encode
from collections.abc import Callable, Iterable
from io import BytesIO
from random import Random
from zlib import crc32

from nbformat import NotebookNode, v4
from PIL import Image

from tests.course.grading.hostile.small import (
    Hostile,
    behind,
    cell_of,
    instead,
    own_cells,
    within,
)

SCRIPT = "<script>CANARY_SCRIPT()</script><img src=x onerror=CANARY_SCRIPT()><svg onload=CANARY_SCRIPT()>"
MARKUP = (
    f"{SCRIPT}<iframe src='https://canary.example'></iframe><a href='javascript:CANARY_SCRIPT()'>x</a>"
    "<form action='https://canary.example'><input></form><meta http-equiv=refresh content='0;url=//x'>"
    "<style>*{display:none}</style><div style='position:fixed;top:0'>x</div><link rel=stylesheet href=//x>"
    "<object data=x></object><embed src=x><base href='//canary.example'><math><mtext></mtext></math>"
)
EVERY_KIND = f"""
from IPython.display import HTML, Javascript, SVG, display, publish_display_data
_text = {MARKUP!r}
display(HTML(_text))
display(Javascript("CANARY_SCRIPT()"))
publish_display_data({{
    "text/html": _text, "application/javascript": "CANARY_SCRIPT()", "image/svg+xml": _text,
    "text/markdown": _text, "text/latex": _text, "application/vnd.jupyter.widget-view+json": {{}},
    "image/png": "javascript:CANARY_SCRIPT()", "application/pdf": "x", "text/plain": "plain",
}})
"""


def stored_outputs(page: NotebookNode) -> NotebookNode:
    """Outputs that nobody ran, in a given cell, a test and a text."""
    fake = v4.new_output(
        "display_data", data={"text/html": MARKUP, "application/javascript": "CANARY_SCRIPT()"}
    )
    wrong = v4.new_output("stream", text="CANARY_OUTPUT: all tests pass")
    for id in ("imports", "test-row-softmax", "hidden-row-softmax"):
        cell_of(page, id).outputs = [fake, wrong]
    return page


def markdown(page: NotebookNode) -> NotebookNode:
    cell_of(page, "explain").source = f"My answer. {MARKUP}\n\n[x](javascript:CANARY_SCRIPT())"
    page.cells.append(v4.new_markdown_cell(MARKUP))
    return page


def pictures(**forms: Callable[[], bytes]) -> Callable[[NotebookNode], NotebookNode]:
    """Pasted into the written answer, which also refers to a missing one."""

    def change(page: NotebookNode) -> NotebookNode:
        text = " ".join(f"![{name}](attachment:{name}.png)" for name in [*forms, "none"])
        return written_answer(text, **{name: make() for name, make in forms.items()})(page)

    return change


def picture(width: int, height: int, form: str = "PNG") -> bytes:
    """The file of a picture of one colour."""
    file = BytesIO()
    Image.new("L", (width, height), 128).save(file, form)
    return file.getvalue()


def with_scans(number: int) -> bytes:
    """A progressive JPEG whose last scan is repeated: each is decoded."""
    file = BytesIO()
    Image.new("L", (5_000, 4_000), 128).save(file, "JPEG", progressive=True)
    content = file.getvalue()
    scan = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + scan * number + content[-2:]


def written_answer(text: str, /, **pictures: bytes) -> Callable[[NotebookNode], NotebookNode]:
    """A text of the student's, with attached PNGs."""

    def change(page: NotebookNode) -> NotebookNode:
        answer = cell_of(page, "explain")
        answer.source = text
        answer.attachments = {
            f"{name}.png": {"image/png": b64encode(content).decode()}
            for name, content in pictures.items()
        }
        return page

    return change


def posing(names: Iterable[str]) -> str:
    """HTML that poses as the formgrader's boxes for the scores of these cells, and its buttons."""
    boxes = "".join(f"<b id={one}>x</b><b id={one}-comment class=score>3</b>" for one in names)
    press = "<p class='full-credit no-credit mark-graded score tabbable'>My answer.</p>"
    nested = f"<div class='nbgrader_cell'>{press}{boxes}</div>"
    size = "display:inline-block;margin:-900px;width:99999px;height:9000px;background:red"
    wide = f"<span style='{size}'>My answer.</span>"
    return f"<div id=notebook class='nbgrader_cell full-credit'>{press}{boxes}{nested}</div>{wide}"


SCORES = ("hidden-row-softmax", "test-row-softmax", "explain")
POSING = posing(SCORES) + "".join(f"\n\n# {one}\n\n[{one}](#{one})" for one in SCORES)
REOPENED = "<p>" + "".join(f"<b id={n}>" for n in range(2_400)) + "<p>x" * 2_400
NOISE = Random(0).randbytes(300 * 300)


def noise() -> bytes:
    """A PNG that cannot be compressed."""
    file = BytesIO()
    Image.frombytes("L", (300, 300), NOISE).save(file, "PNG")
    return file.getvalue()


def with_chunk(kind: bytes) -> bytes:
    """The file of a picture with an empty chunk after its data."""
    chunk = bytes(4) + kind + crc32(kind).to_bytes(4, "big")
    head, end, tail = picture(30, 20).rpartition(b"\0\0\0\0IEND")
    return head + chunk + end + tail


LONG = "16 ** 5_000"  # Python does not print a number of more than 4,300 digits
LONG_NUMBERS = f"_a, _b, _c = 0x{'f' * 5_000}, [-0b{'1' * 20_000}], 1e999999 + 1e999j"
ODD_CODES = (
    "f'" + "{f'" * 100 + "'}" * 100 + "'",
    "_x = " + "(" * 190 + ")" * 190,
    "\f\n_x = 1\f\n\v\n",
    "_x = '" + "\x1b[2J\u202e" * 400 + "'",
    "".join(f"{' ' * n}class _A:\n" for n in range(90)) + " " * 90 + "pass",
    "if 1:\n\t_x = 1\n        _y = 1\n",
    "_x = 1; " * 12_000,
    "_y" * 45_000 + " = 1",
    f"print('x' * 5)\nassert 0x{'f' * 5_000} == 1",
)


SURROGATE = r"\ud800"
HALF = f"print('{SURROGATE}'); display('{SURROGATE}'); from IPython.display import HTML; display(HTML('<b>{SURROGATE}</b>'))"
SLOW_TEXTS = {
    "a question mark": '"a." * 20_000 + "?"',
    "assignments of commands": '"x = !ls\\n" * 400 + "y = 1\\n" * 4_000',
    "commands": '"!ls\\n" * 2_000 + "y = 1\\n" * 5_000',
    "brackets": '"(" * 90_000',
    "minus": '"-" * 90_000 + "1"',
    "nested": '"lambda:" * 12_000 + "1"',
    "blank lines": '"\\n" * 90_000 + "1"',
}
TAGS = "from IPython.display import HTML\ndisplay(HTML('<b>' * 6_000))"
SHOWN = "from IPython.display import HTML\ndisplay(HTML({!r}))"
MANY = "for _ in range(1_100): display(1)"
VALUE_ERROR = "row-softmax: its cell raised ValueError"

ROWS = [
    Hostile("odd names", behind("ſcores = ﬁne = 名前 = µ = 1\nrow_ſoftmax = row_softmax"), ()),
    Hostile(
        "bidi and zero-width characters",
        behind('access = "user\u202e \u2066# check\u2069 \u2066"\n# \u200b\u200d\ufeff'),
        (),
    ),
    Hostile(
        "an invisible name",
        instead("def row_softmax\u200b(scores):\n    return scores"),
        note="row-softmax: its cell raised SyntaxError",
    ),
    Hostile("half a character in code", instead("def row_softmax(scores):\n    return '\ud800'")),
    Hostile("half a character in the outputs", own_cells(HALF), ()),
    Hostile(
        "half a character in an error", behind(f"raise ValueError('{SURROGATE}')"), (), VALUE_ERROR
    ),
    Hostile("a zero byte", instead("def row_softmax(scores):\n    return 1\0"), note=".*"),
    Hostile(
        "lines of a report in an error",
        behind(r"raise ValueError('x\nhidden-row-softmax: full\r\n\x1b[2J\u202e')"),
        (),
        VALUE_ERROR,
    ),
    Hostile("scripts in outputs", own_cells(EVERY_KIND), ()),
    Hostile("scripts in an error", behind(f"raise ValueError({MARKUP!r})"), (), VALUE_ERROR),
    Hostile(
        "scripts in the name of an error",
        behind(f"raise type({SCRIPT!r}, (Exception,), {{}})('x')"),
        (),
        "row-softmax: its cell raised",
    ),
    Hostile("scripts in texts", markdown, ()),
    Hostile("stored outputs", stored_outputs, ()),
    Hostile("a pasted picture", pictures(mine=lambda: picture(30, 20) + b"CANARY_SCRIPT()"), ()),
    Hostile(
        "attached files that are no pictures, or too large",
        pictures(
            text=lambda: b"CANARY_SCRIPT()",
            gif=lambda: picture(3, 2, "GIF"),
            large=lambda: picture(10_000, 9_000),
        ),
        (),
        "3 attached files were left out",
    ),
    Hostile(
        "a JPEG of 2,600 scans",
        pictures(mine=lambda: with_scans(2_600)),
        (),
        "1 attached files were left out",
    ),
    Hostile("ids of scores in a text", written_answer(POSING), ()),
    Hostile("ids of scores in outputs", own_cells(SHOWN.format(POSING)), ()),
    Hostile("tags that open again in a text", written_answer(REOPENED), ()),
    Hostile("tags that open again in outputs", own_cells(SHOWN.format(REOPENED)), ()),
    Hostile(
        "a definition that is used 9,000 times",
        written_answer(f"[a]: b '{'t' * 40_000}'\n\n" + "[a] " * 9_000),
        (),
    ),
    Hostile(
        "a picture that is shown 1,000 times",
        written_answer("![a](attachment:a.png) " * 1_000, a=noise()),
        (),
    ),
    Hostile(
        "outputs of 6 MB",
        own_cells(*["print('x' * 19_000)"] * 300),
        (),
        "more than 5000 kB of outputs: those of .. cells were left out",
    ),
    Hostile("too many tags, and outputs", own_cells(TAGS, MANY), (), "output of 2 cells was left"),
    Hostile(
        "pictures that end their reader",
        pictures(
            good=lambda: picture(3, 2),
            profile=lambda: with_chunk(b"iCCP"),
            text=lambda: with_chunk(b"iTXt"),
            frames=lambda: with_chunk(b"fcTL"),
        ),
        (),
        "left out|",
    ),
    Hostile("numbers too long for print", behind(LONG_NUMBERS), ()),
    Hostile("numbers too long in a failure", within(f"raise ValueError({LONG}, [{LONG}])")),
    Hostile("numbers too long as a result", within(f"return {LONG}"), note="ended"),
    Hostile(
        "numbers too long in a cell that fails",
        behind(f"raise KeyError({LONG})"),
        (),
        "its cell raised",
    ),
    Hostile("odd codes", own_cells(*ODD_CODES), (), ".*|"),
    Hostile("environments of mathematics", written_answer("\\begin{a}" * 10_000), ()),
    *(
        Hostile(f"a text that is slow to read: {name}", own_cells(eval(code)), (), ".*|")
        for name, code in SLOW_TEXTS.items()
    ),
    Hostile(
        "commands of the shell",
        behind("!touch /hostile; kill -9 -1\n%cd /\n%run /etc/passwd\n%%bash\nls"),
        (),
        "row-softmax: its cell raised",
    ),
]
