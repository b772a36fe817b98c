"""Expressions over terms: the cases of the interpreter's `match` that look at values; it executes all others.

| expression              | on terms                                                                           |
|-------------------------|------------------------------------------------------------------------------------|
| a cast                  | the term itself where the number stays, else a conversion                          |
| `and`, `or`             | a selection; the second operand is evaluated under the first                       |
| `select`                | a selection; both operands are evaluated unconditionally                           |
| `if_then_else`          | a selection; each operand is evaluated under its condition                         |
| a load                  | the value of the element; at an index that is a term: a read of all elements        |
| a call                  | the intrinsics of `PURE`, those that look at handles, functions of the module; any |
|                         | other is undecided                                                                 |
"""

from collections.abc import Callable
from itertools import product
from typing import cast

from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import BOOL
from refmlc.lang.ir import tir
from refmlc.prove.memory import TermMemory
from refmlc.prove.terms import FMA, READ, SymbolicTerm, TermValue, Undecided, clipped
from refmlc.prove.values import conversion
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir import calls, vectors
from refmlc.run.interp.tensorir.elements import Explain, check_rank, explain, offset_of
from refmlc.run.interp.tensorir.expressions import prepare_expr as prepare_numbers
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.pointer import Pointer

PURE = frozenset(
    (
        *("type_annotation", "prefetch", "start_profile_intrinsic", "end_profile_intrinsic", "tvm_thread_invariant"),
        *("ignore_loop_partition", "vscale", "vectorlow", "vectorhigh", "vectorcombine", "get_active_lane_mask"),
        *("ret", "tvm_storage_sync", "call_pure_extern", "call_llvm_intrin", "call_llvm_pure_intrin"),
        *("TVMBackendAllocWorkspace", "TVMBackendFreeWorkspace"),
    )
)
"""Intrinsics that the interpreter executes on terms as it does on numbers."""


def prepare_expr(scope: Scope, node: tir.Expr, memory: TermMemory) -> Eval:
    """`node` as a closure from frames to its value, a number or a term."""
    match node:
        case tir.Cast() if node.value.dtype.kind not in ("handle", "void") and node.dtype.kind not in (
            "handle",
            "void",
        ):
            return _cast(scope, node, memory)
        case tir.And():
            return _both(scope, node, memory)
        case tir.Or():
            return _either(scope, node, memory)
        case tir.Select():
            return _select(scope, node, memory)
        case tir.IfThenElseExpr():
            return _if_then_else(scope, node, memory)
        case tir.BufferLoad():
            return _load(scope, node, memory)
        case tir.Call():
            return call(scope, node, memory)
        case _:
            return prepare_numbers(scope, node)


def under(memory: TermMemory, condition: SymbolicTerm, *, side: bool, value: Callable[[], TermValue]) -> TermValue:
    """`value()`, evaluated under a condition on data. Fails: Undecided where it has none."""
    memory.begin(condition, side=side)
    try:
        return value()
    except RefmlcError as problem:
        raise Undecided(f"under a condition on data: {problem.diagnostic.message}") from None
    finally:
        memory.end()


def _cast(scope: Scope, node: tir.Cast, memory: TermMemory) -> Eval:
    convert = conversion(node.value.dtype.scalar, node.dtype.scalar, memory)
    of_numbers = prepare_numbers(scope, node)
    value, span = scope.expr(node.value), node.span

    def cast_value(frame: Frame) -> object:
        operand = value(frame)
        if isinstance(operand, SymbolicTerm):
            return convert(operand, span)
        if isinstance(operand, tuple) and any(isinstance(lane, SymbolicTerm) for lane in operand):
            return tuple([convert(lane, span) for lane in operand])
        return of_numbers(frame)

    return cast_value


def _both(scope: Scope, node: tir.And, memory: TermMemory) -> Eval:
    a, b = scope.expr(node.a), scope.expr(node.b)

    def conjunction(frame: Frame) -> object:
        first = a(frame)
        if isinstance(first, tuple):
            lanes = zip(first, cast("tuple[TermValue, ...]", b(frame)), strict=True)
            return tuple([memory.terms.select(x, y, False, BOOL) for x, y in lanes])
        if not isinstance(first, SymbolicTerm):
            return first and b(frame)
        second = under(memory, first, side=True, value=lambda: cast("TermValue", b(frame)))
        return memory.terms.select(first, second, False, BOOL)

    return conjunction


def _either(scope: Scope, node: tir.Or, memory: TermMemory) -> Eval:
    a, b = scope.expr(node.a), scope.expr(node.b)

    def disjunction(frame: Frame) -> object:
        first = a(frame)
        if isinstance(first, tuple):
            lanes = zip(first, cast("tuple[TermValue, ...]", b(frame)), strict=True)
            return tuple([memory.terms.select(x, True, y, BOOL) for x, y in lanes])
        if not isinstance(first, SymbolicTerm):
            return first or b(frame)
        second = under(memory, first, side=False, value=lambda: cast("TermValue", b(frame)))
        return memory.terms.select(first, True, second, BOOL)

    return disjunction


def _select(scope: Scope, node: tir.Select, memory: TermMemory) -> Eval:
    condition, true_value, false_value = map(scope.expr, (node.condition, node.true_value, node.false_value))
    dtype = node.dtype.scalar

    def select(frame: Frame) -> object:
        chosen, yes, no = condition(frame), true_value(frame), false_value(frame)
        if isinstance(yes, tuple) and isinstance(no, tuple):
            sides = chosen if isinstance(chosen, tuple) else (chosen,) * len(yes)
            lanes = zip(sides, yes, no, strict=True)
            return tuple([memory.terms.select(side, x, y, dtype) for side, x, y in lanes])
        return memory.terms.select(cast("TermValue", chosen), cast("TermValue", yes), cast("TermValue", no), dtype)

    return select


def _if_then_else(scope: Scope, node: tir.IfThenElseExpr, memory: TermMemory) -> Eval:
    condition, true_value, false_value = map(scope.expr, (node.condition, node.true_value, node.false_value))
    dtype = node.dtype.scalar

    def if_then_else(frame: Frame) -> object:
        chosen = condition(frame)
        if not isinstance(chosen, SymbolicTerm):
            return true_value(frame) if chosen else false_value(frame)
        yes = under(memory, chosen, side=True, value=lambda: cast("TermValue", true_value(frame)))
        no = under(memory, chosen, side=False, value=lambda: cast("TermValue", false_value(frame)))
        if isinstance(yes, tuple) and isinstance(no, tuple):
            return tuple([memory.terms.select(chosen, x, y, dtype) for x, y in zip(yes, no, strict=True)])
        return memory.terms.select(chosen, yes, no, dtype)

    return if_then_else


# ------------------------------------------------------------------------------------------------- loads


def _load(scope: Scope, node: tir.BufferLoad, memory: TermMemory) -> Eval:
    check_rank(node)
    view_slot = scope.buffer(node.buffer, node.span).view
    positions_of, mask_of = vectors.positions(scope, node), vectors.mask(scope, node)
    wrong, zero = explain(scope, node), vectors.zero_of(node.dtype)
    width, scalar = node.buffer.dtype.lanes, not node.dtype.is_vector
    hooks = scope.machine.hooks

    def load(frame: Frame) -> object:
        view = frame[view_slot]
        positions = positions_of(frame)
        active = (True,) * len(positions) if mask_of is None else mask_of(frame)
        values: list[TermValue] = []
        for position, is_active in zip(positions, active, strict=True):
            if isinstance(is_active, SymbolicTerm):
                raise Undecided("whether a lane is read depends on the values of an argument", node.span)
            if not is_active:
                values.extend([zero] * width)
            elif any(isinstance(index, SymbolicTerm) for index in position):
                _report_possible(memory, node, view, position, frame, hooks)
                values.append(_read(memory, node, view, position))
            else:
                offset = offset_of(view, position, wrong, frame)
                hooks.read_element(node, view, offset, frame)
                lanes = _initialised(view, offset * width, width, wrong, frame, position)
                element = [memory.load(view, lane, node.span) for lane in lanes]
                hooks.load(node, position, element[0] if width == 1 else tuple(element), frame)
                values.extend(element)
        return values[0] if scalar else tuple(values)

    return load


def _initialised(view: View, first: int, width: int, wrong: Explain, frame: Frame, position: tuple[int, ...]) -> range:
    """The cells of an element. Fails: RM304, RM305, as the interpreter does."""
    lanes = range(first, first + width)
    try:
        if all(view.shadow[lane] for lane in lanes):
            return lanes
    except IndexError:
        pass
    raise wrong(frame, position)


def _report_possible(
    memory: TermMemory, node: tir.BufferLoad, view: View, position: tuple[TermValue, ...], frame: Frame, hooks: Hooks
) -> None:
    """Report each element that a load may read to the hooks. Fails: Undecided where one of them is refused."""
    memory.has_possible_accesses = True
    axes = zip(position, view.shape, view.strides, strict=True)
    steps = [
        [place * stride for place in (range(extent) if isinstance(index, SymbolicTerm) else (index,))]
        for index, extent, stride in axes
    ]
    try:
        for parts in product(*steps):
            hooks.read_element(node, view, int(sum(parts)), frame)
    except RefmlcError as problem:
        raise Undecided(f"for some values of an argument: {problem.diagnostic.message}", node.span) from None


def _read(memory: TermMemory, node: tir.BufferLoad, view: View, position: tuple[TermValue, ...]) -> SymbolicTerm:
    """An element at a place that depends on data: a term of all elements of the view and the indices."""
    if node.buffer.dtype.is_vector:
        raise Undecided("a vector element is read at a place that depends on values", node.span)
    for index, extent in zip(position, view.shape, strict=True):
        if isinstance(index, SymbolicTerm):
            memory.oblige("place", (index.number, extent), f"`{clipped(index)}` is in 0 … {extent - 1}", node.span)
        elif not 0 <= index < extent:
            raise Undecided(f"index {index} of `{node.buffer.name}` is out of bounds", node.span)
    term = memory.terms.term(READ, node.dtype, None, (memory.elements(view), *position))
    memory.oblige("element", term.number, f"the element that `{clipped(term)}` reads is initialised", node.span)
    return term


# ------------------------------------------------------------------------------------------------- calls


def call(scope: Scope, node: tir.Call, memory: TermMemory) -> Eval:
    """A call of a function of the module, of `PURE`, or of `fma`, `assume`. Another one ends the proof when reached."""
    if node.callee == "fma":
        return _fma(scope, node, memory)
    if node.callee == "assume":
        return _assume(scope, node, memory)
    if node.callee == "call_pure_extern" and (_name(node) not in calls.LIBM or _name(node) in scope.machine.registry):
        return _beyond(f"the function `{_name(node)}` from outside is called", node)
    if isinstance(node.callee, tir.GlobalVar) or node.callee in PURE or _is_of_handles(node):
        return calls.effect(scope, node)
    if node.callee == "tvm_struct_get":
        return _field(scope, node)
    return _beyond(f"the intrinsic `T.{node.callee}` is called", node)


def _name(node: tir.Call) -> str:
    name = node.args[0] if node.args else ""
    return name.value if isinstance(name, tir.StringImm) else str(name)


def _is_of_handles(node: tir.Call) -> bool:
    """Whether a call takes and gives a handle as it is, or asks whether it is null."""
    operands = [part for part in node.args if isinstance(part, tir.Expr)]
    if node.callee == "isnullptr":
        return True
    return node.callee == "reinterpret" and all(part.dtype.kind == "handle" for part in (node, *operands))


def _field(scope: Scope, node: tir.Call) -> Eval:
    """A field of a structure of the C interface. Fails: Undecided for one that stands in the memory of elements."""
    structure = scope.expr(cast("tir.Expr", node.args[0]))
    field = calls.effect(scope, node)

    def read(frame: Frame) -> object:
        if isinstance(structure(frame), Pointer):
            raise Undecided("a structure of the C interface is read from memory", node.span)
        return field(frame)

    return read


def _beyond(reason: str, node: tir.Call) -> Eval:
    def stop(_frame: Frame) -> object:
        raise Undecided(reason, node.span)

    return stop


def _fma(scope: Scope, node: tir.Call, memory: TermMemory) -> Eval:
    of_numbers = calls.effect(scope, node)
    operands = tuple(scope.expr(cast("tir.Expr", part)) for part in node.args)
    dtype = node.dtype

    def fma(frame: Frame) -> object:
        values = [cast("TermValue", operand(frame)) for operand in operands]
        if not any(isinstance(value, SymbolicTerm) for value in values):
            return of_numbers(frame)
        return memory.terms.term(FMA, dtype, None, values)

    return fma


def _assume(scope: Scope, node: tir.Call, memory: TermMemory) -> Eval:
    of_numbers = calls.effect(scope, node)
    condition = scope.expr(cast("tir.Expr", node.args[0]))

    def assume(frame: Frame) -> object:
        value = condition(frame)
        if not isinstance(value, SymbolicTerm):
            return of_numbers(frame)
        memory.oblige("holds", value.number, f"`{clipped(value)}` holds", node.span)
        return True

    return assume
