"""The calls that are made: each planned one is run once, which tells its cost, its reach, and whether it is defined.

| a planned call                                     | becomes                                                         |
|----------------------------------------------------|-----------------------------------------------------------------|
| `ordinary`, `sizes`, `random`, explicit arguments  | itself, defined or not                                          |
| wild, undefined by overflow (RM306)                | the same with integers up to the largest 2^k for which it is    |
|                                                    | defined; with 100 where that overflows, and so a finding        |
| wild, undefined by a cast to an integer (RM309)    | the same with floats up to the largest 2^k for which it is      |
| or of a special float (RM311)                      | defined, NaN 0; nothing where none is                           |
| wild, undefined by a divisor, a shift, an          | nothing                                                         |
| assumption (RM307, RM308, RM310), or a trap        |                                                                 |
| `outside`, not defined                             | nothing                                                         |
| beyond refmlc, or too long                         | nothing, but for the first, which is reported                   |
| anything else                                      | itself                                                          |

What is replaced or left out is information in the report, no finding.

Decision: a value that refmlc chose without a reason in the program is no evidence against it. Every program of 32 and
64 bits overflows somewhere; one that overflows with operands up to 100 is reported. A size is never replaced.

The budget is counted in steps of the interpreter, `STEPS_PER_SECOND` of them a second with everything that each call
costs later: the calls are the same on every machine. The first calls (`LEAST`) are made in any case, unless
`FUTILE` calls took more than the budget each. A call that takes `BEYOND` times the budget is not begun, as the steps of
the first one and the extents of loops tell.
Where threads wait for each other, a step costs `SWITCHING` times as much: they take turns, and each detector watches.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product

from refmlc.diag import Diagnostic, RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.reach import reachable
from refmlc.lang.ir.threads import exchanges
from refmlc.oracle.arguments.conditions import Value
from refmlc.oracle.arguments.maker import PLAUSIBLE, UNSATISFIED, CallMaker, GeneratedCall, within
from refmlc.oracle.arguments.purposes import BRANCHES, EXPLICIT, OUTSIDE
from refmlc.oracle.contracts import Contracts
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp, Interpreted
from refmlc.oracle.implementations.native import guarded_module
from refmlc.oracle.pairs.branches import Branch, ExecutedParts, ReachRecorder, reachable_part
from refmlc.rewrite.transform import legalize_ops

LEAST = 3
FUTILE = 2
BEYOND = 4
SWITCHING = 4
STEPS_PER_SECOND = 50_000
USUAL_BUDGET = 10.0
RANDOM_CALLS = 2
TRIED = 8  # random calls that are tried for a branch that no other one reaches
SOLVED = 12  # and calls with decisive values
TOO_LONG = "not called, it takes more steps than the budget allows"
OVERFLOW, ARBITRARY = "RM306", ("RM307", "RM308", "RM310")
FLOATS = ("RM309", "RM311")
BITS = 64
Arguments = Callable[[GeneratedCall], list[object]]


@dataclass(frozen=True)
class CallLimits:
    """How many calls are made. `most` None: as many as the purposes need; else random ones follow up to that number.

    `seed`: that of further random calls; 0: only the usual ones. `budget`: seconds for all that the calls cost, about.
    """

    most: int | None = None
    seed: int = 0
    budget: float = USUAL_BUDGET


@dataclass
class Trial:
    """The calls of a function, and what is known of them.

    `reach`: what they executed; `notes`: what was replaced or left out; `left`: purposes that the budget did not reach;
    `contracts`: what the arguments satisfy; `outside`: what is undefined outside of these. `ends`: how those calls
    ended that are made as they were tried, by their numbers.
    """

    calls: list[GeneratedCall] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    reach: ExecutedParts = field(default_factory=ExecutedParts)
    steps: int = 0
    contracts: Contracts = field(default_factory=Contracts)
    outside: list[Diagnostic] = field(default_factory=list)
    ends: dict[int, Ended] = field(default_factory=dict)


def tried(
    maker: CallMaker, module: IRModule, func: str, arguments: Arguments, interp: Interp, limits: CallLimits
) -> Trial:
    """The calls of `func` for all purposes within the limits. `arguments` makes those of a call.

    Fails: RM111 if an argument cannot be made.
    """
    return _Trying(maker, module, func, arguments, interp, limits).trial()


def steps_per_second(module: IRModule, func: str) -> int:
    """The steps of calls of `func` that the budget counts as a second."""
    functions = reachable(module, func).functions.values()
    waits = any(isinstance(function, tir.PrimFunc) and exchanges(function) for function in functions)
    return STEPS_PER_SECOND // SWITCHING if waits else STEPS_PER_SECOND


class _Trying:
    def __init__(
        self, maker: CallMaker, module: IRModule, func: str, arguments: Arguments, interp: Interp, limits: CallLimits
    ) -> None:
        self._maker, self._func, self._arguments, self._limits = maker, func, arguments, limits
        self._recorder = ReachRecorder()
        self._first = Interpreted(module, interp, self._recorder)
        self._steps = limits.budget * steps_per_second(module, func)
        short = replace(interp.limits, steps=min(interp.limits.steps, int(self._steps)))
        self._later = Interpreted(module, replace(interp, limits=short), self._recorder)
        self._part = reachable_part(module, func)
        if interp.compiles_from is not None and not self._recorder.reach(self._part).missed:
            lowered = legalize_ops(module)  # nothing is to be recorded, so that long calls may run in C
            self._first = self._later = Interpreted(lowered, interp, None, guarded_module(lowered))
        self._trial = Trial(contracts=maker.contracts)
        self._futile = self._first_steps = 0
        self._through_c = False

    def trial(self) -> Trial:
        """Try the planned calls, then those that reach more branches, then random ones."""
        explicit = False
        for call in self._maker.planned():
            explicit |= call.purpose == EXPLICIT
            if self._full:
                break
            if self._spent:
                if call.purpose not in self._trial.left:
                    self._trial.left.append(call.purpose)
                continue
            self._try(call)
        if not explicit:
            self._reach_branches()
            self._add_random()
        self._trial.reach = self._recorder.reach(self._part)
        return self._trial

    @property
    def _full(self) -> bool:
        return self._limits.most is not None and len(self._trial.calls) >= self._limits.most

    @property
    def _spent(self) -> bool:
        return self._trial.steps >= self._steps and (len(self._trial.calls) >= LEAST or self._futile >= FUTILE)

    def _try(self, call: GeneratedCall) -> None:
        """Take the call, or what takes its place."""
        if call.why == UNSATISFIED and self._trial.calls:
            return
        if self._trial.calls and self._steps_of(call) > BEYOND * self._steps:
            self._trial.notes.append(f"{call.label}: {TOO_LONG}")
            return
        answer = self._run(call)
        replacement = self._replacement(call, answer)
        if replacement is not None:
            if replacement is call and isinstance(answer, Ended) and not self._through_c:
                self._trial.ends[len(self._trial.calls)] = answer
            self._trial.calls.append(replacement)

    def _steps_of(self, call: GeneratedCall) -> float:
        """The steps that a call may take: those of the first call, in proportion to the iterations of loops."""
        first_iterations = self._maker.iterations(self._trial.calls[0].sizes)
        return self._first_steps * self._maker.iterations(call.sizes) / max(first_iterations, 1)

    def _run(self, call: GeneratedCall) -> Answer:
        interpreted = self._later if self._trial.calls else self._first
        answer = interpreted.run(self._func, self._arguments(call))
        self._trial.steps += interpreted.steps
        self._first_steps = self._first_steps or interpreted.steps
        self._through_c |= interpreted.compiled_calls > 0
        return answer

    def _replacement(self, call: GeneratedCall, answer: Answer) -> GeneratedCall | None:
        """The call to make in place of one that ends so; None: none."""
        if isinstance(answer, Ended) or (not call.wild and answer.why in (Stop.UNDEFINED, Stop.TRAP)):
            return call
        if answer.why is Stop.EXHAUSTED and self._trial.calls:
            self._futile += 1
            self._trial.notes.append(f"{call.label}: {TOO_LONG}")
            return None
        if answer.why not in (Stop.UNDEFINED, Stop.TRAP):
            return None if self._trial.calls and answer.why is not Stop.CRASHED else call
        code = _code(answer)
        if call.purpose.startswith(OUTSIDE.name) or answer.why is Stop.TRAP or code in ARBITRARY:
            self._outside(call, answer)
            return None
        if code == OVERFLOW:
            return self._smaller(call, answer, lambda bits: ((1 << bits) - 1, None), PLAUSIBLE)
        if code in FLOATS:
            return self._smaller(call, answer, lambda bits: (None, float(1 << bits)), None)
        return call

    def _smaller(
        self,
        call: GeneratedCall,
        first: Stopped,
        bounds: Callable[[int], tuple[int | None, float | None]],
        floor: int | None,
    ) -> GeneratedCall | None:
        """The call with the largest values for which it is defined, by halving the number of their bits."""
        low, high = 0, BITS  # defined with `low` bits, perhaps; not with `high`
        best: GeneratedCall | None = None
        while high - low > 1:
            bits = (low + high) // 2
            candidate = within(call, *bounds(bits))
            if isinstance(self._run(candidate), Ended):
                low, best = bits, candidate
            else:
                high = bits
        if floor is not None and (best is None or (1 << low) - 1 < floor):
            return self._plausible(within(call, floor, None))
        self._note(call, first, f"values up to 2^{low} are used" if best else "not called with these values")
        return None if best is None else replace(best, why=f"{best.why}; at most 2^{low}, which stays defined")

    def _plausible(self, call: GeneratedCall) -> GeneratedCall | None:
        """The call with plausible values; None where another value than an overflow makes it undefined."""
        answer = self._run(call)
        if isinstance(answer, Stopped) and (answer.why is Stop.TRAP or _code(answer) in ARBITRARY):
            self._outside(call, answer)
            return None
        return call

    def _outside(self, call: GeneratedCall, answer: Stopped) -> None:
        """Keep what is undefined outside of the contracts."""
        if answer.why is Stop.UNDEFINED and answer.diagnostic is not None and self._trial.contracts.rows:
            place = "" if answer.diagnostic.span is None else f" at {answer.diagnostic.span.place}"
            self._trial.outside.append(answer.diagnostic)
            note = f"undefined outside the contract: {answer.diagnostic.code.id}{place}"
            if note not in self._trial.notes:
                self._trial.notes.append(note)
        else:
            self._note(call, answer, "not called with these values")

    def _note(self, call: GeneratedCall, answer: Stopped, what: str) -> None:
        place = (
            "" if answer.diagnostic is None or answer.diagnostic.span is None else f" at {answer.diagnostic.span.place}"
        )
        code = "a trap" if answer.diagnostic is None else answer.diagnostic.code.id
        self._trial.notes.append(f"{call.purpose}: {code}{place} with values that refmlc chose: {what}")

    def _missed(self) -> tuple[Branch, ...]:
        return self._recorder.reach(self._part).missed

    def _reach_branches(self) -> None:
        """Add calls that reach a branch which no other call reaches."""
        solutions = chain(self._solved(), (self._maker.random(number) for number in range(100, 100 + TRIED)))
        for call in solutions:
            if call.why == UNSATISFIED:
                continue
            missed = len(self._missed())
            if not missed or self._full or self._spent:
                return
            try:
                answer = self._run(call)
            except RefmlcError:
                continue
            if len(self._missed()) < missed and not (
                isinstance(answer, Stopped) and answer.why not in (Stop.UNDEFINED, Stop.TRAP)
            ):
                self._trial.calls.append(replace(call, purpose=BRANCHES))

    def _solved(self) -> Iterator[GeneratedCall]:
        """Calls in which parameters have values that decide conditions, one value each and then two."""
        values = {name: use.decisive for name, use in self._maker.uses.parameters.items() if use.decisive}
        sizes = {name: list(map(int, found)) for name, found in self._maker.uses.decisive_sizes.items()}
        pools: dict[str, Sequence[Value]] = {**values, **sizes}
        singles = [{name: value} for name, pool in pools.items() for value in pool]
        pairs = [
            {a: x, b: y}
            for (a, first), (b, second) in product(pools.items(), repeat=2)
            if a < b
            for x, y in product(first[:3], second[:3])
        ]
        for chosen in [*singles, *pairs][: 4 * SOLVED]:
            try:
                yield self._maker.branching(chosen)
            except RefmlcError:
                continue

    def _add_random(self) -> None:
        """Add the usual random calls, those of the seed, and more up to the requested number."""
        usual = [self._maker.random(number) for number in range(RANDOM_CALLS)]
        seed = self._limits.seed
        more = self._limits.most - len(self._trial.calls) if self._limits.most is not None else 0
        count = max(more - RANDOM_CALLS, RANDOM_CALLS + 1 if seed else 0)
        seeded = (self._maker.random(1000 * (seed + 1) + number) for number in range(count))
        for call in chain(usual, seeded):
            if self._full or self._spent:
                return
            self._try(call)


def _code(answer: Stopped) -> str:
    """The code of a diagnostic; empty without one."""
    return "" if answer.diagnostic is None else answer.diagnostic.code.id
