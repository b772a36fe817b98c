"""Operators, conversions and choices in lanes: the same as the helpers of `kernels_c` one by one."""

import itertools

import nest_kinds as kinds
import numpy as np
import pytest
from nest_kit import ISAS_TO_TEST, Making, buffer, cast, const, differing, form_of, op, pair, pairs, var

from refmlc.lang.ir import tir

pytestmark = pytest.mark.needs("compiler")

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
VECTORS = ISAS_TO_TEST[:-1]


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def one(made, i, value, n=101, **sizes):
    y = buffer("Y", value.dtype.element)
    made.store(y, {i: 1}, value)
    kinds_of = {name: (kind, n) for name, kind in sizes.items()}
    return made.nest([(i, n)]), {**kinds_of, "Y": (value.dtype.element, n)}


def applied(name, kind, arity):
    made, i = Making(), var("i")
    args = [made.load(buffer(letter, kind), {i: 1}) for letter in "AB"[:arity]]
    return one(made, i, op(name, *args), **dict.fromkeys("AB"[:arity], kind))


def chosen(kind):
    """A where A < B and not A == 0 or B is 3, else B * 2; a bool is stored too."""
    made, i = Making(), var("i")
    a, b = made.load(buffer("A", kind), {i: 1}), made.load(buffer("B", kind), {i: 1})
    both = tir.And(op("lt", a, b), op("not", op("eq", a, const(kind, 0))))
    condition = tir.Or(both, op("eq", b, const(kind, 3)))
    z = buffer("Z", "bool")
    made.store(z, {i: 1}, condition)
    return one(made, i, tir.Select(condition, a, op("mul", b, const(kind, 2))), A=kind, B=kind, Z="bool")


def from_bools():
    made, i = Making(), var("i")
    a, b = made.load(buffer("A", "bool"), {i: 1}), made.load(buffer("B", "bool"), {i: 1})
    value = tir.Select(tir.Or(a, op("not", b)), cast("float32", b), cast("float32", op("ne", a, b)))
    return one(made, i, value, A="bool", B="bool")


def any_of(m, n, along):
    """Y[i] = Y[i] or A[i, k], or of columns: A[k, i]."""
    made, (i, r) = Making(), (var("i"), var("k"))
    a, y = buffer("A", "bool"), buffer("Y", "bool")
    made.start(y, {i: 1}, const("bool", 0))
    where = {i: n, r: 1} if along else {r: n, i: 1}
    made.store(y, {i: 1}, tir.Or(made.load(y, {i: 1}), made.load(a, where)))
    rows, steps = (m, n) if along else (n, m)
    return made.nest([(i, rows)], [(r, steps)]), {"A": ("bool", m * n), "Y": ("bool", rows)}


@pytest.mark.parametrize("isa", VECTORS)
def test_operators_in_lanes(isa, rng):
    two = [(name, kind) for name in ("add", "sub", "mul", "max", "min") for kind in (*FLOATS, *INTEGERS)]
    two += [("div", kind) for kind in FLOATS] + [(name, "float32") for name in ("lt", "ge", "ne", "pow", "fmod")]
    single = [(name, kind) for name in ("abs", "sqrt", "exp", "tanh", "floor", "isnan") for kind in FLOATS]
    single += [("abs", kind) for kind in INTEGERS] + [("popcount", "uint32"), ("sigmoid", "float32")]
    cases = [applied(*each, 2) for each in two] + [applied(*each, 1) for each in single]
    made = pairs([nest for nest, _ in cases], isa)
    names = [*two, *single]
    wrong = [name for name, each, (_, sizes) in zip(names, made, cases, strict=True) if differing(each, sizes, rng)]
    assert wrong == []


def test_nan_is_looked_for_in_all_lanes_at_once():
    assert "rm_isnan_float64x8(A_" in "\n".join(form_of(applied("isnan", "float64", 1)[0], "avx512").lines)
    assert "rm_isnan_float16(" in "\n".join(form_of(applied("isnan", "float16", 1)[0], "avx512").lines)


@pytest.mark.parametrize("isa", VECTORS)
def test_conversions_in_lanes(isa, rng):
    every = (*FLOATS, *INTEGERS, "bool")
    ways = [(a, b) for a, b in itertools.permutations(every, 2) if not (a in FLOATS and b in INTEGERS)]
    cases = [kinds.converted(101, *way) for way in ways]
    made = pairs([nest for nest, _ in cases], isa)
    wrong = [way for way, each, (_, sizes) in zip(ways, made, cases, strict=True) if differing(each, sizes, rng)]
    assert wrong == []


@pytest.mark.parametrize("isa", VECTORS)
def test_floats_in_range_become_integers_in_lanes(isa, rng):
    ways = list(itertools.product(FLOATS, INTEGERS))
    cases = [kinds.converted(101, *way) for way in ways]
    made = pairs([nest for nest, _ in cases], isa)
    for (source, target), each, (_, sizes) in zip(ways, made, cases, strict=True):
        kind = np.dtype(target)
        numbers = rng.uniform(0 if kind.kind == "u" else -100, 100, 101)
        arrays = {"A": as_kind(numbers, source), "Y": np.zeros(101, kind)}
        other = {name: array.copy() for name, array in arrays.items()}
        each.tiled(arrays)
        each.literal(other)
        assert (arrays["Y"] == other["Y"]).all(), (source, target)
        assert sizes["Y"][0] == target


def as_kind(numbers, kind):
    import ml_dtypes  # noqa: PLC0415 - its types register themselves when first asked for

    return numbers.astype(getattr(ml_dtypes, kind, None) or kind)


@pytest.mark.parametrize("isa", VECTORS)
def test_integers_that_float32_cannot_hold_are_rounded_once(isa):
    edges = [2**24 + 1, 2**24 + 3, 2**31 - 1, -(2**31), 2**25 + 2, 33554435, 65520, 65519, 257, -2049]
    for source, target in itertools.product(("int32", "int64", "uint32", "uint64"), FLOATS):
        low = 0 if source.startswith("u") else -(2**31)
        numbers = np.array([n for n in edges if n >= low] * 4, source)
        nest, _ = kinds.converted(len(numbers), source, target)
        made = pair(nest, isa)
        arrays = {"A": numbers, "Y": as_kind(np.zeros(len(numbers)), target)}
        other = {name: array.copy() for name, array in arrays.items()}
        made.tiled(arrays)
        made.literal(other)
        assert arrays["Y"].tobytes() == other["Y"].tobytes(), (source, target)


@pytest.mark.parametrize("isa", VECTORS)
def test_choices_and_bools_in_lanes(isa, rng):
    cases = [chosen(kind) for kind in (*FLOATS, *INTEGERS)] + [from_bools()]
    for made, (_, sizes) in zip(pairs([nest for nest, _ in cases], isa), cases, strict=True):
        assert differing(made, sizes, rng) == [], sizes


@pytest.mark.parametrize("isa", VECTORS)
def test_whether_any_of_a_row_or_column_is_true(isa, rng):
    cases = [any_of(33, 70, along=0), any_of(33, 70, along=1)]
    for made, (_, sizes) in zip(pairs([nest for nest, _ in cases], isa), cases, strict=True):
        assert differing(made, sizes, rng) == [], sizes


@pytest.mark.parametrize("isa", VECTORS)
def test_conditions_that_guard_no_load_are_masks(isa, rng):
    """Forty of them: in boxes there would be too many."""
    made, i = Making(), var("i")
    value = made.load(buffer("A", "float32"), {i: 1})
    for at in range(1, 40):
        value = tir.Select(op("eq", i, const("int32", 3 * at)), const("float32", at), value)
    nest, sizes = one(made, i, value, n=200, A="float32")
    assert differing(pair(nest, isa), sizes, rng) == []


def test_exp_in_lanes_has_a_form_of_its_own_in_one_mode_only():
    nest, _ = kinds.softmax_exp(4, 64)
    assert "rm_exp_float32x8" in "\n".join(form_of(nest, "avx2").lines)
    assert "rm_exp_float32x8" not in "\n".join(form_of(nest, "avx2", math="libm").lines)


def test_a_conversion_without_a_form_in_lanes_is_made_number_by_number():
    nest, _ = kinds.converted(64, "float64", "float16")
    assert "rm_cast_float64_float16(lane[0])" in "\n".join(form_of(nest, "avx2").lines)
