"""Reductions, composed operators and matrix products of tile primitives by hand (TIP-031 … TIP-051)."""

import math

import pytest
from logical_tiles import Number, Tile, call, node

from refmlc.diag import RefmlcError
from refmlc.lang.ir.tirx import TilePrimitiveCall
from refmlc.run.interp.tirx.primitives import work

F16, F32, I32 = "float16", "float32", "int32"


def refused(code, *args, **named):
    with pytest.raises(RefmlcError) as caught:
        call(*args, **named)
    assert caught.value.code.id == code, str(caught.value)
    return str(caught.value)


def six(kind=I32, shape=(2, 3)):
    return Tile(kind, shape, [1, 5, 3, 4, 2, 6])


@pytest.mark.parametrize(
    ("op", "axes", "shape", "expected"),
    [
        ("sum", (-1,), (2,), [9, 12]),
        ("sum", (1,), (2, 1), [9, 12]),
        ("sum", (0,), (3,), [5, 7, 9]),
        ("sum", (0,), (1, 3), [5, 7, 9]),
        ("sum", (0, 1), (1,), [21]),
        ("sum", (-1, 0, 1), (), [21]),
        ("max", (-1,), (2,), [5, 6]),
        ("max", (0,), (3,), [4, 5, 6]),
        ("min", (1,), (1, 2), [1, 2]),
        ("min", (), (2, 3), [1, 5, 3, 4, 2, 6]),
    ],
)
def test_axes(op, axes, shape, expected):
    dst = Tile(I32, shape)
    call(op, dst, six(), axes)
    assert dst.elements() == expected


def test_axes_count_extents_of_one():
    dst = Tile(I32, (3,))
    call("sum", dst, six(shape=(1, 2, 1, 3)), (1,))
    assert dst.elements() == [5, 7, 9]


def test_accum_begins_with_the_old_element():
    for op, expected in [("sum", [109, 12]), ("max", [100, 6]), ("min", [1, 0])]:
        dst = Tile(I32, (2,), [100, 0])
        call(op, dst, six(), accum=True)
        assert dst.elements() == expected


def test_float_terms_are_added_in_row_major_order_each_step_rounded():
    dst = Tile(F16, (1,))
    call("sum", dst, Tile(F16, (3,), [2048.0, 1.0, 1.0]))  # 2048 + 1 is 2048 in float16
    assert dst.elements() == [2048.0]
    call("sum", dst, Tile(F16, (3,), [1.0, 1.0, 2048.0]))
    assert dst.elements() == [2050.0]
    call("sum", dst, Tile(F16, (2, 2), [2048.0, 1.0, 1.0, -2048.0]), (0, 1))
    assert dst.elements() == [0.0]


def test_sum_begins_with_zero():
    dst = Tile(F32, (1,))
    call("sum", dst, Tile(F32, (2,), [-0.0, -0.0]))
    assert math.copysign(1, dst.elements()[0]) == 1


def test_max_begins_with_minus_infinity_and_nan_is_replaced():
    dst = Tile(F32, (1,))
    call("max", dst, Tile(F32, (2,), [-math.inf, -math.inf]))
    assert dst.elements() == [-math.inf]
    call("max", dst, Tile(F32, (2,), [math.nan, 1.0]))
    assert dst.elements() == [1.0]
    call("min", dst, Tile(F32, (2,), [1.0, math.nan]))
    assert math.isnan(dst.elements()[0])


@pytest.mark.parametrize(("op", "expected"), [("sum", 0), ("max", -128), ("min", 127)])
def test_nothing_to_reduce(op, expected):
    dst = Tile("int8", (1,))
    call(op, dst, Tile("int8", (0,), []))
    assert dst.elements() == [expected]


def test_a_reduction_is_of_one_dtype():
    assert "float16" in refused("RM503", "sum", Tile(F32, (1,)), Tile(F16, (2,), [1.0, 2.0]))
    refused("RM503", "max", Tile("bool", (1,)), Tile("bool", (2,), [True, False]))


def test_an_axis_is_one_of_the_tile():
    assert "the axis 2 of a tile of rank 2" in refused("RM208", "sum", Tile(I32, (2,)), six(), (2,))
    refused("RM208", "sum", Tile(I32, (2,)), six(), (-3,))


def test_a_destination_that_is_too_small_does_not_fit():
    assert "`dst`" in refused("RM202", "sum", Tile(I32, (1,)), six())


def test_a_destination_that_is_too_large_is_left_to_layouts():
    message = refused("RM504", "sum", Tile(I32, (2, 4)), six())
    assert "which elements meet is left to the layouts" in message


def test_overflow_names_the_element():
    message = refused("RM306", "sum", Tile(I32, (1, 1)), Tile(I32, (1, 2), [2147483647, 1]))
    assert "2147483647 + 1 is 2147483648" in message
    assert "at the element (0, 0) of the destination" in message


def test_a_destination_in_the_source_is_a_race():
    memory = [1, 2, 3]
    refused("RM321", "sum", Tile(I32, (1,), memory=memory), Tile(I32, (3,), memory=memory))
    assert memory == [1, 2, 3]


def test_thread_reduce_gives_every_element_along_the_axis_the_result():
    tile = six()
    call("sum", tile, tile, config={"thread_reduce": True})
    assert tile.elements() == [9, 9, 9, 12, 12, 12]
    dst = Tile(I32, (2, 2), [0, 1, 2, 3])
    call("max", dst, six(), accum=True, config={"thread_reduce": True})
    assert dst.elements() == [5, 5, 6, 6]


def test_reduce_negate():
    dst = Tile(F32, (2,))
    call("reduce_negate", dst, six(F32), "max")
    assert dst.elements() == [-5.0, -6.0]
    call("reduce_negate", dst, Tile(F32, (2, 1), [0.0, 1.0]), "sum")
    assert math.copysign(1, dst.elements()[0]) == -1
    assert "`accum`" in refused("RM504", "reduce_negate", dst, six(F32), "sum", accum=True)
    assert "`add` as a reduction" in refused("RM504", "reduce_negate", dst, six(F32), "add")


DATA, FIRST, SECOND = [1.0, 2.0], [10.0, 20.0], [100.0, 300.0]


@pytest.mark.parametrize(
    ("op0", "op1", "reverse", "expected"),
    [
        ("add", "sub", False, [-89.0, -278.0]),
        ("add", "sub", True, [89.0, 278.0]),
        ("mul", "fdiv", True, [10.0, 7.5]),
        ("mul", "add", False, [110.0, 340.0]),
        ("maximum", "minimum", False, [10.0, 20.0]),
    ],
)
def test_binary_chain(op0, op1, reverse, expected):
    dst = Tile(F32, (2,))
    call("binary_chain", dst, *(Tile(F32, (2,), part) for part in (DATA, FIRST, SECOND)), op0, op1, reverse1=reverse)
    assert dst.elements() == expected


def test_the_first_operand_of_a_chain_precedes_the_data():
    dst = Tile(F32, (1,))
    call("binary_chain", dst, Tile(F32, (1,), [1.0]), math.nan, 0.0, "maximum", "add")
    assert dst.elements() == [1.0]  # max(nan, 1) is 1


@pytest.mark.parametrize("op0", ["sub", "fdiv"])
def test_a_chain_that_begins_with_an_ordered_operator_is_unsupported(op0):
    assert f"`op0='{op0}'`" in refused(
        "RM504", "binary_chain", Tile(F32, (1,)), Tile(F32, (1,), [1.0]), 1.0, 1.0, op0, "add"
    )


def test_a_chain_is_of_operators_on_two_tiles():
    assert "`op1='sqrt'`" in refused(
        "RM504", "binary_chain", Tile(F32, (1,)), Tile(F32, (1,), [1.0]), 1.0, 1.0, "add", "sqrt"
    )


def test_binary_reduce_gives_both():
    values, sums = Tile(F32, (2, 3)), Tile(F32, (2, 1))
    call("binary_reduce", values, sums, six(F32), 2.0, "mul", "sum")
    assert values.elements() == [2.0, 10.0, 6.0, 8.0, 4.0, 12.0]
    assert sums.elements() == [18.0, 24.0]


def test_what_is_reduced_is_what_is_stored():
    values, sums = Tile(F16, (2,)), Tile(F16, (1,))
    call("binary_reduce", values, sums, Tile(F32, (2,), [2049.0, 1.0]), 0.0, "add", "max", (0,))
    assert values.elements() == [2048.0, 1.0]
    assert sums.elements() == [2048.0]


def test_unary_reduce_with_scale_and_bias():
    values, sums = Tile(F32, (2, 2)), Tile(F32, (2,))
    bias = Tile(F32, (2, 1), [1.0, 0.0])
    call("unary_reduce", values, sums, Tile(F32, (2, 2), [2.0, 6.0, 0.5, 8.0]), "sqrt", "min", bias=bias, scale=4.0)
    assert values.elements() == [3.0, 5.0, 1.4142135381698608, 5.656854152679443]
    assert sums.elements() == [3.0, 1.4142135381698608]


def test_unary_reduce_is_of_scaled_operators():
    args = Tile(F32, (1,)), Tile(F32, (1,)), Tile(F32, (1,), [1.0])
    assert "`unary_op='silu'`" in refused("RM504", "unary_reduce", *args, "silu", "sum")
    assert "`binary_op='max'`" in refused("RM504", "binary_reduce", *args, 1.0, "max", "sum")
    assert "`sqrt` as a reduction" in refused("RM504", "unary_reduce", *args, "exp", "sqrt")


LEFT, RIGHT = [1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]
"""(2, 3) and (3, 2): their product is [[58, 64], [139, 154]]."""


def test_gemm():
    dst = Tile(I32, (2, 2))
    call("gemm", dst, Tile(I32, (2, 3), LEFT), Tile(I32, (3, 2), RIGHT), dst)
    assert dst.elements() == [58, 64, 139, 154]


def test_gemm_of_transposed_operands():
    a, b = Tile(I32, (3, 2), [1, 4, 2, 5, 3, 6]), Tile(I32, (2, 3), [7, 9, 11, 8, 10, 12])
    dst = Tile(I32, (2, 2))
    call("gemm", dst, a, b, dst, transpose_A=True, transpose_B=True)
    assert dst.elements() == [58, 64, 139, 154]


def test_gemm_of_matrices_among_extents_of_one():
    dst = Tile(I32, (1, 2, 2))
    call("gemm", dst, Tile(I32, (1, 2, 1, 3), LEFT), Tile(I32, (3, 2), RIGHT), dst)
    assert dst.elements() == [58, 64, 139, 154]
    dst = Tile(I32, (1, 1))
    call("gemm", dst, Tile(I32, (1, 3), [1, 2, 3]), Tile(I32, (3, 1), [4, 5, 6]), dst)
    assert dst.elements() == [32]


def test_alpha_and_beta():
    dst, addend = Tile(F32, (2, 2)), Tile(F32, (2, 2), [1.0, 2.0, 3.0, 4.0])
    call("gemm", dst, Tile(F16, (2, 3), LEFT), Tile(F16, (3, 2), RIGHT), addend, alpha=0.5, beta=10.0)
    assert dst.elements() == [39.0, 52.0, 99.5, 117.0]
    call("gemm", addend, Tile(F16, (2, 3), LEFT), Tile(F16, (3, 2), RIGHT), addend, beta=1.0)
    assert addend.elements() == [59.0, 66.0, 142.0, 158.0]


def test_beta_of_zero_reads_no_addend():
    dst = Tile(F32, (1, 1))
    call("gemm", dst, Tile(F32, (1, 1), [2.0]), Tile(F32, (1, 1), [3.0]), Tile(F32, (1, 1), [None]))
    assert dst.elements() == [6.0]


def test_narrow_floats_are_summed_in_float32():
    dst = Tile(F16, (1, 1))
    ones = Tile(F16, (3, 1), [1.0] * 3)
    call("gemm", dst, Tile(F16, (1, 3), [2048.0, 1.0, 1.0]), ones, dst)
    assert dst.elements() == [2050.0]
    dst = Tile(F32, (1, 1))
    call("gemm", dst, Tile(F32, (1, 3), [2.0**24, 1.0, 1.0]), Tile(F32, (3, 1), [1.0] * 3), dst)
    assert dst.elements() == [2.0**24]


def test_integer_sums_take_integer_factors():
    dst = Tile(I32, (1, 1))
    args = dst, Tile("int8", (1, 1), [100]), Tile("int8", (1, 1), [100]), dst
    call("gemm", *args, alpha=Number("float32", 2.0))
    assert dst.elements() == [20000]
    assert "`alpha=0.5` on sums of int32" in refused("RM504", "gemm", *args, alpha=0.5)


@pytest.mark.parametrize(
    ("shapes", "what"),
    [
        (((2, 2), (2, 3), (2, 2)), "multiplies (2, 3) by (2, 2) into (2, 2)"),
        (((2, 3), (2, 3), (3, 2)), "into (2, 3)"),
        (((2, 2), (2, 3, 2), (3, 2)), "which is no matrix"),
    ],
)
def test_matrices_that_do_not_fit(shapes, what):
    dst, a, b = (Tile(I32, shape, [0] * math.prod(shape)) for shape in shapes)
    assert what in refused("RM202", "gemm", dst, a, b, dst)


def test_an_addend_of_another_shape_does_not_fit():
    dst, addend = Tile(I32, (1, 1)), Tile(I32, (1, 2), [0, 0])
    one = Tile(I32, (1, 1), [1])
    assert "`C`" in refused("RM202", "gemm", dst, one, one, addend, beta=1.0)


def test_a_product_into_its_factor_is_a_race():
    tile = Tile(I32, (2, 2), [1, 2, 3, 4])
    refused("RM321", "gemm", tile, tile, Tile(I32, (2, 2), [1, 0, 0, 1]), tile)
    assert tile.elements() == [1, 2, 3, 4]


def test_work_counts_elements_and_terms():
    a, b, d = Tile(F32, (2, 3)), Tile(F32, (3, 5)), Tile(F32, (2, 5))
    args = d, a, b, d, False, False, 1.0, 0.0
    assert work(TilePrimitiveCall("gemm", tuple(map(node, args))), args) == 10 + 6 + 15 + 10 + 2 * 3 * 5
    args = d, a, (-1,), False
    assert work(TilePrimitiveCall("sum", tuple(map(node, args))), args) == 10 + 6
    each = TilePrimitiveCall("sum", tuple(map(node, (a, a, (-1,), False))), config={"thread_reduce": True})
    assert work(each, (a, a, (-1,), False)) == 6 + 6 + 6 * 3  # each element of the destination has three terms


def test_gemm_without_terms_is_zero():
    dst = Tile(F32, (2, 3), [9.0] * 6)
    call("gemm", dst, Tile(F32, (2, 0)), Tile(F32, (0, 3)), dst)
    assert dst.elements() == [0.0] * 6


@pytest.mark.parametrize(("kind", "sums"), [(F32, I32), ("float64", F32), ("float64", F16)])
def test_gemm_converts_no_floats_to_what_loses_them(kind, sums):
    dst, operand = Tile(sums, (1, 1)), Tile(kind, (1, 1), [1.5])
    expected = f"elements of {kind} and sums of {'float32' if sums == F16 else sums}"
    assert expected in refused("RM504", "gemm", dst, operand, Tile(kind, (1, 1), [2.0]), dst)
