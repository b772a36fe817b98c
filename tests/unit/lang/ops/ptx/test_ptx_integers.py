"""Integer instructions of PTX (PTX-003 … PTX-005, PTX-009): worked by hand, and the ISA's examples."""

import pytest
from ptx_calls import compute

from refmlc.lang.ops.ptx.integers import ByZero
from refmlc.lang.ops.ptx.numbers import Open

NONE = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("text", "registers", "result"),
    [
        ("add.u16", (0xFFFF, 2), 1),
        ("add.s32", (0x7FFFFFFF, 1), 0x80000000),
        ("add.sat.s32", (0x7FFFFFFF, 1), 0x7FFFFFFF),
        ("add.sat.s32", (0x80000000, 0xFFFFFFFF), 0x80000000),
        ("add.u16x2", (0xFFFF_0001, 0x0001_0001), 0x0000_0002),
        ("sub.u32", (0, 1), 0xFFFFFFFF),
        ("sub.sat.s32", (0x80000000, 1), 0x80000000),
        ("mul.lo.s16", (0xFFFF, 3), 0xFFFD),
        ("mul.hi.s32", (0xFFFFFFFF, 2), 0xFFFFFFFF),  # -1 * 2 = -2: the high half is -1
        ("mul.hi.u32", (0xFFFFFFFF, 2), 1),
        ("mul.hi.u64", (1 << 63, 4), 2),
        ("mul.wide.s16", (0xFFFE, 3), 0xFFFFFFFA),
        ("mul.wide.u32", (0xFFFFFFFF, 0xFFFFFFFF), 0xFFFFFFFE00000001),
        ("mad.lo.u32", (0x10000, 0x10000, 7), 7),
        ("mad.hi.u32", (0x10000, 0x10000, 7), 8),
        ("mad.hi.sat.s32", (0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF), 0x7FFFFFFF),
        ("mad.hi.s32", (0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF), 0xBFFFFFFE),
        ("mad.wide.s32", (0xFFFFFFFF, 5, 3), 0xFFFFFFFFFFFFFFFE),
        ("mul24.lo.u32", (0xFF000002, 0x01000003), 6),
        ("mul24.lo.s32", (0x00FFFFFF, 2), 0xFFFFFFFE),
        ("mul24.hi.s32", (0x00FFFFFF, 2), 0xFFFFFFFF),
        ("mul24.hi.u32", (0x00FFFFFF, 0x00FFFFFF), 0xFFFFFE00),
        ("mad24.lo.s32", (0x00FFFFFF, 2, 5), 3),
        ("mad24.hi.sat.s32", (0x007FFFFF, 0x007FFFFF, 0x7FFFFFFF), 0x7FFFFFFF),
        ("sad.s32", (0xFFFFFFFE, 3, 10), 15),
        ("sad.u32", (0xFFFFFFFE, 3, 0), 0xFFFFFFFB),
        ("abs.s16", (0x8000,), 0x8000),
        ("abs.s64", (0xFFFFFFFFFFFFFFF9,), 7),
        ("neg.s32", (5,), 0xFFFFFFFB),
        ("min.s32", (0xFFFFFFFF, 1), 0xFFFFFFFF),
        ("min.u32", (0xFFFFFFFF, 1), 1),
        ("min.relu.s32", (0xFFFFFFFF, 1), 0),
        ("max.s16x2", (0x8000_7FFF, 0x0001_FFFF), 0x0001_7FFF),
        ("max.relu.s16x2", (0x8000_7FFF, 0xFFFF_0001), 0x0000_7FFF),
        ("div.s32", (0xFFFFFFF9, 2), 0xFFFFFFFD),  # -7 / 2 = -3
        ("div.u32", (0xFFFFFFF9, 2), 0x7FFFFFFC),
        ("rem.s32", (0xFFFFFFF9, 2), 0xFFFFFFFF),
        ("rem.s32", (7, 0xFFFFFFFE), 1),
        ("popc.b64", (0xF0F0,), 8),
        ("clz.b32", (0,), 32),
        ("clz.b64", (1,), 63),
        ("bfind.u32", (0,), NONE),
        ("bfind.u32", (0x00010000,), 16),
        ("bfind.shiftamt.u32", (0x00010000,), 15),
        ("bfind.shiftamt.u32", (0,), NONE),
        ("bfind.s32", (0xFFFFFFFF,), NONE),
        ("bfind.s32", (0xFFFFFFFE,), 0),
        ("bfind.s64", (1 << 40,), 40),
        ("brev.b32", (0x00000003,), 0xC0000000),
        ("bfe.u32", (0xABCD1234, 8, 8), 0x12),
        ("bfe.s32", (0x0000F000, 12, 4), 0xFFFFFFFF),
        ("bfe.s32", (0x80000000, 28, 16), 0xFFFFFFF8),
        ("bfe.s32", (0x80000000, 40, 4), 0xFFFFFFFF),  # beyond the register: copies of its top bit
        ("bfe.u32", (0x80000000, 28, 16), 8),
        ("bfe.s32", (0xFFFFFFFF, 0, 0), 0),
        ("bfe.u32", (0xFF, 0x100, 0x104), 0xF),  # starts and lengths are of 8 bits
        ("bfi.b32", (0xFF, 0, 4, 4), 0xF0),
        ("bfi.b32", (0xFF, 0xFFFFFFFF, 30, 8), 0xFFFFFFFF),
        ("bfi.b32", (0, 0xFFFFFFFF, 30, 8), 0x3FFFFFFF),
        ("szext.wrap.u32", (0xFFFFFFFF, 0), 0),
        ("szext.wrap.s32", (0x8, 4), 0xFFFFFFF8),
        ("szext.clamp.s32", (0x12345678, 32), 0x12345678),
        ("szext.wrap.s32", (0x12345678, 36), 0xFFFFFFF8),
        ("bmsk.wrap.b32", (1, 2), 6),
        ("bmsk.clamp.b32", (32, 4), 0),
        ("bmsk.wrap.b32", (33, 4), 0x1E),
        ("bmsk.clamp.b32", (4, 32), 0xFFFFFFF0),
        ("bmsk.wrap.b32", (4, 32), 0),
        ("bmsk.clamp.b32", (30, 8), 0xC0000000),
        ("fns.b32", (0xAAAAAAAA, 3, 1), 3),
        ("fns.b32", (0xAAAAAAAA, 3, 0xFFFFFFFF), 3),
        ("fns.b32", (0xAAAAAAAA, 2, 1), 3),
        ("fns.b32", (0xAAAAAAAA, 2, 0xFFFFFFFF), 1),
        ("fns.b32", (0xAAAAAAAA, 2, 0), NONE),
        ("fns.b32", (0xAAAAAAAA, 0, 17), NONE),
        ("dp4a.s32.s32", (0xFF010203, 0x01010101, 10), 15),
        ("dp4a.u32.u32", (0xFF010203, 0x01010101, 10), 271),
        ("dp4a.u32.s32", (0x000000FF, 0x000000FF, 0), 0xFFFFFF01),
        ("dp2a.lo.s32.s32", (0xFFFF_0002, 0x0403_0201, 0), 0),  # 2 * 1 - 1 * 2
        ("dp2a.hi.s32.s32", (0xFFFF_0002, 0x0403_0201, 0), 2),  # 2 * 3 - 1 * 4
    ],
)
def test_integer_instructions(text, registers, result):
    assert compute(text, *registers) == result


@pytest.mark.parametrize("text", ["div.s32", "rem.u64"])
def test_a_division_by_0_is_undefined(text):
    with pytest.raises(ByZero):
        compute(text, 1, 0)


@pytest.mark.parametrize(("text", "registers"), [("div.s32", (0x80000000, NONE)), ("fns.b32", (1, 32, 1))])
def test_what_ptx_leaves_open(text, registers):
    with pytest.raises(Open):
        compute(text, *registers)
