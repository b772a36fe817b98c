"""Assertions on programs, for tests of passes, schedules, importers and hand-written kernels.

| assertion                         | holds when                                                                 |
|-----------------------------------|----------------------------------------------------------------------------|
| `assert_equivalent(before, after)` | `after` may stand for `before` on every call that is tried (`refinement`)   |
| `assert_defined(module)`          | no call that is tried has undefined behaviour                              |

Decision: an assertion that has tried nothing does not hold. Where `before` is undefined on every call, or where every
call ends in a trap, that is raised.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from refmlc.adapters.implementation import Stop, Stopped
from refmlc.adapters.interp import Interp
from refmlc.adapters.limits import Limits
from refmlc.diag import Diagnostic, error
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.frontends.programs import Program
from refmlc.ir.relax import ExternFunc
from refmlc.oracle.reference import references
from refmlc.sanitize.kinds import ALL
from refmlc.testing.calls import Call, Subject, Tried, drawn as draw, subject, told, usual
from refmlc.testing.failures import Inequivalent, NotDefined
from refmlc.testing.refinement import INTERP, Refinement
from refmlc.testing.smallest import smallest
from refmlc.vm.parameters import parameters_of


@entry_point
def assert_equivalent(  # noqa: PLR0913 - each is an option of its own
    before: Program,
    after: Program,
    *,
    func: str | None = None,
    inputs: Sequence[Call] | None = None,
    calls: int | None = None,
    seed: int | None = None,
    implementations: Sequence[str] = (INTERP,),
    limits: Limits | None = None,
    exact: bool = False,
) -> None:
    """`after` may stand for `before`: the same bits, or results within the certified bound, and no less defined.

    A program is a module, a function, a drawn case, a module of real TVM, a path or a text (`frontends.programs`).
    `inputs` are the arguments of each call, which a drawn case has itself; without them, or where a number is given,
    `calls` calls are drawn from `seed` (20 and 0, or what REFMLC_CALLS and REFMLC_SEED say), and one that fails is made
    small before it is told. `after` is run by `implementations`: `interp`, `native`, `tvm:PYTHON`, `cmd:COMMAND`.
    `exact`: the same bits, no bound is a way out.
    Fails: `Inequivalent` (RM701, RM703 … RM705); RM3xx and RM4xx where no call says anything; RM5xx and RM6xx where
    refmlc cannot tell; RM1xx and RM2xx for programs and arguments that do not fit.
    """
    first = subject(before, "before", func)
    second = subject(after, "after", first.func)
    judge = Refinement(first.module, second.module, first.func, implementations, limits, exact=exact)
    try:
        found = _first(first, inputs, (calls, seed), judge.problem)
    finally:
        judge.close()
    if found is not None:
        raise Inequivalent(found)
    if not judge.defined and judge.nothing is not None:
        raise error(judge.nothing.noting("nothing was compared: no call of the program before comes to its end"))


@entry_point
def assert_defined(
    program: Program,
    *,
    func: str | None = None,
    inputs: Sequence[Call] | None = None,
    calls: int | None = None,
    seed: int | None = None,
    kinds: Collection[str] = ALL,
    limits: Limits | None = None,
) -> None:
    """No undefined behaviour on the calls that are tried, the sanitizer's detectors of `kinds` on.

    Calls are given or drawn as by `assert_equivalent`. A call that traps is defined.
    Fails: `NotDefined` (RM3xx); RM4xx where every call traps; otherwise as `assert_equivalent`.
    """
    given = subject(program, "program", func)
    interp, ended, trapped = Interp(limits or Limits()), [False], list[Diagnostic]()

    def problem(call: Call) -> Diagnostic | None:
        answer = references(Tried(given.module, given.func, call), interp, sanitize=True, kinds=kinds)[0].answer
        if not isinstance(answer, Stopped):
            ended[0] = True
            return None
        found = answer.diagnostic or Diagnostic(BAD_USAGE, answer.message)
        if answer.why is Stop.UNDEFINED:
            return found
        if answer.why is not Stop.TRAP:
            raise error(found)
        trapped.append(found)
        return None

    found = _first(given, inputs, (calls, seed), problem)
    if found is not None:
        raise NotDefined(found)
    if trapped and not ended[0]:
        raise error(trapped[0].noting("nothing is known: every call that was tried ends in a trap"))


def _first(
    given: Subject,
    inputs: Sequence[Call] | None,
    drawn: tuple[int | None, int | None],
    problem: Callable[[Call], Diagnostic | None],
) -> Diagnostic | None:
    """The finding on the first call that has one, with the arguments; a drawn call is made small."""
    tried = given.calls if inputs is None and drawn == (None, None) else inputs
    calls, seed = usual("REFMLC_CALLS", drawn[0]), usual("REFMLC_SEED", drawn[1])

    def fails(call: Call) -> bool:
        return problem(call) is not None

    call = next(filter(fails, tried if tried is not None else draw(given.module, given.func, calls, seed)), None)
    if call is not None and tried is None:
        call = smallest(given.module, given.func, call, fails)
    found = None if call is None else problem(call)
    if call is None or found is None:
        return None
    function = given.module.functions[given.func]
    names = [] if isinstance(function, ExternFunc) else [parameter.name for parameter in parameters_of(function)]
    return replace(found, notes=(*found.notes, *told(call, names)))
