"""A module made smaller while the same pass breaks it. Each try asks the compiler again, so it has limits."""

from collections.abc import Callable
from dataclasses import dataclass

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.lang.script import show
from refmlc.oracle.passes.check import check
from refmlc.oracle.passes.constant_parameters import lifted
from refmlc.oracle.passes.stages import Trace
from refmlc.oracle.passes.verdicts import BrokenStage
from refmlc.oracle.reduce import reduce

Compiler = Callable[[str], Trace]


@dataclass(frozen=True)
class Shrunk:
    """The smallest module found, as text, and what the pass does to it. `finished`: no limit was met."""

    text: str
    broken: BrokenStage
    finished: bool


def shrunk(
    module: IRModule,
    broken: BrokenStage,
    compiler: Compiler,
    *,
    seconds: float = 120.0,
    tries: int = 200,
    calls: int = 3,
) -> Shrunk | None:
    """`module`, which `broken.name` breaks, made smaller; None where it cannot be shown again as it is.

    `compiler` gives the trace of a text, as `snapshots` does. Units: seconds.
    """
    best: list[tuple[str, BrokenStage]] = []

    def broken_too(candidate: IRModule) -> bool:
        finding = broken_by(candidate, compiler, calls)
        if finding is None or finding.name != broken.name:
            return False
        best.append((show(candidate, show_meta=True), finding))
        return True

    if not broken_too(module):
        return None
    reduction = reduce(
        module, broken_too, func=broken.func if broken.func in module else "", seconds=seconds, tries=tries
    )
    text = show(reduction.module, show_meta=True)
    finding = next((each for written, each in reversed(best) if written == text), best[0][1])
    return Shrunk(text, finding, reduction.finished)


def broken_by(module: IRModule, compiler: Compiler, calls: int) -> BrokenStage | None:
    """The pass that breaks `module`; None: none, or unknown."""
    try:
        bare, constants = lifted(module)
        text = show(bare, show_meta=True)
        return check(compiler(text), constants=constants, calls=calls, given=text).broken
    except RefmlcError:
        return None
