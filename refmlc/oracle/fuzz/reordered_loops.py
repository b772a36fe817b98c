"""`moved`: C with reordered loops, only of programs in which a loop is reordered; `moved:best` with all optimisation.

For any other program this C equals the C as written, which `native:tiny` runs at a fortieth of the compile time: the
answer is `UNSUPPORTED`. One program in six has a loop that is reordered. Modules with graphs are all taken, whose
runs of bindings are fused.

Decision: `moved` has C compiled without optimisation. What our C computes does not depend on it, compiling takes
most of the time, and the optimiser of the C compiler needs only an occasional test.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from refmlc.lang.ir import IRModule, tir
from refmlc.native.analysis.legality import may_move
from refmlc.native.options import Grade
from refmlc.native.tier.compiled_module import Translation
from refmlc.oracle.implementations.implementation import Implementation, Limits, Prepared, Stop, Stopped
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.implementations.native import Native

MOVED, BEST = "moved", "moved:best"


def named_implementation(spec: str, limits: Limits | None = None) -> Implementation:
    """The implementation that `spec` names, `moved` besides those that `refmlc check` knows. Fails: RM112."""
    if spec in (MOVED, BEST):
        return ReorderedLoops(replace(ReorderedLoops().native, limits=limits or Limits(), quick=spec == MOVED), spec)
    return implementation(spec, limits)


@dataclass(frozen=True)
class ReorderedLoops:
    """The best C for this machine, of programs in which it is another than as written."""

    native: Native = field(default_factory=lambda: Native(quick=True, worth=is_moved))
    name: str = MOVED
    promises_verdicts: bool = True

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """Compile `module`, if it is worth it."""
        return self.prepare_all([module])[0]

    def prepare_all(self, modules: Sequence[IRModule]) -> list[Prepared | Stopped]:
        """Compile those of `modules` that are worth it together."""
        worth = [may_be_moved(module) for module in modules]
        accepted = [module for module, worthwhile in zip(modules, worth, strict=True) if worthwhile]
        compiled = iter(self.native.prepare_all(accepted) if accepted else [])
        not_reordered = Stopped(Stop.UNSUPPORTED, "no loop is reordered: the C follows the program as written")
        return [next(compiled) if worthwhile else not_reordered for worthwhile in worth]

    def close(self) -> None:
        """Nothing is held."""


def may_be_moved(module: IRModule) -> bool:
    """Whether it takes the proofs to know if a loop is reordered."""
    functions = module.functions.values()
    return any(not isinstance(func, tir.PrimFunc) or may_move(func) for func in functions)


def is_moved(module: IRModule, translation: Translation) -> bool:
    """Whether a loop is reordered, or bindings may be fused."""
    if not all(isinstance(func, tir.PrimFunc) for func in module.functions.values()):
        return True
    return any(block.grade is Grade.REORDERED for unit in translation.units.values() for block in unit.blocks)
