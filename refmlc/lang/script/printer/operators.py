"""Operators as text: which have a symbol, how strongly it binds, and when the named form must stand instead.

TVM folds constants while it reads `x + 0` or `1 + 2`; such expressions are shown in the form that is not folded,
`T.Add(x, 0)`. The rule is that of TVM's own printer.

| operator           | folded, therefore named                                   |
|--------------------|-----------------------------------------------------------|
| all binary         | both operands constant                                    |
| `+`                | either 0                                                  |
| `-`, `<<`, `>>`    | the right one 0                                           |
| `*`                | either 0 or 1                                             |
| `/ // %` and kin   | the left one 0; the right one 1 or 0                      |
| `and`, `or`, `not` | an operand constant                                       |
"""

from refmlc.lang.ir import tir

OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(12)

SYMBOLS: dict[str, tuple[str, int]] = {
    "add": ("+", SUM),
    "sub": ("-", SUM),
    "mul": ("*", PRODUCT),
    "div": ("/", PRODUCT),
    "floordiv": ("//", PRODUCT),
    "floormod": ("%", PRODUCT),
    "eq": ("==", COMPARE),
    "ne": ("!=", COMPARE),
    "lt": ("<", COMPARE),
    "le": ("<=", COMPARE),
    "gt": (">", COMPARE),
    "ge": (">=", COMPARE),
    "shift_left": ("<<", SHIFT),
    "shift_right": (">>", SHIFT),
    "bitwise_and": ("&", BIT_AND),
    "bitwise_or": ("|", BIT_OR),
    "bitwise_xor": ("^", BIT_XOR),
}

NAMED: dict[str, str] = {
    "add": "T.Add",
    "sub": "T.Sub",
    "mul": "T.Mul",
    "div": "T.Div",
    "truncdiv": "T.Div",
    "floordiv": "T.FloorDiv",
    "floormod": "T.FloorMod",
    "eq": "T.EQ",
    "ne": "T.NE",
    "lt": "T.LT",
    "le": "T.LE",
    "gt": "T.GT",
    "ge": "T.GE",
    "not": "T.Not",
}
"""Names that are not `T.` and the operator's own."""

_COUNTED = frozenset(("div", "truncdiv", "floordiv", "floormod", "truncmod"))
_NO_RIGHT_ZERO = frozenset(("sub", "shift_left", "shift_right"))


def named(op: str) -> str:
    """The function that the named form calls."""
    return NAMED.get(op, f"T.{op}")


def constant_of(node: tir.Expr) -> float | int | None:
    """The value of a constant."""
    return node.value if isinstance(node, (tir.IntImm, tir.FloatImm)) else None


def folds(op: str, args: tuple[tir.Expr, ...]) -> bool:
    """Whether TVM would simplify the operator while it reads it."""
    values = [constant_of(arg) for arg in args]
    if all(value is not None for value in values):
        return True
    if len(values) != 2:
        return False
    left, right = values
    if op == "add":
        return 0 in (left, right)
    if op in _NO_RIGHT_ZERO:
        return right == 0
    if op == "mul":
        return left in (0, 1) or right in (0, 1)
    return op in _COUNTED and (left == 0 or right in (0, 1))
