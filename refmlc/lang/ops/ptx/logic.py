"""Logic, shifts and movements of bits in PTX: each takes and gives the bits of registers."""

from collections.abc import Callable, Mapping

from refmlc.lang.ops.ptx.registers import Bits, Family, Meaning, clamp, join, mask, of_number, split, to_number, width

Modifiers = Mapping[str, str]

# ----------------------------------------------------------------------------------------------- logic: PTX-006


def _bitwise(value: Callable[[int, int], int]) -> Family:
    def family(m: Modifiers) -> Meaning:
        if m["type"] == "pred":
            return lambda registers: (value(int(registers[0] != 0), int(registers[1] != 0)),)
        return lambda registers: (value(*registers),)

    return family


def _inverted(m: Modifiers) -> Meaning:
    if m["type"] == "pred":
        return lambda registers: (int(not registers[0]),)
    return lambda registers: (registers[0] ^ mask(width(m["type"])),)


def _is_zero(_: Modifiers) -> Meaning:
    return lambda registers: (int(not registers[0]),)


def looked_up(registers: Bits) -> int:
    """Each bit of a, b and c as a number of three bits, that of a the highest: the place in the table."""
    a, b, c, table = registers
    result = 0
    for place in range(8):
        if table >> place & 1:
            result |= (a if place & 4 else ~a) & (b if place & 2 else ~b) & (c if place & 1 else ~c)
    return result & mask(32)


def _table(_: Modifiers) -> Meaning:
    return lambda registers: (looked_up(registers),)


def joined(operator: str, first: object, second: object) -> int:
    """Two predicates, joined by `and`, `or`, `xor`."""
    a, b = bool(first), bool(second)
    return int((a and b) if operator == "and" else (a or b) if operator == "or" else a != b)


def _table_and_predicate(m: Modifiers) -> Meaning:
    def meaning(registers: Bits) -> Bits:
        value = looked_up(registers[:4])
        return (value, joined(m["boolop"], value, registers[4]))

    return meaning


def _predicate_of_table(m: Modifiers) -> Meaning:
    both = _table_and_predicate(m)
    return lambda registers: both(registers)[1:]


# ----------------------------------------------------------------------------------------------- shifts: PTX-007


def _funnel(m: Modifiers) -> Meaning:
    left, wrap = m["dir"] == "l", m["mode"] == "wrap"

    def meaning(registers: Bits) -> Bits:
        a, b, c = registers
        count = c & 31 if wrap else min(c, 32)
        both = b << 32 | a
        return ((both << count >> 32 if left else both >> count) & mask(32),)

    return meaning


def _left(m: Modifiers) -> Meaning:
    bits = width(m["type"])
    return lambda registers: (registers[0] << min(registers[1], bits) & mask(bits),)


def _right(m: Modifiers) -> Meaning:
    kind = m["type"]
    return lambda registers: (of_number(kind, to_number(kind, registers[0]) >> min(registers[1], width(kind))),)


# ----------------------------------------------------------------------------------------------- movement: PTX-008


def _moved(m: Modifiers) -> Meaning:
    if m["type"] == "pred":
        return lambda registers: (int(registers[0] != 0),)
    return lambda registers: registers


def _packed(bits: int) -> Family:
    return lambda _: lambda registers: (join(registers, bits),)


def _unpacked(bits: int, count: int) -> Family:
    return lambda _: lambda registers: split(registers[0], bits, count)


PERMUTED: Mapping[str, Callable[[int, int], int]] = {
    "f4e": lambda place, first: place + first,
    "b4e": lambda place, first: (first - place) % 8,
    "rc8": lambda _, first: first,
    "ecl": max,
    "ecr": min,
    "rc16": lambda place, first: (place & 1) + 2 * (first & 1),
}
"""The byte of b:a that byte `place` of the result is, from the low two bits of c."""


def _permuted(m: Modifiers) -> Meaning:
    rule = PERMUTED.get(m["mode"])

    def meaning(registers: Bits) -> Bits:
        a, b, c = registers
        source = split(b << 32 | a, 8, 8)
        if rule is not None:
            return (join([source[rule(place, c & 3)] for place in range(4)], 8),)
        chosen = split(c, 4, 4)
        lanes = [source[each & 7] if each < 8 else 0xFF * (source[each & 7] >> 7) for each in chosen]
        return (join(lanes, 8),)

    return meaning


def _packed_saturated(m: Modifiers) -> Meaning:
    """`cvt.pack`: a above b; where there is a c, it is above both."""
    kind = m["convert"]
    bits = width(kind)

    def meaning(registers: Bits) -> Bits:
        high, low, *rest = (to_number("s32", each) for each in registers)
        lanes = join([of_number(kind, clamp(kind, low)), of_number(kind, clamp(kind, high))], bits)
        return ((lanes | (rest[0] << 2 * bits if rest else 0)) & mask(32),)

    return meaning


LOGIC: Mapping[str, Family] = {
    "and": _bitwise(lambda a, b: a & b),
    "or": _bitwise(lambda a, b: a | b),
    "xor": _bitwise(lambda a, b: a ^ b),
    "not": _inverted,
    "cnot": _is_zero,
    "lop3": _table,
    "lop3_bool": _table_and_predicate,
    "lop3_bool_sink": _predicate_of_table,
    "shf": _funnel,
    "shl": _left,
    "shr": _right,
    "mov": _moved,
    **{f"mov_pack_b{bits}x{count}": _packed(bits) for bits, count in ((16, 2), (32, 2), (16, 4))},
    **{f"mov_unpack_b{bits}x{count}": _unpacked(bits, count) for bits, count in ((16, 2), (32, 2), (16, 4))},
    "prmt": _permuted,
    "cvt_pack": _packed_saturated,
    "cvt_pack_c": _packed_saturated,
}
