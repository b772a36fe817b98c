"""What a module does with the parameters of a function: of a graph by the TensorIR functions that it calls.

Operators of Relax are read as the TensorIR functions that they mean.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.reach import reachable
from refmlc.lang.ir.visit import walk
from refmlc.lang.library import OPERATORS
from refmlc.oracle.arguments.kernel_uses import KernelUses, outputs
from refmlc.oracle.arguments.uses import ParameterUse, ProgramUses
from refmlc.rewrite.transform import legalize_ops
from refmlc.vm.parameters import parameters_of

Sources: TypeAlias = Callable[[Node], frozenset[str]]


def uses_of(module: IRModule, func: str) -> ProgramUses:
    """What the program does with the parameters of `func`."""
    part = reachable(module, func)
    uses = ProgramUses()
    function = part.functions[func]
    if isinstance(function, relax.Function):
        for name, domain in operator_domains(function).items():
            uses.use(name).domain = domain
    with suppress(RefmlcError):  # an operator without a TensorIR function: less is known
        part = legalize_ops(part)
    functions = {name: each for name, each in part.functions.items() if isinstance(each, tir.PrimFunc)}
    kernels = {name: KernelUses(each, uses) for name, each in functions.items()}
    function = part.functions[func]
    if isinstance(function, tir.PrimFunc):
        _add_kernel(uses, function, kernels[func])
    elif isinstance(function, relax.Function):
        _add_graph(uses, part, function, kernels)
    return uses


def _add_kernel(uses: ProgramUses, func: tir.PrimFunc, kernel: KernelUses) -> None:
    """The uses of the parameters of a TensorIR function."""
    fresh = outputs(func)
    for name, use in kernel.uses.items():
        use.output = name in fresh
        use.domain = uses.use(name).domain
        uses.parameters[name] = use


def _add_graph(
    uses: ProgramUses, module: IRModule, function: relax.Function, kernels: Mapping[str, KernelUses]
) -> None:
    """The uses of the parameters of a graph, by those of the functions that it calls."""
    flows: dict[relax.Var, frozenset[str]] = {param: frozenset((param.name,)) for param in function.params}

    def sources(value: Node) -> frozenset[str]:
        parts = [flows.get(node, frozenset()) for node in walk(value) if isinstance(node, relax.Var)]
        return frozenset().union(*parts)

    for node in walk(function):
        match node:
            case relax.VarBinding(var=var, value=value) | relax.MatchCast(var=var, value=value):
                flows[var] = sources(value)
            case relax.Call(args=args):
                _add_call(uses, module, args, kernels, sources)
            case _:
                pass


def _add_call(
    uses: ProgramUses, module: IRModule, args: Sequence[Node], kernels: Mapping[str, KernelUses], sources: Sources
) -> None:
    """The uses of the arguments of a call of a TensorIR function."""
    callee = next((arg.name for arg in args if isinstance(arg, tir.GlobalVar)), "")
    kernel, function = kernels.get(callee), module.functions.get(callee)
    if kernel is None or not isinstance(function, tir.PrimFunc):
        return
    passed = [part for arg in args for part in (arg.fields if isinstance(arg, relax.Tuple) else (arg,))]
    passed = [part for part in passed if not isinstance(part, tir.GlobalVar)]
    for parameter, part in zip(parameters_of(function), passed, strict=False):
        use = kernel.uses.get(parameter.name)
        if use is not None:
            for name in sources(part):
                plain = isinstance(part, relax.Var) and part.name == name
                _add_use(uses.use(name), use, plain=plain)


def _add_use(own: ParameterUse, use: ParameterUse, *, plain: bool) -> None:
    """Add the use of a value that a function is called with; `plain`: it is the parameter itself."""
    own.indexes |= use.is_index or (not plain and use.low is not None)
    own.casts |= use.casts
    own.decisive += [value for value in use.decisive if value not in own.decisive]
    if plain and use.low is not None:
        own.low = use.low if own.low is None else max(own.low, use.low)
    if plain and use.high is not None:
        own.high = use.high if own.high is None else min(own.high, use.high)


def operator_domains(function: relax.Function) -> Mapping[str, str]:
    """What operators ask of the values of parameters that they are given as they are, by the parameters' names."""
    names: dict[relax.Var, str] = {param: param.name for param in function.params}
    domains: dict[str, str] = {}
    for node in walk(function):
        match node:
            case (
                relax.VarBinding(var=var, value=relax.Var() as value)
                | relax.MatchCast(var=var, value=relax.Var() as value)
            ):
                if value in names:
                    names[var] = names[value]
            case relax.Call(op=relax.Op(name=name), args=args) if name in OPERATORS:
                operator = OPERATORS[name]
                for parameter, arg in zip(operator.arguments, args, strict=False):
                    parts = arg.fields if isinstance(arg, relax.Tuple) else (arg,)
                    domain = operator.domains.get(parameter)
                    arguments = [part for part in parts if isinstance(part, relax.Var) and part in names]
                    domains |= {names[part]: domain for part in arguments if domain is not None}
            case _:
                pass
    return domains
