"""Initialisation and order for all sizes, as far as the structure of a function shows them.

An element of the function's own memory that is read is written before if one of these holds:

| case        | the element                                                                                      |
|-------------|--------------------------------------------------------------------------------------------------|
| whole       | an earlier statement writes all of the buffer: a nest of loops over its whole shape, each axis   |
|             | of the store a variable of its own that runs over the whole extent, under no condition           |
| own init    | the read stands in a block at the place that the block's init writes                             |
| before      | the same statement list writes this very place (equal indices) before, under no condition        |
| parameter   | the buffer is the caller's, who initialises what the function reads                              |

Iterations of a parallel loop do not meet if every store in it has the loop variable, by itself or through one block
axis, as one of its indices, and every read of what the loop writes has the same index there.

Whatever this does not show stays open: it is never taken as shown.
"""

from collections.abc import Iterator
from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk

Place: TypeAlias = tuple[tir.Buffer, tuple[tir.Expr, ...]]


class StructuralFacts:
    """What the structure of a function shows about its memory."""

    def __init__(self, func: tir.PrimFunc) -> None:
        self._parameters = set(func.buffer_map.values())
        self._inputs: set[tir.Buffer] = set()
        self._outputs: set[tir.Buffer] = set()
        self._shown: dict[int, tuple[tir.Expr, ...]] = {}
        self._loops: dict[tir.Var, tir.For] = {}
        self._visit(func.body, _Written())

    def needs(self, node: tir.BufferLoad) -> tuple[tir.Expr, ...] | None:
        """The extents that must be at least 1 for an element to be written before it is read; None: nothing shows it.

        The caller initialises a parameter whose first access in the text is a load.
        """
        return () if node.buffer in self._inputs else self._shown.get(id(node))

    def is_input(self, buffer: tir.Buffer) -> bool:
        """Whether the caller initialises a parameter: its first access in the text is a load."""
        return buffer in self._inputs

    def order_reason(self, loop: tir.For) -> str:
        """Why iterations of a loop may touch one element; empty: it is shown that they do not."""
        own = {node.buffer for node in walk(loop.body) if isinstance(node, tir.AllocBuffer)}
        own |= {buffer for node in walk(loop.body) if isinstance(node, tir.SBlock) for buffer in node.alloc_buffers}
        names = _same_as(loop)
        stores = [node for node in walk(loop.body) if isinstance(node, tir.BufferStore) and node.buffer not in own]
        places: dict[tir.Buffer, int] = {}
        for store in stores:
            axis = next((at for at, index in enumerate(store.indices) if index in names), None)
            if axis is None or places.setdefault(store.buffer, axis) != axis:
                return f"iterations of `{loop.loop_var.name}` write different elements of `{store.buffer.name}`"
        for load in (node for node in walk(loop.body) if isinstance(node, tir.BufferLoad)):
            if load.buffer in places and load.indices[places[load.buffer]] not in names:
                return f"iterations of `{loop.loop_var.name}` read only what they write of `{load.buffer.name}`"
        return ""

    # ------------------------------------------------------------------------------------ initialisation

    def _visit(self, node: tir.Stmt, written: "_Written") -> None:
        """Note the loads in `node` that are shown, and what it writes as a whole."""
        match node:
            case tir.SeqStmt(seq):
                for part in seq:
                    self._visit(part, written)
            case tir.AttrStmt(body=body):
                self._visit(body, written)
            case tir.SBlockRealize(block=block) if not block.iter_vars and _is_true(node.predicate):
                self._visit(block.body, written)
            case tir.For() | tir.SBlockRealize():
                self._inside(node, written.copy())
                for buffer, extents in _wholly_written(node):
                    written.whole.setdefault(buffer, extents)
            case tir.BufferStore():
                self._loads_of(node.value, written)
                for index in node.indices:
                    self._loads_of(index, written)
                self._first(node.buffer, self._outputs)
                written.places.append((node.buffer, node.indices))
            case tir.IfThenElse(condition, then_case, else_case):
                self._loads_of(condition, written)
                self._visit(then_case, written.copy())
                if else_case is not None:
                    self._visit(else_case, written.copy())
            case tir.While(body=body):
                self._visit(body, written.copy())
            case _:
                for child in (part for part in walk(node) if isinstance(part, tir.BufferLoad)):
                    self._load(child, written)

    def _inside(self, node: tir.Stmt, written: "_Written") -> None:
        match node:
            case tir.For(min=first, extent=extent, body=body):
                self._loops[node.loop_var] = node
                self._loads_of(first, written)
                self._loads_of(extent, written)
                self._inside(body, written)
            case tir.SBlockRealize(block=block):
                for value in (*node.iter_values, node.predicate):
                    self._loads_of(value, written)
                if block.init is not None:
                    self._visit(block.init, written.copy())
                    if self._begins_at_first(node):
                        written.places += _own_init(block)
                self._inside(block.body, written)
            case _:
                self._visit(node, written)

    def _loads_of(self, expr: tir.Expr, written: "_Written") -> None:
        for node in walk(expr):
            if isinstance(node, tir.BufferLoad):
                self._load(node, written)

    def _load(self, node: tir.BufferLoad, written: "_Written") -> None:
        self._first(node.buffer, self._inputs)
        extents = written.shows(node)
        if extents is not None:
            self._shown[id(node)] = extents

    def _first(self, buffer: tir.Buffer, kind: set[tir.Buffer]) -> None:
        """Note the first access of a parameter."""
        if buffer in self._parameters and buffer not in self._inputs | self._outputs:
            kind.add(buffer)

    def _begins_at_first(self, node: tir.SBlockRealize) -> bool:
        """Whether the first instance that is executed is the one that runs the init.

        So it is if no instance is skipped, and each reduce axis is a loop variable that counts up from 0, as it does.
        """
        reduce = [
            (axis, value)
            for axis, value in zip(node.block.iter_vars, node.iter_values, strict=True)
            if axis.kind is not IterKind.SPATIAL
        ]
        return _is_true(node.predicate) and all(
            axis.kind is IterKind.REDUCE and _is_zero(axis.dom.min) and self._counts_from_zero(value)
            for axis, value in reduce
        )

    def _counts_from_zero(self, value: tir.Expr) -> bool:
        loop = self._loops.get(value) if isinstance(value, tir.Var) else None
        return loop is not None and loop.step is None and _is_zero(loop.min)


class _Written:
    """What is written before a place: whole buffers, with the extents that must not be 0, and single places."""

    def __init__(self) -> None:
        self.whole: dict[tir.Buffer, tuple[tir.Expr, ...]] = {}
        self.places: list[Place] = []

    def copy(self) -> "_Written":
        """What is written before a nested place; what that writes is not seen outside."""
        other = _Written()
        other.whole, other.places = dict(self.whole), list(self.places)
        return other

    def shows(self, load: tir.BufferLoad) -> tuple[tir.Expr, ...] | None:
        """The extents that must be at least 1 for the element to be written; None: nothing shows that it is."""
        for buffer, indices in self.places:
            if buffer is load.buffer and all(map(structural_equal, indices, load.indices)):
                return ()
        return self.whole.get(load.buffer)


def _own_init(block: tir.SBlock) -> list[Place]:
    """The places that the init of a block writes, if they are the same in every instance of a reduction.

    The init runs where the reduction begins, and the other instances follow: so a place whose indices hold no reduce
    axis is initialised in all of them.
    """
    reduce = {axis.var for axis in block.iter_vars if axis.kind is IterKind.REDUCE}
    body = block.init
    stores = body.seq if isinstance(body, tir.SeqStmt) else (body,)
    return [
        (store.buffer, store.indices)
        for store in stores
        if isinstance(store, tir.BufferStore)
        and not any(node in reduce for index in store.indices for node in walk(index) if isinstance(node, tir.Var))
    ]


def _is_true(node: tir.Expr) -> bool:
    return isinstance(node, tir.IntImm) and bool(node.value)


def _is_zero(node: tir.Expr) -> bool:
    return isinstance(node, tir.IntImm) and node.value == 0


def _wholly_written(nest: tir.Stmt) -> Iterator[tuple[tir.Buffer, tuple[tir.Expr, ...]]]:
    """The buffers of which a nest of loops writes every element, with the extents of loops that must run once."""
    loops: dict[tir.Var, tir.Expr] = {}
    axes: dict[tir.Var, tir.Var] = {}
    node: tir.Stmt | None = nest
    while node is not None:
        match node:
            case tir.For(loop_var=var, min=tir.IntImm(value=0), extent=extent, body=body, step=None):
                loops[var] = extent
                node = body
            case tir.SBlockRealize(block=block) if _is_true(node.predicate):
                for axis, value in zip(block.iter_vars, node.iter_values, strict=True):
                    if isinstance(value, tir.Var):
                        axes[axis.var] = value
                if _reaches_init(node, loops):
                    for part in block.init.seq if isinstance(block.init, tir.SeqStmt) else (block.init,):
                        yield from _covered(part, loops, axes)
                node = block.body
            case tir.AttrStmt(body=body):
                node = body
            case tir.SeqStmt(seq):
                for part in seq:
                    yield from _covered(part, loops, axes)
                return
            case _:
                yield from _covered(node, loops, axes)
                return


def _reaches_init(node: tir.SBlockRealize, loops: dict[tir.Var, tir.Expr]) -> bool:
    """Whether some instance runs the init at each place: every reduce axis is a loop variable that is 0 once."""
    return node.block.init is not None and all(
        isinstance(value, tir.Var) and value in loops and _is_zero(axis.dom.min)
        for axis, value in zip(node.block.iter_vars, node.iter_values, strict=True)
        if axis.kind is not IterKind.SPATIAL
    )


def _covered(
    store: tir.Stmt | None, loops: dict[tir.Var, tir.Expr], axes: dict[tir.Var, tir.Var]
) -> Iterator[tuple[tir.Buffer, tuple[tir.Expr, ...]]]:
    """The buffer of a store that reaches every element: a loop of its own over the whole extent for each index.

    The other loops must run at least once, and their extents must be known outside of the nest.
    """
    if not isinstance(store, tir.BufferStore) or store.predicate is not None:
        return
    used: list[tir.Var] = []
    for index, extent in zip(store.indices, store.buffer.shape, strict=True):
        if _is_zero(index) and isinstance(extent, tir.IntImm) and extent.value == 1:
            continue
        loop = axes.get(index, index) if isinstance(index, tir.Var) else None
        if loop is None or loop not in loops or loop in used or not structural_equal(loops[loop], extent):
            return
        used.append(loop)
    others = tuple(extent for loop, extent in loops.items() if loop not in used)
    if not any(node in loops for extent in others for node in walk(extent) if isinstance(node, tir.Var)):
        yield store.buffer, others


def _same_as(loop: tir.For) -> set[tir.Expr]:
    """The loop variable, and each block axis that is bound to it."""
    names: set[tir.Expr] = {loop.loop_var}
    for node in walk(loop.body):
        if isinstance(node, tir.SBlockRealize):
            names |= {
                axis.var
                for axis, value in zip(node.block.iter_vars, node.iter_values, strict=True)
                if value in names and isinstance(value, tir.Var)
            }
    return names
