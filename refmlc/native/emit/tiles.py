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

Where several threads are requested (`Options.threads`), strips are shared out among them: a nest by itself is cut along
the axis on which its parts share the least. Each strip writes elements of its own, and reads of what is written only
these, so threads have nothing to wait for. What is short runs on one thread.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.native.analysis.cost import DEAR, units_of
from refmlc.native.analysis.legality import find_nest
from refmlc.native.emit.fuel import pay_at_once
from refmlc.native.emit.looks import look
from refmlc.native.emit.state import NestLoop, State
from refmlc.native.nest import Affine, Axis, Nest
from refmlc.native.options import Grade
from refmlc.native.text import Text
from refmlc.native.tile import Tiled, emit_nest
from refmlc.native.unit import BlockReport
from refmlc.run.memory.cells import cell_size

STRIP = 1 << 18  # bytes that the rows of a strip touch: a part of what the caches near a core hold
LANES = 4  # bytes of a lane: a row reduction takes as many rows at once as a vector has lanes
WORTH = 1 << 20
"""Units of work, in whole vectors, of a nest that runs on several threads: making one takes some 20 microseconds."""


@dataclass(frozen=True, slots=True)
class Strips:
    """Nests, and how they are cut: along the spatial axis number `axis` of each, `rows` of its points to a strip."""

    group: Sequence[NestLoop]
    axis: int
    rows: int

    @property
    def total(self) -> int:
        """The extent of the axis."""
        return self.group[0].nest.spatial[self.axis].extent


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
    rows = _rows(state, group) if len(group) > 1 else 0
    in_strips = rows > 0 and _emit_strips(state, Strips(group, 0, rows))
    count = len(group) if in_strips else int(_emit_one(state, first))
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
    axis = _axis(state, nest_loop.nest)
    if axis is not None:
        rows = -(-nest_loop.nest.spatial[axis].extent // state.options.threads)
        if _emit_strips(state, Strips((nest_loop,), axis, rows)):
            return True
    form = emit_nest(nest_loop.nest, state.options, lambda buffer: state.place(buffer, None).cells)
    if isinstance(form, str):
        state.unmoved[nest_loop.nest.block] = form
        return False
    pay_at_once(state, nest_loop.node)
    _add(state, state.text, nest_loop, form)
    _report(state, nest_loop, form.plan)
    return True


def _add(state: State, text: Text, nest_loop: NestLoop, form: Tiled) -> None:
    text.comment(f"{nest_loop.nest.block.name}: {', '.join(form.plan)}", nest_loop.node.span)
    text.paste(form.lines)
    state.needs.dtypes.update(form.dtypes)
    state.needs.headers.update(form.headers)
    state.needs.casts.update(form.casts)
    state.needs.definitions.extend(form.definitions)


def _report(state: State, nest_loop: NestLoop, plan: tuple[str, ...]) -> None:
    block = nest_loop.nest.block
    state.blocks.append(BlockReport(block.name, block.span, Grade.REORDERED, 0, plan))


# -------------------------------------------------------------------------------------------------- in strips


def _emit_strips(state: State, strips: Strips) -> bool:
    group, rows, total = strips.group, strips.rows, strips.total
    name = state.names.new("strip")
    parts = [_part(state, strips, rows, name), _part(state, strips, total % rows, name) if total % rows else []]
    forms = [[form for form in part if isinstance(form, Tiled)] for part in parts]
    if [len(part) for part in forms] != [len(part) for part in parts]:
        return False
    for nest_loop in group:
        pay_at_once(state, nest_loop.node)
    in_threads = _in_threads(state, [nest_loop.nest for nest_loop in group])
    if in_threads:
        _emit_threads(state, strips, forms, name)
    else:
        _emit_in_turn(state, strips, forms, name)
    others = f" with {len(group) - 1} other blocks" if len(group) > 1 else ""
    threads = f", on {state.options.threads} threads" if in_threads else ""
    for nest_loop, form in zip(group, forms[0], strict=True):
        _report(state, nest_loop, (f"{rows} rows at a time{others}{threads}", *form.plan))
    return True


def _emit_in_turn(state: State, strips: Strips, forms: list[list[Tiled]], name: str) -> None:
    """One strip after the other; the last one may be narrower."""
    group, rows, span = strips.group, strips.rows, strips.group[0].node.span
    even_rows = strips.total - strips.total % rows
    head = f"for (int64_t {name} = 0; {name} < {even_rows}; {name} += {rows})"
    with state.text.block(head, span, f"{rows} rows of {len(group)} blocks at a time"):
        state.text.line(look(DEAR))
        _add_all(state, state.text, group, forms[0])
    with state.text.block("", span):
        if forms[1]:
            state.text.line(f"const int64_t {name} = {even_rows};")
            _add_all(state, state.text, group, forms[1])


def _emit_threads(state: State, strips: Strips, forms: list[list[Tiled]], name: str) -> None:
    """A function of the strips from one number to another, called in threads."""
    group, rows, span = strips.group, strips.rows, strips.group[0].node.span
    symbol = f"{state.symbol}_part{len(state.parts)}"
    cells, first, last, number = (state.names.new(word) for word in ("cells", "first", "last", "number"))
    stored = {store.buffer for nest_loop in group for store in (*nest_loop.nest.init, *nest_loop.nest.stores)}
    buffers = {state.place(buffer, None).cells: buffer for buffer in _buffers([nest_loop.nest for nest_loop in group])}
    text = Text()
    params = f"const rm_cells *const {cells}, const int64_t {first}, const int64_t {last}"
    with text.block(f"int64_t {symbol}(rm_run *const run, {params})"):
        text.line("int64_t status = RM_DONE;")
        for at, (pointer, buffer) in enumerate(buffers.items()):
            constant = "" if buffer in stored else "const "
            c_type = f"{constant}{state.use(buffer.dtype)}_cell"
            text.line(f"{c_type} *restrict const {pointer} = RM_CELLS({cells}, {at});")
        with text.block(f"for (int64_t {number} = {first}; {number} < {last}; ++{number})", span):
            text.line(look(DEAR))
            text.line(f"const int64_t {name} = {number} * {rows};")
            if not forms[1]:
                _add_all(state, text, group, forms[0])
            else:
                with text.block(f"if ({name} + {rows} <= {strips.total})"):
                    _add_all(state, text, group, forms[0])
                with text.block("else"):
                    _add_all(state, text, group, forms[1])
        text.line("leave: RM_UNUSED;")
        text.line("return status;")
    text.line("")
    state.parts.append(tuple(text.lines))
    state.needs.headers.add("rm_threads.h")
    count = -(-strips.total // rows)
    with state.text.block("", span, f"{rows} rows of {len(group)} blocks at a time, in threads"):
        state.text.line(f"const rm_cells {cells}[{len(buffers)}] = {{{', '.join(buffers)}}};")
        state.text.line(f"status = rm_in_threads(run, {symbol}, {cells}, {count}, {state.options.threads});")
        state.text.line("if (status != RM_DONE) goto leave;")


def _add_all(state: State, text: Text, group: Sequence[NestLoop], forms: Sequence[Tiled]) -> None:
    for nest_loop, form in zip(group, forms, strict=True):
        _add(state, text, nest_loop, form)


def _in_threads(state: State, nests: Sequence[Nest]) -> bool:
    """Whether `nests` run on several threads: they are requested, and it takes long."""
    if state.options.threads == 1 or sum(_work(state, nest) for nest in nests) < WORTH:
        return False
    return all(state.place(buffer, None).cells.isidentifier() for buffer in _buffers(nests))


def _work(state: State, nest: Nest) -> int:
    """About how much the nest does, in whole vectors."""
    values = (*(let.value for let in nest.lets), *(store.value for store in nest.stores))
    points = prod(axis.extent for axis in (*nest.spatial, *nest.reduce))
    return points * (1 + units_of(values)) // max(1, state.options.isa.vector_bytes // LANES)


def _axis(state: State, nest: Nest) -> int | None:
    """The spatial axis along which threads share out a nest by itself; None: it runs on one.

    Without a reduction, the first one that can be cut; with one, that on which the parts share the least of what they
    read, the last of several.
    """
    if not _in_threads(state, (nest,)):
        return None
    least = state.options.threads
    axes = [at for at, axis in enumerate(nest.spatial) if axis.extent >= least and _can_be_cut(nest, at)]
    if not nest.reduce or not axes:
        return axes[0] if axes else None
    return min(reversed(axes), key=lambda at: _shared(nest, at))


def _can_be_cut(nest: Nest, at: int) -> bool:
    """Whether strips along an axis may count from 0: no value names it, all accesses of a buffer move alike."""
    steps: dict[tir.Buffer, set[int]] = {}
    for buffer, step, _ in _accesses(nest, at):
        steps.setdefault(buffer, set()).add(step)
    return all(len(each) == 1 and min(each) >= 0 for each in steps.values()) and not _names_row(nest, at)


def _shared(nest: Nest, at: int) -> int:
    """Bytes that all strips along an axis read."""
    buffers = {buffer for buffer, step, _ in _accesses(nest, at) if step == 0}
    return sum(prod(_extents(buffer)) * cell_size(buffer.dtype) for buffer in buffers)


def _buffers(nests: Sequence[Nest]) -> list[tir.Buffer]:
    """The buffers of all nests, each once, in order."""
    return list(dict.fromkeys(buffer for nest in nests for buffer, _, _ in _accesses(nest)))


def _part(state: State, strips: Strips, rows: int, name: str) -> list[Tiled | str]:
    """The nests over `rows` rows from the row `name` on."""
    return [
        emit_nest(
            _fewer(nest_loop.nest, strips.axis, rows), state.options, _from(state, nest_loop.nest, strips.axis, name)
        )
        for nest_loop in strips.group
    ]


def _fewer(nest: Nest, at: int, rows: int) -> Nest:
    axis = Axis(nest.spatial[at].var, rows)
    return replace(nest, spatial=(*nest.spatial[:at], axis, *nest.spatial[at + 1 :]))


def _from(state: State, nest: Nest, at: int, strip: str) -> Callable[[tir.Buffer], str]:
    """Where the first row of the strip begins in each buffer."""
    steps = {buffer: step for buffer, step, _ in _accesses(nest, at)}

    def cell(buffer: tir.Buffer) -> str:
        cells = state.place(buffer, None).cells
        return f"({cells} + {strip} * {steps[buffer]})" if steps[buffer] else cells

    return cell


def _rows(state: State, group: Sequence[NestLoop]) -> int:
    """How many rows a strip has; 0: strips win nothing."""
    lanes = max(1, state.options.isa.vector_bytes // LANES)
    nests = [nest_loop.nest for nest_loop in group]
    size = sum(prod(_extents(buffer)) * cell_size(buffer.dtype) for buffer in _buffers(nests))
    steps = {(buffer, step) for nest in nests for buffer, step, _ in _accesses(nest)}
    row = sum(step * cell_size(buffer.dtype) for buffer, step in steps)
    if size <= STRIP or row == 0 or group[0].nest.spatial[0].extent < 2 * lanes:
        return 0
    rows = STRIP // row // lanes * lanes
    total = group[0].nest.spatial[0].extent
    if _in_threads(state, nests):
        rows = min(rows, -(-total // state.options.threads // lanes) * lanes)
    return min(rows, total)


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


def _accesses(nest: Nest, at: int = 0) -> Iterator[tuple[tir.Buffer, int, tuple[int, int]]]:
    """Of each access: the buffer, elements from row to row along an axis, and the least and greatest of row 0."""
    offsets = [(store.buffer, store.offset) for store in (*nest.init, *nest.stores)]
    offsets += [(load.buffer, offset) for load, offset in nest.offsets.items()]
    for buffer, offset in offsets:
        yield buffer, offset.of(nest.spatial[at].var) if nest.spatial else 0, _reach(nest, offset)


def _reach(nest: Nest, offset: Affine) -> tuple[int, int]:
    shares = [offset.of(axis.var) * (axis.extent - 1) for axis in (*nest.spatial[1:], *nest.reduce)]
    low = sum(share for share in shares if share < 0)
    return offset.constant + low, offset.constant + sum(share for share in shares if share > 0)


def _names_row(nest: Nest, at: int = 0) -> bool:
    """Whether a value depends on the number of the row, not only on what is loaded from it."""
    row = nest.spatial[at].var
    stack: list[Node] = [store.value for store in (*nest.init, *nest.stores)]
    stack.extend(let.value for let in nest.lets)
    while stack:
        node = stack.pop()
        if node is row:
            return True
        if not isinstance(node, tir.BufferLoad):
            stack.extend(children(node))
    return False
