"""Models of one ONNX node, drawn by its schema and then spoilt: any attribute, any rank, any element."""

import copy
import random

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from refmlc.frontends.onnx.rules import RULES

EXTENTS = (0, 1, 1, 2, 2, 3, 4, 5)
WHOLE = (
    -(1 << 63),
    -(1 << 31),
    -100,
    -3,
    -2,
    -1,
    0,
    0,
    1,
    1,
    1,
    2,
    2,
    3,
    4,
    7,
    11,
    100,
    1 << 31,
    1 << 40,
    (1 << 63) - 1,
)
REAL = (float("nan"), float("inf"), -float("inf"), -1.5, -0.0, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 1e-45, 1e30, 3.4e38)
TEXTS = (
    *("", "none", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", "linear", "nearest", "cubic", "bilinear", "constant"),
    *("reflect", "edge", "wrap", "add", "mul", "max", "min", "avg", "LEFT", "RIGHT", "DCR", "CRD", "tanh", "bicubic"),
    *(
        "forward",
        "reverse",
        "bidirectional",
        "up",
        "down",
        "half_pixel",
        "align_corners",
        "tf_crop_and_resize",
        "zeros",
    ),
    *(
        "border",
        "reflection",
        "stretch",
        "not_larger",
        "floor",
        "ceil",
        "ij,jk->ik",
        "...->",
        "ii->i",
        "\x1b[31m",
        "a" * 99,
    ),
)
ELEMENTS = {
    "float": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "double": TensorProto.DOUBLE,
    "bfloat16": TensorProto.BFLOAT16,
    "int64": TensorProto.INT64,
    "int32": TensorProto.INT32,
    "int16": TensorProto.INT16,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "uint16": TensorProto.UINT16,
    "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64,
    "bool": TensorProto.BOOL,
    "int4": TensorProto.INT4,
    "uint4": TensorProto.UINT4,
    "float8e4m3fn": TensorProto.FLOAT8E4M3FN,
    "float4e2m1": TensorProto.FLOAT4E2M1,
}
SUBGRAPHS = ("If", "Loop", "Scan")
OPERATORS = sorted(set(RULES) - {"Scatter"})


def array(dice, dtype, rank):
    """Elements of any value; small integers mostly, as they say shapes and axes."""
    shape = tuple(dice.choice(EXTENTS) for _ in range(rank))
    kind = helper.tensor_dtype_to_np_dtype(dtype)
    count = int(np.prod(shape))
    if dice.random() < 0.6:
        values = [dice.choice((0, 1, 2, 3)) for _ in range(count)]
    elif kind.kind in "iu":
        info = np.iinfo(kind)
        values = [min(max(dice.choice(WHOLE), int(info.min)), int(info.max)) for _ in range(count)]
    else:
        values = [dice.choice(REAL) if kind.kind in "fV" else dice.choice((0, 1)) for _ in range(count)]
    with np.errstate(all="ignore"):
        return np.array(values, np.float64 if kind.kind in "fV" else kind).astype(kind).reshape(shape)


def attribute(dice, kind):
    """A value of a kind of attribute; None where the kind is none that is drawn."""
    match kind:
        case AttributeProto.INT:
            return dice.choice(WHOLE)
        case AttributeProto.INTS:
            return [dice.choice(WHOLE[4:]) for _ in range(dice.choice((0, 1, 2, 2, 3, 4, 6)))]
        case AttributeProto.FLOAT:
            return dice.choice(REAL)
        case AttributeProto.FLOATS:
            return [dice.choice(REAL) for _ in range(dice.randrange(4))]
        case AttributeProto.STRING:
            return dice.choice(TEXTS)
        case AttributeProto.STRINGS:
            return [dice.choice(TEXTS) for _ in range(dice.randrange(3))]
        case AttributeProto.TENSOR:
            return numpy_helper.from_array(array(dice, TensorProto.FLOAT, dice.randrange(3)))
    return None


def model(seed, operator=None):
    """A model of one node, and the values of its inputs that are no initializers."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    name = operator or dice.choice(OPERATORS)
    version = dice.choice((13, 17, 21, 24, onnx.defs.onnx_opset_version()))
    try:
        schema = onnx.defs.get_schema(name, version)
    except onnx.defs.SchemaError:
        version = onnx.defs.onnx_opset_version()
        schema = onnx.defs.get_schema(name, version)
    count = dice.randint(schema.min_input, min(max(schema.max_input, schema.min_input), schema.min_input + 3))
    rank, chosen = dice.randrange(5), {}
    inputs, values, held = [], {}, []
    for place in range(count):
        formal = schema.inputs[min(place, len(schema.inputs) - 1)]
        if dice.random() < 0.1:
            inputs.append("")
            continue
        types = [one[7:-1] for one in sorted(formal.types) if one[7:-1] in ELEMENTS] or ["float"]
        kind = ELEMENTS[chosen.setdefault(formal.type_str, dice.choice(types))]
        kind = dice.choice(tuple(ELEMENTS.values())) if dice.random() < 0.1 else kind
        own = rank if dice.random() < 0.5 else dice.randrange(6)
        if kind == TensorProto.INT64 and dice.random() < 0.7:
            own = 1
        inputs.append(f"x{place}")
        if dice.random() < 0.4:
            held.append(numpy_helper.from_array(array(dice, kind, own), f"x{place}"))
        else:
            values[f"x{place}"] = array(dice, kind, own)
    attributes = []
    for key, one in schema.attributes.items():
        if one.required or dice.random() < 0.4:
            kind = int(one.type) if dice.random() < 0.95 else AttributeProto.INT
            value = attribute(dice, kind)
            attributes += [] if value is None else [helper.make_attribute(key, value, attr_type=kind)]
    if dice.random() < 0.03:
        attributes.append(helper.make_attribute("alien", 1))
    outputs = [
        f"y{place}" for place in range(dice.randint(max(schema.min_output, 1), max(min(schema.max_output, 4), 1)))
    ]
    node = helper.make_node(name, inputs, outputs)
    node.attribute.extend(attributes)
    symbolic = dice.random() < 0.2
    infos = [
        helper.make_tensor_value_info(
            key,
            helper.np_dtype_to_tensor_dtype(value.dtype),
            [f"n{key}{at}" if symbolic and dice.random() < 0.5 else extent for at, extent in enumerate(value.shape)],
        )
        for key, value in values.items()
    ]
    results = [helper.make_value_info(key, onnx.TypeProto()) for key in outputs]
    graph = helper.make_graph([node], "graph", infos, results, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10), values


def spoilt(dice, whole, inputs):
    """A model and its inputs with one thing changed: an attribute, a name, a shape, an element, known extents."""
    whole, inputs = copy.deepcopy(whole), list(inputs)
    node = dice.choice(whole.graph.node)
    arrays = [
        place for place, one in enumerate(inputs) if isinstance(one, np.ndarray) and place < len(whole.graph.input)
    ]
    place = dice.choice(arrays) if arrays else None
    match dice.randrange(6):
        case 0 | 1:
            _spoil_attribute(dice, node)
        case 2 if node.input:
            node.input[dice.randrange(len(node.input))] = dice.choice(("", *node.input))
        case 3 if place is not None:
            x = inputs[place]
            kind = helper.np_dtype_to_tensor_dtype(x.dtype)
            others = ((-1,), (1, *x.shape), (*x.shape, 1), x.shape[::-1])
            inputs[place] = (
                array(dice, kind, dice.randrange(5)) if dice.random() < 0.5 else x.reshape(dice.choice(others))
            )
            whole.graph.input[place].type.CopyFrom(helper.make_tensor_type_proto(kind, inputs[place].shape))
        case 4 if place is not None and inputs[place].size:
            x = inputs[place].copy()
            drawn = array(dice, helper.np_dtype_to_tensor_dtype(x.dtype), 2).ravel()
            x.reshape(-1)[dice.randrange(x.size)] = drawn[0] if drawn.size else x.reshape(-1)[0]
            inputs[place] = x
        case 5 if place is not None:
            for at, extent in enumerate(whole.graph.input[place].type.tensor_type.shape.dim):
                if dice.random() < 0.7:
                    extent.dim_param = f"n{at}"
    return whole, inputs


def _spoil_attribute(dice, node):
    """Give an attribute of a node, or one that its schema has, a drawn value; or leave it out."""
    kinds = {one.name: int(one.type) for one in node.attribute}
    if dice.random() < 0.5 and onnx.defs.has(node.op_type, node.domain):
        schema = onnx.defs.get_schema(node.op_type, domain=node.domain)
        kinds = {name: int(one.type) for name, one in schema.attributes.items()}
    if not kinds:
        return
    name = dice.choice(sorted(kinds))
    kept = [one for one in node.attribute if one.name != name]
    value = attribute(dice, kinds[name])
    del node.attribute[:]
    node.attribute.extend(kept + ([] if value is None else [helper.make_attribute(name, value, attr_type=kinds[name])]))
