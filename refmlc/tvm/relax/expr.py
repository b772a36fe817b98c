"""`tvm.relax.expr`: the same names as `tvm.relax` has for expressions."""

from refmlc.lazy import load
from refmlc.tvm.missing_names import missing

NAMES = (
    "Call",
    "Constant",
    "DataflowVar",
    "Expr",
    "ExternFunc",
    "Function",
    "If",
    "PrimValue",
    "SeqExpr",
    "ShapeExpr",
    "StringImm",
    "Tuple",
    "TupleGetItem",
    "Var",
    "const",
)


def __getattr__(name: str) -> object:
    """An expression's class. Fails: for every name that is not here."""
    if name not in NAMES:
        raise missing(__name__, name, NAMES)
    value: object = getattr(load("refmlc.tvm.relax"), name)
    return value
