"""What TVM's functions of operators make of their arguments: parameters by other names, defaults, lists of one form.

| table      | says                                                                                                |
|------------|-----------------------------------------------------------------------------------------------------|
| `NAMES`    | the parameters of a function of TVM, where they are called or ordered otherwise than in the library |
| `DEFAULTS` | default values of arguments (those of attributes are in the library)                                |
| `LISTS`    | attributes that are lists for TVM: one number is a list of it                                       |

The attributes of a call are all written out, as TVM prints them: `R.sum(x, axis=[1], keepdims=False)`.
"""

from collections.abc import Mapping
from dataclasses import replace
from inspect import Parameter

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite
from refmlc.lang.library import OPERATORS, Operator

BINARY = {"x1": "a", "x2": "b"}
_QUANTIZED = ("data", "scale", "zero_point", "axis", "out_dtype")
NAMES: Mapping[str, Mapping[str, str]] = {
    "size": {"expr": "x"},
    **{key: {name: name for name in _QUANTIZED} for key in ("quantize", "dequantize")},
}

DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "tril": {"k": 0},
    "triu": {"k": 0},
    "eye_like": {"k": 0},
    "unique": {"sorted": True, "return_index": False, "return_inverse": False, "return_counts": False},
}

_REDUCTIONS = ("sum", "prod", "max", "min", "mean", "variance", "std", "median", "squeeze", "expand_dims", "flip")
_WINDOWS = ("pool_size", "strides", "dilation", "output_padding", "output_size")
LISTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((name for name in _REDUCTIONS if name != "flip"), ("axis",)),
    "permute_dims": ("axes",),
    "tile": ("repeats",),
    "nn.layer_norm": ("axes",),
    "nn.rms_norm": ("axes",),
    "nn.group_norm": ("axes",),
    "nn.instance_norm": ("axes",),
}


def parameter_names(operator: Operator) -> Mapping[str, str]:
    """TVM's names of the parameters, in its order, each with the name in the library."""
    own = [name for name, _ in operator.signature]
    if own == ["a", "b"]:
        return BINARY
    return NAMES.get(operator.name) or {name: name for name in own}


def defaults(operator: Operator) -> Mapping[str, object]:
    """What parameters are that are not given, by their names in the library."""
    attributes = {name: value for name, value in operator.attributes.items() if value is not Parameter.empty}
    return {**attributes, **DEFAULTS.get(operator.name, {})}


def completed(operator: Operator, attrs: Mapping[str, tir.Attr]) -> dict[str, tir.Attr]:
    """All attributes of a call as TVM writes them; `attrs` are those that are known."""
    values = {name: _listed(operator.name, name, value) for name, value in attrs.items()}
    layout = next((values[name] for name in ("data_layout", "layout") if name in values), None)
    if "out_layout" in values and values["out_layout"] is None:
        values["out_layout"] = layout
    return values


class CallAttributes(dict[str, tir.Attr]):
    """The attributes of a call, which are read as TVM's objects are too: `call.attrs.groups`."""

    def __getattr__(self, name: str) -> tir.Attr:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the call has no attribute `{name}`; it has {', '.join(self)}") from None


def with_all_attributes(module: IRModule) -> IRModule:
    """`module`, its calls of operators with all their attributes, as TVM has them."""

    def change(node: Node) -> Node:
        if not isinstance(node, relax.Call):
            return node
        operator = OPERATORS.get(node.op.name) if isinstance(node.op, relax.Op) else None
        names = () if operator is None else [name for name, kind in operator.signature if kind == "a"]
        if operator is None or not names:
            return node
        values = {**operator_defaults(operator), **node.attrs}
        return replace(node, attrs=CallAttributes(completed(operator, {n: values[n] for n in names if n in values})))

    return replace(
        module,
        functions={
            name: rewrite(func, change) if isinstance(func, relax.Function) else func
            for name, func in module.functions.items()
        },
    )


def operator_defaults(operator: Operator) -> Mapping[str, tir.Attr]:
    """The defaults of the attributes of an operator."""
    known = defaults(operator)
    return {name: known[name] for name, kind in operator.signature if kind == "a" and name in known}  # type: ignore[misc]


def _listed(operator: str, name: str, value: tir.Attr) -> tir.Attr:
    rank = _rank(operator)
    if name in LISTS.get(operator, ()):
        return (value,) if isinstance(value, int) else value
    if rank and name in _WINDOWS:
        wide = (value,) if isinstance(value, int) else value
        return wide * rank if isinstance(wide, tuple) and len(wide) == 1 else wide
    if rank and name == "padding":
        return _padded((value,) if isinstance(value, int) else value, rank)
    return value


def _rank(operator: str) -> int:
    """The dimensions that a convolution or a pooling moves along; 0 for every other operator."""
    family = ("nn.conv", "nn.max_pool", "nn.avg_pool", "nn.adaptive_avg_pool", "grad.max_pool", "grad.avg_pool")
    for start in family:
        if operator.startswith(start):
            return int(operator[len(start)])
    return 0


def _padded(padding: tir.Attr, rank: int) -> tir.Attr:
    """Padding before and after each dimension."""
    if not isinstance(padding, tuple):
        return padding
    if len(padding) == 1:
        return padding * (2 * rank)
    return padding * 2 if len(padding) == rank else padding
