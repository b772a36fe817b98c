"""Expressions in short, and functions read from text."""

from refmlc.lang.dtypes import BOOL, INT32
from refmlc.lang.ir import tir
from refmlc.lang.script import read

PRELUDE = "from tvm.script import tirx as T\n"


def var(name, kind=INT32):
    return tir.Var(name, kind)


def number(value, kind=INT32):
    return tir.IntImm(kind, value)


def op(name, *args):
    """An operator on expressions and numbers, in the dtype of the first expression."""
    kind = next(arg.dtype for arg in args if not isinstance(arg, int))
    operands = tuple(number(arg, kind) if isinstance(arg, int) else arg for arg in args)
    compares = name in ("lt", "le", "gt", "ge", "eq", "ne")
    return tir.Apply(name, operands, BOOL if compares else kind)


def function(text):
    """The function in `text`."""
    module = read(PRELUDE + text, "test.py")
    return next(iter(module.functions.values()))
