"""The rule of each operator of ONNX; an operator without one is what its function body says, or unsupported."""

from collections.abc import Mapping

from refmlc.frontends.onnx.control import CONTROL
from refmlc.frontends.onnx.creation import CREATION
from refmlc.frontends.onnx.elementwise import ELEMENTWISE, OnnxRule
from refmlc.frontends.onnx.indexing import INDEXING
from refmlc.frontends.onnx.layers import LAYERS
from refmlc.frontends.onnx.quantization import QUANTIZATION
from refmlc.frontends.onnx.recurrent import RECURRENT
from refmlc.frontends.onnx.reduction import REDUCTION
from refmlc.frontends.onnx.resampling import RESAMPLING
from refmlc.frontends.onnx.sequences import SEQUENCES
from refmlc.frontends.onnx.shape_rules import SHAPING
from refmlc.frontends.onnx.windows import WINDOWS

RULES: Mapping[str, OnnxRule] = {
    **ELEMENTWISE,
    **SHAPING,
    **INDEXING,
    **REDUCTION,
    **WINDOWS,
    **LAYERS,
    **RECURRENT,
    **CREATION,
    **CONTROL,
    **QUANTIZATION,
    **RESAMPLING,
    **SEQUENCES,
}
OWN = ("", "ai.onnx")
"""The names of ONNX's own domain."""


def rule_of(domain: str, operator: str) -> OnnxRule | None:
    """The rule of an operator; None where there is none."""
    return RULES.get(operator) if domain in OWN else None
