"""Tensors made of nothing, or like another."""

from collections.abc import Mapping, Sequence

from refmlc.frontends.arrays import dtype_name
from refmlc.frontends.aten.arithmetic import kind_of
from refmlc.frontends.emitter import Emitter, Operand, Size
from refmlc.frontends.rule import Rule
from refmlc.lang.ir import relax


def _dtype(dtype: Operand, otherwise: str) -> str:
    return otherwise if dtype is None else dtype_name(dtype)


def _of(value: Operand) -> str:
    """The dtype that PyTorch takes for a number of Python."""
    return "bool" if isinstance(value, bool) else "float32" if isinstance(value, float) else "int64"


def full(e: Emitter, size: Sequence[Size], fill_value: Operand, *, dtype: Operand = None) -> Operand:
    """One number everywhere."""
    kind = _dtype(dtype, _of(fill_value))
    return e.call("full", e.sizes(size), e.scalar(fill_value, kind), dtype=kind)


def filled(value: int) -> Rule:
    """The same number everywhere, in float32 where no dtype is given."""

    def rule(e: Emitter, size: Sequence[Size], *, dtype: Operand = None) -> Operand:
        kind = _dtype(dtype, "float32")
        return e.call("full", e.sizes(size), e.scalar(value, kind), dtype=kind)

    return rule


def like(value: int) -> Rule:
    """The same number everywhere, in the shape of another tensor."""

    def rule(e: Emitter, x: relax.Expr, *, dtype: Operand = None) -> Operand:
        return full_like(e, x, value, dtype=dtype)

    return rule


def full_like(e: Emitter, x: relax.Expr, fill_value: Operand, *, dtype: Operand = None) -> Operand:
    """One number everywhere, in the shape of another tensor."""
    kind = _dtype(dtype, e.dtype(x))
    return e.call("full", e.sizes(e.shape(x)), e.scalar(fill_value, kind), dtype=kind)


def arange(e: Emitter, *ends: Operand, dtype: Operand = None) -> Operand:
    """The numbers from the first to before the second, by steps."""
    start, stop, step = (0, ends[0], 1) if len(ends) == 1 else (*ends, 1)[:3]
    real = any(isinstance(end, float) for end in ends)
    kind = _dtype(dtype, "float32" if real else "int64")
    if kind_of(kind) != kind_of("float32"):
        start, stop, step = (int(item) if isinstance(item, bool | float) else item for item in (start, stop, step))
    if kind_of(kind) == kind_of("float32") and real:
        start, stop, step = (float(item) if isinstance(item, int) else item for item in (start, stop, step))
    return e.call("arange", start, stop, step, dtype=kind)


def scalar_tensor(e: Emitter, value: Operand, *, dtype: Operand = None) -> Operand:
    """A number as a tensor."""
    return e.scalar(value, _dtype(dtype, _of(value)))


def triangle(name: str) -> Rule:
    """The lower or the upper triangle, zeros elsewhere."""
    return lambda e, x, diagonal=0: e.call(name, x, diagonal)


CREATION: Mapping[str, Rule] = {
    "full": full,
    "zeros": filled(0),
    "ones": filled(1),
    "empty": filled(0),
    "zeros_like": like(0),
    "ones_like": like(1),
    "empty_like": like(0),
    "full_like": full_like,
    "new_zeros": lambda e, x, size, *, dtype=None: filled(0)(e, size, dtype=dtype or e.dtype(x)),
    "new_ones": lambda e, x, size, *, dtype=None: filled(1)(e, size, dtype=dtype or e.dtype(x)),
    "new_full": lambda e, x, size, value, *, dtype=None: full(e, size, value, dtype=dtype or e.dtype(x)),
    "arange": arange,
    "scalar_tensor": scalar_tensor,
    "tril": triangle("tril"),
    "triu": triangle("triu"),
}
