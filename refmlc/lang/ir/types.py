"""The types of Relax values (TVM: struct info), on one screen."""

from typing import TypeAlias

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.attrs import DeviceMesh
from refmlc.lang.ir.node import Node, node


@node
class AnyType(Node):
    """Any value (`R.Any`, formerly `R.Object`)."""


@node
class TensorType(Node):
    """A tensor. `shape` None: unknown, then `ndim` (-1: unknown); `dtype` None: unknown.

    `shape_var` names a shape-valued variable where the shape is one (`R.Tensor(s, "float32")`).
    """

    shape: tuple[tir.Expr, ...] | None
    dtype: DType | None
    ndim: int = -1
    vdevice: str | None = None
    shape_var: str | None = None


@node
class DTensorType(Node):
    """A tensor that is spread over a mesh of devices.

    `placement` has a part for each dimension of the mesh: the axis of the tensor that is divided along it, or None
    where each device has a copy.
    """

    tensor: TensorType
    mesh: DeviceMesh
    placement: tuple[int | None, ...]


@node
class ShapeType(Node):
    """A shape value: its values, or its rank (-1: unknown)."""

    values: tuple[tir.Expr, ...] | None
    ndim: int = -1


@node
class PrimType(Node):
    """A primitive value of a dtype, and which where it is known.

    As the type of a variable `p` that names no value, `value` is a variable of its own, of p's name: what shapes
    and arithmetic mean by `p`. Binding p binds it, as binding a tensor binds the variables of its shape.
    """

    dtype: DType
    value: tir.Expr | None = None


@node
class TupleType(Node):
    """A tuple of values; bare `R.Tuple` is the empty one."""

    fields: tuple["Type", ...]


@node
class FuncType(Node):
    """A function. `params` None: any parameters."""

    params: tuple["Type", ...] | None
    ret: "Type | None"
    pure: bool = True


Type: TypeAlias = AnyType | TensorType | DTensorType | ShapeType | PrimType | TupleType | FuncType


def placement_text(placement: tuple[int | None, ...]) -> str:
    """A placement as TVM writes it: `S[0], R`."""
    return ", ".join("R" if axis is None else f"S[{axis}]" for axis in placement)
