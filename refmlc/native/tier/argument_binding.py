"""Binding arguments to the parameters of a C function (NAT-005).

| argument            | binds when                                                                        |
|---------------------|-----------------------------------------------------------------------------------|
| of a buffer         | a tensor of its dtype, alive, each element on an address that its size divides;   |
|                     | its shape (strides, offset, where they are declared) as declared                  |
| … that is stored to | and writable                                                                      |
| … that is loaded    | and initialised, unless C writes it first (covered) or checks it (tracked)        |
| … that is tracked   | and its shadow has a byte per element                                             |
| of a number         | a value of the dtype                                                              |

Arguments that do not certainly bind go to the interpreter, which reports; nothing is reported here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import known
from refmlc.native.compile import ffi
from refmlc.native.tier.prepared_calls import Dimensions
from refmlc.native.unit import BufferParam, ScalarParam, Unit
from refmlc.run.dims import Dims
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.tensor import Tensor

MOST_EXTENT: Final = 1 << 40  # generated code relies on it
NO_FLOAT = 1 << 1023


@dataclass(frozen=True, slots=True)
class ArgumentBinding:
    """The C arguments after the `rm_run *` and before the variables of shapes; the tensors of the buffer parameters.

    `shadows` are those of the C arguments that are such; `numbers` the integers among the arguments. The variables
    depend on `sizes` alone.
    """

    passed: list[object]
    tensors: list[Tensor]
    shadows: list[object]
    numbers: Dims
    sizes: tuple[object, ...]


class Ones:
    """A shadow for tensors that are all initialised: ones, which C can only overwrite with ones."""

    def __init__(self) -> None:
        self._cells = np.ones(0, np.uint8)

    def pointer(self, count: int) -> object:
        """A pointer to `count` ones."""
        if len(self._cells) < count:
            self._cells = np.ones(count, np.uint8)
        return ffi().from_buffer(self._cells)


class ArgumentBinder:
    """Binds arguments to the parameters of one unit."""

    def __init__(self, unit: Unit, ones: Ones) -> None:
        """Prepare what depends on the unit alone."""
        self._unit = unit
        self._ones = ones
        self._buffers = [param.buffer for param in unit.params if isinstance(param, BufferParam)]
        self._sizing = _sizing_variables(self._buffers)

    def bind(self, args: Sequence[object]) -> ArgumentBinding | None:
        """The binding of `args`; None: they do not certainly bind."""
        if len(args) != len(self._unit.params):
            return None
        passed: list[object] = []
        tensors: list[Tensor] = []
        shadows: list[object] = []
        sizes: list[object] = []
        numbers: Dims = {}
        for param, arg in zip(self._unit.params, args, strict=True):
            if isinstance(param, ScalarParam):
                value = number(arg, param.var.dtype)
                if value is None:
                    return None
                if isinstance(value, int):
                    numbers[param.var] = int(value)
                    if param.var in self._sizing:
                        sizes.append(value)
                passed.append(as_int64(value) if isinstance(value, int) else value)
                continue
            tensor = as_tensor(arg)
            pointers = None if tensor is None else self._pointers(param, tensor)
            if tensor is None or pointers is None:
                return None
            tensors.append(tensor)
            passed.extend(pointers)
            shadows.extend(pointers[1:])
            sizes.append(_sizes(param.buffer, tensor))
        return ArgumentBinding(passed, tensors, shadows, numbers, tuple(sizes))

    def _pointers(self, param: BufferParam, tensor: Tensor) -> list[object] | None:
        """The pointer to the elements, and the one to their shadow."""
        storage, buffer = tensor.storage, param.buffer
        if tensor.dtype != buffer.dtype or not storage.alive or (param.stored and not storage.writable):
            return None
        if tensor.strides is not None and not buffer.strides:
            return None
        open_reads = param.loaded and not param.covered and not param.tracked
        open_writes = param.stored and not param.covered and not param.tracked  # nothing marks them
        if (open_reads or open_writes) and not tensor.initialised:
            return None
        cells = address_of(tensor)
        if cells is None:
            return None
        if not param.tracked:
            return [cells]
        shadow = self._shadow(tensor)
        return None if shadow is None else [cells, shadow]

    def _shadow(self, tensor: Tensor) -> object:
        if tensor.storage.all_initialised:
            return self._ones.pointer(tensor.reach)
        if not isinstance(tensor.shadow, memoryview) or tensor.dtype.lanes != 1:
            return None
        # Not of the memoryview itself: with a pointer on it, one that is in a cycle of garbage crashes CPython 3.11.
        return ffi().from_buffer(tensor.storage.shadow) + tensor.byte_offset // tensor.storage.unit

    def dims(self, binding: ArgumentBinding) -> Dimensions | None:
        """The values of the unit's variables of shapes; None where a shape, stride or offset is not as declared.

        They are computed as the interpreter does: first all variables, then everything else.
        """
        dims = dict(binding.numbers)
        parts: list[tuple[tir.Expr, int]] = []
        for buffer, tensor in zip(self._buffers, binding.tensors, strict=True):
            if len(tensor.shape) != len(buffer.shape):
                return None
            actual = actual_parts(buffer, tensor)
            if buffer.elem_offset is not None and actual[-1][1] % buffer.offset_factor:
                return None
            parts.extend(actual)
            for part, value in actual:
                if isinstance(part, tir.Var) and part not in dims:
                    if not 0 <= value <= min(part.dtype.maximum, MOST_EXTENT):
                        return None
                    dims[part] = value
        if any(known(part, dims) != value for part, value in parts):
            return None
        return tuple([dims[var] for var in self._unit.dims]) if all(var in dims for var in self._unit.dims) else None


def _sizing_variables(buffers: Sequence[tir.Buffer]) -> frozenset[tir.Var]:
    """The variables in the shapes, strides and offsets of buffers."""
    offsets = [buffer.elem_offset for buffer in buffers if buffer.elem_offset is not None]
    parts = [*offsets, *(part for buffer in buffers for part in (*buffer.shape, *(buffer.strides or ())))]
    return frozenset(node for part in parts for node in walk(part) if isinstance(node, tir.Var))


def _sizes(buffer: tir.Buffer, tensor: Tensor) -> object:
    """What the variables of shapes depend on, of one tensor."""
    if not buffer.strides and buffer.elem_offset is None:
        return tensor.shape
    return tensor.shape, tensor.element_strides, tensor.byte_offset


def as_tensor(arg: object) -> Tensor | None:
    """A tensor, or an array as one; None: neither."""
    if isinstance(arg, Tensor):
        return arg
    if not isinstance(arg, np.ndarray):
        return None
    try:
        return Tensor.from_numpy(arg)
    except RefmlcError:
        return None


def actual_parts(buffer: tir.Buffer, tensor: Tensor) -> list[tuple[tir.Expr, int]]:
    """Each declared extent, stride and offset of a buffer, with its value in the tensor."""
    parts = list(zip(buffer.shape, tensor.shape, strict=True))
    if buffer.strides:
        parts += zip(buffer.strides, tensor.element_strides, strict=True)
    if buffer.elem_offset is not None:
        elements, rest_bytes = divmod(tensor.byte_offset, tensor.itemsize)
        parts.append((buffer.elem_offset, elements if rest_bytes == 0 else 0))  # else its data begins with the tensor
    return parts


def address_of(tensor: Tensor) -> object:
    """A pointer to the first element; None where the size of an element does not divide the address."""
    library: Any = ffi()
    start = library.from_buffer(tensor.storage.array) + tensor.byte_offset
    aligned = int(library.cast("uintptr_t", start)) % cell_size(tensor.dtype) == 0
    return start if aligned else None


def number(arg: object, dtype: DType) -> bool | int | float | None:
    """`arg` as a value of `dtype`, as the interpreter takes it (TIR-002); None where it does not."""
    if isinstance(arg, np.generic):
        arg = arg.item()
    match dtype.kind:
        case "bool" if isinstance(arg, bool | int) and arg in (0, 1):
            return bool(arg)
        case "int" | "uint" if isinstance(arg, int) and dtype.minimum <= arg <= dtype.maximum:
            return int(arg)
        case "float" if isinstance(arg, float) or (isinstance(arg, int) and abs(arg) < NO_FLOAT):
            return rounder(dtype)(float(arg))
        case _:
            return None


def as_int64(value: int) -> int:
    """The number of int64 that has the same bits."""
    return int(value) - (1 << 64) if value >= 1 << 63 else int(value)
