"""RM345: a product of a warpgroup uses a register that its thread accessed, and no `wgmma.fence` is between (TIM-013).

| a register of D, or of A                               | is fine where                            |
|--------------------------------------------------------|------------------------------------------|
| that a statement of the thread read or wrote           | a `wgmma.fence` of the thread came after |
| that only products have had since the last fence       | always                                   |

A thread that executes its first product has executed a fence.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from refmlc.diag import Diagnostic, Related
from refmlc.diag.catalogue import MISSING_REGISTER_FENCE
from refmlc.lang.ir import tir
from refmlc.lang.ir.matrix_units import WARPGROUP
from refmlc.lang.ir.ptx import operator_of
from refmlc.lang.ir.visit import walk
from refmlc.observe.sanitize.detector import Detector
from refmlc.observe.sanitize.elements import Elements, element
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.views import View


@dataclass(frozen=True, slots=True)
class RegisterAccess:
    """The last access of a statement to a register, and how many fences its thread had executed then."""

    fences: int
    node: tir.BufferLoad | tir.BufferStore


class RegisterFences(Detector):
    """Compares the registers of products with what statements access."""

    code = MISSING_REGISTER_FENCE

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._fences = 0
        self._accesses: Elements[RegisterAccess] = Elements()

    @classmethod
    def applies(cls, facts: FactTable) -> bool:
        """Whether the module has products of warpgroups."""
        return any(uses_warpgroups(func) for func in facts.module.functions.values() if isinstance(func, tir.PrimFunc))

    def place(self) -> tuple[object, ...]:
        return (self._fences,)

    def go_to(self, place: tuple[object, ...]) -> None:
        self._fences = cast("int", place[0])

    def fence(self, words: tuple[str, ...], frame: Frame) -> None:
        del frame
        self._fences += words[0] == "wgmma"

    def read_element(self, access: tir.BufferLoad, view: View, offset: int, frame: Frame) -> None:
        del frame
        self._note(access, view, offset)

    def write_element(self, access: tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        del frame
        self._note(access, view, offset)

    def touch_tile(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        del frame
        self._note(access, view, offset)

    def _note(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int) -> None:
        if view.buffer.scope == "local":
            records, keys = self._accesses.find(view, offset)
            records.update(dict.fromkeys(keys, RegisterAccess(self._fences, access)))

    def through_proxy(self, access: tir.BufferLoad | tir.BufferStore, view: View, offset: int, frame: Frame) -> None:
        if view.buffer.scope != "local":
            return
        used = f"a product of matrices uses `{element(access.buffer, view, offset)}`"
        records, keys = self._accesses.find(view, offset)
        for key in keys:
            earlier = records.get(key)
            if earlier is not None and earlier.fences == self._fences:
                verb = "reads" if isinstance(earlier.node, tir.BufferLoad) else "writes"
                message = f"{used}, which the thread accesses before it with no wgmma.fence between"
                related = (Related(f"it {verb} the register here", earlier.node.span),)
                raise self.undefined(Diagnostic(self.code, message, access.span, "", (), related), access, frame)
        if self._fences == 0:
            message = f"{used} before the thread has executed a wgmma.fence"
            raise self.undefined(Diagnostic(self.code, message, access.span), access, frame)


def uses_warpgroups(func: tir.PrimFunc) -> bool:
    """Whether a function has instructions of warpgroups."""
    return any(operator_of(call.callee) in WARPGROUP for call in _calls(func))


def _calls(func: tir.PrimFunc) -> Iterator[tir.Call]:
    return (node for node in walk(func.body) if isinstance(node, tir.Call))
