"""Packed arithmetic of PTX whose result is narrower than an operand, or of another kind (PTX-020).

Whether the operands are converted first, the result last, or through f32 in between: where the readings of the text
give one number, this is the result.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from refmlc.lang.dtypes.formats import FloatFormat
from refmlc.lang.ops.ptx import numbers
from refmlc.lang.ops.ptx.floats import flushed
from refmlc.lang.ops.ptx.numbers import FORMATS, Open, Value, decode, encode
from refmlc.lang.ops.ptx.registers import Bits, Family, Meaning, join, split

Modifiers = Mapping[str, str]
Operation = Callable[[Value, Value, str], Value]
WIDTH = {"f32": 32, "f16": 16, "bf16": 16}
SINGLE = FORMATS["f32"]


def _difference(x: Value, y: Value, mode: str) -> Value:
    return numbers.add(x, None if y is None else -y, mode)


def _product(x: Value, y: Value, _mode: str) -> Value:
    return numbers.multiply(x, y)


def _subnormal(row: FloatFormat, bits: int) -> bool:
    return flushed(row, bits) != bits


def _through(row: FloatFormat, value: Value, mode: str) -> Value:
    return decode(row, encode(row, value, mode))


def _one_lane(operation: Operation, row: FloatFormat, x: Value, y: Value, mode: str) -> int:
    """The bits of the result. Fails: Open."""
    exact = operation(x, y, mode)
    readings = {
        encode(row, exact, mode),
        encode(row, _through(SINGLE, exact, mode), mode),
        encode(row, operation(_through(row, x, mode), _through(row, y, mode), mode), mode),
    }
    if len(readings) > 1:
        raise Open("the result depends on whether operands are converted before it: not known here")
    return readings.pop()


def _narrowed(operation: Operation) -> Family:
    def family(m: Modifiers) -> Meaning:
        target, first, second = (m[name].removesuffix("x2") for name in ("dtype", "atype", "ctype"))
        mode, flush, row = m.get("rnd") or "rn", bool(m.get("ftz")), FORMATS[target]

        def one(bits: int, others: int) -> int:
            pairs = ((FORMATS[first], bits), (FORMATS[second], others))
            x, y = (decode(form, code) for form, code in pairs)
            code = _one_lane(operation, row, x, y, mode)
            if flush and (any(_subnormal(form, each) for form, each in pairs) or _is_tiny(operation, x, y, row)):
                raise Open("`.ftz` on a subnormal of one of two formats: PTX does not say which are zeros")
            return code

        def meaning(registers: Bits) -> Bits:
            a, c = registers
            lanes = zip(split(a, WIDTH[first], 2), split(c, WIDTH[second], 2), strict=True)
            return (join([one(x, y) for x, y in lanes], WIDTH[target]),)

        return meaning

    return family


def _is_tiny(operation: Operation, x: Value, y: Value, row: FloatFormat) -> bool:
    """Whether the exact result is not 0, and less than all normal numbers of the target."""
    exact = operation(x, y, "rz")
    return exact is not None and 0 < exact.size < Fraction(2) ** row.minimum_exponent


MIXED: Mapping[str, Family] = {
    **{f"add_mixed_vec_down_{kind}": _narrowed(numbers.add) for kind in ("f16", "bf16")},
    **{f"sub_mixed_vec_down_{kind}": _narrowed(_difference) for kind in ("f16", "bf16")},
    **{f"mul_mixed_vec_down_{kind}": _narrowed(_product) for kind in ("f16", "bf16")},
    **{f"mul_mixed_vec_{kinds}": _narrowed(_product) for kinds in ("bf16_f16", "f16_bf16")},
}
