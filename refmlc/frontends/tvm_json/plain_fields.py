"""The fields of operators' attributes that stand in the JSON as they are, where all others are numbers of nodes.

A whole number in the JSON says nothing of what it is: `"axis": 1` may be the axis 1, or the node 1. TVM's reflection
tells which (`int` there against `int | None`, `Array[int]`). Source: the attributes of TVM 0.27, by their classes.
"""

from collections.abc import Mapping

_AXIS = ("axis",)
_GROUPS = ("groups",)
PLAIN: Mapping[str, tuple[str, ...]] = {
    "AllGatherAttrs": ("num_workers",),
    "ArgsortAttrs": _AXIS,
    "BatchNormAttrs": _AXIS,
    "Conv1DAttrs": _GROUPS,
    "Conv1DTransposeAttrs": _GROUPS,
    "Conv2DAttrs": _GROUPS,
    "Conv2DTransposeAttrs": _GROUPS,
    "Conv3DAttrs": _GROUPS,
    "Conv3DTransposeAttrs": _GROUPS,
    "FlipAttrs": _AXIS,
    "GatherElementsAttrs": _AXIS,
    "GatherNDAttrs": ("batch_dims",),
    "GetValidCountsAttrs": ("id_index", "score_index"),
    "GroupNormAttrs": ("num_groups", "channel_axis"),
    "HintOnDeviceAttrs": ("device_type", "index"),
    "InstanceNormAttrs": ("channel_axis",),
    "NLLLossAttrs": ("ignore_index",),
    "NonMaximumSuppressionAttrs": ("max_output_size", "top_k", "coord_start", "score_index", "id_index"),
    "OneHotAttrs": ("depth", "axis"),
    "PReluAttrs": _AXIS,
    "PixelShuffleAttrs": ("upscale_factor",),
    "QuantizeAttrs": _AXIS,
    "ROIAlignAttrs": ("sample_ratio",),
    "RepeatAttrs": ("repeats",),
    "Resize2DAttrs": ("cubic_exclude",),
    "ReverseSequenceAttrs": ("seq_axis", "batch_axis"),
    "ScatterCollectiveAttrs": ("num_workers", "axis"),
    "ScatterElementsAttrs": _AXIS,
    "SliceScatterAttrs": _AXIS,
    "SoftmaxAttrs": _AXIS,
    "SortAttrs": _AXIS,
    "SplitAttrs": _AXIS,
    "TopKAttrs": ("k", "axis"),
    "TriluAttrs": ("k",),
}


def is_plain(kind: str, name: str) -> bool:
    """Whether the field `name` of the attributes `relax.attrs.kind` is the number itself."""
    return name in PLAIN.get(kind.rpartition(".")[2], ())
