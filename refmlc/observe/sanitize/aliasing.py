"""RM322: memory of one argument is accessed through two, which `noalias` promises not to happen (TIR-009).

A function with the attribute `tir.noalias` says: what is written through one of its buffer parameters is not accessed
through another one in the same call. Two arguments may overlap as long as nothing in both of them is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import BROKEN_NOALIAS
from refmlc.lang.ir import tir
from refmlc.observe.addresses import element_size, first_byte
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.elements import element
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.tensor import Tensor


@dataclass(slots=True)
class ByteAccesses:
    """The accesses to a byte: the first through each parameter, and the first that writes."""

    first: dict[tir.Buffer, tir.BufferLoad | tir.BufferStore] = field(default_factory=dict)
    writer: tir.Buffer | None = None


@dataclass(slots=True)
class Call:
    """A call with overlapping arguments: the parameters of these, and the accesses by address of a byte."""

    function: str
    params: frozenset[tir.Buffer]
    accesses: dict[int, ByteAccesses] = field(default_factory=dict)


class NoAlias(Detector):
    """Compares accesses through parameters whose arguments overlap."""

    code = BROKEN_NOALIAS
    reach = Reach.NOT_PLAIN_ALONE

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._calls: list[Call | None] = []

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        func = self.facts.module.functions.get(name)
        call = None
        if isinstance(func, tir.PrimFunc) and promises(func):
            params = overlapping(func, args)
            call = Call(name, params) if params else None
        self._calls.append(call)

    def leave_function(self, name: str, result: object) -> None:
        del name, result
        self._calls.pop()

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        self._look(access, view, offset, frame)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        self._look(access, view, offset, frame)

    def _look(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        """Fails: RM322."""
        call = self._calls[-1] if self._calls else None
        if call is None or frame[ACTIVATION].function != call.function:
            return
        param = self.facts.at(frame).root(access.buffer)
        if param not in call.params:
            return
        first = int(view.data.storage.array.__array_interface__["data"][0]) + first_byte(view, offset)
        for byte in range(first, first + element_size(view)):
            accesses = call.accesses.setdefault(byte, ByteAccesses())
            accesses.first.setdefault(param, access)
            if isinstance(access, tir.BufferStore):
                accesses.writer = param
            buffers = [buffer for buffer in accesses.first if buffer is not param]
            if buffers and accesses.writer is not None:
                other = buffers[0]
                message = (
                    f"`{element(access.buffer, view, offset)}` is reached through `{other.name}` too, "
                    f"and written: `{call.function}` promises `noalias`"
                )
                related = (
                    Related(f"the same memory is accessed through `{other.name}` here", accesses.first[other].span),
                )
                raise self.undefined(Diagnostic(BROKEN_NOALIAS, message, access.span, "", (), related), access, frame)


def promises(func: tir.PrimFunc) -> bool:
    """True if the function promises that its arguments do not overlap."""
    return bool(func.attrs.get("tirx.noalias", func.attrs.get("tir.noalias")))


def overlapping(func: tir.PrimFunc, args: Sequence[object]) -> frozenset[tir.Buffer]:
    """The buffers of parameters whose arguments share memory with one another."""
    tensors = [
        (func.buffer_map[param], arg if isinstance(arg, Tensor) else Tensor.from_numpy(arg))
        for param, arg in zip(func.params, args, strict=False)
        if param in func.buffer_map and isinstance(arg, Tensor | np.ndarray)
    ]
    buffers = set()
    for number, (buffer, tensor) in enumerate(tensors):
        for other, earlier in tensors[:number]:
            if tensor.size and earlier.size and np.may_share_memory(tensor.array, earlier.array):
                buffers |= {buffer, other}
    return frozenset(buffers)
