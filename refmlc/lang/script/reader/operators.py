"""Arithmetic on host values: what Python's operators give on literals, bounded in size and time.

| operator               | host operands                | result                              |
|------------------------|------------------------------|-------------------------------------|
| `+ - * // % / **`      | int, float, bool             | as Python                           |
| `<< >> & pipe ^ ~`     | int, bool                    | as Python                           |
| `+`                    | str, list, tuple             | concatenation                       |
| `*`                    | list or tuple, int           | repetition                          |
| `== != < <= > >=`      | int, float, str, bool, None  | as Python                           |
| `in`, `is` and so on   |                              | refused                             |

Fails: RM107 a result of more than 256 bits, a division by zero, NaN; RM103 other operands.
"""

import ast
import math
import operator
from collections.abc import Callable
from typing import cast

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_LITERAL, NOT_TVMSCRIPT
from refmlc.lang.script.reader.values import Meta, described

BITS = 256
ITEMS = 1 << 16

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
_ORDER: dict[str, Callable[[_Number, _Number], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def host_binary(symbol: str, a: Meta, b: Meta, span: Span) -> Meta:
    """`a symbol b` on host values."""
    match a, b:
        case (int() | float(), int() | float()):
            return _numbers(symbol, a, b, span)
        case (str(), str()) | (list(), list()) | (tuple(), tuple()) if symbol == "+":
            joined = operator.add(a, b)
            if len(joined) > ITEMS:
                raise fail(BAD_LITERAL, f"the result of `+` has {len(joined)} items", span)
            return cast("Meta", joined)
        case (list() | tuple(), int()) if symbol == "*":
            if len(a) * b > ITEMS:
                raise fail(BAD_LITERAL, f"the result of `*` has more than {ITEMS} items", span)
            return a * b
        case (str() | None | bool() | int() | float(), str() | None | bool() | int() | float()):
            if symbol == "==":
                return a == b
            if symbol == "!=":
                return a != b
        case _:
            pass
    raise fail(NOT_TVMSCRIPT, f"`{symbol}` has no meaning on {described(a)} and {described(b)}", span)


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
        raise fail(NOT_TVMSCRIPT, f"`{symbol}` has no meaning on {described(a)} and {described(b)}", span)
    if isinstance(result, int) and result.bit_length() > BITS:
        raise fail(BAD_LITERAL, f"the result of `{symbol}` has more than {BITS} bits", span)
    return result


def _integers(symbol: str, a: int, b: int, span: Span) -> int | float | None:
    if symbol in _BITWISE:
        return _BITWISE[symbol](a, b)
    if symbol == "<<":
        if not 0 <= b <= BITS:
            raise fail(BAD_LITERAL, f"the shift count is {described(b)}", span)
        return a << b
    if symbol == ">>":
        if b < 0:
            raise fail(BAD_LITERAL, f"the shift count is {described(b)}", span)
        return a >> min(b, 1 << 20)
    if symbol == "**":
        if b < 0:
            return float(a) ** b
        if b * max(a.bit_length(), 1) > 2 * BITS:
            raise fail(BAD_LITERAL, f"the result of `**` has more than {BITS} bits", span)
        return int(a**b)
    return None
