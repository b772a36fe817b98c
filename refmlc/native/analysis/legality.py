"""Whether the spatial iterations of a loop nest may be executed in any order: the same bits, the same verdict.

| condition                                                                                  | checked by      |
|--------------------------------------------------------------------------------------------|-----------------|
| 1 each spatial axis is the only one of a dimension of what is stored                       | `_stores_apart` |
| 2 what is written is read at the stored element only; nothing else that is read is written | `_reads_apart`  |
| 3 loops go through all points of the axes, each once, without a condition                  | `bind_axes`     |
| 4 the body has no effects but its stores                                                   | `read_body`     |
| 5 the reductions of one element keep their order                                           | `bind_axes`     |
| each access is in bounds and affine in the axes, of a compact buffer of known shape        | `_place`        |
| all that is read is initialised, what is written needs no note of it                       | `_initialised`  |
| no operator is undefined, also in an arm that is not chosen                                | `_defined`      |

A reason against it is a clause for people: `refmlc native --why` prints it.

`may_move` asks the conditions that can be read off the text, without the proofs: its no is certain, its yes is not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from refmlc.lang.arith.polynomial import Poly, constant, variables
from refmlc.lang.ir import tir
from refmlc.lang.ir.statements import statements
from refmlc.lang.ops.short_text import access_text, short_text
from refmlc.native.analysis.accumulate import with_accumulators
from refmlc.native.analysis.binding import BlockLoops, bind_axes, odd_block, odd_loop
from refmlc.native.analysis.body import Body, operands, parts_of, read_body
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.initialisation import Initialisation, find_initialisation
from refmlc.native.nest import Affine, Nest, Store


class _No(Exception):
    """The nest may not move; the argument says why."""


def find_nest(stmt: tir.For | tir.SBlockRealize, facts: Facts, initialisation: Initialisation) -> Nest | str:
    """The nest in `stmt` if its spatial iterations may be executed in any order; else why not.

    `facts` is what is known around `stmt`, `initialisation` the initialisation of the whole function.
    """
    block_loops = bind_axes(stmt, facts)
    if isinstance(block_loops, str):
        return block_loops
    body = read_body(block_loops.realize.block)
    if isinstance(body, str):
        return body
    try:
        return _Legality(block_loops, body, facts, initialisation).nest()
    except _No as no:
        return str(no)


@dataclass(slots=True)
class _Place:
    """An access: its canonical indices, and the flat offset in elements."""

    indices: tuple[Poly, ...]
    offset: Affine
    guarded: bool


class _Legality:
    """The conditions on the body of a block; each method raises `_No` where its one does not hold."""

    def __init__(self, block_loops: BlockLoops, body: Body, facts: Facts, initialisation: Initialisation) -> None:
        self.bound, self.body, self.initialisation = block_loops, body, initialisation
        for axis in (*block_loops.spatial, *block_loops.reduce):
            facts = facts.bind_range(axis.var, 0, axis.extent)
        for let in body.lets:
            facts = facts.bind_value(let.var, let.value)
        self.facts = facts
        self.axes = frozenset(axis.var for axis in (*block_loops.spatial, *block_loops.reduce))
        self.loads: dict[tir.BufferLoad, _Place] = {}

    def nest(self) -> Nest:
        """The nest, all conditions being checked."""
        places = {store: self._place(store, self.facts, self.facts) for store in self.body.all_stores}
        for expr in self._exprs():
            self._scan(expr, self.facts)
        self._stores_apart(places)
        self._reads_apart(places)
        self._initialised()
        self._defined()
        init, stores = (
            tuple(Store(node, node.buffer, places[node].offset, node.value) for node in nodes)
            for nodes in (self.body.init, self.body.stores)
        )
        return Nest(
            self.body.block,
            self.body.block.span,
            self.bound.spatial,
            self.bound.reduce,
            init,
            stores,
            {load: place.offset for load, place in self.loads.items()},
            frozenset(load for load, place in self.loads.items() if place.guarded),
            self.body.lets,
        )

    def _exprs(self) -> Iterator[tir.Expr]:
        """The values that are evaluated, in no order."""
        yield from (let.value for let in self.body.lets)
        yield from (store.value for store in self.body.all_stores)

    # ------------------------------------------------------------------------------------- accesses

    def _scan(self, expr: tir.Expr, facts: Facts) -> None:
        """Find the place of each load, with what its conditions say."""
        match expr:
            case tir.BufferLoad():
                for index in expr.indices:
                    self._scan(index, facts)
                self._see(expr, self._place(expr, facts, self.facts))
            case tir.IfThenElseExpr(condition, true_value, false_value):
                self._scan(condition, facts)
                self._scan(true_value, facts.assume(condition))
                self._scan(false_value, facts.assume_not(condition))
            case _:
                for part in operands(expr):
                    self._scan(part, facts)

    def _see(self, load: tir.BufferLoad, place: _Place) -> None:
        """Note a load; a node that stands in two places is guarded if one of them is."""
        earlier = self.loads.get(load)
        if earlier is not None:
            place.guarded = place.guarded or earlier.guarded
        self.loads[load] = place

    def _place(self, node: tir.BufferLoad | tir.BufferStore, facts: Facts, unconditional: Facts) -> _Place:
        """Where an access goes: in bounds (`facts`), affine, of a compact buffer."""
        buffer = node.buffer
        if buffer.strides or not _is_zero(buffer.elem_offset) or buffer.dtype.is_vector:
            raise _No(f"`{buffer.name}` is not compact")
        if len(node.indices) != len(buffer.shape):
            raise _No(f"`{access_text(node)}` has not an index for each dimension")
        forms, offset, guarded = [], constant(0), False
        for index, extent in zip(node.indices, buffer.shape, strict=True):
            if not isinstance(extent, tir.IntImm):
                raise _No(f"the shape of `{buffer.name}` has `{short_text(extent)}`, which is not a constant")
            form = unconditional.form(index)
            if form is None or not self._is_affine(form):
                raise _No(f"index `{short_text(index)}` of `{buffer.name}` is not affine in the axes")
            if not facts.within(index, extent):
                raise _No(f"`{access_text(node)}` is not proved in bounds: {facts.why(index, extent)}")
            guarded = guarded or not unconditional.within(index, extent)
            forms.append(form)
            offset = offset.scaled(extent.value) + form
        return _Place(tuple(forms), _affine(offset), guarded)

    def _is_affine(self, form: Poly) -> bool:
        """Whether each term is a number times one axis, or a number."""
        return all(not key or (len(key) == 1 and key[0] in self.axes) for key in form.terms)

    # ----------------------------------------------------------------------------------- conditions

    def _stores_apart(self, places: dict[tir.BufferStore, _Place]) -> None:
        """Condition 1: every store writes, for each spatial point, an element that is of this point alone."""
        for store, place in places.items():
            dimensions = [frozenset(variables(form)) for form in place.indices]
            for axis in self.bound.reduce:
                if any(axis.var in names for names in dimensions):
                    raise _No(f"`{access_text(store)}` is stored at reduction axis `{axis.var.name}`")
            for axis in self.bound.spatial:
                if axis.extent > 1 and frozenset((axis.var,)) not in dimensions:
                    raise _No(f"no dimension of `{access_text(store)}` is of axis `{axis.var.name}` alone")

    def _reads_apart(self, places: dict[tir.BufferStore, _Place]) -> None:
        """Condition 2: a written buffer is accessed at one element per point, and shares no storage."""
        stored = {store.buffer: place.indices for store, place in places.items()}
        for store, place in places.items():
            if store.value.dtype != store.buffer.dtype or store.predicate is not None:
                raise _No(f"what is stored to `{store.buffer.name}` is of {store.value.dtype}, or has a predicate")
            if place.indices != stored[store.buffer]:
                raise _No(f"`{store.buffer.name}` is stored at more than one element")
            if self.initialisation.use_of(store.buffer).shared:
                raise _No(f"`{store.buffer.name}` shares storage with another buffer")
        for load, place in self.loads.items():
            if load.buffer in stored and place.indices != stored[load.buffer]:
                raise _No(f"`{access_text(load)}` is read, which another iteration writes")

    def _initialised(self) -> None:
        """Reads are of initialised elements; what is written needs no note of it."""
        for load in self.loads:
            if not self.initialisation.initialised(load):
                raise _No(self.initialisation.unproved[load])
        for store in self.body.all_stores:
            use = self.initialisation.use_of(store.buffer)
            if use.tracked:
                raise _No(f"what is written to `{store.buffer.name}` must be noted: {use.proof}")

    def _defined(self) -> None:
        """No operator is undefined for any operands that it can have, whichever arm is chosen."""
        facts = with_accumulators(self.facts, self.bound, self.body)
        indices = (index for store in self.body.all_stores for index in store.indices)
        for expr in (*self._exprs(), *indices):
            for part in parts_of(expr):
                if not facts.is_defined(part):
                    raise _No(f"`{short_text(part)}` of {part.dtype} is not proved defined: {_ranges(facts, part)}")


def _is_zero(offset: tir.Expr | None) -> bool:
    return offset is None or (isinstance(offset, tir.IntImm) and offset.value == 0)


def _affine(form: Poly) -> Affine:
    """An affine form, whose atoms are variables, as data."""
    terms = {key[0]: factor for key, factor in form.terms.items() if key and isinstance(key[0], tir.Var)}
    return Affine(terms, form.constant)


def _ranges(facts: Facts, part: tir.Expr) -> str:
    """The operands of an operator and their ranges."""
    return ", ".join(f"`{short_text(each)}` in {facts.bounds(each)}" for each in operands(part))


def may_move(func: tir.PrimFunc) -> bool:
    """Whether some loop nest of `func` may turn out to be reordered."""
    nests = [
        node.body
        for node in statements(func.body)
        if isinstance(node, tir.For) and isinstance(node.body, tir.SBlockRealize) and not odd_loop(node)
    ]
    bodies = [read_body(realize.block) for realize in nests if not odd_block(realize)]
    bodies_read = [body for body in bodies if isinstance(body, Body)]
    return bool(bodies_read) and any(_is_initialised(body, find_initialisation(func)) for body in bodies_read)


def _is_initialised(body: Body, initialisation: Initialisation) -> bool:
    """Whether all that is read is initialised, and no note need be taken of what is written."""
    uses = [initialisation.use_of(store.buffer) for store in body.all_stores]
    if any(use.tracked or use.shared for use in uses):
        return False
    values = [*(let.value for let in body.lets), *(store.value for store in body.all_stores)]
    loads = (part for value in values for part in parts_of(value) if isinstance(part, tir.BufferLoad))
    return all(initialisation.initialised(load) for load in loads)
