"""Functions of `topi` that are one operator of the library, by another name or with parameters called otherwise.

A row: `"name": "operator: parameters"`. Parameters are TVM's, in its order; `lhs=a` is called `a` in the library,
`axis?=None` is optional with default None; `!select_last_index?=False` is accepted only with its default.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import Parameter

_UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "floor"),
    *("isfinite", "isinf", "isnan", "log", "negative", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt"),
    *("tan", "tanh", "trunc"),
)
_BINARY = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "mod", "floor_mod", "power", "atan2", "maximum"),
    *("minimum", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or"),
    *("logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"),
)

ROWS: Mapping[str, str] = {
    **{name: f"{name}: x" for name in _UNARY},
    **{name: f"{name}: lhs=a rhs=b" for name in _BINARY},
    **{name: f"{name}: data=x axis?=None keepdims?=False" for name in ("sum", "prod", "max", "min")},
    "bitwise_not": "bitwise_not: data=x",
    "logical_not": "logical_not: data=x",
    "log_add_exp": "log_add_exp: lhs=x1 rhs=x2",
    "cast": "astype: x dtype !span?=None",
    "clip": "clip: x a_min=min a_max=max",
    "where": "where: condition x=x1 y=x2",
    "transpose": "permute_dims: a=x axes?=None",
    "broadcast_to": "broadcast_to: data=x shape",
    "concatenate": "concat: a_tuple=tensors axis?=0",
    "stack": "stack: tensors axis?=0",
    "split": "split: ary=x indices_or_sections axis?=0",
    "tile": "tile: a=data reps=repeats",
    "repeat": "repeat: a=data repeats axis",
    "flip": "flip: a=data axis?=0",
    "meshgrid": "meshgrid: a_tuple=tensors indexing",
    "scatter_elements": "scatter_elements: data indices updates axis?=0 reduction?='update'",
    "index_put": "index_put: data indices values accumulate?=False",
    "index_tensor": "index_tensor: data indices",
    "adv_index": "index_tensor: data indices",
    "gather": "gather_elements: data axis indices",
    "take": "take: a=x indices axis?=None !batch_dims?=0 mode?='fast'",
    "reverse_sequence": "reverse_sequence: a=data seq_lengths seq_axis?=1 batch_axis?=0",
    "slice_scatter": "slice_scatter: input_tensor src start end step axis",
    "collapse_sum": "collapse_sum_to: data target_shape=shape",
    "cumsum": "cumsum: data axis?=None dtype?=None exclusive?=None",
    "cumprod": "cumprod: data axis?=None dtype?=None exclusive?=None",
    "hamming_window": "hamming_window: window_size periodic alpha beta dtype",
    "nn.relu": "nn.relu: x=data",
    "nn.leaky_relu": "nn.leakyrelu: x=data alpha",
    "nn.prelu": "nn.prelu: x=data slope=alpha axis?=1",
    "nn.softplus": "nn.softplus: x=data beta?=1.0 threshold?=20.0",
    "nn.softmax": "nn.softmax: x=data axis?=-1",
    "nn.log_softmax": "nn.log_softmax: x=data axis?=-1",
    "nn.flatten": "nn.batch_flatten: data",
    "nn.layer_norm": "nn.layer_norm: data gamma beta axis=axes epsilon?=1e-05",
    "nn.rms_norm": "nn.rms_norm: data weight axis=axes epsilon?=1e-05",
    "nn.group_norm": "nn.group_norm: data gamma beta num_groups channel_axis axes epsilon?=1e-05",
    "nn.instance_norm": "nn.instance_norm: data gamma beta channel_axis axis=axes epsilon?=1e-05",
    "nn.nll_loss": "nn.nll_loss: predictions targets weights reduction ignore_index",
    "image.affine_grid": "image.affine_grid: data target_shape=size align_corners?=True",
    "image.grid_sample": "image.grid_sample: data grid method?='bilinear' layout?='NCHW' padding_mode?='zeros'"
    " align_corners?=True",
    "vision.roi_align": "vision.roi_align: data rois pooled_size spatial_scale mode?='avg' sample_ratio?=-1"
    " aligned?=False layout?='NCHW'",
    "vision.roi_pool": "vision.roi_pool: data rois pooled_size spatial_scale layout?='NCHW'",
    "vision.get_valid_counts": "vision.get_valid_counts: data score_threshold?=0 id_index?=0 score_index?=1",
    "vision.multibox_transform_loc": "vision.multibox_transform_loc: cls_pred loc_pred anchor variances clip?=False"
    " threshold?=0.0 keep_background?=True apply_softmax?=True",
}


@dataclass(frozen=True)
class Param:
    """A parameter of a function of `topi`: `own` is its name in the library; `fixed`: it must be its default."""

    name: str
    own: str
    default: object = Parameter.empty
    fixed: bool = False


def row(text: str) -> tuple[str, tuple[Param, ...]]:
    """A row: the operator, the parameters."""
    operator, _, words = text.partition(":")
    return operator, tuple(_param(word) for word in words.split())


def _param(word: str) -> Param:
    name, optional, default = word.partition("?=")
    fixed = name.startswith("!")
    name, _, own = name.removeprefix("!").partition("=")
    value = ast.literal_eval(default) if optional else Parameter.empty
    return Param(name, own or name, value, fixed)
