"""Movement and elementwise tile primitives by hand (TIP-002 … TIP-026)."""

import math

import pytest
from logical_tiles import Number, Tile, call

from refmlc.diag import RefmlcError

F16, F32, I32 = "float16", "float32", "int32"


def refused(code, *args, **named):
    with pytest.raises(RefmlcError) as caught:
        call(*args, **named)
    assert caught.value.code.id == code, str(caught.value)
    return str(caught.value)


def test_copy_matches_extents_other_than_one():
    dst = Tile(I32, (1, 2, 3))
    call("copy", dst, Tile(I32, (2, 1, 3, 1), [1, 2, 3, 4, 5, 6]))
    assert dst.elements() == [1, 2, 3, 4, 5, 6]


def test_copy_does_not_repeat():
    message = refused("RM202", "copy", Tile(I32, (2, 3)), Tile(I32, (1, 3), [1, 2, 3]))
    assert "`src` of `tirx.tile.copy` has the shape (1, 3), which does not fit (2, 3)" in message


def test_copy_does_not_reshape():
    refused("RM202", "copy", Tile(I32, (6,)), Tile(I32, (2, 3), range(6)))


def test_copy_does_not_convert():
    assert "float16" in refused("RM201", "copy", Tile(F32, (1,)), Tile(F16, (1,), [1.0]))


def test_copy_of_a_tile_to_itself_changes_nothing():
    tile = Tile(I32, (3,), [1, 2, 3])
    call("copy", tile, tile)
    assert tile.elements() == [1, 2, 3]


def test_copy_along_itself_is_a_race():
    memory = [1, 2, 3, 4]
    dst, src = Tile(I32, (3,), memory=memory, offset=1), Tile(I32, (3,), memory=memory)
    message = refused("RM321", "copy", dst, src)
    assert "reads the element (0,) of its destination for the element (1,)" in message
    assert memory == [1, 2, 3, 4]


def test_permute_layout_transposes_in_place():
    memory = [1, 2, 3, 4, 5, 6]
    dst = Tile(I32, (2, 3), memory=memory, strides=(1, 2))
    call("permute_layout", dst, Tile(I32, (2, 3), memory=memory))
    assert memory == [1, 4, 2, 5, 3, 6]
    assert dst.elements() == [1, 2, 3, 4, 5, 6]


def test_all_is_read_before_anything_is_written():
    log = []
    call("copy", Tile(I32, (2,), log=log), Tile(I32, (2,), [1, 2], log=log))
    assert log == [("load", (0,)), ("load", (1,)), ("store", (0,)), ("store", (1,))]


@pytest.mark.parametrize("op", ["fill", "memset"])
def test_fill_converts_the_value(op):
    for kind, value, expected in [(F16, 2049.0, 2048.0), (I32, -1.75, -1), (F32, 7, 7.0), ("bool", 2, True)]:
        dst = Tile(kind, (2, 1))
        call(op, dst, value)
        assert dst.elements() == [expected, expected]
        assert type(dst.elements()[0]) is type(expected)


def test_fill_needs_a_value_of_the_dtype():
    message = refused("RM309", "fill", Tile("int8", (2,)), 1e9)
    assert "at the element (0,) of the destination" in message


def test_zero_reads_nothing():
    for kind, expected in [(F32, 0.0), (I32, 0), ("bool", False)]:
        dst = Tile(kind, (2,))
        call("zero", dst)
        assert dst.elements() == [expected] * 2
        assert type(dst.elements()[0]) is type(expected)


def test_cast_rounds_to_nearest_even_and_truncates():
    dst = Tile(F16, (4,))
    call("cast", dst, Tile(F32, (4,), [2049.0, 2051.0, 65520.0, -0.0]))
    assert dst.elements() == [2048.0, 2052.0, math.inf, 0.0]
    assert math.copysign(1, dst.elements()[3]) == -1
    dst = Tile("int8", (2,))
    call("cast", dst, Tile(F32, (2,), [-1.9, 127.9]))
    assert dst.elements() == [-1, 127]
    refused("RM309", "cast", dst, Tile(F32, (2,), [math.nan, 0.0]))


A, B = [6.0, -3.0], [4.0, 0.5]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("add", [10.0, -2.5]),
        ("sub", [2.0, -3.5]),
        ("mul", [24.0, -1.5]),
        ("fdiv", [1.5, -6.0]),
        ("maximum", [6.0, 0.5]),
        ("minimum", [4.0, -3.0]),
    ],
)
def test_two_tiles(op, expected):
    dst = Tile(F32, (2,))
    call(op, dst, Tile(F32, (2,), A), Tile(F32, (2,), B))
    assert dst.elements() == expected


def test_a_constant_may_come_first():
    dst = Tile(F32, (2,))
    call("sub", dst, 1.0, Tile(F32, (2,), A))
    assert dst.elements() == [-5.0, 4.0]


@pytest.mark.parametrize(("a", "b", "greatest", "least"), [(math.nan, 1.0, 1.0, 1.0), (0.0, -0.0, -0.0, -0.0)])
def test_maximum_and_minimum_give_the_second_unless_the_first_is_better(a, b, greatest, least):
    for op, expected in [("maximum", greatest), ("minimum", least)]:
        dst = Tile(F32, (1,))
        call(op, dst, Tile(F32, (1,), [a]), Tile(F32, (1,), [b]))
        assert math.copysign(1, dst.elements()[0]) == math.copysign(1, expected)
        assert dst.elements() == [expected]


def test_operands_of_two_dtypes_meet_in_the_wider_one_and_the_result_is_converted():
    dst = Tile(F16, (1,))
    call("add", dst, Tile(F16, (1,), [2048.0]), Tile(F32, (1,), [1.0]))  # 2049, of float32; then to even
    assert dst.elements() == [2048.0]
    dst = Tile(F32, (1,))
    call("add", dst, Tile(F16, (1,), [2048.0]), Tile(F16, (1,), [1.0]))  # rounded in float16
    assert dst.elements() == [2048.0]
    dst = Tile(F32, (1,))
    call("mul", dst, Tile(F16, (1,), [3.0]), 7)
    assert dst.elements() == [21.0]
    call("add", dst, Tile(F32, (1,), [-16777216.0]), Tile(I32, (1,), [16777217]))  # 16777216 as float32
    assert dst.elements() == [0.0]


def test_integers_wrap_where_they_are_narrow_and_overflow_where_they_are_wide():
    dst = Tile("int8", (1,))
    call("add", dst, Tile("int8", (1,), [127]), Tile("int8", (1,), [1]))
    assert dst.elements() == [-128]
    wide = Tile(I32, (1,)), Tile(I32, (1,), [2147483647])
    refused("RM306", "add", *wide, 1)
    call("add", *wide, 1, allow=["RM306"])
    assert wide[0].elements() == [-2147483648]


def test_division_is_of_floats_only():
    assert "operator `div`" in refused("RM503", "fdiv", Tile(I32, (1,)), Tile(I32, (1,), [1]), Tile(I32, (1,), [1]))


def test_arithmetic_is_not_of_bool():
    refused("RM503", "add", Tile("bool", (1,)), Tile("bool", (1,), [True]), Tile("bool", (1,), [True]))


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((3,), [11, 22, 33, 14, 25, 36]),
        ((1, 3), [11, 22, 33, 14, 25, 36]),
        ((2, 1), [11, 12, 13, 24, 25, 26]),
        ((1, 2, 1), [11, 12, 13, 24, 25, 26]),
        ((1,), [11, 12, 13, 14, 15, 16]),
        ((), [11, 12, 13, 14, 15, 16]),
    ],
)
def test_an_operand_is_repeated_along_extents_of_one(shape, expected):
    dst = Tile(I32, (2, 3))
    count = math.prod(shape)
    call("add", dst, Tile(I32, (2, 3), [1, 2, 3, 4, 5, 6]), Tile(I32, shape, [10, 20, 30][:count]))
    assert dst.elements() == expected


def test_extents_of_one_of_the_destination_may_be_left_out():
    dst = Tile(I32, (2, 1, 2))
    call("add", dst, Tile(I32, (2, 2), [1, 2, 3, 4]), Tile(I32, (2, 1), [10, 20]))
    assert dst.elements() == [11, 12, 23, 24]


@pytest.mark.parametrize("shape", [(2,), (3, 1), (2, 2), (2, 2, 3), (6,)])
def test_other_shapes_do_not_fit(shape):
    tile = Tile(I32, shape, [0] * math.prod(shape))
    refused("RM202", "add", Tile(I32, (2, 3)), Tile(I32, (2, 3), [0] * 6), tile)


def test_in_place_is_fine_and_a_repeated_destination_is_a_race():
    memory = [1, 2, 3]
    tile = Tile(I32, (3,), memory=memory)
    call("add", tile, tile, tile)
    assert memory == [2, 4, 6]
    refused("RM321", "add", tile, tile, Tile(I32, (1,), memory=memory, offset=1))
    assert memory == [2, 4, 6]


def test_fma_rounds_once():
    dst = Tile(F32, (1,))
    x = 1 + 2.0**-12  # x * x is 1 + 2**-11 + 2**-24: in float32 the last term is lost
    call("fma", dst, Tile(F32, (1,), [x]), x, Tile(F32, (1,), [-1 - 2.0**-11]))
    assert dst.elements() == [2.0**-24]
    dst = Tile("int8", (1,))
    call("fma", dst, Tile("int8", (1,), [100]), Tile("int8", (1,), [2]), Tile("int8", (1,), [1]))
    assert dst.elements() == [-55]


def test_scale_comes_before_bias_and_each_step_is_rounded():
    dst = Tile(F32, (2,))
    call("sqrt", dst, Tile(F32, (2,), [2.0, 8.0]), bias=1.0, scale=4.0)
    assert dst.elements() == [3.0, 5.744562625885010]  # the nearest float32 of the root of 33
    call("exp2", dst, Tile(F32, (2,), [3.0, -2.0]), bias=Tile(F32, (2,), [1.0, 0.0]))
    assert dst.elements() == [16.0, 0.25]
    call("log2", dst, Tile(F32, (2,), [3.0, 0.0]), bias=1.0)
    assert dst.elements() == [2.0, 0.0]
    x = 1 + 2.0**-12
    call("exp2", dst, Tile(F32, (2,), [x, x]), bias=-1 - 2.0**-11, scale=x)
    assert dst.elements() == [1.0, 1.0]  # the product is rounded before the sum


def test_exp_in_place():
    tile = Tile(F32, (2,), [0.0, -math.inf])
    call("exp", tile)
    assert tile.elements() == [1.0, 0.0]
    refused("RM503", "exp", Tile(I32, (1,)), Tile(I32, (1,), [1]))


def test_reciprocal():
    tile = Tile(F16, (3,), [4.0, 3.0, -0.0])
    call("reciprocal", tile)
    assert tile.elements() == [0.25, 0.333251953125, -math.inf]
    refused("RM503", "reciprocal", Tile(I32, (1,), [1]))


def test_silu():
    dst = Tile(F32, (3,))
    call("silu", dst, Tile(F32, (3,), [0.0, 200.0, -200.0]))
    zero, large, small = dst.elements()
    assert (zero, large) == (0.0, 200.0)
    assert small == 0.0
    assert math.copysign(1, small) == -1
    call("silu", dst, Tile(F32, (3,), [1.0, -1.0, -math.inf]))
    assert dst.elements()[:2] == pytest.approx([0.7310585786300049, -0.2689414213699951], rel=1e-7)
    assert math.isnan(dst.elements()[2])


def test_select_reads_only_what_it_selects():
    dst = Tile(F32, (2, 2))
    call("select", dst, Tile(F32, (2, 2), [1.0, 2.0, None, 4.0]), -1.0, lambda i, j: i <= j)
    assert dst.elements() == [1.0, 2.0, -1.0, 4.0]
    dst = Tile(F16, (2,))
    call("select", dst, Number("int32", 3), Tile(F32, (2,), [2049.0, None]), lambda i: i == 1)
    assert dst.elements() == [2048.0, 3.0]


@pytest.mark.parametrize("op", ["copy_async", "gemm_async"])
def test_what_completes_later_is_of_threads(op):
    tile = Tile(F32, (2, 2), [1.0] * 4)
    args = [tile] * (2 if op == "copy_async" else 3)
    assert f"`tirx.tile.{op}` is not executed: the threads of a kernel issue it" in refused("RM504", op, *args)


@pytest.mark.parametrize(
    ("op", "config", "what"),
    [
        ("copy", {"oob": "nan"}, "the setting `oob`"),
        ("add", {"rounding_mode": "rz"}, "`rounding_mode='rz'`"),
        ("maximum", {"rounding_mode": "rn"}, "the setting `rounding_mode`"),
        ("add", {"thread_reduce": True}, "the setting `thread_reduce`"),
    ],
)
def test_settings_that_may_change_the_value_are_unsupported_by_name(op, config, what):
    tile = Tile(F32, (1,), [1.0])
    args = (Tile(F32, (1,)), tile) if op == "copy" else (Tile(F32, (1,)), tile, tile)
    assert what in refused("RM504", op, *args, config=config)


def test_settings_that_only_tune_are_ignored():
    dst, tile = Tile(F32, (1,)), Tile(F32, (1,), [1.0])
    call("copy", dst, tile, config={"vec_len": 4, "cache": "nc", "max_inst_size": 512})
    call("add", dst, dst, tile, config={"rounding_mode": "rn"})
    assert dst.elements() == [2.0]


def test_tiles_of_vectors_are_unsupported():
    refused("RM503", "copy", Tile("float32x4", (1,)), Tile("float32x4", (1,), [0]))


def test_one_rule_is_for_all_operands():
    column = Tile(I32, (2, 1), [10, 20])
    dst = Tile(I32, (2, 2, 1))
    call("add", dst, Tile(I32, (2, 2, 1), [1, 2, 3, 4]), column)  # aligned with (2, 1), the last two dimensions
    assert dst.elements() == [11, 22, 13, 24]
    call("add", dst, Tile(I32, (2, 2), [1, 2, 3, 4]), column)  # aligned with (2, 2), what is not 1
    assert dst.elements() == [11, 12, 23, 24]
    call("cast", dst, column)
    assert dst.elements() == [10, 20, 10, 20]


def test_elements_in_one_place_get_one_value():
    """A destination whose rows lie in one place: which of them is written last is left to the threads."""
    rows = {"memory": [0, 0], "strides": (0, 1)}
    message = refused("RM321", "copy", Tile(I32, (2, 2), **rows), Tile(I32, (2, 2), [1, 2, 1, 3]))
    assert "writes the elements (0, 1) and (1, 1) of its destination to one place" in message
    call("copy", Tile(I32, (2, 2), **rows), Tile(I32, (2, 2), [1, 2, 1, 2]))
    assert rows["memory"] == [1, 2]
