"""Atomic operations on several elements, and on halves in registers of bits (PTX-023).

| call                                                        | elements                                             |
|-------------------------------------------------------------|------------------------------------------------------|
| `T.ptx.atom.global_.add.v2.f32(c, d, p, x, y)`              | the two at p, whose values before are c and d        |
| `T.ptx.red.add.noftz.f16(p, x)`                             | a half, x its bits                                   |
| `T.ptx.red.add.noftz.v2.bf16x2(p, x, y)`                    | four, two of them in each register, the low one first |

Each element is changed for itself; between two of them another thread may come.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import cast

from refmlc.diag.catalogue import UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import HANDLE, INT32, DType, dtype as dtype_named
from refmlc.lang.dtypes.bits import decoder, encoder
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import PointerType
from refmlc.lang.ir.ptx import ADDRESS, PtxCall
from refmlc.run.interp.ptx.stores import PLACE, memory_of
from refmlc.run.interp.tensorir.frame import Eval, Frame, Run
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.threads import atomics
from refmlc.run.interp.threads.atomics import Atomic, Operation, exchanged, operation_of, order, reach, space
from refmlc.run.interp.threads.parts import written
from refmlc.run.interp.threads.warps import Beyond, check_numbers

VECTORS = {"v2": 2, "v4": 4, "v8": 8}
TYPES = {"f32": ("float32", 1), "f16": ("float16", 1), "bf16": ("bfloat16", 1), "f16x2": ("float16", 2)}
TYPES["bf16x2"] = ("bfloat16", 2)
HALVES = ("f16", "bf16", "f16x2", "bf16x2")
OPERATIONS = ("add", "min", "max")


@dataclass(frozen=True, slots=True)
class VectorAtomic:
    """An operation on the elements at an address, `packed` of them in a register."""

    op: str
    dtype: DType
    packed: int
    address: tir.Expr
    registers: tuple[tir.Expr, ...]
    destinations: tuple[tir.BufferLoad, ...]
    scope: str
    order: str
    space: str


def _of_ptx(item: PtxCall) -> VectorAtomic:
    """Fails: Beyond."""
    op, word, vector = item.one_of(*OPERATIONS), item.one_of(*TYPES), item.one_of(*VECTORS)
    if not item.is_plain:
        raise Beyond("with a predicate, keywords or an operand that is left out is not executed")
    if not (op and word) or (op != "add" and not (vector and word in HALVES)) or (word in HALVES) > ("noftz" in item):
        raise Beyond("in this form is not executed")
    count, hint = VECTORS.get(vector, 1), "L2::cache_hint" in item
    operands = item.expressions[: len(item.expressions) - hint]
    fits = (count + 1, 2 * count + 1) if item.family == "atom" else (count + 1,)
    if len(operands) not in fits:
        raise Beyond("in this form is not executed")
    *destinations, address = operands[:-count]
    registers = operands[-count:]
    check_numbers([*destinations, *registers])
    if not all(isinstance(each, tir.BufferLoad) for each in destinations):
        raise Beyond("into what is no element of a buffer is not executed")
    name, packed = TYPES[word]
    bits = dtype_named(name).bits * packed
    if any(each.dtype.bits != bits for each in (*destinations, *registers)):
        raise Beyond(f"of {word} in registers of other sizes is not executed")
    loads = cast("tuple[tir.BufferLoad, ...]", tuple(destinations))
    return VectorAtomic(op, dtype_named(name), packed, address, registers, loads, reach(item), order(item), space(item))


def _extreme(op: str) -> Operation:
    choose = cast("Callable[..., float]", min if op == "min" else max)

    def operation(old: float, x: float) -> float:
        if isnan(old) or isnan(x) or (old == x == 0 and str(old) != str(x)):
            raise Beyond(f"gives no {op} of {old} and {x} that PTX names")
        return choose(old, x)

    return operation


def _elements(scope: Scope, atomic: VectorAtomic, node: tir.Call) -> tuple[Run, list[tir.BufferLoad]]:
    """What declares a buffer of the elements, and they."""
    base, offset = atomic.address, cast("tir.Expr", tir.IntImm(INT32, 0))
    if isinstance(base, tir.Call) and base.callee == ADDRESS:
        base, offset = cast("tuple[tir.Expr, ...]", base.args[:2])
    owner = memory_of(base)
    name, memory = (
        ("place", atomic.space.partition("::")[0] or "global") if owner is None else (owner.name, owner.scope)
    )
    count = len(atomic.registers) * atomic.packed
    buffer = tir.Buffer(name, atomic.dtype, (tir.IntImm(INT32, count),), scope=memory, span=node.span)
    facts = tir.StringImm(f"{node.callee},{atomic.space}")
    size = tir.IntImm(INT32, count * atomic.dtype.bits // 8)
    place = tir.Call(PLACE, (facts, size, base, offset), HANDLE, PointerType(atomic.dtype, memory), span=node.span)
    declare = scope.stmt(tir.DeclBuffer(buffer, place, span=node.span))
    return declare, [tir.BufferLoad(buffer, (tir.IntImm(INT32, lane),), span=node.span) for lane in range(count)]


def _prepare(scope: Scope, node: tir.Call, item: PtxCall) -> Eval:
    try:
        atomic = _of_ptx(item)
    except Beyond as beyond:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`T.{node.callee}` {beyond}", node.span)
    dtype, packed = atomic.dtype, atomic.packed
    declare, elements = _elements(scope, atomic, node)
    lane = Atomic(atomic.op, dtype, atomic.address, (), atomic.scope, order=atomic.order)
    operation = operation_of(lane) if atomic.op == "add" else _extreme(atomic.op)
    exchanges = [exchanged(scope, node, lane, element, operation) for element in elements]
    values = [scope.expr(register) for register in atomic.registers]
    unpack = [_unpacked(register.dtype, dtype, packed) for register in atomic.registers]
    pack = [_packed(dtype, load.dtype) for load in atomic.destinations]
    results = [written(scope, load, node) for load in atomic.destinations]
    failure = scope.failing(UNSUPPORTED_INTRINSIC, node.span)

    def run(frame: Frame) -> None:
        lanes = [x for each, value in zip(unpack, values, strict=True) for x in each(value(frame))]
        declare(frame)
        try:
            before = [exchange(frame, (x,)) for exchange, x in zip(exchanges, lanes, strict=True)]
        except Beyond as beyond:
            raise failure(frame, f"`T.{node.callee}` {beyond}") from None
        for place, (result, join) in enumerate(zip(results, pack, strict=True)):
            result(frame, join(before[place * packed : (place + 1) * packed]))

    return run


def _unpacked(register: DType, element: DType, count: int) -> Callable[[object], Sequence[object]]:
    """The elements that a register holds, the low one first."""
    if register == element:
        return lambda value: (value,)
    encode, decode, bits = encoder(register), decoder(element), element.bits
    masked = (1 << bits) - 1
    return lambda value: [decode(encode(cast("float", value)) >> bits * lane & masked) for lane in range(count)]


def _packed(element: DType, register: DType) -> Callable[[Sequence[object]], object]:
    if register == element:
        return lambda values: values[0]
    encode, decode, bits = encoder(element), decoder(register), element.bits
    return lambda values: decode(sum(encode(cast("float", each)) << bits * lane for lane, each in enumerate(values)))


def _instruction(scope: Scope, node: tir.Call) -> Eval:
    item = PtxCall.of(node)
    if item is not None and item.one_of(*VECTORS, *HALVES):
        return _prepare(scope, node, item)
    return atomics.EXECUTED[f"ptx.{'red' if item is None else item.family}"](scope, node)


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = dict.fromkeys(("ptx.atom", "ptx.red"), _instruction)
