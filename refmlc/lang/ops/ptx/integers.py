"""Integer arithmetic of PTX: sums, products, quotients, dot products, least and greatest, fields of bits."""

from collections.abc import Callable, Mapping

from refmlc.lang.ops.ptx.numbers import Open
from refmlc.lang.ops.ptx.registers import (
    Bits,
    Family,
    Meaning,
    clamp,
    lanewise,
    mask,
    of_number,
    split,
    to_number,
    width,
)

Modifiers = Mapping[str, str]
NOT_FOUND = 0xFFFFFFFF


class ByZero(Exception):
    """A division by 0."""


def _numeric(kind: str, value: Callable[..., int]) -> Meaning:
    """A meaning on numbers of one type, modulo 2 ** width."""
    return lambda registers: (of_number(kind, value(*(to_number(kind, each) for each in registers))),)


def _numeric_or_packed(kind: str, value: Callable[..., int]) -> Meaning:
    if kind.endswith("x2"):
        return lanewise(_numeric(kind[:3], value), 16)
    return _numeric(kind, value)


# -------------------------------------------------------------------------------------- sums and products: PTX-003


def _added(sign: int) -> Family:
    def family(m: Modifiers) -> Meaning:
        kind = m["type"]
        if m["sat"]:
            return _numeric(kind, lambda a, b: clamp(kind, a + sign * b))
        return _numeric_or_packed(kind, lambda a, b: a + sign * b)

    return family


def _multiplied(m: Modifiers) -> Meaning:
    kind = m["type"]
    shift = width(kind) if m["mode"] == "hi" else 0
    return _numeric(kind, lambda a, b: a * b >> shift)


def _multiplied_wide(m: Modifiers) -> Meaning:
    kind = m["type"]
    wide = f"{kind[0]}{2 * width(kind)}"
    return lambda registers: (of_number(wide, to_number(kind, registers[0]) * to_number(kind, registers[1])),)


def _multiply_add(m: Modifiers) -> Meaning:
    kind = m["type"]
    shift = width(kind) if m["mode"] == "hi" else 0
    if m["sat"]:
        return _numeric(kind, lambda a, b, c: clamp(kind, (a * b >> shift) + c))
    return _numeric(kind, lambda a, b, c: (a * b >> shift) + c)


def _multiply_add_wide(m: Modifiers) -> Meaning:
    kind = m["type"]
    wide = f"{kind[0]}{2 * width(kind)}"

    def meaning(registers: Bits) -> Bits:
        a, b, c = registers
        return (of_number(wide, to_number(kind, a) * to_number(kind, b) + to_number(wide, c)),)

    return meaning


def _low_24(kind: str, register: int) -> int:
    low = register & mask(24)
    return low - (1 << 24) if kind[0] == "s" and low >> 23 else low


def _product_24(m: Modifiers) -> Callable[[int, int], int]:
    kind, high = m["type"], m["mode"] == "hi"

    def product(a: int, b: int) -> int:
        whole = _low_24(kind, a) * _low_24(kind, b)
        return to_number(kind, (whole >> 16 if high else whole) & mask(32))

    return product


def _multiplied_24(m: Modifiers) -> Meaning:
    kind, product = m["type"], _product_24(m)
    return lambda registers: (of_number(kind, product(*registers)),)


def _multiply_add_24(m: Modifiers) -> Meaning:
    kind, product, limited = m["type"], _product_24(m), bool(m["sat"])

    def meaning(registers: Bits) -> Bits:
        a, b, c = registers
        total = product(a, b) + to_number(kind, c)
        return (of_number(kind, clamp(kind, total) if limited else total),)

    return meaning


def _distance(m: Modifiers) -> Meaning:
    return _numeric(m["type"], lambda a, b, c: c + abs(a - b))


def _absolute(m: Modifiers) -> Meaning:
    return _numeric(m["type"], abs)


def _negated(m: Modifiers) -> Meaning:
    return _numeric(m["type"], lambda a: -a)


def _extreme(choose: Callable[[int, int], int]) -> Family:
    def family(m: Modifiers) -> Meaning:
        if m["relu"]:
            return _numeric_or_packed(m["type"], lambda a, b: max(choose(a, b), 0))
        return _numeric_or_packed(m["type"], choose)

    return family


def _dot(bits: int, count: int) -> Family:
    """A dot product of `count` lanes of b; those of a are of `bits` bits."""

    def family(m: Modifiers) -> Meaning:
        first, second = f"{m['atype'][0]}{bits}", f"{m['btype'][0]}8"
        skipped = 2 if m.get("mode") == "hi" else 0

        def meaning(registers: Bits) -> Bits:
            a, b, c = registers
            lanes = split(b, 8, 4)[skipped:]
            pairs = zip(split(a, bits, count), lanes[:count], strict=True)
            return ((c + sum(to_number(first, x) * to_number(second, y) for x, y in pairs)) & mask(32),)

        return meaning

    return family


def _carryless(m: Modifiers) -> Meaning:
    """Half of a product of polynomials over two elements, each bit a coefficient, plus c: PTX-020."""
    bits = width(m["type"])
    shift = bits if m["mode"] == "hi" else 0

    def meaning(registers: Bits) -> Bits:
        a, b, c = registers
        product = 0
        for place in range(bits):
            if b >> place & 1:
                product ^= a << place
        return ((product >> shift & mask(bits)) ^ c,)

    return meaning


# ------------------------------------------------------------------------------------------------ division: PTX-004


def _quotient(kind: str, a: int, b: int) -> int:
    if b == 0:
        raise ByZero
    size = abs(a) // abs(b)
    value = -size if (a < 0) != (b < 0) else size
    if clamp(kind, value) != value:
        raise Open(f"{a} / {b} is outside of {kind}, and PTX says no other result")
    return value


def _divided(m: Modifiers) -> Meaning:
    kind = m["type"]
    return _numeric(kind, lambda a, b: _quotient(kind, a, b))


def _remainder(m: Modifiers) -> Meaning:
    kind = m["type"]
    return _numeric(kind, lambda a, b: a - _quotient(kind, a, b) * b)


# ------------------------------------------------------------------------------------------ fields of bits: PTX-005


def _population(_: Modifiers) -> Meaning:
    return lambda registers: (registers[0].bit_count(),)


def _leading_zeros(m: Modifiers) -> Meaning:
    bits = width(m["type"])
    return lambda registers: (bits - registers[0].bit_length(),)


def _found(m: Modifiers) -> Meaning:
    kind, bits = m["type"], width(m["type"])

    def meaning(registers: Bits) -> Bits:
        a = to_number(kind, registers[0])
        place = (~a if a < 0 else a).bit_length() - 1
        if place < 0:
            return (NOT_FOUND,)
        return (bits - 1 - place if m["shiftamt"] else place,)

    return meaning


def _reversed(m: Modifiers) -> Meaning:
    bits = width(m["type"])
    return lambda registers: (int(f"{registers[0]:0{bits}b}"[::-1], 2),)


def _extracted(m: Modifiers) -> Meaning:
    kind, bits = m["type"], width(m["type"])

    def meaning(registers: Bits) -> Bits:
        a, start, length = registers[0], registers[1] & 0xFF, registers[2] & 0xFF
        field = a >> start & mask(length) & mask(bits)
        last = min(start + length - 1, bits - 1)
        if kind[0] == "s" and length and a >> last & 1:
            field |= mask(bits) & ~mask(min(length, max(bits - start, 0)))
        return (field,)

    return meaning


def _inserted(m: Modifiers) -> Meaning:
    bits = width(m["type"])

    def meaning(registers: Bits) -> Bits:
        a, b, start, length = registers[0], registers[1], registers[2] & 0xFF, registers[3] & 0xFF
        field = mask(length) << start & mask(bits)
        return ((b & ~field) | (a << start & field),)

    return meaning


def _extended(m: Modifiers) -> Meaning:
    kind, clamped = m["type"], m["mode"] == "clamp"

    def meaning(registers: Bits) -> Bits:
        a, b = registers
        if clamped and b >= 32:
            return (a,)
        count = b & 31
        low = a & mask(count)
        negative = kind[0] == "s" and count and low >> (count - 1)
        return (low | (mask(32) & ~mask(count)) if negative else low,)

    return meaning


def _field_mask(m: Modifiers) -> Meaning:
    clamped = m["mode"] == "clamp"

    def meaning(registers: Bits) -> Bits:
        a, b = registers
        if clamped and a >= 32:
            return (0,)
        start = a & 31
        end = 32 if clamped and b >= 32 else min(start + (b & 31), 32)
        return (mask(end) & ~mask(start),)

    return meaning


def _nth_set(_: Modifiers) -> Meaning:
    def meaning(registers: Bits) -> Bits:
        bits, place, offset = registers[0], registers[1], to_number("s32", registers[2])
        if place > 31:
            raise Open(f"`fns` from bit {place}: PTX says this of bits 0 … 31 only")
        if not offset:
            return (place if bits >> place & 1 else NOT_FOUND,)
        places = range(place, 32) if offset > 0 else range(place, -1, -1)
        set_places = [each for each in places if bits >> each & 1]
        return (set_places[abs(offset) - 1] if len(set_places) >= abs(offset) else NOT_FOUND,)

    return meaning


INTEGERS: Mapping[str, Family] = {
    "add_int": _added(1),
    "sub_int": _added(-1),
    "mul_int": _multiplied,
    "mul_wide": _multiplied_wide,
    "mad_int": _multiply_add,
    "mad_wide": _multiply_add_wide,
    "mul24": _multiplied_24,
    "mad24": _multiply_add_24,
    "clmad": _carryless,
    "sad": _distance,
    "abs": _absolute,
    "neg_int": _negated,
    "dp4a": _dot(8, 4),
    "dp2a": _dot(16, 2),
    "div": _divided,
    "rem": _remainder,
    "popc": _population,
    "clz": _leading_zeros,
    "bfind": _found,
    "brev": _reversed,
    "bfe": _extracted,
    "bfi": _inserted,
    "szext": _extended,
    "bmsk": _field_mask,
    "fns": _nth_set,
}
EXTREMES: Mapping[str, Family] = {"min": _extreme(min), "max": _extreme(max)}
