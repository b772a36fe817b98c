"""The value of a destination of an instruction, the address of an access, and instructions that are not executed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from refmlc.diag.catalogue import BAD_POINTER, DIVISION_BY_ZERO, TYPE_MISMATCH, UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.bits import decoder, encoder
from refmlc.lang.dtypes.rounding import wrap
from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import PtxCall
from refmlc.lang.ir.threads import TURN
from refmlc.lang.ops.ptx.calls import Misfit, fitted, has_forms, type_of
from refmlc.lang.ops.ptx.forms import forms
from refmlc.lang.ops.ptx.hints import operands_of_hint
from refmlc.lang.ops.ptx.integers import ByZero
from refmlc.lang.ops.ptx.meaning import MEANINGS, is_executed, missing
from refmlc.lang.ops.ptx.numbers import Open
from refmlc.lang.ops.ptx.registers import Bits, Family, mask, to_number, width
from refmlc.run.interp.ptx import spaces
from refmlc.run.interp.ptx.stores import ADDRESS_IN, BEGIN, END, PLACE, SIZE, VALUE, ZEROED_BYTES, refusal
from refmlc.run.interp.tensorir.addresses import place_of, space_of
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.pointer import Pointer

MOST_ZEROED = 1 << 24
TRANSPARENT = ("mov", "selp", "slct")
"""The forms that give one of their operands: a NaN needs no bits of its own."""


def call(scope: Scope, node: tir.Call) -> Eval | None:
    """What stands in place of an instruction, or why it is not executed; None: another call."""
    if node.callee == VALUE:
        return _value(scope, node)
    if node.callee == PLACE:
        return _place(scope, node)
    if node.callee == SIZE:
        return _size(scope, node)
    if node.callee == ADDRESS_IN:
        return spaces.convert(scope, node)
    if node.callee in (BEGIN, END, TURN):
        return _ordered(scope, node)
    ptx = PtxCall.of(node) if has_forms(node.callee) else None
    return None if ptx is None else _refused(scope, ptx)


def _ordered(scope: Scope, node: tir.Call) -> Eval:  # PTX-100
    """The events before and after the accesses of a load or store with a memory order."""
    hooks = scope.machine.hooks
    if scope.machine.schedule is not None:
        message = "a load or store with a memory order is not executed where orders of threads are explored"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    if node.callee == TURN:
        return lambda _frame: None
    if node.callee == END:
        return lambda frame: hooks.after_atomic(node, frame)
    order, reach, first = cast("tuple[tir.StringImm, tir.StringImm, tir.BufferLoad]", node.args)
    view = scope.buffer(first.buffer).view
    size = first.buffer.dtype.bits // 8

    def begin(frame: Frame) -> None:
        hooks.before_atomic(node, reach.value, frame)
        seen = frame[view]
        for lane in range(seen.shape[0]):
            hooks.strong((seen.data.storage, seen.data.byte_offset + lane * size), order.value, frame)

    return begin


def _hint(scope: Scope, node: tir.Call) -> Eval:  # PTX-021
    ptx = cast("PtxCall", PtxCall.of(node))
    if operands_of_hint(ptx.words) == len(ptx.operands) and not ptx.has_sinks:
        return lambda _frame: None
    message = f"the instruction `{ptx.name}` is not executed: it has other modifiers or operands than a hint"
    return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)


def _refused(scope: Scope, call: PtxCall) -> Eval:  # PTX-001, PTX-099
    try:
        fits = fitted(call)
    except Misfit as misfit:
        code = TYPE_MISMATCH if misfit.illegal else UNSUPPORTED_INTRINSIC
        return scope.unsupported(code, f"`T.{call.call.callee}`: {misfit}", call.span)
    why = refusal(fits) if is_executed(fits.form.name) else missing(fits.form.name)
    message = f"the instruction `{fits.name}` is not executed: {why or 'it has a value where none is used'}"
    return scope.unsupported(UNSUPPORTED_INTRINSIC, message, call.span)


@dataclass(frozen=True, slots=True)
class RegisterResult:
    """One result of an instruction: what stands in place of a call. `kind`: the type of the destination."""

    form: str
    modifiers: Mapping[str, str]
    index: int
    kind: str
    operands: tuple[tir.Expr, ...]

    @classmethod
    def of(cls, node: tir.Call) -> "RegisterResult":
        """The result that a call of `VALUE` is."""
        text, place, *operands = cast("tuple[tir.Expr, ...]", node.args)
        form, *words = cast("tir.StringImm", text).value.split(",")
        row = forms()[form]
        modifiers = dict(zip((slot.name for slot in row.slots), words, strict=True))
        types = [type_of(operand, modifiers) for operand in row.operands if operand.written]
        counts = [operand.registers for operand in row.operands if operand.written]
        index = cast("tir.IntImm", place).value
        return cls(form, modifiers, index, types[0] if counts[0] != 1 else types[index], tuple(operands))

    @property
    def name(self) -> str:
        """The instruction as PTX spells it."""
        return ".".join([forms()[self.form].family, *filter(None, self.modifiers.values())])

    def encoders(self) -> list[Callable[[float], int]]:
        """What makes bits of the values of the operands."""
        types = _read_types(self.form, self.modifiers)
        return [_to_bits(operand.dtype, kind) for operand, kind in zip(self.operands, types, strict=True)]

    def decoder(self, dtype: DType) -> Callable[[int], object]:
        """What makes a value of the destination's dtype of the bits of the result."""
        return _from_bits(self.kind, dtype)

    def meaning(self) -> Callable[[Bits], Bits]:
        """The bits of all results, of those of the operands. Fails: ByZero, Open."""
        return _prepared(MEANINGS[self.form], self.modifiers)


def _value(scope: Scope, node: tir.Call) -> Eval:
    """One result of an instruction, of the dtype of its destination."""
    part = RegisterResult.of(node)
    form, operands, index, name = part.form, part.operands, part.index, part.name
    values = [scope.expr(operand) for operand in operands]
    codes, result = part.encoders(), part.decoder(node.dtype)
    open_, by_zero = scope.failing(UNSUPPORTED_INTRINSIC, node.span), scope.failing(DIVISION_BY_ZERO, node.span)
    refusing = [
        operand.dtype.is_float and not (form in TRANSPARENT and node.dtype.is_float) and named[0] == "b"
        for operand, named in zip(operands, _read_types(form, part.modifiers), strict=True)
    ]
    prepared = part.meaning()

    def value(frame: Frame) -> object:
        found = [each(frame) for each in values]
        for number, refused in zip(found, refusing, strict=True):
            if refused and number != number:  # noqa: PLR0124 - the test for NaN
                raise open_(frame, f"`{name}` of a NaN: its bits are not known, all NaN of a float dtype are one")
        try:
            bits = prepared(tuple([code(cast("float", each)) for code, each in zip(codes, found, strict=True)]))
        except ByZero:
            raise by_zero(frame, f"`{name}` divides by 0") from None
        except Open as beyond:
            raise open_(frame, f"`{name}` is not executed: {beyond}") from None
        return result(bits[index])

    return value


def _prepared(family: Family, modifiers: Mapping[str, str]) -> Callable[[Bits], Bits]:
    """The meaning with these modifiers; where they have none, it fails when it is reached."""
    try:
        return family(modifiers)
    except Open as beyond:
        words = str(beyond)

        def fail_at_call(_registers: Bits) -> Bits:
            raise Open(words)

        return fail_at_call


def _read_types(form: str, modifiers: Mapping[str, str]) -> Sequence[str]:
    """The type of each register that a form reads; empty for a constant."""
    types = []
    for operand in forms()[form].operands:
        if not operand.written:
            present = not operand.when or modifiers[operand.when]
            count = operand.registers if isinstance(operand.registers, int) else int(modifiers[operand.registers][1:])
            types += [type_of(operand, modifiers) or "imm"] * (count if present else 0)
    return types


def _to_bits(dtype: DType, kind: str) -> Callable[[float], int]:
    """A value as the bits of a register of a type, whose width is not more than the value's (PTX-002)."""
    encode = encoder(dtype)
    if kind == "pred":
        return lambda value: int(value != 0)
    bits = mask(
        min(dtype.bits, width(kind)) if kind in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64") else dtype.bits
    )
    return lambda value: encode(value) & bits


def _from_bits(kind: str, dtype: DType) -> Callable[[int], object]:
    """The bits of a type as a value of the dtype of the destination: the sign, or zeros, above (PTX-002)."""
    if dtype.is_float:
        return decoder(dtype)
    if kind[0] == "s" and kind[1:].isdecimal():
        return lambda bits: wrap(dtype, to_number(kind, bits))
    return lambda bits: wrap(dtype, bits)


def _size(scope: Scope, node: tir.Call) -> Eval:  # PTX-016
    """A number of bytes. Fails: RM313 where `st.bulk` does not write it."""
    text, size = cast("tuple[tir.Expr, ...]", node.args)
    name, number = cast("tir.StringImm", text).value, scope.int(size)
    failure = scope.failing(BAD_POINTER, node.span)

    def checked(frame: Frame) -> int:
        count = number(frame)
        if count % ZEROED_BYTES or count > MOST_ZEROED:
            words = f"a multiple of {ZEROED_BYTES} up to {MOST_ZEROED}"
            raise failure(frame, f"`{name}` of {count} bytes: the number is not {words}")
        return count

    return checked


def _place(scope: Scope, node: tir.Call) -> Eval:
    """The address of an access, with its offset. Fails: RM313 where it is not aligned, or of another state space."""
    facts, size, base, offset = cast("tuple[tir.Expr, ...]", node.args)
    name, space = cast("tir.StringImm", facts).value.split(",")
    nbytes = cast("tir.IntImm", size).value
    start, distance = place_of(scope, base), scope.int(offset)
    failure = scope.failing(BAD_POINTER, node.span)
    wanted, own, group_of = space.partition("::")[0], space in ("shared", "shared::cta"), scope.group

    def place(frame: Frame) -> Pointer:
        address = start(frame).moved(distance(frame))
        if wanted and space_of(address) != wanted:
            raise failure(frame, f"`{name}` accesses {space} memory, the address is in `{space_of(address)}`")
        wrong = spaces.check_block(address, frame, group_of, own=own)
        if wrong:
            raise failure(frame, wrong)
        if address.byte_offset % nbytes:
            message = f"`{name}` accesses {nbytes} bytes at byte {address.byte_offset} of its memory: it is not aligned"
            raise failure(frame, message)
        return address

    return place


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    "ptx.applypriority": _hint,
    "ptx.mapa": spaces.mapped,
    "ptx.getctarank": spaces.rank_of,
}
