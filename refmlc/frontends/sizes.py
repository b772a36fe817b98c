"""Sizes that PyTorch knows by symbols (SymPy's expressions), as expressions over symbolic dimensions.

| SymPy                     | here                                    |
|---------------------------|-----------------------------------------|
| symbol                    | a variable of int64, one for each name  |
| number                    | a constant                              |
| sum, product              | `+`, `*`                                |
| floor division, Mod, Max  | `//`, `%`, `max`                        |
"""

from dataclasses import dataclass, field

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.lang import te
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import tir
from refmlc.lang.te import Value


@dataclass
class Sizes:
    """The variables made so far, by the names of their symbols."""

    symbols: dict[str, tir.Var] = field(default_factory=dict)

    def expr(self, size: object) -> tir.Expr:
        """A size as an expression."""
        if isinstance(size, int):
            return tir.IntImm(INT64, size)
        inner = getattr(getattr(size, "node", None), "expr", None)
        if inner is None:
            raise fail(UNSUPPORTED_OP, f"a size is {type(size).__name__}: a number or a symbol is needed")
        return self.value(inner).expr

    def value(self, expr: object) -> Value:
        """An expression of SymPy."""
        kind, args = type(expr).__name__, getattr(expr, "args", ())
        if getattr(expr, "is_Integer", False):
            return te.const(int(str(expr)), "int64")
        if getattr(expr, "is_Symbol", False):
            name = str(expr)
            return Value(self.symbols.setdefault(name, tir.Var(name, INT64)))
        parts = [self.value(one) for one in args]
        found = parts[0] if parts else None
        for one in parts[1:]:
            match kind:
                case "Add":
                    found = found + one if found is not None else one
                case "Mul":
                    found = found * one if found is not None else one
                case "FloorDiv" | "CleanDiv" | "IntTrueDiv":
                    found = found // one if found is not None else one
                case "Mod" | "PythonMod":
                    found = found % one if found is not None else one
                case "Max":
                    found = te.maximum(found, one) if found is not None else one
                case "Min":
                    found = te.minimum(found, one) if found is not None else one
                case _:
                    found = None
        if found is None:
            raise fail(UNSUPPORTED_OP, f"a size is `{expr}`: `{kind}` of sizes is not supported")
        return found
