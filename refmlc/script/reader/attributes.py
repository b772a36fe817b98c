"""A meta-value as an attribute: plain data and nodes stay, what has no place in the IR is refused.

Lists become tuples; a construct that names a dtype becomes the dtype.
"""

from typing import cast

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.dtypes import SCALARS, DType
from refmlc.ir.attrs import CommReducer, IndexMap, Target
from refmlc.ir.node import Node
from refmlc.ir.tir import Attr
from refmlc.script.reader.values import Construct, Meta, described

DTYPE_NAMES: dict[str, DType] = {f"T.{name}": row for name, row in SCALARS.items()}
"""Constructs that name a dtype: `T.float32`."""

_KEPT = (bool, int, float, str, type(None), DType, Node, CommReducer, IndexMap, Target)


def attr_of(value: Meta, span: Span) -> Attr:
    """The attribute that `value` is. Fails with RM105."""
    if isinstance(value, (list, tuple)):
        return tuple(attr_of(item, span) for item in value)
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise fail(BAD_ARGUMENTS, "the keys of an attribute are strings", span)
        return {key: attr_of(item, span) for key, item in value.items()}
    if isinstance(value, Construct) and value.path in DTYPE_NAMES:
        return DTYPE_NAMES[value.path]
    if isinstance(value, _KEPT):
        return cast("Attr", value)
    raise fail(BAD_ARGUMENTS, f"{described(value)} cannot be an attribute", span)
