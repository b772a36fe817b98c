"""Memory planned ahead: nothing that is needed together overlaps, nothing is wasted where one can see it."""

from hypothesis import given, strategies as st

from refmlc.lang.dtypes import INT64, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ops.evaluate import known
from refmlc.native.fuse.memory import Need, lay_out
from refmlc.native.fuse.sizes import aligned, apply, count, nbytes, number

N, M = tir.Var("n", INT64), tir.Var("m", INT64)
SIZES = st.one_of(
    st.integers(0, 300).map(number),
    st.sampled_from([N, apply("mul", N, number(4)), apply("mul", N, M), apply("add", M, number(1))]),
)
LIVES = st.tuples(st.integers(1, 8), st.integers(0, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(st.tuples(SIZES, LIVES), max_size=14), st.integers(0, 200), st.integers(0, 200))
def test_what_is_needed_together_does_not_overlap(parts, n, m):
    needs = [Need(number_, size, first, last) for number_, (size, (first, last)) in enumerate(parts)]
    layout = lay_out(needs)
    dims = {N: n, M: m}
    total = known(layout.size, dims)
    ranges = {}
    for need in needs:
        start = known(layout.offsets[need.name], dims)
        ranges[need.name] = (start, start + known(need.size, dims))
        assert start % 64 == 0
        assert start >= 0
        assert ranges[need.name][1] <= total
    for one in needs:
        for other in needs:
            if one.name < other.name and one.first <= other.last and other.first <= one.last:
                (a, b), (c, d) = ranges[one.name], ranges[other.name]
                assert b <= c or d <= a or a == b or c == d
    assert total <= sum(-(-known(need.size, dims) // 64) * 64 for need in needs)


def fixed(*parts):
    layout = lay_out([Need(name, number(size), first, last) for name, size, first, last in parts])
    return {name: known(offset, {}) for name, offset in layout.offsets.items()}, known(layout.size, {})


def test_a_chain_takes_two_places():
    chain = [(number_, 100, number_, number_ + 1) for number_ in range(6)]
    places, size = fixed(*chain)
    assert size == 256
    assert [places[number_] for number_ in range(6)] == [0, 128, 0, 128, 0, 128]


def test_the_smallest_gap_that_holds_it_is_taken():
    """Largest first, so a, w, b, x and c lie one behind the other; the places of w and x are free when p, q come."""
    places, size = fixed(
        ("a", 640, 1, 9), ("w", 576, 1, 2), ("b", 512, 1, 9), ("x", 448, 1, 2), ("c", 384, 1, 9),
        ("p", 320, 3, 4), ("q", 256, 3, 4),
    )  # fmt: skip
    assert [places[name] for name in "awbxc"] == [0, 640, 1216, 1728, 2176]
    assert (places["p"], places["q"], size) == (1728, 640, 2560)


def test_pieces_of_one_symbolic_size_share_a_slot_when_they_do_not_meet():
    size = apply("mul", N, number(4))
    layout = lay_out([Need(number_, size, number_, number_ + 1) for number_ in range(5)])
    assert known(layout.size, {N: 17}) == 2 * 128
    assert known(layout.size, {N: 0}) == 0


def test_sizes():
    bf16, int4 = dtype("bfloat16"), dtype("int4")
    assert known(nbytes(bf16, (number(3), N, number(5))), {N: 7}) == 3 * 7 * 5 * 2
    assert known(nbytes(int4, (N,)), {N: 9}) == 9
    assert known(count(()), {}) == 1
    assert isinstance(count((number(0), N)), tir.IntImm)
    assert [known(aligned(number(size)), {}) for size in (0, 1, 64, 65)] == [0, 64, 64, 128]
    assert known(aligned(N), {N: 65}) == 128
