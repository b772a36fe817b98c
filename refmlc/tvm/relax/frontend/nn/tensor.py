"""Tensors while a module is traced: an expression of Relax with its shape, its dtype and Python's operators.

| class       | is                                                                              |
|-------------|---------------------------------------------------------------------------------|
| `Tensor`    | an expression of known shape and dtype                                           |
| `Parameter` | a weight of a module: a tensor, with values once `data` is set                   |
| `Object`    | any other value of Relax, as a cache                                             |

Numbers beside a tensor become constants of its dtype, as in TVM.
"""

from collections.abc import Sequence

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SHAPE_MISMATCH, TYPE_MISMATCH
from refmlc.lang.dtypes import INT64, dtype as dtype_named
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import AnyType, TensorType
from refmlc.lang.te import Value
from refmlc.run.memory.tensor import Tensor as Array
from refmlc.tvm.arrays import from_dlpack, tensor as array_of
from refmlc.tvm.nodes import extent
from refmlc.tvm.relax import op
from refmlc.tvm.relax.constructors import const
from refmlc.tvm.relax.frontend.nn.tracing import current_builder

DEFAULT_DTYPE = "float32"
Size = int | str | Value | tir.Expr


def plain(size: tir.Expr) -> int | Value:
    """A dimension as scripts use it: a number, or an expression with Python's operators."""
    return size.value if isinstance(size, tir.IntImm) else Value(size)


def sizes(shape: Sequence[Size]) -> tuple[tir.Expr, ...]:
    """A shape; a string is a new symbolic dimension of that name. Fails: RM105 for a negative one."""
    dims = tuple(tir.Var(size, INT64) if isinstance(size, str) else extent(size) for size in shape)
    for dim in dims:
        if isinstance(dim, tir.IntImm) and dim.value < 0:
            raise fail(BAD_ARGUMENTS, f"a dimension is not negative; this is {dim.value}")
    return dims


def emitted(call: relax.Expr, name: str) -> "Tensor | tuple[Tensor, ...]":
    """The value of a call as a variable called `name`: a tensor, or the tensors of a tuple."""
    expr = call if isinstance(call, relax.Var) and call.dataflow else current_builder().emit(call, name)
    fields = getattr(expr.ty, "fields", None)
    if fields is None:
        return Tensor(_expr=expr)
    items = (relax.TupleGetItem(expr, place) for place in range(len(fields)))
    return tuple(single(item, f"{name}.{place}") for place, item in enumerate(items))


def single(call: relax.Expr, name: str) -> "Tensor":
    """As `emitted`, where the value is one tensor. Fails: RM201 where it is a tuple."""
    value = emitted(call, name)
    if isinstance(value, Tensor):
        return value
    raise fail(TYPE_MISMATCH, f"`{name}` is a tuple of {len(value)} tensors; one tensor is needed")


def call(operator: str, *args: object, **kwargs: object) -> relax.Call:
    """A call of an operator of `relax.op`."""
    make = op.member_named(operator)
    if isinstance(make, op.Group):
        raise fail(BAD_ARGUMENTS, f"`relax.op.{operator}` is a group of operators")
    return make(*args, **kwargs)


class Tensor:
    """An expression whose type is a tensor of known shape. Its values are known only when the module runs."""

    def __init__(self, *, _expr: relax.Expr) -> None:
        """A tensor that is `_expr`. Fails: RM201 where its shape or its dtype is not known."""
        self.expr = _expr
        self.type  # noqa: B018 - checked

    @property
    def _expr(self) -> relax.Expr:
        """The expression, by TVM's name."""
        return self.expr

    @property
    def type(self) -> TensorType:
        """The type, whose shape and dtype are known. Fails: RM201 where they are not."""
        expr = self.expr
        ty = getattr(expr, "ty", None)
        if isinstance(expr, relax.Constant):
            ty = TensorType(_shape(expr.data), expr.dtype)
        if not isinstance(ty, TensorType) or ty.shape is None or ty.dtype is None:
            raise fail(TYPE_MISMATCH, f"a tensor of `relax.frontend.nn` has a known shape and dtype; this is {ty}")
        return ty

    @staticmethod
    def from_const(data: object) -> "Tensor":
        """A constant."""
        return Tensor(_expr=const(data))

    @staticmethod
    def from_scalar(data: float, dtype: str) -> "Tensor":
        """A constant of no dimensions."""
        return Tensor(_expr=const(data, dtype))

    @staticmethod
    def from_ty(ty: TensorType, name: str = "tensor") -> "Tensor":
        """A variable of a type."""
        return Tensor(_expr=relax.Var(name, ty))

    from_struct_info = from_ty

    @staticmethod
    def placeholder(shape: Sequence[Size], dtype: str, name: str = "tensor") -> "Tensor":
        """A variable; as `out` of an external function it says the shape and dtype of the result."""
        return Tensor(_expr=relax.Var(name, TensorType(sizes(shape), dtype_named(str(dtype)))))

    @property
    def shape(self) -> list[int | Value]:
        """The extents: numbers, and expressions where they are symbolic."""
        return [plain(size) for size in self.type.shape or ()]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> str:
        """The dtype, as text."""
        return str(self.type.dtype)

    def __repr__(self) -> str:
        return f'Tensor({self.shape}, "{self.dtype}")'

    # ---------------------------------------------------------------------------------- operators of Python

    def _with(self, operator: str, name: str, other: object) -> "Tensor":
        return single(call(operator, self.expr, operand(other, self).expr), name)

    def __add__(self, other: object) -> "Tensor":
        return self._with("add", "add", other)

    __radd__ = __add__

    def __sub__(self, other: object) -> "Tensor":
        return self._with("subtract", "subtract", other)

    def __rsub__(self, other: object) -> "Tensor":
        return operand(other, self)._with("subtract", "subtract", self)

    def __mul__(self, other: object) -> "Tensor":
        return self._with("multiply", "mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> "Tensor":
        return self._with("divide", "divide", other)

    def __lt__(self, other: object) -> "Tensor":
        return self._with("less", "less", other)

    def __le__(self, other: object) -> "Tensor":
        return self._with("less_equal", "less_equal", other)

    def __gt__(self, other: object) -> "Tensor":
        return self._with("greater", "greater", other)

    def __ge__(self, other: object) -> "Tensor":
        return self._with("greater_equal", "greater_equal", other)

    def maximum(self, other: object) -> "Tensor":
        """The greater of two elements."""
        return self._with("maximum", "maximum", other)

    def minimum(self, other: object) -> "Tensor":
        """The smaller of two elements."""
        return self._with("minimum", "minimum", other)

    def astype(self, dtype: str) -> "Tensor":
        """The elements in another dtype; itself where it is the same."""
        return self if self.dtype == str(dtype) else single(call("astype", self.expr, dtype), "astype")

    def reshape(self, *shape: Size) -> "Tensor":
        """The elements in another shape."""
        return single(call("reshape", self.expr, shape), "reshape")

    def permute_dims(self, *axes: int) -> "Tensor":
        """The axes in another order."""
        return single(call("permute_dims", self.expr, axes=axes), matmul_name(self))

    def repeat(self, repeats: int, axis: int | None = None) -> "Tensor":
        """Each element several times."""
        return single(call("repeat", self.expr, repeats, axis), "repeat")


def matmul_name(x: Tensor) -> str:
    """The name of the transposed `x`: that of a weight of a linear layer says so, as in TVM."""
    name = x.expr.name if isinstance(x.expr, relax.Var) else ""
    return name.replace("linear", "matmul") if "linear" in name else "permute_dims"


def _shape(data: np.ndarray) -> tuple[tir.Expr, ...]:
    return tuple(extent(int(size)) for size in data.shape)


def operand(value: object, beside: Tensor) -> Tensor:
    """A tensor, or a number as a constant of the dtype of the tensor that it stands beside. Fails: RM105."""
    match value:
        case Tensor():
            return value
        case tir.IntImm() | tir.FloatImm():
            return Tensor.from_scalar(value.value, beside.dtype)
        case int() | float():
            return Tensor.from_scalar(value, beside.dtype)
    raise fail(BAD_ARGUMENTS, f"a tensor or a number is needed; this is {type(value).__name__}")


class Parameter(Tensor):
    """A weight: its shape and dtype, and its values where `data` is set."""

    def __init__(self, shape: Sequence[Size], dtype: str | None = None) -> None:
        """A weight without values, float32 where no dtype is given."""
        super().__init__(_expr=Tensor.placeholder(shape, dtype or DEFAULT_DTYPE, "param").expr)
        self._data: Array | None = None
        self.attrs: dict[str, object] = {}

    @property
    def data(self) -> Array | None:
        """The values; None where there are none."""
        return self._data

    @data.setter
    def data(self, data: object) -> None:
        """Set the values: an array of NumPy, of refmlc, or of what speaks DLPack. Fails: RM302, RM201."""
        if data is None:
            self._data = None
            return
        array = array_of(data) if isinstance(data, Array | np.ndarray) else from_dlpack(data)
        if list(array.shape) != self.shape:
            raise fail(SHAPE_MISMATCH, f"the parameter has shape {tuple(self.shape)}, the values {tuple(array.shape)}")
        if str(array.dtype) != self.dtype:
            raise fail(TYPE_MISMATCH, f"the parameter is {self.dtype}, the values are {array.dtype}")
        self._data = array

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype. Fails: RM105 where the parameter has values."""
        if dtype is None:
            return
        if self._data is not None:
            raise fail(BAD_ARGUMENTS, "a parameter that has values keeps its dtype")
        self.expr = Tensor.placeholder(self.shape, dtype, "param").expr


class Object:
    """A value of Relax other than a tensor."""

    def __init__(self, *, _expr: relax.Expr, _name: str) -> None:
        """The value of `_expr`. Fails: RM201 where its type says more than that it is an object."""
        self.expr = _expr if isinstance(_expr, relax.Var) else current_builder().emit(_expr, _name)
        if not isinstance(self.expr.ty, AnyType):
            raise fail(TYPE_MISMATCH, f"an `nn.Object` is a value of type R.Object; this is {self.expr.ty}")

    @property
    def _expr(self) -> relax.Expr:
        """The expression, by TVM's name."""
        return self.expr
