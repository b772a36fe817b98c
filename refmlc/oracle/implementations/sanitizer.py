"""The interpreter under the sanitizer as an implementation: `interp:sanitized`. It finds what only detectors find.

The operators of a module are functions first (`legalize_ops`): detectors look into them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from refmlc.diag.errors import RefmlcError, error
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.observe.sanitize.kinds import ALL
from refmlc.observe.sanitize.sanitizer import Sanitizer
from refmlc.oracle.implementations.implementation import Answer, Ended, Prepared, Stopped
from refmlc.oracle.implementations.interp import Interp, Interpreted
from refmlc.oracle.implementations.limits import Limits
from refmlc.oracle.implementations.local_calls import answered, stopped
from refmlc.rewrite.transform import legalize_ops


@dataclass(frozen=True)
class SanitizedInterp:
    """The interpreter with every detector. `detectors`: what only those find is found too."""

    limits: Limits = field(default_factory=Limits)
    name: str = "interp:sanitized"
    promises_verdicts: bool = True
    detectors: bool = True

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """Check `module`, and make functions of its operators."""
        try:
            checked(module)
        except RefmlcError as failure:
            return stopped(failure)
        lowered = answered(lambda: legalize_ops(module))
        return lowered if isinstance(lowered, Stopped) else SanitizedModule(lowered, Interp(self.limits, check=False))

    def close(self) -> None:
        """Nothing is held."""


class SanitizedModule:
    """A module whose calls run under fresh detectors each."""

    def __init__(self, module: IRModule, interp: Interp) -> None:
        self._module, self._interp = module, interp

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`."""
        hooks = Sanitizer(self._module, ALL)
        answer = Interpreted(self._module, self._interp, hooks).run(func, args)
        if isinstance(answer, Ended) or answer.diagnostic is None:
            return answer
        return stopped(hooks.explain(error(answer.diagnostic)))

    def close(self) -> None:
        """Nothing is held."""
