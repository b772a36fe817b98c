"""Shape variables between the name of a function and its parameters, as TVM prints them on Python 3.12 and newer."""

import pytest

from refmlc.diag import IllFormed, Malformed
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.script import read
from refmlc.lang.script.reader.pieces import LARGE

TEXT = """from __future__ import annotations

# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def func[M, N](A: T.Buffer((M, M * T.int64(2)), "float32"), B: T.Buffer((N,), "float32")):
        A[0, 0] = T.float32(1.0)

    @R.function
    def main[M, N: int](x: R.Tensor((M, M * 2), "float32"), y: R.Tensor((N,), "float32")) -> R.Tensor((M, M * 2)):
        z: R.Tensor((M, M * 2), dtype="float32") = R.add(x, x)
        return z
"""
PORTABLE = """
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.script import relax as R

M = TypeVar("M")
N = TypeVar("N")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def func(A: T.Buffer((M, "M * T.int64(2)"), "float32"), B: T.Buffer((N,), "float32")):
        A[0, 0] = T.float32(1.0)

    @R.function
    def main(x: R.Tensor((M, "M * 2"), "float32"), y: R.Tensor((N,), "float32")) -> R.Tensor((M, "M * 2")):
        z: R.Tensor((M, M * 2), dtype="float32") = R.add(x, x)
        return z
"""


def test_they_are_the_variables_that_a_text_declares_before():
    assert first_difference(read(TEXT), read(PORTABLE)) is None


def test_a_large_text_has_them_too():
    extra = "".join(
        f'    @T.prim_func(private=True, s_tir=True)\n    def f{number}[n](A: T.Buffer((n,), "int32")):\n'
        f"        A[0] = {number}\n\n"
        for number in range(1 + LARGE // 90)
    )
    text = TEXT + "\n" + extra
    assert len(text) > LARGE
    large = read(text)
    assert first_difference(large.functions["main"], read(TEXT).functions["main"]) is None
    dims = large.functions["f7"].params
    assert len(dims) == 1


@pytest.mark.parametrize(
    ("variables", "code", "message"),
    [
        ("[M, *N]", "RM105", "the variables of `func` are names"),
        ("[M, N: str]", "RM105", "the variables of `func` are names"),
        ("[M, M]", "RM210", "`func` declares `M` twice"),
        ("[M, N", "RM101", ""),
        ("[]", "RM101", ""),
        ("[M, 2]", "RM101", ""),
    ],
)
def test_anything_else_is_refused_at_its_place(variables, code, message):
    with pytest.raises((Malformed, IllFormed)) as caught:
        read(TEXT.replace("[M, N]", variables))
    assert caught.value.code.id == code
    assert message in caught.value.diagnostic.message
    assert caught.value.diagnostic.span.line == 10


def test_places_behind_them_are_those_of_the_text():
    with pytest.raises(Malformed) as caught:
        read(TEXT.replace('B: T.Buffer((N,), "float32")', 'B: T.Buffer((Q,), "float32")'))
    span = caught.value.diagnostic.span
    line = TEXT.replace("((N,)", "((Q,)", 1).splitlines()[span.line - 1]
    assert line[span.column : span.end_column] == "Q"
