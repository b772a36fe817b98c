"""Terms: what an element *is*, as an expression over the arguments. Equal terms are one object.

A term names an operator, the dtype of its result, and its operands, which are terms or numbers. The constructor brings
it into a canonical form with the laws that the operators' rows declare for all values of a dtype, so the form keeps
every bit:

| law of the row                        | canonical form                                         |
|---------------------------------------|--------------------------------------------------------|
| `commutative`, `commutative-int`      | operands in the order in which they were first made    |
| and `associative`, `associative-int`  | one operator on all operands; not on wide integers,    |
|                                       | whose partial results may overflow                     |
| `idempotent`                          | `f(a, a)` is `a`                                       |
| `one-is-neutral`, `one-divides`       | `f(a, 1)` is `a`                                       |
| `zero-is-neutral-int`                 | `f(a, 0)` is `a`                                       |
| `self-cancels-int`                    | `f(a, a)` is 0                                         |
| `zero-absorbs-int`                    | `f(a, 0)` is 0                                         |
| `two-doubles-int`                     | `f(a, 2)` is `a + a`                                   |
| `mirrors-lt`, `mirrors-le`            | `a > b` is `b < a`, `a >= b` is `b <= a`               |

Sums of floats are not reordered, float `max` and `min` do not commute: no row says so. A selection inside a selection
by the same condition is the side that it can be.

A term has no number. Whatever asks it for one (a condition, an index, the extent of a loop) ends the proof by
`Undecided`.
"""

from collections.abc import Iterator, Sequence
from typing import NoReturn, TypeAlias

from refmlc.diag.source import Span
from refmlc.lang.dtypes import BOOL, DType
from refmlc.lang.ops.contract import Contract
from refmlc.lang.ops.scalar import SCALAR_OPS

SELECT, LEAF, CAST, READ, ELEMENTS, FMA = "select", "leaf", "cast", "read", "elements", "fma"
"""The operators of terms that are no rows. `leaf`: an element of an argument."""


WIDE = 32  # bits from which on an overflow of integers is undefined (RM306)
MOST_OPERANDS = 64  # of one operator, after which it nests
MIRRORS = {"mirrors-lt": "lt", "mirrors-le": "le"}
"""The operator that a law gives for swapped operands."""


class Undecided(Exception):
    """The end of a proof: why, and where in the source."""

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class Unfinished(Undecided):
    """A limit ends the proof."""


def _needed(*_others: object) -> NoReturn:
    raise Undecided("control, an index or a size depends on the values of an argument")


class SymbolicTerm:
    """An operator on operands. `detail` belongs to the operator: dtypes of operands, the name of an argument."""

    __slots__ = ("args", "detail", "dtype", "number", "op")

    def __init__(self, number: int, op: str, dtype: DType, detail: object, args: "tuple[TermValue, ...]") -> None:
        self.number = number
        self.op = op
        self.dtype = dtype
        self.detail = detail
        self.args = args

    def __eq__(self, other: object) -> bool:
        """True for the same term; two other values cannot be compared. Fails: Undecided."""
        return self is other or bool(_needed())

    def __hash__(self) -> int:
        return self.number

    __bool__ = __int__ = __float__ = __index__ = _needed
    __lt__ = __le__ = __gt__ = __ge__ = _needed
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __abs__ = _needed
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __truediv__ = __rtruediv__ = _needed

    def __repr__(self) -> str:
        return f"<SymbolicTerm {text(self)}>"


TermValue: TypeAlias = SymbolicTerm | int | float | bool
"""The value of an element: a term, or a number."""


def key_of(value: TermValue) -> object:
    """What tells two values apart: 1 and 1.0 and True are three, 0.0 and -0.0 two, all NaN one (NUM-006)."""
    match value:
        case SymbolicTerm():
            return value.number
        case float():
            return "nan" if value != value else value.hex()  # noqa: PLR0124 - the test for NaN
        case bool():
            return "true" if value else "false"
        case _:
            return f"i{value}"


def is_same(a: TermValue, b: TermValue) -> bool:
    """Whether two values are equal in bits for all arguments, as far as the canonical form tells."""
    return a is b or key_of(a) == key_of(b)


class Terms:
    """Makes terms: one object for equal ones. `laws` off: no law is used, for tests of the laws."""

    def __init__(self, *, laws: bool = True) -> None:
        self._terms: dict[object, SymbolicTerm] = {}
        self._laws = laws

    def __len__(self) -> int:
        return len(self._terms)

    def term(self, op: str, dtype: DType, detail: object, args: Sequence[TermValue]) -> SymbolicTerm:
        """The term as it is, no law used."""
        operands = tuple(args)
        key = (op, dtype, detail, tuple([key_of(arg) for arg in operands]))
        term = self._terms.get(key)
        if term is None:
            term = self._terms[key] = SymbolicTerm(len(self._terms), op, dtype, detail, operands)
        return term

    def apply(self, op: str, operands: tuple[DType, ...], dtype: DType, args: Sequence[TermValue]) -> TermValue:
        """The operator `op`, a row, on operands of these dtypes; at least one of them is a term."""
        row = SCALAR_OPS[op].contract
        values = list(args)
        if op == "likely":  # a hint: its value is its operand
            return values[0]
        if self._laws:
            simpler = _simplified(row, operands[0], values)
            if simpler is not None:
                return simpler
            mirror = next((MIRRORS[law] for law in row.laws if law in MIRRORS), None)
            if mirror is not None:
                return self.apply(mirror, operands[::-1], dtype, values[::-1])
            doubled = _doubled(row, operands[0], values)
            if doubled is not None:
                return self.apply("add", operands, dtype, (doubled, doubled))
            if len(values) == 2 and commutes(row, operands[0]):
                values = _flattened(row, operands[0], values)
        return values[0] if len(values) == 1 < row.arity else self.term(op, dtype, operands, values)

    def select(self, condition: TermValue, yes: TermValue, no: TermValue, dtype: DType) -> TermValue:
        """`yes` where the condition holds, else `no`."""
        if not isinstance(condition, SymbolicTerm):
            return yes if condition else no
        if is_same(yes, no):
            return yes
        if condition.op == "not":
            return self.select(condition.args[0], no, yes, dtype)
        if isinstance(yes, SymbolicTerm) and yes.op == SELECT and yes.args[0] is condition:
            return self.select(condition, yes.args[1], no, dtype)
        if isinstance(no, SymbolicTerm) and no.op == SELECT and no.args[0] is condition:
            return self.select(condition, yes, no.args[2], dtype)
        if dtype == BOOL and yes is True and no is False:
            return condition
        return self.term(SELECT, dtype, None, (condition, yes, no))


def commutes(row: Contract, operand: DType) -> bool:
    """Whether operands of a dtype may be swapped, to the bit."""
    return "commutative" in row.laws or ("commutative-int" in row.laws and operand.is_integer)


def _associates(row: Contract, operand: DType) -> bool:
    """Whether the order of several operands does not matter, and no partial result can be undefined."""
    if "associative" in row.laws:
        return True
    return "associative-int" in row.laws and operand.is_integer and (not row.undefined or operand.bits < WIDE)


def _flattened(row: Contract, operand: DType, args: list[TermValue]) -> list[TermValue]:
    """The operands of a commutative operator in order; of an associative one those of its operands too."""
    if _associates(row, operand):
        parts: list[TermValue] = []
        for arg in args:
            parts.extend(
                arg.args if isinstance(arg, SymbolicTerm) and arg.op == row.name and arg.dtype == operand else (arg,)
            )
        if len(parts) <= MOST_OPERANDS:
            args = list({key_of(part): part for part in parts}.values()) if "idempotent" in row.laws else parts
    return sorted(args, key=_order)


def _order(value: TermValue) -> tuple[int, object]:
    return (0, value.number) if isinstance(value, SymbolicTerm) else (1, key_of(value))


def _simplified(row: Contract, operand: DType, args: list[TermValue]) -> TermValue | None:
    """The value that a law gives for these operands; None: no law applies."""
    match args:
        case (a, b) if is_same(a, b) and "idempotent" in row.laws:
            return a
        case (a, b) if is_same(a, b) and "self-cancels-int" in row.laws and operand.is_integer:
            return 0
        case (a, b):
            pairs = [(a, b), (b, a)] if commutes(row, operand) else [(a, b)]
            for value, other in pairs:
                if _is_neutral(row, operand, other):
                    return value
                if "zero-absorbs-int" in row.laws and operand.is_integer and _is_number(other, 0):
                    return 0
    return None


def _doubled(row: Contract, operand: DType, args: list[TermValue]) -> TermValue | None:
    """The value that is multiplied by 2; None: nothing is."""
    if "two-doubles-int" not in row.laws or not operand.is_integer:
        return None
    return next((args[1 - at] for at, arg in enumerate(args) if _is_number(arg, 2)), None)


def _is_number(value: TermValue, number: int) -> bool:
    return not isinstance(value, SymbolicTerm) and value == number


def _is_neutral(row: Contract, operand: DType, other: TermValue) -> bool:
    if isinstance(other, SymbolicTerm):
        return False
    if ("one-is-neutral" in row.laws or "one-divides" in row.laws) and other == 1:
        return True
    return "zero-is-neutral-int" in row.laws and operand.is_integer and other == 0


def subterms(value: TermValue) -> Iterator[SymbolicTerm]:
    """Every term in `value`, operands before what they are operands of, each once."""
    visited: set[int] = set()
    stack: list[tuple[TermValue, bool]] = [(value, False)]
    while stack:
        node, is_ready = stack.pop()
        if not isinstance(node, SymbolicTerm) or (node.number in visited and not is_ready):
            continue
        if is_ready:
            yield node
            continue
        visited.add(node.number)
        stack.append((node, True))
        stack.extend((arg, False) for arg in reversed(node.args))


INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}
MOST_TEXT = 160


def text(value: TermValue, depth: int = 6) -> str:
    """The value in the notation of programs; `…` for what is deeper than `depth`."""
    if not isinstance(value, SymbolicTerm):
        return repr(value)
    if value.op == LEAF:
        name, place = value.detail if isinstance(value.detail, tuple) else (value.detail, ())
        return f"{name}[{', '.join(map(str, place))}]"
    if depth == 0:
        return "…"
    if value.op == ELEMENTS:
        first = next((arg for arg in value.args if isinstance(arg, SymbolicTerm) and arg.op == LEAF), None)
        return "elements" if first is None else f"elements({text(first)}, …)"
    parts = [text(arg, depth - 1) for arg in value.args]
    if value.op in INFIX:
        return f"({f' {INFIX[value.op]} '.join(parts)})"
    name = str(value.dtype) if value.op == CAST else value.op
    return f"{name}({', '.join(parts)})"


def operator_text(value: TermValue) -> str:
    """The operator of a term; a value without operands in whole."""
    if not isinstance(value, SymbolicTerm) or value.op in {LEAF, ELEMENTS}:
        return text(value)
    return str(value.dtype) if value.op == CAST else INFIX.get(value.op, value.op)


def clipped(value: TermValue) -> str:
    """The value in one line of a report."""
    line = text(value)
    return line if len(line) <= MOST_TEXT else f"{line[: MOST_TEXT - 2]} …"


def first_difference(a: TermValue, b: TermValue) -> tuple[TermValue, TermValue]:
    """The smallest parts of two different values that differ at the same place."""
    while isinstance(a, SymbolicTerm) and isinstance(b, SymbolicTerm) and is_alike(a, b):
        differing = [(x, y) for x, y in operand_pairs(a, b) if not is_same(x, y)]
        if len(differing) != 1:
            break
        a, b = differing[0]
    return a, b


def operand_pairs(a: SymbolicTerm, b: SymbolicTerm) -> list[tuple[TermValue, TermValue]]:
    """The operands of two terms of one operator, side by side; equal ones meet where operands may change places."""
    row = SCALAR_OPS.get(a.op)
    operands = a.detail if isinstance(a.detail, tuple) else ()
    if row is None or not operands or not commutes(row.contract, operands[0]):
        return list(zip(a.args, b.args, strict=True))
    others = list(b.args)
    partners: dict[int, TermValue] = {}
    for number, value in enumerate(a.args):
        at = next((at for at, other in enumerate(others) if is_same(value, other)), None)
        if at is not None:
            partners[number] = others.pop(at)
    rest = iter(others)
    return [(value, partners[number] if number in partners else next(rest)) for number, value in enumerate(a.args)]


def is_alike(a: SymbolicTerm, b: SymbolicTerm) -> bool:
    """Whether two terms are the same operator, on whatever operands."""
    return a.op == b.op and a.dtype == b.dtype and a.detail == b.detail and len(a.args) == len(b.args)
