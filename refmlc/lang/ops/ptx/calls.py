"""Which form a call of a PTX instruction is: its modifiers by slots, its operands by names (PTX-001)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from refmlc.lang.dtypes import BOOL, FLOAT32, FLOAT64, INT32, DType, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.ptx import ADDRESS, PREFIX, PtxCall, is_sink, operator_of, spelled
from refmlc.lang.ops.ptx.forms import Form, FormOperand, forms_of
from refmlc.lang.ops.ptx.registers import WIDTHS
from refmlc.lang.ops.ptx.rules import problem

INTEGER_KINDS = ("int", "uint")
CONSTANTS: Mapping[str, range] = {"immLut": range(256), "nreg": range(24, 257, 8)}
"""What the constants among the operands may be."""
PACKED = {
    32: ("u16x2", "s16x2", "f16x2", "bf16x2", "u8x4", "s8x4", "e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "tf32", "pred"),
    16: ("f16", "bf16", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2", "ue5m3x2", "s2f6x2", "e2m1x4"),
    64: ("f32x2",),
    8: ("e2m1x2", "cvt_scale_ue8m0"),
}
CONTAINERS: Mapping[str, int] = {kind: bits for bits, kinds in PACKED.items() for kind in kinds}
"""The bits of the unsigned register that a type is carried in."""


class Misfit(Exception):
    """Why a call fits no form. `illegal`: PTX has no such call; else refmlc does not read it."""

    def __init__(self, why: str, *, illegal: bool = True) -> None:
        super().__init__(why)
        self.illegal = illegal


@dataclass(frozen=True, slots=True)
class Register:
    """One register of an operand: its type and the expression; None: nothing, `T.ptx.SINK`."""

    operand: FormOperand
    type: str
    value: tir.Expr | None


@dataclass(frozen=True, slots=True)
class FormCall:
    """A call that fits a form: its modifiers by slots, its operands with their names."""

    call: PtxCall
    form: Form
    modifiers: Mapping[str, str]
    registers: tuple[Register, ...]
    predicate: tir.Expr | None

    @property
    def name(self) -> str:
        """The instruction as PTX spells it, its modifiers in the order of the form."""
        return ".".join([self.form.family, *filter(None, self.modifiers.values())])

    def named(self, name: str) -> list[Register]:
        """The registers of the operand of this name."""
        return [register for register in self.registers if register.operand.name == name]


def has_forms(callee: object) -> bool:
    """Whether a callee is of an instruction whose forms are known here."""
    family = spelled(operator_of(callee).removeprefix(PREFIX))
    return operator_of(callee).startswith(PREFIX) and bool(forms_of(family))


def fitted(call: PtxCall) -> FormCall:
    """The form that a call fits. Fails: Misfit."""
    predicate = _condition(call.predicate)
    fits, reasons = [], []
    for form, modifiers in _candidates(call.family, call.modifiers):
        try:
            registers = _registers(form, modifiers, call)
        except Misfit as misfit:
            if not misfit.illegal:
                raise
            reasons.append(str(misfit))
        else:
            fits.append(FormCall(call, form, modifiers, registers, predicate))
    if len(fits) == 1:
        return fits[0]
    raise Misfit("; or ".join(dict.fromkeys(reasons)) or "several forms fit")


def _condition(value: tir.Attr) -> tir.Expr | None:
    if value is None or (isinstance(value, tir.Expr) and str(value.dtype) in ("bool", "int32", "uint32")):
        return value
    raise Misfit("its predicate is no bool, int32 or uint32")


@lru_cache(maxsize=4096)
def _candidates(family: str, words: tuple[str, ...]) -> tuple[tuple[Form, Mapping[str, str]], ...]:
    """The forms that take these modifiers together. Fails: Misfit."""
    fits, reasons = [], []
    for form in forms_of(family):
        modifiers = _filled(form, words)
        if modifiers is None:
            continue
        wrong = problem(form, modifiers)
        if wrong:
            reasons.append(wrong)
        else:
            fits.append((form, modifiers))
    if not fits:
        raise Misfit("; or ".join(dict.fromkeys(reasons)) or "these modifiers do not go together")
    return tuple(fits)


def _filled(form: Form, words: Sequence[str]) -> Mapping[str, str] | None:
    modifiers = dict.fromkeys((slot.name for slot in form.slots), "")
    for word in words:
        slot = next((each for each in form.slots if word in each.choices and not modifiers[each.name]), None)
        if slot is None:
            return None
        modifiers[slot.name] = word
    return modifiers


# ----------------------------------------------------------------------------------------------------- operands


def type_of(operand: FormOperand, modifiers: Mapping[str, str]) -> str:
    """The type of an operand: written, of the slot that it names, or of the type of the instruction."""
    match operand.type:
        case "":
            return ""
        case "wide":
            return f"{modifiers['type'][0]}{2 * int(modifiers['type'][1:])}"
        case "dot":
            return "u32" if (modifiers["atype"], modifiers["btype"]) == ("u32", "u32") else "s32"
        case named if named in modifiers:
            return modifiers[named] or modifiers["type"]
        case written:
            return written


def _count(operand: FormOperand, modifiers: Mapping[str, str]) -> int:
    if operand.when:
        return int(bool(modifiers[operand.when]))
    return operand.registers if isinstance(operand.registers, int) else int(modifiers[operand.registers][1:])


def _registers(form: Form, modifiers: Mapping[str, str], call: PtxCall) -> tuple[Register, ...]:
    values, counts = call.operands, [_count(operand, modifiers) for operand in form.operands]
    if sum(counts) != len(values):
        raise Misfit(f"it takes {sum(counts)} operands, {len(values)} given")
    registers: list[Register] = []
    for operand, count in zip(form.operands, counts, strict=True):
        first = len(registers)
        group = values[first : first + count]
        kind = type_of(operand, modifiers)
        registers += [
            Register(operand, kind, _value(operand, kind, value, marked=first + lane in call.predicates))
            for lane, value in enumerate(group)
        ]
        _check_group(operand, registers[first:], modifiers)
    return tuple(registers)


def _check_group(operand: FormOperand, group: Sequence[Register], modifiers: Mapping[str, str]) -> None:
    sunk = [register for register in group if register.value is None]
    wide = operand.name in ("d", "value") and modifiers.get("vec", "")
    may = operand.may_sink and (not wide or (wide, modifiers["type"][1:]) in (("v8", "32"), ("v4", "64")))
    if sunk and (not may or len(sunk) == len(group)):
        raise Misfit(f"`T.ptx.SINK` is no register of `{operand.name}`")
    dtypes = {str(register.value.dtype) for register in group if register.value and _names_dtype(register.value)}
    if len(dtypes) > 1:
        raise Misfit(f"the registers of `{operand.name}` are of {' and '.join(sorted(dtypes))}")


def _names_dtype(value: tir.Expr | None) -> bool:
    return isinstance(value, tir.Expr) and not isinstance(value, tir.IntImm | tir.FloatImm)


def _value(operand: FormOperand, kind: str, value: tir.Attr, *, marked: bool) -> tir.Expr | None:
    if isinstance(value, bool | int | float):
        value = _literal(value)
    if not isinstance(value, tir.Expr):
        raise Misfit(f"`{operand.name}` is no expression", illegal=False)
    if is_sink(value):
        return None
    if marked and (operand.written or kind != "pred"):
        raise Misfit(f"`{operand.name}` is no predicate that is read, and marked as one")
    match operand.kind:
        case "imm":
            if not isinstance(value, tir.IntImm):
                raise Misfit(f"`{operand.name}` is no constant", illegal=value.dtype.kind not in INTEGER_KINDS)
            if value.value not in CONSTANTS[operand.name]:
                raise Misfit(f"`{operand.name}` is not {value.value}")
        case "addr" | "ptr":
            _check_address(operand, value)
        case _ if kind == "pred":
            return _predicate(operand, value, marked=marked)
        case _:
            _check_register(operand, kind, value)
    return value


def _literal(value: float) -> tir.Expr:
    if isinstance(value, bool):
        return tir.IntImm(BOOL, int(value))
    if isinstance(value, int):
        return tir.IntImm(INT32, value)
    return tir.FloatImm(FLOAT32, value)


def _check_address(operand: FormOperand, value: tir.Expr) -> None:
    inner = value.args[0] if isinstance(value, tir.Call) and value.callee == ADDRESS and value.args else value
    if not isinstance(inner, tir.Expr) or inner.dtype.kind not in ("handle", "uint"):
        raise Misfit(f"`{operand.name}` is no address")


def _predicate(operand: FormOperand, value: tir.Expr, *, marked: bool) -> tir.Expr:
    if operand.written:
        if not isinstance(value, tir.BufferLoad) or str(value.dtype) != "uint32":
            raise Misfit(f"the destination `{operand.name}` is no uint32 that can be written")
        return value
    if not (value.dtype.kind == "bool" or (marked and str(value.dtype) in ("int32", "uint32"))):
        raise Misfit(f"`{operand.name}` is a predicate: a bool, or `T.ptx.pred(x)`")
    return value


def _check_register(operand: FormOperand, kind: str, value: tir.Expr) -> None:
    if operand.written and not isinstance(value, tir.BufferLoad):
        raise Misfit(f"the destination `{operand.name}` is no scalar or element that can be written")
    if isinstance(value, tir.IntImm | tir.FloatImm) and not operand.written and _literal_fits(kind, value):
        return
    if value.dtype.is_vector or not carries(kind, value.dtype, relaxed=operand.relaxed):
        raise Misfit(f"`{operand.name}` is of {kind}, {value.dtype} given")


def _literal_fits(kind: str, value: tir.IntImm | tir.FloatImm) -> bool:
    """Whether a number in the text, which names no dtype of its own, is one of the type."""
    if isinstance(value, tir.FloatImm):
        if kind == "f64" and value.dtype != FLOAT64:
            raise Misfit("the number has no dtype: write `T.float64(…)`", illegal=False)
        return kind == {FLOAT32: "f32", FLOAT64: "f64"}.get(value.dtype)
    bits = CONTAINERS.get(kind) or WIDTHS.get(kind.removesuffix("i"), 0)
    return -(1 << (bits - 1)) <= value.value < 1 << bits


def carries(kind: str, dtype: DType, *, relaxed: str) -> bool:
    """Whether a register of this dtype is one of the type; `relaxed`: or may be used as one."""
    integer = dtype.kind in INTEGER_KINDS
    if relaxed:
        if relaxed == "same" and kind in ("u16", "s16"):
            kind = "b16"
        return _carries_relaxed(kind, dtype) and (relaxed == "wider" or dtype.bits == WIDTHS[kind])
    if kind in CONTAINERS:
        return dtype.kind == "uint" and dtype.bits == CONTAINERS[kind]
    bits = WIDTHS[kind.removesuffix("i")]
    if dtype.bits != bits:
        return False
    match kind[0]:
        case "b":
            return integer or (dtype.kind == "float" and not kind.endswith("i") and _is_plain(dtype))
        case "u" | "s":
            return dtype.kind == ("uint" if kind[0] == "u" else "int")
        case _:
            return dtype.kind == "float"


def _carries_relaxed(kind: str, dtype: DType) -> bool:
    integer, bits = dtype.kind in INTEGER_KINDS, WIDTHS[kind]
    if kind == "bf16":
        return str(dtype) == "uint16"
    if integer:
        return dtype.bits >= bits
    if not _is_plain(dtype):
        return False
    match kind[0]:
        case "b":
            return dtype.bits >= bits and (dtype.bits != 16 or bits in (8, 16))
        case "f":
            return dtype.bits == bits
        case _:
            return False


def _is_plain(dtype: DType) -> bool:
    return str(dtype) in ("float16", "bfloat16", "float32", "float64")


def register_dtype(register: Register) -> DType:
    """The dtype of the value of a register that is read: its own; of a number in the text that of the type."""
    value, kind = register.value, register.type
    if value is None or register.operand.kind != "reg":
        return INT32
    if _names_dtype(value) or kind == "pred":
        return value.dtype
    bits = CONTAINERS.get(kind) or WIDTHS[kind.removesuffix("i")]
    return dtype(f"{'float' if kind in ('f32', 'f64') else 'int' if kind[0] == 's' else 'uint'}{bits}")


def instruction_problem(call: tir.Call) -> str:
    """What is wrong with a call of an instruction whose forms are known; empty: nothing."""
    ptx = PtxCall.of(call)
    if ptx is None or not forms_of(ptx.family) or call.dtype.kind != "void":
        return ""
    try:
        fitted(ptx)
    except Misfit as misfit:
        return f"`T.{call.callee}`: {misfit}" if misfit.illegal else ""
    return ""
