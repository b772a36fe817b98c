"""Operators and conversions on numbers, as C.

| operator                        | dtypes           | C                    |
|---------------------------------|------------------|----------------------|
| add sub mul div                 | float32, float64 | `(a + b)`            |
| eq ne lt le gt ge               | every            | `(a == b)`           |
| likely                          | every            | its operand          |
| every other                     | every            | `rm_<op>_<dtype>(…)` |
"""

from collections.abc import Sequence

from refmlc.lang.dtypes import DType
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.native.kernels import ARITHMETIC, COMPARISONS, supports
from refmlc.native.tile.headers import Needs, NoForm
from refmlc.native.tile.terms import NATIVE_FLOATS, Term


def apply(needs: Needs, op: str, args: Sequence[Term], result: DType) -> Term:
    """The operator on numbers."""
    dtype = args[0].dtype
    texts = [arg.text for arg in args]
    if op == "likely":
        return args[0]
    if op in COMPARISONS:
        return Term(f"({texts[0]} {COMPARISONS[op]} {texts[1]})", result)
    if op in ARITHMETIC and dtype.element in NATIVE_FLOATS:
        return Term(f"({texts[0]} {ARITHMETIC[op]} {texts[1]})", result, exact=False)
    return Term(f"{helper(needs, op, [arg.dtype for arg in args])}({', '.join(texts)})", result, exact=False)


def helper(needs: Needs, op: str, operands: Sequence[DType]) -> str:
    """The name of the helper for operands of these dtypes."""
    if op not in SCALAR_OPS or op == "reinterpret" or not supports(op, operands):
        raise NoForm(f"`{op}` of {', '.join(map(str, operands))} has no form in a tile")
    return needs.helper(op, operands[0].element)


def cast(needs: Needs, arg: Term, target: DType) -> Term:
    """`arg`, a number, as one of `target`."""
    if arg.dtype.element == target.element:
        return arg
    return Term(f"{needs.cast(arg.dtype, target)}({arg.text})", target, exact=False)


def choice(condition: Term, a: Term, b: Term) -> Term:
    """One of two terms of the same shape by a bool."""
    return Term(f"({condition.text} ? {a.text} : {b.text})", a.dtype, a.lanes, a.bits, exact=a.exact and b.exact)
