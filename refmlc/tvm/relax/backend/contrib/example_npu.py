"""`tvm.relax.backend.contrib.example_npu`: the patterns of TVM's example of a compiler for an NPU.

The operators that it takes, and two of them with `relu`, which come first. Its compiler is none of refmlc's.
"""

from refmlc.rewrite.partition import FusionPattern, PatternCheckContext
from refmlc.rewrite.partition.patterns import DFPattern, WildcardPattern, operator_pattern
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.backend.pattern_registry import register_patterns

__all__: list[str] = []

_INPUTS = {1: ("input",), 2: ("input", "weight"), 5: ("input", "gamma", "beta", "moving_mean", "moving_var")}
_OPERATORS = (
    ("quantize", "quantize", 1),
    ("dequantize", "dequantize", 1),
    *((name, name, 2) for name in ("add", "multiply", "subtract", "divide")),
    *((name, f"nn.{name}", 1) for name in ("relu", "gelu", "softmax")),
    ("batch_norm", "nn.batch_norm", 5),
    *((name, f"nn.{name}", 1) for name in ("max_pool2d", "avg_pool2d")),
    *((name, "matmul", 2) for name in ("dense", "matmul")),
    *((name, f"nn.{name}", 2) for name in ("conv1d", "conv2d")),
)
_ELEMENTWISE = ("add", "multiply", "subtract", "divide")


def _taken(context: PatternCheckContext) -> bool:
    """Whether the memory of the device has room: of the example, always."""
    del context
    return True


def _is_grouped(context: PatternCheckContext) -> bool:
    """Whether a convolution has several groups."""
    call = context.annotated_expr["root"]
    groups = getattr(call, "attrs", {}).get("groups", 1)
    return isinstance(groups, int) and groups > 1


def _operator(name: str, operator: str, count: int) -> FusionPattern:
    """The pattern of one operator."""
    names = ("input1", "input2") if name in _ELEMENTWISE else _INPUTS[count]
    inputs: dict[str, DFPattern] = {label: WildcardPattern() for label in names}
    root = operator_pattern(operator)(*inputs.values())
    labels = {label: part for label, part in inputs.items() if label in ("input", "weight", "input1", "input2")}
    check = _is_grouped if name == "depthwise_conv2d" else _taken
    return FusionPattern(f"example_npu.{name}", root, {**labels, "root": root}, check)


def _with_relu(name: str, operator: str) -> FusionPattern:
    """The pattern of an operator with `relu`."""
    data, weight = WildcardPattern(), WildcardPattern()
    call = operator_pattern(operator)(data, weight)
    root = operator_pattern("nn.relu")(call)
    labels = {"input": data, "weight": weight, name: call, "root": root}
    return FusionPattern(f"example_npu.{operator.rpartition('.')[2]}_relu_fused", root, labels, _taken)


register_patterns(
    [
        *(_operator(*row) for row in _OPERATORS),
        _operator("depthwise_conv2d", "nn.conv2d", 2),
        _with_relu("matmul", "matmul"),
        _with_relu("conv", "nn.conv2d"),
    ]
)

__getattr__ = refusal(__name__, __all__)
