"""When snapshots are taken: every so many statements; at bindings of Relax, every so many seconds.

| none can be taken, because                  | the next one is taken                               |
|---------------------------------------------|-----------------------------------------------------|
| the place cannot be entered again           | at the next statement around it that can            |
| threads take turns, each with a frame       | before the next block of threads                    |
| Relax stands in the middle of an expression | when it is tried again, a thousand statements later |
"""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from refmlc.debug.clock import SetTrap
from refmlc.debug.places import StmtPlace
from refmlc.debug.session_data import Moment
from refmlc.debug.snapshots import SavedCall, Snapshot, SnapshotRate, Snapshots
from refmlc.debug.stop_policy import ActiveCall
from refmlc.lang.ir.threads import tag_of
from refmlc.run.interp.tensorir.frame import Frame

SHARE = 20  # a snapshot may take one part in so many of the time between two
AGAIN = 1_000  # statements, after which it is tried again
Cool = Callable[[StmtPlace], bool]


class SnapshotPolicy:
    """See the table of the module. `next`: the statement of the event at which the next one is due. All of it is [run].

    `heats`: what makes a place leave the quick way; `stays`: whether it does so for another reason too.
    """

    def __init__(
        self, snapshot_rate: SnapshotRate, snapshots: Snapshots, heats: Mapping[StmtPlace, list[SetTrap]], stays: Cool
    ) -> None:
        self.rate, self.snapshots = snapshot_rate, snapshots
        self.next = self.interval = snapshot_rate.statements
        self._taken = perf_counter()
        self._heats, self._stays = heats, stays
        self._waits: StmtPlace | None = None

    def begin(self, base: Snapshot) -> None:
        """The run begins at `base`."""
        self._wait(None)
        self.interval = self.rate.statements * self.snapshots.sparse
        self.next = base.moment.step + self.interval
        self._taken = perf_counter()

    def begin_event(self) -> None:
        """Statements are counted anew."""
        self.next = self.interval

    def due(self, place: StmtPlace, count: int) -> bool:
        """Whether one is to be taken at statement number `count`, which is `place`."""
        return count >= self.next or place is self._waits

    def since(self, moment: Moment) -> bool:
        """Whether it is long enough since the last one, and there is none of `moment` yet."""
        return perf_counter() - self._taken > self.rate.seconds and not self.snapshots.has(moment)

    def take(self, moment: Moment, levels: tuple[SavedCall, ...], steps: int, printed: int) -> None:
        """Take one. `steps`: what the budget has counted; `printed`: lines of output so far."""
        begin = perf_counter()
        self.snapshots.take(moment, levels, steps, printed)
        end = perf_counter()
        if self.rate.adapts and moment.step and (end - begin) * SHARE > begin - self._taken:
            self.interval *= 2
        self.interval = max(self.interval, self.rate.statements * self.snapshots.sparse)
        self._taken = end
        self._wait(None)
        self.next = moment.step + self.interval

    def passed(self, count: int) -> None:
        """None could be taken at statement `count`: try again later."""
        self.next = count + min(AGAIN, self.interval)

    def look_out(self, place: StmtPlace, frame: Frame, level: ActiveCall) -> None:
        """None can be taken at `place`: take one at the next statement around it where one can be."""
        around = place.around()
        if level.reentry is not None and frame[level.reentry.scope.group] is not None:
            blocks = [number for number, one in enumerate(around) if tag_of(one.node).startswith("threadIdx")]
            around = around[blocks[-1] :] if blocks else []
        elif place.restartable:
            around = []
        self._wait(next((one for one in around if one.restartable and one.counted), None))

    def _wait(self, place: StmtPlace | None) -> None:
        """Let `place`, and no other, leave the quick way for a snapshot."""
        before, self._waits = self._waits, place
        if before is not None:
            self._heat(before, self._stays(before))
        if place is not None:
            self._heat(place, True)

    def _heat(self, place: StmtPlace, hot: bool) -> None:
        for heat in self._heats.get(place, ()):
            heat(hot)


def saved_graph(levels: Sequence[ActiveCall], last: int) -> tuple[SavedCall, ...] | None:
    """The calls of Relax as they are; None: one cannot be come to again without more being executed.

    `last`: the number of the last call of all that are being executed.
    """
    found = []
    for number, level in enumerate(levels):
        if level.env is None or level.calls > (number < last):
            return None
        values, dims = dict(level.env.values), dict(level.env.dims)
        found.append(SavedCall(level.args, values, {**dims}, tuple(level.bindings)))
    return tuple(found)
