"""Pieces as clauses of the language: in names of parameters and sizes."""

from collections.abc import Iterator, Mapping

from refmlc.diag import Span
from refmlc.lang.arith.polynomial import Atom, Opaque, Poly
from refmlc.lang.ir import tir
from refmlc.oracle.contracts.infer.pieces import Ascending, Bound, Piece, Pieces
from refmlc.oracle.contracts.infer.symbols import KnownBound, replaced, ways
from refmlc.oracle.contracts.infer.walk import Walk
from refmlc.oracle.contracts.language import (
    Chain,
    Combination,
    ContractClause,
    Every,
    Item,
    ItemRange,
    Numeral,
    Property,
    Quantity,
    Some,
    ValueOf,
)


class ClauseWriter:
    """Writes the pieces of one function."""

    def __init__(self, walked: Walk, pieces: Pieces) -> None:
        self._walked = walked
        self._pieces = pieces
        self._buffers = {id(data): buffer for buffer, data in walked.data.items()}
        self._floats = frozenset(buffer.name for buffer in walked.data if buffer.dtype.is_float)

    def bounds(self, pieces: Mapping[Piece, Span | None]) -> Iterator[tuple[ContractClause, Span | None]]:
        """The clauses of pieces; a lower and an upper bound of one value stand in one line, the narrowest of each."""
        lows: dict[tuple[ValueOf, tuple[ContractClause, ...]], tuple[Chain, Span | None]] = {}
        highs: dict[tuple[ValueOf, tuple[ContractClause, ...]], list[tuple[Chain, Span | None]]] = {}
        for piece, place in pieces.items():
            if isinstance(piece, Ascending):
                yield Property(ValueOf(self._buffers[id(piece.load.whole)].name), "ascending"), place
                continue
            clause = self._bound(piece)
            unless = tuple(
                part for other in piece.unless if (part := self._equal(other)) is not None and not piece.differs
            )
            match clause:
                case Chain((low, ValueOf() as value), (sign,)) if not isinstance(low, ValueOf) and (
                    sign == "<=" or value.name in self._floats
                ):
                    before = lows.get((value, unless))
                    if before is None or _lower(before[0].operands[0], low):
                        lows[value, unless] = clause, place if before is None else before[1]
                case Chain((ValueOf() as value, _), _) if clause.signs != ("!=",):
                    highs.setdefault((value, unless), []).append((clause, place))
                case None:
                    pass
                case _:
                    yield _unless(clause, unless), place
        yield from self._joined(lows, highs)

    def _joined(
        self,
        lows: Mapping[tuple[ValueOf, tuple[ContractClause, ...]], tuple[Chain, Span | None]],
        highs: Mapping[tuple[ValueOf, tuple[ContractClause, ...]], list[tuple[Chain, Span | None]]],
    ) -> Iterator[tuple[ContractClause, Span | None]]:
        for key in dict.fromkeys((*lows, *highs)):
            upper = _strictest(highs.get(key, []))
            if key not in lows:
                for clause, place in upper:
                    yield _unless(clause, key[1]), place
                continue
            low, low_place = lows[key]
            if not upper:
                yield _unless(low, key[1]), low_place
            for at, (clause, place) in enumerate(upper):
                joined = Chain((low.operands[0], *clause.operands), low.signs + clause.signs) if at == 0 else clause
                yield _unless(joined, key[1]), place

    def _bound(self, piece: Bound) -> Chain | None:
        """`poly` >= 0 with the values on the left of what bounds them."""
        poly = piece.poly
        bare = poly
        for atom, meaning in self._walked.result.extents.items():
            poly = replaced(poly, atom, meaning)
        data = {key: factor for key, factor in poly.terms.items() if key and self._walked.is_data(key[0])}
        rest = Poly({key: factor for key, factor in poly.terms.items() if key not in data})
        related = len(data) > 1
        parts = {key: self._reference(key[0], related=related) for key in data}
        if None in parts.values():
            return None
        of_floats = any(value is not None and value.name in self._floats for value in parts.values())
        if of_floats and (piece.differs or len(data) > 1 or any(abs(factor) != 1 for factor in data.values())):
            return None
        if piece.differs:
            ((key, _),) = data.items()
            value = parts[key]
            return None if value is None else Chain((value, Numeral(0)), ("!=",))
        if len(data) == 1:
            ((key, factor),) = data.items()
            value = parts[key]
            shift = poly.constant - bare.constant
            strict = bare.constant in (factor, -1) and factor < 0 and bool(bare != poly or rest.only is None)
            return None if value is None else self._single(value, factor, rest, rest.constant - shift if strict else 0)
        above = [value for key, value in parts.items() if data[key] > 0 and value is not None]
        below = [value for key, value in parts.items() if data[key] < 0 and value is not None]
        right = self._sum([*above], rest.plus(1) if rest.constant == -1 else rest)
        left = self._sum([*below], Poly({}))
        if right is None or left is None:
            return None
        return Chain((left, right), ("<" if rest.constant == -1 else "<=",))

    def _single(self, value: ValueOf, factor: int, rest: Poly, short: int) -> Chain | None:
        """`factor * value + rest >= 0`. `short`: what the natural form of an index is short of its extent.

        A float stands for itself rounded toward zero: 0 for all between -1 and 1.
        """
        if value.name in self._floats:
            limit = self._quantity((-rest).plus(-1) if factor > 0 else rest.plus(1))
            return None if limit is None else Chain((limit, value) if factor > 0 else (value, limit), ("<",))
        if factor > 0:
            low = self._quantity(-rest)
            if low is None or factor != 1:
                number = rest.only
                return None if number is None else Chain((Numeral(-(number // factor)), value), ("<=",))
            return Chain((low, value), ("<=",))
        limit = self._quantity(rest.plus(-short))
        if limit is None:
            return None
        sign = "<" if short else "<="
        if short == -1 and factor != -1:
            return Chain((Combination("*", value, Numeral(-factor)), limit), (sign,))
        if factor != -1:
            limit = Numeral(limit.value // -factor) if isinstance(limit, Numeral) else _quotient(limit, -factor)
        return Chain((value, limit), (sign,))

    def asserted(self, condition: Poly) -> Iterator[ContractClause]:
        """The clauses of a condition that the program asks for; nothing where it cannot be written."""
        found = ways(condition)
        if len(found) != 1:
            options = [self._facts(facts) for facts in found]
            if options and all(options):
                yield Some(tuple(part[0] if len(part) == 1 else Every(tuple(part)) for part in options))
            return
        yield from self._facts(found[0])

    def _facts(self, facts: list[KnownBound]) -> list[ContractClause]:
        clauses: list[ContractClause] = []
        polys = [fact.poly for fact in facts]
        for fact in facts:
            if -fact.poly in polys and not fact.differs:
                if polys.index(fact.poly) < polys.index(-fact.poly):
                    equal = self._equal(fact.poly)
                    clauses += [equal] if equal is not None else []
                continue
            left = self._quantity(Poly({key: factor for key, factor in fact.poly.terms.items() if factor > 0 and key}))
            right = self._quantity(
                -Poly({key: factor for key, factor in fact.poly.terms.items() if factor < 0 or not key})
            )
            if left is not None and right is not None:
                clauses.append(Chain((left, right), ("!=" if fact.differs else ">=",)))
        return clauses

    def _equal(self, poly: Poly) -> ContractClause | None:
        """`poly` == 0, one value of it on the left."""
        for key, factor in poly.terms.items():
            if key and abs(factor) == 1:
                value = self._quantity(Poly({key: 1}))
                other = self._quantity((poly - Poly({key: factor})).scaled(-factor))
                if value is not None and other is not None:
                    return Chain((value, other), ("==",))
        return None

    def distinct(self, load: Opaque, *, whole: bool) -> ContractClause:
        """That the elements at a load are distinct, or all of its buffer."""
        name = self._buffers[id(load.whole)].name
        reference = self._reference(load, related=False)
        return Property(ValueOf(name) if whole or reference is None else reference, "distinct")

    # --------------------------------------------------------------------------------------- quantities

    def _reference(self, atom: Atom, *, related: bool) -> ValueOf | None:
        """The values of a parameter that an atom stands for. `related`: element by element with others."""
        if isinstance(atom, tir.Var):
            return ValueOf(atom.name)
        if not isinstance(atom, Opaque) or atom.op != "load":
            return None
        name = self._buffers[id(atom.whole)].name
        items: list[Item] = [ItemRange() if index.only is None else index.only for index in atom.args]
        if related and atom in self._pieces.after:
            items[-1] = ItemRange(None, -1)
        elif (related and atom in self._pieces.ends) or (len(items) == 1 and atom in self._pieces.ends):
            items[-1] = ItemRange(1, None) if related else ItemRange()
        elif atom in self._pieces.after:
            items[-1] = ItemRange()
        while items and items[-1] == ItemRange():
            items.pop()
        return ValueOf(name, tuple(items))

    def _sum(self, values: list[ValueOf], rest: Poly) -> Quantity | None:
        total: Quantity | None = None
        for value in values:
            total = value if total is None else Combination("+", total, value)
        if total is None or rest.terms:
            other = self._quantity(rest)
            if other is None:
                return None
            if total is None:
                return other
            if isinstance(other, Numeral) and other.value < 0:
                return Combination("-", total, Numeral(-other.value))
            return Combination("+", total, other)
        return total

    def _quantity(self, poly: Poly) -> Quantity | None:
        """A sum of sizes and values; None where it holds something else."""
        total: Quantity | None = None
        keys = sorted(poly.terms, key=lambda key: (not key, poly.terms[key] < 0))
        for key in keys:
            factor = poly.terms[key]
            term: Quantity | None = None
            for atom in key:
                part = self._atom(atom)
                if part is None:
                    return None
                term = part if term is None else Combination("*", term, part)
            if term is None:
                term = Numeral(abs(factor))
            elif abs(factor) != 1:
                term = Combination("*", term, Numeral(abs(factor)))
            if total is None:
                negative = Numeral(factor) if not key else Combination("-", Numeral(0), term)
                total = term if factor > 0 else negative
            else:
                total = Combination("+" if factor > 0 else "-", total, term)
        return Numeral(0) if total is None else total

    def _atom(self, atom: Atom) -> Quantity | None:
        if isinstance(atom, tir.Var):
            return ValueOf(atom.name) if atom in self._walked.sizes or atom in self._walked.numbers else None
        if atom.op == "load":
            return self._reference(atom, related=False)
        if atom.op in ("floordiv", "floormod", "min", "max"):
            parts = [self._quantity(arg) for arg in atom.args]
            if parts[0] is None or parts[1] is None:
                return None
            return Combination({"floordiv": "//", "floormod": "%"}.get(atom.op, atom.op), parts[0], parts[1])
        return None


def _unless(clause: ContractClause, unless: tuple[ContractClause, ...]) -> ContractClause:
    return Some((*unless, clause)) if unless else clause


def _quotient(limit: Quantity, divisor: int) -> Quantity:
    return Combination("//", limit, Numeral(divisor))


def _lower(before: Quantity, after: Quantity) -> bool:
    """Whether a lower bound is narrower than the one before."""
    match before, after:
        case Numeral(a), Numeral(b):
            return b > a
        case Combination(), Numeral():
            return True
        case _:
            return False


def _strictest(rows: list[tuple[Chain, Span | None]]) -> list[tuple[Chain, Span | None]]:
    """The upper bounds without those that another one of them implies."""
    result: list[tuple[Chain, Span | None]] = []
    for clause, place in rows:
        stricter = [other for other, _ in rows if other != clause and _implies(other, clause)]
        if not stricter and all(other != clause for other, _ in result):
            result.append((clause, place))
    return result


def _implies(first: Chain, second: Chain) -> bool:
    """Whether `p < a` implies `p <= b`."""
    (_, a), (_, b) = first.operands, second.operands
    if isinstance(a, Numeral) and isinstance(b, Numeral):
        return a.value - (first.signs == ("<",)) < b.value - (second.signs == ("<",))
    return a == b and first.signs == ("<",) and second.signs == ("<=",)
