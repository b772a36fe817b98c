"""Products of dimensions, and where a finding is shown when what it is about has no place of its own."""

import pytest

from refmlc.diag import Source, Span
from refmlc.lang.arith.extents import certainly_different, polynomial
from refmlc.lang.dtypes import BOOL, FLOAT32, INT32, INT64
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.wellformed import check_module

SOURCE = Source("t.py", "\n" * 9)
N, M = tir.Var("n", INT64), tir.Var("m", INT64)


def at(line):
    return Span(SOURCE, line, 0, line, 1)


def plus(a, b):
    return tir.Apply("add", (a, b if isinstance(b, tir.Expr) else tir.IntImm(INT64, b)), INT64)


def times(a, b):
    return tir.Apply("mul", (a, b if isinstance(b, tir.Expr) else tir.IntImm(INT64, b)), INT64)


def test_a_product_of_sums_is_multiplied_out():
    """(n + 3)(n + 2) is n² + 5n + 6."""
    assert polynomial(times(plus(N, 3), plus(N, 2)), {}).terms == {(N, N): 1, (N,): 5, (): 6}
    assert polynomial(times(N, 4), {}).terms == {(N,): 4}


@pytest.mark.parametrize(
    ("a", "b", "different"),
    [
        (times(plus(N, 1), 2), plus(times(N, 2), 2), False),
        (times(plus(N, 1), 2), plus(times(N, 2), 3), True),
        (times(N, 2), plus(N, N), False),
        (times(N, M), times(M, N), False),
        (times(N, M), plus(times(M, N), 1), True),
        (times(N, 2), times(M, 2), False),
    ],
)
def test_products_that_are_certainly_different(a, b, different):
    assert certainly_different(polynomial(a, {}), polynomial(b, {})) is different


@pytest.mark.parametrize(("own", "line"), [(at(7), 7), (None, 4)])
def test_a_buffer_without_a_place_is_found_where_its_block_is(own, line):
    buffer = tir.Buffer("B", FLOAT32, (tir.FloatImm(FLOAT32, 4.0),), span=own)
    nothing = tir.Evaluate(tir.IntImm(INT32, 0))
    block = tir.SBlock("b", (), None, None, nothing, alloc_buffers=(buffer,), span=at(4))
    realize = tir.SBlockRealize((), tir.IntImm(BOOL, 1), block, span=at(3))
    found = check_module(IRModule({"main": tir.PrimFunc((), {}, realize, span=at(1))}))
    assert len(found) == 1
    assert "a dimension" in found[0].message
    assert found[0].span.line == line
