"""`tvm.ir`: modules and their comparison."""

from collections.abc import Mapping

from refmlc.frontends.tvm_json import from_json
from refmlc.lang.builder.surgery import named
from refmlc.lang.ir import IRModule as Module, relax, tir
from refmlc.lang.ir.equal import first_difference, structural_equal as equal
from refmlc.lang.library import OPERATORS
from refmlc.lang.ops.graph import GRAPH_OPS
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.nodes import NodeClass, of

AnyFunction = tir.PrimFunc | relax.Function | relax.ExternFunc


def _module(
    functions: "Mapping[str | tir.GlobalVar, AnyFunction] | None" = None, *, attrs: Mapping[str, tir.Attr] | None = None
) -> Module:
    """A module of functions by name."""
    names = {key if isinstance(key, str) else key.name: func for key, func in (functions or {}).items()}
    return Module({name: named(name, func) for name, func in names.items()}, attrs or {})


class ModuleClass(NodeClass):
    """The class of modules."""

    def from_expr(self, expr: "tir.PrimFunc | relax.Function") -> Module:
        """A module of one function, called as its `global_symbol` says, else `main`."""
        name = str(expr.attrs.get("global_symbol", "main"))
        return Module({name: named(name, expr)})


IRModule = ModuleClass("tvm.ir.module.IRModule", lambda value: isinstance(value, Module), _module)


class Operator:
    """An operator of Relax by its name, to compare: `call.op == tvm.ir.Op.get("relax.add")`."""

    def __init__(self, name: str) -> None:
        """The operator `name`, with or without `relax.`."""
        self.name = name

    def __eq__(self, other: object) -> bool:
        """Whether it is the operator of that name."""
        own = self.name.removeprefix("relax.")
        return isinstance(other, relax.Op | Operator) and other.name.removeprefix("relax.") == own

    def __hash__(self) -> int:
        return hash(self.name)

    same_as = __eq__

    def __repr__(self) -> str:
        return f"Op({self.name})"


class OperatorClass(NodeClass):
    """The class of operators."""

    def get(self, op_name: str) -> Operator:
        """The operator of a name."""
        return Operator(op_name)

    def list_op_names(self) -> list[str]:
        """The operators of Relax that there are."""
        return [f"relax.{name}" for name in (*OPERATORS, *GRAPH_OPS)]


Op = OperatorClass("tvm.ir.Op", lambda value: isinstance(value, relax.Op | Operator))
GlobalVar = of("tvm.ir.GlobalVar", tir.GlobalVar, make=tir.GlobalVar)


def structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> bool:
    """Whether two nodes mean the same, whatever their variables are called."""
    return equal(lhs, rhs, map_free_vars=map_free_vars)


def assert_structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> None:
    """Fail with the first difference. Fails: AssertionError."""
    difference = first_difference(lhs, rhs, map_free_vars=map_free_vars)
    if difference is not None:
        raise AssertionError(str(difference))


def load_json(json_str: str) -> Module:
    """The module that `tvm.ir.save_json` of real TVM wrote. Fails: as `refmlc.frontends.tvm_json`."""
    return from_json(json_str)


__all__ = [
    "GlobalVar",
    "IRModule",
    "Op",
    "assert_structural_equal",
    "load_json",
    "structural_equal",
    "transform",
]

__getattr__ = refusal(__name__, __all__, {"transform": "refmlc.tvm.ir.transform"})
