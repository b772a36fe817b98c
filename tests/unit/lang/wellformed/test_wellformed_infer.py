import numpy as np
import pytest

from refmlc.lang.arith.extents import certainly_different, polynomial
from refmlc.lang.arith.polynomial import constant
from refmlc.lang.dtypes import FLOAT16, FLOAT32, INT32, INT64
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.relax import (
    Call,
    Constant,
    DataTypeImm,
    Function,
    If,
    MetadataRef,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
)
from refmlc.lang.ir.types import AnyType, FuncType, PrimType, ShapeType, TensorType, TupleType
from refmlc.lang.ops.short_text import short_text
from refmlc.lang.wellformed import type_of
from refmlc.lang.wellformed.infer import join
from refmlc.lang.wellformed.type_text import type_text

N, M = tir.Var("n", INT64), tir.Var("m", INT64)


def number(value):
    return tir.IntImm(INT64, value)


def dims(*sizes):
    return tuple(number(size) if isinstance(size, int) else size for size in sizes)


def tensor(*sizes, dtype=FLOAT32):
    return TensorType(dims(*sizes), dtype)


def apply(op, *args):
    return tir.Apply(op, dims(*args), INT64)


X, Y = Var("x", tensor(4)), Var("y", None)
G = Function(
    (Var("a", tensor(N, apply("add", N, 1))),), SeqExpr((), X), TupleType((tensor(apply("mul", N, 2)), tensor(M)))
)
MODULE = IRModule({"g": G, "t": tir.PrimFunc((), {}, tir.Break())})


def shown(expr, known=None):
    return type_text(type_of(expr, MODULE, known or {}))


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (X, 'R.Tensor((4,), "float32")'),
        (Y, "unknown"),
        (Constant(np.zeros((2, 3), "float32"), FLOAT32), 'R.Tensor((2, 3), "float32")'),
        (Constant(np.zeros((), "float16"), FLOAT16), 'R.Tensor((), "float16")'),
        (PrimValue(N), "R.Prim(value=n)"),
        (ShapeExpr(dims(1, N)), "R.Shape([1, n])"),
        (Tuple((X, Y)), 'R.Tuple(R.Tensor((4,), "float32"), R.Any)'),
        (TupleGetItem(Tuple((Y, X)), 1), 'R.Tensor((4,), "float32")'),
        (TupleGetItem(Tuple((X,)), 1), "unknown"),
        (TupleGetItem(X, 0), "unknown"),
        (StringImm("s"), "unknown"),
        (MetadataRef("k", 0), "unknown"),
        (tir.GlobalVar("t"), "unknown"),
        (tir.GlobalVar("missing"), "unknown"),
        (SeqExpr((), X), 'R.Tensor((4,), "float32")'),
        (If(X, SeqExpr((), X), SeqExpr((), X)), 'R.Tensor((4,), "float32")'),
        (If(X, SeqExpr((), X), SeqExpr((), Y)), "unknown"),
        (Call(Op("ccl.allreduce"), (X,)), "unknown"),
        (Call(Op("call_tir"), (), ty_args=(tensor(3),)), 'R.Tensor((3,), "float32")'),
        (
            Call(Op("call_packed"), (), ty_args=(tensor(3), ShapeType(None))),
            'R.Tuple(R.Tensor((3,), "float32"), R.Shape)',
        ),
        (Call(Op("builtin.alloc_tensor"), (ShapeExpr(dims(3)), DataTypeImm(INT32))), 'R.Tensor((3,), "int32")'),
        (Call(Op("memory.alloc_tensor"), (X, X, ShapeExpr(dims(3)), DataTypeImm(INT32))), 'R.Tensor((3,), "int32")'),
        (Call(Op("builtin.alloc_tensor"), (X, DataTypeImm(INT32))), "unknown"),
        (Call(Op("shape_of"), (X,)), "R.Shape([4])"),
        (Call(Op("shape_of"), (Y,)), "unknown"),
        (
            Call(tir.GlobalVar("g"), (Var("p", tensor(3, 4)),)),
            'R.Tuple(R.Tensor((3 * 2,), "float32"), R.Tensor(dtype="float32", ndim=1))',
        ),
        (Call(tir.GlobalVar("t"), ()), "unknown"),
        (Call(Var("f", FuncType(None, tensor(1))), ()), "unknown"),
        (Call(Var("f", FuncType((), None)), ()), "unknown"),
        (
            Call(
                Var("f", FuncType((ShapeType(dims(N)), PrimType(INT64, M)), ShapeType(dims(N, M)))),
                (ShapeExpr(dims(7)), PrimValue(number(8))),
            ),
            "R.Shape([7, 8])",
        ),
        (Call(Var("f", FuncType((TupleType((tensor(N),)),), tensor(N))), (Tuple((X,)),)), 'R.Tensor((4,), "float32")'),
        (Call(Var("f", FuncType((), PrimType(INT64, M))), ()), 'R.Prim("int64")'),
        (Call(Var("f", FuncType((), AnyType())), ()), "R.Any"),
        (
            G,
            (
                'R.Callable((R.Tensor((n, n + 1), "float32"),), '
                'R.Tuple(R.Tensor((n * 2,), "float32"), R.Tensor((m,), "float32")))'
            ),
        ),
    ],
)
def test_type_that_follows(expr, expected):
    assert shown(expr) == expected


def test_deduced_types_count_for_variables_without_annotation():
    assert shown(Y, {Y: tensor(2)}) == 'R.Tensor((2,), "float32")'


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (tensor(N), tensor(N), 'R.Tensor((n,), "float32")'),
        (tensor(N), tensor(M), 'R.Tensor(dtype="float32", ndim=1)'),
        (tensor(N), tensor(N, 1), 'R.Tensor(dtype="float32")'),
        (tensor(2), tensor(2, dtype=FLOAT16), "R.Tensor((2,))"),
        (
            TupleType((tensor(2), AnyType())),
            TupleType((tensor(2), tensor(2))),
            'R.Tuple(R.Tensor((2,), "float32"), R.Any)',
        ),
        (PrimType(INT64, N), PrimType(INT64), 'R.Prim("int64")'),
        (PrimType(INT64), PrimType(INT32), "unknown"),
        (None, tensor(2), "unknown"),
    ],
)
def test_what_is_certain_of_one_of_two(a, b, expected):
    assert type_text(join(a, b)) == expected


@pytest.mark.parametrize(
    ("ty", "expected"),
    [
        (FuncType(None, None), "R.Callable"),
        (ShapeType(None, 3), "R.Shape(ndim=3)"),
        (TensorType(None, None), "R.Tensor()"),
    ],
)
def test_types_as_text(ty, expected):
    assert type_text(ty) == expected


def test_dimensions_as_text():
    assert short_text(apply("floordiv", apply("add", N, 3), 4)) == "(n + 3) // 4"
    assert short_text(apply("max", N, 0)) == "max(n, 0)"
    assert short_text(tir.Cast(INT64, tir.Var("k", INT32))) == "k"
    assert short_text(tir.StringImm("")) == "…"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (number(3), number(3), False),
        (number(3), number(4), True),
        (number(0), number(4), True),
        (N, M, False),
        (N, apply("add", N, 1), True),
        (apply("sub", apply("mul", N, M), apply("mul", M, N)), number(0), False),
        (apply("sub", apply("mul", N, M), apply("mul", M, N)), number(1), True),
        (apply("mul", apply("add", N, 1), apply("sub", N, 1)), apply("mul", N, N), True),
        (apply("floordiv", N, 2), apply("floordiv", N, 2), False),
        (apply("floordiv", N, 2), apply("add", apply("floordiv", N, 2), 1), True),
        (apply("floordiv", 7, 2), number(3), False),
        (apply("truncmod", 7, 2), number(0), True),
        (apply("floordiv", -7, 2), number(0), False),
        (apply("floordiv", 7, 0), number(0), False),
        (apply("min", 7, 2), number(2), False),
        (apply("max", 7, 2), number(2), True),
        (apply("floormod", 8, 2), number(0), False),
        (apply("shift_left", N, 1), N, False),
        (tir.Cast(INT32, N), N, False),
        (tir.Call("f", (), INT64), number(1), False),
        (apply("abs", N), number(1), False),
    ],
)
def test_certainly_different_dimensions(a, b, expected):
    assert certainly_different(polynomial(a, {}), polynomial(b, {})) is expected


def test_known_variables_are_replaced():
    assert polynomial(apply("add", N, M), {N: constant(3), M: constant(4)}).terms == {(): 7}


def test_products_with_too_many_terms_are_unknown():
    wide = number(0)
    for index in range(9):
        wide = apply("add", wide, tir.Var(f"v{index}", INT64))
    assert len(polynomial(apply("mul", wide, wide), {}).terms) == 1


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (ShapeExpr(dims(2, 2)), 'R.Tensor((2, 2), "float32")'),
        (ShapeExpr(dims(N, 2)), 'R.Tensor((n, 2), "float32")'),
        (ShapeExpr(dims(-1, 2)), 'R.Tensor(dtype="float32", ndim=2)'),
        (Var("s", None), "unknown"),
    ],
)
def test_a_reshape_has_the_shape_it_is_told(shape, expected):
    found = type_of(Call(Op("reshape"), (X, shape)), MODULE, {})
    assert (type_text(found) if found is not None else "unknown") == expected
