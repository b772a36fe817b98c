"""The limits of a call, the same for every implementation.

| limit     | in the process of refmlc   | in a separate process                                   |
|-----------|----------------------------|---------------------------------------------------------|
| `steps`   | the budget's steps (RM601) | nothing                                                 |
| `bytes`   | the budget's bytes (RM603) | the address space of the process, on top of `FOOTPRINT` |
| `seconds` | the budget's clock (RM605) | an answer later than that: the process group is killed  |
| `prepare` | the compiler's time        | the same, for making a module ready                     |
"""

from dataclasses import dataclass

from refmlc.run.memory.budget import DEFAULT_DEPTH, Budget

GRACE = 5.0  # seconds that a process has to tell by itself that it is late


@dataclass(frozen=True)
class Limits:
    """What one call may use, and what making a module ready may take. Units: statements, bytes, seconds, seconds.

    Decision: no limit of seconds in the process of refmlc by default, so that verdicts repeat exactly on
    every machine; `steps` ends a run there. Another process always has one.
    """

    steps: int = 20_000_000
    bytes: int = 1 << 30
    seconds: float = 60.0
    prepare: float = 120.0
    clock: bool = False

    def budget(self) -> Budget:
        """A budget of the interpreter with these limits; its clock runs where `clock` says so."""
        return Budget(self.steps, self.bytes, DEFAULT_DEPTH, self.seconds if self.clock else None)
