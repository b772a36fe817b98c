"""The program of a number: a function, a graph over functions, a function and a rewrite of it, or a few operators.

| kind        | the program                                                                         |
|-------------|-------------------------------------------------------------------------------------|
| `functions` | a prim_func (`refmlc.strategies.rolled`)                                            |
| `graphs`    | a function of Relax over prim_funcs (`rolled_module`)                               |
| `schedules` | a prim_func, and a legal rewrite of it that must agree with it (`rolled_schedules`) |
| `operators` | one to three operators of Relax on values at the edges (`rolled_operators`)         |

Most functions are small: faults show in small programs, and of these there are many more in an hour. One in `large` is
as large as the generator makes them.
"""

from dataclasses import replace

from refmlc.lang.ir import IRModule
from refmlc.oracle.fuzz.settings import ANY, Settings
from refmlc.oracle.pairs.variant import Variant
from refmlc.oracle.program import Program
from refmlc.strategies.case import Case
from refmlc.strategies.equivalents import rolled_schedules
from refmlc.strategies.functions import rolled
from refmlc.strategies.modules import rolled_module
from refmlc.strategies.operators.program import rolled_operators


def program(settings: Settings, number: int) -> Case:
    """The case of program `number`."""
    seed = settings.seed_of(number)
    match settings.kind_of(number):
        case "graphs":
            return rolled_module(seed, None if settings.aim == ANY else settings.aim)
        case "operators":
            return rolled_operators(seed)
    small = settings.large == 0 or seed % settings.large != 0
    return rolled(seed, None if settings.aim == ANY else settings.aim, small=small)


def rewrites(settings: Settings, number: int, case: Case) -> list[Variant]:
    """What must agree with the case of program `number`: of kind `schedules`, a rewrite, where there is one."""
    if settings.kind_of(number) != "schedules":
        return []
    schedules = rolled_schedules(case.prim_func, settings.seed_of(number), 1)
    return [
        Variant(case, IRModule({case.func: schedule.func}), schedule.trace, calls=case.calls) for schedule in schedules
    ]


def as_case(program: Program) -> Case | None:
    """The program as a case, where its arguments are recipes."""
    match program:
        case Case():
            return program
        case Variant(base=Case() as base):
            return replace(base, module=program.module, name=program.name)
    return None
