"""The calls that an assertion tries: those that it is given, or drawn ones.

A program is whatever `refmlc.frontends.programs` takes: a module, a function, a drawn case, real TVM's, a path, a
text. Its `main` is called, or its only function. A drawn case is called as it says, on its own arguments.

An argument is an array (NumPy, PyTorch, …), a `Tensor`, a number, a tuple of them, or a recipe of `refmlc.strategies`.
Each call gets fresh copies, so that no program sees what another has written.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.frontends.programs import CaseLike, as_module
from refmlc.lang.ir import IRModule, relax
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.strategies.arguments import Array, Number, Same, ShapeOf, TupleOf, arguments
from refmlc.strategies.inputs import rolled_inputs
from refmlc.vm.arguments import as_value

Call: TypeAlias = Sequence[object]
APART = 1_000_000  # seeds of different assertions have no call in common
USUAL = {"REFMLC_CALLS": 20, "REFMLC_SEED": 0}


@dataclass(frozen=True)
class ProgramCall:
    """A program with one call: what the oracle looks at."""

    module: IRModule
    func: str
    call: Call
    name: str = ""

    @property
    def calls(self) -> tuple[Call]:
        """The call."""
        return (self.call,)

    def arguments(self, number: int = 0) -> list[object]:
        """Fresh arguments."""
        return fresh(self.calls[number])


@dataclass(frozen=True)
class ProgramSubject:
    """A program as it was given: its module, the function that is called, its own calls, where it has any."""

    module: IRModule
    func: str
    calls: Sequence[Call] | None = None


def subject(program: object, name: str, func: str | None) -> ProgramSubject:
    """The program; messages call a text `name`. Fails: RM112 (no program, no such function), as reading does."""
    module = as_module(program, name)
    if isinstance(program, CaseLike) and func in (None, program.func):
        return ProgramSubject(module, entry(module, program.func), program.calls)
    return ProgramSubject(module, entry(module, func))


def entry(module: IRModule, func: str | None) -> str:
    """The function that is called. Fails: RM112 where it is not there, or nothing says which it is."""
    names = [name for name, function in module.functions.items() if not isinstance(function, relax.ExternFunc)]
    name = func or (names[0] if len(names) == 1 else "main")
    if name not in names:
        raise fail(BAD_USAGE, f"the module has no function `{name}`", None, f"its functions: {', '.join(names)}")
    return name


def usual(name: str, explicit: int | None) -> int:
    """The value of an option: explicit, else from the environment, else the default. Fails: RM112."""
    if explicit is not None:
        return explicit
    text = os.environ.get(name, "")
    if not text.removeprefix("-").isdigit() and text:
        raise fail(BAD_USAGE, f"{name} is `{text}`, which is not an integer")
    return int(text or USUAL[name])


def fresh(call: Call) -> list[object]:
    """Copies of the arguments; a tensor that occurs twice is copied once."""
    if call and all(isinstance(arg, Array | Number | Same | ShapeOf | TupleOf) for arg in call):
        return arguments([arg for arg in call if isinstance(arg, Array | Number | Same | ShapeOf | TupleOf)])
    copies: dict[int, object] = {}
    return [_copied(arg, copies) for arg in call]


def _copied(arg: object, copies: dict[int, object]) -> object:
    if isinstance(arg, tuple | list) and not isinstance(arg, Shape):
        return tuple(_copied(item, copies) for item in arg)
    if id(arg) not in copies:
        value = as_value(arg, None, "an argument")
        copies[id(arg)] = value.copy() if isinstance(value, Tensor) else value
    return copies[id(arg)]


def drawn(module: IRModule, func: str, calls: int, seed: int) -> Iterator[Call]:
    """So many calls, the same ones for the same seed. Fails: RM504 for parameters that nothing can be made for."""
    return (rolled_inputs(module, func, seed * APART + number) for number in range(calls))


def told(call: Call, names: Sequence[str]) -> tuple[str, ...]:
    """The arguments as notes, one line each."""
    rows = []
    for number, arg in enumerate(fresh(call)):
        name = f"`{names[number]}`" if number < len(names) else f"argument {number}"
        rows.append(f"{name} is {_shown(arg)}")
    return tuple(rows)


def _shown(arg: object) -> str:
    if not isinstance(arg, Tensor):
        return repr(arg)
    kind = f"{arg.dtype}{list(arg.shape)}"
    if not arg.initialised:
        return f"{kind}, not fully initialised"
    values = np.array2string(arg.array, separator=", ", threshold=16, edgeitems=3)
    return f"{kind} {' '.join(values.split())}"
