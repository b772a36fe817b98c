"""A program with arguments for one or more calls, and the meaning of each call.

`refmlc.strategies.Case` is a `Program`; `refmlc check` makes its own from files and options.

The meaning of a call is one run of the interpreter under the sanitizer:

| field    | holds                                                               |
|----------|---------------------------------------------------------------------|
| `answer` | how the call ends for the oracle: what a detector finds ends it too |
| `plain`  | how it ends without detectors, which is what both tiers promise     |
| `report` | the sanitizer's findings and counts; None without the sanitizer     |
| `steps`  | the statements that were executed                                   |
| `compiled_calls` | the calls of functions that guarded C executed, of long calls (`Interp.compiles_from`) |
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from refmlc.diag.catalogue import CODES
from refmlc.diag.errors import error
from refmlc.lang.ir import IRModule, tir
from refmlc.native.tier.native_module import NativeModule
from refmlc.observe.sanitize.detector import Reach
from refmlc.observe.sanitize.kinds import ALL, DETECTED, within
from refmlc.observe.sanitize.proved import is_plain, outputs_alone
from refmlc.observe.sanitize.report import Finding, Report
from refmlc.observe.sanitize.sanitizer import Sanitizer
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp, Interpreted
from refmlc.oracle.implementations.local_calls import stopped
from refmlc.oracle.implementations.native import guarded_module
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.memory.tensor import Tensor


class Program(Protocol):
    """A module, the function that is called, and the arguments of each call."""

    @property
    def module(self) -> IRModule: ...

    @property
    def func(self) -> str:
        """The function that is called."""
        ...

    @property
    def calls(self) -> Sized:
        """The calls: there are as many as this has parts."""
        ...

    @property
    def name(self) -> str:
        """What messages call it; may be empty."""
        ...

    def arguments(self, number: int = 0) -> list[object]:
        """The arguments of call `number`, fresh ones each time."""
        ...


NOTHING: Mapping[int, Answer] = MappingProxyType({})

VERDICTS = {
    Stop.UNDEFINED: "undefined",
    Stop.TRAP: "trap",
    Stop.UNSUPPORTED: "unsupported",
    Stop.REJECTED: "rejected",
    Stop.EXHAUSTED: "exhausted",
    Stop.CRASHED: "crashed",
    Stop.TIMED_OUT: "timed out",
}


@dataclass(frozen=True)
class Reference:
    """What one call of a program means."""

    answer: Answer
    plain: Answer
    report: Report | None = None
    steps: int = 0
    compiled_calls: int = 0

    @property
    def verdict(self) -> str:
        """In a word: `defined`, `undefined`, `trap`, `unsupported`, `rejected`, `exhausted`, `crashed`."""
        return "defined" if isinstance(self.answer, Ended) else VERDICTS[self.answer.why]


def references(
    program: Program,
    interp: Interp,
    *,
    sanitize: bool,
    kinds: Collection[str] = ALL,
    ends: Mapping[int, Answer] = NOTHING,
) -> list[Reference]:
    """What each call of `program` means. The module is not checked: it was, or is legal as it was made.

    `ends`: how calls end without detectors, by their numbers, as far as the caller knows from `interp`.
    """
    if sanitize:
        module = legalize_ops(program.module)  # detectors look into the functions that operators are
        quick = frozenset(kinds) - proved(module)
        native = None if interp.compiles_from is None else guarded_module(module)
        return [
            _sanitized(program, module, number, interp, kinds, quick, native, ends.get(number))
            for number in range(len(program.calls))
        ]
    interpreted = Interpreted(program.module, interp)
    results: list[Reference] = []
    for number in range(len(program.calls)):
        answer = interpreted.run(program.func, program.arguments(number))
        results.append(Reference(answer, answer, steps=interpreted.steps))
    return results


def proved(module: IRModule) -> frozenset[str]:
    """The kinds that need no detector in the first run: impossible ones, and those that a second run can explain."""
    functions = {name: func for name, func in module.functions.items() if isinstance(func, tir.PrimFunc)}
    if not all(map(is_plain, functions.values())):
        return frozenset()
    alone = all(outputs_alone(module, name, func) for name, func in functions.items())
    return within(Reach.NOT_PLAIN, Reach.NOT_PLAIN_ALONE) if alone else within(Reach.NOT_PLAIN)


def _sanitized(
    program: Program,
    module: IRModule,
    number: int,
    interp: Interp,
    kinds: Collection[str],
    quick: frozenset[str],
    native: NativeModule | None,
    end: Answer | None,
) -> Reference:
    """One call under the detectors of `kinds`; those of `quick` are enough where arguments share no memory."""
    args = program.arguments(number)
    watched = frozenset(kinds) if _share(args) else quick
    hooks = Sanitizer(module, watched)
    interpreted = Interpreted(module, interp, hooks, native)
    answer = interpreted.run(program.func, args)
    if isinstance(answer, Stopped) and answer.why is Stop.UNDEFINED and watched != frozenset(kinds):
        hooks = Sanitizer(module, kinds)
        interpreted = Interpreted(module, interp, hooks)
        answer = interpreted.run(program.func, program.arguments(number))
    explained = _explained(answer, hooks)
    plain = answer
    if isinstance(answer, Stopped) and answer.diagnostic is not None and answer.diagnostic.code.id in DETECTED:
        plain = end or Interpreted(program.module, interp).run(program.func, program.arguments(number))
    report = _report(explained, hooks, kinds)
    return Reference(explained, plain, report, interpreted.steps, interpreted.compiled_calls)


def _share(args: Sequence[object]) -> bool:
    """Whether two arguments lie in one storage."""
    storages = [id(arg.storage) for arg in args if isinstance(arg, Tensor)]
    return len(set(storages)) < len(storages)


def _explained(answer: Answer, hooks: Sanitizer) -> Answer:
    """The answer with what detectors know of it."""
    if isinstance(answer, Ended) or answer.diagnostic is None:
        return answer
    return stopped(hooks.explain(error(answer.diagnostic)))


def _report(answer: Answer, hooks: Sanitizer, kinds: Collection[str]) -> Report:
    findings = [*_ending(answer), *hooks.lints()]
    counts = {code: 0 for code in CODES if code.startswith("RM3") and code not in ALL} | dict.fromkeys(kinds, 0)
    for finding in findings:
        code = finding.diagnostic.code.id
        counts[code] = counts.get(code, 0) + finding.count
    verdict = "defined" if isinstance(answer, Ended) else VERDICTS[answer.why]
    return Report(verdict, tuple(findings), dict(sorted(counts.items())))


def _ending(answer: Answer) -> Iterator[Finding]:
    """What ended the run, if something did."""
    if isinstance(answer, Stopped) and answer.diagnostic is not None:
        yield Finding(answer.diagnostic)
