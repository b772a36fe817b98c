"""The verdict that `refmlc reduce` keeps without a command: a code of the interpreter, or an implementation's finding.

| options               | keeps                                                                               |
|-----------------------|-------------------------------------------------------------------------------------|
| `--code RM1xx`, RM2xx | the text is refused with this code: its lines are reduced                           |
| `--code RM3xx`, RM4xx | a call ends in this code, as `refmlc check` says                                    |
| `--impl SPEC`         | the implementation has a finding: RM701 … RM704, RM707, RM708, the first, or `--code`  |

The calls are those that `refmlc check` makes; they are reduced too, and written into the result as comments.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, CODES
from refmlc.lang.ir import IRModule, relax
from refmlc.oracle.arguments import CallLimits, CallMaker, tried
from refmlc.oracle.implementations.implementation import Implementation, Limits
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.reduction_predicates import codes_of, ends_in, findings_of, same_verdict
from refmlc.strategies.arguments import arguments
from refmlc.strategies.case import Case


@dataclass(frozen=True)
class Target:
    """A case that shows the verdict, and the predicate to keep."""

    case: Case
    keep: Callable[[Case], bool]


def known_code(code: str) -> str:
    """`code`, which is in the catalogue. Fails: RM112."""
    if code not in CODES:
        raise fail(BAD_USAGE, f"there is no code `{code}`", None, "`refmlc explain` lists them")
    return code


def is_static(code: str | None) -> bool:
    """True if a text is refused with this code before anything runs."""
    return code is not None and code.startswith(("RM1", "RM2"))


def find_target(module: IRModule, func: str | None, code: str | None, implementation: Implementation | None) -> Target:
    """The first function (or the named one) whose calls show the verdict. Fails: RM112 if none does."""
    limits = Limits()
    met: list[str] = []
    for case in _cases(module, func, limits):
        if implementation is None:
            codes = codes_of(case, limits)
        else:
            codes = [finding.code.id for finding in findings_of(case, implementation, limits)]
        met += codes
        shown_code = code or (codes[0] if codes else None)
        if shown_code in codes:
            return Target(case, _predicate(shown_code, implementation, limits))
    outcome = f"ends in {code}" if code else "is wrong"
    raise fail(
        BAD_USAGE,
        f"no call {outcome}: there is nothing to keep",
        None,
        f"met: {', '.join(dict.fromkeys(met)) or 'nothing'}",
    )


def _predicate(code: str, implementation: Implementation | None, limits: Limits) -> Callable[[Case], bool]:
    return ends_in(code, limits) if implementation is None else same_verdict(implementation, code, limits)


def _cases(module: IRModule, func: str | None, limits: Limits) -> Iterator[Case]:
    """A case for each function that can be called. Fails: RM111 if no arguments can be generated."""
    for name, function in module.functions.items():
        if isinstance(function, relax.ExternFunc) or (function.private if func is None else name != func):
            continue
        maker = CallMaker(module, name)
        trial = tried(maker, module, name, lambda call: arguments(call.recipes), Interp(limits), CallLimits())
        yield Case(module, name, tuple(call.recipes for call in trial.calls))
