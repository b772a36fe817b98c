"""Nests whose iterations may move, in the text: one by one, or several in strips of rows.

Nests that follow each other and have their first spatial axis in common, the rows, may be executed strip by strip: all
of them for some rows, then all of them for the next ones. What one writes and another one accesses is then still in
the cache. It gives the same bits where

| condition                                                                        | because                        |
|----------------------------------------------------------------------------------|--------------------------------|
| each nest may be reordered over its spatial axes                                 | its strips are such an order   |
| what one nest writes and another one accesses, both access in their own row only | no row waits for another       |
| no value depends on the number of the row                                        | a strip counts its rows from 0 |

Decision: only where the buffers together are larger than a strip may be: there is nothing to win otherwise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.native.analysis.cost import DEAR
from refmlc.native.analysis.legality import find_nest
from refmlc.native.emit.fuel import pay_at_once
from refmlc.native.emit.looks import look
from refmlc.native.emit.state import NestLoop, State
from refmlc.native.nest import Affine, Axis, Nest
from refmlc.native.options import Grade
from refmlc.native.tile import Tiled, emit_nest
from refmlc.native.unit import BlockReport
from refmlc.run.memory.cells import cell_size

STRIP = 1 << 18  # bytes that the rows of a strip touch: a part of what the caches near a core hold
LANES = 4  # bytes of a lane: a row reduction takes as many rows at once as a vector has lanes


def emit_tiles(state: State, seq: Sequence[tir.Stmt], at: int) -> int:
    """Emit nests from `seq[at]` on in another order; how many statements that were, 0: the first one stays."""
    first = _look(state, seq[at])
    if first is None:
        return 0
    group = [first]
    for stmt in seq[at + 1 :]:
        following = _look(state, stmt)
        if following is None or not _in_strips([*group, following]):
            break
        group.append(following)
    count = len(group) if len(group) > 1 and _emit_strips(state, group) else int(_emit_one(state, first))
    state.nests.update((nest_loop.node, None) for nest_loop in group[: max(1, count)])
    return count


def _look(state: State, node: tir.Stmt) -> NestLoop | None:
    """The nest that `node` is, looked for once; why it is none is noted."""
    if node in state.nests:
        return state.nests[node]
    chain = [node]
    while isinstance(chain[-1], tir.For):
        chain.append(chain[-1].body)
    nest_loop = None
    if state.options.best >= Grade.REORDERED and isinstance(node, tir.For) and isinstance(chain[-1], tir.SBlockRealize):
        nest = find_nest(node, state.facts, state.initialisation)
        if isinstance(nest, Nest):
            nest_loop = NestLoop(node, nest)
        else:
            state.unmoved[chain[-1].block] = nest
    state.nests.update((part, None) for part in chain)
    state.nests[node] = nest_loop
    return nest_loop


# ------------------------------------------------------------------------------------------------- one by one


def _emit_one(state: State, nest_loop: NestLoop) -> bool:
    form = emit_nest(nest_loop.nest, state.options, lambda buffer: state.place(buffer, None).cells)
    if isinstance(form, str):
        state.unmoved[nest_loop.nest.block] = form
        return False
    pay_at_once(state, nest_loop.node)
    _add(state, nest_loop, form)
    _report(state, nest_loop, form.plan)
    return True


def _add(state: State, nest_loop: NestLoop, form: Tiled) -> None:
    state.text.comment(f"{nest_loop.nest.block.name}: {', '.join(form.plan)}", nest_loop.node.span)
    state.text.paste(form.lines)
    state.needs.dtypes.update(form.dtypes)
    state.needs.headers.update(form.headers)
    state.needs.casts.update(form.casts)
    state.needs.definitions.extend(form.definitions)


def _report(state: State, nest_loop: NestLoop, plan: tuple[str, ...]) -> None:
    block = nest_loop.nest.block
    state.blocks.append(BlockReport(block.name, block.span, Grade.REORDERED, 0, plan))


# -------------------------------------------------------------------------------------------------- in strips


def _emit_strips(state: State, group: Sequence[NestLoop]) -> bool:
    total, rows = group[0].nest.spatial[0].extent, _rows(state, group)
    if rows == 0:
        return False
    name = state.names.new("strip")
    parts = [_part(state, group, rows, name), _part(state, group, total % rows, name) if total % rows else []]
    if any(isinstance(form, str) for part in parts for form in part):
        return False
    for nest_loop in group:
        pay_at_once(state, nest_loop.node)
    even_rows = total - total % rows
    for part, head in zip(
        parts, (f"for (int64_t {name} = 0; {name} < {even_rows}; {name} += {rows})", ""), strict=True
    ):
        with state.text.block(
            head, group[0].node.span, f"{rows} rows of {len(group)} blocks at a time" if head else ""
        ):
            if head:
                state.text.line(look(DEAR))
            if not head and part:
                state.text.line(f"const int64_t {name} = {even_rows};")
            for nest_loop, form in zip(group, part, strict=False):
                if isinstance(form, Tiled):
                    _add(state, nest_loop, form)
    for nest_loop, form in zip(group, parts[0], strict=True):
        if isinstance(form, Tiled):
            _report(state, nest_loop, (f"{rows} rows at a time with {len(group) - 1} other blocks", *form.plan))
    return True


def _part(state: State, group: Sequence[NestLoop], rows: int, strip: str) -> list[Tiled | str]:
    """The nests over `rows` rows from the row `strip` on."""
    return [
        emit_nest(_fewer(nest_loop.nest, rows), state.options, _from(state, nest_loop.nest, strip))
        for nest_loop in group
    ]


def _fewer(nest: Nest, rows: int) -> Nest:
    return replace(nest, spatial=(Axis(nest.spatial[0].var, rows), *nest.spatial[1:]))


def _from(state: State, nest: Nest, strip: str) -> Callable[[tir.Buffer], str]:
    """Where the first row of the strip begins in each buffer."""
    steps = {buffer: step for buffer, step, _ in _accesses(nest)}

    def cell(buffer: tir.Buffer) -> str:
        cells = state.place(buffer, None).cells
        return f"({cells} + {strip} * {steps[buffer]})" if steps[buffer] else cells

    return cell


def _rows(state: State, group: Sequence[NestLoop]) -> int:
    """How many rows a strip has; 0: strips win nothing."""
    lanes = max(1, state.options.isa.vector_bytes // LANES)
    buffers = {buffer for nest_loop in group for buffer, _, _ in _accesses(nest_loop.nest)}
    size = sum(prod(_extents(buffer)) * cell_size(buffer.dtype) for buffer in buffers)
    steps = {(buffer, step) for nest_loop in group for buffer, step, _ in _accesses(nest_loop.nest)}
    row = sum(step * cell_size(buffer.dtype) for buffer, step in steps)
    if size <= STRIP or row == 0 or group[0].nest.spatial[0].extent < 2 * lanes:
        return 0
    rows = STRIP // row // lanes * lanes
    return min(rows, group[0].nest.spatial[0].extent) if rows else 0


def _extents(buffer: tir.Buffer) -> Iterator[int]:
    return (part.value if isinstance(part, tir.IntImm) else 0 for part in buffer.shape)


def _in_strips(group: Sequence[NestLoop]) -> bool:
    """Whether the nests may be executed strip by strip."""
    nests = [nest_loop.nest for nest_loop in group]
    if any(not nest.spatial or nest.spatial[0].extent != nests[0].spatial[0].extent for nest in nests):
        return False
    if any(_names_row(nest) for nest in nests):
        return False
    accesses = [access for nest in nests for access in _accesses(nest)]
    stored = {store.buffer for nest in nests for store in (*nest.init, *nest.stores)}
    steps: dict[tir.Buffer, set[int]] = {}
    for buffer, step, _ in accesses:
        steps.setdefault(buffer, set()).add(step)
    if any(len(nest_loop) > 1 or min(nest_loop) < 0 for nest_loop in steps.values()):
        return False
    return all(low >= 0 and high < step for buffer, step, (low, high) in accesses if buffer in stored)


def _accesses(nest: Nest) -> Iterator[tuple[tir.Buffer, int, tuple[int, int]]]:
    """Of each access: the buffer, elements from row to row, and the least and greatest element of row 0."""
    offsets = [(store.buffer, store.offset) for store in (*nest.init, *nest.stores)]
    offsets += [(load.buffer, offset) for load, offset in nest.offsets.items()]
    for buffer, offset in offsets:
        yield buffer, offset.of(nest.spatial[0].var), _reach(nest, offset)


def _reach(nest: Nest, offset: Affine) -> tuple[int, int]:
    shares = [offset.of(axis.var) * (axis.extent - 1) for axis in (*nest.spatial[1:], *nest.reduce)]
    low = sum(share for share in shares if share < 0)
    return offset.constant + low, offset.constant + sum(share for share in shares if share > 0)


def _names_row(nest: Nest) -> bool:
    """Whether a value depends on the number of the row, not only on what is loaded from it."""
    row = nest.spatial[0].var
    stack: list[Node] = [store.value for store in (*nest.init, *nest.stores)]
    stack.extend(let.value for let in nest.lets)
    while stack:
        node = stack.pop()
        if node is row:
            return True
        if not isinstance(node, tir.BufferLoad):
            stack.extend(children(node))
    return False
