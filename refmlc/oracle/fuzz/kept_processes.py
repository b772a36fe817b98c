"""The processes that a worker keeps from batch to batch, and their one owner.

| asked for by                     | the process                                          |
|----------------------------------|------------------------------------------------------|
| `batch`                          | an implementation of the campaign                    |
| the subjects `primitives`, `passes` | TVM that applies steps                            |
| the subject `builds`             | a TVM for each build                                 |
| the importers                    | TVM's importers, and TVM for texts                   |

A process is what `make` gives for some arguments: the same arguments get the same one again. A worker ends all of
them when it ends (`end_kept`).
"""

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar, cast


class Closable(Protocol):
    """What has a process, perhaps."""

    def close(self) -> None:
        """End it."""
        ...


P = ParamSpec("P")
T = TypeVar("T", bound=Closable)
KEPT: dict[tuple[object, ...], Closable] = {}


def kept(make: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """What `make` gives for these arguments, made once and kept."""
    key = _key(make, args, options)
    if key not in KEPT:
        KEPT[key] = make(*args, **options)
    return cast("T", KEPT[key])


def end_kept() -> None:
    """End all that are kept."""
    while KEPT:
        KEPT.popitem()[1].close()


def _key(make: object, args: tuple[object, ...], options: dict[str, object]) -> tuple[object, ...]:
    return make, args, tuple(sorted(options.items()))
