"""Laws of PTX instructions on bits: against NumPy, Python's floats, and a bit by bit reading of the ISA's own code."""

import struct
import warnings
from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st
from ptx_calls import compute

WORD, LONG, HALF, BYTE = (st.integers(0, (1 << bits) - 1) for bits in (32, 64, 16, 8))
EDGES = st.sampled_from(
    [0, 1, 0x007FFFFF, 0x00800000, 0x33800000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x4B800000, 0x7F7FFFFF, 0x7F800000]
)
SINGLE = st.one_of(WORD, EDGES, EDGES.map(lambda bits: bits | 1 << 31))
MODES = st.sampled_from(["rn", "rz", "rm", "rp"])
NUMPY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def single(bits):
    return np.uint32(bits).view(np.float32)


def same(kind, bits, expected):
    """Whether the bits are those of the expected float of NumPy; a NaN is the one that PTX writes."""
    if np.isnan(expected):
        return bits == (1 << (8 * expected.itemsize - 1)) - 1
    return bits == int(expected.view(kind))


@given(st.sampled_from(sorted(NUMPY)), SINGLE, SINGLE)
def test_arithmetic_of_f32_is_that_of_numpy(name, a, b):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = NUMPY[name](single(a), single(b))
    assert same(np.uint32, compute(f"{name}.rn.f32", a, b), expected)


@given(st.sampled_from(sorted(NUMPY)), LONG, LONG)
def test_arithmetic_of_f64_is_that_of_numpy(name, a, b):
    with np.errstate(all="ignore"):
        expected = NUMPY[name](np.uint64(a).view(np.float64), np.uint64(b).view(np.float64))
    assert same(np.uint64, compute(f"{name}.rn.f64", a, b), expected)


@given(st.sampled_from(["add", "sub", "mul"]), HALF, HALF, HALF, HALF)
def test_arithmetic_of_packed_halves_is_that_of_numpy(name, a, b, c, d):
    with np.errstate(all="ignore"):
        low = NUMPY[name](np.uint16(a).view(np.float16), np.uint16(b).view(np.float16))
        high = NUMPY[name](np.uint16(c).view(np.float16), np.uint16(d).view(np.float16))
    bits = compute(f"{name}.f16x2", c << 16 | a, d << 16 | b)
    assert same(np.uint16, bits & 0xFFFF, low)
    assert same(np.uint16, bits >> 16, high)


@given(SINGLE)
def test_a_root_is_that_of_numpy(a):
    with np.errstate(all="ignore"):
        expected = np.sqrt(single(a))
    assert same(np.uint32, compute("sqrt.rn.f32", a), expected)


def exact(bits):
    return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


NORMAL = st.builds(
    lambda sign, power, rest: sign << 31 | power << 23 | rest,
    st.integers(0, 1),
    st.integers(70, 180),
    st.integers(0, (1 << 23) - 1),
)


@given(st.sampled_from(["add", "sub", "mul"]), MODES, NORMAL, NORMAL)
def test_a_directed_rounding_is_the_next_number_on_its_side(name, mode, a, b):
    x, y = exact(a), exact(b)
    value = {"add": x + y, "sub": x - y, "mul": x * y}[name]
    bits = compute(f"{name}.{mode}.f32", a, b)
    got = exact(bits)
    beside = [exact(each) for each in (bits - 1, bits + 1) if bits & 0x7FFFFFFF]
    match mode:
        case "rm":
            assert got <= value
            assert all(each <= got or each > value for each in beside)
        case "rp":
            assert got >= value
            assert all(each >= got or each < value for each in beside)
        case "rz":
            assert abs(got) <= abs(value)
            assert all(abs(each) <= abs(got) or abs(each) > abs(value) for each in beside)
        case _:
            assert all(abs(got - value) <= abs(each - value) for each in beside)


@given(NORMAL, NORMAL, NORMAL, MODES)
def test_a_fused_product_and_sum_is_rounded_once(a, b, c, mode):
    value = exact(a) * exact(b) + exact(c)
    bits = compute(f"fma.{mode}.f32", a, b, c)
    if bits & 0x7F800000 != 0x7F800000:
        got = exact(bits)
        assert (got >= value) if mode == "rp" else (got <= value) if mode == "rm" else True
        wrong = abs(got - value)
        assert wrong <= abs(exact(bits + 1) - got) if mode != "rn" and bits + 1 & 0x7F800000 != 0x7F800000 else True


@given(SINGLE)
def test_a_half_of_a_single_is_that_of_numpy(a):
    with np.errstate(all="ignore"):
        expected = single(a).astype(np.float16)
    assert same(np.uint16, compute("cvt.rn.f16.f32", a), expected)


@given(SINGLE)
def test_a_bfloat_of_a_single_is_the_high_half_rounded_to_even(a):
    bits = compute("cvt.rn.bf16.f32", a)
    if np.isnan(single(a)):
        assert bits == 0x7FFF
    else:
        assert bits == (a + 0x7FFF + (a >> 16 & 1)) >> 16
    assert compute("cvt.rz.bf16.f32", a) == (0x7FFF if np.isnan(single(a)) else a >> 16)


@given(LONG)
def test_a_single_of_a_double_is_that_of_numpy(a):
    with np.errstate(all="ignore"):
        expected = np.uint64(a).view(np.float64).astype(np.float32)
    assert same(np.uint32, compute("cvt.rn.f32.f64", a), expected)


@given(LONG, st.sampled_from(["s64", "u64"]))
def test_a_float_of_an_integer_is_that_of_numpy(a, kind):
    value = np.uint64(a).view(np.int64) if kind == "s64" else np.uint64(a)
    assert compute(f"cvt.rn.f32.{kind}", a) == int(value.astype(np.float32).view(np.uint32))


@given(SINGLE, st.sampled_from(["rni", "rzi", "rmi", "rpi"]), st.sampled_from([("s32", 32), ("u32", 32), ("s16", 16)]))
def test_a_float_to_an_integer_is_rounded_and_limited(a, mode, target):
    kind, bits = target
    least, greatest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
    value = single(a)
    round_ = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode]
    if np.isnan(value):
        expected = 0
    elif np.isinf(value):
        expected = least if value < 0 else greatest
    else:
        expected = min(max(int(round_(np.float64(value))), least), greatest)
    assert compute(f"cvt.{mode}.{kind}.f32", a) == expected & ((1 << bits) - 1)


@given(BYTE)
def test_a_narrow_float_comes_back(a):
    wide = compute("cvt.rn.f16x2.e5m2x2", a)
    infinite = a & 0x7F == 0x7C
    back = compute("cvt.rn.satfinite.e5m2x2.f16x2", wide)
    nan = a & 0x7F > 0x7C
    assert back == (0x7F if nan else (a & 0x80) | 0x7B if infinite else a)


# --------------------------------------------------------------------------------- the ISA's code, bit by bit


def field_by_bit(a, b, c, *, bits, signed):
    position, length, top = b & 0xFF, c & 0xFF, bits - 1
    sign = 0 if not signed or length == 0 else a >> min(position + length - 1, top) & 1
    d = 0
    for i in range(bits):
        d |= ((a >> (position + i) & 1) if i < length and position + i <= top else sign) << i
    return d


@given(WORD, st.integers(0, 80), st.integers(0, 80))
def test_a_field_is_taken_bit_by_bit(a, b, c):
    assert compute("bfe.u32", a, b, c) == field_by_bit(a, b, c, bits=32, signed=False)
    assert compute("bfe.s32", a, b, c) == field_by_bit(a, b, c, bits=32, signed=True)
    assert compute("bfe.s64", a << 32 | a, b, c) == field_by_bit(a << 32 | a, b, c, bits=64, signed=True)


@given(WORD, WORD, st.integers(0, 80), st.integers(0, 80))
def test_a_field_is_put_in_bit_by_bit(a, b, c, d):
    f = b
    for i in range(32):
        if i < d and c + i <= 31:
            f = f & ~(1 << (c + i)) | (a >> i & 1) << (c + i)
    assert compute("bfi.b32", a, b, c, d) == f


@given(WORD, st.integers(0, 70))
def test_a_mask_is_made_as_the_code_says(a, b):
    for mode in ("clamp", "wrap"):
        start, width = a & 31, b & 31
        first, second = (~0 << start) & 0xFFFFFFFF, (~0 << (start + width)) & 0xFFFFFFFF
        beyond = start + width >= 32
        if mode == "clamp":
            if a >= 32:
                beyond, first = True, 0
            beyond = beyond or b >= 32
        second = 0 if beyond else second
        assert compute(f"bmsk.{mode}.b32", a, b) == first & ~second


@given(WORD, WORD, st.integers(0, 255), WORD)
def test_a_table_is_looked_up_bit_by_bit(a, b, table, c):
    expected = 0
    for place in range(32):
        index = (a >> place & 1) << 2 | (b >> place & 1) << 1 | c >> place & 1
        expected |= (table >> index & 1) << place
    assert compute("lop3.b32", a, b, c, table) == expected


@given(WORD, WORD, WORD)
def test_bytes_are_permuted_as_the_selectors_say(a, b, c):
    source = (b << 32 | a).to_bytes(8, "little")
    lanes = []
    for place in range(4):
        selector = c >> 4 * place & 15
        byte = source[selector & 7]
        lanes.append((255 if byte & 128 else 0) if selector & 8 else byte)
    assert compute("prmt.b32", a, b, c) == int.from_bytes(bytes(lanes), "little")


@given(WORD, WORD, WORD, st.sampled_from(["u32", "s32"]), st.sampled_from(["u32", "s32"]))
def test_a_dot_product_is_that_of_numpy(a, b, c, first, second):
    kinds = {"u32": ("u1", "<u2"), "s32": ("i1", "<i2")}
    bytes_a, halves = (np.frombuffer(struct.pack("<I", a), kind).astype(object) for kind in kinds[first])
    bytes_b = np.frombuffer(struct.pack("<I", b), kinds[second][0]).astype(object)
    assert compute(f"dp4a.{first}.{second}", a, b, c) == (c + int(bytes_a @ bytes_b)) % 2**32
    assert compute(f"dp2a.lo.{first}.{second}", a, b, c) == (c + int(halves @ bytes_b[:2])) % 2**32
    assert compute(f"dp2a.hi.{first}.{second}", a, b, c) == (c + int(halves @ bytes_b[2:])) % 2**32


@given(LONG, LONG, LONG)
def test_long_products_are_those_of_integers(a, b, c):
    signed = [each - (1 << 64) if each >> 63 else each for each in (a, b, c)]
    assert compute("mul.hi.s64", a, b) == (signed[0] * signed[1] >> 64) % 2**64
    assert compute("mad.lo.s64", a, b, c) == (signed[0] * signed[1] + signed[2]) % 2**64
    assert (
        compute("mul.wide.s32", a & 0xFFFFFFFF, b & 0xFFFFFFFF)
        == int(np.int64(np.uint32(a & 0xFFFFFFFF).view(np.int32)) * np.int64(np.uint32(b & 0xFFFFFFFF).view(np.int32)))
        % 2**64
    )


@given(SINGLE, SINGLE, st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]))
def test_comparisons_of_floats_are_those_of_numpy(a, b, operator):
    x, y = single(a), single(b)
    plain = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[operator]
    nan = bool(np.isnan(x) or np.isnan(y))
    assert compute(f"setp.{operator}.f32", a, b) == int(plain and not nan)
    assert compute(f"setp.{operator}u.f32", a, b) == int(plain or nan)
