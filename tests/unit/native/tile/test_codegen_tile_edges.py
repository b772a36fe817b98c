"""Where tiles begin and end: short and empty loops, zeros of both signs, chunks, NumPy as another witness."""

import math

import nest_kinds as kinds
import numpy as np
import pytest
from nest_kit import (
    HERE_ISAS,
    ISAS_TO_TEST,
    Making,
    buffer,
    compiled,
    const,
    differing,
    form_of,
    frame,
    function,
    op,
    pair,
    pairs,
    same,
    var,
)

from refmlc.lang.ir import tir
from refmlc.native.tile import nests
from refmlc.native.unit import Status

pytestmark = pytest.mark.needs("compiler")


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("isa", ISAS_TO_TEST)
def test_matmul_is_the_sum_in_order_as_numpy_adds_it(isa, rng):
    m, n, k = 23, 71, 50
    nest, _ = kinds.matmul(m, n, k)
    a, b = rng.standard_normal((m, k)).astype("f4"), rng.standard_normal((k, n)).astype("f4")
    expected = np.zeros((m, n), "f4")
    for step in range(k):
        expected = expected + a[:, step, None] * b[None, step]
    arrays = {"A": a, "B": b, "C": np.empty((m, n), "f4")}
    assert pair(nest, isa).tiled(arrays) == 0
    assert same(arrays["C"], expected)


@pytest.mark.parametrize("isa", HERE_ISAS)
def test_the_init_is_a_number_that_is_added_to(isa):
    minus = np.full(40, -0.0, "f4")
    arrays = {"A": minus, "B": np.ones((40, 40), "f4"), "C": np.ones(40, "f4")}
    for init, sign in ((0.0, False), (-0.0, True)):
        nest, _ = kinds.matmul(1, 40, 40, init=init)
        assert pair(nest, isa).tiled(arrays) == 0
        assert (np.signbit(arrays["C"]) == sign).all()
        assert (arrays["C"] == 0).all()


@pytest.mark.parametrize("isa", ISAS_TO_TEST)
def test_every_short_shape(isa, rng):
    sizes = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33)
    cases = [kinds.matmul(m, n, k) for m in (1, 3, 8) for n in sizes for k in (1, 5) if (m, n) != (1, 1)]
    cases += [kinds.chain(n) for n in sizes if n > 1] + [kinds.row_reduction(n, 16) for n in sizes if n > 1]
    cases += [kinds.transpose(n, 18) for n in sizes] + [kinds.padded(1, 2, n, 1) for n in sizes]
    made = pairs([nest for nest, _ in cases], isa)
    assert [sizes for one, (_, sizes) in zip(made, cases, strict=True) if differing(one, sizes, rng)] == []


@pytest.mark.parametrize("isa", ISAS_TO_TEST[:-1])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_long_reduction_is_packed_in_chunks(isa, transposed, rng):
    nest, sizes = kinds.matmul(40, 70, 9001, transposed=transposed)
    made = pair(nest, isa)
    assert made.form.memory > 0
    assert "k_from" in "\n".join(made.form.lines)
    assert differing(made, sizes, rng, special=False) == []


@pytest.mark.parametrize(("spatial", "reduce"), [(0, 5), (5, 0)])
def test_no_iterations_write_nothing(spatial, reduce):
    made, (i, r), a, y = Making(), (var("i"), var("k")), buffer("A"), buffer("Y")
    made.start(y, {i: 1}, const("float32", 1))
    made.store(y, {i: 1}, op("add", made.load(y, {i: 1}), made.load(a, {i: reduce, r: 1})))
    arrays = {"A": np.ones(25, "f4"), "Y": np.full(5, 9, "f4")}
    assert pair(made.nest([(i, spatial)], [(r, reduce)]), HERE_ISAS[0]).tiled(arrays) == 0
    assert (arrays["Y"] == 9).all()


def test_memory_that_is_not_there_ends_the_call():
    nest, sizes = kinds.matmul(40, 64, 1024)
    form = form_of(nest, HERE_ISAS[0])
    head = [*frame([nest], [form]), "#define aligned_alloc(alignment, bytes) NULL"]
    library, ffi = compiled("\n".join([*head, *function("tiled", nest, form.lines)]) + "\n", ["tiled"], HERE_ISAS[0])
    arrays = {name: np.ones(size, "f4") for name, (_, size) in sizes.items()}
    pointers = ffi.new("void *[]", [ffi.from_buffer(arrays[name]) for name in ("C", "A", "B")])
    assert library.tiled(pointers) == Status.NO_MEMORY
    assert (arrays["C"] == 1).all()


def test_two_stores_of_a_nest_are_done_in_order(rng):
    """A[i] = A[i] + 1; B[i] = A[i] * 2: the second reads what the first wrote."""
    made, i, a, b = Making(), var("i"), buffer("A"), buffer("B")
    made.store(a, {i: 1}, op("add", made.load(a, {i: 1}), const("float32", 1)))
    made.store(b, {i: 1}, op("mul", made.load(a, {i: 1}), const("float32", 2)))
    before = rng.standard_normal(37).astype("f4")
    arrays = {"A": before.copy(), "B": np.zeros(37, "f4")}
    assert pair(made.nest([(i, 37)]), HERE_ISAS[0]).tiled(arrays) == 0
    assert same(arrays["A"], before + np.float32(1))
    assert same(arrays["B"], (before + np.float32(1)) * np.float32(2))


def test_a_binding_keeps_what_was_there_before_the_stores():
    """First old = A[i], then A[i] = 0 and B[i] = old."""
    made, i, a, b = Making(), var("i"), buffer("A"), buffer("B")
    old = made.let("old", made.load(a, {i: 1}))
    made.store(a, {i: 1}, const("float32", 0))
    made.store(b, {i: 1}, old)
    arrays = {"A": np.arange(37, dtype="f4"), "B": np.zeros(37, "f4")}
    assert pair(made.nest([(i, 37)]), HERE_ISAS[0]).tiled(arrays) == 0
    assert same(arrays["B"], np.arange(37, dtype="f4"))
    assert not arrays["A"].any()


def test_the_greater_of_two_is_the_second_where_one_is_nan():
    made, i, a, b, y = Making(), var("i"), buffer("A"), buffer("B"), buffer("Y")
    made.store(y, {i: 1}, op("max", made.load(a, {i: 1}), made.load(b, {i: 1})))
    nan, inf = math.nan, math.inf
    one = np.array([nan, 1, 0.0, -0.0, inf, nan, 3], "f4")
    two = np.array([1, nan, -0.0, 0.0, -inf, nan, 2], "f4")
    expected = np.array([1, nan, -0.0, 0.0, inf, nan, 3], "f4")
    for isa in HERE_ISAS[:-1]:
        arrays = {"A": np.tile(one, 5), "B": np.tile(two, 5), "Y": np.zeros(35, "f4")}
        assert pair(made.nest([(i, 35)]), isa).tiled(arrays) == 0
        assert same(arrays["Y"], np.tile(expected, 5))


def test_parts_of_a_concatenation_are_read_where_they_are():
    """Y[i, j] = A[i, j] for j < 20, else B[i, j - 20]."""
    made, (i, j), a, b, y = Making(), (var("i"), var("j")), buffer("A"), buffer("B"), buffer("Y")
    one = made.load(a, {i: 20, j: 1}, guarded=True)
    two = made.load(b, {i: 30, j: 1}, -20, guarded=True)
    made.store(y, {i: 50, j: 1}, tir.IfThenElseExpr(op("lt", j, const("int32", 20)), one, two))
    x, z = np.arange(60, dtype="f4").reshape(3, 20), -np.arange(90, dtype="f4").reshape(3, 30)
    arrays = {"A": x, "B": z, "Y": np.zeros((3, 50), "f4")}
    assert pair(made.nest([(i, 3), (j, 50)]), HERE_ISAS[0]).tiled(arrays) == 0
    assert same(arrays["Y"], np.concatenate([x, z], 1))


@pytest.mark.parametrize("isa", [name for name in ISAS_TO_TEST if name != "none"])
@pytest.mark.parametrize("count", [64, 100, 1000])
def test_what_is_written_past_the_caches_begins_anywhere(isa, count, rng, monkeypatch):
    """max(A * 2 + 1, 0) * 3, in short arrays that are taken for long ones, at each place between aligned addresses."""
    monkeypatch.setattr(nests, "LONG", 1)
    nest, _ = kinds.chain(count)
    made = pair(nest, isa)
    assert "rm_past_float32x" in "\n".join(made.form.lines)
    source = rng.standard_normal(count + 40).astype("f4")
    for at in range(17):
        target = np.full(count + 40, 7, "f4")
        arrays = {"A": source[at : at + count], "Y": target[16 - at : 16 - at + count]}
        assert made.tiled(arrays) == 0
        expected = np.full(count + 40, 7, "f4")
        part = np.maximum(source[at : at + count] * np.float32(2) + np.float32(1), np.float32(0)) * np.float32(3)
        expected[16 - at : 16 - at + count] = part
        assert same(target, expected)


def test_what_is_read_and_written_is_not_computed_twice(monkeypatch):
    monkeypatch.setattr(nests, "LONG", 1)
    assert "rm_past" not in "\n".join(form_of(kinds.in_place(3, 999)[0], "avx2").lines)
