"""When snapshots are taken: after a number of statements; at bindings of Relax, after a number of seconds.

| a snapshot is impossible, because           | the next one is taken                               |
|---------------------------------------------|-----------------------------------------------------|
| the run cannot continue from the place      | at the next statement around it that allows it      |
| threads take turns, each with a frame       | before the next block of threads                    |
| Relax stands in the middle of an expression | at the next attempt, a thousand statements later    |
"""

from collections.abc import Sequence
from time import perf_counter

from refmlc.debug.places import StmtPlace
from refmlc.debug.position import ActiveCall
from refmlc.debug.session_data import Moment
from refmlc.debug.snapshots import SavedCall, Snapshot, SnapshotRate, Snapshots
from refmlc.debug.traps import Traps
from refmlc.lang.ir.threads import tag_of
from refmlc.run.interp.tensorir.frame import Frame

SHARE = 20  # a snapshot may take 1/SHARE of the time between two snapshots
AGAIN = 1_000  # statements until the next attempt


class SnapshotPolicy:
    """See the table of the module. `next`: the statement before which the next one is taken. All [run]."""

    def __init__(self, rate: SnapshotRate, snapshots: Snapshots, traps: Traps) -> None:
        self._rate, self._snapshots, self._traps = rate, snapshots, traps
        self.next = self._interval = rate.statements
        self._taken = perf_counter()

    def begin(self, base: Snapshot) -> None:
        """A run begins at `base`."""
        self._traps.wait_at(None)
        self._interval = self._rate.statements * self._snapshots.sparse
        self.resume(base)
        self._taken = perf_counter()

    def resume(self, base: Snapshot) -> None:
        """Schedule the next snapshot after `base`."""
        self.next = base.moment.step + self._interval

    def begin_event(self) -> None:
        """Statements are counted from 1 again."""
        self.next = self._interval

    def skip_to(self, step: int) -> None:
        """C executed all statements before number `step`: take a snapshot there."""
        self.next = step

    def due(self, place: StmtPlace, count: int) -> bool:
        """True if a snapshot is to be taken before statement number `count`, which is `place`."""
        return count >= self.next or self._traps.awaits(place)

    def since(self, moment: Moment) -> bool:
        """True if the last snapshot is old, and `moment` has none yet."""
        return perf_counter() - self._taken > self._rate.seconds and not self._snapshots.has(moment)

    def take(self, moment: Moment, levels: tuple[SavedCall, ...], steps: int, printed: int) -> None:
        """Take one. `steps`: the count of the budget; `printed`: the lines of output so far."""
        begin = perf_counter()
        self._snapshots.take(moment, levels, steps, printed)
        end = perf_counter()
        if self._rate.adapts and moment.step and (end - begin) * SHARE > begin - self._taken:
            self._interval *= 2
        self._interval = max(self._interval, self._rate.statements * self._snapshots.sparse)
        self._taken = end
        self._traps.wait_at(None)
        self.next = moment.step + self._interval

    def postpone(self, count: int) -> None:
        """At statement `count` no snapshot could be taken: try again later."""
        self.next = count + min(AGAIN, self._interval)

    def wait(self, place: StmtPlace, frame: Frame, call: ActiveCall) -> None:
        """No snapshot can be taken at `place`: take one at the next statement around it that allows it."""
        around = place.around()
        if call.reentry is not None and frame[call.reentry.scope.group] is not None:
            blocks = [number for number, outer in enumerate(around) if tag_of(outer.node).startswith("threadIdx")]
            around = around[blocks[-1] :] if blocks else []
        elif place.restartable:
            around = []
        self._traps.wait_at(next((outer for outer in around if outer.restartable and outer.counted), None))


def saved_graph(calls: Sequence[ActiveCall], last: int) -> tuple[SavedCall, ...] | None:
    """The active calls of Relax, saved; None where one has made calls that reaching it again would repeat.

    `last`: the number of the innermost of all active calls.
    """
    saved = []
    for number, call in enumerate(calls):
        if call.env is None or call.calls > (number < last):
            return None
        values, dims = dict(call.env.values), dict(call.env.dims)
        saved.append(SavedCall(call.args, values, {**dims}, tuple(call.bindings)))
    return tuple(saved)
