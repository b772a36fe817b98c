"""Operators that people write with less than the graph has: what TVM's functions of the same names fill in.

| text                               | the call                                                              |
|------------------------------------|-----------------------------------------------------------------------|
| `R.arange(5)`, `R.arange(1, 5)`    | `R.arange(0, 5, 1)`, `R.arange(1, 5, 1)`                              |
| … without `dtype`                  | `dtype="int64"` where all numbers are integers, else `"float32"`      |
| `R.unique(x, axis=0)`              | `R.unique(x, True, False, False, False, 0)`                           |
| `R.linear(x, w, b)`                | `R.add(R.matmul(x, R.permute_dims(w)), b)`                            |
"""

from dataclasses import replace

from refmlc.lang.ir import relax
from refmlc.lang.ir.types import PrimType
from refmlc.lang.script.reader.arguments import NOWHERE, REQUIRED, CallSite
from refmlc.lang.script.reader.relax_values import expr_of
from refmlc.lang.script.reader.values import Meta

_FLAGS = {"sorted": True, "return_index": False, "return_inverse": False, "return_counts": False}
_UNIQUE = ("x", *_FLAGS, "axis")


def arange(site: CallSite) -> CallSite:
    """All numbers, and the dtype."""
    values = site.take(start=REQUIRED, end=None, step=1, dtype=None)
    numbers = (values["start"], values["end"], values["step"])
    if values["end"] is None:
        numbers = (0, values["start"], values["step"])
    dtype = values["dtype"]
    if dtype is None:
        dtype = "int64" if all(_is_integer(expr_of(item, site.span)) for item in numbers) else "float32"
    return replace(site, args=numbers, kwargs={"dtype": dtype}, places=NOWHERE)


def _is_integer(number: relax.Expr) -> bool:
    match number:
        case relax.PrimValue(value):
            return value.dtype.is_integer
        case relax.Var(ty=PrimType(dtype=dtype)):
            return dtype is not None and dtype.is_integer
        case _:
            return False


def unique(site: CallSite) -> CallSite:
    """What is left out before an argument that is given."""
    last = max(
        (_UNIQUE.index(key) for key, arg in site.kwargs.items() if key in _UNIQUE and arg is not None), default=0
    )
    filled = {key: _FLAGS[key] for key in _UNIQUE[len(site.args) : last] if key in _FLAGS and key not in site.kwargs}
    return replace(site, kwargs={**site.kwargs, **filled})


def linear(site: CallSite) -> Meta:
    """The product with the transposed weights, and the bias added."""
    values = site.take(data=REQUIRED, weight=REQUIRED, bias=None, out_dtype=None)
    data, weight = (expr_of(values[key], site.place(key, at)) for at, key in enumerate(("data", "weight")))
    turned = _call(site, "permute_dims", weight)
    attrs = {} if values["out_dtype"] is None else {"out_dtype": str(values["out_dtype"])}
    product = replace(_call(site, "matmul", data, turned), attrs=attrs)
    if values["bias"] is None:
        return product
    return _call(site, "add", product, expr_of(values["bias"], site.place("bias", 2)))


def _call(site: CallSite, name: str, *args: relax.Expr) -> relax.Call:
    return relax.Call(relax.Op(name, span=site.span), args, span=site.span)


FILLED = {"arange": arange, "unique": unique}
"""Operators whose arguments are filled in, by name."""
