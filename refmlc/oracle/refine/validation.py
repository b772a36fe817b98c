"""Steps validated by running: the function before and after, on generated calls, with all detectors on.

A step holds when each call that is defined before is defined after, and leaves the same bits. Where none of the calls
is defined before, nothing is known, and that is raised: give calls (`inputs`).

Calls that are drawn hold special values more often than ordinary ones, whose sums are rounded: some more are tried, all
of whose floats are random in -1 … 1. They tell one order of terms from another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from refmlc.diag import Mismatch
from refmlc.lang.ir import IRModule
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.refine.assertions import assert_equivalent
from refmlc.oracle.refine.calls import Call, drawn
from refmlc.oracle.refine.failures import Inequivalent
from refmlc.strategies.arguments import Array

ORDINARY = 12  # a sum of four terms in another order has other bits on one call of four


class InvalidStep(Mismatch):
    """A step that changes what the function means; the diagnostic (RM705) holds the call on which it does."""


@dataclass(frozen=True)
class Validation:
    """The validation of steps: explicit calls, or a number of calls drawn from a seed."""

    inputs: Sequence[Call] | None = None
    calls: int | None = None
    seed: int | None = None
    implementations: Sequence[str] = ("interp",)
    limits: Limits | None = None

    def check(self, before: IRModule, after: IRModule, func: str, step: str) -> None:
        """Refuse a step that changes what `func` means. Fails: `InvalidStep`, and as `assert_equivalent` does."""
        try:
            self._try(before, after, func, self.inputs)
            if self.inputs is None:
                some = drawn(before, func, ORDINARY if self.calls is None else self.calls, self.seed or 0)
                ordinary = [tame for call in some if (tame := _ordinary(call)) != call]
                if ordinary:
                    self._try(before, after, func, ordinary)
        except Inequivalent as failure:
            diagnostic = failure.diagnostic
            message = f"`{step}` changes what `{func}` means: {diagnostic.message}"
            raise InvalidStep(replace(diagnostic, message=message)) from None

    def _try(self, before: IRModule, after: IRModule, func: str, inputs: Sequence[Call] | None) -> None:
        assert_equivalent(
            before,
            after,
            func=func,
            inputs=inputs,
            calls=self.calls,
            seed=self.seed,
            implementations=self.implementations,
            limits=self.limits,
            exact=True,
        )


def _ordinary(call: Call) -> Call:
    """The call with ordinary floats."""
    return tuple(
        replace(argument, way="tame") if isinstance(argument, Array) and argument.dtype.is_float else argument
        for argument in call
    )
