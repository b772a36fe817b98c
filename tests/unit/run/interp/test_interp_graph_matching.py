"""Whether values are of types, and what symbolic dimensions become."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL, FLOAT32, HANDLE, INT8, INT64, UINT8
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import AnyType, FuncType, PrimType, ShapeType, TensorType, TupleType
from refmlc.run.interp.graph.activation import Activation
from refmlc.run.interp.graph.type_match import mismatch
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import PackedFunc, Shape

N, M = tir.Var("n", INT64), tir.Var("m", INT64)
X = Tensor.from_numpy(np.zeros((2, 3), "float32"))
NEXT = tir.Apply("add", (N, tir.IntImm(INT64, 1)), INT64)


def dims(*values):
    return tuple(value if isinstance(value, tir.Var | tir.Apply) else tir.IntImm(INT64, value) for value in values)


def wrong(value, ty, *, binds=True, env=None):
    return mismatch("it", value, ty, env or Activation("f"), binds=binds)


@pytest.mark.parametrize(
    ("value", "ty"),
    [
        (X, None),
        (X, AnyType()),
        (None, AnyType()),
        (X, TensorType(None, None)),
        (X, TensorType(None, FLOAT32, 2)),
        (X, TensorType(dims(2, 3), FLOAT32)),
        (X, TensorType(dims(N, NEXT), None)),
        (X, TensorType(dims(N, M), None)),
        (Shape((2, 3)), ShapeType(None)),
        (Shape((2, 3)), ShapeType(None, 2)),
        (Shape((2, 3)), ShapeType(dims(N, NEXT))),
        (3, PrimType(INT64)),
        (3, PrimType(INT64, N)),
        (True, PrimType(BOOL)),
        (1, PrimType(BOOL)),
        (0.5, PrimType(FLOAT32)),
        (255, PrimType(UINT8)),
        ((), TupleType(())),
        (None, TupleType(())),
        ((X, (3,)), TupleType((TensorType(dims(N, M), None), TupleType((PrimType(INT64, M),))))),
        (PackedFunc("f", lambda _args, _span: None), FuncType(None, None)),
    ],
)
def test_values_of_their_types(value, ty):
    assert wrong(value, ty) is None


@pytest.mark.parametrize(
    ("value", "ty", "said"),
    [
        (3, TensorType(None, None), "declared a tensor, given is the int 3"),
        (X, TensorType(None, INT8), "declared with elements of int8, given is a tensor (2, 3) of float32"),
        (X, TensorType(None, None, 3), "declared with 3 axes"),
        (X, TensorType(dims(2), None), "declared with 1 axes"),
        (X, TensorType(dims(2, 4), None), "axis 1 of it is declared 4, given is 3"),
        (X, TensorType(dims(N, N), None), "axis 1 of it is declared `n` = 2, given is 3"),
        (X, ShapeType(None), "declared a shape, given is a tensor"),
        ((2, 3), ShapeType(None), "declared a shape, given is a tuple"),
        (Shape((2, 3)), ShapeType(None, 1), "declared a shape of 1 extents"),
        (Shape((2, 3)), ShapeType(dims(2, 2)), "axis 1 of it is declared 2, given is 3"),
        (Shape((2,)), TupleType((AnyType(),)), "declared a tuple of 1, given is the shape"),
        ((2,), TupleType(()), "declared a tuple of 0"),
        (None, TupleType((AnyType(),)), "declared a tuple of 1, given is null"),
        ((X, 2), TupleType((AnyType(), TensorType(None, None))), "field 1 of it is declared a tensor"),
        (1.0, PrimType(INT64), "declared int64, given is the float 1.0"),
        (True, PrimType(INT64), "declared int64"),
        (256, PrimType(UINT8), "declared uint8"),
        (2, PrimType(BOOL), "declared bool"),
        (1, PrimType(FLOAT32), "declared float32"),
        ("s", PrimType(INT64), "declared int64"),
        (3, PrimType(HANDLE), "declared handle"),
        (3, PrimType(INT64, tir.IntImm(INT64, 4)), "declared 4, given is 3"),
        (3, FuncType(None, None), "declared a function, given is the int 3"),
    ],
)
def test_values_that_are_not(value, ty, said):
    assert said in wrong(value, ty)


def test_only_the_first_thing_is_said():
    ty = TupleType((TensorType(None, INT8, 3), TensorType(dims(9, N), None)))
    assert wrong((X, X), ty) == "field 0 of it is declared with elements of int8, given is a tensor (2, 3) of float32"


def test_dimensions_without_a_value_are_not_looked_at_where_nothing_binds():
    env = Activation("f")
    assert wrong(X, TensorType(dims(N, NEXT), None), binds=False, env=env) is None
    assert env.dims == {}
    assert wrong(3, PrimType(INT64, N), binds=False, env=env) is None
    assert env.dims == {N: 3}
    assert wrong(X, TensorType(dims(N, 3), None), binds=False, env=env) is not None


def test_an_expression_over_a_variable_that_nothing_binds():
    with pytest.raises(RefmlcError) as caught:
        wrong(X, TensorType(dims(2, NEXT), None))
    assert caught.value.code.id == "RM211"


def test_a_shape_variable_as_the_shape_of_a_tensor():
    env = Activation("f", {relax.Var("s", None): Shape((2, 3)), relax.Var("t", None): 5})
    for name, fits in (("s", True), ("t", True), ("absent", True)):
        assert (wrong(X, TensorType(None, None, shape_var=name), env=env) is None) is fits
    env.values[relax.Var("s", None)] = Shape((3, 2))
    assert "declared of shape `s`, which is (3, 2)" in wrong(X, TensorType(None, None, shape_var="s"), env=env)
