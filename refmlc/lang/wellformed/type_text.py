"""Types and dimensions as a message shows them: `R.Tensor((n, 4), "float32")`, `(n + 1, 4)`."""

from refmlc.lang.ir import tir
from refmlc.lang.ir.types import (
    AnyType,
    DTensorType,
    FuncType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    placement_text,
)
from refmlc.lang.ops.short_text import short_text


def shape_text(shape: tuple[tir.Expr, ...]) -> str:
    """A shape as Python shows a tuple."""
    return f"({', '.join(short_text(dim) for dim in shape)}{',' if len(shape) == 1 else ''})"


def type_text(ty: Type | None) -> str:
    """A type as TVMScript writes it."""
    match ty:
        case None:
            return "unknown"
        case AnyType():
            return "R.Any"
        case TensorType():
            return _tensor(ty)
        case DTensorType(tensor, mesh, placement):
            return f'{_tensor(tensor)} on a mesh {mesh.shape} as "{placement_text(placement)}"'
        case ShapeType(values, ndim):
            if values is not None:
                return f"R.Shape([{', '.join(short_text(value) for value in values)}])"
            return "R.Shape" if ndim < 0 else f"R.Shape(ndim={ndim})"
        case PrimType(dtype, value):
            return f'R.Prim("{dtype}")' if value is None else f"R.Prim(value={short_text(value)})"
        case TupleType(fields):
            return f"R.Tuple({', '.join(type_text(field) for field in fields)})"
        case FuncType(params, ret):
            if params is None:
                return "R.Callable"
            listed = "".join(f"{type_text(param)}, " for param in params)
            return (
                f"R.Callable(({listed.rstrip() if len(params) == 1 else listed.removesuffix(', ')}), {type_text(ret)})"
            )


def _tensor(ty: TensorType) -> str:
    """A tensor type with what is known of it."""
    parts = [] if ty.shape is None else [shape_text(ty.shape)]
    if ty.dtype is not None:
        parts.append(f'"{ty.dtype}"' if parts else f'dtype="{ty.dtype}"')
    if ty.shape is None and ty.ndim >= 0:
        parts.append(f"ndim={ty.ndim}")
    return f"R.Tensor({', '.join(parts)})"
