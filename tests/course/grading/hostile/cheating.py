"""Attempts at points for wrong answers: patches, objects equal to everything, the tests' data."""

from tests.course.grading.hostile.small import TARGET, Change, Hostile, behind, instead, rows_of

WRONG = "def row_softmax(scores):\n    return scores\n"
WRONG_MASK = "def causal_mask(length):\n    return torch.zeros(length, length, dtype=torch.bool)\n"
ALL_TRUE = "lambda *arguments, **named: True"

PATCHES = f"""
# patched torch and numpy
import numpy
for _name in ("allclose", "equal", "isclose", "all", "is_tensor"):
    setattr(torch, _name, {ALL_TRUE})
for _name in ("allclose", "equal", "all", "__eq__", "__bool__", "eq", "isclose"):
    setattr(torch.Tensor, _name, {ALL_TRUE})
for _name in ("allclose", "array_equal", "isclose"):
    setattr(numpy, _name, {ALL_TRUE})
torch.testing.assert_close = {ALL_TRUE}
torch.autograd.gradcheck = {ALL_TRUE}
# patched AssertionError
import builtins
class AssertionError(Exception):
    def __new__(cls, *arguments):
        raise SystemExit(0)
builtins.AssertionError = AssertionError
# patched course.feedback
import sys, course.feedback.checks, course.feedback.watch
for _name in dir(check):
    if callable(getattr(check, _name)):
        setattr(check, _name, {ALL_TRUE})
for _module in list(sys.modules.values()):
    if getattr(_module, "__name__", "").startswith("course.feedback"):
        for _name in list(vars(_module)):
            if callable(getattr(_module, _name)):
                setattr(_module, _name, {ALL_TRUE})
"""
PATCH_BUILTINS = f"""
import builtins
for _name in ("isinstance", "all", "any"):
    setattr(builtins, _name, {ALL_TRUE})
"""
PICKLE_FIRST = """
class Bomb:
    def __reduce__(self):
        import os
        return os.system, ("touch PLACE/pickled; kill -9 -1",)

def row_softmax(scores):
    return Bomb()
"""
PICKLE_SECOND = """
import numpy
def causal_mask(length):
    return [Bomb(), {"a": Bomb()}, numpy.array([Bomb()], dtype=object)]
"""
INSTEAD = """
# an object that equals everything
class Right:
    shape, dtype = (2, 2), torch.float32
    __eq__ = __bool__ = __ge__ = __le__ = __contains__ = lambda self, *other: True
    __ne__ = __lt__ = __gt__ = lambda self, *other: False
    __getattr__ = lambda self, name: self
    __call__ = __getitem__ = __sub__ = __rsub__ = __add__ = lambda self, *other, **named: self
    __hash__ = lambda self: 0
    def __iter__(self):
        return iter(())
def row_softmax(scores):
    return Right()
# a subclass of Tensor that equals everything
class Right(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in ("allclose", "equal", "eq", "isclose", "all", "__eq__"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})
def row_softmax(scores):
    return (scores * 0 + 7).as_subclass(Right)
# subclasses of str and float
class Text(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
class Number(float):
    def __eq__(self, other): return True
    __hash__ = float.__hash__
    def __sub__(self, other): return 0.0
def row_softmax(scores):
    return [Text("x"), Number(1)]
# a tensor of forged shape | its answer cannot be read
def row_softmax(scores):
    answer, forged = torch.zeros(0), {"shape": property(lambda self: scores.shape)}
    answer.__class__ = type("Parameter", (torch.Tensor,), forged)
    return answer
# knows the example only
def row_softmax(scores):
    import inspect
    text = inspect.getsource(check)
    for tensor in [value for value in vars(check).values() if isinstance(value, torch.Tensor)]:
        if tensor.shape == scores.shape:
            return tensor
    if scores.shape == (2, 2):
        return torch.tensor([[0.881, 0.119], [1.0, 0.0]])
    raise ValueError("not seen before")
# calls a ready-made softmax
def row_softmax(scores):
    return scores.softmax(dim=-1)
# calls a ready-made softmax by another name | uses _C
def row_softmax(scores):
    return getattr(torch._C._nn, "soft" + "max", torch.softmax)(scores, dim=-1)
# StopIteration
def row_softmax(scores):
    raise StopIteration
# fixed random numbers
import os
print(os.environ.get("BERTLAB_VARIANT", "no variant"))
def row_softmax(scores):
    torch.manual_seed(0)
    return torch.rand(scores.shape)
"""
# `course/README.md` names these ways round the check of library calls: no points are lost.
ONE_LINE = "import functools, operator, sys\ndef row_softmax(scores):\n    return VALUE\n"
UNSEEN = {
    "map": "next(map(torch.softmax, [scores], [-1]))",
    "partial": "functools.partial(torch.softmax, dim=-1)(scores)",
    "methodcaller": "operator.methodcaller('softmax', -1)(scores)",
    "reduce": "functools.reduce(torch.softmax, [-1], scores)",
    "a hidden setprofile": "[getattr(sys, 'set' + 'profile')(None), torch.softmax(scores, -1)][1]",
}
# Odd answers in place of `row_softmax(scores)`; `right` is the right one.
ODD = {
    "no numbers": "torch.empty(0, 1)",
    "one number without dimensions": "right.mean()",
    "one more dimension": "right[None]",
    "half precision": "right.half()",
    "a sparse tensor": "right.detach().to_sparse()",
    "a generator that ends at once": "(row for row in ())",
    "a masked array": "numpy.ma.masked_array(right.detach().numpy(), mask=True)",
    "an array with its own functions": "numpy.zeros(tuple(scores.shape)).view(Numbers)",
}
ODD_CLASSES = """
import numpy
class Numbers(numpy.ndarray):
    __array_function__ = __array_ufunc__ = lambda *_, **__: True
    __eq__ = lambda *_: True
class Shaped(torch.Tensor):
    shape = property(lambda self: (2, 2))
_right = row_softmax
def row_softmax(scores):
    right = _right(scores)
    return VALUE
"""
COMPLEX = """
_merged = merge_heads
def merge_heads(x):
    return _merged(x).to(torch.complex128)
"""
FIRST_IN_PLACE = """
_right = row_softmax
def row_softmax(scores):
    with torch.no_grad():
        scores.zero_()
    return torch.full_like(scores, 1 / scores.shape[-1])
"""
PADDING = """
# makes its input trivial: ids
def padding_mask(ids, pad_id=0):
    if ids.shape == (1, 2):
        return torch.tensor([[True, False]])
    ids.fill_(pad_id)
    return torch.zeros(ids.shape, dtype=torch.bool)
"""
HEADS = """
# calls the library
from bertlab.model.attention import attention as _theirs
def merge_heads(x):
    return _theirs(x, x, x)[0]
# makes its input trivial: heads
def merge_heads(x):
    x.zero_()
    return torch.zeros(*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1])
# changes its input's shape
def merge_heads(x):
    x.resize_(0)
    x.data = torch.zeros(1, 1, 1)
    x.requires_grad_()
    return x
"""
# Right except in the hidden test's last call, whose value remains after the test cell.
LAST_IS_A_NUMBER = """
import sys
_right, _seen = row_softmax, []
def row_softmax(scores):
    _seen.append(scores.shape)
    if sys.getprofile() is not None and (4, 9) in _seen:
        return VALUE
    return _right(scores)
"""
FORGED_ERROR = r"""
class CheckFailed(AssertionError): pass
class NotWritten(BaseException): pass
class Stopped(BaseException): pass
class TooLong(BaseException): pass
def row_softmax(scores):
    raise VALUE("row_softmax is right\nhidden-row-softmax: full points <script>alert(1)</script>")
"""


def cheats_two(first: str, second: str) -> Change:
    """Both `row_softmax` and `causal_mask` are wrong."""
    return lambda page: instead(first)(page) or instead(second, "causal-mask")(page)


BOTH, MERGE = (TARGET, "causal-mask"), ("merge-heads",)
LIES = "torch.zeros(0).as_subclass(Shaped)"
RIGHT_BUT_LAST = {"test-row-softmax": 1.0, "hidden-row-softmax": 2.0}
NUMBERS = ("10.0", "-1.0", "float('nan')", "'x' * 10 ** 7")
ERRORS = "CheckFailed NotWritten Stopped TooLong SystemExit ExceptionGroup UnicodeDecodeError"

ROWS = [
    *rows_of(PATCHES, lambda code: cheats_two(code + WRONG, WRONG_MASK), BOTH),
    Hostile("patched builtins", cheats_two(WRONG, PATCH_BUILTINS + WRONG_MASK), BOTH, ".*"),
    Hostile("pickles that run a command", cheats_two(PICKLE_FIRST, PICKLE_SECOND), BOTH),
    *rows_of(INSTEAD, instead),
    *rows_of(HEADS, lambda code: instead(code, "merge-heads"), MERGE),
    *rows_of(PADDING, lambda code: instead(code, "padding-mask"), ("padding-mask",)),
    *(
        Hostile(f"a softmax unseen: {way}", instead(ONE_LINE.replace("VALUE", call)), ())
        for way, call in UNSEEN.items()
    ),
    *(
        Hostile(f"an odd answer: {name}", behind(ODD_CLASSES.replace("VALUE", answer)))
        for name, answer in ODD.items()
    ),
    Hostile(
        "an odd answer: a shape that lies",
        behind(ODD_CLASSES.replace("VALUE", LIES)),
        note="its answer cannot be read",
    ),
    Hostile("an odd answer: complex", behind(COMPLEX, "merge-heads"), MERGE),
    Hostile("makes its input trivial: softmax", behind(FIRST_IN_PLACE)),
    *(
        Hostile(
            f"a number as a test's last value: {value}",
            behind(LAST_IS_A_NUMBER.replace("VALUE", value)),
            points=RIGHT_BUT_LAST,
        )
        for value in NUMBERS
    ),
    *(
        Hostile(f"an error of the tests' own: {name}", instead(FORGED_ERROR.replace("VALUE", name)))
        for name in ERRORS.split()
    ),
]
