"""The contracts of a TensorIR function: of each access in it, of its extents, divisors, parallel stores and asserts.

| what                                          | asks for                                                        |
|-----------------------------------------------|-----------------------------------------------------------------|
| an index, an extent                           | the natural form of what remains of its bounds (`pieces`)       |
| a divisor                                     | not 0                                                           |
| a store at values, once per parallel instance | distinct values, unless it accumulates: then it is a race       |
| such a store from `p[i]` on, below `p[i + 1]` | `p: ascending`, so that no two segments share an element        |
| an assert, `T.assume`                         | itself, also of sizes                                           |
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from refmlc.diag import Span
from refmlc.lang.arith.polynomial import Atom, Opaque, Poly
from refmlc.lang.ir import tir
from refmlc.oracle.contracts.infer.pieces import Ascending, Bound, Piece, Pieces
from refmlc.oracle.contracts.infer.residues import cases, residues
from refmlc.oracle.contracts.infer.symbols import all_atoms
from refmlc.oracle.contracts.infer.walk import AccessNeed, ScatteredStore, Walk
from refmlc.oracle.contracts.infer.writer import ClauseWriter
from refmlc.oracle.contracts.language import ContractClause


@dataclass(frozen=True)
class InferredClause:
    """A clause and the access that asks for it."""

    clause: ContractClause
    place: Span | None
    asserted: bool = False


@dataclass(frozen=True)
class Inference:
    """What was inferred. `accesses`: how many indices, extents and divisors depend on values of arguments.

    `unexpressed`: the places of those of them that have no natural form; calls alone tell whether they are right.
    """

    clauses: tuple[InferredClause, ...] = ()
    accesses: int = 0
    unexpressed: tuple[Span | None, ...] = ()
    data: frozenset[str] = frozenset()


@dataclass
class _Found:
    pieces: dict[Piece, Span | None] = field(default_factory=dict)
    unexpressed: list[Span | None] = field(default_factory=list)
    accesses: int = 0


def inferred(func: tir.PrimFunc) -> Inference:
    """The contracts of a function on the values of its parameters, in the order of its text."""
    walked = Walk(func)
    pieces = Pieces(walked)
    found = _Found()
    for obligation in dict.fromkeys(walked.result.obligations):
        _oblige(obligation, walked, pieces, found)
    for store in walked.result.stores:
        for segment in _segments(store, pieces):
            found.pieces.setdefault(segment, store.place)
    writer = ClauseWriter(walked, pieces)
    asserted = {clause: place for condition, place in walked.result.asserted for clause in writer.asserted(condition)}
    clauses: dict[ContractClause, Span | None] = dict(asserted)
    for clause, place in writer.bounds(found.pieces):
        clauses.setdefault(clause, place)
    for store in walked.result.stores:
        for clause in _distinct(store, writer):
            clauses.setdefault(clause, store.place)
    data = frozenset(buffer.name for buffer in walked.data if _used(buffer, walked)) | {
        var.name for var in walked.numbers
    }
    rows = tuple(InferredClause(clause, place, clause in asserted) for clause, place in clauses.items())
    return Inference(rows, found.accesses, tuple(dict.fromkeys(found.unexpressed)), data)


def _used(buffer: tir.Buffer, walked: Walk) -> bool:
    return any(load.whole is walked.data[buffer] for load in walked.result.loaded)


def _oblige(obligation: AccessNeed, walked: Walk, pieces: Pieces, found: _Found) -> None:
    if obligation.differs:
        atom = obligation.poly.atom
        found.accesses += 1
        if atom is not None and walked.is_data(atom):
            found.pieces.setdefault(Bound(obligation.poly, differs=True), obligation.place)
        return
    of_data = False
    for poly, facts in cases(obligation.poly, obligation.facts):
        left = residues(poly, facts, lambda atom: _is_final(atom, walked))
        if any(pieces.holds(residue) for residue in left):
            of_data = of_data or walked.touches(poly)
            continue
        of_data = of_data or walked.touches(poly) or any(map(walked.touches, left))
        ranked = [natural for residue in left if (natural := pieces.of(residue, facts)) is not None]
        if not any(map(walked.touches, left)) and not walked.touches(poly):
            continue
        if ranked:
            for piece in min(ranked, key=lambda pair: pair[0])[1]:
                found.pieces.setdefault(piece, obligation.place)
        else:
            _alone(poly, obligation, pieces, found, walked)
    found.accesses += of_data


def _alone(poly: Poly, obligation: AccessNeed, pieces: Pieces, found: _Found, walked: Walk) -> None:
    """What a value that is added to an index asks for by itself, where the whole sum has no natural form."""
    found.unexpressed.append(obligation.place)
    if obligation.extent is None:
        for key, factor in poly.terms.items():
            if len(key) == 1 and factor > 0 and walked.is_data(key[0]):
                natural = pieces.of(Poly({key: 1}), ())
                for piece in natural[1] if natural else ():
                    found.pieces.setdefault(piece, obligation.place)


def _is_final(atom: Atom, walked: Walk) -> bool:
    return walked.is_data(atom) or atom in walked.sizes or atom in walked.result.extents


def _distinct(store: ScatteredStore, writer: ClauseWriter) -> Iterator[ContractClause]:
    """That the values are distinct at which parallel instances store."""
    if any(loaded == store.indices for loaded in store.loads):
        return
    spread = [load for index in store.indices for load in _loads(index) if _variables(load.args) & store.parallel]
    alone = {atom for index in store.indices if (atom := index.atom) is not None and isinstance(atom, tir.Var)}
    spread = [load for load in spread if not _variables(load.args) & store.parallel <= alone]
    for load in dict.fromkeys(spread):
        if isinstance(load.whole, tir.BufferData) and load.whole.buffer.dtype.is_float:
            continue  # distinct floats round to the same integer
        sources = [other for indices in store.loads for index in indices for other in _loads(index)]
        yield writer.distinct(load, whole=any(other.whole is load.whole and other != load for other in sources))


def _segments(store: ScatteredStore, pieces: Pieces) -> Iterator[Ascending]:
    """The segments that a store lies in: its index begins at `p[i]`, and a condition keeps it below `p[i + 1]`."""
    for index in store.indices:
        for key, factor in index.terms.items():
            first = key[0] if len(key) == 1 else None
            last = pieces.after.get(first) if isinstance(first, Opaque) and factor == 1 else None
            if last is not None and any(
                fact.poly.terms.get((last,), 0) > 0 and fact.poly.terms.get(key, 0) < 0 for fact in store.facts
            ):
                yield Ascending(cast("Opaque", first))


def _loads(poly: Poly) -> Iterator[Opaque]:
    """The loads of a polynomial, outermost ones only."""
    for key in poly.terms:
        for atom in key:
            if isinstance(atom, Opaque):
                if atom.op == "load":
                    yield atom
                else:
                    for arg in atom.args:
                        yield from _loads(arg)


def _variables(polys: Sequence[Poly]) -> frozenset[tir.Var]:
    return frozenset(atom for poly in polys for atom in all_atoms(poly) if isinstance(atom, tir.Var))
