"""Compare every store of two modules; find the first difference in the order of the right module.

A store is known by its block, the values of the axes, the buffer, the indices, and which one of those that are alike it
is; so loops may have been split, reordered or fused between the two. A store that one of them does not make differs
too. At most `MOST` stores are compared.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.diag.errors import RefmlcError
from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.observe.copies import copies
from refmlc.oracle.compare import distance
from refmlc.oracle.parts import bits
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame
from refmlc.vm import VirtualMachine, build

MOST = 1_000_000
Key: TypeAlias = "tuple[str, str, tuple[int, ...], str, tuple[int, ...], int]"


@dataclass(frozen=True, slots=True)
class TracedStore:
    key: Key
    value: object
    dtype: DType
    span: Span | None
    binding: str


@dataclass(frozen=True, slots=True)
class Parting:
    """The first store that differs. `wrong` or `right` None: only the other module makes it."""

    function: str
    binding: str
    block: str
    axes: tuple[int, ...]
    element: str
    right: object
    wrong: object
    ulps: int | None
    span: Span | None

    def __str__(self) -> str:
        instance = f"block `{self.block}` at {self.axes}" if self.block else f"`{self.function}`"
        binding = f"binding `{self.binding}`, " if self.binding else ""
        far = "" if self.ulps is None else f", {self.ulps} ulp away"
        if self.wrong is None:
            return f"{binding}{instance}: `{self.element}` is not written, the program writes {self.right!r}"
        if self.right is None:
            return f"{binding}{instance}: `{self.element}` is written, the program does not write it there"
        return f"{binding}{instance}: `{self.element}` is {self.wrong!r}, the program gives {self.right!r}{far}"


class Log(Hooks):
    """The stores of one run, in order."""

    def __init__(self) -> None:
        self.stores: list[TracedStore] = []
        self._blocks: list[tuple[str, tuple[int, ...]]] = [("", ())]
        self._bindings: list[str] = []
        self._alike: Counter[tuple[object, ...]] = Counter()

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        self._blocks.append((site.node.block.name, site.values(frame)))

    def leave_block(self, site: BlockSite, frame: Frame) -> None:
        del site, frame
        self._blocks.pop()

    def before_binding(self, binding: relax.Binding) -> None:
        """A variable begins to be computed."""
        self._bindings.append(binding.var.name)

    def binding(self, binding: relax.Binding, value: object) -> None:
        """It has its value."""
        del binding, value
        self._bindings.pop()

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        if len(self.stores) >= MOST:
            return
        block, axes = self._blocks[-1]
        place = (frame[ACTIVATION].function, block, axes, access.buffer.name, indices)
        self._alike[place] += 1
        binding = self._bindings[-1] if self._bindings else ""
        key = (*place, self._alike[place])
        self.stores.append(TracedStore(key, value, access.buffer.dtype.scalar, access.span, binding))


def log_of(module: IRModule, func: str, args: Sequence[object]) -> tuple[list[TracedStore], RefmlcError | None]:
    """The stores of a run on copies of `args`, and what ended it before its end."""
    log = Log()
    try:
        VirtualMachine(build(module, "interp"), hooks=log)[func](*copies(args))
    except RefmlcError as failure:
        return log.stores, failure
    return log.stores, None


def first_difference(right: IRModule, wrong: IRModule, func: str, args: Sequence[object]) -> Parting | None:
    """The first store of `right` that `wrong` makes with another value, or not at all; None where all agree."""
    expected, actual = log_of(right, func, args)[0], log_of(wrong, func, args)[0]
    wrong_stores = {stored.key: stored for stored in actual}
    for stored in expected:
        other = wrong_stores.pop(stored.key, None)
        if other is None or bits(other.value) != bits(stored.value):
            return _parting(stored, stored.value, None if other is None else other.value)
    extra = next(iter(wrong_stores.values()), None)
    return None if extra is None else _parting(extra, None, extra.value)


def _parting(stored: TracedStore, right: object, wrong: object) -> Parting:
    function, block, axes, buffer, indices, _ = stored.key
    numbers = isinstance(right, (bool, int, float)) and isinstance(wrong, (bool, int, float))
    far = distance(float(wrong), float(right), stored.dtype) if numbers else None  # type: ignore[arg-type]
    element = f"{buffer}[{', '.join(map(str, indices))}]"
    return Parting(function, stored.binding, block, axes, element, right, wrong, far, stored.span)
