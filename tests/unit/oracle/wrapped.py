"""Implementations made wrong: the interpreter behind a change of its answers; programs with given arguments."""

from dataclasses import dataclass, field

import numpy as np

import refmlc
from refmlc.lang.dtypes import dtype
from refmlc.oracle.implementations.implementation import Ended, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.run.memory.tensor import Tensor


@dataclass
class Wrapped:
    """The interpreter; what it answers to a module is `change(answer, module)`."""

    change: object
    name: str = "mine"
    promises_verdicts: bool = False
    prepared: int = 0
    asked: list = field(default_factory=list)

    def prepare(self, module):
        self.prepared += 1
        return Inside(self, module, Interp().prepare(module))

    def close(self):
        """Nothing is held."""


@dataclass
class Inside:
    wrapped: Wrapped
    module: object
    prepared: object

    def run(self, func, args):
        self.wrapped.asked.append(func)
        return self.wrapped.change(self.prepared.run(func, args), self.module)

    def close(self):
        """Nothing is held."""


def honest(answer, _module):
    """As it is."""
    return answer


def stops(why, message="because"):
    """It never has a result."""
    return lambda _answer, _module: Stopped(why, message)


def last(change):
    """The last argument is `change(array)` after the call."""

    def changed(answer, _module):
        if isinstance(answer, Ended):
            array = answer.args[-1].array
            array[...] = change(array.copy())
        return answer

    return changed


@dataclass(frozen=True)
class Given:
    """A program called with what `make` gives."""

    text: str
    make: object
    func: str = "main"
    calls: tuple = (None,)
    name: str = ""

    @property
    def module(self):
        return refmlc.read(self.text, "case.py")

    def arguments(self, number=0):
        return self.make(number)


def floats(*shape):
    """A tensor of float32 that counts from 1."""
    return Tensor.from_numpy(np.arange(1, np.prod(shape) + 1, dtype="float32").reshape(shape))


def empty(*shape, kind="float32"):
    """A tensor that nobody has written."""
    return Tensor.empty(shape, dtype(kind))
