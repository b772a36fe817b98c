"""The steps that were taken, as the lines of Python that take them.

b0 = sch.get_block('product', func_name='main')
l0, l1, l2 = sch.get_loops(b0)
sch.reorder(l0, l2, l1)

A trace can be taken again on a schedule of the same module (`apply_to_schedule`), with the decisions that were drawn or
with others.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

DECISION = "decision"


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

    def show(self) -> None:
        """Print the steps."""
        sys.stdout.write(f"{self}\n")

    def as_python(self) -> list[str]:
        """The lines."""
        return [str(step) for step in self.steps]

    @property
    def insts(self) -> list[Step]:
        """The steps."""
        return self.steps

    @property
    def decisions(self) -> dict[int, object]:
        """What was drawn, by the number of the step that drew it."""
        return {at: step.options[DECISION] for at, step in enumerate(self.steps) if DECISION in step.options}

    def with_decisions(self, decisions: Mapping[int, object]) -> "Trace":
        """The trace with other decisions, by the number of the step; None: draw anew."""
        steps = list(self.steps)
        for at, decision in decisions.items():
            steps[at] = replace(steps[at], options={**steps[at].options, DECISION: decision})
        return Trace(steps)

    def apply_to_schedule(self, sch: object, remove_postproc: bool = False) -> None:
        """Take all steps on a schedule of the same module. Fails: as the steps do."""
        del remove_postproc  # there are none
        handles: dict[int, object] = {}
        for step in self.steps:
            take: Callable[..., object] = getattr(sch, step.name)
            options = {key: _mapped(value, handles) for key, value in step.options.items()}
            result = take(*(_mapped(arg, handles) for arg in step.args), **options)
            results = result if isinstance(result, list | tuple) else (result,)
            handles.update((id(old), new) for old, new in zip(step.outputs, results, strict=False))


def _mapped(value: object, handles: Mapping[int, object]) -> object:
    """An argument with the handles of the other schedule."""
    if isinstance(value, list | tuple):
        return type(value)(_mapped(item, handles) for item in value)
    return handles.get(id(value), value)
