"""A call that fails made small: fewer elements first, then zeros and ones in place of what does not matter.

| step   | tries                                                                                              |
|--------|----------------------------------------------------------------------------------------------------|
| sizes  | each choice of 0 … 4 for the symbolic dimensions, the smallest first, with a few sets of values    |
| values | of each tensor all elements, then halves, quarters, … of those that are not 0, as 0; the rest as 1 |

A try counts only where the call still fails. Every step has a limit of tries, so a slow program stays bearable.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product

import numpy as np

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.oracle.refine.calls import Call, fresh
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies.inputs import rolled_inputs, variables
from refmlc.vm.parameters import parameters_of

MOST_SIZES, MOST_VALUES = 75, 150
SETS = 3
Fails = Callable[[Call], bool]


def smallest(module: IRModule, func: str, call: Call, fails: Fails) -> Call:
    """The smallest failing call that the search finds from `call`, which fails."""
    for other in islice(_by_size(module, func, _elements(call)), MOST_SIZES):
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


def _by_size(module: IRModule, func: str, below: int) -> Iterator[Call]:
    """Calls with fewer elements, the fewest first."""
    function = module.functions[func]
    names = sorted(_dimensions(function)) if isinstance(function, tir.PrimFunc | relax.Function) else []
    for sizes in sorted(product(range(5), repeat=min(len(names), 3)), key=sum):
        for seed in range(SETS if names else 0):
            call = rolled_inputs(module, func, seed, dims=dict(zip(names, sizes, strict=False)))
            if _elements(call) < below:
                yield call


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
            changed = _changed(best, number, places[start : start + size], 0)
            if fails(changed):
                best = changed
        places = list(np.flatnonzero(_flat(best[number])))
        size = min(size // 2, len(places))
    return best


def _with_ones(call: Sequence[object], number: int, fails: Fails, tries: Iterator[int]) -> list[object]:
    """The call with ones where it fails with them too."""
    best = list(call)
    for place in np.flatnonzero(_flat(best[number])):
        if next(tries, None) is None:
            break
        changed = _changed(best, number, [place], 1)
        if fails(changed):
            best = changed
    return best


def _changed(call: Sequence[object], number: int, places: Sequence[np.intp], value: int) -> list[object]:
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
