"""Calls whose arguments are like those of an earlier call: each kind of arguments has its quick call, once learnt.

| argument                          | counts as                          |
|-----------------------------------|------------------------------------|
| NumPy array                       | itself                             |
| tensor, alive and all initialised | an array on its memory             |
| anything else                     | itself, and no quick call takes it |
"""

from typing import TypeAlias

import numpy as np

from refmlc.native.tier.choosing import DECLINED, Choosing, Quick
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

Likeness: TypeAlias = tuple[object, ...]
MOST = 64  # kinds of arguments of a function


class Repeated:
    """The quick calls of one function on one machine. `last` is the one that was made, or learnt, last."""

    def __init__(self, machine: Machine, name: str, native: Choosing) -> None:
        self.last: Quick | None = None
        self._machine = machine
        self._name = name
        self._native = native
        self._known: dict[Likeness, Quick | None] = {}

    def call(self, args: tuple[object, ...]) -> object:
        """The result of the quick call on `args`, DECLINED where there is none, or it does not take them."""
        quick = self._known.get(likeness(args))
        if quick is None:
            return DECLINED
        self.last = quick
        return quick(args)

    def learn(self, args: tuple[object, ...]) -> None:
        """The function was called with `args` and did not fail."""
        like = likeness(args)
        if like in self._known or len(self._known) >= MOST or self._native.counts is None:
            return
        self._known[like] = quick = self._native.quick(self._machine, self._name, args, lambda: self._forget(like))
        self.last = self.last if quick is None else quick

    def _forget(self, like: Likeness) -> None:
        """Let the next call of this kind be as if it were the first."""
        self.last = None
        self._known.pop(like, None)


def likeness(args: tuple[object, ...]) -> Likeness:
    """What arguments that one quick call takes have in common."""
    return tuple([(arg.dtype, arg.shape) if isinstance(arg, np.ndarray) else type(arg) for arg in args])


def as_arrays(args: tuple[object, ...]) -> tuple[object, ...]:
    """`args` with arrays for those tensors that are no more than arrays."""
    return tuple([arg.plain if isinstance(arg, Tensor) else arg for arg in args])
