"""Programs, arguments and values for property tests, drawn by Hypothesis or rolled from a seed.

The names of the package are looked up when they are first used: what is made from a seed needs no Hypothesis.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refmlc.strategies.arguments import Argument, Array, Number, Same, ShapeOf, TupleOf
    from refmlc.strategies.case import Case
    from refmlc.strategies.functions import AIMS, CHECKED, WATCHED, rolled
    from refmlc.strategies.module_strategy import ir_modules
    from refmlc.strategies.modules import rolled_module
    from refmlc.strategies.programs import prim_funcs
    from refmlc.strategies.schedule_strategy import schedules
    from refmlc.strategies.equivalents import rolled_schedules

__all__ = [
    "AIMS",
    "CHECKED",
    "WATCHED",
    "Argument",
    "Array",
    "Case",
    "Number",
    "Same",
    "ShapeOf",
    "TupleOf",
    "ir_modules",
    "prim_funcs",
    "rolled",
    "rolled_module",
    "rolled_schedules",
    "schedules",
]

_HOME = {
    "AIMS": "functions",
    "Argument": "arguments",
    "Array": "arguments",
    "CHECKED": "functions",
    "Case": "case",
    "Number": "arguments",
    "Same": "arguments",
    "ShapeOf": "arguments",
    "TupleOf": "arguments",
    "WATCHED": "functions",
    "ir_modules": "module_strategy",
    "prim_funcs": "programs",
    "rolled": "functions",
    "rolled_module": "modules",
    "rolled_schedules": "equivalents",
    "schedules": "schedule_strategy",
}


def __getattr__(name: str) -> object:
    """The object called `name`, from its module."""
    if name not in _HOME:
        raise AttributeError(f"module 'refmlc.strategies' has no attribute {name!r}")
    value: object = getattr(import_module(f"refmlc.strategies.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The names of the package."""
    return sorted(__all__)
