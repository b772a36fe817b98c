"""Operands that have a dtype of their own are not brought to that of the first one."""

from refmlc.lang.dtypes import FLOAT32, INT32, SCALARS
from refmlc.lang.ir import tir
from refmlc.lang.script import read, show


def stored(text):
    """The value that the only statement stores."""
    head = 'from tvm.script import tirx as T\n\n\n@T.prim_func\ndef main(A: T.Buffer((2,), "float16")):\n'
    module = read(f"{head}    {text}\n", "case.py")
    body = module.functions["main"].body
    assert isinstance(body, tir.BufferStore)
    return body.value, show(module)


def test_the_exponent_of_ldexp_is_an_integer():
    value, text = stored("A[0] = T.ldexp(A[1], 70000)")
    assert value.dtype == SCALARS["float16"]
    assert isinstance(value.args[1], tir.IntImm)
    assert (value.args[1].dtype, value.args[1].value) == (INT32, 70000)
    assert "T.ldexp(A[1], 70000)" in text


def test_the_second_operand_of_copysign_takes_the_dtype_of_the_first():
    value, _ = stored("A[0] = T.copysign(A[1], 2)")
    assert isinstance(value.args[1], tir.FloatImm)
    assert value.args[1].dtype == SCALARS["float16"] != FLOAT32
