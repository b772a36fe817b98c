"""Which calls of a dataflow block become one, by their kinds (`pattern`).

A call is *dominated* by the first later call that all uses of its value lead to. A call is merged with its dominator,
and all in between, where the kinds on the way allow it:

| round | a group of kind   | merges when                                                                   |
|-------|-------------------|-------------------------------------------------------------------------------|
| 0     | FUSABLE           | the way is element by element: at most BROADCAST, of equal shapes             |
| 0     | up to BROADCAST   | the way ends in FUSABLE, REDUCE or less, and is at most INJECTIVE in between  |
| 1     | INJECTIVE         | the way is at most INJECTIVE                                                  |
| –     | REDUCE, OPAQUE    | never by itself                                                               |

A group is of the greatest of its kinds. Source: the algorithm of TVM's FuseOps, as its results show it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from refmlc.rewrite.transform.pattern import BROADCAST, ELEMWISE, FUSABLE, INJECTIVE, OPAQUE, REDUCE


@dataclass
class Step:
    """A call: its kind, the steps that use its value and how (the kind of the edge); `leaves`: others use it too."""

    kind: int
    users: list[tuple[int, int]] = field(default_factory=list)
    leaves: bool = False


class Grouping:
    """The groups of a sequence of steps."""

    def __init__(self, steps: Sequence[Step]) -> None:
        """Group `steps`, which are in the order of execution."""
        self._steps = steps
        self._kinds = [step.kind for step in steps]
        self._parents = list(range(len(steps)))
        self._dominators = _dominators(steps)
        for number in (0, 1):
            for at in range(len(steps)):
                self._merge(at, number)

    def group(self, at: int) -> int:
        """The group of a step, by the number of one of its steps."""
        while self._parents[at] != at:
            at = self._parents[at]
        return at

    def kind(self, at: int) -> int:
        """The kind of the group of a step."""
        return self._kinds[self.group(at)]

    def _merge(self, at: int, number: int) -> None:
        dominator, kind = self._dominators[at], self.kind(at)
        if dominator is None or kind == OPAQUE or self.group(at) == self.group(dominator[0]):
            return
        sink, way = dominator
        if kind == FUSABLE and number == 0 and way == ELEMWISE:
            self._try(at, sink, lambda one, _: one <= BROADCAST)
        elif kind <= BROADCAST and (way <= INJECTIVE or way == REDUCE):
            self._try(at, sink, lambda one, last: one <= INJECTIVE or (last and one in (REDUCE, FUSABLE)))
        elif kind == INJECTIVE and number == 1:
            self._try(at, sink, lambda one, _: one <= INJECTIVE)

    def _try(self, at: int, sink: int, allowed: Callable[[int, bool], bool]) -> None:
        """Merge a step with its dominator and all on the way, where each is allowed."""
        visited: set[int] = set()
        stack = [user for user, _ in self._steps[at].users]
        while stack:
            step = stack.pop()
            if step in visited:
                continue
            visited.add(step)
            if not allowed(self.kind(step), step == sink):
                return
            stack += [] if step == sink else [user for user, _ in self._steps[step].users]
        for member in (at, *visited):
            self._join(member, sink)

    def _join(self, member: int, sink: int) -> None:
        child, parent = self.group(member), self.group(sink)
        if child != parent:
            self._kinds[parent] = max(self._kinds[parent], self._kinds[child])
            self._parents[child] = parent


def _dominators(steps: Sequence[Step]) -> list[tuple[int, int] | None]:
    """For each step its dominator, and the greatest kind of an edge on the way there; None: it has none."""
    dominators: list[tuple[int, int] | None] = [None] * len(steps)
    for at in reversed(range(len(steps))):
        step = steps[at]
        if step.leaves or not step.users:
            continue
        meeting: tuple[int, int] | None = step.users[0]
        for user in step.users[1:]:
            meeting = _meeting(meeting, user, dominators)
        dominators[at] = meeting
    return dominators


def _meeting(
    a: tuple[int, int] | None, b: tuple[int, int] | None, dominators: Sequence[tuple[int, int] | None]
) -> tuple[int, int] | None:
    """The first step that two lead to."""
    while a is not None and b is not None and a[0] != b[0]:
        if a[0] < b[0]:
            a = _onward(a, dominators)
        else:
            b = _onward(b, dominators)
    return None if a is None or b is None else (a[0], max(a[1], b[1]))


def _onward(edge: tuple[int, int], dominators: Sequence[tuple[int, int] | None]) -> tuple[int, int] | None:
    following = dominators[edge[0]]
    return None if following is None else (following[0], max(following[1], edge[1]))
