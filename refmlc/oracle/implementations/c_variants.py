"""The ways in which in-house C is made, by the names that follow `native:`.

| name                | C                                                                                         |
|---------------------|-------------------------------------------------------------------------------------------|
| (none)              | as `refmlc.build(tier="native")`: the best grade for this machine, runs of bindings fused |
| `tiny`              | as written, what is not proved is checked; compiled by tcc where there is one: quickly    |
| `guarded`           | the same by gcc or clang                                                                  |
| `unchecked`         | as written, blocks without checks where everything is proved                              |
| `avx512`, `avx2`, … | the loops reordered that may be, for this instruction set                                 |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.native.compile.isa import detect_isa, isas_here
from refmlc.native.options import ISAS, Grade, Isa, Options


@dataclass(frozen=True)
class Way:
    """How C is made: the grade that no block is above, the instruction set, a quick compiler, runs fused."""

    best: Grade = Grade.REORDERED
    isa: Isa = ISAS["none"]
    tiny: bool = False
    fused: bool = False

    @property
    def options(self) -> Options:
        """The options of the generator."""
        return Options(self.best, self.isa)


PLAIN: Mapping[str, Callable[[], Way]] = {
    "": lambda: Way(Grade.REORDERED, detect_isa(), fused=True),
    "tiny": lambda: Way(Grade.GUARDED, tiny=True),
    "guarded": lambda: Way(Grade.GUARDED),
    "unchecked": lambda: Way(Grade.UNCHECKED),
}


def way(name: str) -> Way:
    """The way called `name`. Fails: RM112 (there is none, or this machine lacks the instruction set)."""
    if name in PLAIN:
        return PLAIN[name]()
    if name not in ISAS:
        names = ", ".join((*(each for each in PLAIN if each), *isas_here()))
        raise fail(BAD_USAGE, f"C has no variant `{name}`", None, f"this machine has: {names}")
    if name not in isas_here():
        raise fail(BAD_USAGE, f"this machine does not run `{name}`; it runs {', '.join(isas_here())}")
    return Way(Grade.REORDERED, ISAS[name])


def ways_here() -> tuple[str, ...]:
    """The names of the ways of this machine, the plain one left out."""
    return (*(name for name in PLAIN if name), *isas_here())
