"""The barrier that all threads of a cluster have (TIX-022)."""

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class ClusterArrivals:
    """The barrier of a cluster: its phase, the threads that arrived in it, the phases of arrivals without a wait.

    `ended`: the threads that have ended, which no phase waits for.
    """

    phase: int = 0
    arrived: set[int] = field(default_factory=set)
    open: dict[int, int] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)

    def missing(self, count: int) -> list[int]:
        """The threads, out of `count`, for which the phase waits."""
        return [thread for thread in range(count) if thread not in self.arrived and thread not in self.ended]

    def settle(self, count: int) -> None:
        """The next phase begins where all threads that have not ended have arrived."""
        if self.arrived and len(self.arrived | self.ended) == count:
            self.phase += 1
            self.arrived.clear()
