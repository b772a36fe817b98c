"""Instructions of PTX as stores: what is executed in place of a call (PTX-001).

| call                                | statements                                                                 |
|-------------------------------------|----------------------------------------------------------------------------|
| `T.ptx.add.f32(d, a, b)`            | a store of the value to `d`                                                |
| with several destinations           | the operands are bound, then each destination is stored                    |
| `T.ptx.ld.v2.f32(x, y, p)`          | a view of the memory, both elements are read, then stored                  |
| `T.ptx.st.v2.f32(p, x, y)`          | a view of the memory, to which both are stored                             |
| `T.ptx.ld.acquire.gpu.u32(x, p)`    | the same, as one atomic operation; others may run before it (PTX-100)      |
| `T.ptx.st_bulk(p, n)`               | a view of n bytes, which become 0                                          |
| `T.ptx.createpolicy…(d, …)`         | `d` has no value afterwards                                                |
| `T.ptx.isspacep.shared(d, p)`       | a store of 0 or 1, as the memory of `p` says                               |
| `T.ptx.cvta.to.shared.u64(d, p)`    | `d` holds the address of `p`                                               |
| `d[i] = T.cuda.cvta_generic_to_shared(p)`, d of one thread | the same (TIX-031)                                  |
| with `pred=`                        | the same on a condition; otherwise a destination has no value afterwards,  |
|                                     | unless `preserve_dst=True`                                                  |

So every access goes the way of all accesses: bounds, initialisation, alignment of addresses, hooks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeGuard

from refmlc.diag import Span
from refmlc.lang.dtypes import FLOAT32, HANDLE, INT32, VOID, DType, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, PointerType
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.ptx import ADDRESS, TO_SHARED, PtxCall
from refmlc.lang.ir.subtree import nodes_of
from refmlc.lang.ir.threads import TURN
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.ops.ptx.calls import FormCall, Misfit, Register, fitted, has_forms, register_dtype
from refmlc.lang.ops.ptx.meaning import CONVERTED, DISCARD, HINTS, LOADS, MEANINGS, POLICIES, SPACE, STORES, ZEROS
from refmlc.lang.ops.ptx.registers import width

VALUE, PLACE, SIZE, ADDRESS_IN = "ptx:value", "ptx:place", "ptx:size", "ptx:address"
BEGIN, END = "ptx:begin", "ptx:end"
"""The callees of what stands in place of an instruction, and around ordered accesses; no text can write them."""
DISCARDED_BYTES, ZEROED_BYTES = 128, 8
SPACES = {
    "global": ("global",),
    "shared": ("shared", "shared::cta", "shared::cluster"),
    "local": ("local",),
}
"""The state spaces that memory of a storage scope is in."""
ADDRESSES = (TO_SHARED, "cuda.smem_addr_from_uint64", "cuda.sm100_2sm_leader_smem_addr")
"""Calls that give addresses in shared memory."""
LEADER = 0xFEFFFFFF
STRONG = ("acquire", "release", "relaxed", "volatile")


@lru_cache(maxsize=1024)
def with_stores(func: tir.PrimFunc) -> tir.PrimFunc:
    """The function with its instructions as stores; itself where it has none."""
    calls, stores = nodes_of(func.body, tir.Call), nodes_of(func.body, tir.BufferStore)
    if not any(has_forms(call.callee) for call in calls) and not (calls and any(map(_is_kept, stores))):
        return func
    return replace(func, body=rewrite(func.body, _stored))


def _is_kept(node: Node) -> TypeGuard[tir.BufferStore]:
    """Whether a statement stores an address to a register."""
    if not isinstance(node, tir.BufferStore) or node.buffer.scope != "local" or node.buffer.dtype.kind != "uint":
        return False
    match node.value:
        case tir.Call(callee=callee):
            return callee in ADDRESSES
        case tir.Apply(op="bitwise_and", args=(tir.Call(callee=callee), tir.IntImm(value=mask))):
            return callee in ADDRESSES and mask == LEADER
        case _:
            return False


def _stored(node: Node) -> Node:
    if _is_kept(node):  # TIX-031
        destination = tir.BufferLoad(node.buffer, node.indices, span=node.span)
        kept = tir.Call(ADDRESS_IN, (tir.StringImm(","), destination, node.value), VOID, span=node.span)
        return tir.Evaluate(kept, span=node.span)
    if not isinstance(node, tir.Evaluate) or not isinstance(node.value, tir.Call):
        return node
    call = PtxCall.of(node.value)
    if call is None or not has_forms(node.value.callee) or node.value.dtype != VOID:
        return node
    try:
        fits = fitted(call)
    except Misfit:
        return node
    return node if refusal(fits) else _predicated(fits, call.span)


def refusal(fits: FormCall) -> str:
    """Why an instruction of a form that is executed is not; empty: it is, or its form is not."""
    form = fits.form.name
    if form in HINTS or form in MEANINGS or form in POLICIES or form in (DISCARD, ZEROS):
        return ""
    if form == SPACE:
        return "" if _spaces_of(fits) else "the memory of its address is not known"
    if form in CONVERTED:
        return "" if _converted_space(fits) else "constants and parameters have no addresses here"
    if form not in (*LOADS, *STORES):
        return "its form has no meaning"
    if fits.modifiers.get("mmio"):
        return "`.mmio` is for memory of devices"
    return "there are no registers of 128 bits here" if fits.modifiers["type"] == "b128" else ""


def _predicated(fits: FormCall, span: Span | None) -> tir.Stmt:
    body = _statement(fits, span)
    if fits.predicate is None:
        return body
    undefined = _without_values(fits, span)
    otherwise = None if fits.call.keeps or not undefined else _sequence(undefined, span)
    return tir.IfThenElse(_is_true(fits.predicate, span), body, otherwise, span=span)


def _without_values(fits: FormCall, span: Span | None) -> list[tir.Stmt]:
    """What takes the values of the destinations."""
    return [
        _to(register.value, tir.Call("undef", (), register.value.dtype), span)
        for register in fits.registers
        if register.operand.written and isinstance(register.value, tir.BufferLoad)
    ]


def _is_true(predicate: tir.Expr, span: Span | None) -> tir.Expr:
    if predicate.dtype.kind == "bool":
        return predicate
    return tir.Apply("ne", (predicate, tir.IntImm(predicate.dtype, 0)), dtype("bool"), span=span)


def _sequence(statements: Sequence[tir.Stmt], span: Span | None) -> tir.Stmt:
    return statements[0] if len(statements) == 1 else tir.SeqStmt(tuple(statements), span=span)


def _statement(fits: FormCall, span: Span | None) -> tir.Stmt:
    form = fits.form.name
    if form in HINTS:
        return tir.Evaluate(tir.IntImm(INT32, 0), span=span)
    if form in POLICIES:
        return _sequence(_without_values(fits, span), span)
    if form in (DISCARD, ZEROS):
        return _cleared(fits, span)
    if form == SPACE:
        return _space(fits, span)
    if form in CONVERTED:
        return _converted(fits, span)
    if form in LOADS:
        return _load(fits, span)
    return _store(fits, span) if form in STORES else _compute(fits, span)


# -------------------------------------------------------------------------------------------------- registers


def _compute(fits: FormCall, span: Span | None) -> tir.Stmt:
    destinations = [register for register in fits.registers if register.operand.written]
    operands = [_read(register) for register in fits.registers if not register.operand.written]
    binds: list[tir.Stmt] = []
    if len(destinations) > 1:
        bound = [tir.Bind(tir.Var("operand", each.dtype, span=span), each, span=span) for each in operands]
        binds, operands = [*bound], [each.var for each in bound]
    text = tir.StringImm(",".join([fits.form.name, *fits.modifiers.values()]))
    stores = [
        _to(register.value, tir.Call(VALUE, (text, tir.IntImm(INT32, place), *operands), register.value.dtype), span)
        for place, register in enumerate(destinations)
        if isinstance(register.value, tir.BufferLoad)
    ]
    return _sequence([*binds, *stores], span)


def _to(destination: tir.BufferLoad, value: tir.Expr, span: Span | None) -> tir.Stmt:
    value = tir.Call(value.callee, value.args, value.dtype, span=span) if isinstance(value, tir.Call) else value
    return tir.BufferStore(destination.buffer, value, destination.indices, span=span)


def _read(register: Register) -> tir.Expr:
    """The value of an operand; a number in the text gets the dtype of its type."""
    value, wanted = register.value, register_dtype(register)
    match value:
        case tir.IntImm(value=number) if wanted.is_float:
            return tir.FloatImm(wanted, float(number), span=value.span)
        case tir.IntImm(value=number) if register.type != "pred":
            inside = number & ((1 << wanted.bits) - 1)
            signed = inside - (1 << wanted.bits) if wanted.kind == "int" and inside >> (wanted.bits - 1) else inside
            return tir.IntImm(wanted, signed, span=value.span)
        case None:
            return tir.FloatImm(FLOAT32, 0.0)
        case _:
            return value


# ----------------------------------------------------------------------------------------------------- memory


def _load(fits: FormCall, span: Span | None) -> tir.Stmt:
    lanes = [register for register in fits.registers if register.operand.written]
    kind = fits.modifiers["type"]
    target = next(register.value.dtype for register in lanes if register.value is not None)
    element = target if target.bits == width(kind) else _integer(kind)
    memory, view = _view(fits, element, len(lanes), span)
    loads = [
        (register.value, tir.BufferLoad(memory, (tir.IntImm(INT32, lane),), span=span))
        for lane, register in enumerate(lanes)
        if isinstance(register.value, tir.BufferLoad)
    ]
    bound = [tir.Bind(tir.Var("element", element, span=span), load, span=span) for _, load in loads]
    stores = [
        _to(destination, _as(bind.var, target, span), span) for (destination, _), bind in zip(loads, bound, strict=True)
    ]
    return _sequence([*_strong(fits, memory, [view], bound, span), *stores], span)


def _store(fits: FormCall, span: Span | None) -> tir.Stmt:
    kind = fits.modifiers["type"]
    values = fits.named("value")
    source = next(register_dtype(register) for register in values if register.value is not None)
    element = source if source.bits == width(kind) else dtype(f"uint{width(kind)}")
    memory, view = _view(fits, element, len(values), span)
    stores = [
        tir.BufferStore(memory, _as(_read(register), element, span), (tir.IntImm(INT32, lane),), span=span)
        for lane, register in enumerate(values)
        if register.value is not None
    ]
    return _sequence(_strong(fits, memory, [view], stores, span), span)


def _strong(
    fits: FormCall, memory: tir.Buffer, view: list[tir.Stmt], accesses: Sequence[tir.Stmt], span: Span | None
) -> list[tir.Stmt]:  # PTX-100
    """Accesses after the declaration of their view; with a memory order they are one atomic operation."""
    order = fits.modifiers.get("sem", "")
    if order not in STRONG:
        return [*view, *accesses]
    word = "relaxed" if order == "volatile" else order
    kind = "ld" if fits.form.name in LOADS else "st"
    facts = (tir.StringImm(f"{kind}.{word}"), tir.StringImm(fits.modifiers.get("scope", "") or "sys"))
    first = tir.BufferLoad(memory, (tir.IntImm(INT32, 0),), span=span)
    begin = tir.Evaluate(tir.Call(BEGIN, (*facts, first), VOID, span=span), span=span)
    turn = [tir.Evaluate(tir.Call(TURN, (), VOID, span=span), span=span)] if kind == "ld" else []
    return [*turn, *view, begin, *accesses, tir.Evaluate(tir.Call(END, (), VOID, span=span), span=span)]


def _cleared(fits: FormCall, span: Span | None) -> tir.Stmt:
    """Memory without a value, byte by byte, or zeros, eight bytes at a time."""
    element = dtype("uint8")
    value: tir.Expr = tir.Call("undef", (), element)
    count: tir.Expr = tir.IntImm(INT32, DISCARDED_BYTES)
    binds: list[tir.Stmt] = []
    if fits.form.name == ZEROS:
        element = dtype("uint64")
        size = _read(*fits.named("size"))
        var = tir.Var("size", size.dtype, span=span)
        binds = [tir.Bind(var, tir.Call(SIZE, (tir.StringImm(fits.name), size), size.dtype, span=span), span=span)]
        steps = (var, tir.IntImm(size.dtype, ZEROED_BYTES))
        value, count = tir.IntImm(element, 0), tir.Apply("floordiv", steps, size.dtype, span=span)
    memory, view = _view(fits, element, count, span)
    place = tir.Var("place", count.dtype, span=span)
    clear = tir.BufferStore(memory, value, (place,), span=span)
    loop = tir.For(place, tir.IntImm(count.dtype, 0), count, ForKind.SERIAL, clear, span=span)
    return _sequence([*binds, view, loop], span)


def _spaces_of(fits: FormCall) -> tuple[str, ...]:
    """The state spaces of the memory that an address is in; empty: it is not known."""
    address = next(register.value for register in fits.registers if not register.operand.written)
    source = memory_of(address)
    return () if source is None else SPACES.get(source.scope.partition(".")[0], ())


def _space(fits: FormCall, span: Span | None) -> tir.Stmt:
    inside = int(fits.modifiers["space"] in _spaces_of(fits))
    (destination,) = (register.value for register in fits.registers if register.operand.written)
    assert isinstance(destination, tir.BufferLoad)  # noqa: S101 - it is written
    return _to(destination, tir.IntImm(destination.dtype, inside), span)


def _converted_space(fits: FormCall) -> str:
    """The state space of memory that `cvta` converts to or from; empty: it is none of those that memory has."""
    return next((space for space, names in SPACES.items() if fits.modifiers["space"] in names), "")


def _converted(fits: FormCall, span: Span | None) -> tir.Stmt:
    destination, operand = (register.value for register in fits.registers)
    assert isinstance(destination, tir.BufferLoad)  # noqa: S101 - it is written
    assert operand is not None  # noqa: S101 - an address is there
    facts = tir.StringImm(f"{fits.name},{_converted_space(fits)}")
    return tir.Evaluate(tir.Call(ADDRESS_IN, (facts, destination, operand), VOID, span=span), span=span)


def _integer(kind: str) -> DType:
    return dtype(f"{'int' if kind[0] == 's' else 'uint'}{width(kind)}")


def _as(value: tir.Expr, target: DType, span: Span | None) -> tir.Expr:
    """The low bits of a register as another one; wider: the sign or zeros above."""
    if value.dtype == target:
        return value
    if value.dtype.is_float:
        value = tir.Apply("reinterpret", (value,), dtype(f"uint{value.dtype.bits}"), span=span)
    if target.is_float:
        wide = dtype(f"uint{target.bits}")
        return tir.Apply("reinterpret", (tir.Cast(wide, value, span=span),), target, span=span)
    return tir.Cast(target, value, span=span)


def _view(fits: FormCall, element: DType, lanes: int | tir.Expr, span: Span | None) -> tuple[tir.Buffer, tir.Stmt]:
    """The memory of an access as a buffer, and its declaration. Of a number of lanes that varies each is aligned."""
    address = next(register.value for register in fits.registers if register.operand.kind == "addr")
    offset: tir.Expr = tir.IntImm(INT32, 0)
    base = address
    if isinstance(base, tir.Call) and base.callee == ADDRESS:
        base, offset = (part for part in base.args if isinstance(part, tir.Expr))
    assert base is not None  # noqa: S101 - an address is there
    source = memory_of(base)
    space = fits.modifiers.get("space", "")
    scope = (space.partition("::")[0] or "global") if source is None else source.scope
    name = "memory" if source is None else source.name
    extent = tir.IntImm(INT32, lanes) if isinstance(lanes, int) else lanes
    memory = tir.Buffer(name, element, (extent,), scope=scope, span=span)
    facts = tir.StringImm(f"{fits.name},{'shared' if fits.form.name == ZEROS else space}")
    size = tir.IntImm(INT32, _alignment(fits, element, lanes))
    place = tir.Call(PLACE, (facts, size, base, offset), HANDLE, PointerType(element, scope), span=span)
    return memory, tir.DeclBuffer(memory, place, span=span)


def _alignment(fits: FormCall, element: DType, lanes: int | tir.Expr) -> int:
    if isinstance(lanes, int):
        return lanes * element.bits // 8
    return DISCARDED_BYTES if fits.form.name == DISCARD else ZEROED_BYTES


def memory_of(base: tir.Attr) -> tir.Buffer | None:
    """The buffer that the text of an address names; None: the address comes from a register."""
    match base:
        case tir.BufferLoad():
            return None
        case tir.Cast(value=value):
            return memory_of(value)
        case tir.Apply(args=args):
            return next((found for arg in args if (found := memory_of(arg)) is not None), None)
        case tir.Call(callee=callee, args=(inner, *_)) if callee in (ADDRESS, *ADDRESSES):
            return memory_of(inner)
        case _:
            return next(_memories(base), None) if isinstance(base, tir.Expr) else None


def _memories(base: tir.Expr) -> Iterator[tir.Buffer]:
    for node in walk(base):
        if isinstance(node, tir.BufferLoad | tir.BufferData):
            yield node.buffer
