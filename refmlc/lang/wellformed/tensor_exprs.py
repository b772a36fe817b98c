"""Static rules for the expressions of TensorIR.

| clause  | rule                                                                         | code         |
|---------|------------------------------------------------------------------------------|--------------|
| TIR-901 | a variable or buffer is visible where it is used                             | RM203        |
| TIR-902 | operands and result have the dtypes of the contract (see `tensor_dtypes`)    | RM201        |
| TIR-903 | a condition is a scalar bool, an index is an integer, no vector but the last | RM201        |
| TIR-904 | a load or store has one index for each dimension                             | RM208        |
| TIR-905 | a called function of the module exists and takes that many arguments         | RM207, RM206 |
| TIR-902 | an intrinsic gets what it takes, and has the dtype that it gives             | RM201, RM206 |

An unknown operator is not reported here: the interpreter reports that it is unsupported.
"""

from refmlc.diag import Related, Span
from refmlc.diag.catalogue import (
    ARITY,
    OUT_OF_SCOPE,
    RANK_MISMATCH,
    TYPE_MISMATCH,
    UNDEFINED_SYMBOL,
    UNKNOWN_FUNCTION,
    UNSUPPORTED_CONSTRUCT,
)
from refmlc.lang.dtypes import DType
from refmlc.lang.ir.module import IRModule
from refmlc.lang.ir.tir import (
    Attr,
    Buffer,
    BufferData,
    BufferLoad,
    BufferRegion,
    Call,
    Expr,
    FloatImm,
    GlobalVar,
    IntImm,
    Let,
    PrimFunc,
    StringImm,
    Var,
)
from refmlc.lang.ops.intrinsics import call_problem
from refmlc.lang.ops.ptx.calls import instruction_problem
from refmlc.lang.wellformed.findings import Findings
from refmlc.lang.wellformed.scope import Scope
from refmlc.lang.wellformed.tensor_dtypes import dtype_problem, is_left_open, operands, same_lanes


class ExprRules:
    """Checks expressions at one point of a function; `scope` is what is visible there."""

    def __init__(self, module: IRModule, findings: Findings) -> None:
        self.module = module
        self.findings = findings
        self.scope: Scope[Var | Buffer] = Scope()
        self._in_shape = False

    # ------------------------------------------------------------------------------------------ expressions

    def expr(self, expr: Expr, near: Span | None) -> None:
        """Check `expr`; `near` is the place of its parent, for nodes without a place."""
        match expr:
            case Var():
                self.use(expr, near)
            case IntImm() | FloatImm() | StringImm():
                pass
            case BufferData():
                self.use(expr.buffer, expr.span or near)
            case BufferLoad():
                self.access(expr.buffer, expr.indices, expr.predicate, expr.span or near)
            case Let():
                self._let(expr, expr.span or near)
            case Call():
                self._call(expr, expr.span or near)
            case _:
                for operand in operands(expr):
                    self.expr(operand, expr.span or near)
                self._dtypes(expr, expr.span or near)

    def use(self, node: Var | Buffer, near: Span | None) -> None:
        """`node` must be visible."""
        if node in self.scope:
            return
        what = "buffer" if isinstance(node, Buffer) else "variable"
        if node in self.scope.known:
            message = f"{what} `{node.name}` is used outside its scope"
        elif self._in_shape:
            message = f"shape variable `{node.name}` is never defined"
        else:
            message = f"{what} `{node.name}` is used but never defined"
        code = UNDEFINED_SYMBOL if self._in_shape and node not in self.scope.known else OUT_OF_SCOPE
        elsewhere = node.span is not None and node.span != near and node in self.scope.known
        related = [Related(f"`{node.name}` is defined here", node.span)] if elsewhere else []
        self.findings.report(code, message, near, related=related, subject=node)

    def shape(self, exprs: tuple[Expr, ...], near: Span | None) -> None:
        """Check the dimensions of a buffer."""
        self._in_shape = True
        for dim in exprs:
            self.expr(dim, near)
            self.integer(dim, "a dimension", near)
        self._in_shape = False

    def access(self, buffer: Buffer, indices: tuple[Expr, ...], predicate: Expr | None, near: Span | None) -> None:
        """Check a load or store at `indices`."""
        self.use(buffer, near)
        if len(indices) != len(buffer.shape):
            self.rank(buffer, len(indices), near)
        for axis, index in enumerate(indices):
            self.expr(index, near)
            self.integer(index, f"index {axis} of `{buffer.name}`", near)
            if index.dtype.is_vector and axis < len(indices) - 1:
                message = f"index {axis} of `{buffer.name}` is {index.dtype}: only the last one may have lanes"
                self.findings.report(TYPE_MISMATCH, message, index.span or near)
        if predicate is not None:
            self.expr(predicate, near)
            lanes = indices[-1].dtype if indices else predicate.dtype
            if (predicate.dtype.bits != 1 and predicate.dtype.kind != "bool") or not same_lanes(predicate.dtype, lanes):
                message = f"the predicate of an access to `{buffer.name}` at {lanes} is {predicate.dtype}"
                self.findings.report(TYPE_MISMATCH, message, predicate.span or near)

    def rank(self, buffer: Buffer, indices: int, near: Span | None) -> None:
        """Report an access with the wrong number of indices."""
        self.findings.report(
            RANK_MISMATCH,
            f"buffer `{buffer.name}` has {count(len(buffer.shape), 'dimension')}, {count(indices, 'index')} given",
            near,
            related=[Related(f"`{buffer.name}` is declared here", buffer.span)] if buffer.span else [],
        )

    def condition(self, expr: Expr, what: str, near: Span | None) -> None:
        """`expr` is a scalar bool."""
        self.expr(expr, near)
        if expr.dtype.kind != "bool" or expr.dtype.is_vector:
            self.findings.report(TYPE_MISMATCH, f"{what} is {expr.dtype}, not bool", expr.span or near)

    def integer(self, expr: Expr, what: str, near: Span | None) -> None:
        """`expr` is an integer, with any lanes; bool counts, as TVM indexes with it."""
        if not expr.dtype.is_integer and expr.dtype.kind != "bool":
            self.findings.report(TYPE_MISMATCH, f"{what} is {expr.dtype}, not an integer", expr.span or near)

    def attr(self, value: Attr, near: Span | None) -> None:
        """Check what an argument that need not be an expression mentions."""
        match value:
            case Buffer():
                self.use(value, near)
            case BufferRegion():
                self.use(value.buffer, near)
            case tuple():
                for item in value:
                    self.attr(item, near)
            case _ if isinstance(value, Expr):
                self.expr(value, near)
            case _:
                pass

    # --------------------------------------------------------------------------------------------- one node

    def _let(self, let: Let, near: Span | None) -> None:
        self.expr(let.value, near)
        self.same_dtype(let.var.dtype, let.value.dtype, f"`{let.var.name}` is", "its value", near)
        with self.scope.inner():
            self.scope.define(let.var)
            self.expr(let.body, near)

    def _call(self, call: Call, near: Span | None) -> None:
        for arg in call.args:
            self.attr(arg, near)
        if isinstance(call.callee, GlobalVar):
            self._module_call(call.callee, len(call.args), near)
            return
        problem = call_problem(call)
        if problem is not None:
            self.findings.report(*problem, near)
        elif wrong := instruction_problem(call):
            self.findings.report(TYPE_MISMATCH, wrong, near)

    def _module_call(self, callee: GlobalVar, arguments: int, near: Span | None) -> None:
        function = self.module.functions.get(callee.name)
        if function is None:
            self.findings.report(UNKNOWN_FUNCTION, f"the module has no function `{callee.name}`", near)
        elif isinstance(function, PrimFunc) and len(function.params) != arguments:
            takes = count(len(function.params), "argument")
            self.findings.report(
                ARITY,
                f"`{callee.name}` takes {takes}, {arguments} given",
                near,
                related=[Related(f"`{callee.name}` is defined here", function.span)] if function.span else [],
            )

    def same_dtype(self, declared: DType, actual: DType, what: str, other: str, near: Span | None) -> None:
        """Report two dtypes that differ."""
        if declared != actual:
            self.findings.report(TYPE_MISMATCH, f"{what} {declared}, {other} is {actual}", near)

    def _dtypes(self, expr: Expr, near: Span | None) -> None:
        problem = dtype_problem(expr)
        if problem is not None and not any(_of_void(operand) for operand in operands(expr)):
            code = UNSUPPORTED_CONSTRUCT if is_left_open(expr) else TYPE_MISMATCH
            self.findings.report(code, problem, near)


def _of_void(expr: Expr) -> bool:
    """Whether the buffer that is read has no elements: that is reported where it is declared."""
    return isinstance(expr, BufferLoad) and expr.buffer.dtype.kind == "void"


def count(number: int, word: str) -> str:
    """`1 index`, `2 indices`."""
    plural = {"index": "indices", "axis": "axes"}.get(word, f"{word}s")
    return f"{number} {word if number == 1 else plural}"
