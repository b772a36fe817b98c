"""The language of contracts: what the values of arguments must satisfy, in one line.

| line                                     | means                                                              |
|------------------------------------------|--------------------------------------------------------------------|
| `0 <= page_indices < max_pages`          | every element, as NumPy compares and broadcasts                    |
| `indptr: ascending, indptr[0] == 0`      | a property of a subject, and a comparison; a comma says both        |
| `pages: distinct`                        | no two elements are equal                                          |
| `samples in [0, 1)`                      | an interval, its ends closed or open                               |
| `map == -1 or 0 <= map < n * 16`         | element by element, one of the two                                 |
| `info[2] <= info[1]`, `indptr[:-1] < n`  | elements picked as NumPy picks them, by numbers and slices         |
| `n % 16 == 0`                            | a relation of sizes, which only a written contract may have        |

    line       = [subject ":"] clause {"," clause}
    clause     = part {"or" part}             part = piece {"and" piece}
    piece      = property                     of the subject
               | sum "in" ("[" | "(") sum "," sum ("]" | ")")
               | sum sign sum {sign sum}      sign = "<" | "<=" | ">" | ">=" | "==" | "!="
    property   = "ascending" | "strictly ascending" | "distinct" | "finite"
    sum        = product {("+" | "-") product}
    product    = factor {("*" | "//" | "%") factor}
    factor     = number | value | "-" factor | ("min" | "max") "(" sum "," sum ")" | "(" sum ")"
    value      = name ["[" item {"," item} "]"]
    item       = integer | [integer] ":" [integer]

The grammar is closed: a text is matched, never evaluated. A line is printed as it was parsed, up to spaces and brackets
that say nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

SIGNS = ("<=", ">=", "==", "!=", "<", ">")
PROPERTIES = ("ascending", "strictly ascending", "distinct", "finite")
LEVELS = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2}


@dataclass(frozen=True)
class Numeral:
    """A number."""

    value: int | float


@dataclass(frozen=True)
class ItemRange:
    """The items from `start` (None: the first) to before `stop` (None: the end)."""

    start: int | None = None
    stop: int | None = None


Item: TypeAlias = int | ItemRange


@dataclass(frozen=True)
class ValueOf:
    """The value of a parameter or size, or the elements that `items` pick."""

    name: str
    items: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Combination:
    """An operator (`+ - * // %`, `min`, `max`) and its two operands."""

    op: str
    left: "Quantity"
    right: "Quantity"


Quantity: TypeAlias = Numeral | ValueOf | Combination


@dataclass(frozen=True)
class Chain:
    """`operands[0] signs[0] operands[1] signs[1] …`: each pair, as Python reads it."""

    operands: tuple[Quantity, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True)
class Within:
    """An interval with closed or open ends."""

    quantity: Quantity
    low: Quantity
    high: Quantity
    closed: tuple[bool, bool]


@dataclass(frozen=True)
class Property:
    """A property of the elements of a subject. Order: along the last axis."""

    subject: ValueOf
    word: str


@dataclass(frozen=True)
class Every:
    """All parts, element by element."""

    parts: tuple["ContractClause", ...]


@dataclass(frozen=True)
class Some:
    """One of the options, element by element."""

    options: tuple["ContractClause", ...]


ContractClause: TypeAlias = Chain | Within | Property | Every | Some


def references(node: "ContractClause | Quantity") -> Iterator[ValueOf]:
    """Each value that a clause or quantity names, in order, some more than once."""
    match node:
        case ValueOf():
            yield node
        case Combination(_, left, right):
            yield from references(left)
            yield from references(right)
        case Chain(operands):
            for operand in operands:
                yield from references(operand)
        case Within(quantity, low, high):
            for quantity_part in (quantity, low, high):
                yield from references(quantity_part)
        case Property(subject):
            yield subject
        case Every(parts) | Some(parts):
            for part in parts:
                yield from references(part)
        case _:
            return


# ------------------------------------------------------------------------------------------------- as text


def line_text(clauses: tuple[ContractClause, ...]) -> str:
    """The line of some clauses, which `parse` reads back as the same clauses."""
    subject = next((part.subject for clause in clauses for part in _pieces(clause) if isinstance(part, Property)), None)
    head = "" if subject is None else f"{quantity_text(subject)}: "
    return head + ", ".join(clause_text(clause) for clause in clauses)


def _pieces(clause: ContractClause) -> Iterator[ContractClause]:
    """The clause, and those that it joins."""
    yield clause
    if isinstance(clause, Every | Some):
        for part in clause.parts if isinstance(clause, Every) else clause.options:
            yield from _pieces(part)


def clause_text(clause: ContractClause) -> str:
    """A clause as one writes it; a property without its subject."""
    match clause:
        case Chain(operands, signs):
            rest = "".join(
                f" {sign} {quantity_text(operand)}" for sign, operand in zip(signs, operands[1:], strict=True)
            )
            return quantity_text(operands[0]) + rest
        case Within(quantity, low, high, (from_low, to_high)):
            ends = f"{'[' if from_low else '('}{quantity_text(low)}, {quantity_text(high)}{']' if to_high else ')'}"
            return f"{quantity_text(quantity)} in {ends}"
        case Property(_, word):
            return word
        case Every(parts):
            return " and ".join(map(clause_text, parts))
        case Some(options):
            return " or ".join(map(clause_text, options))


def quantity_text(quantity: Quantity, level: int = 0) -> str:
    """A quantity as one writes it. `level`: brackets stand around operators that bind less."""
    match quantity:
        case Numeral(value):
            text = repr(value)
            return f"({text})" if value < 0 and level > 1 else text
        case ValueOf(name, ()):
            return name
        case ValueOf(name, items):
            return f"{name}[{', '.join(map(_item_text, items))}]"
        case Combination("min" | "max" as op, left, right):
            return f"{op}({quantity_text(left)}, {quantity_text(right)})"
        case Combination("-", Numeral(0), right):
            return f"-{quantity_text(right, 3)}"
        case Combination(op, left, right):
            own = LEVELS[op]
            text = f"{quantity_text(left, own)} {op} {quantity_text(right, own + 1)}"
            return f"({text})" if own < level else text


def _item_text(item: Item) -> str:
    if isinstance(item, int):
        return str(item)
    start, stop = ("" if end is None else str(end) for end in (item.start, item.stop))
    return f"{start}:{stop}"
