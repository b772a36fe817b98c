"""Logic, shifts and movements of PTX (PTX-006 … PTX-008), worked by hand."""

import pytest
from ptx_calls import compute


@pytest.mark.parametrize(
    ("text", "registers", "result"),
    [
        ("and.b32", (0xFF00FF00, 0x0FF00FF0), 0x0F000F00),
        ("or.b16", (0xF000, 0x000F), 0xF00F),
        ("xor.b64", (1 << 63, (1 << 63) | 1), 1),
        ("and.pred", (4, 2), 1),  # both are not 0
        ("xor.pred", (4, 2), 0),
        ("not.b16", (0xFF00,), 0x00FF),
        ("not.pred", (7,), 0),
        ("cnot.b32", (0,), 1),
        ("cnot.b32", (2,), 0),
        ("lop3.b32", (0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0x96), 0x96969696),  # a ^ b ^ c
        ("lop3.b32", (0x0000FFFF, 0x00FF00FF, 0x0F0F0F0F, 0x80), 0x0000000F),  # a & b & c
        ("lop3.b32", (0x0000FFFF, 0x00FF00FF, 0x0F0F0F0F, 0xE4), 0x00F00FFF),  # c ? a : b
        ("shl.b32", (0x80000001, 1), 2),
        ("shl.b32", (1, 32), 0),
        ("shl.b16", (1, 0xFFFFFFFF), 0),
        ("shr.u32", (0x80000000, 31), 1),
        ("shr.s32", (0x80000000, 31), 0xFFFFFFFF),
        ("shr.s16", (0x8000, 100), 0xFFFF),
        ("shr.b32", (0x80000000, 40), 0),
        ("shf.l.wrap.b32", (0x80000000, 1, 1), 3),
        ("shf.l.wrap.b32", (0x12345678, 0x9ABCDEF0, 32), 0x9ABCDEF0),
        ("shf.l.clamp.b32", (0x12345678, 0x9ABCDEF0, 32), 0x12345678),
        ("shf.l.clamp.b32", (0x12345678, 0x9ABCDEF0, 99), 0x12345678),
        ("shf.r.wrap.b32", (0x12345678, 0x9ABCDEF0, 8), 0xF0123456),
        ("shf.r.clamp.b32", (0x12345678, 0x9ABCDEF0, 40), 0x9ABCDEF0),
        ("mov.b32", (0xDEADBEEF,), 0xDEADBEEF),
        ("mov.pred", (9,), 1),
        ("mov.b32", (0x1111, 0x2222), 0x22221111),
        ("mov.b64", (0x11111111, 0x22222222), 0x2222222211111111),
        ("mov.b64", (1, 2, 3, 4), 0x0004000300020001),
        ("prmt.b32", (0x33221100, 0x77665544, 0x7610), 0x77661100),
        ("prmt.b32", (0x332211F0, 0x77665544, 0x8888), 0xFFFFFFFF),
        ("prmt.b32", (0x33221170, 0x77665544, 0x8888), 0),
        ("prmt.b32.f4e", (0x33221100, 0x77665544, 2), 0x55443322),
        ("prmt.b32.b4e", (0x33221100, 0x77665544, 1), 0x66770011),
        ("prmt.b32.rc8", (0x33221100, 0x77665544, 6), 0x22222222),
        ("prmt.b32.ecl", (0x33221100, 0x77665544, 2), 0x33222222),
        ("prmt.b32.ecr", (0x33221100, 0x77665544, 1), 0x11111100),
        ("prmt.b32.rc16", (0x33221100, 0x77665544, 3), 0x33223322),
        ("cvt_pack.sat.s16.s32", (0x00010000, 0xFFFF0000), 0x7FFF_8000),
        ("cvt_pack.sat.u16.s32", (0xFFFFFFFF, 0x00012345), 0x0000_FFFF),
        ("cvt_pack.sat.u8.s32.b32", (300, 7, 0xAABBCCDD), 0xCCDDFF07),
        ("cvt_pack.sat.s4.s32.b32", (100, 0xFFFFFFF6, 0x123456), 0x12345678),
    ],
)
def test_instructions_on_bits(text, registers, result):
    assert compute(text, *registers) == result


@pytest.mark.parametrize(
    ("text", "registers", "results"),
    [
        ("mov.b32", (0x22221111,), (0x1111, 0x2222)),
        ("mov.b64", (0x2222222211111111,), (0x11111111, 0x22222222)),
        ("lop3.or.b32", (1, 1, 1, 0x80, 0), (1, 1)),
        ("lop3.and.b32", (1, 1, 0, 0x80, 1), (0, 0)),
    ],
)
def test_instructions_with_two_destinations(text, registers, results):
    assert compute(text, *registers, written=2) == results


def test_four_registers_of_a_long_one():
    assert compute("mov.b64", 0x0004000300020001, written=4) == (1, 2, 3, 4)


def test_a_table_whose_result_is_sunk_gives_the_predicate():
    assert compute("lop3.or.b32", 0, 0, 0, 0x80, 0) == 0
    assert compute("lop3.or.b32", 1, 1, 1, 0x80, 0) == 1
