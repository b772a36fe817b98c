"""`RelaxToPyFuncConverter`: functions of Relax as functions of Python on tensors of PyTorch, run by the machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.ir import IRModule, relax
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.base_py_module import BasePyModule


@dataclass(frozen=True)
class Converted:
    """A module, and some of its functions as functions of Python."""

    module: IRModule
    pyfuncs: dict[str, Callable[..., object]]


class RelaxToPyFuncConverter:
    """Converts functions of a module."""

    def __init__(self, ir_module: IRModule) -> None:
        """The module."""
        self.ir_module = ir_module

    def convert(self, relax_function_names: str | Sequence[str]) -> Converted:
        """The functions of these names. Fails: RM105 where a name is not that of a Relax function."""
        names = [relax_function_names] if isinstance(relax_function_names, str) else list(relax_function_names)
        for name in names:
            if not isinstance(self.ir_module.functions.get(name), relax.Function):
                raise fail(BAD_ARGUMENTS, f"the module has no Relax function `{name}`")
        module = replace(self.ir_module)  # as it is now

        class Callables(BasePyModule):
            ir_mod = module

        instance = Callables()
        return Converted(module, {name: getattr(instance, name) for name in names})


__all__ = ["RelaxToPyFuncConverter"]

__getattr__ = refusal(__name__, __all__)
