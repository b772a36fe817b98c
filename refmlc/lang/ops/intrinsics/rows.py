"""The row of an intrinsic: what a `Call` of TensorIR may name besides a function of the module."""

from dataclasses import dataclass
from enum import Enum


class Effect(Enum):
    """What executing a call can do."""

    PURE = "gives a value and nothing else"
    READS = "reads memory"
    WRITES = "writes memory, or acts on the world"
    CONTROL = "changes where execution goes on"


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """`text` is its TVMScript name without `T.`. `missing` says why it is not executed; empty: it is."""

    name: str
    meaning: str
    clause: str
    effect: Effect = Effect.WRITES
    text: str = ""
    missing: str = ""

    @property
    def supported(self) -> bool:
        """Whether the interpreter executes it."""
        return not self.missing
