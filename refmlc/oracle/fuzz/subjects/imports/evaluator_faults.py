"""Where ONNX's own evaluator is no witness: its answer is wrong, or nobody's."""

from collections.abc import Sequence

EVALUATOR = {
    **{
        f"{operator} opset{version}": "takes the axis as version 13 does, in every version"
        for operator in ("Hardmax", "Softmax", "LogSoftmax")
        for version in (1, 11)
    },
    "OneHot nan": "multiplies by the difference of both values, so that an infinity becomes NaN",
    "Unique sorted": "gives sorted elements with sorted=0, where ONNX says the order of their first occurrence",
    "MaxPool auto_pad": "rounds the extent of SAME_LOWER down; ONNX's inference of shapes and ONNX Runtime round up",
    "AveragePool auto_pad": "pads for another extent than the dilated kernel's",
    "LpPool ceil_mode": "multiplies the average of a window that is cut by the size of a whole one",
    "BatchNormalization opset9": "takes a part of the mean and variance of the data, also in inference",
    "LpNormalization p": "adds elements with their signs for p=1, where ONNX and ONNX Runtime add absolute values",
    "PRelu nan": "multiplies a zero, which is not below 0, by an infinite slope",
    "QuantizeLinear": "casts NaN and what is out of range to an integer, which NumPy leaves open",
    "RoiAlign opset10": "moves boxes by half a pixel; ONNX's converter to version 16 writes `output_half_pixel` for it",
    "RoiAlign nan": "adds 0 times the first element of the image for each sample outside of it",
}
"""Where the evaluator is wrong or its answer is nobody's: an operator, an attribute or how, and why it is left out."""


def excluded(cause: Sequence[str]) -> str:
    """Why the evaluator is no witness of this; empty: it is one."""
    operator, *words = cause
    for entry, why in EVALUATOR.items():
        name, *needed = entry.split()
        if name == operator and set(needed) <= set(words):
            return why
    return ""
