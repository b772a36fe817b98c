"""The interpreter, which is the meaning, as an implementation: `interp`.

`interp:sanitized` watches it with every detector. The operators of a module are functions first (`legalize_ops`):
detectors look into them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from refmlc.diag.errors import RefmlcError, error
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.native.tier.native_module import NativeModule
from refmlc.native.tier.tier_switch import TierSwitch
from refmlc.observe.sanitize.kinds import ALL
from refmlc.observe.sanitize.sanitizer import Sanitizer
from refmlc.oracle.implementations.implementation import Answer, Ended, Limits, Prepared, Stopped
from refmlc.oracle.implementations.local_calls import LocalCalls, answered, nowhere, stopped
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.threads.schedule import ThreadSchedule
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry


@dataclass(frozen=True)
class Interp:
    """The interpreter. `check`: modules that break a static rule are rejected; `allow` as in `refmlc.build`.

    `as_written`: hooks hear of no barrier that is implied (TIR-229). `compiles_from`: after that many iterations
    guarded C executes the functions in which no detector can find anything (NAT-006); None: never. `orders`: how many
    orders of threads the meaning of a call tries (TIW-012).
    """

    limits: Limits = field(default_factory=Limits)
    registry: FunctionRegistry = DEFAULT
    math: Literal["cr", "libm"] = "cr"
    check: bool = True
    allow: frozenset[str] = frozenset()
    as_written: bool = False
    compiles_from: int | None = None
    orders: int = 1
    name: str = "interp"
    promises_verdicts: bool = True

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """Check `module`; its functions are prepared when they are called."""
        try:
            checked(module, check=self.check)
        except RefmlcError as failure:
            return stopped(failure)
        return Interpreted(module, self)

    def close(self) -> None:
        """Nothing is held."""


class Interpreted:
    """A module in the interpreter. `hooks` watches its calls; `native` is the module where C may take part.

    `schedule` chooses the order of threads.
    """

    def __init__(
        self,
        module: IRModule,
        interp: Interp,
        hooks: Hooks | None = None,
        native: NativeModule | None = None,
        *,
        schedule: ThreadSchedule | None = None,
    ) -> None:
        budget = interp.limits.budget()
        self._switch = None if native is None else TierSwitch(native, budget, waits=True, worth=interp.compiles_from)
        machine = Machine(
            module,
            hooks=hooks,
            budget=budget,
            substitutes=self._switch,
            allow=interp.allow,
            registry=interp.registry,
            output=nowhere,
            math=interp.math,
            as_written=interp.as_written,
        )
        machine.schedule = schedule
        self._calls = LocalCalls(machine)

    @property
    def holds_memory(self) -> bool:
        """True if tensors of former calls are alive, which the next call's limit of bytes would count."""
        return self._calls.machine.budget.bytes > 0

    @property
    def steps(self) -> int:
        """The statements that the last call executed."""
        return self._calls.machine.budget.steps

    @property
    def compiled_calls(self) -> int:
        """How many calls of functions C has executed."""
        counts = None if self._switch is None else self._switch.counts
        return 0 if counts is None else counts.native

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`."""
        return self._calls.call(func, args)

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True)
class SanitizedInterp:
    """The interpreter with every detector. `detectors`: what only those find is found too."""

    limits: Limits = field(default_factory=Limits)
    name: str = "interp:sanitized"
    promises_verdicts: bool = True
    detectors: bool = True

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """Check `module`, and make functions of its operators."""
        try:
            checked(module)
        except RefmlcError as failure:
            return stopped(failure)
        lowered = answered(lambda: legalize_ops(module))
        return lowered if isinstance(lowered, Stopped) else SanitizedModule(lowered, Interp(self.limits, check=False))

    def close(self) -> None:
        """Nothing is held."""


class Watched:
    """A module in the interpreter, whose calls run under the detectors of `kinds`: what a call shows is that call's.

    Functions are prepared once, for calls that end and leave nothing behind. Others end the interpreter that executed
    them, and so does C, whose counts are of all calls: the next call has a new one.
    """

    def __init__(
        self,
        module: IRModule,
        interp: Interp,
        kinds: Collection[str] = ALL,
        native: NativeModule | None = None,
        *,
        schedule: ThreadSchedule | None = None,
    ) -> None:
        self._module, self._interp, self._kinds, self._native = module, interp, kinds, native
        self._schedule = schedule
        self._is_clean = True
        self._begin()

    def _begin(self) -> None:
        self.hooks = Sanitizer(self._module, self._kinds)
        self.interpreted = Interpreted(self._module, self._interp, self.hooks, self._native, schedule=self._schedule)

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`. `hooks` and `interpreted` tell of this call, until the next."""
        if not self._is_clean or self.interpreted.holds_memory:
            self._begin()
        else:
            self.hooks.renew()
        answer = self.interpreted.run(func, args)
        self._is_clean = isinstance(answer, Ended) and self._native is None
        return answer

    def explained(self, answer: Answer) -> Answer:
        """The answer of the last call, with what detectors know of it."""
        if isinstance(answer, Ended) or answer.diagnostic is None:
            return answer
        return stopped(self.hooks.explain(error(answer.diagnostic)))


class SanitizedModule:
    """A module whose calls run under fresh detectors each."""

    def __init__(self, module: IRModule, interp: Interp) -> None:
        self._watched = Watched(module, interp)

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`."""
        return self._watched.explained(self._watched.run(func, args))

    def close(self) -> None:
        """Nothing is held."""
