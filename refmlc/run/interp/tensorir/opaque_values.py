"""Registers that hold a value without a number: an address, the state of a barrier (PTX-024, TIA-024).

Such an element counts as not written. What may use it reads it with `held`; a store of one register to another as it is
moves it (TIW-011), and any other use is unsupported.
"""

from collections.abc import Callable
from typing import cast

from refmlc.lang.dtypes import HANDLE, VOID
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Numberless, Pointer

Place = Callable[[Frame], Pointer]


def held(scope: Scope, load: tir.BufferLoad) -> Callable[[Frame], Numberless | None]:
    """The value without a number in an element; None: it has a number, or nothing."""
    place, size = _place(scope, load), cell_size(load.dtype)

    def value(frame: Frame) -> Numberless | None:
        at = place(frame)
        return cast("Numberless | None", at.storage.held_at(at.byte_offset, size))

    return value


def holding(scope: Scope, load: tir.BufferLoad) -> Callable[[Frame, Numberless], None]:
    """What puts a value without a number in an element. Hooks see that the element is cleared."""
    place, size = _place(scope, load), cell_size(load.dtype)
    clear = scope.stmt(tir.BufferStore(load.buffer, tir.Call("undef", (), VOID), load.indices, span=load.span))

    def hold(frame: Frame, value: Numberless) -> None:
        clear(frame)
        at = place(frame)
        at.storage.hold(at.byte_offset, size, value)

    return hold


def _place(scope: Scope, load: tir.BufferLoad) -> Place:
    return cast("Place", scope.expr(tir.Call("address_of", (load,), HANDLE, span=load.span)))
