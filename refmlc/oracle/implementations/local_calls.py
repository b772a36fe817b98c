"""Calls in refmlc's own process: what the machine does, as an answer.

| the machine raises                 | the answer        |
|------------------------------------|-------------------|
| `Undefined` (RM3xx)                | `UNDEFINED`       |
| `Trap` (RM4xx)                     | `TRAP`            |
| `Unsupported` (RM5xx)              | `UNSUPPORTED`     |
| `Malformed`, `IllFormed`           | `REJECTED`        |
| `Exhausted` (RM6xx), `MemoryError` | `EXHAUSTED`       |
| anything else: a bug of refmlc     | `CRASHED`         |
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import Exhausted, IllFormed, Malformed, RefmlcError, Trap, Undefined, Unsupported
from refmlc.lang.ir import relax, tir
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.c_abi import is_packed_entry
from refmlc.vm.arguments import Parameter, accept, as_value, ordered
from refmlc.vm.parameters import parameters_of

KINDS: tuple[tuple[type[RefmlcError], Stop], ...] = (
    (Undefined, Stop.UNDEFINED),
    (Trap, Stop.TRAP),
    (Unsupported, Stop.UNSUPPORTED),
    (Malformed, Stop.REJECTED),
    (IllFormed, Stop.REJECTED),
    (Exhausted, Stop.EXHAUSTED),
)
T = TypeVar("T")


def stopped(failure: RefmlcError) -> Stopped:
    """The answer that tells `failure`."""
    why = next((stop for kind, stop in KINDS if isinstance(failure, kind)), Stop.CRASHED)
    return Stopped(why, f"{failure.code.id}: {failure.diagnostic.message}", failure.diagnostic)


def answered(work: Callable[[], T]) -> T | Stopped:
    """What `work` gives, or what it raised as an answer.

    This is the border between the oracle and what it judges: a bug of refmlc is an answer here, as another
    implementation's is. An interrupt by the user passes.
    """
    try:
        return work()
    except RefmlcError as failure:
        return stopped(failure)
    except MemoryError:
        return Stopped(Stop.EXHAUSTED, "Python ran out of memory")
    except Exception as problem:  # noqa: BLE001 - objects of an implementation may do anything
        return Stopped(Stop.CRASHED, f"{type(problem).__name__}: {problem}")


class LocalCalls:
    """Calls of functions on one machine. Not for concurrent use."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._parameters: dict[str, list[Parameter]] = {}

    def call(self, func: str, args: Sequence[object]) -> Answer:
        """The answer to the call of `func` on `args`, which has a fresh budget."""
        return answered(lambda: self._called(func, args))

    def _called(self, func: str, args: Sequence[object]) -> Ended:
        values = self._fitting(func, args)
        self.machine.budget.renew()
        return Ended(self.machine.call(func, values), tuple(values))

    def _fitting(self, func: str, args: Sequence[object]) -> list[object]:
        """`args` as the parameters declare them; a function with the C interface checks them itself. Fails: RM111."""
        function = self.machine.module.functions.get(func)
        if function is None or isinstance(function, relax.ExternFunc):
            raise fail(BAD_USAGE, f"the module has no function `{func}` with a body")
        if isinstance(function, tir.PrimFunc) and is_packed_entry(function):
            return [as_value(arg, None, f"argument {number} of `{func}`") for number, arg in enumerate(args)]
        if func not in self._parameters:
            self._parameters[func] = parameters_of(function)
        parameters = self._parameters[func]
        return accept(func, parameters, ordered(func, parameters, args, {}))


def nowhere(_line: str) -> None:
    """Where the output of programs goes."""
