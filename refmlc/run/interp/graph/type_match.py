"""Values are matched against types, which binds the types' symbolic dimensions. RLX-011 … RLX-022.

A match has two rounds, so that the order of dimensions does not matter: first a variable that is a whole dimension
takes the extent at its place; then every other expression is computed and compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import UNDEFINED_SYMBOL, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.types import AnyType, DTensorType, FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.library.distributed import MESHES
from refmlc.lang.ops.contract import Scalar
from refmlc.lang.ops.evaluate import Unbound, Values, evaluate
from refmlc.lang.ops.short_text import short_text
from refmlc.run.interp.graph.activation import Activation
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape, kind_of


@dataclass(slots=True)
class Match:
    """Values matched against types in one activation.

    `binds`: variables without a value are bound. If not, a dimension without a value is skipped (except that a
    primitive variable takes its own value). `wrong` describes the first mismatch, None while there is none.
    """

    env: Activation
    binds: bool
    wrong: str | None = None
    _pending: list[tuple[str, tir.Expr, Scalar]] = field(default_factory=list)

    def add(self, what: str, value: object, ty: Type | None) -> None:
        """Match `value` with `ty`; messages name the value `what`."""
        match ty:
            case None | AnyType():  # RLX-011
                pass
            case TensorType():  # RLX-012
                self._tensor(what, value, ty)
            case DTensorType():  # LIB-980
                raise fail(UNSUPPORTED_CONSTRUCT, f"{what} is a distributed tensor: {MESHES}", ty.span)
            case ShapeType():  # RLX-013
                self._shape(what, value, ty)
            case PrimType():  # RLX-014
                self._prim(what, value, ty)
            case TupleType(fields):  # RLX-015
                self._tuple(what, value, fields)
            case FuncType():  # RLX-016
                if not isinstance(value, Closure | PackedFunc):
                    self._report(f"{what} is declared a function, given is {kind_of(value)}")

    def close(self) -> str | None:
        """Do the second round; the first mismatch, None if there is none.

        Fails: RM211 where variables must be bound and one of an expression's is not.
        """
        for what, expr, actual in self._pending:
            if self.wrong is not None:
                break
            try:
                declared = evaluate(expr, self.env.dims)
            except Unbound as unbound:
                if not self.binds:
                    continue
                message = f"the symbolic dimension `{unbound.var.name}` of `{short_text(expr)}` is never bound"
                raise fail(UNDEFINED_SYMBOL, message, expr.span) from None
            self._compare(what, expr, declared, actual)
        return self.wrong

    def _report(self, wrong: str) -> None:
        if self.wrong is None:
            self.wrong = wrong

    def _tensor(self, what: str, value: object, ty: TensorType) -> None:
        if not isinstance(value, Tensor):
            self._report(f"{what} is declared a tensor, given is {kind_of(value)}")
            return
        if ty.dtype is not None and value.dtype != ty.dtype:
            self._report(f"{what} is declared with elements of {ty.dtype}, given is {kind_of(value)}")
        if ty.shape is not None:
            self._extents(what, value.shape, ty.shape, value)
        elif ty.shape_var is not None:
            self._shape_var(what, value, ty.shape_var)
        elif ty.ndim not in (-1, value.ndim):
            self._report(f"{what} is declared with {ty.ndim} axes, given is {kind_of(value)}")

    def _shape_var(self, what: str, value: Tensor, name: str) -> None:
        shapes = [shape for var, shape in self.env.values.items() if var.name == name and isinstance(shape, Shape)]
        if shapes and tuple(shapes[-1]) != value.shape:
            self._report(
                f"{what} is declared of shape `{name}`, which is {tuple(shapes[-1])}, given is {kind_of(value)}"
            )

    def _shape(self, what: str, value: object, ty: ShapeType) -> None:
        if not isinstance(value, Shape):
            self._report(f"{what} is declared a shape, given is {kind_of(value)}")
        elif ty.values is not None:
            self._extents(what, value, ty.values, value)
        elif ty.ndim not in (-1, len(value)):
            self._report(f"{what} is declared a shape of {ty.ndim} extents, given is {kind_of(value)}")

    def _prim(self, what: str, value: object, ty: PrimType) -> None:
        if not isinstance(value, bool | int | float) or not fits(value, ty.dtype):
            self._report(f"{what} is declared {ty.dtype}, given is {kind_of(value)}")
        elif isinstance(ty.value, tir.Var) and ty.value not in self.env.dims:
            self.env.dims[ty.value] = value
        elif ty.value is not None:
            self._pending.append((what, ty.value, value))

    def _tuple(self, what: str, value: object, fields: Sequence[Type]) -> None:
        if value is None and not fields:
            return
        if isinstance(value, Shape) or not isinstance(value, tuple) or len(value) != len(fields):
            self._report(f"{what} is declared a tuple of {len(fields)}, given is {kind_of(value)}")
            return
        for number, (item, ty) in enumerate(zip(value, fields, strict=True)):
            self.add(f"field {number} of {what}", item, ty)

    def _extents(self, what: str, sizes: Sequence[int], declared: tuple[tir.Expr, ...], value: object) -> None:
        if len(sizes) != len(declared):
            self._report(f"{what} is declared with {len(declared)} axes, given is {kind_of(value)}")
            return
        for axis, (size, expr) in enumerate(zip(sizes, declared, strict=True)):
            if self.binds and isinstance(expr, tir.Var) and expr not in self.env.dims:
                self.env.dims[expr] = size  # RLX-021
            else:
                self._pending.append((f"axis {axis} of {what}", expr, size))

    def _compare(self, what: str, expr: tir.Expr, declared: Scalar, actual: Scalar) -> None:
        if declared != actual:
            text = f"{declared}" if isinstance(expr, tir.IntImm) else f"`{short_text(expr)}` = {declared}"
            self._report(f"{what} is declared {text}, given is {actual}")


def fits(value: Scalar, dtype: DType) -> bool:
    """True if `dtype` has `value`; 0 and 1 are bools (as the shape heap stores them)."""
    match dtype.kind:
        case "bool":
            return isinstance(value, int) and value in (0, 1)
        case "int" | "uint":
            return isinstance(value, int) and not isinstance(value, bool) and dtype.minimum <= value <= dtype.maximum
        case "float":
            return isinstance(value, float)
        case _:
            return False


def mismatch(what: str, value: object, ty: Type | None, env: Activation, *, binds: bool) -> str | None:
    """How `value`, which messages name `what`, differs from `ty`; None if it matches."""
    match = Match(env, binds)
    match.add(what, value, ty)
    return match.close()


def eval_dim(expr: tir.Expr, dims: Values, span: Span | None = None) -> Scalar:  # RLX-022
    """The value of `expr`. Fails: RM211 (no value), RM306, RM307 … (the operator), RM501, RM503, RM504."""
    try:
        return evaluate(expr, dims, span)
    except Unbound as unbound:
        message = f"the symbolic dimension `{unbound.var.name}` has no value here"
        raise fail(UNDEFINED_SYMBOL, message, expr.span or span) from None
