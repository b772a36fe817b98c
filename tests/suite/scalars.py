"""What scalar operators give by exact arithmetic: integers of Python and rationals, rounded once. Nothing of refmlc.

| operators                              | computed as                                                            |
|----------------------------------------|------------------------------------------------------------------------|
| of integers                            | Python's integers, put into the dtype; what does not fit has no value   |
| + - * / fmod, rounding, comparison     | rationals, rounded once                                                 |
| sqrt, exp and the like                 | mpmath (`transcendental`)                                                |
| casts                                  | the same numbers, truncated, wrapped or rounded once                     |
"""

import ast
import math
import operator
from fractions import Fraction
from functools import cache

import numpy as np
from case_files import NoWitness
from rounding import bits_of, exact, is_int, limits, rounded, stored, wrapped
from transcendental import BOUNDS, value as value_at

NO = object()
"""No value: undefined there, or no value of the dtype."""


def put(value, name):
    """An exact integer in a dtype: narrow ones wrap, of wide ones it must be a value."""
    low, high = limits(name)
    return value if low <= value <= high else wrapped(value, name) if bits_of(name) < 32 else NO


def trunc_quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def quotient(of):
    def value(a, b, name):
        low, _high = limits(name)
        if b == 0 or (low < 0 and a == low and b == -1):
            return NO
        return of(a, b)

    return value


def ceildiv(a, b, name):
    if b == 0:
        return NO
    step = put(a + b, name)
    step = NO if step is NO else put(step - 1, name)
    return NO if step is NO or (b == -1 and step == limits(name)[0]) else step // b


def shifted_left(a, b, name):
    return wrapped(a << b, name) if 0 <= b < bits_of(name) else NO


def shifted_right(a, b, name):
    return a >> b if 0 <= b < bits_of(name) else NO


INTEGER = {
    "add": lambda a, b, n: put(a + b, n),
    "sub": lambda a, b, n: put(a - b, n),
    "mul": lambda a, b, n: put(a * b, n),
    "div": quotient(trunc_quotient),
    "truncdiv": quotient(trunc_quotient),
    "truncmod": quotient(lambda a, b: a - b * trunc_quotient(a, b)),
    "floordiv": quotient(operator.floordiv),
    "floormod": quotient(operator.mod),
    "ceildiv": ceildiv,
    "max": lambda a, b, n: max(a, b),
    "min": lambda a, b, n: min(a, b),
    "bitwise_and": lambda a, b, n: a & b,
    "bitwise_or": lambda a, b, n: a | b,
    "bitwise_xor": lambda a, b, n: a ^ b,
    "shift_left": shifted_left,
    "shift_right": shifted_right,
    "abs": lambda a, n: put(abs(a), n),
    "bitwise_not": lambda a, n: wrapped(~a, n),
    "popcount": lambda a, n: wrapped((a % 2 ** bits_of(n)).bit_count(), n),
}
COMPARE = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def exactly(of):
    """A function of two finite rationals; everything else is as Python's floats have it."""

    def value(a, b, name):
        if math.isfinite(a) and math.isfinite(b):
            found = of(Fraction(a), Fraction(b))
            return signed_zero(of, a, b) if found == 0 else found
        return of(a, b)

    return value


def signed_zero(of, a, b):
    """The sign of an exact zero: IEEE 754, 6.3. Python's own operators have it for zero operands and a - a."""
    if of is operator.mul:
        return math.copysign(1, a) * math.copysign(0.0, b)
    return of(a, b) if of in (operator.add, operator.sub) else math.copysign(0.0, a)


def divided(a, b, name):
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
        return math.nan
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isinf(a) or b == 0:
        return math.copysign(math.inf, sign)
    if a == 0 or math.isinf(b):
        return math.copysign(0.0, sign)
    return Fraction(a) / Fraction(b)


def remainder(a, b, name):
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        return math.nan
    if math.isinf(b) or a == 0:
        return exact(a)
    left = abs(Fraction(a)) % abs(Fraction(b))
    return (left if a > 0 else -left) if left else math.copysign(0.0, a)


def next_after(a, b, name):
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return exact(b)
    return beside(a, b > a, name)


def beside(a, up, name):
    """The next value of the dtype, found by bisection on what rounds to `a`: doubling steps until it changes."""
    table = values_of(name)
    if table is not None:
        near = next((v for v in (table if up else table[::-1]) if (v > a if up else v < a)), NO)
        return math.copysign(0.0, a) if near == 0 else exact(near)
    kind = np.float32 if name == "float32" else np.float64
    with np.errstate(all="ignore"):
        return exact(float(np.nextafter(kind(a), kind(math.inf if up else -math.inf))))


@cache
def values_of(name):
    """All values of a dtype of at most 16 bits in order."""
    kind = stored(name)
    if kind.itemsize > 2:
        return None
    width = {"float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4}.get(name, 8 * kind.itemsize)
    with np.errstate(all="ignore"):
        codes = np.arange(1 << width, dtype=f"u{kind.itemsize}").view(kind).astype(np.float64)
    return sorted({float(v) for v in codes if not math.isnan(v)})


def keeps_sign(of):
    """Rounding to an integer: a zero result has the sign of the operand."""

    def value(a, name):
        if not math.isfinite(a):
            return a
        found = Fraction(of(Fraction(a)))
        return found or math.copysign(0.0, a)

    return value


def has_sign(b):
    return not math.isnan(b) and math.copysign(1, b) < 0


FLOATING = {
    "add": exactly(operator.add),
    "sub": exactly(operator.sub),
    "mul": exactly(operator.mul),
    "div": divided,
    "truncmod": remainder,
    "fmod": remainder,
    "max": lambda a, b, n: exact(max(b, a)),
    "min": lambda a, b, n: exact(min(b, a)),
    "copysign": lambda a, b, n: exact(-abs(a) if has_sign(b) else abs(a)),
    "nextafter": next_after,
    "abs": lambda a, n: exact(abs(a)),
    "ceil": keeps_sign(math.ceil),
    "floor": keeps_sign(math.floor),
    "trunc": keeps_sign(math.trunc),
    "round": keeps_sign(round),
    "nearbyint": keeps_sign(round),
}
CLASSES = {
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
}


def in_format(value, name):
    if value is NO:
        return NO
    found = rounded(value, name)
    return NO if found is None else found


def cast(value, source, target):
    """The clauses NUM-701 to NUM-704; NO where it is undefined."""
    if target == "bool":
        return bool(value != 0 or (isinstance(value, float) and math.isnan(value)))
    if is_int(target):
        if isinstance(value, float):
            if not math.isfinite(value):
                return NO
            low, high = limits(target)
            whole = math.trunc(value)
            return whole if low <= whole <= high else NO
        return wrapped(int(value), target)
    found = rounded(exact(value) if isinstance(value, float) else Fraction(int(value)), target)
    return NO if found is None else found


def fused(x, y, z):
    """The number x * y + z; a zero as IEEE 754 has it: of numbers that cancel 0, else as the sum of zeros."""
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z
    return Fraction(x) * Fraction(y) + Fraction(z) or x * y + z


def scaled(x, power):
    """A number times 2**power, which beyond 10000 either way is what it is there."""
    if not math.isfinite(x) or x == 0:
        return x
    return Fraction(x) * Fraction(2) ** max(-10000, min(power, 10000))


# ---------------------------------------------------------------------------------------------- whole functions

NAN_CODES = {
    "float16": 0x7E00,
    "bfloat16": 0x7FC0,
    "float32": 0x7FC00000,
    "float64": 0x7FF8 << 48,
    "float8_e5m2": 0x7E,
    "float8_e4m3": 0x7C,
    "float8_e3m4": 0x78,
    "float8_e4m3fn": 0x7F,
    "float8_e4m3fnuz": 0x80,
    "float8_e5m2fnuz": 0x80,
    "float8_e4m3b11fnuz": 0x80,
    "float8_e8m0fnu": 0xFF,
}
SIGNS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "floormod",
    ast.Invert: "bitwise_not",
    ast.Not: "not",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
CALLED = {"fabs": "abs", "Div": "div"}
LOGIC = {"bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor}
LOGIC |= {"not": operator.not_, "bitwise_not": operator.not_, "likely": bool}


class Function:
    """A function that computes elements of `R` one by one: `R[i] = …`."""

    def __init__(self, function):
        self.dtypes = {each.arg: _dtype(each.annotation) for each in function.args.args}
        stores = [node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.AugAssign)]
        loads = [node for node in ast.walk(function) if isinstance(node, ast.Subscript) and _name(node) in self.dtypes]
        if len(stores) != 1 or len({ast.unparse(node.slice) for node in loads}) != 1 or _has_more(function):
            raise NoWitness("no elementwise function")
        [target] = stores[0].targets
        self.result, self._form = _name(target), stores[0].value

    def at(self, operands):
        """The value of an element, by its operands; NO where there is none."""
        return self._value(self._form, operands)[0]

    def ends_at(self, operands):
        """The least and the greatest value that the bound of a transcendental leaves, rounded."""
        name = self.dtypes[self.result]
        op, args = _operator(self._form)
        point = [self._value(arg, operands)[0] for arg in args]
        return enclosed(op, point, name)

    @property
    def is_transcendental(self):
        """Whether it is one call of an operator that has a bound."""
        return isinstance(self._form, ast.Call) and _operator(self._form)[0] in BOUNDS

    def _value(self, node, operands):
        """Value and dtype of an expression."""
        match node:
            case ast.Subscript():
                return operands[_name(node)], self.dtypes[_name(node)]
            case ast.Call(func=ast.Attribute(attr="Cast"), args=[ast.Constant(value=target), arg]):
                value, source = self._value(arg, operands)
                return (NO if value is NO else cast(value, source, target)), target
            case ast.Call(func=ast.Attribute(attr="reinterpret"), args=[ast.Constant(value=target), arg]):
                value, source = self._value(arg, operands)
                return reinterpreted(value, source, target), target
            case ast.Call(func=ast.Attribute(attr="float32"), args=[ast.Constant(value=value)]):
                return float(value), "float32"
            case ast.Call(func=ast.Attribute(attr="q_multiply_shift" | "q_multiply_shift_per_axis" as op), args=args):
                numbers = [self._value(args[0], operands)[0], *map(_number, args[1:])]
                return fixed(op, *numbers), "int32"
        op, args = _operator(node)
        values = [self._value(arg, operands) for arg in args]
        if any(value is NO for value, _ in values):
            return NO, values[0][1]
        return applied(op, [value for value, _ in values], values[0][1])


@cache
def of_mpmath(op, *point):
    """The exact value at a point in hexadecimal: 0 and -0 are two points."""
    return value_at(op, tuple(map(float.fromhex, point)))


def applied(op, values, name):
    """An operator on values of a dtype: what it gives, and its dtype."""
    if op in COMPARE:
        return COMPARE[op](*values), "bool"
    if op in CLASSES:
        return CLASSES[op](*values), "bool"
    if name == "bool" and op in LOGIC:
        return LOGIC[op](*values), "bool"
    if op == "clz":
        return bits_of(name) - (values[0] % 2 ** bits_of(name)).bit_length(), "int32"
    if op == "ldexp":
        return in_format(scaled(*values), name), name
    if op == "fma":
        return in_format(fused(*values), name), name
    if op in BOUNDS:
        return in_format(exact(of_mpmath(op, *map(float.hex, values))), name), name
    table = INTEGER if is_int(name) else FLOATING
    if op not in table or name == "bool":
        raise NoWitness(f"{op} of {name}")
    value = table[op](*values, name)
    return (value if is_int(name) else in_format(value, name)), name


def enclosed(op, point, name):
    """The least and the greatest value of a dtype within the bound of the clause: units of binary64, then rounded."""
    found = exact(of_mpmath(op, *map(float.hex, point)))
    room = 0
    if isinstance(found, Fraction) and name in ("float32", "float64") and abs(found) < Fraction(2) ** 1023:
        room = BOUNDS[op] * Fraction(math.ulp(float(abs(found))))
    return in_format(found - room if room else found, name), in_format(found + room if room else found, name)


def reinterpreted(value, source, target):
    """The value of another dtype with the same bits; NaN has one code."""
    if value is NO:
        return NO
    if isinstance(value, float) and math.isnan(value):
        codes = np.array([NAN_CODES[source]], f"u{stored(source).itemsize}")
    else:
        codes = np.array([value], stored(source) if is_int(source) else np.float64).astype(stored(source))
    found = codes.view(stored(target))[0]
    return int(found) if is_int(target) else float(found)


def fixed(op, x, y, *shifts):
    """A fixed-point product, floor(x * y * 2**s + 1/2)."""
    if op == "q_multiply_shift":
        q, s = shifts
        power = s - q
    else:
        left, right, q, is_left, _ = shifts
        power = (left if is_left else 0) - right - q
    return math.floor(Fraction(x * y) * Fraction(2) ** power + Fraction(1, 2))


def _operator(node):
    match node:
        case ast.BinOp(left=a, op=op, right=b):
            return SIGNS[type(op)], [a, b]
        case ast.Compare(left=a, ops=[op], comparators=[b]):
            return SIGNS[type(op)], [a, b]
        case ast.UnaryOp(op=ast.Invert() | ast.Not() as op, operand=a):
            return SIGNS[type(op)], [a]
        case ast.Call(func=ast.Attribute(attr=name), args=args):
            return CALLED.get(name, name), args
    raise NoWitness(ast.unparse(node))


def _number(node):
    return ast.literal_eval(node.args[0] if isinstance(node, ast.Call) else node)


def _name(node):
    return node.value.id if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else ""


def _dtype(annotation):
    match annotation:
        case ast.Call(args=[ast.Tuple(elts=[ast.Constant()]), ast.Constant(value=str(name))]):
            return name
    raise NoWitness("no buffer of one dimension")


def _has_more(function):
    return any(isinstance(node, ast.If | ast.While | ast.With | ast.Return) for node in ast.walk(function))
