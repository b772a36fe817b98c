"""`moved`: C with reordered loops, only of programs in which a loop is reordered.

Of any other program this C is what it is as written, which `native:tiny` runs at a fortieth of the compiler's time: the
answer to it is `UNSUPPORTED`. One program in six has a loop that is reordered. Modules with graphs are all taken, whose
runs of bindings are fused.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from refmlc.adapters.implementation import Implementation, Prepared, Stop, Stopped
from refmlc.adapters.limits import Limits
from refmlc.adapters.lookup import implementation
from refmlc.adapters.native import Native
from refmlc.adapters.translation import translated
from refmlc.adapters.ways import way
from refmlc.codegen.options import Grade
from refmlc.diag.errors import RefmlcError
from refmlc.ir import IRModule, tir

MOVED = "moved"


def made(spec: str, limits: Limits | None = None) -> Implementation:
    """The implementation that `spec` names, `moved` besides those that `refmlc check` knows. Fails: RM112."""
    if spec == MOVED:
        return Moved(Native("", limits or Limits()))
    return implementation(spec, limits)


@dataclass(frozen=True)
class Moved:
    """The best C for this machine, of programs in which it is another than as written."""

    native: Native = field(default_factory=Native)
    name: str = MOVED
    promises_verdicts: bool = True

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """Compile `module`, if it is worth it."""
        return self.prepare_all([module])[0]

    def prepare_all(self, modules: Sequence[IRModule]) -> list[Prepared | Stopped]:
        """Compile those of `modules` that are worth it together."""
        worth = [self._worth(module) for module in modules]
        taken = [module for module, one in zip(modules, worth, strict=True) if one]
        compiled = iter(self.native.prepare_all(taken) if taken else [])
        left = Stopped(Stop.UNSUPPORTED, "no loop of it is reordered: its C is as written")
        return [next(compiled) if one else left for one in worth]

    def close(self) -> None:
        """Nothing is held."""

    def _worth(self, module: IRModule) -> bool:
        if not all(isinstance(func, tir.PrimFunc) for func in module.functions.values()):
            return True
        try:
            _, (translation,) = translated([module], way(self.native.how).options, fused=False)
        except RefmlcError:
            return True  # whoever compiles it says what is wrong
        blocks = [block for unit in translation.units.values() for block in unit.blocks]
        return any(block.grade is Grade.REORDERED for block in blocks)
