"""Traps: the statements that leave the fast path and report to the engine.

| trapped                                | because                               |
|----------------------------------------|---------------------------------------|
| breakpoints, the marks of a motion      | the program may stop there            |
| statements that call functions         | the place is part of the active call  |
| the statement that a snapshot waits for | the snapshot is taken there           |
"""

from refmlc.debug.clock import SetTrap
from refmlc.debug.places import ProgramPlace, StmtPlace


class Traps:
    """The trapped places of a session; a statement prepared later is trapped too."""

    def __init__(self) -> None:
        self._setters: dict[StmtPlace, list[SetTrap]] = {}
        self._marked: frozenset[ProgramPlace] = frozenset()
        self._waiting: StmtPlace | None = None

    def add(self, place: StmtPlace, set_trap: SetTrap) -> None:
        """Register a prepared statement; a place has one for each machine and each instance."""
        self._setters.setdefault(place, []).append(set_trap)

    def is_set(self, place: StmtPlace) -> bool:
        """True if the statement is trapped."""
        return place in self._marked or place.calls or place is self._waiting

    def mark(self, places: frozenset[ProgramPlace]) -> None:
        """Trap these places in place of those marked before."""
        changed = self._marked ^ places
        self._marked = places
        for place in changed:
            self._update(place)

    def wait_at(self, place: StmtPlace | None) -> None:
        """Trap `place` for a snapshot in place of the one before; None: none."""
        before, self._waiting = self._waiting, place
        self._update(before)
        self._update(place)

    def awaits(self, place: StmtPlace) -> bool:
        """True if a snapshot waits for `place`."""
        return place is self._waiting

    def _update(self, place: ProgramPlace | None) -> None:
        if isinstance(place, StmtPlace):
            for set_trap in self._setters.get(place, ()):
                set_trap(self.is_set(place))
