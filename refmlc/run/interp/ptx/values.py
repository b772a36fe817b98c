"""The value of a destination of an instruction, the address of an access, and instructions that are not executed."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from refmlc.diag.catalogue import BAD_POINTER, DIVISION_BY_ZERO, TYPE_MISMATCH, UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.bits import decoder, encoder
from refmlc.lang.dtypes.rounding import wrap
from refmlc.lang.ir import tir
from refmlc.lang.ops.ptx.calls import Misfit, family_of, instruction, type_of
from refmlc.lang.ops.ptx.forms import forms
from refmlc.lang.ops.ptx.integers import ByZero
from refmlc.lang.ops.ptx.meaning import MEANINGS, is_executed, missing
from refmlc.lang.ops.ptx.numbers import Open
from refmlc.lang.ops.ptx.registers import Bits, Family, mask, to_number, width
from refmlc.run.interp.ptx.stores import PLACE, VALUE, refusal
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.intrinsics import pointer
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.pointer import Pointer

TRANSPARENT = ("mov", "selp", "slct")
"""The forms that give one of their operands: a NaN needs no bits of its own."""


def call(scope: Scope, node: tir.Call) -> Eval | None:
    """What stands in place of an instruction, or why it is not executed; None: another call."""
    if node.callee == VALUE:
        return _value(scope, node)
    if node.callee == PLACE:
        return _place(scope, node)
    return _refused(scope, node) if family_of(node.callee) else None


def _refused(scope: Scope, node: tir.Call) -> Eval:  # PTX-001, PTX-099
    try:
        fits = instruction(node)
    except Misfit as misfit:
        code = TYPE_MISMATCH if misfit.illegal else UNSUPPORTED_INTRINSIC
        return scope.unsupported(code, f"`T.{node.callee}`: {misfit}", node.span)
    why = refusal(fits) if is_executed(fits.form.name) else missing(fits.form.name)
    message = f"the instruction `{fits.name}` is not executed: {why or 'it has a value where none is used'}"
    return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)


def _value(scope: Scope, node: tir.Call) -> Eval:
    """One result of an instruction, of the dtype of its destination."""
    text, place, *operands = cast("tuple[tir.Expr, ...]", node.args)
    form, *words = cast("tir.StringImm", text).value.split(",")
    row = forms()[form]
    modifiers = dict(zip((slot.name for slot in row.slots), words, strict=True))
    types = [type_of(operand, modifiers) for operand in row.operands if operand.written]
    counts = [operand.registers for operand in row.operands if operand.written]
    index = cast("tir.IntImm", place).value
    kind = types[0] if counts[0] != 1 else types[index]
    values = [scope.expr(operand) for operand in operands]
    codes = [
        _to_bits(operand.dtype, named) for operand, named in zip(operands, _read_types(form, modifiers), strict=True)
    ]
    result = _from_bits(kind, node.dtype)
    open_, by_zero = scope.failing(UNSUPPORTED_INTRINSIC, node.span), scope.failing(DIVISION_BY_ZERO, node.span)
    name = ".".join([row.family, *filter(None, words)])
    refusing = [
        operand.dtype.is_float and not (form in TRANSPARENT and node.dtype.is_float) and named[0] == "b"
        for operand, named in zip(operands, _read_types(form, modifiers), strict=True)
    ]
    prepared = _prepared(MEANINGS[form], modifiers)

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


def _place(scope: Scope, node: tir.Call) -> Eval:
    """The address of an access, with its offset. Fails: RM313 where it is not aligned, or of another state space."""
    facts, size, base, offset = cast("tuple[tir.Expr, ...]", node.args)
    name, space, known = cast("tir.StringImm", facts).value.split(",")
    nbytes = cast("tir.IntImm", size).value
    start, distance = pointer(scope, base), scope.int(offset)
    failure = scope.failing(BAD_POINTER, node.span)
    elsewhere = space and known and _space_of(known) != space.partition("::")[0]

    def place(frame: Frame) -> Pointer:
        address = start(frame).moved(distance(frame))
        if elsewhere:
            raise failure(frame, f"`{name}` accesses {space} memory, the address is in `{known}`")
        if address.byte_offset % nbytes:
            message = f"`{name}` accesses {nbytes} bytes at byte {address.byte_offset} of its memory: it is not aligned"
            raise failure(frame, message)
        return address

    return place


def _space_of(scope: str) -> str:
    """The state space of a storage scope."""
    first = scope.partition(".")[0]
    return "local" if first in ("local", "warp") else first
