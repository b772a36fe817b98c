"""The row of an intrinsic: what a `Call` of TensorIR may name besides a function of the module.

Reader, printer, importers and the check of calls follow from it. `takes` has one kind per argument, the last one
repeated after `*`; None: the arguments are not checked.

| kind      | is                                            |
|-----------|-----------------------------------------------|
| `vector`  | an expression with lanes                      |
| `number`  | an expression without lanes that is no handle |
| `integer` | a number of an integer dtype, or bool         |
| `bool`    | a number of bool                              |
| `pointer` | an expression that is a handle                |
| `name`    | a text                                        |
| `expr`    | any expression                                |
| `any`     | whatever a call may have                      |
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Effect(Enum):
    """What executing a call can do."""

    PURE = "gives a value and nothing else"
    READS = "reads memory"
    WRITES = "writes memory, or acts on the world"
    CONTROL = "changes the order of execution"


class Written(Enum):
    """Where the text of a call has the dtype of its result."""

    FIRST = "T.name(dtype, …)"
    LAST = "T.name(…, dtype)"
    KEYWORD = "T.name(…, dtype=…); void where there is none"


Result: TypeAlias = Written | str | int
"""The dtype of a call: written in its text, always the same (its name), or that of an argument (its number)."""


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A row. `missing` is the reason if it is not executed; empty: it is.

    `tensors`: an argument that is a buffer is the tensor, not the pointer to its storage. `also`: its name in older
    texts and in TVM's files.
    """

    name: str
    meaning: str
    clause: str
    effect: Effect = Effect.WRITES
    takes: str | None = None
    result: Result = Written.KEYWORD
    tensors: bool = False
    also: str = ""
    missing: str = ""

    @property
    def supported(self) -> bool:
        """Whether the interpreter executes it."""
        return not self.missing
