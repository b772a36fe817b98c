"""The calls that an assertion tries, explicit or drawn, and the smallest one that fails.

A program is whatever `refmlc.frontends.programs` takes: a module, a function, a drawn case, real TVM's, a path, a
text. Its `main` is called, or its only function. A drawn case is called as it says, on its own arguments.

An argument is an array (NumPy, PyTorch, …), a `Tensor`, a number, a tuple of them, or a recipe of `refmlc.strategies`.
Each call gets fresh copies, so that no program sees what another has written.

`smallest` makes a failing call small: fewer elements first, then zeros and ones in place of what does not matter.

| step   | tries                                                                                              |
|--------|----------------------------------------------------------------------------------------------------|
| sizes  | each choice of 0 … 4 for the symbolic dimensions, the smallest first, with a few sets of values    |
| values | of each tensor all elements, then halves, quarters, … of those that are not 0, as 0; the rest as 1 |

A try counts only where the call still fails. Every step has a limit of tries, so a slow program stays bearable.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import TypeAlias

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.frontends.programs import CaseLike, as_module
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.oracle.arguments import CallLimits, CallMaker, tried
from refmlc.oracle.contracts import ArgumentContract
from refmlc.oracle.contracts.assumptions import applicable
from refmlc.oracle.implementations.interp import Interp
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.strategies.arguments import Array, Number, Same, ShapeOf, TupleOf, arguments
from refmlc.strategies.inputs import variables
from refmlc.vm.arguments import as_value
from refmlc.vm.parameters import parameters_of

Call: TypeAlias = Sequence[object]
LONG = 60.0  # seconds for the calls of an assertion, about
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
        return (self.call,)

    def arguments(self, number: int = 0) -> list[object]:
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


def drawn_calls(
    module: IRModule,
    func: str,
    calls: int,
    seed: int,
    others: Sequence[IRModule] = (),
    assume: Sequence[ArgumentContract] = (),
) -> Iterator[Call]:
    """Calls for all purposes (`oracle.arguments`), then random ones up to that number; the seed is that of the latter.

    The same ones for the same seed. `others`: programs that are compared with this one; `assume`: contracts that the
    arguments satisfy. Fails: RM111 for parameters that nothing can be made for.
    """
    maker = CallMaker(module, func, others=others, assume=applicable(module, func, assume))
    limits = CallLimits(calls, seed, LONG)
    trial = tried(maker, module, func, lambda call: arguments(call.recipes), Interp(), limits)
    return (call.recipes for call in trial.calls)


def ordinary_calls(
    module: IRModule, func: str, calls: int, seed: int, assume: Sequence[ArgumentContract] = ()
) -> Iterator[Call]:
    """Random calls whose floats all lie in -1 … 1. Fails: RM111 for parameters that nothing can be made for."""
    maker = CallMaker(module, func, assume=applicable(module, func, assume))
    return (maker.random(seed * APART + number, way="tame").recipes for number in range(calls))


def argument_notes(call: Call, names: Sequence[str]) -> tuple[str, ...]:
    """The arguments as notes, one line each."""
    rows = []
    for number, arg in enumerate(fresh(call)):
        name = f"`{names[number]}`" if number < len(names) else f"argument {number}"
        rows.append(f"{name} is {_argument_text(arg)}")
    return tuple(rows)


def _argument_text(arg: object) -> str:
    if not isinstance(arg, Tensor):
        return repr(arg)
    kind = f"{arg.dtype}{list(arg.shape)}"
    if not arg.initialised:
        return f"{kind}, not fully initialised"
    values = np.array2string(arg.array, separator=", ", threshold=16, edgeitems=3)
    return f"{kind} {' '.join(values.split())}"


MOST_SIZES, MOST_VALUES = 75, 150
SETS = 3
Fails = Callable[[Call], bool]


def smallest(module: IRModule, func: str, call: Call, fails: Fails) -> Call:
    """The smallest failing call that the search finds from `call`, which fails."""
    for other in islice(_by_size(module, func, call), MOST_SIZES):
        if fails(other):
            call = other
            break
    tries = iter(range(MOST_VALUES))
    simple = fresh(call)
    if not fails(simple):  # what the recipe makes of memory is what matters
        return call
    for number, arg in enumerate(simple):
        if isinstance(arg, Tensor) and arg.initialised and arg.size:
            simple = _with_zeros(simple, number, fails, tries)
            simple = _with_ones(simple, number, fails, tries)
    return simple


def _elements(call: Call) -> int:
    return sum(arg.size for arg in fresh(call) if isinstance(arg, Tensor))


def _by_size(module: IRModule, func: str, failing: Call) -> Iterator[Call]:
    """Calls with fewer elements than `failing`, the fewest first: with its values, then with random ones."""
    below = _elements(failing)
    function = module.functions[func]
    maker = CallMaker(module, func)
    names = sorted(_dimensions(function)) if isinstance(function, tir.PrimFunc | relax.Function) else []
    for sizes in sorted(product(range(5), repeat=min(len(names), 3)), key=sum):
        for seed in range(SETS if names else 0):
            call = maker.random(seed, dict(zip(names, sizes, strict=False))).recipes
            if _elements(call) < below:
                yield tuple(_refilled(own, other, seed) for own, other in zip(call, failing, strict=True))
                yield call


def _refilled(recipe: object, other: object, turn: int) -> object:
    """The recipe with the values of another one, its pool turned on."""
    if not isinstance(recipe, Array) or not isinstance(other, Array):
        return recipe
    at = turn % len(other.pool) if other.pool else 0
    pool = other.pool[at:] + other.pool[:at]
    return replace(other, shape=recipe.shape, strides=recipe.strides, pool=pool)


def _dimensions(function: tir.PrimFunc | relax.Function) -> set[str]:
    """The names of the symbolic dimensions of the parameters."""
    kinds = [parameter.ty for parameter in parameters_of(function)]
    shapes = [kind.shape for kind in kinds if isinstance(kind, TensorType) and isinstance(kind.shape, tuple)]
    return {var.name for shape in shapes for extent in shape for var in variables(extent)}


def _with_zeros(call: Sequence[object], number: int, fails: Fails, tries: Iterator[int]) -> list[object]:
    """The call with as many zeros in argument `number` as it fails with."""
    best = list(call)
    places = list(np.flatnonzero(_flat(best[number])))
    size = len(places)
    while size:
        for start in range(0, len(places), size):
            if next(tries, None) is None:
                return best
            candidate = _with_elements(best, number, places[start : start + size], 0)
            if fails(candidate):
                best = candidate
        places = list(np.flatnonzero(_flat(best[number])))
        size = min(size // 2, len(places))
    return best


def _with_ones(call: Sequence[object], number: int, fails: Fails, tries: Iterator[int]) -> list[object]:
    """The call with ones where it fails with them too."""
    best = list(call)
    for place in np.flatnonzero(_flat(best[number])):
        if next(tries, None) is None:
            break
        candidate = _with_elements(best, number, [place], 1)
        if fails(candidate):
            best = candidate
    return best


def _with_elements(call: Sequence[object], number: int, places: Sequence[np.intp], value: int) -> list[object]:
    """Another call with `value` at these places of the tensor, wherever it is an argument."""
    old = call[number]
    if not isinstance(old, Tensor):
        return list(call)
    new = old.copy()
    new.array.reshape(-1)[np.array(places, np.intp)] = value
    return [new if arg is old else arg for arg in call]


def _flat(arg: object) -> np.ndarray:
    """The elements of a tensor as truth: which of them are not 0."""
    values = arg.array if isinstance(arg, Tensor) else np.zeros(0)
    flat: np.ndarray = np.ascontiguousarray(values).reshape(-1).astype(bool)
    return flat
