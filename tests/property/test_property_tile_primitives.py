"""Tile primitives against NumPy: movement, elementwise, reductions, products, in random shapes.

NumPy adds floats in trees of its own, so terms of sums are small integers: exact in every order.
"""

import numpy as np
from hypothesis import given, strategies as st
from logical_tiles import Tile, call

EXTENTS = st.integers(1, 4)
SHAPES = st.lists(EXTENTS, min_size=1, max_size=3).map(tuple)
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
REDUCTIONS = {"sum": np.sum, "max": np.max, "min": np.min}
ROOTS = {"sqrt": np.sqrt, "reciprocal": np.reciprocal}


def tile(array):
    return Tile(str(array.dtype), array.shape, array.reshape(-1).tolist())


def array(tile):
    return np.array(tile.elements(), tile.dtype.element).reshape(tile.shape)


def equal(tile, expected):
    assert tile.shape == expected.shape
    np.testing.assert_array_equal(array(tile), expected)
    assert tile.elements() == expected.reshape(-1).tolist()


SEEDS = st.integers(0, 2**32 - 1)


def integers(data, shape, kind):
    """An array of small integers: products and short sums are exact in every dtype."""
    return np.random.default_rng(data.draw(SEEDS)).integers(-9, 10, shape).astype(kind)


def floats(data, shape, kind):
    """An array of finite floats of the dtype, zeros of both signs among them."""
    rng = np.random.default_rng(data.draw(SEEDS))
    return (rng.normal(0, 16, shape) * rng.integers(0, 4, shape).clip(max=1)).astype(kind)


@given(st.data(), st.sampled_from(sorted(BINARY)), SHAPES, st.sampled_from(["float16", "float32", "float64", "int32"]))
def test_two_tiles_are_what_numpy_broadcasts(data, op, shape, kind):
    beside = tuple(data.draw(st.sampled_from([1, extent])) for extent in shape)
    beside = beside[data.draw(st.integers(0, len(shape))) :]
    draw = integers if kind == "int32" else floats
    a, b = draw(data, shape, kind), draw(data, beside, kind)
    swapped = data.draw(st.booleans())
    dst = Tile(kind, shape)
    call(op, dst, *((tile(b), tile(a)) if swapped else (tile(a), tile(b))))
    expected = BINARY[op](b, a) if swapped else BINARY[op](a, b)
    np.testing.assert_array_equal(array(dst), expected)


@given(st.data(), SHAPES, st.sampled_from(["float16", "float32"]), st.sampled_from(sorted(ROOTS)))
def test_roots_and_reciprocals_are_rounded_once(data, shape, kind, op):
    a = np.abs(floats(data, shape, kind)) + np.array(1, kind)
    dst = Tile(kind, shape)
    call(op, dst, tile(a))
    equal(dst, ROOTS[op](a))


@given(st.data(), SHAPES, st.sampled_from(["float16", "float32", "float64"]), st.sampled_from(["float16", "float32"]))
def test_cast_is_numpys(data, shape, source, target):
    a = floats(data, shape, source)
    dst = Tile(target, shape)
    call("cast", dst, tile(a))
    equal(dst, a.astype(target))


@given(st.data(), SHAPES, st.booleans())
def test_copies_keep_the_order_of_elements(data, shape, permuting):
    a = integers(data, shape, "int32")
    squeezed = tuple(extent for extent in shape if extent != 1)
    dst = Tile("int32", squeezed)
    call("permute_layout" if permuting else "copy", dst, tile(a))
    equal(dst, a.reshape(squeezed))


@given(st.data(), st.sampled_from(sorted(REDUCTIONS)), SHAPES, st.sampled_from(["float16", "float32", "int32"]))
def test_reductions(data, op, shape, kind):
    a = integers(data, shape, kind)
    axes = tuple(data.draw(st.lists(st.integers(0, len(shape) - 1), max_size=len(shape), unique=True)))
    keep, accum = data.draw(st.booleans()), data.draw(st.booleans())
    expected = REDUCTIONS[op](a, axis=axes, keepdims=keep)
    old = integers(data, expected.shape, kind)
    dst = tile(old) if accum else Tile(kind, expected.shape)
    negative = data.draw(st.booleans())
    call(op, dst, tile(a), tuple(axis - len(shape) for axis in axes) if negative else axes, accum=accum)
    if accum:
        expected = {"sum": np.add, "max": np.maximum, "min": np.minimum}[op](old, expected)
    equal(dst, expected.astype(kind))


@given(st.data(), EXTENTS, EXTENTS, EXTENTS, st.sampled_from(["float16", "float32", "int8"]))
def test_products(data, m, n, k, kind):
    result = "int32" if kind == "int8" else "float32"
    a, b, c = integers(data, (m, k), kind), integers(data, (k, n), kind), integers(data, (m, n), result)
    turned = data.draw(st.tuples(st.booleans(), st.booleans()))
    alpha, beta = data.draw(st.sampled_from([1.0, 2.0, -1.0])), data.draw(st.sampled_from([0.0, 1.0, 3.0]))
    operands = [tile(np.ascontiguousarray(part.T) if turn else part) for part, turn in zip((a, b), turned, strict=True)]
    dst = Tile(result, (m, n))
    call("gemm", dst, *operands, tile(c), *turned, alpha, beta)
    equal(dst, (alpha * (a.astype(result) @ b.astype(result)) + beta * c).astype(result))


@given(st.data(), SHAPES, st.sampled_from(sorted(REDUCTIONS)), st.sampled_from(sorted(BINARY)))
def test_composed_operators_are_two_in_turn(data, shape, reduction, op):
    a, b = integers(data, shape, "float32"), integers(data, shape[-1:], "float32")
    values, totals = Tile("float32", shape), Tile("float32", shape[:-1])
    call("binary_reduce", values, totals, tile(a), tile(b), op, reduction)
    expected = BINARY[op](a, b)
    equal(values, expected)
    equal(totals, REDUCTIONS[reduction](expected, axis=-1))
    chained = Tile("float32", shape)
    call("binary_chain", chained, tile(a), tile(b), 3.0, "mul", op, reverse1=True)
    np.testing.assert_array_equal(array(chained), BINARY[op](np.float32(3.0), b * a))
