"""Events: closures that report to hooks before, after or around a part of a program that they run."""

from collections.abc import Callable
from typing import TypeVar

from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.jumps import JUMPS

Place = TypeVar("Place")


def before(event: Callable[[Place, Frame], None], place: Place, run: Run) -> Run:
    """Report `place`, then run."""

    def reported(frame: Frame) -> None:
        event(place, frame)
        run(frame)

    return reported


def after(event: Callable[[Place, Frame], None], place: Place, run: Run) -> Run:
    """Run, then report `place`; not if the run failed or jumped."""

    def reported(frame: Frame) -> None:
        run(frame)
        event(place, frame)

    return reported


def both(first: Callable[[Place, Frame], None], second: Callable[[Place, Frame], None], place: Place, run: Run) -> Run:
    """Report `place` before and after the run; not after it if it failed or jumped."""

    def reported(frame: Frame) -> None:
        first(place, frame)
        run(frame)
        second(place, frame)

    return reported


def around(enter: Callable[[Place, Frame], None], leave: Callable[[Place, Frame], None], place: Place, run: Run) -> Run:
    """Report that `place` is entered and left; it is left by a jump too, but not by a failure."""

    def reported(frame: Frame) -> None:
        enter(place, frame)
        try:
            run(frame)
        except JUMPS:
            leave(place, frame)
            raise
        leave(place, frame)

    return reported
