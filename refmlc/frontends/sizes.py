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
        parts = [self.value(arg) for arg in args]
        result = parts[0] if parts else None
        for item in parts[1:]:
            match kind:
                case "Add":
                    result = result + item if result is not None else item
                case "Mul":
                    result = result * item if result is not None else item
                case "FloorDiv" | "CleanDiv" | "IntTrueDiv":
                    result = result // item if result is not None else item
                case "Mod" | "PythonMod":
                    result = result % item if result is not None else item
                case "Max":
                    result = te.maximum(result, item) if result is not None else item
                case "Min":
                    result = te.minimum(result, item) if result is not None else item
                case _:
                    result = None
        if result is None:
            raise fail(UNSUPPORTED_OP, f"a size is `{expr}`: `{kind}` of sizes is not supported")
        return result
