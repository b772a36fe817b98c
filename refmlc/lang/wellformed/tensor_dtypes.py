"""Which dtypes the operands of a TensorIR expression may have, node by node, and which result follows.

| node           | operands                                          | result                         |
|----------------|---------------------------------------------------|--------------------------------|
| `Apply`        | of kinds that the contract accepts, of one dtype  | as the contract says           |
|                | unless the contract says otherwise; bool always   |                                |
| `Cast`         | any but void, as many lanes as the result         | declared                       |
| `And`, `Or`    | bool, as many lanes each                          | bool                           |
| `Select`       | condition bool, one or as many lanes as the arms; | the arms'                      |
|                | both arms of one dtype                            |                                |
| `if_then_else` | condition a scalar bool; both arms of one dtype   | the arms'                      |
| `Ramp`         | base and stride integers of one dtype             | that dtype with lanes          |
| `Broadcast`    | a scalar                                          | its dtype with lanes           |
| `Shuffle`      | vectors of one element dtype, indices among lanes | that dtype, one lane per index |

Decision: arithmetic on bool, and narrower sets of dtypes (`Contract.dtypes`), are not ill-formed: TVM prints such
programs. Whether they have a meaning is the interpreter's finding.
"""

from refmlc.lang.dtypes import DType
from refmlc.lang.ir.tir import (
    And,
    Apply,
    Broadcast,
    Cast,
    Expr,
    IfThenElseExpr,
    IntImm,
    Or,
    Ramp,
    Select,
    Shuffle,
)
from refmlc.lang.ops.scalar import SCALAR_OPS


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The operands of `expr`, in order; none where it binds, loads or calls."""
    match expr:
        case Apply():
            return expr.args
        case Cast():
            return (expr.value,)
        case And() | Or():
            return (expr.a, expr.b)
        case Select() | IfThenElseExpr():
            return (expr.condition, expr.true_value, expr.false_value)
        case Ramp():
            return (expr.base, expr.stride, expr.lanes)
        case Broadcast():
            return (expr.value, expr.lanes)
        case Shuffle():
            return (*expr.vectors, *expr.indices)
        case _:
            return ()


def dtype_problem(expr: Expr) -> str | None:
    """The error in the dtypes of `expr`, as a sentence; None if there is none."""
    match expr:
        case Apply():
            return _apply(expr)
        case Cast(dtype, value):
            if value.dtype.kind == "void" or not same_lanes(dtype, value.dtype):
                return f"a conversion from {value.dtype} to {dtype} does not keep the lanes"
        case And(a, b) | Or(a, b):
            name = type(expr).__name__.lower()
            if a.dtype.kind != "bool" or b.dtype.kind != "bool" or not same_lanes(a.dtype, b.dtype):
                return f"the operands of `{name}` are {a.dtype} and {b.dtype}, not bool"
        case Select(condition, true, false) | IfThenElseExpr(condition, true, false):
            if condition.dtype.kind != "bool":
                return f"the condition is {condition.dtype}, not bool"
            if true.dtype != false.dtype:
                return f"one arm is {true.dtype}, the other is {false.dtype}"
            lazy = isinstance(expr, IfThenElseExpr)
            if condition.dtype.is_vector and (lazy or not same_lanes(condition.dtype, true.dtype)):
                return f"the condition is {condition.dtype}, the arms are {true.dtype}"
        case Ramp(base, stride, _, _):
            if not base.dtype.is_integer or base.dtype != stride.dtype:
                return f"the base of a ramp is {base.dtype}, its stride is {stride.dtype}"
        case Broadcast(value, _, dtype):
            if value.dtype.element != dtype.element:
                return f"a broadcast of {value.dtype} cannot be {dtype}"
        case Shuffle(vectors, indices, dtype):
            if {vector.dtype.element for vector in vectors} != {dtype.element}:
                return f"a shuffle of {vectors[0].dtype if vectors else 'nothing'} cannot be {dtype}"
            lanes = sum(vector.dtype.lanes for vector in vectors)
            for index in indices:
                if not isinstance(index, IntImm) or not 0 <= index.value < lanes:
                    at = index.value if isinstance(index, IntImm) else "not known"
                    return f"an index of a shuffle of {lanes} lanes is {at}"
        case _:
            pass
    return None


_FLOAT_ONLY = frozenset(("exp", "exp2", "exp10", "log", "sqrt", "tanh", "sigmoid", "erf"))
"""Of those that are defined on floats alone, what TVM takes on integers too."""


def is_left_open(expr: Expr) -> bool:
    """Whether TVM takes an operator on integers that no target of it compiles: it has no value to agree with.

    Measured on TVM 0.27: `T.exp(i)` has the dtype of `i`; `llvm` has no such intrinsic, `c` leaves the call unresolved.
    """
    return isinstance(expr, Apply) and expr.op in _FLOAT_ONLY and expr.args[0].dtype.is_integer


def same_lanes(a: DType, b: DType) -> bool:
    """Whether values of both have as many lanes."""
    return (a.lanes, a.scalable) == (b.lanes, b.scalable)


def width(dtype: DType) -> int:
    """The bits of a value, all lanes."""
    return dtype.bits * dtype.lanes


def _apply(expr: Apply) -> str | None:
    """The error in the dtypes of an operator; None if there is none."""
    row = SCALAR_OPS.get(expr.op)
    if row is None:
        return None
    contract, dtypes = row.contract, [arg.dtype for arg in expr.args]
    if len(dtypes) != contract.arity:
        return f"`{expr.op}` takes {contract.arity} operands, {len(dtypes)} given"
    listed = " and ".join(str(operand) for operand in dtypes)
    if expr.op == "reinterpret" and width(dtypes[0]) != width(expr.dtype):
        return f"a reinterpretation of {dtypes[0]} as {expr.dtype} does not keep the bits"
    if contract.rest is None and len(set(dtypes)) > 1:
        return f"the operands of `{expr.op}` are {listed}"
    if dtypes[0].kind not in (*contract.accepts, "bool"):
        return f"`{expr.op}` has no meaning on {dtypes[0]}"
    result = contract.result_dtype(dtypes, expr.dtype).with_lanes(dtypes[0].lanes, scalable=dtypes[0].scalable)
    return (
        None
        if result == expr.dtype or contract.result == "declared"
        else f"`{expr.op}` of {listed} is not {expr.dtype}"
    )
