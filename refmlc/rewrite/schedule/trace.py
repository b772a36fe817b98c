"""The steps that were taken, as the lines of Python that take them.

b0 = sch.get_block('product', func_name='main')
l0, l1, l2 = sch.get_loops(b0)
sch.reorder(l0, l2, l1)
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """A call of a method of the schedule, and the handles that it returned."""

    name: str
    args: tuple[object, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    outputs: tuple[object, ...] = ()

    def __str__(self) -> str:
        """The step as a line."""
        words = [repr(arg) for arg in self.args] + [f"{key}={value!r}" for key, value in self.options.items()]
        outputs = ", ".join(map(repr, self.outputs)) + " = " if self.outputs else ""
        return f"{outputs}sch.{self.name}({', '.join(words)})"


@dataclass
class Trace(Sequence[Step]):
    """Steps in their order."""

    steps: list[Step] = field(default_factory=list)

    def __getitem__(self, at: "int | slice") -> "Step | Trace":  # type: ignore[override]  # a slice is a trace
        """One step, or some of them."""
        return Trace(self.steps[at]) if isinstance(at, slice) else self.steps[at]

    def __len__(self) -> int:
        """How many steps there are."""
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        """The steps in their order."""
        return iter(self.steps)

    def __str__(self) -> str:
        """One line for each step."""
        return "\n".join(map(str, self.steps))
