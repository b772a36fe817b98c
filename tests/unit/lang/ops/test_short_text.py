"""Expressions in messages: parentheses where Python's grouping needs them, and nowhere else."""

import ast

import pytest

from refmlc.lang.dtypes import INT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ops import promote
from refmlc.lang.ops.short_text import short_text

ROW, COL, N = (tir.Var(name, INT32) for name in "ijn")
A = tir.Buffer("A", INT32, (N, N))


def apply(op, *args):
    return tir.Apply(op, tuple(tir.IntImm(INT32, arg) if isinstance(arg, int) else arg for arg in args), INT32)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (apply("add", apply("mul", ROW, 4), COL), "i * 4 + j"),
        (apply("mul", apply("add", ROW, 4), COL), "(i + 4) * j"),
        (apply("sub", ROW, apply("sub", COL, 1)), "i - (j - 1)"),
        (apply("sub", apply("sub", ROW, COL), 1), "i - j - 1"),
        (apply("floormod", apply("floordiv", ROW, 4), 8), "i // 4 % 8"),
        (apply("floordiv", ROW, apply("mul", COL, 2)), "i // (j * 2)"),
        (apply("lt", apply("lt", ROW, COL), N), "(i < j) < n"),
        (apply("shift_left", 1, apply("add", ROW, 1)), "1 << i + 1"),
        (apply("bitwise_and", apply("bitwise_or", ROW, COL), 1), "(i | j) & 1"),
        (
            tir.And(apply("lt", ROW, N), tir.Or(apply("eq", COL, 0), apply("ge", COL, -1))),
            "i < n and (j == 0 or j >= -1)",
        ),
        (apply("add", ROW, -1), "i + -1"),
        (apply("max", ROW, apply("add", COL, 1)), "max(i, j + 1)"),
        (tir.Cast(INT64, apply("add", ROW, 1)), "i + 1"),
        (apply("mul", tir.Cast(INT32, apply("add", ROW, 1)), 2), "(i + 1) * 2"),
        (tir.BufferLoad(A, (ROW, apply("add", COL, 1))), "A[i, j + 1]"),
        (tir.Select(apply("lt", ROW, COL), ROW, COL), "…"),
        (7, "7"),
    ],
)
def test_an_expression_shows_as_a_person_writes_it(expr, text):
    assert short_text(expr) == text


SYMBOLS = ("+", "-", "*", "//", "%", "<<", "&", "|", "^", "==", "<")


@pytest.mark.parametrize("outer", SYMBOLS)
@pytest.mark.parametrize("inner", SYMBOLS)
def test_python_groups_the_text_as_the_expression_is(outer, inner):
    for expr, written in (
        (promote.binary(outer, promote.binary(inner, ROW, COL, None), N, None), f"(i {inner} j) {outer} n"),
        (promote.binary(outer, ROW, promote.binary(inner, COL, N, None), None), f"i {outer} (j {inner} n)"),
    ):
        assert ast.dump(ast.parse(short_text(expr))) == ast.dump(ast.parse(written))
