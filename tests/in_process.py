"""A witness of a model that computes in the test's own process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from refmlc.lang.ir import IRModule
from refmlc.oracle.implementations.frameworks import inputs_of
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.implementations.loops.operators import NotTaken


@dataclass(frozen=True)
class InProcess:
    """What `run` computes of the inputs of `module`; `NotTaken` is a refusal."""

    name: str
    module: IRModule
    compute: Callable[[Sequence[object]], object] = field(repr=False)
    note: str = ""
    promises_verdicts: bool = False

    def prepare(self, module: IRModule) -> "InProcess":
        assert module is self.module
        return self

    def run(self, _func: str, args: Sequence[object]) -> Answer:
        try:
            with np.errstate(all="ignore"):
                return Ended(self.compute(args[: inputs_of(self.module)]), tuple(args))
        except NotTaken as problem:
            return Stopped(Stop.UNSUPPORTED, f"the framework does not take {problem}")

    def close(self) -> None:
        """Nothing is held."""
