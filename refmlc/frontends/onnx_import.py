"""ONNX models as modules: each node of the graph by its rule (`onnx_rules`).

| in the model             | becomes                                                            |
|--------------------------|--------------------------------------------------------------------|
| input                    | a parameter of `main`; named dimensions are symbolic ones          |
| initializer              | a constant, or a parameter after those (`keep_params_in_input`)    |
| output                   | the result; a tuple where there are several                        |
"""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from refmlc.builder import BlockBuilder
from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.diag.entry import entry_point
from refmlc.dtypes import INT64, SCALARS
from refmlc.dtypes.storage import dtype_of
from refmlc.frontends.arrays import constant
from refmlc.frontends.emitter import Emitter
from refmlc.frontends.onnx_rules import DTYPES, ONNX
from refmlc.frontends.unknown import placed, unknown
from refmlc.ir import IRModule, relax, tir
from refmlc.ir.types import TensorType

OLDEST = 13
"""The version of the operators from which on the rules are right."""


@entry_point
def from_onnx(
    model: onnx.ModelProto,
    shape_dict: Mapping[str, Sequence[int]] | None = None,
    *,
    keep_params_in_input: bool = False,
) -> IRModule:
    """The module whose `main` computes what the graph does.

    `shape_dict`: shapes of inputs by name, in place of those that the model says. `keep_params_in_input`: initializers
    become parameters of `main` (`params_of` has their values; the attribute `num_input` says where they begin).
    Fails: RM501 for an operator without a rule, or a version of the operators before 13.
    """
    version = max((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), default=0)
    if version < OLDEST:
        raise fail(UNSUPPORTED_OP, f"the operators of ONNX in version {version} are not supported: {OLDEST} is due")
    graph, builder = model.graph, BlockBuilder()
    values: dict[str, object] = {"": None}
    symbols: dict[str, tir.Var] = {}
    arrays = _arrays(model)
    inputs = [one for one in graph.input if one.name not in arrays]
    params = [_input(one, symbols, shape_dict or {}) for one in inputs]
    values |= {one.name: var for one, var in zip(inputs, params, strict=True)}
    for name, array in arrays.items():
        if keep_params_in_input and _kept(array):
            shape = tuple(tir.IntImm(INT64, size) for size in array.shape)
            params.append(relax.Var(_identifier(name), TensorType(shape, dtype_of(array.dtype))))
            values[name] = params[-1]
        else:
            values[name] = constant(array)
    attrs: dict[str, tir.Attr] = {"num_input": len(inputs)} if keep_params_in_input else {}
    with builder.function("main", params, attrs):
        with builder.dataflow():
            for node in graph.node:
                _translate(builder, node, values)
            results = [Emitter(builder).expr(values[one.name]) for one in graph.output]
            output = builder.emit_output(results[0] if len(results) == 1 else relax.Tuple(tuple(results)))
        builder.emit_func_output(output)
    return builder.get()


def params_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The values of what `keep_params_in_input` makes parameters of `main`, by their names, in their order."""
    return {_identifier(name): array for name, array in _arrays(model).items() if _kept(array)}


def _kept(array: np.ndarray) -> bool:
    """Whether an array may be a parameter: shapes and axes, which are integers, have to be known."""
    return array.dtype != np.int64


def _arrays(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The initializers, by their names in the model."""
    return {one.name: np.array(numpy_helper.to_array(one)) for one in model.graph.initializer}


def _identifier(name: str) -> str:
    found = "".join(one if one.isalnum() else "_" for one in name)
    return found if found.isidentifier() else f"_{found}"


def _input(given: onnx.ValueInfoProto, symbols: dict[str, tir.Var], shapes: Mapping[str, Sequence[int]]) -> relax.Var:
    """An input of the model as a parameter."""
    tensor = given.type.tensor_type
    extents: list[tir.Expr] = []
    for place, one in enumerate(tensor.shape.dim):
        name = one.dim_param or f"{given.name}_{place}"
        known = shapes[given.name][place] if given.name in shapes else one.dim_value
        if known:
            extents.append(tir.IntImm(INT64, int(known)))
        else:
            extents.append(symbols.setdefault(name, tir.Var(_identifier(name), INT64)))
    if tensor.elem_type not in DTYPES:
        raise fail(UNSUPPORTED_OP, f"the input `{given.name}` has no dtype that is supported")
    return relax.Var(_identifier(given.name), TensorType(tuple(extents), SCALARS[DTYPES[tensor.elem_type]]))


def _translate(builder: BlockBuilder, node: onnx.NodeProto, values: dict[str, object]) -> None:
    """Write a node; its outputs are values from then on."""
    what, name = f"the operator `{node.op_type}` of ONNX", node.name or node.output[0]
    given = {one.name: _attribute(one) for one in node.attribute}
    if node.op_type == "Constant":
        found = next(iter(given.values()))
        values[node.output[0]] = found if isinstance(found, relax.Constant) else constant(np.array(found))
        return
    rule = ONNX.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    if rule is None:
        raise unknown(what, name, None)
    try:
        result = rule(Emitter(builder), [values[one] for one in node.input], given)
    except RefmlcError as refused:
        raise placed(refused, what, name, None) from None
    if len(node.output) == 1 and not (isinstance(result, tuple) and node.op_type in SEVERAL):
        values[node.output[0]] = result
        return
    for place, one in enumerate(node.output):
        if not one:
            continue
        if isinstance(result, tuple):
            values[one] = result[place] if place < len(result) else None
        elif isinstance(result, relax.Expr):
            values[one] = Emitter(builder).item(result, place)


SEVERAL = ("Dropout", "LSTM", "Split")
"""Operators whose result is a tuple, of which a node may take the first alone."""


def _attribute(given: onnx.AttributeProto) -> object:
    """The value of an attribute: a number, a text, a tuple of them, a constant."""
    value = onnx.helper.get_attribute_value(given)
    match value:
        case bytes():
            return value.decode()
        case onnx.TensorProto():
            return constant(np.array(numpy_helper.to_array(value)))
        case _:
            return value if isinstance(value, int | float) else tuple(value)
