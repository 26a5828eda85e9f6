"""Solutions to try the checks with, one module an assignment: `WRONG` and `OTHER_WAYS`."""

from importlib import import_module
from pkgutil import iter_modules

_MODULES = {
    module.name: import_module(f"{__name__}.{module.name}")
    for module in iter_modules(__path__)
    if module.name.startswith("ps")
}
# Assignment -> rows, as `rows.py` makes them.
WRONG = {assignment: module.WRONG for assignment, module in _MODULES.items()}
OTHER_WAYS = {assignment: module.OTHER_WAYS for assignment, module in _MODULES.items()}
