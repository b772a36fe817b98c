"""What the threads of a warp or a warpgroup do together: what each brings, the result, what each does with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.threads.group import Steps

Posted: TypeAlias = Sequence[object]


class NotExecuted(Exception):
    """What a call does that is not executed."""


class Apart(Exception):
    """The lanes bring different operands."""


@dataclass(frozen=True, slots=True)
class WarpWork:
    """A call, prepared. `act`: what the lanes bring to what each gets; `alone`: one may stand for all of them.

    `part`: whose threads meet, a warp's or a warpgroup's. `wait`: what a thread waits for between result and finish.
    """

    post: Callable[[Frame], object]
    act: Callable[[Posted], Posted]
    finish: Callable[[Frame, object], None]
    alone: bool = False
    part: str = "warp"
    wait: Callable[[Frame, object], Steps] | None = None


@dataclass(frozen=True, slots=True)
class ThreadWork:
    """A call of one thread, which waits for nobody."""

    run: Callable[[Frame], None]
