"""Expressions in messages, proofs and reasons: as short as a person writes them, and no TVMScript.

Symbols, and where parentheses stand, follow from the rows of the operators (`names.INFIX`). A conversion shows as its
operand; a node for which there is no short form shows as `…`.
"""

from refmlc.lang.ir import tir
from refmlc.lang.ops.names import INFIX, Infix
from refmlc.lang.ops.notation import BINDING, Binding

Text = tuple[str, Binding]
"""A text, and how strongly its outermost operator binds."""

LOGICAL = {symbol: Infix(symbol, BINDING[symbol]) for symbol in ("and", "or")}


def short_text(expr: tir.Expr | int) -> str:
    """`i * 4 + j`, `A[i]`, `max(n, 1)`."""
    return str(expr) if isinstance(expr, int) else _text(expr)[0]


def access_text(node: tir.BufferLoad | tir.BufferStore) -> str:
    """`A[i, j]`."""
    return f"{node.buffer.name}[{', '.join(map(short_text, node.indices))}]"


def _text(expr: tir.Expr) -> Text:
    match expr:
        case tir.Var():
            return expr.name, Binding.ATOM
        case tir.IntImm(value=value):
            return str(value), Binding.ATOM if value >= 0 else Binding.UNARY
        case tir.BufferLoad():
            return access_text(expr), Binding.ATOM
        case tir.Cast():
            return _text(expr.value)
        case tir.Apply(op, (a, b)) if op in INFIX:
            return _between(INFIX[op], a, b)
        case tir.And(a, b):
            return _between(LOGICAL["and"], a, b)
        case tir.Or(a, b):
            return _between(LOGICAL["or"], a, b)
        case tir.Apply(op, args):
            return f"{op}({', '.join(short_text(arg) for arg in args)})", Binding.ATOM
        case _:
            return "…", Binding.ATOM


def _between(infix: Infix, a: tir.Expr, b: tir.Expr) -> Text:
    """`a symbol b`: operators of one strength group from the left, comparisons do not."""
    left, right = _text(a), _text(b)
    grouped = left[1] > infix.binding or (left[1] == infix.binding != Binding.COMPARE)
    first = left[0] if grouped else f"({left[0]})"
    second = right[0] if right[1] > infix.binding else f"({right[0]})"
    return f"{first} {infix.symbol} {second}", infix.binding
