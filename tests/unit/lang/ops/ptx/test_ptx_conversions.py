"""Conversions and comparisons of PTX (PTX-013 … PTX-015), worked by hand."""

import pytest
from ptx_calls import compute

from refmlc.lang.ops.ptx.numbers import Open

ONE, TWO, HALF, MINUS = 0x3F800000, 0x40000000, 0x3F000000, 0x80000000
INF, NAN = 0x7F800000, 0x7FFFFFFF
BIG = 0x7F7FFFFF


@pytest.mark.parametrize(
    ("text", "registers", "result"),
    [
        ("cvt.u8.u32", (0x1FF,), 0xFF),
        ("cvt.s64.s32", (0xFFFFFFFE,), 0xFFFFFFFFFFFFFFFE),
        ("cvt.u64.u32", (0xFFFFFFFE,), 0xFFFFFFFE),
        ("cvt.sat.u8.s32", (0xFFFFFFFB,), 0),
        ("cvt.sat.s8.s32", (200,), 127),
        ("cvt.rn.f32.s32", (0xFFFFFFFF,), 0xBF800000),
        ("cvt.rn.f32.u32", (0x01000001,), 0x4B800000),  # 2 ** 24 + 1: a tie
        ("cvt.rp.f32.u32", (0x01000001,), 0x4B800001),
        ("cvt.rn.f16.u32", (0xFFFFFFFF,), 0x7C00),
        ("cvt.rz.f16.u32", (0xFFFFFFFF,), 0x7BFF),
        ("cvt.rn.sat.f32.s32", (7,), ONE),
        ("cvt.rni.s32.f32", (0x40200000,), 2),  # 2.5
        ("cvt.rpi.s32.f32", (0x40200000,), 3),
        ("cvt.rmi.s32.f32", (0xC0200000,), 0xFFFFFFFD),
        ("cvt.rzi.s32.f32", (0xC0200000,), 0xFFFFFFFE),
        ("cvt.rzi.u32.f32", (0xC0200000,), 0),
        ("cvt.rzi.s32.f32", (BIG,), 0x7FFFFFFF),
        ("cvt.rzi.s32.f32", (MINUS | INF,), 0x80000000),
        ("cvt.rzi.u8.f32", (0x43960000,), 255),  # 300
        ("cvt.rzi.s32.f32", (NAN,), 0),
        ("cvt.rzi.s64.f32", (NAN,), 1 << 63),
        ("cvt.rzi.u32.f64", (0x7FF8000000000000,), 0x80000000),
        ("cvt.rpi.s32.f32", (1,), 1),
        ("cvt.rpi.ftz.s32.f32", (1,), 0),
        ("cvt.rn.f16.f32", (0x477FF000,), 0x7C00),  # 65520: a tie with what is beyond
        ("cvt.rn.f16.f32", (0x477FEFFF,), 0x7BFF),
        ("cvt.rn.satfinite.f16.f32", (INF,), 0x7BFF),
        ("cvt.rn.satfinite.f16.f32", (NAN,), 0x7FFF),
        ("cvt.rn.relu.bf16.f32", (0xBF800000,), 0),
        ("cvt.f32.f16", (0x0001,), 0x33800000),
        ("cvt.f32.bf16", (0xFF80,), 0xFF800000),
        ("cvt.rn.f32.f64", (0x3FF0000010000000,), ONE),  # 1 + 2 ** -24: a tie
        ("cvt.rn.ftz.f32.f64", (0x3800000000000000,), 0),  # 2 ** -127
        ("cvt.rn.f32.f64", (0x3800000000000000,), 0x00400000),
        ("cvt.sat.f32.f32", (NAN,), 0),
        ("cvt.ftz.f32.f32", (MINUS | 1,), MINUS),
        ("cvt.rni.f32.f32", (0x3FC00000,), TWO),  # 1.5
        ("cvt.rmi.f32.f32", (0xBF000000,), 0xBF800000),
        ("cvt.rpi.f32.f32", (0xBF000000,), MINUS),
        ("cvt.rni.f64.f64", (0x4330000000000001,), 0x4330000000000001),
        ("cvt.rn.bf16.f16", (0x3C01,), 0x3F80),
        ("cvt.rn.f16x2.f32", (ONE, TWO), 0x3C00_4000),
        ("cvt.rz.bf16x2.f32", (0x3FFFFFFF, 0xBFFFFFFF), 0x3FFF_BFFF),
        ("cvt.rn.bf16x2.f32", (0x3FFFFFFF, NAN), 0x4000_7FFF),
        ("cvt.rn.satfinite.e4m3x2.f32", (ONE, 0x43E80000), 0x38_7E),  # 464 is beyond 448
        ("cvt.rn.satfinite.e4m3x2.f32", (NAN, MINUS | INF), 0x7F_FE),
        ("cvt.rn.satfinite.e5m2x2.f32", (ONE, INF), 0x3C_7B),
        ("cvt.rn.satfinite.relu.e4m3x2.f32", (0xBF800000, ONE), 0x00_38),
        ("cvt.rn.satfinite.e4m3x2.f16x2", (0x3C00_4000,), 0x38_40),
        ("cvt.rn.satfinite.e5m2x2.bf16x2", (0x3F80_4000,), 0x3C_40),
        ("cvt.rz.satfinite.e4m3x2.f32", (0x3FFFFFFF, ONE), 0x3F_38),
        ("cvt.rn.satfinite.e2m1x2.f32", (NAN, 0xC0E00000), 0x7F),  # NaN is 6; -7 is beyond -6
        ("cvt.rn.satfinite.e2m1x2.f32", (ONE, 0x40200000), 0x24),  # 2.5: a tie, to even: 2
        ("cvt.rn.satfinite.e2m3x2.f32", (ONE, 0x40F00000), 0x08_1F),
        ("cvt.rn.satfinite.e3m2x2.f32", (MINUS | ONE, INF), 0x2C_1F),
        ("cvt.rn.f16x2.e4m3x2", (0x38_7F,), 0x3C00_7FFF),
        ("cvt.rn.f16x2.e5m2x2", (0x7C_BC,), 0x7C00_BC00),
        ("cvt.rn.relu.f16x2.e5m2x2", (0x7C_BC,), 0x7C00_0000),
        ("cvt.rn.f16x2.e2m1x2", (0x7A,), 0x4600_BC00),  # 6 and -1
        ("cvt.rn.bf16x2.e3m2x2", (0x0C_01,), 0x3F80_3D80),  # 1 and 2 ** -4
        ("cvt.rn.f16x2.e2m3x2", (0xC8_C8,), 0x3C00_3C00),  # the two bits above are not read
        ("cvt.rna.tf32.f32", (0x3F801000,), 0x3F802000),  # a tie: away
        ("cvt.rn.tf32.f32", (0x3F801000,), 0x3F800000),
        ("cvt.rz.tf32.f32", (0x3F801FFF,), 0x3F800000),
        ("cvt.rna.satfinite.tf32.f32", (BIG,), 0x7F7FE000),
        ("cvt.rna.tf32.f32", (BIG,), INF),
        ("cvt.rn.relu.tf32.f32", (0xBF800000,), 0),
        ("cvt.rp.ue8m0x2.f32", (ONE, 0x3F800001), 0x7F_80),
        ("cvt.rz.ue8m0x2.f32", (0x3FFFFFFF, NAN), 0x7F_FF),
        ("cvt.rz.satfinite.ue8m0x2.f32", (INF, HALF), 0xFE_7E),
        ("cvt.rz.ue8m0x2.bf16x2", (0x3FC0_4000,), 0x7F_80),
        ("cvt.rn.bf16x2.ue8m0x2", (0x00_FF,), 0x0040_7FFF),
        ("cvt.rn.bf16x2.ue8m0x2", (0x7F_FE,), 0x3F80_7F00),
        ("set.lt.u32.s32", (0xFFFFFFFF, 0), 0xFFFFFFFF),
        ("set.lt.f32.u32", (0xFFFFFFFF, 0), 0),
        ("set.eq.f32.b32", (5, 5), ONE),
        ("set.lt.and.u32.s32", (1, 2, 0), 0),
        ("set.ne.f16.u32", (1, 2), 0x3C00),
        ("set.gt.bf16.f32", (TWO, ONE), 0x3F80),
        ("set.gt.u16.f16", (0x4000, 0x3C00), 0xFFFF),
        ("set.eq.u32.f16x2", (0x3C00_4000, 0x3C00_3C00), 0xFFFF_0000),
        ("set.le.f16x2.f16x2", (0x3C00_4000, 0x3C00_3C00), 0x3C00_0000),
        ("set.neu.bf16x2.bf16x2", (0x7FC0_3F80, 0x3F80_3F80), 0x3F80_0000),
        ("setp.lt.f32", (NAN, ONE), 0),
        ("setp.ltu.f32", (NAN, ONE), 1),
        ("setp.ne.f32", (NAN, NAN), 0),
        ("setp.neu.f32", (NAN, NAN), 1),
        ("setp.equ.f32", (ONE, ONE), 1),
        ("setp.equ.f32", (ONE, TWO), 0),
        ("setp.num.f32", (ONE, INF), 1),
        ("setp.num.f32", (ONE, NAN), 0),
        ("setp.nan.f64", (0, 0x7FF8000000000000), 1),
        ("setp.eq.f32", (0, MINUS), 1),
        ("setp.eq.f32", (1, 0), 0),
        ("setp.eq.ftz.f32", (1, 0), 1),
        ("setp.lo.u32", (1, 0xFFFFFFFF), 1),
        ("setp.hs.u16", (7, 7), 1),
        ("setp.lt.s64", (1 << 63, 0), 1),
        ("setp.eq.b64", (1 << 63, 1 << 63), 1),
        ("setp.lt.xor.s32", (1, 2, 1), 0),
        ("setp.lt.or.s32", (2, 1, 1), 1),
        ("setp.gt.f16", (0x4000, 0x3C00), 1),
        ("setp.gt.and.bf16", (0x4000, 0x3F80, 0), 0),
        ("selp.b32", (7, 9, 1), 7),
        ("selp.b32", (7, 9, 0), 9),
        ("slct.u32.s32", (7, 9, 0), 7),
        ("slct.u32.s32", (7, 9, 0xFFFFFFFF), 9),
        ("slct.u32.f32", (7, 9, MINUS), 7),
        ("slct.u32.f32", (7, 9, NAN), 9),
        ("slct.u32.f32", (7, 9, MINUS | 1), 9),
        ("slct.ftz.u32.f32", (7, 9, MINUS | 1), 7),
    ],
)
def test_conversions_and_comparisons(text, registers, result):
    assert compute(text, *registers) == result


@pytest.mark.parametrize(
    ("text", "registers", "results"),
    [
        ("setp.lt.f32", (NAN, ONE), (0, 1)),
        ("setp.lt.and.s32", (1, 2, 1), (1, 0)),
        ("setp.lt.and.s32", (1, 2, 0), (0, 0)),
        ("setp.gt.f16x2", (0x3C00_4000, 0x3C00_3C00), (1, 0)),
        ("setp.gt.or.bf16x2", (0x3F80_3F80, 0x3F80_3F80, 1), (1, 1)),
    ],
)
def test_comparisons_with_two_destinations(text, registers, results):
    assert compute(text, *registers, written=2) == results


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        ("cvt.rn.relu.f16.f32", (MINUS,)),
        ("cvt.rz.ue8m0x2.f32", (0xBF800000, ONE)),
        ("cvt.rz.ue8m0x2.f32", (0, ONE)),
        ("cvt.rz.ue8m0x2.f32", (1, ONE)),
        ("cvt.rp.ue8m0x2.f32", (BIG, ONE)),
    ],
)
def test_what_ptx_leaves_open(text, registers):
    with pytest.raises(Open):
        compute(text, *registers)
