"""Implementations of Python that are wrong in one way each, for `--impl py:replayed_ways:NAME`."""

from dataclasses import dataclass, replace

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.oracle.implementations.implementation import Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp


@dataclass
class Way:
    """The interpreter, whose answer to a module `change` replaces."""

    name: str
    change: object
    at_once: Stopped | None = None
    promises_verdicts: bool = False
    allow: frozenset = frozenset()

    def prepare(self, module):
        """The module made ready, or refused."""
        return self.at_once or Changed(Interp(check=False, allow=self.allow).prepare(module), module, self.change)

    def close(self):
        """Nothing is held."""


@dataclass
class Changed:
    """A module that is ready."""

    inner: object
    module: object
    change: object

    def run(self, func, args):
        """The changed answer."""
        return self.change(self.inner.run(func, args), self.module)

    def close(self):
        """Nothing is held."""
        self.inner.close()


def add_one(answer, _module):
    if isinstance(answer, Ended) and (answer.value is not None or answer.args):
        tensor = answer.value if answer.value is not None else answer.args[-1]
        tensor.array[...] += 1
    return answer


def in_parallel(answer, module):
    """Wrong only where a loop is parallel: a variant of the program shows it, the program itself does not."""
    loops = [node for each in module.functions.values() for node in walk(each) if isinstance(node, tir.For)]
    return add_one(answer, module) if any(loop.kind is tir.ForKind.PARALLEL for loop in loops) else answer


def wrong(_limits):
    return Way("py:replayed_ways:wrong", add_one)


def goes_on(_limits):
    return Way("py:replayed_ways:goes_on", add_one, allow=frozenset(("RM306",)))


def contradicts(_limits):
    return Way("py:replayed_ways:contradicts", in_parallel)


def crashes(_limits):
    return Way("py:replayed_ways:crashes", lambda *_: Stopped(Stop.CRASHED, "SIGSEGV"))


def hangs(_limits):
    return Way("py:replayed_ways:hangs", lambda *_: Stopped(Stop.TIMED_OUT, "no answer"))


def refuses(_limits):
    return Way("py:replayed_ways:refuses", None, Stopped(Stop.REJECTED, "too many loops"))


def fails(_limits):
    return Way("py:replayed_ways:fails", None, Stopped(Stop.REJECTED, "Check failed: a == b", fault=True))


def promises(_limits):
    """It promises verdicts, and says of a defined program that it is not."""
    way = Way("py:replayed_ways:promises", lambda *_: Stopped(Stop.UNDEFINED, "undefined, it says"))
    return replace(way, promises_verdicts=True)
