"""The programs that `check` examines, with explicit arguments and sizes; refmlc makes the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, BAD_USAGE
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import PrimType, TensorType
from refmlc.oracle.arguments import CallLimits, CallMaker, GeneratedCall, Trial, tried
from refmlc.oracle.arguments.uses import size_variables
from refmlc.oracle.contracts import ArgumentContract, Contracts
from refmlc.oracle.contracts.assumptions import applicable, violation_by_caller
from refmlc.oracle.implementations.interp import Interp
from refmlc.run.memory.files import as_declared, generate, is_generator
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of
from refmlc.strategies.arguments import arguments
from refmlc.vm.arguments import Parameter, as_value
from refmlc.vm.parameters import parameters_of

GENERATORS = "zeros, ones, iota, normal(SEED)"


@dataclass(frozen=True)
class CheckedProgram:
    """A function with its calls. `explicit` maps a parameter's number to the source of its explicit argument.

    `as_written`, `allow`, `orders`: how it is executed, as in `CheckOptions`; a case says so too.
    """

    module: IRModule
    func: str
    calls: tuple[GeneratedCall, ...]
    explicit: Mapping[int, Callable[[GeneratedCall], object]]
    name: str = ""
    as_written: bool = False
    allow: frozenset[str] = frozenset()
    orders: int = 1

    def arguments(self, number: int = 0) -> list[object]:
        """Fresh arguments of a call."""
        call = self.calls[number]
        generated = arguments(call.recipes)
        return [self.explicit[at](call) if at in self.explicit else argument for at, argument in enumerate(generated)]


def public(module: IRModule) -> list[str]:
    """The functions to check when none is named."""
    return [
        name
        for name, function in module.functions.items()
        if not isinstance(function, relax.ExternFunc) and not function.private
    ]


def known_function(module: IRModule, func: str) -> str:
    """`func`, which the module has. Fails: RM112."""
    if func not in module.functions:
        names = ", ".join(module.functions) or "none"
        raise fail(BAD_USAGE, f"the module has no function `{func}`", None, f"its functions: {names}")
    return func


@dataclass(frozen=True)
class CallRequest:
    """The requested calls: their limits, explicit arguments and sizes.

    `inputs` are arguments by the names of parameters, which the function has; `params` those that it may have. An
    argument is an array, a number, or a generator (`zeros`, `ones`, `iota`, `normal(SEED)`). `assume`: contracts.
    """

    inputs: Mapping[str, object] = field(default_factory=dict)
    params: Mapping[str, object] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    limits: CallLimits = field(default_factory=CallLimits)
    assume: tuple[ArgumentContract, ...] = ()


def known_params(module: IRModule, request: CallRequest) -> None:
    """Require that some function has a parameter named in `params`, unless that is empty. Fails: RM111."""
    functions = [each for each in module.functions.values() if not isinstance(each, relax.ExternFunc)]
    names = {parameter.name for function in functions for parameter in parameters_of(function)}
    if request.params and names.isdisjoint(request.params):
        names_given = ", ".join(request.params)
        raise fail(BAD_INPUT, "no function has a parameter of these names", None, f"given: {names_given}")


def checked_program(module: IRModule, func: str, request: CallRequest, interp: Interp) -> tuple[CheckedProgram, Trial]:
    """The function with its calls, and what is known of them. Fails: RM111 (no argument fits, or can be made), RM112.

    Besides RM109, RM115.
    """
    function = module.functions[func]
    parameters = [] if isinstance(function, relax.ExternFunc) else parameters_of(function)
    given = {**request.params, **request.inputs}
    sizes = dict(request.dims)
    dims = dict.fromkeys(var.name for parameter in parameters for var in size_variables(parameter.ty))
    for name in sizes:
        if name not in dims:
            names = ", ".join(dims) or "none"
            raise fail(BAD_USAGE, f"`{func}` has no symbolic dimension `{name}`", None, f"it has: {names}")
    sources = _explicit_sources(func, parameters, request, sizes)
    explicit = [name for name, value in given.items() if not isinstance(value, str)]
    assume = applicable(module, func, request.assume)
    maker = CallMaker(module, func, explicit, sizes, assume=assume)
    _require_contracts(maker.contracts, given, sizes)

    def arguments_of(call: GeneratedCall) -> list[object]:
        return CheckedProgram(module, func, (call,), sources).arguments()

    trial = tried(maker, module, func, arguments_of, interp, request.limits)
    return CheckedProgram(module, func, tuple(trial.calls), sources), trial


def _require_contracts(contracts: Contracts, given: Mapping[str, object], sizes: Mapping[str, int]) -> None:
    """Refuse explicit arguments that violate a written contract. Fails: RM115."""
    values: dict[str, object] = dict(sizes)
    for name, value in given.items():
        if isinstance(value, Tensor):
            values[name] = value.array
        elif isinstance(value, np.ndarray | np.generic | int | float):
            values[name] = value
    failure = violation_by_caller(contracts, values)
    if failure is not None:
        raise failure


def _explicit_sources(
    func: str, parameters: list[Parameter], request: CallRequest, sizes: dict[str, int]
) -> dict[int, Callable[[GeneratedCall], object]]:
    """What makes the arguments that are given; `sizes` learns what their shapes say."""
    names = [parameter.name for parameter in parameters]
    for name in request.inputs:
        if name not in names:
            raise fail(BAD_INPUT, f"`{func}` has no parameter `{name}`", None, f"its parameters: {', '.join(names)}")
    values = {**request.params, **request.inputs}
    return {
        at: _source(func, declared, values[declared.name], at, sizes)
        for at, declared in enumerate(parameters)
        if declared.name in values
    }


def _source(
    func: str, parameter: Parameter, value: object, at: int, sizes: dict[str, int]
) -> Callable[[GeneratedCall], object]:
    """What makes the argument for a parameter. Fails: RM111 where `value` is none."""
    ty = parameter.ty
    place = f"`{parameter.name}` of `{func}`"
    if isinstance(value, str):
        if not is_generator(value):
            raise fail(
                BAD_INPUT, f"{place} is the text `{value}`, which is not a generator", None, f"generators: {GENERATORS}"
            )
        text = value
        return lambda call: _generated(text, call, at)
    if isinstance(value, np.ndarray):
        value = as_declared(value, ty.dtype if isinstance(ty, TensorType) else None)
    argument = as_value(value, ty, place)
    if isinstance(ty, PrimType) and not isinstance(argument, bool | int | float):
        raise fail(BAD_INPUT, f"{place} is a number; the argument is {kind_of(argument)}")
    if not isinstance(argument, Tensor):
        return lambda _call: argument
    if isinstance(ty, TensorType) and ty.shape is not None:
        for extent, size in zip(ty.shape, argument.shape, strict=False):
            if isinstance(extent, tir.Var):
                sizes.setdefault(extent.name, size)
    return lambda _call: argument.copy()


def _generated(text: str, call: GeneratedCall, at: int) -> object:
    """The generator's value, which replaces the default argument."""
    argument = arguments(call.recipes)[at]
    if not isinstance(argument, Tensor):
        return argument
    return generate(text, argument.shape, argument.dtype)
