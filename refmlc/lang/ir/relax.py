"""Relax: every kind of expression, binding and block, on one screen.

Calls have one form in every generation of the language:

| text                                      | `op`                 | `args`                                            |
|-------------------------------------------|----------------------|---------------------------------------------------|
| `cls.f(x)`, `g(x)`                        | GlobalVar, Var, …    | x                                                 |
| `R.call_packed("f", x)`                   | ExternFunc           | x                                                 |
| `R.call_tir(cls.f, (x,), T)`              | Op                   | GlobalVar, Tuple, `tir_vars` if any; ty_args (T,) |
| … with outputs `[T, U]`                   | Op                   | the same; ty_args (TupleType((T, U)),)            |
| `R.call_tir("f", …)`, `R.call_dps_packed` | Op `call_dps_packed` | ExternFunc, Tuple; ty_args (T,)                   |
| `R.call_pure_packed("f", x)`              | Op                   | ExternFunc, x                                     |
| `R.call_builtin_with_ctx("f", (x,))`      | Op                   | ExternFunc, Tuple                                 |
| `R.call_py_func("f", (x,))`               | Op                   | StringImm, Tuple                                  |
| `R.dist.call_tir(cls.f, (x,), T)`         | Op `call_tir`        | the same as of `R.call_tir`; T is a DTensorType   |
| `R.dist.const(1.0, T)`                    | Op `dist.const`      | Constant; ty_args (T,)                            |
| `R.make_closure(cls.f, (x,))`             | Op                   | GlobalVar, Tuple                                  |
| `R.invoke_closure(c, (x,))`               | Op                   | c, Tuple                                          |
| `R.print(x, format="…")`                  | Op                   | StringImm, x                                      |
| `R.assert_op(c, x, format="…")`           | Op                   | c, StringImm, x                                   |
| `R.name(x, 1, "s", axis=2)`               | Op                   | x, PrimValue, StringImm; attrs {"axis": 2}        |

Clauses: conformance/spec/relax-*.toml.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

import numpy as np

from refmlc.lang.dtypes import INT64, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node, node
from refmlc.lang.ir.operand import Attributed, Callee, Graph
from refmlc.lang.ir.tir import GlobalVar
from refmlc.lang.ir.types import TensorType, TupleType, Type

# ------------------------------------------------------------------------------------------- expressions


@node
class Var(Graph, Callee, Node):
    """A variable. `dataflow` ones are visible in their dataflow block only. `ty` None: not annotated."""

    name: str
    ty: Type | None
    dataflow: bool = False

    @property
    def struct_info(self) -> Type | None:
        """The type, as TVM called it until 0.20."""
        return self.ty


@node
class Constant(Graph, Node):
    """A tensor constant; `data` is read-only and has the storage dtype of `dtype`."""

    data: np.ndarray
    dtype: DType

    @property
    def ty(self) -> Type:
        """The type, which follows from the data."""
        return TensorType(tuple(tir.IntImm(INT64, size) for size in self.data.shape), self.dtype)

    @property
    def struct_info(self) -> Type:
        """The type, as TVM called it until 0.20."""
        return self.ty


@node
class MetadataRef(Node):
    """`metadata[key][index]` of a text that omits its metadata: reads and shows, cannot run."""

    key: str
    index: int


@node
class PrimValue(Node):
    """A primitive value: a TensorIR expression over symbolic dimensions."""

    value: tir.Expr


@node
class StringImm(Node):
    """A string."""

    value: str


@node
class DataTypeImm(Node):
    """A dtype as a value."""

    value: DType


@node
class ShapeExpr(Node):
    """A shape value."""

    values: tuple[tir.Expr, ...]


@node
class Tuple(Graph, Node):
    """A tuple value."""

    fields: tuple["Expr", ...]


@node
class TupleGetItem(Graph, Node):
    """Field `index` of a tuple."""

    tuple_value: "Expr"
    index: int


@node
class ExternFunc(Node):
    """A packed function by its global name."""

    symbol: str


@node
class Op(Node):
    """A Relax operator by its name without the leading `relax.`: `call_tir`, `nn.softmax`, `memory.alloc_tensor`."""

    name: str


@node
class Call(Graph, Node):
    """`op(args)`; `attrs` are the operator's attributes, `ty_args` its type arguments."""

    op: "Expr"
    args: tuple["Expr", ...]
    attrs: Mapping[str, tir.Attr] = field(default_factory=dict)
    ty_args: tuple[Type, ...] = ()


@node
class If(Node):
    """One of two sequences, by a scalar bool tensor."""

    condition: "Expr"
    true_branch: "SeqExpr"
    false_branch: "SeqExpr"


@node
class SeqExpr(Node):
    """Blocks of bindings, then the value of `body`."""

    blocks: tuple["Block", ...]
    body: "Expr"


@node
class Function(Attributed, Node):
    """A Relax function, global or local (a closure over the variables around it)."""

    params: tuple[Var, ...]
    body: SeqExpr
    ret_ty: Type | None
    pure: bool = True
    private: bool = False
    attrs: Mapping[str, tir.Attr] = field(default_factory=dict)

    @property
    def result_ty(self) -> Type | None:
        """What the result must be. `-> R.Tuple` alone says nothing: TVM 0.27 takes any value there (RLX-907)."""
        return None if isinstance(self.ret_ty, TupleType) and not self.ret_ty.fields else self.ret_ty


Expr: TypeAlias = (
    Var
    | GlobalVar
    | Constant
    | MetadataRef
    | PrimValue
    | StringImm
    | DataTypeImm
    | ShapeExpr
    | Tuple
    | TupleGetItem
    | ExternFunc
    | Op
    | Call
    | If
    | SeqExpr
    | Function
)

# ---------------------------------------------------------------------------------------------- bindings


@node
class VarBinding(Node):
    """`var` is `value`."""

    var: Var
    value: Expr


@node
class MatchCast(Node):
    """`var` is `value`, which must have type `ty`; symbolic dimensions of `ty` not yet known are bound."""

    var: Var
    value: Expr
    ty: Type


Binding: TypeAlias = VarBinding | MatchCast


@node
class BindingBlock(Node):
    """Bindings in order, effects allowed."""

    bindings: tuple[Binding, ...]


@node
class DataflowBlock(Node):
    """Bindings without effects; only variables that are not `dataflow` are visible after it."""

    bindings: tuple[Binding, ...]


Block: TypeAlias = BindingBlock | DataflowBlock


def kept_axes(call: Call) -> tuple[int, ...]:
    """The axes whose extents a `reshape` keeps: those of its shape that the text says to be 0."""
    shape = call.args[1] if len(call.args) > 1 else None
    values = shape.values if isinstance(shape, ShapeExpr) else ()
    return tuple(axis for axis, value in enumerate(values) if isinstance(value, tir.IntImm) and value.value == 0)
