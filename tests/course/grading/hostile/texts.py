"""Odd texts in code, outputs and errors: scripts for the reader's browser, broken characters."""

from base64 import b64encode
from collections.abc import Callable, Iterable
from functools import partial
from io import BytesIO
from random import Random
from zlib import crc32

from nbformat import NotebookNode, v4
from PIL import Image

from tests.course.grading.hostile.small import (
    Change,
    Hostile,
    behind,
    cell_of,
    instead,
    own_cells,
    within,
)

SCRIPT = (
    "<script>CANARY_SCRIPT()</script><img src=x onerror=CANARY_SCRIPT()>"
    "<svg onload=CANARY_SCRIPT()>"
)
MARKUP = (
    f"{SCRIPT}<iframe src='https://canary.example'></iframe>"
    "<a href='javascript:CANARY_SCRIPT()'>x</a>"
    "<form action='https://canary.example'><input></form>"
    "<meta http-equiv=refresh content='0;url=//x'><style>*{display:none}</style>"
    "<div style='position:fixed;top:0'>x</div><link rel=stylesheet href=//x>"
    "<object data=x></object><embed src=x><base href='//canary.example'>"
    "<math><mtext></mtext></math>"
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


def stored_outputs(page: NotebookNode) -> None:
    """Outputs that nobody ran, in a given cell, a test and a text."""
    fake = v4.new_output(
        "display_data", data={"text/html": MARKUP, "application/javascript": "CANARY_SCRIPT()"}
    )
    wrong = v4.new_output("stream", text="CANARY_OUTPUT: all tests pass")
    for id in ("imports", "test-row-softmax", "hidden-row-softmax"):
        cell_of(page, id).outputs = [fake, wrong]


def markdown(page: NotebookNode) -> None:
    cell_of(page, "explain").source = f"My answer. {MARKUP}\n\n[x](javascript:CANARY_SCRIPT())"
    page.cells.append(v4.new_markdown_cell(MARKUP))


def pictures(**forms: Callable[[], bytes]) -> Change:
    """Pasted into the written answer, which also refers to a missing one."""
    text = " ".join(f"![{name}](attachment:{name}.png)" for name in [*forms, "none"])
    return lambda page: written_answer(text, **{name: forms[name]() for name in forms})(page)


def picture(width: int, height: int, form: str = "PNG", **options: object) -> bytes:
    """The file of a picture of one colour."""
    return file_of(Image.new("L", (width, height), 128), form, **options)


def file_of(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    image.save(file := BytesIO(), form, **options)
    return file.getvalue()


# A PNG that cannot be compressed.
NOISE = file_of(Image.frombytes("L", (300, 300), Random(0).randbytes(300 * 300)))


def with_scans(number: int) -> bytes:
    """A progressive JPEG whose last scan is repeated: each is decoded."""
    content = picture(5_000, 4_000, "JPEG", progressive=True)
    scan = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + scan * number + content[-2:]


def written_answer(text: str, /, **pictures: bytes) -> Change:
    """A text of the student's, with attached PNGs."""

    def change(page: NotebookNode) -> None:
        attached = {name: {"image/png": b64encode(one).decode()} for name, one in pictures.items()}
        attachments = {f"{name}.png": forms for name, forms in attached.items()}
        cell_of(page, "explain").update(source=text, attachments=attachments)

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
HALF = """
from IPython.display import HTML
print("SURROGATE"); display("SURROGATE"); display(HTML("<b>SURROGATE</b>"))
""".replace("SURROGATE", r"\ud800")
SLOW_TEXTS = {
    "a question mark": "a." * 20_000 + "?",
    "assignments of commands": "x = !ls\n" * 400 + "y = 1\n" * 4_000,
    "commands": "!ls\n" * 2_000 + "y = 1\n" * 5_000,
    "brackets": "(" * 90_000,
    "minus": "-" * 90_000 + "1",
    "nested": "lambda:" * 12_000 + "1",
    "blank lines": "\n" * 90_000 + "1",
}
TAGS = "from IPython.display import HTML\ndisplay(HTML('<b>' * 6_000))"
SHOWN = "from IPython.display import HTML\ndisplay(HTML({!r}))"
MANY = "for _ in range(1_100): display(1)"
RAISED, VALUE_ERROR = "row-softmax: its cell raised", "row-softmax: its cell raised ValueError"
SYNTAX_ERROR = "row-softmax: its cell raised SyntaxError"
BIDI = 'access = "user\u202e \u2066# check\u2069 \u2066"\n# \u200b\u200d\ufeff'
INVISIBLE = "def row_softmax\u200b(scores):\n    return scores"
LINES = r"raise ValueError('x\nhidden-row-softmax: full\r\n\x1b[2J\u202e')"
SHELL = "!touch /hostile; kill -9 -1\n%cd /\n%run /etc/passwd\n%%bash\nls"
NO_PICTURES = {
    "text": lambda: b"CANARY_SCRIPT()",
    "gif": lambda: picture(3, 2, "GIF"),
    "large": lambda: picture(10_000, 9_000),
}
ODD_PICTURES = {
    "good": lambda: picture(3, 2),
    "profile": lambda: with_chunk(b"iCCP"),
    "text": lambda: with_chunk(b"iTXt"),
    "frames": lambda: with_chunk(b"fcTL"),
}
DEFINITION = f"[a]: b '{'t' * 40_000}'\n\n" + "[a] " * 9_000
TOO_MUCH = "more than 5000 kB of outputs: those of .. cells were left out"
LEFT_OUT = "attached files were left out"

row = partial(Hostile, lost=())
ROWS = [
    row("odd names", behind("ſcores = ﬁne = 名前 = µ = 1\nrow_ſoftmax = row_softmax")),
    row("bidi and zero-width characters", behind(BIDI)),
    Hostile("an invisible name", instead(INVISIBLE), note=SYNTAX_ERROR),
    Hostile("half a character in code", instead("def row_softmax(scores):\n    return '\ud800'")),
    row("half a character in the outputs", own_cells(HALF)),
    row("half a character in an error", behind(r"raise ValueError('\ud800')"), note=VALUE_ERROR),
    Hostile("a zero byte", instead("def row_softmax(scores):\n    return 1\0"), note=".*"),
    row("lines of a report in an error", behind(LINES), note=VALUE_ERROR),
    row("scripts in outputs", own_cells(EVERY_KIND)),
    row("scripts in an error", behind(f"raise ValueError({MARKUP!r})"), note=VALUE_ERROR),
    row(
        "scripts in the name of an error",
        behind(f"raise type({SCRIPT!r}, (Exception,), {{}})('x')"),
        note=RAISED,
    ),
    row("scripts in texts", markdown),
    row("stored outputs", stored_outputs),
    row("a pasted picture", pictures(mine=lambda: picture(30, 20) + b"CANARY_SCRIPT()")),
    row(
        "attached files that are no pictures, or too large",
        pictures(**NO_PICTURES),
        note=f"3 {LEFT_OUT}",
    ),
    row("a JPEG of 2,600 scans", pictures(mine=lambda: with_scans(2_600)), note=f"1 {LEFT_OUT}"),
    row("ids of scores in a text", written_answer(POSING)),
    row("ids of scores in outputs", own_cells(SHOWN.format(POSING))),
    row("tags that open again in a text", written_answer(REOPENED)),
    row("tags that open again in outputs", own_cells(SHOWN.format(REOPENED))),
    row("a definition that is used 9,000 times", written_answer(DEFINITION)),
    row(
        "a picture that is shown 1,000 times",
        written_answer("![a](attachment:a.png) " * 1_000, a=NOISE),
    ),
    row("outputs of 6 MB", own_cells(*["print('x' * 19_000)"] * 300), note=TOO_MUCH),
    row("too many tags, and outputs", own_cells(TAGS, MANY), note="output of 2 cells was left"),
    row("pictures that end their reader", pictures(**ODD_PICTURES), note="left out|"),
    row("numbers too long for print", behind(LONG_NUMBERS)),
    Hostile("numbers too long in a failure", within(f"raise ValueError({LONG}, [{LONG}])")),
    Hostile("numbers too long as a result", within(f"return {LONG}"), note="ended"),
    row(
        "numbers too long in a cell that fails",
        behind(f"raise KeyError({LONG})"),
        note="its cell raised",
    ),
    row("odd codes", own_cells(*ODD_CODES), note=".*|"),
    row("environments of mathematics", written_answer("\\begin{a}" * 10_000)),
    *(
        row(f"a text that is slow to read: {name}", own_cells(code), note=".*|")
        for name, code in SLOW_TEXTS.items()
    ),
    row("commands of the shell", behind(SHELL), note=RAISED),
]
