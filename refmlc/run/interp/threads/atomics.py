"""Atomic operations on an element of memory (TIW-006, TIW-007).

| call                                                   | writes                               | gives            |
|--------------------------------------------------------|--------------------------------------|------------------|
| `T.cuda.atomic_add(p, x)`                              | the sum                              | the value before |
| `T.cuda.atomic_cas(p, old, x)`                         | x where the value before is `old`    | the value before |
| `T.ptx.atom.global_.add.u32(d, p, x)`, min, max, and,  | what the operation makes of both     | in `d`: the      |
| or, xor, inc, dec, exch                                |                                      | value before     |
| `T.ptx.atom.cas.b32(d, p, old, x)`                     | as above                             | the same         |
| `T.ptx.red.add.f32(p, x)`, …, `atom` without `d`       | as above                             | nothing          |
| `T.ptx.red.add.v2.f32(p, x, y)`, …, of halves          | see `vector_atomics`                 |                  |

Threads take turns, so an operation is not interrupted. A sum of floats by several threads is executed as long as it is
the same in every order (`SumOfFloats`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isfinite
from operator import and_, or_, xor
from typing import cast

from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT, UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import HANDLE, INT32, DType, dtype as dtype_named
from refmlc.lang.dtypes.formats import FLOAT_FORMATS
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import PointerType
from refmlc.lang.ir.ptx import ADDRESS, TO_SHARED, PtxCall
from refmlc.run.interp.ptx.stores import PLACE, memory_of
from refmlc.run.interp.tensorir.frame import Eval, Frame, Run, Slot
from refmlc.run.interp.tensorir.placed import is_placed
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View
from refmlc.run.interp.threads.parts import written
from refmlc.run.interp.threads.warps import Beyond, check_numbers
from refmlc.run.memory.storage import Storage

TYPES = {
    **{f"u{bits}": f"uint{bits}" for bits in (32, 64)},
    **{f"s{bits}": f"int{bits}" for bits in (32, 64)},
    **{f"b{bits}": f"uint{bits}" for bits in (16, 32, 64)},
    "f32": "float32",
    "f64": "float64",
}
OPERATIONS = ("add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas")
COMMUTING = ("add", "min", "max", "and", "or", "xor")
"""Operations whose order does not matter where nobody asks for the value before."""
WIDE = "b128"
Operation = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Atomic:
    """An atomic operation on one element of `dtype`, among the threads of `scope`.

    `order`: which accesses of its thread it orders with those of others, a word of PTX. `space`: that of its address.
    """

    op: str
    dtype: DType
    address: tir.Expr
    operands: tuple[tir.Expr, ...]
    scope: str = "gpu"
    destination: tir.BufferLoad | None = None
    order: str = "relaxed"
    space: str = ""


def _of_cuda(call: tir.Call) -> Atomic:
    address, *operands = cast("tuple[tir.Expr, ...]", call.args)
    op = "add" if call.callee == "cuda.atomic_add" else "cas"
    if call.dtype.is_vector or not (call.dtype.is_integer or (call.dtype.is_float and op == "add")):
        raise Beyond(f"of {call.dtype} is not executed")
    return Atomic(op, call.dtype, address, tuple(operands))


def _of_ptx(call: tir.Call) -> Atomic:
    item = PtxCall.of(call)
    if item is None or not item.is_plain:
        raise Beyond("with a predicate, keywords or an operand that is left out is not executed")
    op, word = item.one_of(*OPERATIONS), item.one_of(*TYPES)
    count = 3 if op == "cas" else 2
    operands = item.expressions[: len(item.expressions) - ("L2::cache_hint" in item)]
    if WIDE in item or not (op and word) or len(operands) not in (count, count + (item.family == "atom")):
        raise Beyond("in this form is not executed")
    first = operands[0] if len(operands) > count else None
    address, *values = operands[-count:]
    if first is not None and not isinstance(first, tir.BufferLoad):
        raise Beyond("into what is no element of a buffer is not executed")
    return Atomic(op, dtype_named(TYPES[word]), address, tuple(values), reach(item), first, order(item), space(item))


def reach(item: PtxCall) -> str:
    """The threads among which an operation is atomic."""
    return item.one_of("cta", "cluster", "gpu", "sys") or "gpu"


def order(item: PtxCall) -> str:
    """What the operation orders with others."""
    return item.one_of("acquire", "release", "acq_rel") or "relaxed"


def space(item: PtxCall) -> str:
    """The state space of the address, as PTX has it; empty: any."""
    return item.one_of("global", "shared::cluster", "shared::cta", "shared")


# ---------------------------------------------------------------------------------------------------- the element


def _element(scope: Scope, atomic: Atomic, call: tir.Call) -> tuple[Run | None, tir.BufferLoad]:
    """The element that the address points to, and what declares a buffer for it where none is in the text."""
    pointer = _pointer(atomic.address)
    match pointer:
        case tir.Call(callee="address_of", args=(tir.BufferLoad() as load,)) if _is_of(load.buffer, atomic):
            return None, load
        case tir.BufferData(buffer=buffer) if _is_of(buffer, atomic) and _begins_with_an_element(buffer):
            zero = tuple(tir.IntImm(extent.dtype, 0) for extent in buffer.shape)
            return None, tir.BufferLoad(buffer, zero, span=call.span)
    owner = memory_of(pointer)
    memory = (atomic.space.partition("::")[0] or "global") if owner is None else owner.scope
    index = tir.IntImm(INT32, 0)
    buffer = tir.Buffer(
        "place" if owner is None else owner.name, atomic.dtype, (tir.IntImm(INT32, 1),), scope=memory, span=call.span
    )
    if pointer.dtype.kind == "uint" or atomic.space:
        facts, size = tir.StringImm(f"{call.callee},{atomic.space}"), tir.IntImm(INT32, atomic.dtype.bits // 8)
        pointed = PointerType(atomic.dtype, memory)
        pointer = tir.Call(PLACE, (facts, size, pointer, index), HANDLE, pointed, span=call.span)
    declare = scope.stmt(tir.DeclBuffer(buffer, pointer, span=call.span))
    return declare, tir.BufferLoad(buffer, (index,), span=call.span)


def _pointer(address: tir.Expr) -> tir.Expr:
    """The pointer that an operand is, in whichever space it counts."""
    if not isinstance(address, tir.Call) or address.callee not in (TO_SHARED, ADDRESS):
        return address
    inner = _pointer(cast("tir.Expr", address.args[0]))
    if inner.dtype.kind == "uint":
        return address
    if address.callee == ADDRESS and len(address.args) > 1:
        return tir.Call("handle_add_byte_offset", (inner, address.args[1]), HANDLE, span=address.span)
    return inner


def _is_of(buffer: tir.Buffer, atomic: Atomic) -> bool:
    """Whether an operation is one on elements of a buffer, and the state space is that of its memory."""
    space = atomic.space.partition("::")[0]
    return buffer.dtype == atomic.dtype and space in ("", (buffer.scope or "global").partition(".")[0])


def _begins_with_an_element(buffer: tir.Buffer) -> bool:
    """Whether the pointer of a buffer is the one to its first element."""
    offset = buffer.elem_offset
    at_zero = offset is None or (isinstance(offset, tir.IntImm) and offset.value == 0)
    return at_zero and bool(buffer.shape) and not is_placed(buffer)


# -------------------------------------------------------------------------------------------------- the operation


def _wrapped(dtype: DType, value: object) -> object:
    """An integer of which the bits count, as one of the dtype."""
    if isinstance(value, float) is not dtype.is_float:
        raise Beyond(f"of {dtype} takes no other value")
    if not isinstance(value, int):
        return value
    bits = value & ((1 << dtype.bits) - 1)
    return bits - (1 << dtype.bits) if bits > dtype.maximum else bits


def operation_of(atomic: Atomic) -> Operation:
    """The new value, of the one before and the operands."""
    dtype = atomic.dtype
    if dtype.is_float and atomic.op != "add":
        raise Beyond(f"of {dtype} is not executed")
    if dtype.is_float:
        rounded = rounder(dtype)
        return lambda old, x: rounded(old + x)
    operations: dict[str, Operation] = {
        "min": min,
        "max": max,
        "and": and_,
        "or": or_,
        "xor": xor,
        "add": lambda old, x: _wrapped(dtype, old + x),
        "inc": lambda old, x: 0 if old >= x else old + 1,
        "dec": lambda old, x: x if old == 0 or old > x else old - 1,
        "exch": lambda _old, x: x,
        "cas": lambda old, expected, x: x if old == expected else old,
    }
    return operations[atomic.op]


@dataclass(slots=True)
class SumOfFloats:
    """A sum that several threads add to, and whether it is the same in every order.

    It is where each addition is exact in each order: all values are multiples of one power of two, and their absolute
    values add up to less than `2 ** precision` times that. A sum that one thread alone adds to has one order.
    """

    value: object
    threads: object
    step: Fraction
    size: Fraction

    @classmethod
    def begun(cls, old: float) -> "SumOfFloats":
        """The sum that begins with the value in memory."""
        return cls(old, None, _step(old), abs(Fraction(old)))

    def add(self, thread: object, x: float, precision: int, greatest: float) -> bool:
        """Add a value by a thread; whether the sum is the same in every order."""
        alone = self.threads in (None, (thread,))
        self.threads = (thread,) if alone else ()
        self.step = min(self.step or _step(x), _step(x) or self.step)
        self.size += abs(Fraction(x))
        if alone or not self.step:
            return True
        return self.size / self.step < 1 << precision and self.size <= Fraction(greatest)


def _step(value: float) -> Fraction:
    """The greatest power of two that divides a float; 0 for 0."""
    numerator, denominator = Fraction(value).as_integer_ratio()
    return Fraction(numerator & -numerator, denominator)


def _prepare(scope: Scope, node: tir.Call, read: Callable[[tir.Call], Atomic]) -> Eval:
    """The call as a closure, its value the one before."""
    try:
        atomic = read(node)
        check_numbers(atomic.operands)
        operation = operation_of(atomic)
    except Beyond as beyond:
        return scope.unsupported(UNSUPPORTED_INTRINSIC, f"`T.{node.callee}` {beyond}", node.span)
    declare, element = _element(scope, atomic, node)
    operands = tuple(scope.expr(operand) for operand in atomic.operands)
    exchange = exchanged(scope, node, atomic, element, operation)
    failure = scope.failing(UNSUPPORTED_INTRINSIC, node.span)
    result = None if atomic.destination is None else written(scope, atomic.destination, node)

    def run(frame: Frame) -> object:
        try:
            values = [_wrapped(atomic.dtype, operand(frame)) for operand in operands]
        except Beyond as beyond:
            raise failure(frame, f"`T.{node.callee}` {beyond}") from None
        if declare is not None:
            declare(frame)
        old = exchange(frame, values)
        if result is not None:
            result(frame, old)
        return old

    return run


def exchanged(
    scope: Scope, node: tir.Call, atomic: Atomic, element: tir.BufferLoad, operation: Operation
) -> Callable[[Frame, Sequence[object]], object]:
    """The operation on an element with the values of its operands; it gives the value before."""
    dtype = atomic.dtype
    load = scope.expr(element)
    var = tir.Var("sum", dtype)
    place = scope.layout.declare(var)
    store = scope.stmt(tir.BufferStore(element.buffer, var, element.indices, span=node.span))
    hooks = scope.machine.hooks
    adds_floats = dtype.is_float and atomic.op == "add"
    view = scope.buffer(element.buffer).view
    check = partial(_check_order, scope, node, atomic, view) if adds_floats else None
    ordered, schedule = hooks.watches("strong"), scope.machine.schedule
    kind = atomic.op if atomic.op in COMMUTING else ""
    indices = tuple(scope.int(index) for index in element.indices)

    def exchange(frame: Frame, values: Sequence[object]) -> object:
        hooks.before_atomic(node, atomic.scope, frame)
        old = load(frame)
        if ordered:
            hooks.strong(_place(frame[view], [index(frame) for index in indices]), atomic.order, frame)
        frame[place] = new = operation(old, *values)
        if schedule is not None:
            at = _place(frame[view], [index(frame) for index in indices])
            schedule.access(at, kind, node, idle=new == old)
        if check is not None:
            check(frame, tuple([index(frame) for index in indices]), old, values[0], new)
        store(frame)
        hooks.after_atomic(node, frame)
        return old

    return exchange


def _place(view: View, indices: Sequence[int]) -> tuple[Storage, int]:
    """The place of an element in memory."""
    offset = sum(index * stride for index, stride in zip(indices, view.strides, strict=True))
    return view.data.storage, view.data.byte_offset + (view.offset + offset) * view.buffer.dtype.bits // 8


def _check_order(  # noqa: PLR0913, PLR0917 - what an addition is
    scope: Scope,
    node: tir.Call,
    atomic: Atomic,
    view: Slot[View],
    frame: Frame,
    indices: tuple[int, ...],
    old: object,
    x: object,
    new: object,
) -> None:
    """Fails: RM504 where several threads add to a float, and the sum depends on their order (TIW-007)."""
    seen = frame[view]
    sums = cast("dict[object, SumOfFloats]", scope.machine.sums)
    key = _place(seen, indices)
    total = sums.get(key)
    finite = isfinite(cast("float", old)) and isfinite(cast("float", x))
    if finite and (total is None or total.value != old):
        total = sums[key] = SumOfFloats.begun(cast("float", old))
    thread = tuple([frame[slot] for slot in scope.axes.values()])
    limits = LIMITS[str(atomic.dtype)]
    if not finite or total is None or not total.add(thread, cast("float", x), *limits):
        message = f"several threads add to an element of `{seen.buffer.name}`, and the sum depends on their order"
        raise scope.failing(UNSUPPORTED_CONSTRUCT, node.span)(frame, f"{message}: not executed")
    total.value = new


LIMITS = {form.name: (form.precision, form.maximum) for form in FLOAT_FORMATS.values()}
EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {
    **{f"cuda.atomic_{op}": lambda scope, node: _prepare(scope, node, _of_cuda) for op in ("add", "cas")},
    **{f"ptx.{family}": lambda scope, node: _prepare(scope, node, _of_ptx) for family in ("atom", "red")},
}
