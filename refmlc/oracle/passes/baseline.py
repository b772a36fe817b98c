"""The reference for later stages: a module, its called functions, and the meaning of the calls.

Constants become parameters, because TVM 0.27 cannot print a tensor constant once its operators are lowered.

Only the functions that are called from outside get parameters; no pass of TVM's default pipeline looks into a constant.
Constants that stay in private functions make later stages unsupported.

Host and device parts, which TVM lowers apart, are put together again:

| the stage                                                  | is checked as                                          |
|------------------------------------------------------------|--------------------------------------------------------|
| has some functions of a module with kernels, not all of it | that module, with the stage's functions in their place |
| any other                                                  | itself                                                 |

| the stage                         | is compared with                                            |
|-----------------------------------|-------------------------------------------------------------|
| has all functions that are called | the module: each of these functions is called               |
| has lost one of them              | nothing: it is a new module, whose own functions are called |

TVM takes the Relax functions away once they are bytecode, and lowers the TensorIR functions alone.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from refmlc.diag import RefmlcError, error, fail
from refmlc.diag.catalogue import BAD_INPUT, NO_PACKED_FUNC, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import substitute, walk
from refmlc.oracle.arguments import CallMaker
from refmlc.oracle.check.program import CallRequest, checked_program
from refmlc.oracle.contracts.assumptions import applicable, violation_of_call
from refmlc.oracle.implementations.implementation import Answer, Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.non_finite import birth
from refmlc.oracle.reference import references
from refmlc.oracle.refine.calls import Call, fresh
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.arguments import Parameter
from refmlc.vm.parameters import parameters_of

Constants = dict[str, tuple[Tensor, ...]]


def lifted(module: IRModule) -> tuple[IRModule, Constants]:
    """`module` with tensor constants of public Relax functions as parameters at the end; their values by function."""
    functions = dict(module.functions)
    constants: Constants = {}
    for name, function in module.functions.items():
        if isinstance(function, relax.Function) and not function.private:
            functions[name], values = _lifted(function)
            if values:
                constants[name] = values
    if not constants:
        return module, constants
    return replace(module, functions=functions, source=None), constants


def _lifted(function: relax.Function) -> tuple[relax.Function, tuple[Tensor, ...]]:
    constants = [node for node in walk(function.body) if isinstance(node, relax.Constant) and node.data.ndim]
    names = {node.name for node in walk(function) if isinstance(node, relax.Var)}
    table: dict[Node, Node] = {}
    for constant in constants:
        name = next(f"constant_{n}" for n in range(len(names) + 1) if f"constant_{n}" not in names)
        names.add(name)
        shape = tuple(tir.IntImm(INT64, extent) for extent in constant.data.shape)
        kind = TensorType(shape, constant.dtype)
        table[constant] = relax.Var(name, kind, span=constant.span)
    params = (*function.params, *(var for var in table.values() if isinstance(var, relax.Var)))
    values = tuple(Tensor.from_numpy(constant.data, constant.dtype) for constant in constants)
    return replace(function, params=params, body=substitute(function.body, table)), values


OF_STAGES = ("constants", "sizes", "inexact")
MOST_OF_STAGE = 6
LAUNCH = "tirx.kernel_launch_params"


class Linker:
    """Knows the last module that was whole."""

    def __init__(self, module: IRModule) -> None:
        self._whole = module

    def linked(self, module: IRModule) -> IRModule:
        """`module`, or the whole that it is a part of."""
        last_module = self._whole
        if any(map(is_kernel, last_module.functions.values())) and set(module.functions) < set(last_module.functions):
            module = replace(last_module, functions={**last_module.functions, **module.functions})
        self._whole = module
        return module


def is_kernel(func: object) -> bool:
    """Whether it is launched on a device."""
    return isinstance(func, tir.PrimFunc) and LAUNCH in func.attrs


@dataclass(frozen=True)
class Tries:
    """A module with calls of one function: what the oracle looks at."""

    module: IRModule
    func: str
    calls: tuple[Call, ...]
    name: str = ""

    def arguments(self, number: int = 0) -> list[object]:
        return fresh(self.calls[number])

    def meanings(self, interp: Interp) -> list[Answer]:
        """The answer to each call, under the sanitizer."""
        return [each.answer for each in references(self, interp, sanitize=True)]


@dataclass(frozen=True)
class CallMeaning:
    """A call and its meaning; `meaning` None: the call is undefined or traps, as `why` says."""

    call: Call
    meaning: Ended | None
    why: str = ""


@dataclass
class BaselineFunction:
    """A function that is called. `problem`: why refmlc cannot tell what it means; `notes`: of `oracle.arguments`.

    `is_generated`: its calls are all made by refmlc, and the budget has room for more.
    """

    name: str
    meanings: list[CallMeaning] = field(default_factory=list)
    problem: str = ""
    notes: tuple[str, ...] = ()
    is_generated: bool = False

    @property
    def defined(self) -> list[Call]:
        """The calls that run to their end."""
        return [reference.call for reference in self.meanings if reference.meaning is not None]


class Baseline:
    """A module and the calls of its functions."""

    def __init__(
        self, module: IRModule, names: Sequence[str], constants: Constants, request: CallRequest, interp: Interp
    ) -> None:
        """Make calls of each function and run them under the sanitizer; `constants` are arguments at the end.

        Fails: RM111 for arguments of the request that do not fit.
        """
        self.module = module
        self._interp, self.constants, self._assume = interp, constants, request.assume
        self.functions = [self._function(name, constants.get(name, ()), request) for name in names]

    def has_all(self, module: IRModule) -> bool:
        """Whether `module` has the functions too."""
        return all(function.name in module.functions for function in self.functions)

    def keeps(self, name: str, call: Call) -> bool:
        """True if `call` of function `name` satisfies what is assumed, and its last arguments equal the constants."""
        if self._assume and violation_of_call(self.module, name, self._assume, fresh(call)) is not None:
            return False
        constants = self.constants.get(name, ())
        arguments = fresh(call)[-len(constants) :] if constants else []
        return all(
            isinstance(drawn, Tensor) and drawn.shape == other.shape and drawn.array.tobytes() == other.array.tobytes()
            for drawn, other in zip(arguments, constants, strict=True)
        )

    def _function(self, name: str, constants: Sequence[Tensor], request: CallRequest) -> BaselineFunction:
        function = BaselineFunction(name)
        last = [parameter.name for parameter in self._parameters(name)][-len(constants) :] if constants else []
        explicit = replace(request, params={**request.params, **dict(zip(last, constants, strict=True))})
        try:
            program, trial = checked_program(self.module, name, explicit, self._interp)
            calls = [
                tuple(program.arguments(number)) if program.explicit else call.recipes
                for number, call in enumerate(program.calls)
            ]
            function.is_generated = not program.explicit and not trial.left
            function.notes = (*trial.notes, *([f"the budget left out {', '.join(trial.left)}"] if trial.left else []))
            function.notes += self._add(function, calls)
        except RefmlcError as failure:
            if failure.code is BAD_INPUT and request.params:
                raise
            function.problem = line_of(failure)
        return function

    def extend(self, function: BaselineFunction, stage: IRModule) -> None:
        """Add calls for the constants, conditions and divisors of a stage, which the module itself does not have."""
        if not function.is_generated or function.problem:
            return
        known = {reference.call for reference in function.meanings if isinstance(reference.call, tuple)}
        with suppress(RefmlcError):
            assume = applicable(self.module, function.name, self._assume)
            planned = CallMaker(self.module, function.name, others=(stage,), assume=assume).planned()
            calls = [call.recipes for call in planned if call.purpose.startswith(OF_STAGES)]
            self._add(function, [call for call in calls if call not in known][:MOST_OF_STAGE])

    def _parameters(self, name: str) -> Sequence[Parameter]:
        function = self.module.functions[name]
        return [] if isinstance(function, relax.ExternFunc) else parameters_of(function)

    def _add(self, function: BaselineFunction, calls: Sequence[Call]) -> tuple[str, ...]:
        """Run these calls. What is noted: the birth of the first value that is not finite."""
        born: tuple[str, ...] = ()
        tries = Tries(self.module, function.name, tuple(calls))
        for number, reference in enumerate(references(tries, self._interp, sanitize=True)):
            call = calls[number]
            try:
                function.meanings.append(known_of(call, reference.answer))
            except RefmlcError as failure:
                function.problem = line_of(failure)
            found = birth(tries, number, reference) if not born else None
            born = born if found is None else (f"a {found.of_call}",)
        return born


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


def called_functions(module: IRModule) -> list[str]:
    """The functions that are called: the public graphs; without them the public functions; without them all.

    Kernels are not: what launches them is called.
    """
    functions = module.functions.items()
    bodies = {name: each for name, each in functions if not isinstance(each, relax.ExternFunc) and not is_kernel(each)}
    public = [name for name, each in bodies.items() if not each.private]
    graphs = [name for name in public if isinstance(bodies[name], relax.Function)]
    return graphs or public or list(bodies)
