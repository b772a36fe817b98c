"""What a call leaves behind, as bits that compare by meaning.

Bits are equal where the meaning is. NaN is one class; elements that were never written have no value.

| value         | its bits                                                                      |
|---------------|-------------------------------------------------------------------------------|
| tensor        | dtype, shape, codes of the written elements (the others 0), which are written |
| float         | its eight bytes                                                               |
| tuple, shape  | those of its parts                                                            |
| anything else | itself                                                                        |

`parts` lists what a call leaves behind: every value returned, then every tensor given, tuples part by part. Numbers and
shapes are given by value: no call can change them.
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from refmlc.lang.ir import IRModule, relax
from refmlc.oracle.implementations.implementation import Ended
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape
from refmlc.vm.parameters import parameters_of


def bits(value: object) -> object:
    """`value` in a form that `==` compares by meaning."""
    match value:
        case Tensor():
            return tensor_bits(value)
        case Shape():
            return ("shape", *value)
        case tuple():
            return ("tuple", *(bits(item) for item in value))
        case bool() | int():
            return (type(value).__name__, value)
        case float():
            return "nan" if math.isnan(value) else struct.pack("<d", value)
        case Closure() | PackedFunc():
            return ("function", value.name)
        case _:
            return value


def tensor_bits(tensor: Tensor) -> tuple[object, ...]:
    """The bits of a tensor."""
    if tensor.dtype.kind == "handle":
        return (str(tensor.dtype), tensor.shape)
    codes = normal_codes(np.ascontiguousarray(tensor.array))
    if tensor.initialised:
        return (str(tensor.dtype), tensor.shape, codes.tobytes(), b"")
    mask = tensor.written
    codes = codes.reshape(mask.shape)
    codes[~mask] = 0
    return (str(tensor.dtype), tensor.shape, codes.tobytes(), mask.tobytes())


def normal_codes(array: np.ndarray) -> np.ndarray:
    """The codes of elements, in memory of their own; every NaN has the same one."""
    codes = array.view(f"u{array.dtype.itemsize}").copy()
    if array.dtype.kind == "b":
        codes[codes != 0] = 1
    elif array.dtype.kind == "f":
        codes[np.isnan(array)] = (1 << 8 * array.dtype.itemsize) - 1
    elif array.dtype.kind not in "iu" and not array.dtype.name.startswith(("int", "uint")):
        with np.errstate(all="ignore"):
            codes[np.isnan(array.astype(np.float32))] = (1 << 8 * array.dtype.itemsize) - 1
    return codes


@dataclass(frozen=True)
class ResultPart:
    """One value. `label` is what messages call it; `argument` its number among the arguments (None: returned)."""

    label: str
    value: object
    argument: int | None = None


def parts(module: IRModule, func: str, ended: Ended) -> list[ResultPart]:
    """The parts of `ended`, a call of `func`, in order."""
    result = [ResultPart(label, value) for label, value in _flat("the result", ended.value)]
    function = module.functions.get(func)
    names = [] if function is None or isinstance(function, relax.ExternFunc) else parameters_of(function)
    for number, arg in enumerate(ended.args):
        name = f"`{names[number].name}`" if number < len(names) else f"argument {number}"
        tensors = [(label, value) for label, value in _flat(name, arg) if isinstance(value, Tensor)]
        result += [ResultPart(label, value, number) for label, value in tensors]
    return result


def _flat(label: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, tuple) and not isinstance(value, Shape):
        for number, item in enumerate(value):
            yield from _flat(f"{label}, field {number}", item)
    elif value is not None or label != "the result":
        yield label, value
