"""Layouts executed, by hand: the examples of TVM's documentation, and what has no meaning."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.layouts.algebra import canonical, direct_sum, sliced, tiled
from refmlc.lang.layouts.forms import AxisStep, Swizzled, Tiling
from refmlc.lang.layouts.hardware import datapath, fragment, mma_shared, trainium
from refmlc.lang.layouts.placement import elements_at, inverse, is_injective, places
from refmlc.lang.script.layout_expression import layout_in

TENSOR_CORE = "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid"


def at(layout, *index, shape):
    """The places of an element, each as a dictionary."""
    return [dict(place) for place in sorted(places(layout, index, shape))]


def test_the_tile_of_a_tensor_core():
    layout = layout_in(TENSOR_CORE)
    for i in range(8):
        for j in range(16):
            expected = [{"laneid": 4 * i + j // 2 % 4, "warpid": j // 8 + 5 + 4 * r, "m": j % 2} for r in (0, 1)]
            assert at(layout, i, j, shape=(8, 16)) == expected
            assert [inverse(layout, place, (8, 16)) for place in expected] == [(i, j)] * 2
    assert is_injective(layout) is True
    assert inverse(layout, {"laneid": 0, "warpid": 4, "m": 0}) is None
    assert at(layout, 7, 15, shape=(8, 16))[0] == {"laneid": 31, "warpid": 6, "m": 1}


def test_tensor_memory():
    layout = layout_in("S[(2,128,112):(112@TCol,1@TLane,1@TCol)]")
    assert at(layout, 1, 127, 111, shape=(2, 128, 112)) == [{"TCol": 223, "TLane": 127}]
    assert at(layout, 0, 5, 3, shape=(2, 128, 112)) == [{"TCol": 3, "TLane": 5}]


@pytest.mark.parametrize(("i", "j"), [(0, 0), (1, 0), (2, 9), (7, 63), (5, 40)])
def test_a_swizzle_of_128_bytes(i, j):
    layout = layout_in("ComposeLayout(3, 3, 3, TileLayout(S[(8,64):(64,1)]))")
    address = 64 * i + 8 * ((j // 8) ^ i) + j % 8
    assert at(layout, i, j, shape=(8, 64)) == [{"m": address}]
    assert inverse(layout, {"m": address}, (8, 64)) == (i, j)


def test_the_other_direction_of_a_swizzle():
    layout = Swizzled(Tiling((AxisStep(16, 1),)), 0, 2, 2, inner=False)
    assert [at(layout, x, shape=(16,))[0]["m"] for x in (1, 2, 3, 6)] == [5, 10, 15, 14]


def test_another_shape_and_an_index_outside_have_no_place():
    layout = Tiling((AxisStep(8, 1),))
    for index, shape in (((0, 0), (2, 3)), ((8,), (8,)), ((-1,), (8,)), ((0,), (2, 4))):
        with pytest.raises(ValueError, match="has no"):
            places(layout, index, shape)


def test_places_with_several_elements_have_no_inverse():
    layout = Tiling((AxisStep(2, 1), AxisStep(2, 1)))
    assert is_injective(layout) is False
    assert elements_at(layout, {"m": 1}) == {1, 2}
    with pytest.raises(ValueError, match="2 elements lie at this place"):
        inverse(layout, {"m": 1})
    assert is_injective(Tiling((AxisStep(2, 3), AxisStep(3, 2)))) is True  # 0 2 4 3 5 7: no mixed radix
    assert is_injective(Tiling((AxisStep(2, 4),), (AxisStep(2, 4),))) is False


def test_the_canonical_form():
    layout = Tiling(
        (AxisStep(1, 9), AxisStep(4, 6), AxisStep(2, 3), AxisStep(3, 1), AxisStep(1, 1, "tx")), (), {"tx": 0, "m": 2}
    )
    assert canonical(layout) == Tiling((AxisStep(24, 1),), (), {"m": 2})
    assert canonical(Tiling((AxisStep(1, 5, "tx"), AxisStep(1, 2)))) == Tiling((AxisStep(1, 1, "tx"),))


def test_tile_direct_sum_and_slice():
    inner, outer = Tiling((AxisStep(2, 1),), (), {"m": 1}), Tiling((AxisStep(3, 1),))
    assert tiled(inner, outer, (3,), (2,)) == Tiling((AxisStep(3, 3), AxisStep(2, 1)), (), {"m": 1})
    assert direct_sum(outer, inner, (3,), (2,)) == Tiling((AxisStep(3, 1), AxisStep(2, 1)), (), {"m": 1})
    assert tiled(inner, outer, (2,), (2,)) is None
    layout = Tiling((AxisStep(4, 10), AxisStep(4, 1)))
    assert sliced(layout, (16,), [(5, 7)]) == Tiling((AxisStep(2, 1),), (), {"m": 11})
    assert sliced(layout, (16,), [(2, 6)]) == Tiling((AxisStep(2, 8), AxisStep(2, 1)), (), {"m": 2})
    assert sliced(layout, (16,), [(3, 8)]) is None
    assert sliced(Tiling((AxisStep(2, 100), AxisStep(2, 10), AxisStep(2, 1))), (8,), [(3, 5)]) is None  # at 11 and 100


def test_layouts_of_instructions():
    assert datapath("F", 64, 4, 1) == Tiling(
        (AxisStep(4, 32, "TLane"), AxisStep(16, 1, "TLane"), AxisStep(4, 1, "TCol")), (), {"TLane": 16}
    )
    assert datapath("D", 128, 4, 1) is None
    frag = fragment("16x256b", (64, 8), 32)
    for row in range(64):
        for column in range(8):
            ((axes),) = at(frag, row, column, shape=(64, 8))
            lane, register = 4 * (row % 8) + column // 2, column % 2 + 2 * (row // 8 % 2)
            assert axes == {"wid_in_wg": row // 16, "laneid": lane, "m": register}
    swizzled = mma_shared(16, 3, (8, 64))
    assert at(swizzled, 3, 20, shape=(8, 64)) == [{"m": 64 * 3 + 8 * (2 ^ 3) + 4}]
    assert trainium("P", (200,)) is None


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("S[(8,2):(4@laneid", "RM101", 9),
        ("3 + 4", "RM103", 1),
        ("S[8] - S[4]", "RM105", 1),
        ("S[(8,4):(4,)]", "RM105", 1),
        ("S[8:n]", "RM104", 5),
        ("S[8]\nS[4]", "RM103", 1),
        ("", "RM103", 1),
        ("x = S[8]", "RM103", 1),
        ("S[0]", "RM105", 1),
        ("ComposeLayout(1, 3, 2, TileLayout(S[8]))", "RM105", 1),
        ("ComposeLayout(1, 1, 2, TileLayout(S[8:1@laneid]))", "RM105", 1),
        ("__import__('os').system('id')", "RM104", 1),
        ("S" + "[0" * 200, "RM101", None),
    ],
)
def test_what_is_no_layout_is_refused_with_its_place(text, code, column):
    with pytest.raises(RefmlcError) as caught:
        layout_in(text)
    assert caught.value.code.id == code
    assert column is None or caught.value.diagnostic.span.column + 1 == column
