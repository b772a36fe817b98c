"""How TVMScript and TVM write a scalar operator: the part of its row that reader, printer and importers follow.

| field            | reader                               | printer                        | importer of TVM's JSON |
|------------------|--------------------------------------|--------------------------------|------------------------|
| `symbol`         | Python's operator is this row        | `a + b`, where nothing folds   |                        |
| `text`           | `T.text(…)`                          | the form with a name           |                        |
| `on_floats`      | `T.on_floats(…)`                     | the same of floats             | the call `on_floats`   |
| `node`           | `T.node(…)`                          |                                | the node `prim.node`   |
| `also`           | `T.name(…)` of each                  |                                |                        |
| `on_integers`    | names of the row mean that row there |                                | the same               |
| `keeps_integers` | an integer is the result             |                                |                        |
| `operands`       | which operands are converted         |                                |                        |
| `folds`          |                                      | constants that demand the name |                        |

`c` has the math functions of C's double that mean the operator exactly (with an f, those of float), the first one
being that of mode `libm`; `llvm` those of LLVM, without `llvm.`: programs call them by these names.

How strongly an operator binds follows from its symbol: it is Python's (`PRECEDENCE`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum


class Precedence(IntEnum):
    """How strongly the outermost operator of a text binds, as in Python."""

    OR = 0
    AND = 1
    NOT = 2
    COMPARE = 3
    BIT_OR = 4
    BIT_XOR = 5
    BIT_AND = 6
    SHIFT = 7
    SUM = 8
    PRODUCT = 9
    UNARY = 10
    ATOM = 11


PRECEDENCE: Mapping[str, Precedence] = {
    "or": Precedence.OR,
    "and": Precedence.AND,
    "not": Precedence.NOT,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), Precedence.COMPARE),
    "|": Precedence.BIT_OR,
    "^": Precedence.BIT_XOR,
    "&": Precedence.BIT_AND,
    **dict.fromkeys(("<<", ">>"), Precedence.SHIFT),
    **dict.fromkeys(("+", "-"), Precedence.SUM),
    **dict.fromkeys(("*", "/", "//", "%"), Precedence.PRODUCT),
    "~": Precedence.UNARY,
}


class Operands(Enum):
    """What the reader does with the operands of a named form; `promote` has the rules."""

    FIRST = "literals take the dtype of the first operand that has one; nothing else is converted"
    MATCHED = "both are brought to one dtype"
    ADAPTED = "the same, and a literal takes the dtype of the other operand as it is"
    OWN = "the construct has a handler of its own"


@dataclass(frozen=True, slots=True)
class Notation:
    """The fields above. `text`: the operator's own name where it is empty. `folds`: constants left and right."""

    symbol: str = ""
    text: str = ""
    on_floats: str = ""
    node: str = ""
    also: tuple[str, ...] = ()
    on_integers: str = ""
    keeps_integers: bool = False
    operands: Operands = Operands.FIRST
    folds: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    c: tuple[str, ...] = ()
    llvm: tuple[str, ...] = ()


PLAIN = Notation()
"""`T.<name>(…)`, and nothing else."""
