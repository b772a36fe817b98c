"""Terms: equal ones are one object, laws keep bits, and a term is never a number."""

import pytest

from refmlc.lang.dtypes import BOOL, FLOAT32, INT8, INT32
from refmlc.prove.terms import LEAF, Terms, Undecided, clipped, first_difference, is_same

F, I8, I32 = (FLOAT32, FLOAT32), (INT8, INT8), (INT32, INT32)


@pytest.fixture
def terms():
    return Terms()


def leaf(terms, name, dtype=FLOAT32):
    return terms.term(LEAF, dtype, (name, (0,)), ())


def test_equal_terms_are_one_object(terms):
    a, b = leaf(terms, "A"), leaf(terms, "B")
    assert leaf(terms, "A") is a
    assert terms.apply("sub", F, FLOAT32, (a, b)) is terms.apply("sub", F, FLOAT32, (a, b))
    assert terms.apply("sub", F, FLOAT32, (a, b)) is not terms.apply("sub", F, FLOAT32, (b, a))


def test_constants_are_told_apart_by_their_bits(terms):
    a = leaf(terms, "A")
    zeros = [terms.apply("add", F, FLOAT32, (a, zero)) for zero in (0.0, -0.0)]
    assert zeros[0] is not zeros[1]
    assert zeros[0] is not a  # -0.0 + 0.0 is 0.0
    assert terms.term("t", FLOAT32, None, (1,)) is not terms.term("t", FLOAT32, None, (1.0,))
    assert terms.term("t", FLOAT32, None, (1,)) is not terms.term("t", FLOAT32, None, (True,))
    nan = float("nan")
    assert is_same(nan, -nan)


def test_sums_and_products_commute_extremes_of_floats_do_not(terms):
    a, b = leaf(terms, "A"), leaf(terms, "B")
    for op in ("add", "mul"):
        assert terms.apply(op, F, FLOAT32, (a, b)) is terms.apply(op, F, FLOAT32, (b, a))
    for op in ("max", "min", "sub", "div"):
        assert terms.apply(op, F, FLOAT32, (a, b)) is not terms.apply(op, F, FLOAT32, (b, a))
    i, j = leaf(terms, "I", INT32), leaf(terms, "J", INT32)
    assert terms.apply("max", I32, INT32, (i, j)) is terms.apply("max", I32, INT32, (j, i))


def test_comparisons_are_mirrored(terms):
    a, b = leaf(terms, "A"), leaf(terms, "B")

    def compared(op, *operands):
        return terms.apply(op, F, BOOL, operands)

    for op, mirror in (("gt", "lt"), ("ge", "le")):
        assert compared(op, a, b) is compared(mirror, b, a)
        assert compared(op, a, b) is not compared(mirror, a, b)
        assert compared(op, a, 1.0) is compared(mirror, 1.0, a)
    assert compared("gt", a, b) is not compared("ge", a, b)
    assert compared("gt", a, b) is not terms.apply("not", (BOOL,), BOOL, [compared("le", a, b)])  # NaN: False, True


def test_narrow_integers_associate_wide_ones_and_floats_do_not(terms):
    def both(dtypes, dtype, op):
        a, b, c = (leaf(terms, name, dtype) for name in "ABC")
        left = terms.apply(op, dtypes, dtype, (terms.apply(op, dtypes, dtype, (a, b)), c))
        right = terms.apply(op, dtypes, dtype, (a, terms.apply(op, dtypes, dtype, (b, c))))
        return left is right

    assert both(I8, INT8, "add")
    assert both(I32, INT32, "max")
    assert both(I32, INT32, "bitwise_xor")
    assert not both(I32, INT32, "add")  # a partial sum may overflow
    assert not both(F, FLOAT32, "add")
    assert not both(F, FLOAT32, "max")


def test_exclusive_or_counts_equal_operands_and_does_not_drop_them(terms):
    a, b = leaf(terms, "A", INT32), leaf(terms, "B", INT32)
    thrice = terms.apply("bitwise_xor", I32, INT32, (terms.apply("bitwise_xor", I32, INT32, (a, b)), b))
    assert thrice is not terms.apply("bitwise_xor", I32, INT32, (a, b))
    assert terms.apply("bitwise_or", I32, INT32, (terms.apply("bitwise_or", I32, INT32, (a, b)), b)) is terms.apply(
        "bitwise_or", I32, INT32, (a, b)
    )


def test_neutral_operands_go_where_the_row_says_so(terms):
    a, i = leaf(terms, "A"), leaf(terms, "I", INT32)
    assert terms.apply("mul", F, FLOAT32, (1.0, a)) is a
    assert terms.apply("div", F, FLOAT32, (a, 1.0)) is a
    assert terms.apply("div", F, FLOAT32, (1.0, a)) is not a
    assert terms.apply("add", I32, INT32, (0, i)) is i
    assert terms.apply("sub", I32, INT32, (i, i)) == 0
    assert terms.apply("sub", F, FLOAT32, (a, a)) is not a  # NaN, infinity
    assert terms.apply("mul", F, FLOAT32, (a, 0.0)) is not a


def test_a_selection_by_one_condition_twice_is_one(terms):
    c, a, b, d = leaf(terms, "C", BOOL), leaf(terms, "A"), leaf(terms, "B"), leaf(terms, "D")
    inner = terms.select(c, a, b, FLOAT32)
    assert terms.select(c, inner, d, FLOAT32) is terms.select(c, a, d, FLOAT32)
    assert terms.select(c, d, inner, FLOAT32) is terms.select(c, d, b, FLOAT32)
    assert terms.select(terms.apply("not", (BOOL,), BOOL, (c,)), a, b, FLOAT32) is terms.select(c, b, a, FLOAT32)
    assert terms.select(c, a, a, FLOAT32) is a
    assert terms.select(c, True, False, BOOL) is c


@pytest.mark.parametrize(
    "use", [bool, int, float, lambda t: t < 1, lambda t: t >= 0, lambda t: t + 1, lambda t: [1][t], lambda t: t == 0]
)
def test_a_term_is_no_number(terms, use):
    with pytest.raises(Undecided, match="depends on the values"):
        use(leaf(terms, "A"))


def test_the_text_and_the_smallest_difference(terms):
    a, b = leaf(terms, "A"), leaf(terms, "B")
    first = terms.apply("mul", F, FLOAT32, (terms.apply("sub", F, FLOAT32, (a, b)), a))
    second = terms.apply("mul", F, FLOAT32, (terms.apply("sub", F, FLOAT32, (b, a)), a))
    assert clipped(first) in ("((A[0] - B[0]) * A[0])", "(A[0] * (A[0] - B[0]))")
    assert first_difference(first, first) == (first, first)
    other = terms.apply("exp", (FLOAT32,), FLOAT32, (a,)), terms.apply("exp", (FLOAT32,), FLOAT32, (b,))
    assert first_difference(*other) == (a, b)
    assert first is not second
