"""What remains of `poly` >= 0 once loop variables and operators are replaced by their bounds: values and sizes only.

| atom with a positive factor           | replaced by                                                            |
|---------------------------------------|------------------------------------------------------------------------|
| a loop variable, what is unknown      | a lower bound that a fact gives                                        |
| a quotient                            | the quotient of a lower bound of the dividend                          |
| a remainder                           | 0                                                                      |
| `max(a, b)`                           | either; `min(a, b)`: a case for each                                   |

With a negative factor, upper bounds in the same way. Each choice of facts leaves another residue, and any one of
them that holds makes the access right.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import gcd

from refmlc.lang.arith.polynomial import Atom, Opaque, Poly, constant, single
from refmlc.oracle.contracts.infer.symbols import (
    CONDITIONS,
    KnownBound,
    all_atoms,
    depends,
    floordiv,
    replaced,
    ways,
)

MOST_RESIDUES = 24
MOST_CASES = 24
MOST_STEPS = 1500
DEEPEST = 14

Case = tuple[Poly, tuple[KnownBound, ...]]


def cases(poly: Poly, facts: Sequence[KnownBound]) -> list[Case]:
    """The obligation under each outcome of the choices in it and in its facts; cases that cannot be are left out."""
    open_cases: list[Case] = [(poly, _relevant(poly, facts))]
    done: list[Case] = []
    while open_cases and len(open_cases) + len(done) < MOST_CASES:
        here, known = open_cases.pop()
        choice = _choice(here, known)
        if choice is None:
            done.append((here, known))
            continue
        for value, more in _outcomes(choice):
            changed = tuple(KnownBound(replaced(fact.poly, choice, value), fact.differs) for fact in known)
            narrowed = replaced(here, choice, value), _relevant(here, (*changed, *more))
            if not contradictory(narrowed[1]):
                open_cases.append((narrowed[0], (*changed, *more)))
    return [*done, *open_cases]


def _relevant(poly: Poly, facts: Sequence[KnownBound]) -> tuple[KnownBound, ...]:
    """The facts that share an atom with `poly`, or with a fact that does; in their order."""
    atoms = set(all_atoms(poly))
    inside = [set(all_atoms(fact.poly)) for fact in facts]
    chosen = [False] * len(facts)
    grown = True
    while grown:
        grown = False
        for at, own in enumerate(inside):
            if not chosen[at] and atoms & own:
                chosen[at] = grown = True
                atoms |= own
    return tuple(fact for fact, is_chosen in zip(facts, chosen, strict=True) if is_chosen)


def _choice(poly: Poly, facts: Sequence[KnownBound]) -> Opaque | None:
    """A choice in the obligation or in what is known of it."""
    for each in (poly, *(fact.poly for fact in facts)):
        for atom in all_atoms(each):
            if isinstance(atom, Opaque) and atom.op == "select":
                return atom
    return _extreme(poly, least="min") or next(filter(None, (_extreme(fact.poly, least="max") for fact in facts)), None)


def _extreme(poly: Poly, *, least: str) -> Opaque | None:
    """A `min` or `max` that both operands bound: `least` where it is added, the other where it is subtracted."""
    for key, factor in poly.terms.items():
        for atom in key:
            if isinstance(atom, Opaque) and atom.op in ("min", "max") and (atom.op == least) == (factor > 0):
                return atom
    return None


def _outcomes(choice: Opaque) -> Iterator[tuple[Poly, list[KnownBound]]]:
    """What a choice may be, with what is known then."""
    if choice.op == "select":
        condition, yes, no = choice.args
        for value, true in ((yes, True), (no, False)):
            for facts in ways(condition, true=true):
                yield value, facts
        return
    a, b = choice.args
    sign = 1 if choice.op == "min" else -1
    yield a, [KnownBound((b - a).scaled(sign))]
    yield b, [KnownBound((a - b).scaled(sign))]


def contradictory(facts: Sequence[KnownBound]) -> bool:
    """Whether two facts exclude each other."""
    bounds = [fact.poly for fact in facts if not fact.differs]
    for at, first in enumerate(bounds):
        if first.only is not None and first.only < 0:
            return True
        for second in bounds[at + 1 :]:
            total = (first + second).only
            if total is not None and total < 0:
                return True
            if total == 0 and any(fact.differs and fact.poly in (first, -first, second, -second) for fact in facts):
                return True
    return False


def residues(poly: Poly, facts: Sequence[KnownBound], final: Callable[[Atom], bool]) -> list[Poly]:
    """Residues of `poly` >= 0, each of `final` atoms only, in the order of the facts, the nearest first."""
    search = _Search(facts, final)
    return list(islice(dict.fromkeys(bound for bound, _ in search.below(poly, frozenset(), 0)), MOST_RESIDUES))


class _Search:
    def __init__(self, facts: Sequence[KnownBound], final: Callable[[Atom], bool]) -> None:
        self._bounds = [fact.poly for fact in reversed(facts) if not fact.differs]
        self._final = final
        self._steps = 0

    def is_final(self, atom: Atom) -> bool:
        """Whether an atom may stand in a residue: with all that is in it, if it is an operator."""
        if self._final(atom):
            return True
        if not isinstance(atom, Opaque) or atom.op in CONDITIONS or not atom.args or atom.op in ("floormod", "select"):
            return False
        return atom.op == "floordiv" and all(
            self.is_final(part) for arg in atom.args for key in arg.terms for part in key
        )

    def below(self, poly: Poly, used: frozenset[int], depth: int) -> Iterator[tuple[Poly, int]]:
        """Pairs of a lower bound in final atoms and the positive number that `poly` is multiplied by for it."""
        self._steps += 1
        if depth > DEEPEST or self._steps > MOST_STEPS:
            return
        still_open = [atom for key in poly.terms for atom in key if not self.is_final(atom)]
        quotients = (atom for atom in still_open if isinstance(atom, Opaque) and atom.op == "floordiv")
        atom = next(quotients, still_open[0] if still_open else None)
        if atom is None:
            yield poly, 1
            for value in dict.fromkeys(atom for key in poly.terms for atom in key if len(key) == 1):
                yield from self._by_facts(poly, value, used, depth)
            return
        if isinstance(atom, Opaque):
            yield from self._by_operator(poly, atom, used, depth)
        yield from self._by_facts(poly, atom, used, depth)

    def _by_facts(self, poly: Poly, atom: Atom, used: frozenset[int], depth: int) -> Iterator[tuple[Poly, int]]:
        factor, rest = poly.split(atom)
        sign = _sign(factor)
        if sign == 0 or depends(rest, atom) or depends(factor, atom):
            return
        for number, bound in enumerate(self._bounds):
            own, other = bound.split(atom)
            step = own.only or 0
            if number in used or step * sign <= 0 or depends(other, atom):
                continue
            # step * atom + other >= 0, step of the sign of factor: |step| * factor * atom >= -|factor| * other
            shared = gcd(step, factor.only or step)
            times = factor.scaled(sign) if factor.only is None else constant(abs(factor.only) // shared)
            scale = abs(step) if factor.only is None else abs(step) // shared
            for result, more in self.below(rest.scaled(scale) - times * other, used | {number}, depth + 1):
                yield result, more * scale

    def _by_operator(self, poly: Poly, atom: Opaque, used: frozenset[int], depth: int) -> Iterator[tuple[Poly, int]]:
        factor, rest = poly.split(atom)
        sign = _sign(factor)
        if sign == 0 or depends(rest, atom):
            return
        match atom.op:
            case "floormod":
                end = constant(0) if sign > 0 else atom.args[1].plus(-1)
                yield from self.below(rest + factor * end, used, depth + 1)
            case "floordiv":
                dividend, divisor = atom.args
                if abs(factor.only or 0) == 1:
                    moved = self._open_part(rest)
                    rest, dividend = rest - moved, dividend + divisor * moved.scaled(sign)
                for bound, scale in self.below(dividend.scaled(sign), used, depth + 1):
                    by = floordiv(bound.scaled(sign), divisor.scaled(scale))
                    if by != single(atom):
                        yield from self.below(rest + factor * by, used, depth + 1)
            case "min" | "max" if (atom.op == "max") == (sign > 0):
                for arg in atom.args:
                    yield from self.below(rest + factor * arg, used, depth + 1)

    def _open_part(self, poly: Poly) -> Poly:
        """The terms that hold an atom which is to be replaced."""
        return Poly({key: value for key, value in poly.terms.items() if not all(map(self.is_final, key))})


def _sign(factor: Poly) -> int:
    """1 or -1 for a factor whose terms all have this sign, sizes being at least 0; else 0."""
    signs = {value > 0 for value in factor.terms.values()}
    if len(signs) != 1:
        return 0
    return 1 if True in signs else -1
