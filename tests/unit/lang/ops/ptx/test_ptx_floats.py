"""Floating-point instructions of PTX (PTX-010 … PTX-012), worked by hand: rounding, flushing, limits, NaN, zeros."""

import pytest
from ptx_calls import compute

from refmlc.lang.ops.ptx.numbers import Open

ONE, TWO, THREE = 0x3F800000, 0x40000000, 0x40400000
TINY = 0x00000001  # 2 ** -149
ULP = 0x33800000  # 2 ** -24, half of the distance from 1 to the next number
INF, NAN, MINUS = 0x7F800000, 0x7FFFFFFF, 0x80000000
GREATEST = 0x7F7FFFFF


@pytest.mark.parametrize(
    ("text", "registers", "result"),
    [
        ("add.rn.f32", (ONE, ULP), ONE),  # a tie: to even
        ("add.f32", (ONE + 1, ULP), ONE + 2),
        ("add.rz.f32", (ONE, ULP), ONE),
        ("add.rp.f32", (ONE, TINY), ONE + 1),
        ("add.rm.f32", (ONE, TINY), ONE),
        ("sub.rm.f32", (ONE, TINY), ONE - 1),
        ("sub.rz.f32", (ONE, TINY), ONE - 1),
        ("sub.rp.f32", (ONE, TINY), ONE),
        ("sub.rn.f32", (ONE, ONE), 0),
        ("sub.rm.f32", (ONE, ONE), MINUS),
        ("add.rm.f32", (0, 0), 0),
        ("add.rn.f32", (MINUS, MINUS), MINUS),
        ("add.rn.f32", (MINUS, 0), 0),
        ("add.rn.f32", (INF, MINUS | INF), NAN),
        ("add.rn.f32", (INF, ONE), INF),
        ("add.rn.f32", (GREATEST, GREATEST), INF),
        ("add.rz.f32", (GREATEST, GREATEST), GREATEST),
        ("add.rm.f32", (GREATEST, GREATEST), GREATEST),
        ("add.rp.f32", (MINUS | GREATEST, MINUS | GREATEST), MINUS | GREATEST),
        ("add.rm.f32", (MINUS | GREATEST, MINUS | GREATEST), MINUS | INF),
        ("add.rn.f32", (TINY, TINY), 2),
        ("add.rn.ftz.f32", (TINY, TINY), 0),
        ("add.rn.ftz.f32", (MINUS | TINY, MINUS | TINY), MINUS),
        ("sub.rn.ftz.f32", (0x00800001, 0x00800000), 0),  # the result is subnormal, its operands are not
        ("sub.rn.f32", (0x00800001, 0x00800000), 1),
        ("add.rn.sat.f32", (ONE, ONE), ONE),
        ("add.rn.sat.f32", (MINUS | ONE, 0), 0),
        ("add.rn.sat.f32", (MINUS, MINUS), 0),
        ("add.rn.sat.f32", (NAN, ONE), 0),
        ("add.rn.f32.f16", (0x3C00, ONE), TWO),
        ("add.rn.f32.bf16", (0x3F80, ONE), TWO),
        ("fma.rn.f32.f16", (0x4000, 0x4000, ONE), 0x40A00000),  # 2 * 2 + 1
        ("add.rn.f64", (0x3FF0000000000000, 0x3CA0000000000000), 0x3FF0000000000000),
        ("add.rp.f64", (0x3FF0000000000000, 1), 0x3FF0000000000001),
        ("mul.rn.f32", (0, INF), NAN),
        ("mul.rn.f32", (MINUS | TWO, THREE), 0xC0C00000),
        ("mul.rn.f32", (MINUS, THREE), MINUS),
        ("mul.rn.f32", (TINY, 0x3F000000), 0),
        ("mul.rp.f32", (TINY, 0x3F000000), TINY),
        ("fma.rn.f32", (ONE + 1, ONE + 1, MINUS | (ONE + 2)), 0x28800000),  # (1 + 2^-23)^2 - 1 - 2^-22 = 2^-46
        ("fma.rn.f32", (ONE, ONE, MINUS | ONE), 0),
        ("fma.rm.f32", (ONE, ONE, MINUS | ONE), MINUS),
        ("mad.rn.f32", (TWO, TWO, ONE), 0x40A00000),
        ("div.rn.f32", (ONE, THREE), 0x3EAAAAAB),
        ("div.rz.f32", (ONE, THREE), 0x3EAAAAAA),
        ("div.rp.f32", (MINUS | ONE, THREE), 0xBEAAAAAA),
        ("div.rn.f32", (ONE, MINUS), MINUS | INF),
        ("div.rn.f32", (0, 0), NAN),
        ("div.rn.f32", (INF, INF), NAN),
        ("div.rn.f32", (ONE, MINUS | INF), MINUS),
        ("div.rn.ftz.f32", (ONE, TINY), INF),
        ("rcp.rn.f32", (THREE,), 0x3EAAAAAB),
        ("rcp.rn.f32", (MINUS,), MINUS | INF),
        ("sqrt.rn.f32", (TWO,), 0x3FB504F3),
        ("sqrt.rp.f32", (TWO,), 0x3FB504F4),
        ("sqrt.rn.f32", (0x40800000,), TWO),
        ("sqrt.rn.f32", (MINUS,), MINUS),
        ("sqrt.rn.f32", (MINUS | ONE,), NAN),
        ("sqrt.rn.f32", (INF,), INF),
        ("sqrt.rn.f64", (0x4000000000000000,), 0x3FF6A09E667F3BCD),
        ("add.f32x2", (ONE << 32 | TWO, ONE << 32 | ONE), TWO << 32 | THREE),
        ("add.f32x2.f16x2.f32x2", (0x4000_3C00, ONE << 32 | ONE), THREE << 32 | TWO),
        ("fma.rn.f32x2.bf16x2.f32x2.f32x2", (0x4000_3F80, TWO << 32 | TWO, ONE << 32 | ONE), 0x40A00000_40400000),
        ("add.f16", (0x3C00, 0x1000), 0x3C00),  # 1 + 2^-11: a tie
        ("add.f16", (0x3C01, 0x1000), 0x3C02),
        ("add.f16x2", (0x3C00_7BFF, 0x3C00_7BFF), 0x4000_7C00),
        ("add.f16", (0x7C00, 0xFC00), 0x7FFF),
        ("sub.bf16x2", (0x4000_3F80, 0x3F80_3F80), 0x3F80_0000),
        ("mul.sat.f16", (0x4000, 0x4000), 0x3C00),
        ("mul.ftz.f16", (0x0001, 0x3C00), 0),
        ("fma.rn.relu.f16", (0x3C00, 0xBC00, 0), 0),
        ("fma.rn.relu.bf16", (0x3F80, 0x3F80, 0x3F80), 0x4000),
        ("fma.rn.relu.f16", (0x7E00, 0x3C00, 0), 0x7FFF),
        ("abs.f32", (MINUS | ONE,), ONE),
        ("abs.ftz.f32", (MINUS | TINY,), 0),
        ("neg.f64", (1 << 63,), 0),
        ("neg.ftz.f32", (TINY,), MINUS),
        ("neg.bf16x2", (0x3F80_BF80,), 0xBF80_3F80),
        ("abs.f16x2", (0xBC00_3C00,), 0x3C00_3C00),
        ("copysign.f32", (MINUS, ONE), MINUS | ONE),
        ("copysign.f64", (0, 1 << 63 | 5), 5),
        ("testp.finite.f32", (GREATEST,), 1),
        ("testp.finite.f32", (INF,), 0),
        ("testp.infinite.f32", (MINUS | INF,), 1),
        ("testp.number.f32", (INF,), 1),
        ("testp.notanumber.f32", (0x7FC00000,), 1),
        ("testp.normal.f32", (0,), 1),
        ("testp.normal.f32", (TINY,), 0),
        ("testp.normal.f32", (INF,), 0),
        ("testp.subnormal.f64", (1,), 1),
        ("testp.subnormal.f64", (0,), 0),
        ("min.f32", (NAN, ONE), ONE),
        ("min.f32", (NAN, NAN), NAN),
        ("min.NaN.f32", (NAN, ONE), NAN),
        ("min.f32", (0, MINUS), MINUS),
        ("max.f32", (MINUS, 0), 0),
        ("max.f64", (1 << 63 | 0x3FF0000000000000, 1 << 63), 1 << 63),
        ("max.ftz.f32", (TINY, MINUS), 0),
        ("max.xorsign.abs.f32", (MINUS | THREE, ONE), MINUS | THREE),
        ("min.xorsign.abs.f32", (MINUS | THREE, MINUS | ONE), ONE),
        ("max.xorsign.abs.f16", (0xFE00, 0x3C00), 0xBC00),
        ("max.f16x2", (0x7E00_BC00, 0x3C00_3C00), 0x3C00_3C00),
        ("max.NaN.bf16", (0x7FC0, 0x3F80), 0x7FFF),
        ("max.f32", (ONE, THREE, TWO), THREE),
        ("min.NaN.f32", (ONE, NAN, TWO), NAN),
        ("max.abs.f32", (ONE, MINUS | THREE, TWO), THREE),
    ],
)
def test_float_instructions(text, registers, result):
    assert compute(text, *registers) == result


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        ("rcp.approx.ftz.f64", (1,)),
        ("fma.rn.oob.f16", (1, 2, 3)),
        ("fma.rn.relu.f16", (0x8000, 0x3C00, 0x8000)),
        ("neg.f16", (0x7E00,)),
        ("abs.bf16x2", (0x7FC0_0000,)),
        ("copysign.f32", (NAN, ONE)),
        ("max.xorsign.abs.f32", (NAN, ONE)),
    ],
)
def test_what_ptx_leaves_open(text, registers):
    with pytest.raises(Open):
        compute(text, *registers)
