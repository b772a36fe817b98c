"""The rule of each operator of ONNX; an operator without one is what its function body says, or unsupported."""

from collections.abc import Mapping

from refmlc.frontends.onnx.casting import CASTING
from refmlc.frontends.onnx.control import CONTROL
from refmlc.frontends.onnx.creation import CREATION
from refmlc.frontends.onnx.elementwise import ELEMENTWISE, OnnxRule, prelu_of_channels
from refmlc.frontends.onnx.indexing import INDEXING
from refmlc.frontends.onnx.integers import INTEGERS
from refmlc.frontends.onnx.layers import LAYERS
from refmlc.frontends.onnx.ngrams import NGRAMS
from refmlc.frontends.onnx.quantization import QUANTIZATION
from refmlc.frontends.onnx.recurrent import RECURRENT
from refmlc.frontends.onnx.reduction import REDUCTION
from refmlc.frontends.onnx.resampling import RESAMPLING
from refmlc.frontends.onnx.selection import SELECTION
from refmlc.frontends.onnx.sequences import SEQUENCES
from refmlc.frontends.onnx.shape_rules import SHAPING
from refmlc.frontends.onnx.signals import SIGNALS
from refmlc.frontends.onnx.training import TRAINING
from refmlc.frontends.onnx.vision import VISION
from refmlc.frontends.onnx.windows import WINDOWS

RULES: Mapping[str, OnnxRule] = {
    **ELEMENTWISE,
    **CASTING,
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
    **INTEGERS,
    **SELECTION,
    **SIGNALS,
    **NGRAMS,
    **VISION,
}
BEFORE_7 = "ai.onnx.before-7"
"""The domain of operators that ONNX's converter leaves as they were before version 7."""
DOMAINS: Mapping[str, Mapping[str, OnnxRule]] = {
    "ai.onnx.preview.training": TRAINING,
    BEFORE_7: {"PRelu": prelu_of_channels},
}
"""The rules of other domains."""
OWN = ("", "ai.onnx")
"""The names of ONNX's own domain."""


def rule_of(domain: str, operator: str) -> OnnxRule | None:
    """The rule of an operator; None where there is none."""
    rules = RULES if domain in OWN else DOMAINS.get(domain, {})
    return rules.get(operator)
