"""Conversions with scales and random bits, packed and carry-less arithmetic (PTX-018, PTX-020), worked by hand."""

import numpy as np
import pytest
from ptx_calls import compute

from refmlc.lang.ops.ptx.numbers import Open

ONE, TWO, FOUR, EIGHT, HALF, MINUS = 0x3F800000, 0x40000000, 0x40800000, 0x41000000, 0x3F000000, 0x80000000
INF, NAN = 0x7F800000, 0x7FFFFFFF


def single(value):
    return int(np.float32(value).view(np.uint32))


@pytest.mark.parametrize(
    ("text", "registers", "result"),
    [
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32", (EIGHT, FOUR, 130), 0x38_30),
        ("cvt.rz.satfinite.scaled::n1::ue8m0.e2m1x2.f32", (single(5.9), MINUS | EIGHT, 127), 0x6_F),
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f16x2", (0x4400_3C00, 128), 0x40_30),
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e5m2x2.bf16x2", (0x3F80_C000, 125), 0x44_C8),
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32", (0, INF, 1), 0x00_7E),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2", (0x38_40, 0x80_7E), 0x4000_3F80),
        ("cvt.rn.relu.scaled::n2::ue8m0.bf16x2.e2m1x2", (0x2_A, 0x7F7F), 0x3F80_0000),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e2m3x2", (0x08_01, 0x7F_85), 0x3F80_4100),
        ("cvt.rn.pzo.f16x2.f32", (MINUS, 0xA0000000), 0),
        ("cvt.rn.pzo.bf16.f32", (MINUS,), 0),
        ("cvt.rn.pzo.f16.f32", (0xBF800000,), 0xBC00),
        ("cvt.rz.pzo.tf32.f32", (MINUS,), 0),
        ("cvt.rz.pzo.tf32.f32", (0x3F801FFF,), ONE),
        ("cvt.rn.pzo.tf32.f32", (NAN,), NAN),
        ("cvt.rn.satfinite.pzo.e4m3x2.f32", (MINUS, 0xA0000000), 0),
        ("cvt.rs.f16x2.f32", (0x3F801000, 0x3F801000, 0x1000_0FFF), 0x3C01_3C00),
        ("cvt.rs.f16x2.f32", (0xBF801000, ONE, 0xF000_FFFF), 0xBC01_3C00),
        ("cvt.rs.bf16x2.f32", (0x3F808000, 0x3F808000, 0x8000_7FFF), 0x3F81_3F80),
        ("cvt.rs.bf16x2.f32", (1, MINUS | 0x8000, 0xFFFF_8000), 0x0001_8001),
        ("cvt.rs.relu.bf16x2.f32", (0xBF800000, NAN, 0), 0x0000_7FFF),
        ("cvt.rs.satfinite.f16x2.f32", (single(65505), MINUS | INF, 0), 0x7BFF_FBFF),
        ("cvt.rs.satfinite.bf16x2.f32", (0x7F7FFFFF, INF, 0x0001_0000), 0x7F7F_7F7F),
        ("cvt.rn.satfinite.s2f6x2.f32", (ONE, 0xBF000000), 0x40_E0),
        ("cvt.rn.satfinite.s2f6x2.f32", (NAN, single(5)), 0x7F_7F),
        ("cvt.rn.satfinite.relu.s2f6x2.f32", (single(-3), single(1.5 / 64)), 0x00_02),
        ("cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32", (EIGHT, ONE, 0x82_80), 0x40_20),
        ("cvt.rn.satfinite.s2f6x2.bf16x2", (0x3F80_BF00,), 0x40_E0),
        ("cvt.rn.bf16x2.s2f6x2", (0x40_E0,), 0x3F80_BF00),
        ("cvt.rn.bf16x2.s2f6x2", (0x80_00,), 0xC000_0000),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.s2f6x2", (0x40_E0, 0x80_7E), 0x4000_BE80),
        ("cvt.rn.satfinite.ue5m3x2.f32", (ONE, 0x47E00000), 0x78_FE),
        ("cvt.rp.satfinite.ue5m3x2.f32", (single(1.01), INF), 0x79_FE),
        ("cvt.rz.ue5m3x2.f32", (single(1.12), NAN), 0x78_FF),
        ("cvt.rn.ue5m3x2.f16x2", (0x3C00_0080,), 0x78_01),
        ("cvt.rz.satfinite.scaled::n1::ue8m0.ue5m3x2.f32", (TWO, EIGHT, 128), 0x78_88),
        ("cvt.rn.scaled::n1::ue8m0.ue5m3x2.bf16x2", (0x4000_3F80, 128), 0x78_70),
        ("cvt.rn.f16x2.ue5m3x2", (0x78_01,), 0x3C00_0080),
        ("cvt.rn.f16x2.ue5m3x2", (0xFF_00,), 0x7FFF_0000),
        ("cvt.rn.bf16x2.ue5m3x2", (0xFE_FF,), 0x47E0_7FFF),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.ue5m3x2", (0x78_78, 0x7F_81), 0x3F80_4080),
        ("set.lt.s8x4", (0x05FB807F, 0xFE04FDFE), 0x00FFFF00),
        ("set.lo.u8x4", (0x05FB807F, 0xFE04FDFE), 0xFF00FFFF),
        ("set.ge.s16x2", (0x05FB807F, 0xFE04FDFE), 0xFFFF0000),
        ("clmad.lo.u64", (0b101, 0b11, 0b1), 0b1110),
        ("clmad.hi.u64", (1 << 63, 0b110, 0b1000), 0b1011),
        ("add.rz.ftz.f16x2.f32x2.f32x2", (ONE << 32 | TWO, ONE << 32 | TWO), 0x4000_4400),
        ("add.rz.bf16x2.f32x2.f32x2", (ONE << 32 | 0, 1 << 32 | MINUS), 0x3F80_0000),
        ("sub.rz.ftz.f16x2.f32x2.f32x2", (ONE << 32 | TWO, TWO << 32 | ONE), 0xBC00_3C00),
        ("sub.rz.bf16x2.f32x2.f32x2", (INF << 32 | NAN, ONE << 32 | ONE), 0x7F80_7FFF),
        ("mul.ftz.rz.f16x2.f32x2.f32x2", (TWO << 32 | TWO, ONE << 32 | EIGHT), 0x4000_4C00),
        ("mul.rz.bf16x2.f32x2.f32x2", (TWO << 32 | TWO, ONE << 32 | 0xC1000000), 0x4000_C180),
        ("mul.bf16x2.bf16x2.f16x2", (0x3F80_4000, 0x3C00_4000), 0x3F80_4080),
        ("mul.f16x2.f16x2.bf16x2", (0x3C00_4000, 0xBF80_4000), 0xBC00_4400),
    ],
)
def test_an_instruction(text, registers, result):
    assert compute(text, *registers) == result


@pytest.mark.parametrize(
    ("text", "registers", "words"),
    [
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32", (ONE, ONE, 0xFF), "a scale that is NaN"),
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32", (ONE, 1, 127), "a scale on a subnormal of f32"),
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32", (0x7F000000, ONE, 0), "a scaled number that is none of f32"),
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f16x2", (0x3C00_0400, 254), "a scaled number that is none of f16"),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2", (0x40_38, 0xFE_7F), "a scaled number that is none of bf16"),
        ("cvt.rs.f16x2.f32", (single(2.0**-15), ONE, 0), "which bits the random ones are added to"),
        ("cvt.rs.f16x2.f32", (single(65535), ONE, 0x1FFF0000), "beyond the greatest number of f16"),
        ("cvt.rs.bf16x2.f32", (0x7F7FFFFF, ONE, 0x00010000), "beyond the greatest number of bf16"),
        ("cvt.rn.satfinite.s2f6x2.f32", (single(-1.99), ONE), "two least numbers"),
        ("cvt.rn.ue5m3x2.f32", (MINUS, ONE), "a minus sign"),
        ("cvt.rn.ue5m3x2.f32", (INF, ONE), "beyond its greatest"),
        ("cvt.rn.f16x2.ue5m3x2", (0xFE_00,), "beyond the greatest of f16"),
        ("add.rz.ftz.f16x2.f32x2.f32x2", (single(1.0001) << 32, single(0.9999) << 32), "converted before it"),
        ("add.rz.ftz.f16x2.f32x2.f32x2", (1, ONE), "`.ftz` on a subnormal"),
        ("mul.ftz.rz.f16x2.f32x2.f32x2", (single(2.0**-14), HALF), "`.ftz` on a subnormal"),
        ("mul.bf16x2.bf16x2.f16x2", (0x3FFF_3F80, 0x3C03_3C00), "converted before it"),
    ],
)
def test_what_ptx_leaves_open(text, registers, words):
    with pytest.raises(Open, match=words):
        compute(text, *registers)


def test_a_product_without_carries_is_that_of_polynomials():
    """Against a sum of shifted copies over the field of two elements, by NumPy."""
    generator = np.random.default_rng(7)
    for a, b, c in generator.integers(0, 1 << 63, (20, 3), dtype=np.uint64).tolist():
        bits = [np.array(list(f"{value:064b}"[::-1]), int) for value in (a, b)]
        product = sum(int(bit) << place for place, bit in enumerate(np.convolve(*bits) % 2))
        assert compute("clmad.lo.u64", a, b, c) == (product & (1 << 64) - 1) ^ c
        assert compute("clmad.hi.u64", a, b, c) == (product >> 64) ^ c
