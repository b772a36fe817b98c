"""Statements executed on values that may be sets; cases in the order of `refmlc.lang.ir.tir`.

| statement                             | does                                                                     |
|---------------------------------------|--------------------------------------------------------------------------|
| a store, all of it certain            | replaces the element                                                     |
| a store under an uncertain condition  | adds to the values of the element; both branches run, one after the other |
| `B[i] = B[i] op t` in a block with reduce axes | makes `t` one more term of `B[i]`, closed when it is read next   |
| a store of a vector                   | the same for each lane, when all of them are computed                    |
| anything else                         | as the interpreter does                                                  |

A branch that begins with the values of another branch holds a superset of its own values: so running both on one memory
is sound. Loops with an uncertain number of rounds, and jumps out of uncertain branches, are not certified.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeAlias, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import UNINITIALISED
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.intrinsics import intrinsic
from refmlc.lang.ops.intrinsics.rows import Effect
from refmlc.observe.bounds.choice import Value, can
from refmlc.observe.bounds.expressions import indices_of, prepare_expr, whole
from refmlc.observe.bounds.extremes import extreme_stores, gather
from refmlc.observe.bounds.operators import not_certified
from refmlc.observe.bounds.places import View, as_whole, fresh, unite
from refmlc.observe.bounds.run import Run
from refmlc.observe.bounds.terms import combine, reads_besides, reduction
from refmlc.run.memory.array_memory import compact_strides

Do: TypeAlias = Callable[[], None]
LAUNCHES = ("thread_extent", "virtual_thread")
ZERO = tir.IntImm(INT32, 0)


class Jump(Exception):
    """Break, Continue or Return on its way to the loop or the function."""

    def __init__(self, kind: type[tir.Stmt]) -> None:
        super().__init__()
        self.kind = kind


def prepare_stmt(run: Run, node: tir.Stmt) -> Do:
    """`node` as a closure on the state of `run`."""
    match node:
        case tir.Bind():
            return _bind(run, node)
        case tir.AssertStmt():
            return _no_effect
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


def _no_effect() -> None:
    """Assertions and values without a use: the interpreter has already evaluated them."""


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
    """A value without a use: its calls must have no effect. Fails: RM504 for a call with one."""
    for node in walk(value):
        if isinstance(node, tir.Call):
            row = intrinsic(node.callee) if isinstance(node.callee, str) else None
            if node.callee == "ret":
                return _jump(run, tir.Return(node, span=node.span))
            if row is None or row.effect not in (Effect.PURE, Effect.READS):
                raise not_certified("a call with an effect", node.span)
    return _no_effect


def _jump(run: Run, node: tir.Break | tir.Continue | tir.Return) -> Do:
    def jump() -> None:
        if run.unsure:
            raise not_certified("a jump that depends on a rounding", node.span)
        raise Jump(type(node))

    return jump


# ------------------------------------------------------------------------------------------------------- control


def _for(run: Run, node: tir.For) -> Do:
    first, extent = whole(run, node.min), whole(run, node.extent)
    step = None if node.step is None else whole(run, node.step)
    tag = node.tag
    if tag and tag in run.threads:
        raise not_certified(f"the second loop over `{tag}`", node.span)
    run.threads.add(tag)
    body = prepare_stmt(run, node.body)
    run.threads.discard(tag)
    thread_var = None if node.thread is None else node.thread.var

    def loop() -> None:
        start = first()
        for value in range(start, start + extent(), 1 if step is None else step()):
            run.values[node.loop_var] = value
            if thread_var is not None:
                run.values[thread_var] = value
            if _leaves(body):
                break

    return loop


def _while(run: Run, node: tir.While) -> Do:
    condition, body = whole(run, node.condition), prepare_stmt(run, node.body)

    def loop() -> None:
        while condition():
            if _leaves(body):
                break

    return loop


def _leaves(body: Do) -> bool:
    """Run one round; True after a Break."""
    try:
        body()
    except Jump as jump:
        if jump.kind is tir.Return:
            raise
        return jump.kind is tir.Break
    return False


def _if(run: Run, node: tir.IfThenElse) -> Do:
    condition, then_case = prepare_expr(run, node.condition), prepare_stmt(run, node.then_case)
    else_case = _no_effect if node.else_case is None else prepare_stmt(run, node.else_case)

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
    run.require_declared(node.buffer, node.span)
    if node.value.dtype.is_vector:
        return _store_lanes(run, node)
    if run.reducing and node.buffer.dtype.is_float:
        parts = reduction(node)
        if parts is not None:
            return combine(run, node, *parts)
    value, indices, buffer = prepare_expr(run, node.value), indices_of(run, node), node.buffer

    def store() -> None:
        content = value()
        view = run.views[buffer]
        places = indices()
        for at in places:
            _write(run, node, view, at, content, certain=len(places) == 1)

    return store


def _store_lanes(run: Run, node: tir.BufferStore) -> Do:
    """A store of a vector: in a block with reduce axes each lane may be a separate reduction."""
    stores, buffer = run.lanes.stores(node), node.buffer
    if run.reducing and buffer.dtype.is_float and all(reduction(lane) is not None for lane in stores):
        if any(reads_besides(lane) for lane in stores):
            raise not_certified("a vector of reductions that read each other", node.span)
        return _sequence([_store(run, lane) for lane in stores])
    parts = [(lane, prepare_expr(run, lane.value), indices_of(run, lane)) for lane in stores]

    def store() -> None:
        contents = [(lane, value(), indices()) for lane, value, indices in parts]
        for lane, value, places in contents:
            for at in places:
                _write(run, lane, run.views[buffer], at, value, certain=len(places) == 1)

    return store


def _write(run: Run, node: tir.BufferStore, view: View, at: tuple[int, ...], value: Value, *, certain: bool) -> None:
    number = view.place(at)
    if number is None:
        if run.unsure or not certain:
            return
        raise fail(UNINITIALISED, f"`{node.buffer.name}` has no element {at}", node.span)
    if run.unsure or not certain:
        value = unite(view.read(number), value)
    view.region.elements[number] = value
    view.region.written = True


# ------------------------------------------------------------------------------------------- buffers and blocks


def _allocate(run: Run, buffer: tir.Buffer) -> Do:
    if buffer.strides or buffer.elem_offset is not None:
        raise not_certified("an allocation with strides or an offset", buffer.span)
    extents = [whole(run, extent) for extent in buffer.shape]
    run.declared.add(buffer)

    def allocate() -> None:
        run.views[buffer] = fresh(buffer.dtype, tuple([extent() for extent in extents]), buffer.span)

    return allocate


def _declare(run: Run, node: tir.DeclBuffer) -> Do:
    buffer, data = node.buffer, node.data
    if not isinstance(data, tir.BufferData) or data.buffer.dtype != buffer.dtype:
        raise not_certified("a buffer on a pointer", node.span)
    run.require_declared(data.buffer, node.span)
    source = data.buffer
    extents = [whole(run, extent) for extent in buffer.shape]
    steps = [whole(run, stride) for stride in buffer.strides]
    offset = whole(run, ZERO if buffer.elem_offset is None else buffer.elem_offset)
    run.declared.add(buffer)

    def declare() -> None:
        shape = tuple([extent() for extent in extents])
        strides = tuple([step() for step in steps]) or compact_strides(shape)
        run.views[buffer] = View(run.views[source].region, shape, strides, offset())

    return declare


def match_declaration(
    run: Run, buffer: tir.Buffer, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    """Bind the variables in the declaration of `buffer` that have no value yet.

    The interpreter has run the call, so the rest of the declaration agrees (TIR-004).
    """
    declarations = (*zip(buffer.shape, shape, strict=True), *zip(buffer.strides, strides, strict=False))
    for part, actual in (*declarations, *([] if buffer.elem_offset is None else [(buffer.elem_offset, offset)])):
        if isinstance(part, tir.Var):
            run.values.setdefault(part, actual)


def _match(run: Run, node: tir.MatchBufferRegion) -> Do:
    run.require_declared(node.source.buffer, node.span)
    buffer, source = node.buffer, node.source.buffer
    mins = [whole(run, axis.min) for axis in node.source.region]
    extents = [whole(run, axis.extent) for axis in node.source.region]
    leading = len(mins) - len(buffer.shape)
    variables = [part for part in (*buffer.shape, *buffer.strides, buffer.elem_offset) if isinstance(part, tir.Var)]
    run.declared.add(buffer)

    def match() -> None:
        view = run.views[source]
        offset = view.offset + sum(low() * step for low, step in zip(mins, view.strides, strict=True))
        shape = tuple([extent() for extent in extents])[leading:]
        for part in variables:
            run.values.pop(part, None)
        match_declaration(run, buffer, shape, view.strides[leading:], offset)
        run.views[buffer] = View(view.region, shape, view.strides[leading:], offset)

    return match


def _realize(run: Run, node: tir.SBlockRealize) -> Do:
    block = node.block
    axes = [(axis.var, prepare_expr(run, value)) for axis, value in zip(block.iter_vars, node.iter_values, strict=True)]
    predicate = prepare_expr(run, node.predicate)
    starts = [(axis.var, whole(run, axis.dom.min)) for axis in block.iter_vars if axis.kind is IterKind.REDUCE]
    setup = [_allocate(run, buffer) for buffer in block.alloc_buffers]
    setup += [_match(run, region) for region in block.match_buffers]
    outer, run.reducing = run.reducing, run.freedom.reorder and bool(starts)
    init = None if block.init is None else prepare_stmt(run, block.init)
    pair = extreme_stores(block.body) if run.reducing and run.freedom.ties else None
    body = prepare_stmt(run, block.body) if pair is None else gather(run, pair)
    run.reducing = outer

    def instance() -> None:
        for part in setup:
            part()
        if init is not None and all(run.values[var] == first() for var, first in starts):
            init()
        body()

    def realize() -> None:
        for var, value in axes:
            run.values[var] = value()
        _branch(run, predicate(), instance, _no_effect)

    return realize


def execute(run: Run, body: tir.Stmt, buffers: Mapping[tir.Buffer, View]) -> None:
    """Execute the body of a function whose parameters have their values and `buffers`."""
    run.views.update(buffers)
    run.declared.update(buffers)
    with suppress(Jump):
        prepare_stmt(run, body)()
