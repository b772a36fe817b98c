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
| `orders` | the orders of threads that were tried (`Interp.orders`); empty: one |
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from refmlc.diag.catalogue import CODES
from refmlc.lang.ir import IRModule, tir
from refmlc.observe.sanitize.detector import Reach
from refmlc.observe.sanitize.kinds import ALL, DETECTED, within
from refmlc.observe.sanitize.proved import is_plain, outputs_alone
from refmlc.observe.sanitize.report import Finding, Report
from refmlc.observe.sanitize.sanitizer import Sanitizer
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp, Interpreted, Watched
from refmlc.oracle.implementations.native import guarded_module
from refmlc.oracle.orders import explore
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.interp.threads.schedule import is_event
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
    orders: str = ""

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
        calls = _Calls(program.module, interp, kinds)
        return [calls.reference(program, number, ends.get(number)) for number in range(len(program.calls))]
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


class _Calls:
    """The calls of a module under the detectors of `kinds`: under `_quick` ones where arguments share no memory."""

    def __init__(self, module: IRModule, interp: Interp, kinds: Collection[str]) -> None:
        self._original, self._interp, self._kinds = module, interp, frozenset(kinds)
        self._module = legalize_ops(module)  # detectors look into the functions that operators are
        self._quick = self._kinds - proved(self._module)
        self._native = None if interp.compiles_from is None else guarded_module(self._module)
        self._has_events = any(map(is_event, self._module.functions.values()))
        self._watched: dict[frozenset[str], Watched] = {}

    def _under(self, kinds: frozenset[str]) -> Watched:
        if kinds not in self._watched:
            self._watched[kinds] = Watched(self._module, self._interp, kinds, self._native)
        return self._watched[kinds]

    def reference(self, program: Program, number: int, end: Answer | None) -> Reference:
        """What call `number` means; `end` is how it ends without detectors, where that is known."""
        args = program.arguments(number)
        kinds = self._kinds if _share(args) else self._quick
        watched = self._under(kinds)
        answer = watched.run(program.func, args)
        if isinstance(answer, Stopped) and answer.why is Stop.UNDEFINED and kinds != self._kinds:
            watched = Watched(self._module, self._interp, self._kinds)
            answer = watched.run(program.func, program.arguments(number))
        explained = watched.explained(answer)
        plain = answer
        if isinstance(answer, Stopped) and answer.diagnostic is not None and answer.diagnostic.code.id in DETECTED:
            plain = end or Interpreted(self._original, self._interp).run(program.func, program.arguments(number))
        orders = ""
        if self._interp.orders > 1 and isinstance(answer, Ended) and self._has_events:
            tried = explore(
                self._module,
                program.func,
                lambda: program.arguments(number),
                self._interp,
                orders=self._interp.orders,
                kinds=self._kinds,
            )
            explained, orders = tried.answer, tried.text
        interpreted = watched.interpreted
        report = _report(explained, watched.hooks, self._kinds)
        return Reference(explained, plain, report, interpreted.steps, interpreted.compiled_calls, orders)


def _share(args: Sequence[object]) -> bool:
    """Whether two arguments lie in one storage."""
    storages = [id(arg.storage) for arg in args if isinstance(arg, Tensor)]
    return len(set(storages)) < len(storages)


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
