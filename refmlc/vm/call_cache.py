"""The cached calls of one function: one for each kind of arguments, added after a call that did not fail.

| argument                          | counts as                                      |
|-----------------------------------|------------------------------------------------|
| NumPy array                       | itself                                         |
| tensor, alive and all initialised | an array on its memory                         |
| any other                         | itself; there is no cached call                |

They are prepared calls, with the policy of all of these (`refmlc.native.tier.prepared_calls`).
"""

from typing import TypeAlias

import numpy as np

from refmlc.native.tier.prepared_calls import PreparedCalls
from refmlc.native.tier.tier_switch import NOT_APPLICABLE, CachedCall, TierSwitch
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

Kind: TypeAlias = tuple[object, ...]


class CallCache:
    """The cached calls of one function on one machine. `last` is the one used, or added, last."""

    def __init__(self, machine: Machine, name: str, native: TierSwitch) -> None:
        self.last: CachedCall | None = None
        self._machine = machine
        self._name = name
        self._native = native
        self._calls: PreparedCalls[CachedCall | None] = PreparedCalls()

    def call(self, args: tuple[object, ...]) -> object:
        """The result of the cached call for `args`; NOT_APPLICABLE if there is none, or it does not take them."""
        cached = self._calls.get(kind_of(args))
        if cached is None:
            return NOT_APPLICABLE
        self.last = cached
        return cached(args)

    def add(self, args: tuple[object, ...]) -> None:
        """Cache calls on arguments of the kind of `args`, after a call on `args` that did not fail."""
        if not self._native.is_final:
            return
        kind = kind_of(args)
        native, machine, name = self._native, self._machine, self._name
        cached = self._calls.find(kind, lambda: native.cached_call(machine, name, args, lambda: self._evict(kind)))
        self.last = self.last if cached is None else cached

    def _evict(self, kind: Kind) -> None:
        """Forget the cached call: the next call of this kind is a general one."""
        self.last = None
        self._calls.forget(kind)


def kind_of(args: tuple[object, ...]) -> Kind:
    """The dtypes and shapes that all arguments of a cached call share."""
    return tuple([(arg.dtype, arg.shape) if isinstance(arg, np.ndarray) else type(arg) for arg in args])


def as_arrays(args: tuple[object, ...]) -> tuple[object, ...]:
    """`args` with arrays in place of tensors that are just arrays (`Tensor.plain`)."""
    return tuple([arg.plain if isinstance(arg, Tensor) else arg for arg in args])
