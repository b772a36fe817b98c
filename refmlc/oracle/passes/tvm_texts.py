"""Modules of TVM's process as texts that can be read here: constants of public Relax functions become parameters.

TVM 0.27 cannot print the value of a tensor constant: with its metadata the process ends, without it the text has none.
So a constant is printed as a parameter at the end, as `lifting` does for modules of refmlc, and its value is kept; the
module itself stays as it is. All texts of a row of modules have the same parameters, that their functions may be called
alike; equal constants are one parameter. Constants in private functions stay there and are unsupported.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Protocol, TypeAlias, TypeGuard

import numpy as np

from refmlc.lang.dtypes import dtype
from refmlc.oracle.passes.baseline import Constants
from refmlc.run.memory.tensor import Tensor

Key: TypeAlias = tuple[str, tuple[int, ...], bytes]


class Value(Protocol):
    """A tensor of TVM."""

    dtype: object
    shape: Sequence[int]

    def numpy(self) -> np.ndarray: ...


class Constant(Protocol):
    """An expression of TVM that is a tensor."""

    value: Value


class Function(Protocol):
    """A function of Relax."""

    params: Sequence[object]
    body: object
    ret_ty: object
    is_pure: bool
    attrs: Mapping[str, object] | None


class Module(Protocol):
    """A module of TVM."""

    functions: Mapping[object, Function]

    def script(self) -> str: ...

    def clone(self) -> "Module": ...


def texts(tvm: ModuleType, modules: Sequence[Module]) -> tuple[list[str], Constants]:
    """The text of each of `modules`, and the values of the parameters that functions have besides, by function.

    Where TVM does not put parameters in place of constants, the text is a comment: no module, so it is unsupported.
    """
    constants: dict[str, dict[Key, Tensor]] = {}
    for module in modules:
        for _, name, function in public(tvm, module):
            for node in constants_of(tvm, function):
                constants.setdefault(name, {}).setdefault(key_of(node.value), value_of(node.value))
    if not constants:
        return [module.script() for module in modules], {}
    keys = {name: list(values) for name, values in constants.items()}
    return [_text(tvm, each, keys) for each in modules], {
        name: tuple(each.values()) for name, each in constants.items()
    }


def public(tvm: ModuleType, module: Module) -> Iterator[tuple[object, str, Function]]:
    """The Relax functions that are called from outside: their variable, name, and themselves."""
    for var, function in module.functions.items():
        name = (function.attrs or {}).get("global_symbol")
        if isinstance(function, tvm.relax.Function) and name is not None:
            yield var, str(name), function


def constants_of(tvm: ModuleType, function: Function) -> list[Constant]:
    """The tensor constants in it, scalars left out."""
    constants: list[Constant] = []

    def visit(node: object) -> None:
        if is_tensor(node, tvm):
            constants.append(node)

    tvm.relax.analysis.post_order_visit(function.body, visit)
    return constants


def is_tensor(node: object, tvm: ModuleType) -> TypeGuard[Constant]:
    """Whether it is a constant with dimensions; versions before 0.27 have no such class, theirs stay where they are."""
    kind = getattr(tvm.ir, "GenericConst", ())
    return isinstance(node, kind) and isinstance(node.value, tvm.runtime.Tensor) and len(node.value.shape) > 0


def key_of(value: Value) -> Key:
    """What equal constants have in common."""
    array = value.numpy()
    return str(value.dtype), array.shape, array.tobytes()


def value_of(value: Value) -> Tensor:
    """A copy as a tensor of refmlc."""
    return Tensor.from_numpy(value.numpy().copy(), dtype(str(value.dtype)))


def _text(tvm: ModuleType, module: Module, keys: Mapping[str, Sequence[Key]]) -> str:
    module_without = module.clone()
    try:
        for var, name, function in public(tvm, module):
            if name in keys:
                tvm.IRModule.update_func(module_without, var, with_parameters(tvm, function, keys[name]))
    except (RuntimeError, TypeError, ValueError, AttributeError) as problem:
        return f"# the constants of this stage could not be made parameters: {type(problem).__name__}\n"
    return module_without.script()


def with_parameters(tvm: ModuleType, function: Function, keys: Sequence[Key]) -> object:
    """`function` with a parameter for each of `keys`, in place of the constants that are equal to it."""
    relax = tvm.relax
    parameters = [
        relax.Var(f"constant_{number}", relax.TensorType(shape, kind)) for number, (kind, shape, _) in enumerate(keys)
    ]
    table = dict(zip(keys, parameters, strict=True))

    @relax.expr_functor.mutator
    class Placing(relax.expr_functor.PyExprMutator):  # type: ignore[misc,name-defined]
        def visit_generic_const_(self, op: object) -> object:
            return table[key_of(op.value)] if is_tensor(op, tvm) else op

    body = Placing().visit_expr(function.body)
    return relax.Function([*function.params, *parameters], body, function.ret_ty, function.is_pure, function.attrs)
