"""Expressions in messages, proofs and reasons: as short as a person writes them, and no TVMScript.

Symbols, and where parentheses stand, follow from the rows of the operators (`names.INFIX`). A conversion shows as its
operand; a node for which there is no short form shows as `…`.
"""

from refmlc.lang.ir import tir
from refmlc.lang.ops.names import INFIX, Infix
from refmlc.lang.ops.notation import PRECEDENCE, Precedence

Text = tuple[str, Precedence]
"""A text, and how strongly its outermost operator binds."""

LOGICAL = {symbol: Infix(symbol, PRECEDENCE[symbol]) for symbol in ("and", "or")}


def short_text(expr: tir.Expr | int) -> str:
    """`i * 4 + j`, `A[i]`, `max(n, 1)`."""
    return str(expr) if isinstance(expr, int) else _text(expr)[0]


def access_text(node: tir.BufferLoad | tir.BufferStore) -> str:
    """`A[i, j]`."""
    return f"{node.buffer.name}[{', '.join(map(short_text, node.indices))}]"


def _text(expr: tir.Expr) -> Text:
    match expr:
        case tir.Var():
            return expr.name, Precedence.ATOM
        case tir.IntImm(value=value):
            return str(value), Precedence.ATOM if value >= 0 else Precedence.UNARY
        case tir.BufferLoad():
            return access_text(expr), Precedence.ATOM
        case tir.Cast():
            return _text(expr.value)
        case tir.Apply(op, (a, b)) if op in INFIX:
            return _between(INFIX[op], a, b)
        case tir.And(a, b):
            return _between(LOGICAL["and"], a, b)
        case tir.Or(a, b):
            return _between(LOGICAL["or"], a, b)
        case tir.Apply(op, args):
            return f"{op}({', '.join(short_text(arg) for arg in args)})", Precedence.ATOM
        case _:
            return "…", Precedence.ATOM


def _between(infix: Infix, a: tir.Expr, b: tir.Expr) -> Text:
    """`a symbol b`: operators of one strength group from the left, comparisons do not."""
    left, right = _text(a), _text(b)
    grouped = left[1] > infix.precedence or (left[1] == infix.precedence != Precedence.COMPARE)
    first = left[0] if grouped else f"({left[0]})"
    second = right[0] if right[1] > infix.precedence else f"({right[0]})"
    return f"{first} {infix.symbol} {second}", infix.precedence
