"""The reference for later stages: a module, its called functions, and the meaning of the calls.

| the stage                         | is compared with                                            |
|-----------------------------------|-------------------------------------------------------------|
| has all functions that are called | the module: each of these functions is called               |
| has lost one of them              | nothing: it is a new module, whose own functions are called |

TVM takes the Relax functions away once they are bytecode, and lowers the TensorIR functions alone.

Where no call as `refmlc check` makes them is defined (a divisor is 0 in each), others are drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from refmlc.diag import RefmlcError, error, fail
from refmlc.diag.catalogue import NO_PACKED_FUNC, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import IRModule, relax
from refmlc.oracle.calls import CallMaker
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.passes.constant_parameters import Constants
from refmlc.oracle.passes.host_modules import is_kernel
from refmlc.oracle.reference import references
from refmlc.oracle.refine.calls import Call, fresh
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import rolled_inputs

FURTHER = 20


@dataclass(frozen=True)
class Tries:
    """A module with calls of one function: what the oracle looks at."""

    module: IRModule
    func: str
    calls: tuple[Call, ...]
    name: str = ""

    def arguments(self, number: int = 0) -> list[object]:
        """Fresh arguments."""
        return fresh(self.calls[number])

    def meanings(self, interp: Interp) -> list[Answer]:
        """The answer to each call, under the sanitizer."""
        return [each.answer for each in references(self, interp, sanitize=True)]


@dataclass(frozen=True)
class CallMeaning:
    """A call and its meaning; `meant` None: the call is undefined or traps, as `why` says."""

    call: Call
    meant: Ended | None
    why: str = ""


@dataclass(frozen=True)
class DrawOptions:
    """How many calls are made for each function, and from which seed: those of `refmlc check`, and a wild one."""

    calls: int = 3
    seed: int = 0


@dataclass
class BaselineFunction:
    """A function that is called. `problem`: why refmlc cannot tell what it means."""

    name: str
    known: list[CallMeaning] = field(default_factory=list)
    problem: str = ""


class Baseline:
    """A module and the calls of its functions."""

    def __init__(
        self, module: IRModule, names: Sequence[str], constants: Constants, draw: DrawOptions, interp: Interp
    ) -> None:
        """Make calls of each function and run them under the sanitizer; `constants` are arguments at the end."""
        self.module = module
        self._interp, self._constants = interp, constants
        self.functions = [self._function(name, constants.get(name, ()), draw) for name in names]

    def has_all(self, module: IRModule) -> bool:
        """Whether `module` has the functions too."""
        return all(function.name in module.functions for function in self.functions)

    def keeps(self, name: str, call: Call) -> bool:
        """True if the last arguments of `call` equal the constants of function `name` in the module."""
        constants = self._constants.get(name, ())
        arguments = fresh(call)[-len(constants) :] if constants else []
        return all(
            isinstance(drawn, Tensor) and drawn.shape == other.shape and drawn.array.tobytes() == other.array.tobytes()
            for drawn, other in zip(arguments, constants, strict=True)
        )

    def _function(self, name: str, constants: Sequence[object], draw: DrawOptions) -> BaselineFunction:
        function = BaselineFunction(name)
        try:
            maker = CallMaker(self.module, name)
            usual = [maker.call(number, draw.seed, {}).recipes for number in range(draw.calls)]
            self._try(function, [*usual, maker.wild(draw.seed).recipes], constants)
            if not function.problem and not any(call.meant for call in function.known):
                seeds = range(draw.seed * FURTHER, (draw.seed + 1) * FURTHER)
                self._try(function, [rolled_inputs(self.module, name, seed) for seed in seeds], constants, draw.calls)
        except RefmlcError as failure:
            function.problem = line_of(failure)
        return function

    def _try(
        self, function: BaselineFunction, calls: Sequence[Call], constants: Sequence[object], enough: int | None = None
    ) -> None:
        """Run these calls; `enough` defined ones end it."""
        for new_call in calls:
            call = (*fresh(new_call)[: len(new_call) - len(constants)], *constants) if constants else new_call
            answer = Tries(self.module, function.name, (call,)).meanings(self._interp)[0]
            try:
                function.known.append(known_of(call, answer))
            except RefmlcError as failure:
                function.problem = line_of(failure)
            if enough is not None and sum(earlier.meant is not None for earlier in function.known) >= enough:
                return


def known_of(call: Call, answer: Answer) -> CallMeaning:
    """The meaning of `call`, of which `answer` is the answer. Fails: RM5xx, RM6xx if refmlc cannot tell."""
    if isinstance(answer, Ended):
        return CallMeaning(call, answer)
    if answer.why in (Stop.UNDEFINED, Stop.TRAP) and not lacks(answer):
        return CallMeaning(call, None, answer.message)
    raise beyond(answer)


def beyond(answer: Stopped) -> RefmlcError:
    """The failure that says that refmlc cannot tell."""
    if answer.diagnostic is None or lacks(answer):
        return fail(UNSUPPORTED_CONSTRUCT, answer.message if answer.diagnostic is None else answer.diagnostic.message)
    return error(answer.diagnostic)


def lacks(answer: Answer) -> TypeGuard[Stopped]:
    """Whether it ends because a packed function is not registered here: the compiler's runtime may well have it."""
    return isinstance(answer, Stopped) and answer.diagnostic is not None and answer.diagnostic.code is NO_PACKED_FUNC


def line_of(failure: RefmlcError) -> str:
    """Its message, in one line."""
    return f"{failure.code.id}: {failure.diagnostic.message}"


def called(module: IRModule) -> list[str]:
    """The functions that are called: the public graphs; without them the public functions; without them all.

    Kernels are not: what launches them is called.
    """
    functions = module.functions.items()
    bodies = {name: each for name, each in functions if not isinstance(each, relax.ExternFunc) and not is_kernel(each)}
    public = [name for name, each in bodies.items() if not each.private]
    graphs = [name for name in public if isinstance(bodies[name], relax.Function)]
    return graphs or public or list(bodies)
