"""A module of `relax.frontend.nn` traced to an `IRModule`: one function for each method of the spec.

| parameter of the function | for                                                                             |
|---------------------------|---------------------------------------------------------------------------------|
| first                     | the arguments of the method, as the spec says                                   |
| then, `param_mode` plain  | each weight, called by its path; equal names of symbolic extents are one extent |
| packed                    | one tuple `packed_params`                                                       |

The attribute `num_input` of a function is the number of its first parameters, and one for each effect, as in TVM.
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import AnyType, ShapeType, TupleType, Type
from refmlc.lang.te import Value
from refmlc.tvm.relax.analysis import well_formed
from refmlc.tvm.relax.builder import BlockBuilder
from refmlc.tvm.relax.frontend.nn import spec as specs
from refmlc.tvm.relax.frontend.nn.module import Module, effects_of, modules_of
from refmlc.tvm.relax.frontend.nn.tensor import Object, Parameter, Size, Tensor
from refmlc.tvm.relax.frontend.nn.tracing import tracing


class _Extents:
    """Symbolic extents by name."""

    def __init__(self) -> None:
        self._vars: dict[str, tir.Var] = {}

    def __call__(self, name: str) -> tir.Var:
        return self._vars.setdefault(name, tir.Var(name, INT64))


def exported(module: Module, spec: object, *, debug: bool) -> tuple[IRModule, list[tuple[str, Parameter]]]:
    """The module, and the weights by name. Fails: RM504 for debug mode, effects and subroutines; as operators do."""
    methods = specs.ModuleSpec.from_raw(spec, module)
    _refuse(module, debug=debug)
    parameters = list(module.named_parameters())
    builder = BlockBuilder()
    with tracing(builder):
        for name, method in zip(methods.method_names, methods.method_specs, strict=True):
            effects = 1 if method.effect_mode == "packed" else 0
            with builder.function(name, attrs={"num_input": len(method.arg_specs) + effects}):
                with builder.dataflow():
                    output, inputs = _traced(builder, method, parameters)
                builder.emit_func_output(output, inputs)
    result = builder.finalize()
    well_formed(result)
    return result, parameters


def _refuse(module: Module, *, debug: bool) -> None:
    if debug:
        raise fail(UNSUPPORTED_CONSTRUCT, "`export_tvm(debug=True)` is not supported: it makes a function with effects")
    effects = list(effects_of(module))
    if effects:
        raise fail(UNSUPPORTED_CONSTRUCT, f"modules with effects are not supported: `{effects[0]}`")
    for part in modules_of(module):
        if part.define_subroutine:
            title = type(part).__name__
            raise fail(UNSUPPORTED_CONSTRUCT, f"`define_subroutine` is not supported: the module `{title}` has it")


def _traced(
    builder: BlockBuilder, method: specs.MethodSpec, parameters: Sequence[tuple[str, Parameter]]
) -> tuple[relax.Var, list[relax.Var]]:
    """The output and the parameters of the function of a method."""
    extents = _Extents()
    inputs, arguments = [], []
    for name, spec in zip(method.arg_names, method.arg_specs, strict=False):
        var = relax.Var(name, _type(spec, name, extents))
        inputs.append(var)
        arguments.append(_argument(builder, spec, var, name))
    inputs += _weights(builder, method.param_mode, parameters)
    if method.effect_mode == "packed":
        inputs.insert(len(arguments), relax.Var("packed_effects", TupleType(())))
    return builder.emit_output(_returned(method.method(*arguments))), inputs


def _type(spec: specs.Argument, name: str, extents: _Extents) -> Type:
    """The type of the parameter of a function for an argument of the method."""
    match spec:
        case specs.Int():
            return ShapeType((extents(name),))
        case specs.Tensor():
            shape: list[Size] = [extents(size) if isinstance(size, str) else size for size in spec.shape]
            return Tensor.placeholder(shape, spec.dtype).type
        case specs.Object():
            return AnyType()
        case specs.Tuple():
            return TupleType(tuple(_type(item, f"{name}_{at}", extents) for at, item in enumerate(spec.elements)))


def _argument(builder: BlockBuilder, spec: specs.Argument, var: relax.Var, name: str) -> object:
    """What the method gets for a parameter of its function."""
    match spec:
        case specs.Int():
            shape = var.ty.values if isinstance(var.ty, ShapeType) else None
            return Value((shape or ())[0])
        case specs.Tensor():
            return Tensor(_expr=var)
        case specs.Object():
            return spec.object_type(_expr=var, _name=name)
        case specs.Tuple():
            items = []
            for at, item in enumerate(spec.elements):
                field = builder.emit(relax.TupleGetItem(var, at), f"{name}_{at}")
                items.append(_argument(builder, item, field, f"{name}_{at}"))
            return tuple(items) if isinstance(spec.elements, tuple) else items


def _weights(builder: BlockBuilder, mode: str, parameters: Sequence[tuple[str, Parameter]]) -> list[relax.Var]:
    """The weights as parameters of the function; each `Parameter` is then that expression."""
    extents = _Extents()
    variables = []
    for name, parameter in parameters:
        sizes = (_of_the_function(size, extents) for size in parameter.shape)
        var = relax.Var(name, Tensor.placeholder(tuple(sizes), parameter.dtype).type)
        variables.append(var)
        parameter.expr = var
    if mode != "packed":
        return variables if mode == "plain" else []
    packed = relax.Var("packed_params", TupleType(tuple(var.ty or AnyType() for var in variables)))
    for at, (name, parameter) in enumerate(parameters):
        parameter.expr = builder.emit(relax.TupleGetItem(packed, at), name)
    return [packed]


def _of_the_function(size: int | Value, extents: _Extents) -> Size:
    """An extent of a weight, where it is symbolic the extent of that name in the function."""
    return extents(size.expr.name) if isinstance(size, Value) and isinstance(size.expr, tir.Var) else size


def _returned(value: object) -> relax.Expr:
    """What a method returned, as an expression. Fails: RM105."""
    match value:
        case Tensor() | Object():
            return value.expr
        case tuple() | list():
            return relax.Tuple(tuple(_returned(item) for item in value))
    raise fail(BAD_ARGUMENTS, f"a method returns tensors; this is {type(value).__name__}")
