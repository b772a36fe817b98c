"""Whether the sign of a zero follows from a program, where a certificate says that an element is exactly 0.

An enclosure has one zero. A sum or difference is exactly 0 only where its operands are exact, so that IEEE 754 says
which zero it is, in any permitted evaluation; a factor may be near 0 on either side, and then 0 times it has either
sign. So the sign counts only in a module in which every store is of a value in this table:

| value                                             | the sign of its zero                                           |
|---------------------------------------------------|----------------------------------------------------------------|
| fixed: constants, elements of arguments, and what | its own: no permitted evaluation has another value             |
| operators with exact results make of these        |                                                                |
| `a + b`, `a - b`, a cast to a wider format        | follows from those of the operands                             |
| a number times, or divided by, a constant not 0   | the same                                                       |
| a product or quotient of fixed values             | the same                                                       |
| a choice; every condition is of fixed values      | that of the value that is taken                                |
| a load of what the module has stored              | that of the store                                              |
| anything else; a reduction, whose order is free   | unknown: both zeros are permitted, in the whole module         |
"""

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.statements import stored_buffers
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.contract import Accuracy
from refmlc.lang.ops.scalar import SCALAR_OPS

SUMS = ("add", "sub")
PRODUCTS = ("mul", "div")


def signs_follow(module: IRModule, entry: str) -> bool:
    """Whether the sign of each exact zero follows from the program; `entry` is the function that is called."""
    functions = {name: each for name, each in module.functions.items() if isinstance(each, tir.PrimFunc)}
    return all(_Signs(each, is_entry=name == entry).follow() for name, each in functions.items())


class _Signs:
    """Decides for one function. `is_entry`: what is never stored to is an argument of the caller, so it is fixed."""

    def __init__(self, function: tir.PrimFunc, *, is_entry: bool) -> None:
        self._function = function
        self._numbers = set(function.params) if is_entry else set()
        self._arguments = set(function.buffer_map.values()) - stored_buffers(function.body) if is_entry else set()

    def follow(self) -> bool:
        """Whether each store, condition and binding is of the table."""
        return all(map(self._is_known, walk(self._function.body)))

    def _is_known(self, node: object) -> bool:
        match node:
            case tir.SBlock():
                return not any(axis.kind is IterKind.REDUCE for axis in node.iter_vars)
            case tir.BufferStore():
                return self._signed(node.value)
            case tir.Call() | tir.DeclBuffer() | tir.BufferData() | tir.MatchBufferRegion() | tir.Let():
                return False
            case tir.Bind():
                return not node.value.dtype.is_float
            case tir.Cast() if not node.dtype.is_float:
                return not node.value.dtype.is_float or self._fixed(node.value)
            case tir.Apply() if not node.dtype.is_float:  # comparisons decide what is taken
                return all(not arg.dtype.is_float or self._fixed(arg) for arg in node.args)
            case _:
                return True

    def _fixed(self, expr: tir.Expr) -> bool:
        """Whether no permitted evaluation gives the expression another value."""
        for node in walk(expr):
            match node:
                case tir.BufferLoad() if node.dtype.is_float and node.buffer not in self._arguments:
                    return False
                case tir.Var() if node.dtype.is_float and node not in self._numbers:
                    return False
                case tir.Apply() if node.dtype.is_float and not _is_exact(node):
                    return False
                case tir.Call() | tir.Let():
                    return False
        return True

    def _signed(self, expr: tir.Expr) -> bool:
        """Whether the sign of the zero follows where the expression is exactly 0."""
        if not expr.dtype.is_float or self._fixed(expr):
            return True
        match expr:
            case tir.BufferLoad():
                return True
            case tir.Apply(op=op, args=(a, b)) if op in SUMS:
                return self._signed(a) and self._signed(b)
            case tir.Apply(op=op, args=(a, tir.FloatImm() as b)) if op in PRODUCTS:
                return self._fixed(a) or (b.value != 0.0 and self._signed(a))
            case tir.Apply(op="mul", args=(tir.FloatImm() as a, b)):
                return self._fixed(b) or (a.value != 0.0 and self._signed(b))
            case tir.Apply(op=op, args=(a, b)) if op in PRODUCTS:
                return self._fixed(a) and self._fixed(b)
            case tir.Cast(value=value):
                return not value.dtype.is_float or (value.dtype.bits < expr.dtype.bits and self._signed(value))
            case tir.Select(true_value=a, false_value=b) | tir.IfThenElseExpr(true_value=a, false_value=b):
                return self._signed(a) and self._signed(b)
            case _:
                return False


def _is_exact(node: tir.Apply) -> bool:
    return SCALAR_OPS[node.op].contract.accuracy is Accuracy.EXACT
