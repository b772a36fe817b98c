"""Asynchronous stores of registers to shared memory: `st.async` (PTX-026, TIX-032).

`st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [a], {b, c}, [bar]` is complete when a thread has seen the
phase of the barrier, as a bulk copy is.
"""

import re
from collections.abc import Callable

from refmlc.lang.dtypes.bits import encoder
from refmlc.lang.ir import tir
from refmlc.run.interp.asynchronous.operands import NotExecutedError
from refmlc.run.interp.asynchronous.operations import Move, OpenOperation
from refmlc.run.interp.asynchronous.place import Do, InstructionSite, signal
from refmlc.run.interp.tensorir.addresses import name_of, touching
from refmlc.run.interp.tensorir.frame import Frame

WORDS = re.compile(
    r"st_async(\.weak)?(\.shared::cluster)?\.mbarrier::complete_tx::bytes(\.v(?P<lanes>[24]))?\."
    r"(?P<kind>[busf])(?P<bits>32|64)"
)
KINDS = {"b": ("int", "uint", "float"), "u": ("uint",), "s": ("int",), "f": ("float",)}


def store(here: InstructionSite) -> Do:  # PTX-026
    """A store that a phase completes."""
    match = WORDS.fullmatch(here.ptx.name)
    if match is None:
        raise NotExecutedError("refmlc does not define it yet")
    lanes, bits = int(match["lanes"] or 1), int(match["bits"])
    if len(here.operands) != lanes + 2:
        raise NotExecutedError(f"it has {len(here.operands)} operands")
    to, at, nbytes = here.address(0), here.address(lanes + 1), lanes * bits // 8
    values = [_coded(here, operand, match["kind"], bits) for operand in here.operands[1:-1]]
    writes, span = touching(here.scope, to.span, written=True), here.span

    def issue(frame: Frame) -> None:
        data = b"".join(value(frame).to_bytes(bits // 8, "little") for value in values)
        barrier = here.barrier(at, frame)
        into = to.bytes_at(frame, nbytes, "a store writes", "shared")
        to.aligned(into, nbytes)
        here.check_beside(into, barrier.place, frame)

        def written(at: Frame, phase: object) -> None:
            if writes is not None:
                writes(at, into, nbytes, phase)

        written(frame, None)
        copy = OpenOperation([Move(into, None, data)], name_of(into), span, written)
        here.block(frame).issue(copy)
        signal(here, barrier, frame)
        barrier.bring(copy, nbytes, span)

    return issue


def _coded(here: InstructionSite, operand: tir.Attr, kind: str, bits: int) -> Callable[[Frame], int]:
    """The bits of a value. Fails: it is no register of this kind."""
    if isinstance(operand, tir.IntImm) and kind != "f":
        number = operand.value & ((1 << bits) - 1)
        return lambda _frame: number
    if not isinstance(operand, tir.Expr) or operand.dtype.kind not in KINDS[kind] or operand.dtype.bits != bits:
        raise NotExecutedError(f"a value of it is no register of {kind}{bits}")
    value, encode, mask = here.scope.number(operand), encoder(operand.dtype), (1 << bits) - 1
    return lambda frame: encode(value(frame)) & mask
