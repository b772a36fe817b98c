"""Arithmetic on host values: what Python's operators give on literals, bounded in size and time.

| operator               | host operands                | result                              |
|------------------------|------------------------------|-------------------------------------|
| `+ - * // % / **`      | int, float, bool             | as Python                           |
| `<< >> & pipe ^ ~`     | int, bool                    | as Python                           |
| `+`                    | str, list, tuple             | concatenation                       |
| `*`                    | str, list or tuple, and int  | repetition                          |
| `== != < <= > >=`      | int, float, str, bool, None  | as Python                           |
| `== != < <= > >=`      | lists or tuples of these     | as Python                           |
| `in`, `not in`         | such a value, a container    | as Python                           |
| `is`, `is not`         | one of them None, True, False | as Python                          |

Fails: RM606 a result of more than 256 bits or `ITEMS` items, RM107 a division by zero, NaN; RM103 other operands.
"""

import ast
import math
import operator
from collections.abc import Callable
from typing import cast

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import BAD_LITERAL, NOT_TVMSCRIPT
from refmlc.lang.script.reader.budget import ITEMS, exhausted, size_of
from refmlc.lang.script.reader.values import Meta, described

BITS = 256
_SCALARS = (int, float, str, bool, type(None))

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}

_Number = int | float
_ARITHMETIC: dict[str, Callable[[_Number, _Number], _Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_BITWISE: dict[str, Callable[[int, int], int]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
_TESTS = frozenset(("in", "not in", "is", "is not"))
_ORDER: dict[str, Callable[[_Number, _Number], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def host_binary(symbol: str, a: Meta, b: Meta, span: Span) -> Meta:
    """`a symbol b` on host values."""
    match a, b:
        case (int() | float(), int() | float()) if symbol not in _TESTS:
            return _numbers(symbol, a, b, span)
        case (str(), str()) | (list(), list()) | (tuple(), tuple()) if symbol == "+":
            return cast("Meta", operator.add(*_limited(symbol, a, b, size_of(a) + size_of(b), span)))
        case ((list() | tuple() | str()) as items, int(count)) | (int(count), (list() | tuple() | str()) as items) if (
            symbol == "*"
        ):
            size = len(items) if isinstance(items, str) else size_of(items)
            return cast("Meta", operator.mul(*_limited(symbol, items, count, size * max(count, 0), span)))
    if (symbol in _TESTS or symbol in ("==", "!=", *_ORDER)) and is_constant(a) and is_constant(b):
        return _test(symbol, a, b, span)
    raise _no_meaning(symbol, a, b, span)


def is_constant(value: Meta) -> bool:
    """Whether `value` is plain data: a number, a string, None, or a container of such data."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, (list, tuple)):
            stack.extend(part)
        elif isinstance(part, dict):
            stack.extend((*part.keys(), *part.values()))
        elif not isinstance(part, _SCALARS):
            return False
    return True


def _no_meaning(symbol: str, a: Meta, b: Meta, span: Span) -> RefmlcError:
    return fail(NOT_TVMSCRIPT, f"`{symbol}` has no meaning on {described(a)} and {described(b)}", span)


def _limited(symbol: str, a: Meta, b: Meta, size: int, span: Span) -> tuple[Meta, Meta]:
    """The operands, if the result has not too many items."""
    if size > ITEMS:
        raise exhausted(f"the result of `{symbol}` has more than {ITEMS} items", span)
    return a, b


def _test(symbol: str, a: Meta, b: Meta, span: Span) -> bool:
    """A comparison of constants."""
    if symbol in ("is", "is not"):
        if not any(part is None or isinstance(part, bool) for part in (a, b)):
            raise _no_meaning(symbol, a, b, span)
        return (a is b) is (symbol == "is")
    if symbol in ("==", "!="):
        return (a == b) is (symbol == "==")
    try:
        if symbol in ("in", "not in"):
            return operator.contains(cast("str", b), cast("str", a)) is (symbol == "in")
        return _ORDER[symbol](cast("int", a), cast("int", b))
    except TypeError:
        raise _no_meaning(symbol, a, b, span) from None


def host_unary(symbol: str, a: Meta, span: Span) -> Meta:
    """`symbol a` on a host value."""
    match symbol, a:
        case "not", bool() | int() | float() | str() | None | list() | tuple() | dict():
            return not a
        case "-", int() | float():
            return -a
        case "+", int() | float():
            return +a
        case "~", int():
            return -1 - a
        case _:
            raise fail(NOT_TVMSCRIPT, f"`{symbol}` has no meaning on {described(a)}", span)


def _numbers(symbol: str, a: _Number, b: _Number, span: Span) -> Meta:
    if symbol in ("==", "!="):
        return (a == b) is (symbol == "==")
    if symbol in _ORDER:
        return _ORDER[symbol](a, b)
    result: _Number | None = None
    try:
        if symbol in _ARITHMETIC:
            result = _ARITHMETIC[symbol](a, b)
        elif isinstance(a, int) and isinstance(b, int):
            result = _integers(symbol, a, b, span)
        elif symbol == "**":
            result = math.pow(a, b)
    except (ZeroDivisionError, OverflowError, ValueError) as bad:
        raise fail(BAD_LITERAL, f"{described(a)} {symbol} {described(b)}: {bad}", span) from None
    if result is None:
        raise _no_meaning(symbol, a, b, span)
    if isinstance(result, int) and result.bit_length() > BITS:
        raise exhausted(f"the result of `{symbol}` has more than {BITS} bits", span)
    return result


def _integers(symbol: str, a: int, b: int, span: Span) -> int | float | None:
    if symbol in _BITWISE:
        return _BITWISE[symbol](a, b)
    if symbol == "<<":
        if b < 0:
            raise fail(BAD_LITERAL, f"the shift count is {described(b)}", span)
        if b > BITS:
            raise exhausted(f"the result of `<<` has more than {BITS} bits", span)
        return a << b
    if symbol == ">>":
        if b < 0:
            raise fail(BAD_LITERAL, f"the shift count is {described(b)}", span)
        return a >> min(b, 1 << 20)
    if symbol == "**":
        if b < 0:
            return float(a) ** b
        if b * max(a.bit_length(), 1) > 2 * BITS:
            raise exhausted(f"the result of `**` has more than {BITS} bits", span)
        return int(a**b)
    return None
