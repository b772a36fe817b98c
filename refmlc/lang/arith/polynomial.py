"""Integer expressions in one canonical form: polynomials over atoms. Equal polynomials are equal numbers.

An atom is a variable, or what no polynomial is: an operation (`Opaque`) such as a rounded-down quotient, a remainder,
a minimum, a maximum, or any other expression as a whole. Which expressions become which polynomial is decided by those
who read them: `extents` here, `native.analysis.values`, `rewrite.schedule.linear`.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import gcd
from typing import NamedTuple, TypeAlias

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.names import INFIX


class Opaque(NamedTuple):
    """The atom `op(args)`: an operator of polynomials; or with an empty `op`, the expression `whole`."""

    op: str
    args: tuple["Poly", ...]
    whole: tir.Expr | None = None


Atom: TypeAlias = tir.Var | Opaque
Monomial: TypeAlias = tuple[Atom, ...]  # a product; () is 1


class Poly:
    """A sum of coefficient * monomial. Immutable; compared by its terms."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        """`terms` holds no coefficient 0, and each monomial in one order of its atoms (`monomial`)."""
        self.terms = terms
        self._hash: int | None = None

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Whether the terms are the same."""
        return isinstance(other, Poly) and (self is other or self.terms == other.terms)

    def __repr__(self) -> str:
        """The sum as one writes it."""
        return show(self)

    @property
    def constant(self) -> int:
        """The term without atoms."""
        return self.terms.get((), 0)

    @property
    def only(self) -> int | None:
        """The number that it is; None: it has atoms."""
        return self.constant if not self.terms or (len(self.terms) == 1 and () in self.terms) else None

    @property
    def atom(self) -> Atom | None:
        """The atom that it is; None: it is more, or less."""
        if len(self.terms) == 1:
            ((monomial, factor),) = self.terms.items()
            if factor == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    def __add__(self, other: "Poly") -> "Poly":
        return combined(self, other, 1)

    def __sub__(self, other: "Poly") -> "Poly":
        return combined(self, other, -1)

    def __neg__(self) -> "Poly":
        return self.scaled(-1)

    def __mul__(self, other: "Poly") -> "Poly":
        for factor, rest in ((self, other), (other, self)):
            number = factor.only
            if number is not None:
                return rest.scaled(number)
        terms: dict[Monomial, int] = {}
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                product = monomial(a + b)
                terms[product] = terms.get(product, 0) + x * y
        return Poly({key: factor for key, factor in terms.items() if factor})

    def scaled(self, factor: int) -> "Poly":
        """This times a number."""
        if factor == 1:
            return self
        return Poly({key: value * factor for key, value in self.terms.items()} if factor else {})

    def plus(self, number: int) -> "Poly":
        """This plus a number."""
        return combined(self, constant(number), 1) if number else self

    def split(self, atom: Atom) -> tuple["Poly", "Poly"]:
        """`(factor, rest)` with this = factor * atom + rest; a power leaves the atom in `factor`."""
        factor: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for key, value in self.terms.items():
            if atom in key:
                at = key.index(atom)
                factor[key[:at] + key[at + 1 :]] = value
            else:
                rest[key] = value
        return Poly(factor), Poly(rest)

    def form(self) -> tuple["Poly", int]:
        """`(form, factor)`: the atoms' part divided by the greatest common divisor of its coefficients, and that."""
        factor = gcd(*(value for key, value in self.terms.items() if key)) or 1
        return Poly({key: value // factor for key, value in self.terms.items() if key}), factor


def combined(a: Poly, b: Poly, factor: int) -> Poly:
    """A + factor * b, for a factor that is not 0."""
    terms = dict(a.terms)
    for key, value in b.terms.items():
        total = terms.get(key, 0) + factor * value
        if total:
            terms[key] = total
        else:
            terms.pop(key, None)
    return Poly(terms)


def constant(number: int) -> Poly:
    """A number as a polynomial."""
    return Poly({(): number} if number else {})


def single(atom: Atom) -> Poly:
    """An atom as a polynomial."""
    return Poly({(atom,): 1})


def monomial(atoms: Iterable[Atom]) -> Monomial:
    """The product of atoms in one order. Which one does not matter: it is never shown or counted on."""
    return tuple(sorted(atoms, key=hash))


def atoms(poly: Poly) -> Iterator[Atom]:
    """The atoms of `poly`, some more than once; not those inside them."""
    for key in poly.terms:
        yield from key


def variables(poly: Poly) -> Iterator[tir.Var]:
    """The variables in `poly`, those inside its atoms too; some more than once."""
    for atom in atoms(poly):
        if isinstance(atom, tir.Var):
            yield atom
        else:
            for arg in atom.args:
                yield from variables(arg)
            if atom.whole is not None:
                yield from (node for node in walk(atom.whole) if isinstance(node, tir.Var))


def show(poly: Poly) -> str:
    """`i * 4 + j - 1`: terms in the order in which they came in, the number last."""
    parts = [("-" if value < 0 else "+", _term(key, abs(value))) for key, value in poly.terms.items() if key]
    if poly.constant or not parts:
        parts.append(("-" if poly.constant < 0 else "+", str(abs(poly.constant))))
    first, *rest = parts
    return ("-" if first[0] == "-" else "") + first[1] + "".join(f" {sign} {text}" for sign, text in rest)


def _term(key: Monomial, factor: int) -> str:
    names = sorted(_atom(atom) for atom in key)
    return " * ".join([*names, *([str(factor)] if factor != 1 else [])])


def _atom(atom: Atom) -> str:
    if isinstance(atom, tir.Var):
        return atom.name
    if atom.whole is not None:
        return repr(atom.whole)
    texts = [show(arg) for arg in atom.args]
    if atom.op in INFIX:
        texts = [text if " " not in text else f"({text})" for text in texts]
        return f"({texts[0]} {INFIX[atom.op].symbol} {texts[1]})"
    return f"{atom.op}({', '.join(texts)})"
