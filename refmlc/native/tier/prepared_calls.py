"""Prepared calls: what a call computes once for all arguments of the same sizes. One policy for all of them.

| question             | answer                                                                                      |
|----------------------|---------------------------------------------------------------------------------------------|
| what is the key      | of a call from Python: dtypes and shapes; of a function or a run that the graph calls: the  |
|                      | shapes, strides, offsets and numbers that its sizes depend on                               |
| when is one prepared | at the first call with the key; from Python, after a call that did not fail                 |
| when does it end     | when `MOST` other keys were met: then all are forgotten, and prepared again                 |
| what invalidates it  | nothing: it depends on the key and on the code. Each call looks at memory, flags and what   |
|                      | is initialised                                                                              |
| what replaces it     | a specialisation, after `WORTH` iterations                                                  |
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

MOST: Final = 64
"""Prepared calls of one function."""
WORTH: Final = 1 << 25
"""Iterations of compiled code that take as long as a compilation."""
FOREVER: Final = 1 << 62
Dimensions: TypeAlias = tuple[int, ...]
C = TypeVar("C")
P = TypeVar("P")


class PreparedCalls(Generic[P]):
    """The prepared calls of one function by key. Not for concurrent use."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: dict[Hashable, P] = {}

    def get(self, key: Hashable) -> P | None:
        """The call with this key; None: none is prepared."""
        return self._calls.get(key)

    def find(self, key: Hashable, prepare: Callable[[], P]) -> P:
        """The call with this key, which `prepare` makes if there is none."""
        call = self._calls.get(key)
        if call is None and key not in self._calls:
            if len(self._calls) >= MOST:
                self._calls.clear()
            call = self._calls[key] = prepare()
        return call  # type: ignore[return-value]  # None only where `prepare` makes it

    def forget(self, key: Hashable) -> None:
        """Forget the call with this key: the next one is prepared anew."""
        self._calls.pop(key, None)


@dataclass(slots=True)
class PreparedCall(Generic[P, C]):
    """A call where the variables of sizes are `dims`, with its `plan`, which depends on them alone.

    `specialise` makes the call for these dimensions, once; None: there is none.
    """

    dims: Dimensions
    plan: P
    specialise: Callable[[Dimensions], C | None]
    _iterations: int = 0
    _decided: bool = False
    _specialised: C | None = None

    def count(self, iterations: int) -> None:
        """Add iterations that were executed, or are about to be."""
        self._iterations += iterations

    @property
    def left(self) -> int:
        """The iterations until there is a specialisation; `FOREVER` once there is, or where there are no variables."""
        return FOREVER if self._decided or not self.dims else WORTH - self._iterations

    @property
    def specialised(self) -> C | None:
        """The specialisation, which this compiles when the iterations are enough."""
        if not self._decided and self.dims and self._iterations >= WORTH:
            self._decided = True
            self._specialised = self.specialise(self.dims)
        return self._specialised
