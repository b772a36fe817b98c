"""The arguments of a call as a definition takes them: arrays of NumPy, Python numbers, tuples.

| parameter of the operator         | the definition gets                             |
|-----------------------------------|-------------------------------------------------|
| a tensor                          | its array                                       |
| a tensor or a number              | an array; a number has the other tensor's dtype |
| tensors                           | a list of arrays                                |
| a shape, numbers                  | a tuple of integers                             |
| a number                          | the number                                      |
| an attribute that the call has    | a plain value; a map of indices as a function   |
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.attrs import IndexMap
from refmlc.lang.library.attributes import attributes_of
from refmlc.lang.library.definition import Operator
from refmlc.lang.te import Tensor as Placeholder, Value
from refmlc.oracle.exact.definitions.definition import NoDefinition
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape

MOST_PLACES = 4096


def operands(op: Operator, call: relax.Call, values: Sequence[object]) -> tuple[list[object], dict[str, object]]:
    """The positional arguments of the definition, and its attributes. Fails: `NoDefinition`."""
    arrays = [value for value in values if isinstance(value, Tensor)]
    annotations = [op.parameters[name].annotation for name in op.arguments]
    arguments = [_argument(value, annotation, arrays) for value, annotation in zip(values, annotations, strict=False)]
    attributes = attributes_of(op, call.attrs)
    return arguments, {name: _attribute(value, arrays) for name, value in attributes.items()}


def _argument(value: object, annotation: object, arrays: Sequence[Tensor]) -> object:
    match value:
        case Tensor():
            return value.array
        case Shape():
            return tuple(int(extent) for extent in value)
        case tuple():
            return [_argument(item, annotation, arrays) for item in value]
        case bool() | int() | float() if annotation == Placeholder | Value and arrays:
            return np.asarray(value).astype(arrays[0].array.dtype)
        case bool() | int() | float() | None:
            return value
        case _:
            raise NoDefinition(f"an argument of {type(value).__name__}")


def _attribute(value: object, arrays: Sequence[Tensor]) -> object:
    return IndexFunction(value, arrays[0].shape) if isinstance(value, IndexMap) and arrays else value


class IndexFunction:
    """A map of indices as a function of integers, with the extents of what it makes."""

    def __init__(self, index_map: IndexMap, shape: Sequence[int]) -> None:
        self._map = index_map
        places = list(product(*map(range, shape)))
        if not 0 < len(places) <= MOST_PLACES:
            raise NoDefinition("a layout of no elements, or of many")
        moved = [self(*place) for place in places]
        self.extents = tuple(max(part) + 1 for part in zip(*moved, strict=True))

    def __call__(self, *place: int) -> tuple[int, ...]:
        """The place that an element goes to."""
        names = dict(zip(self._map.initial, place, strict=True))
        return tuple(_number(expr, names) for expr in self._map.final)


INTEGERS: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "floormod": lambda a, b: a % b,
}


def _number(expr: tir.Expr, names: Mapping[tir.Var, int]) -> int:
    match expr:
        case tir.Var() if expr in names:
            return names[expr]
        case tir.IntImm(value=value):
            return value
        case tir.Apply(op, (a, b)) if op in INTEGERS:
            return INTEGERS[op](_number(a, names), _number(b, names))
        case _:
            raise NoDefinition("a map of indices with other operators than + - * // %")
