"""The program to debug: a module with a text for each function, one of its functions, the arguments.

| in the module               | becomes                                               |
|-----------------------------|-------------------------------------------------------|
| an operator of Relax        | a call of a prim_func, which can be stepped into      |
| a function without a text   | the same, read from its printed text: `<shown>`       |
| arguments                   | copies; the originals are never written to            |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from refmlc.diag import RefmlcError, Source, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.lang.script import read_source, show
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.observe.copies import copies
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.interp.machine import write_line
from refmlc.run.interp.tensorir.c_abi import is_packed_entry
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry
from refmlc.vm.arguments import accept, as_value, ordered
from refmlc.vm.parameters import parameters_of

PRINTED = "<shown>"


class Program:
    """A call to debug: the module to execute, with text, its function `func`, the arguments `args`."""

    def __init__(
        self,
        module: IRModule,
        func: str,
        args: Sequence[object] = (),
        *,
        registry: FunctionRegistry = DEFAULT,
        output: Callable[[str], object] = write_line,
        max_steps: int | None = None,
        check: bool = True,
    ) -> None:
        """Check the module and the arguments. Fails: RM2xx, RM111, RM112."""
        function = module.functions.get(func)
        if function is None or isinstance(function, relax.ExternFunc):
            names = ", ".join(
                name for name, candidate in module.functions.items() if not isinstance(candidate, relax.ExternFunc)
            )
            raise fail(BAD_USAGE, f"the module has no function `{func}` to run", None, f"its functions: {names}")
        self.module = with_text(legalize_ops(checked(module, check=check)))
        self.func = func
        self.registry = registry
        self.output = output
        self.max_steps = max_steps
        parameters = parameters_of(self.module.functions[func])  # type: ignore[arg-type]  # it is no extern function
        if isinstance(function, tir.PrimFunc) and is_packed_entry(function):  # it checks its arguments itself
            values = [as_value(arg, None, f"argument {number} of `{func}`") for number, arg in enumerate(args)]
            self.names = [f"argument{number}" for number in range(len(values))]
        else:
            values = accept(func, parameters, ordered(func, parameters, args, {}))
            self.names = [parameter.name for parameter in parameters]
        self.args: Sequence[object] = copies(values)

    @property
    def sources(self) -> Mapping[str, Source]:
        """The texts of the functions by name; the first is that of the function to run."""
        sources: dict[str, Source] = {}
        for function in (self.module.functions[self.func], *self.module.functions.values()):
            if function.span is not None:
                sources.setdefault(function.span.source.name, function.span.source)
        return sources


def with_text(module: IRModule) -> IRModule:
    """`module`, its functions without text replaced by the same ones read from a printed text."""
    without_text = {name: func for name, func in module.functions.items() if func.span is None}
    if not without_text:
        return module
    only_prim_funcs = all(isinstance(func, tir.PrimFunc) for func in without_text.values())
    part = replace(module, functions=without_text, attrs={}, global_infos={}) if only_prim_funcs else module
    try:
        printed = with_constants(read_source(Source(PRINTED, show(part))), part)
    except RefmlcError:  # what cannot be shown is debugged without text
        return module
    functions = {name: printed.functions.get(name) for name in part.functions}
    if any(func is None or not structural_equal(func, part.functions[name]) for name, func in functions.items()):
        return module
    return replace(module, functions={**module.functions, **printed.functions})


def with_constants(copy: IRModule, original: IRModule) -> IRModule:
    """The module `copy` with the constants of `original`: a text has only their numbers."""
    constants = [node for node in walk(original) if isinstance(node, relax.Constant)]
    refs = [node for node in walk(copy) if isinstance(node, relax.MetadataRef)]
    table: dict[Node, Node] = {ref: constants[ref.index] for ref in refs if ref.index < len(constants)}
    return substitute(copy, table) if table else copy
