"""What a program does with each of its parameters, as far as its text shows.

| fact                    | means                                                                               |
|-------------------------|-------------------------------------------------------------------------------------|
| `output`                | it is written before it is read, or a reduction folds into it: it starts uninitialised |
| `indexes`               | its elements may become an index, an extent or a shape                              |
| `low`, `high`, `below`  | limits of its elements, by the uses of plain loads (`strategies.requirements`)      |
| `domain`                | what an operator of Relax requires of it (`Operator.domains`)                       |
| `casts`                 | the float dtypes that its integers are converted to                                 |
| `decisive`              | values at which a condition of the program changes (`conditions`)                   |

`kernel_uses` finds the facts of a TensorIR function, `graph_uses` those of a module.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.oracle.arguments.conditions import Value

MOST_CONSTANTS = 32


def note_value(values: list[Value] | list[int] | list[float], value: Value) -> None:
    if value not in values and len(values) < MOST_CONSTANTS:
        values.append(value)  # type: ignore[arg-type]  # the list is of the kind of the value


def note_values(values: list[Value] | list[int], more: Sequence[Value]) -> None:
    for value in more:
        note_value(values, value)


@dataclass
class ParameterUse:
    """What the program does with one parameter."""

    output: bool = False
    indexes: bool = False
    low: int | None = None
    high: int | None = None
    below: tuple[tir.Expr, ...] = ()
    domain: str = ""
    casts: set[DType] = field(default_factory=set)
    decisive: list[Value] = field(default_factory=list)

    @property
    def is_index(self) -> bool:
        """True if arbitrary integers may have no meaning here."""
        return self.indexes or bool(self.below) or self.domain == "index"


@dataclass
class ProgramUses:
    """The uses of all parameters by name, and what the whole program does.

    `integers`, `floats`: its constants. `compares`, `sums`, `adds`, `rounds`, `divides`: whether it compares elements,
    folds floats into a sum, adds or subtracts floats, makes integers of floats. `divisors`, `decisive_sizes`: of
    symbolic dimensions, by name.
    """

    parameters: dict[str, ParameterUse] = field(default_factory=dict)
    integers: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    compares: bool = False
    sums: bool = False
    adds: bool = False
    rounds: bool = False
    divisors: dict[str, list[int]] = field(default_factory=dict)
    decisive_sizes: dict[str, list[int]] = field(default_factory=dict)

    def add(self, other: "ProgramUses", names: Mapping[str, str]) -> None:
        """Add the constants and conditions of another program; `names`: those of its parameters here."""
        note_values(self.integers, other.integers)
        note_values(self.floats, other.floats)
        for name, values in other.divisors.items():
            note_values(self.divisors.setdefault(name, []), values)
        for name, values in other.decisive_sizes.items():
            note_values(self.decisive_sizes.setdefault(name, []), values)
        for name, use in other.parameters.items():
            if name in names:
                note_values(self.use(names[name]).decisive, use.decisive)
                self.use(names[name]).casts |= use.casts

    def use(self, name: str) -> ParameterUse:
        """The use of a parameter."""
        return self.parameters.setdefault(name, ParameterUse())


def size_variables(ty: Type | None) -> Iterator[tir.Var]:
    """The symbolic dimensions of a type."""
    for extent in extents(ty):
        yield from (node for node in walk(extent) if isinstance(node, tir.Var))


def extents(ty: Type | None) -> Iterator[tir.Expr]:
    """The extents in a type."""
    match ty:
        case TensorType(shape=shape) if shape is not None:
            yield from shape
        case ShapeType(values=values) if values is not None:
            yield from values
        case PrimType(value=tir.Var() as value):
            yield value
        case TupleType(fields=fields):
            for part in fields:
                yield from extents(part)
        case _:
            return
