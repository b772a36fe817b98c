"""What a residue asks of values, in its natural form: the widest that an index, an end or a length has.

| residue, as `poly` >= 0                | contract                      | never                                |
|----------------------------------------|-------------------------------|--------------------------------------|
| `n - 1 - p`, also `n - 2 - p`          | `p < n`                       | `p < n - 1`: `p + 1` is no index     |
| `n - p`                                | `p <= n`                      |                                      |
| `p`, also `p - 1` and `p + 1`          | `0 <= p`                      | `1 <= p`                             |
| `p + n`                                | `-n <= p`                     |                                      |
| `n - 1 - p // k`                       | `p < n * k`                   |                                      |
| of `p[i]` and `p[i + 1]`, ends of segments | `p: ascending`, `p <= n`  | `p < n`: the last end is n           |
| the rest of the sum, without these     | the same rules                |                                      |
| `a - b` of two values or rows          | `b <= a`                      | `b < a`                              |

Decision: a contract is the natural form, also where it is not enough. Then a call at the ends of the range is
undefined, and that is a finding: a contract excuses no access. Sizes are never asked for anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refmlc.lang.arith.polynomial import Atom, Opaque, Poly, constant, single
from refmlc.oracle.contracts.infer.symbols import KnownBound, replaced
from refmlc.oracle.contracts.infer.walk import Walk


@dataclass(frozen=True)
class Bound:
    """`poly` >= 0 in its natural form; with `differs`: it is not 0. `unless`: values that are free of it."""

    poly: Poly
    unless: tuple[Poly, ...] = ()
    differs: bool = False


@dataclass(frozen=True)
class Ascending:
    """The elements of the buffer of a load ascend along its last axis."""

    load: Opaque


Piece = Bound | Ascending


class Pieces:
    """Takes residues apart."""

    def __init__(self, walked: Walk) -> None:
        self._walked = walked
        self._extents = walked.result.extents
        self.after = _successors([*walked.result.loaded])
        self.ends = frozenset(self.after.values())

    def of(self, residue: Poly, facts: Sequence[KnownBound]) -> tuple[tuple[int, int], tuple[Piece, ...]] | None:
        """The contracts that a residue asks for, and how far they are from it; None: it has no natural form.

        Of two that are as far, the one that leaves more values is the nearer.
        """
        found = self._of(residue, facts)
        if found is not None:
            return found
        of_sizes = residue
        for atom, meaning in self._extents.items():
            of_sizes = of_sizes if meaning.only is not None else replaced(of_sizes, atom, meaning)
        return None if of_sizes == residue else self._of(of_sizes, facts)

    def _of(self, residue: Poly, facts: Sequence[KnownBound]) -> tuple[tuple[int, int], tuple[Piece, ...]] | None:
        pieces: list[Piece] = []
        rest = self._without_segments(self._primitive(_without_quotient(residue)), facts, pieces)
        rest = self._without_ends(rest, pieces)
        distance = 0
        if any(map(self._walked.is_data, _top(rest))) or any(isinstance(atom, Opaque) for atom in _top(rest)):
            for part in _addends(rest):
                found = self._natural(part, facts)
                if found is None:
                    return None
                distance += found[0]
                pieces.append(found[1])
        elif rest.only is not None and rest.only < 0:
            distance = 4
        elif not self.holds(rest):
            distance = 3
        room = sum(piece.poly.constant for piece in pieces if isinstance(piece, Bound))
        return (distance + len(pieces), -room), tuple(pieces)

    def holds(self, poly: Poly) -> bool:
        """Whether `poly` >= 0 for all sizes."""
        for atom, meaning in self._extents.items():
            poly = replaced(poly, atom, meaning)
        sizes = self._walked.sizes
        return all(factor >= 0 and all(atom in sizes for atom in key) for key, factor in poly.terms.items())

    def _primitive(self, poly: Poly) -> Poly:
        """The inequality divided by the sizes and the number that all its terms share."""
        form, factor = poly.form()
        if factor > 1:
            poly = form + constant(poly.constant // factor)
        while poly.terms and () not in poly.terms:
            shared = set.intersection(*(set(key) for key in poly.terms)) & self._walked.sizes
            if not shared:
                break
            poly = poly.split(next(iter(shared)))[0]
        return poly

    def _without_segments(self, poly: Poly, facts: Sequence[KnownBound], pieces: list[Piece]) -> Poly:
        """The rest without multiples of `p[i + 1] - p[i]`, which is at least 0, or 1 where they differ."""
        for first, last in self.after.items():
            high, low = poly.terms.get((last,), 0), poly.terms.get((first,), 0)
            factor = min(high, -low)
            if factor <= 0:
                continue
            difference = single(last) - single(first)
            least = 1 if any(fact.differs and fact.poly in (difference, -difference) for fact in facts) else 0
            pieces.append(Ascending(first))
            poly = poly - difference.plus(-least).scaled(factor)
        return poly

    def _without_ends(self, poly: Poly, pieces: list[Piece]) -> Poly:
        """The rest without `n - p[i + 1]`, where p holds the ends of segments of an axis of n."""
        for key, factor in list(poly.terms.items()):
            if len(key) != 1 or key[0] not in self.ends or factor >= 0:
                continue
            extent = next((atom for atom in self._extents if poly.terms.get((atom,), 0) == -factor), None)
            if extent is not None:
                pieces.append(Bound(single(extent) - single(key[0])))
                poly = poly - (single(extent) - single(key[0])).scaled(-factor)
        return poly

    def _natural(self, poly: Poly, facts: Sequence[KnownBound]) -> tuple[int, Bound] | None:
        """The bound in its natural form."""
        poly = _without_quotient(poly)
        data = {key: factor for key, factor in poly.terms.items() if any(map(self._is_value, key))}
        if any(len(key) != 1 for key in data) or any(
            isinstance(key[0], Opaque) and key[0].op != "load" for key in data
        ):
            return None
        if not data or (len(data) > 1 and any(abs(factor) != 1 for factor in data.values())):
            return None
        sizes = {key: factor for key, factor in poly.terms.items() if key and key not in data}
        if any(isinstance(atom, Opaque) and atom.op not in ("floordiv", "min", "max") for key in sizes for atom in key):
            return None
        least = self._least(data, sizes)
        if least is None:
            return None
        number = max(poly.constant, least)
        if number > 0 and not sizes and all(factor > 0 for factor in data.values()):
            number = 0
        natural = Poly({**data, **sizes, **({(): number} if number else {})})
        distance = (0 if number == poly.constant else 5) + len(data) + (2 if len(data) > 1 else 0)
        unless = tuple(
            fact.poly
            for fact in facts
            if fact.differs and len(data) == 1 and set(_top(fact.poly)) == {next(iter(data))[0]}
        )
        return distance, Bound(natural, tuple(dict.fromkeys(unless)))

    def _least(self, data: Mapping[tuple[Atom, ...], int], sizes: Mapping[tuple[Atom, ...], int]) -> int | None:
        """The least number that a natural form has beside its values and sizes; None: it has no natural form."""
        if any(factor < 0 for factor in sizes.values()):
            return None
        if len(data) > 1:
            return -1 if sizes and all(factor < 0 for factor in data.values()) else 0
        ((key, factor),) = data.items()
        if factor > 0 or not sizes:
            return 0
        return 0 if key[0] in self.ends else factor

    def _is_value(self, atom: Atom) -> bool:
        return self._walked.is_data(atom) or (
            isinstance(atom, Opaque) and any(self._walked.is_data(part) for arg in atom.args for part in _top(arg))
        )


def _addends(poly: Poly) -> list[Poly]:
    """The values whose sum is to be at least 0, each by itself if each is; else the sum."""
    single_values = all(
        len(key) == 1 and factor > 0 and isinstance(key[0], Opaque) for key, factor in poly.terms.items()
    )
    if single_values and len(poly.terms) > 1:
        return [Poly({key: 1}) for key in poly.terms]
    return [poly]


def _without_quotient(poly: Poly) -> Poly:
    """The same inequality where its one quotient is multiplied out: `n - 1 - p // k` is `n * k - 1 - p`."""
    quotients = [
        (key[0], factor)
        for key, factor in poly.terms.items()
        if len(key) == 1 and isinstance(key[0], Opaque) and key[0].op == "floordiv"
    ]
    if len(quotients) != 1 or abs(quotients[0][1]) != 1:
        return poly
    (atom, factor) = quotients[0]
    dividend, divisor = atom.args
    rest = poly - single(atom).scaled(factor)
    if factor > 0:
        return rest * divisor + dividend
    return rest * divisor + divisor.plus(-1) - dividend


def _top(poly: Poly) -> list[Atom]:
    return [atom for key in poly.terms for atom in key]


def _successors(loads: Sequence[Opaque]) -> dict[Opaque, Opaque]:
    """The load `p[i + 1]` of each `p[i]` that is loaded too; at numbers only where `p` has such a pair elsewhere."""
    result: dict[Opaque, Opaque] = {}
    at_numbers: dict[Opaque, Opaque] = {}
    for first in loads:
        for last in loads:
            if first.whole is not last.whole or first == last:
                continue
            steps = [(b - a).only for a, b in zip(first.args, last.args, strict=True)]
            if steps[-1] == 1 and not any(steps[:-1]) and None not in steps:
                (result if first.args[-1].only is None else at_numbers)[first] = last
    pairs = {first.whole for first in result}
    return {**result, **{first: last for first, last in at_numbers.items() if first.whole in pairs}}
