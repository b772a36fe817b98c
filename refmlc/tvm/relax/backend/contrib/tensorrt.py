"""`tvm.relax.backend.contrib.tensorrt`: what TensorRT would take, and a module divided so. refmlc has no TensorRT."""

from refmlc.lang.dtypes import FLOAT16, FLOAT32
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.rewrite.partition import FusionPattern, PatternCheckContext
from refmlc.rewrite.partition.patterns import WildcardPattern, operator_pattern
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.backend.pattern_registry import get_patterns_with_prefix, register_patterns
from refmlc.tvm.relax.transform import FuseOpsByPattern, MergeCompositeFunctions

__all__ = ["partition_for_tensorrt"]

_UNARY = (
    *("nn.relu", "sigmoid", "nn.silu", "tanh", "exp", "log", "sqrt", "abs", "negative", "sin", "cos", "atan", "ceil"),
    *("floor", "erf", "nn.softmax", "nn.batch_flatten", "expand_dims", "squeeze", "permute_dims", "layout_transform"),
    *("nn.max_pool2d", "nn.avg_pool2d", "nn.max_pool3d", "nn.avg_pool3d", "nn.adaptive_avg_pool2d"),
    *("sum", "prod", "max", "min", "mean", "concat", "split"),
)
_BINARY = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum")
_WEIGHTED = (
    *("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv2d_transpose", "nn.conv3d_transpose", "matmul", "reshape"),
)
_OTHERS = (("nn.layer_norm", 3), ("clip", 3), ("strided_slice", 5), ("strided_slice", 4))
_NAMES = {"permute_dims": "transpose", "concat": "concatenate", "matmul": "nn.batch_matmul"}
"""The names that differ from those of the operators."""

_METHODS = ("nearest_neighbor", "linear", "cubic")
_COORDINATES = ("asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel")
_ROUNDINGS = ("floor", "ceil", "round_prefer_ceil", "round_prefer_floor")
_RANK = 4


def _operator(name: str, count: int) -> FusionPattern:
    call = operator_pattern(name)(*(WildcardPattern() for _ in range(count)))
    return FusionPattern(f"tensorrt.{_NAMES.get(name, name)}", call)


def _resized(context: PatternCheckContext) -> bool:
    """Whether TensorRT resizes an image exactly so."""
    data, size, call = (context.annotated_expr[name] for name in ("data", "size", "root"))
    ty = data.ty if isinstance(data, relax.Var | relax.Constant) else None
    extents = size.values if isinstance(size, relax.ShapeExpr) else ()
    if not isinstance(call, relax.Call) or not isinstance(ty, TensorType):
        return False
    attrs = call.attrs
    rounding = attrs.get("rounding_method") in _ROUNDINGS or attrs.get("method") != "nearest_neighbor"
    return (
        len(extents) == 2
        and all(isinstance(extent, tir.IntImm) and extent.value > 0 for extent in extents)
        and attrs.get("layout") == "NCHW"
        and ty.shape is not None
        and len(ty.shape) == _RANK
        and ty.dtype in (FLOAT16, FLOAT32)
        and attrs.get("out_dtype") in (None, "", "void", str(ty.dtype))
        and attrs.get("method") in _METHODS
        and attrs.get("coordinate_transformation_mode") in _COORDINATES
        and rounding
    )


def _resize2d() -> FusionPattern:
    data, size = WildcardPattern(), WildcardPattern()
    root = operator_pattern("image.resize2d")(data, size)
    return FusionPattern("tensorrt.image.resize2d", root, {"data": data, "size": size, "root": root}, _resized)


register_patterns(
    [
        *(_operator(name, 1) for name in _UNARY),
        *(_operator(name, 2) for name in _BINARY),
        _resize2d(),
        *(_operator(name, 2) for name in _WEIGHTED),
        *(_operator(name, count) for name, count in _OTHERS),
    ]
)


def partition_for_tensorrt(mod: IRModule) -> IRModule:
    """The module with functions for what TensorRT would take, constants in them."""
    patterns = get_patterns_with_prefix("tensorrt")
    return MergeCompositeFunctions()(FuseOpsByPattern(patterns, bind_constants=True)(mod))


__getattr__ = refusal(__name__, __all__)
