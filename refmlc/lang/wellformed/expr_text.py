"""Types and dimensions as a message shows them: `R.Tensor((n, 4), "float32")`, `(n + 1, 4)`."""

from refmlc.lang.ir import tir
from refmlc.lang.ir.types import AnyType, FuncType, PrimType, ShapeType, TensorType, TupleType, Type

INFIX = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "floormod": "%", "div": "/"}
ATOMS = (tir.Var, tir.IntImm)


def dim_text(expr: tir.Expr) -> str:
    """A dimension; what is not arithmetic shows as `…`."""
    match expr:
        case tir.Var():
            return expr.name
        case tir.IntImm():
            return str(expr.value)
        case tir.Cast():
            return dim_text(expr.value)
        case tir.Apply(op, (a, b)) if op in INFIX:
            left, right = (dim_text(side) if isinstance(side, ATOMS) else f"({dim_text(side)})" for side in (a, b))
            return f"{left} {INFIX[op]} {right}"
        case tir.Apply(op, args):
            return f"{op}({', '.join(dim_text(arg) for arg in args)})"
        case _:
            return "…"


def shape_text(shape: tuple[tir.Expr, ...]) -> str:
    """A shape as Python shows a tuple."""
    return f"({', '.join(dim_text(dim) for dim in shape)}{',' if len(shape) == 1 else ''})"


def type_text(ty: Type | None) -> str:
    """A type as TVMScript writes it."""
    match ty:
        case None:
            return "unknown"
        case AnyType():
            return "R.Any"
        case TensorType():
            return _tensor(ty)
        case ShapeType(values, ndim):
            if values is not None:
                return f"R.Shape([{', '.join(dim_text(value) for value in values)}])"
            return "R.Shape" if ndim < 0 else f"R.Shape(ndim={ndim})"
        case PrimType(dtype, value):
            return f'R.Prim("{dtype}")' if value is None else f"R.Prim(value={dim_text(value)})"
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
