"""One module in one way of executing it.

| way                 | executes                                                                                 |
|---------------------|------------------------------------------------------------------------------------------|
| `interp`            | the interpreter                                                                          |
| `tiny`              | C as written, what is not proved is checked; compiled by tcc where there is one: quickly |
| `guarded`           | the same by gcc or clang                                                                 |
| `unchecked`         | C as written, blocks without checks where everything is proved                           |
| `avx512`, `avx2`, … | the loops reordered that may be, for this instruction set; on several threads            |

Every way but the first gives a call back to the interpreter where C declines it or stops: `counts` says how often.
"""

from collections import Counter
from dataclasses import dataclass

from tier_outcomes import STEPS, call, calls, interpreted, together

from refmlc.native.compile import build
from refmlc.native.compile.isa import isas_here
from refmlc.native.emit import emit_module
from refmlc.native.options import ISAS, Grade, Isa, Options
from refmlc.native.tier.compiled_module import CompiledModule, Translation
from refmlc.native.tier.native_tier import NativeTier
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import DEFAULT


@dataclass(frozen=True)
class Way:
    """How a module is executed; without a grade by the interpreter."""

    name: str
    best: Grade | None = None
    isa: Isa = ISAS["none"]
    tiny: bool = False
    threads: int = 1

    def __str__(self) -> str:
        return self.name


INTERP = Way("interp")
TINY = Way("tiny", Grade.GUARDED, tiny=True)
GUARDED = Way("guarded", Grade.GUARDED)
UNCHECKED = Way("unchecked", Grade.UNCHECKED)


def usable():
    """The instruction sets of this machine, the best one first."""
    return isas_here()


def native_ways():
    """Every way of C that this machine has."""
    return (TINY, GUARDED, UNCHECKED, *(Way(name, Grade.REORDERED, ISAS[name]) for name in usable()))


class InC:
    """The functions of a module in C, in the interpreter's place; graphs are interpreted."""

    def __init__(self, tier) -> None:
        self.function = tier.function

    def block(self, _function, _block):
        """Nothing of a graph is in C here."""
        return


class Ran:
    """A module in one way, compiled once, with counts over all calls."""

    def __init__(self, module, way, *, math="cr", registry=DEFAULT, steps=STEPS) -> None:
        self.module = module
        self.way = way
        self.compiled = None
        self.counts = Counter()
        self._steps = steps
        self._options = {"math": math, "registry": registry}
        if way.best is not None:
            source = emit_module(module, Options(way.best, way.isa, math, way.threads))
            library = build(source.text, way.isa, cache=None, tiny=way.tiny) if source.units else None
            self.compiled = CompiledModule(Translation(source.text, source.units, source.declined), library)

    def call(self, name, args):
        """What the call of `name` on `args` comes to."""
        if self.compiled is None:
            return call(self.module, name, args, steps=self._steps, **self._options)
        budget = Budget(self._steps)
        tier = NativeTier(self.module, self.compiled, budget)
        outcome = call(self.module, name, args, budget=budget, substitutes=InC(tier), **self._options)
        counts = tier.counts
        self.counts.update(native=counts.native, declined=counts.declined)
        self.counts.update(stopped=counts.stopped, alarms=counts.false_alarms)
        return outcome

    @property
    def units(self):
        """What is known of the functions that are compiled."""
        return self.compiled.translation.units

    @property
    def declined(self):
        """The functions that are not, and why."""
        return self.compiled.translation.declined


def differences(cases, way, wanted=None):
    """For each call that does not come to the same: the case, the way, both outcomes; and the run."""
    module, _ = together(cases)
    wanted = interpreted(cases) if wanted is None else wanted
    ran = Ran(module, way)
    found = []
    for case, right, given in zip(cases, wanted, calls(cases, ran.call), strict=True):
        found += [(case, way, one, other) for one, other in zip(right, given, strict=True) if one != other]
    return found, ran


def with_moved_loops(cases, way):
    """The cases in which C for this way has reordered loops."""
    module, names = together(cases)
    units = emit_module(module, Options(way.best, way.isa)).units
    grades = {name: {block.grade for block in unit.blocks} for name, unit in units.items()}
    return [case for case, name in zip(cases, names, strict=True) if Grade.REORDERED in grades.get(name, ())]
