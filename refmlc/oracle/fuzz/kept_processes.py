"""The processes that a worker keeps from batch to batch, and their one owner.

| asked for by                     | the process                                          |
|----------------------------------|------------------------------------------------------|
| `batch`                          | an implementation of the campaign                    |
| the subjects `primitives`, `passes` | TVM that applies steps                            |
| the subject `builds`             | a TVM for each build                                 |
| the importers                    | TVM's importers, and TVM for texts                   |

A process is what `make` gives for some arguments: the same arguments get the same one again. A worker ends all of
them when it ends (`end_kept`). It tells the process that waits for it when one starts (`announce_starts`): no
program loses time by that.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, Protocol, TypeVar, cast


class Closable(Protocol):
    """What has a process, perhaps."""

    def close(self) -> None:
        """End it."""
        ...


P = ParamSpec("P")
T = TypeVar("T", bound=Closable)
KEPT: dict[tuple[object, ...], Closable] = {}
STARTS = 60.0  # seconds of a processor that an implementation has to start
LISTENERS: list[Callable[[bool], None]] = []


@contextmanager
def announce_starts(tell: Callable[[bool], None]) -> Iterator[None]:
    """In this block `tell` is called with True before something starts that is kept, and with False after that."""
    LISTENERS.append(tell)
    try:
        yield
    finally:
        LISTENERS.remove(tell)


def kept(make: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """What `make` gives for these arguments, made once and kept."""
    key = _key(make, args, options)
    if key not in KEPT:
        _announce(starts=True)
        try:
            KEPT[key] = make(*args, **options)
        finally:
            _announce(starts=False)
    return cast("T", KEPT[key])


def _announce(*, starts: bool) -> None:
    for tell in LISTENERS:
        tell(starts)


def end_kept() -> None:
    """End all that are kept."""
    while KEPT:
        KEPT.popitem()[1].close()


def _key(make: object, args: tuple[object, ...], options: dict[str, object]) -> tuple[object, ...]:
    return make, args, tuple(sorted(options.items()))
