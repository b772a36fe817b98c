"""Statements executed on values that may be sets; cases in the order of `refmlc.ir.tir`.

| statement                             | does                                                                     |
|---------------------------------------|--------------------------------------------------------------------------|
| a store, all of it certain            | replaces the element                                                     |
| a store under an uncertain condition  | adds to what the element may be; both branches run, one after the other  |
| `B[i] = B[i] op t` in a block with reduce axes | makes `t` one more term of `B[i]`, closed when it is read next   |
| a store of a vector                   | the same for each lane, when all of them are computed                    |
| anything else                         | as the interpreter does                                                  |

A branch that begins with what another may have left holds a superset of what it holds alone: so running both on one
memory is sound. Loops whose number of rounds is uncertain, and jumps out of uncertain branches, are not certified.

The terms of `(B + x) - y` are x and -y. Their order is free, so `Freedom.reorder` decides whether this case exists.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeAlias, cast

from refmlc.bounds.choice import Value, can
from refmlc.bounds.enclosure import Enclosure, join, negated
from refmlc.bounds.expressions import Eval, indices_of, prepare_expr
from refmlc.bounds.freedom import Freedom
from refmlc.bounds.lanes import Lanes
from refmlc.bounds.operators import not_certified
from refmlc.bounds.places import Pending, View, as_float, as_whole, fresh, neutral, united
from refmlc.bounds.roundoff import Grid
from refmlc.diag import fail
from refmlc.diag.catalogue import OUT_OF_SCOPE, UNINITIALISED
from refmlc.diag.source import Span
from refmlc.dtypes import INT32
from refmlc.ir import tir
from refmlc.ir.equal import structural_equal
from refmlc.ir.kinds import ForKind, IterKind
from refmlc.ir.visit import walk
from refmlc.ops.intrinsics import intrinsic
from refmlc.ops.intrinsics.rows import Effect
from refmlc.runtime.memory import compact_strides

Do: TypeAlias = Callable[[], None]
LAUNCHES = ("thread_extent", "virtual_thread")
ZERO = tir.IntImm(INT32, 0)
REDUCTIONS = ("add", "mul", "max", "min")


class Jump(Exception):
    """Break, Continue or Return on its way to the loop or the function."""

    def __init__(self, kind: type[tir.Stmt]) -> None:
        """Remember which of the three."""
        super().__init__()
        self.kind = kind


class Run:
    """The state of one function: `values` of variables, `views` of buffers, `unsure` conditions around this place."""

    def __init__(self, freedom: Freedom) -> None:
        """Begin with nothing known."""
        self.freedom = freedom
        self.values: dict[tir.Var, Value] = {}
        self.views: dict[tir.Buffer, View] = {}
        self.declared: set[tir.Buffer] = set()
        self.threads: set[str] = set()
        self.lanes = Lanes()
        self.reducing = False
        self.unsure = 0

    def known(self, buffer: tir.Buffer, span: Span | None) -> None:
        """Fails: RM203 for a buffer that was not declared."""
        if buffer not in self.declared:
            raise fail(OUT_OF_SCOPE, f"buffer `{buffer.name}` is used where it has no storage", span)

    def whole(self, node: tir.Expr) -> Callable[[], int]:
        """An expression whose value must be certain: an extent, a bound."""
        value = prepare_expr(self, node)

        def certain() -> int:
            found = value()
            if isinstance(found, int):
                return found
            raise not_certified("an extent that depends on a rounding", node.span)

        return certain


def prepare_stmt(run: Run, node: tir.Stmt) -> Do:
    """`node` as a closure on the state of `run`."""
    match node:
        case tir.Bind():
            return _bind(run, node)
        case tir.AssertStmt():
            return _nothing
        case tir.For():
            return _for(run, node)
        case tir.While():
            return _while(run, node)
        case tir.BufferStore():
            return _store(run, node)
        case tir.AllocBuffer(buffer=buffer) | tir.DeclBuffer(buffer=buffer, data=None):
            return _allocate(run, buffer)
        case tir.DeclBuffer():
            return _declare(run, node)
        case tir.AttrStmt(node=tir.ThreadVar() as thread, value=extent) if node.key in LAUNCHES:
            size = tir.IntImm(INT32, extent) if isinstance(extent, int) else cast("tir.Expr", extent)
            var = tir.Var(thread.tag, size.dtype) if thread.var is None else thread.var
            return _for(run, tir.For(var, ZERO, size, ForKind.THREAD_BINDING, node.body, thread, span=node.span))
        case tir.AttrStmt():
            return prepare_stmt(run, node.body)
        case tir.SeqStmt():
            return _sequence([prepare_stmt(run, part) for part in node.seq])
        case tir.IfThenElse():
            return _if(run, node)
        case tir.Evaluate(value=value):
            return _evaluate(run, value)
        case tir.Break() | tir.Continue() | tir.Return():
            return _jump(run, node)
        case tir.SBlockRealize():
            return _realize(run, node)
        case _:
            raise not_certified(f"a {type(node).__name__}", node.span)


def _nothing() -> None:
    """What only watches has no effect on values: the interpreter has reported it before."""


def _sequence(parts: list[Do]) -> Do:
    def sequence() -> None:
        for part in parts:
            part()

    return sequence


def _bind(run: Run, node: tir.Bind) -> Do:
    if node.var.dtype.is_vector:
        lanes = enumerate(run.lanes.of_var(node.var))
        return _sequence([_bind(run, tir.Bind(own, run.lanes.of(node.value, lane))) for lane, own in lanes])
    value = prepare_expr(run, node.value)

    def bind() -> None:
        run.values[node.var] = value()

    return bind


def _evaluate(run: Run, value: tir.Expr) -> Do:
    """A value that nobody takes: only what calls do besides counts, and they are certified where they do nothing."""
    for node in walk(value):
        if isinstance(node, tir.Call):
            row = intrinsic(node.callee) if isinstance(node.callee, str) else None
            if node.callee == "ret":
                return _jump(run, tir.Return(node, span=node.span))
            if row is None or row.effect not in (Effect.PURE, Effect.READS):
                raise not_certified("a call with an effect", node.span)
    return _nothing


def _jump(run: Run, node: tir.Break | tir.Continue | tir.Return) -> Do:
    def jump() -> None:
        if run.unsure:
            raise not_certified("a jump that depends on a rounding", node.span)
        raise Jump(type(node))

    return jump


# ------------------------------------------------------------------------------------------------------- control


def _for(run: Run, node: tir.For) -> Do:
    first, extent = run.whole(node.min), run.whole(node.extent)
    step = None if node.step is None else run.whole(node.step)
    tag = "" if node.thread is None else node.thread.tag
    if tag and tag in run.threads:
        raise not_certified(f"the second loop over `{tag}`", node.span)
    run.threads.add(tag)
    body = prepare_stmt(run, node.body)
    run.threads.discard(tag)
    same = None if node.thread is None else node.thread.var

    def loop() -> None:
        start = first()
        for value in range(start, start + extent(), 1 if step is None else step()):
            run.values[node.loop_var] = value
            if same is not None:
                run.values[same] = value
            if _leaves(body):
                break

    return loop


def _while(run: Run, node: tir.While) -> Do:
    condition, body = run.whole(node.condition), prepare_stmt(run, node.body)

    def loop() -> None:
        while condition():
            if _leaves(body):
                break

    return loop


def _leaves(body: Do) -> bool:
    """Run one round; whether it was the last by a Break."""
    try:
        body()
    except Jump as jump:
        if jump.kind is tir.Return:
            raise
        return jump.kind is tir.Break
    return False


def _if(run: Run, node: tir.IfThenElse) -> Do:
    condition, then_case = prepare_expr(run, node.condition), prepare_stmt(run, node.then_case)
    else_case = _nothing if node.else_case is None else prepare_stmt(run, node.else_case)

    def choose() -> None:
        _branch(run, condition(), then_case, else_case)

    return choose


def _branch(run: Run, condition: Value, then_case: Do, else_case: Do) -> None:
    holds = as_whole(condition)
    if not can(holds, False):
        then_case()
    elif not can(holds, True):
        else_case()
    else:
        run.unsure += 1
        try:
            then_case()
            else_case()
        finally:
            run.unsure -= 1


# -------------------------------------------------------------------------------------------------------- stores


def _store(run: Run, node: tir.BufferStore) -> Do:
    run.known(node.buffer, node.span)
    if node.value.dtype.is_vector:
        return _store_lanes(run, node)
    if run.reducing and node.buffer.dtype.is_float:
        found = reduction(node)
        if found is not None:
            return _combine(run, node, *found)
    value, indices, buffer = prepare_expr(run, node.value), indices_of(run, node), node.buffer

    def store() -> None:
        written = value()
        view = run.views[buffer]
        places = indices()
        for at in places:
            _put(run, node, view, at, written, certain=len(places) == 1)

    return store


def _store_lanes(run: Run, node: tir.BufferStore) -> Do:
    """A vector: in a block with reduce axes each lane may be a reduction of its own."""
    stores, buffer = run.lanes.stores(node), node.buffer
    if run.reducing and buffer.dtype.is_float and all(reduction(one) is not None for one in stores):
        if any(_reads_besides(one) for one in stores):
            raise not_certified("a vector of reductions that read each other", node.span)
        return _sequence([_store(run, one) for one in stores])
    parts = [(one, prepare_expr(run, one.value), indices_of(run, one)) for one in stores]

    def store() -> None:
        found = [(one, value(), indices()) for one, value, indices in parts]
        for one, value, places in found:
            for at in places:
                _put(run, one, run.views[buffer], at, value, certain=len(places) == 1)

    return store


def _reads_besides(node: tir.BufferStore) -> bool:
    """Whether a term of a reduction reads the memory that it is written to."""
    _, terms = reduction(node) or ("", [])
    loads = [part for term, _ in terms for part in walk(term) if isinstance(part, tir.BufferLoad)]
    return any(load.buffer is node.buffer for load in loads)


def _put(run: Run, node: tir.BufferStore, view: View, at: tuple[int, ...], value: Value, *, certain: bool) -> None:
    where = view.place(at)
    if where is None:
        if run.unsure or not certain:
            return
        raise fail(UNINITIALISED, f"`{node.buffer.name}` has no element {at}", node.span)
    if run.unsure or not certain:
        value = united(view.read(where), value)
    view.region.elements[where] = value
    view.region.written = True


def reduction(node: tir.BufferStore) -> tuple[str, list[tuple[tir.Expr, bool]]] | None:
    """The operator and the terms of `B[i] = B[i] op term`, each with whether it is subtracted; None: no reduction."""
    value = node.value
    if not isinstance(value, tir.Apply) or (value.op not in REDUCTIONS and value.op != "sub"):
        return None
    op = "add" if value.op == "sub" else value.op
    operators = ("add", "sub") if op == "add" else (op,)
    terms: list[tuple[tir.Expr, bool]] = []
    while isinstance(value, tir.Apply) and value.op in operators:
        left, right = value.args
        if _leads_to(node, left, operators):
            terms.append((right, value.op == "sub"))
            value = left
        elif value.op != "sub" and _leads_to(node, right, operators):
            terms.append((left, False))
            value = right
        else:
            return None
    return op, terms


def _leads_to(node: tir.BufferStore, value: tir.Expr, operators: tuple[str, ...]) -> bool:
    """Whether `value` is the element that `node` writes, or a chain of the operators on it."""
    if isinstance(value, tir.BufferLoad):
        same = value.buffer is node.buffer and value.predicate is None and len(value.indices) == len(node.indices)
        return same and all(map(structural_equal, value.indices, node.indices))
    if isinstance(value, tir.Apply) and value.op in operators:
        sides = value.args if value.op != "sub" else value.args[:1]
        return any(_leads_to(node, side, operators) for side in sides)
    return False


def _combine(run: Run, node: tir.BufferStore, op: str, terms: list[tuple[tir.Expr, bool]]) -> Do:
    parts = [(prepare_expr(run, term), minus) for term, minus in reversed(terms)]
    indices, buffer, grid = indices_of(run, node), node.buffer, Grid(node.buffer.dtype, run.freedom)
    nothing = neutral(op)

    def combine() -> None:
        values = [_signed(part, minus=minus) for part, minus in parts]
        places = indices()
        if len(places) > 1:
            raise not_certified("a reduction at an index that depends on a rounding", node.span)
        view = run.views[buffer]
        where = view.place(places[0])
        old = None if where is None else view.region.elements[where]
        if where is None or old is None:
            raise fail(UNINITIALISED, f"element {places[0]} of `{buffer.name}` has no value", node.span)
        if run.unsure:
            before = _current(view, where)
            values = [join(value, before if nothing is None else nothing) for value in values]
        view.region.written = True
        pending = view.region.elements[where]
        if not isinstance(pending, Pending) or pending.op != op:
            pending = view.region.elements[where] = Pending(op, grid, [_current(view, where)])
        pending.terms.extend(values)

    return combine


def _current(view: View, where: int) -> Enclosure:
    found = view.read(where)
    assert found is not None  # noqa: S101 - the caller has looked
    return as_float(found)


def _signed(part: Eval, *, minus: bool) -> Enclosure:
    value = as_float(part())
    return negated(value) if minus else value


# ------------------------------------------------------------------------------------------- buffers and blocks


def _allocate(run: Run, buffer: tir.Buffer) -> Do:
    if buffer.strides or buffer.elem_offset is not None:
        raise not_certified("an allocation with strides or an offset", buffer.span)
    extents = [run.whole(extent) for extent in buffer.shape]
    run.declared.add(buffer)

    def allocate() -> None:
        run.views[buffer] = fresh(buffer.dtype, tuple([extent() for extent in extents]), buffer.span)

    return allocate


def _declare(run: Run, node: tir.DeclBuffer) -> Do:
    buffer, data = node.buffer, node.data
    if not isinstance(data, tir.BufferData) or data.buffer.dtype != buffer.dtype:
        raise not_certified("a buffer on a pointer", node.span)
    run.known(data.buffer, node.span)
    source = data.buffer
    extents = [run.whole(extent) for extent in buffer.shape]
    steps = [run.whole(stride) for stride in buffer.strides]
    offset = run.whole(ZERO if buffer.elem_offset is None else buffer.elem_offset)
    run.declared.add(buffer)

    def declare() -> None:
        shape = tuple([extent() for extent in extents])
        strides = tuple([step() for step in steps]) or compact_strides(shape)
        run.views[buffer] = View(run.views[source].region, shape, strides, offset())

    return declare


def matched(run: Run, buffer: tir.Buffer, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
    """Give the variables in the declaration of `buffer` what they stand for, where they have no value."""
    declared = (*zip(buffer.shape, shape, strict=True), *zip(buffer.strides, strides, strict=False))
    for part, actual in (*declared, *([] if buffer.elem_offset is None else [(buffer.elem_offset, offset)])):
        if isinstance(part, tir.Var):
            run.values.setdefault(part, actual)


def _match(run: Run, node: tir.MatchBufferRegion) -> Do:
    run.known(node.source.buffer, node.span)
    buffer, source = node.buffer, node.source.buffer
    mins = [run.whole(axis.min) for axis in node.source.region]
    extents = [run.whole(axis.extent) for axis in node.source.region]
    dropped = len(mins) - len(buffer.shape)
    own = [part for part in (*buffer.shape, *buffer.strides, buffer.elem_offset) if isinstance(part, tir.Var)]
    run.declared.add(buffer)

    def match() -> None:
        view = run.views[source]
        offset = view.offset + sum(low() * step for low, step in zip(mins, view.strides, strict=True))
        shape = tuple([extent() for extent in extents])[dropped:]
        for part in own:
            run.values.pop(part, None)
        matched(run, buffer, shape, view.strides[dropped:], offset)
        run.views[buffer] = View(view.region, shape, view.strides[dropped:], offset)

    return match


def _realize(run: Run, node: tir.SBlockRealize) -> Do:
    block = node.block
    axes = [(axis.var, prepare_expr(run, value)) for axis, value in zip(block.iter_vars, node.iter_values, strict=True)]
    predicate = prepare_expr(run, node.predicate)
    starts = [(axis.var, run.whole(axis.dom.min)) for axis in block.iter_vars if axis.kind is IterKind.REDUCE]
    before = [_allocate(run, buffer) for buffer in block.alloc_buffers]
    before += [_match(run, region) for region in block.match_buffers]
    outer, run.reducing = run.reducing, run.freedom.reorder and bool(starts)
    init = None if block.init is None else prepare_stmt(run, block.init)
    body = prepare_stmt(run, block.body)
    run.reducing = outer

    def instance() -> None:
        for part in before:
            part()
        if init is not None and all(run.values[var] == first() for var, first in starts):
            init()
        body()

    def realize() -> None:
        for var, value in axes:
            run.values[var] = value()
        _branch(run, predicate(), instance, _nothing)

    return realize


def execute(run: Run, body: tir.Stmt, buffers: Mapping[tir.Buffer, View]) -> None:
    """Execute the body of a function whose parameters have their values and `buffers`."""
    run.views.update(buffers)
    run.declared.update(buffers)
    with suppress(Jump):
        prepare_stmt(run, body)()
