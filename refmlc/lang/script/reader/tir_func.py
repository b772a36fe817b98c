"""A TensorIR function: parameters, annotations, body.

| parameter                               | meaning                                  |
|-----------------------------------------|------------------------------------------|
| `A: T.Buffer((n, "m"), "float32")`      | a handle that is matched with the buffer |
| `a: T.handle`, `a: T.handle("float32")` | a handle, to be matched in the body      |
| `n: T.int32`                            | a scalar                                 |

A shape variable is declared by a string in a type, by `n = T.int32()` anywhere in the body, or by `TypeVar`.
"""

import ast
import re
from collections.abc import Iterator

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, DUPLICATE, NOT_TVMSCRIPT
from refmlc.lang.dtypes import HANDLE, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.tirx import PERSISTENT
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.reader.attributes import closed
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.module import Decorator
from refmlc.lang.script.reader.syntax import every_statement
from refmlc.lang.script.reader.tir_calls import FUNCTIONS
from refmlc.lang.script.reader.tir_draft import FunctionDraft
from refmlc.lang.script.reader.tir_operands import dtype_construct, dtype_of
from refmlc.lang.script.reader.tir_stmts import Statements
from refmlc.lang.script.reader.tir_values import BufferSpec, LetSpec, VarSpec, VectorSpec
from refmlc.lang.script.reader.values import Meta

_EMPTY_CALL = re.compile(r"(?<!T\.init)\((?:[\s\\]|#[^\n]*\n)*\)")
"""What a text has in which a statement declares a name: a call without arguments, other than `T.init()`."""
OPTIONS = ("private", "s_tir", "check_well_formed", "is_stir", "persistent")


def read_prim_func(ev: Evaluator, node: ast.FunctionDef, decorator: Decorator) -> tir.PrimFunc:
    """The function that `node` is. Fails: RM1xx, RM2xx, RM5xx with the place."""
    for option, value in decorator.options.items():
        if option not in OPTIONS or not isinstance(value, bool):
            raise fail(BAD_ARGUMENTS, f"`T.prim_func` has no option `{option}={value!r}`", decorator.span)
    outer, ev.table = ev.table, ev.table.beginning_with(FUNCTIONS)
    ev.s_tir = decorator.options.get("s_tir", ev.generation != "0.27") is True
    try:
        with ev.scope.frame():
            return _Function(ev, node, decorator).read()
    finally:
        ev.table = outer


class _Function:
    def __init__(self, ev: Evaluator, node: ast.FunctionDef, decorator: Decorator) -> None:
        self.ev = ev
        self.node = node
        self.options = decorator.options
        self.draft = FunctionDraft(node.name)
        self.statements = Statements(ev, self.draft)
        self.span = ev.spans.of(node)
        self.declared: tuple[tuple[str, DType], ...] = ()
        self.params: set[str] = set()

    def read(self) -> tir.PrimFunc:
        args = self.node.args
        if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
            raise fail(NOT_TVMSCRIPT, "a TensorIR function has plain parameters only", self.span)
        self.declare(args.args)
        self.predeclare()
        for arg in args.args:
            with self.ev.problems.recovering(self.ev.scope, arg):
                self.param(arg)
        result = None if self.node.returns is None else self.result(self.node.returns)
        body = self.statements.sequence(self.node.body)
        self.ev.problems.check()
        root = self.draft.blocks[0]
        if root.says_something:
            body = root.realize(body, self.span)
        for buffer in self.draft.buffer_map.values():
            _plain_sizes(buffer)
        closed(self.draft.attrs, (*self.draft.params, *self.draft.buffer_map.values()), self.span)
        private = self.options.get("private", False) is True
        attrs = self.draft.attrs
        if self.options.get("persistent", False) is True:
            attrs = {**attrs, PERSISTENT: True}
        if not private and attrs.get("global_symbol") == self.node.name:
            attrs = {key: value for key, value in attrs.items() if key != "global_symbol"}
        return tir.PrimFunc(
            tuple(self.draft.params),
            self.draft.buffer_map,
            body,
            attrs,
            result,
            private,
            self.ev.s_tir,
            self.options.get("check_well_formed", True) is True,
            span=self.span,
        )

    # --------------------------------------------------------------------------------------- shape variables

    def declare(self, args: list[ast.arg]) -> None:
        """Note the dtypes that the function declares for names, for strings in types that come before."""
        text = self.ev.spans.text_of(self.node)
        self.declared = tuple(_declared_in(self.ev, self.node)) if _EMPTY_CALL.search(text) else ()
        for name, dtype in self.declared:
            self.ev.scope.define(f"{name}:dtype", dtype)
        for arg in args:
            row = None if arg.annotation is None else _dtype_annotation(self.ev, arg.annotation)
            if row is not None:
                self.ev.scope.define(f"{arg.arg}:dtype", row)
                if isinstance(self.ev.scope.lookup(arg.arg), tir.Var):  # a type variable: here it is the parameter
                    self.ev.scope.define(arg.arg, tir.Var(arg.arg, row, span=self.ev.spans.of(arg)))

    def predeclare(self) -> None:
        """Define what the body declares, where nothing of its dtype is: a declaration may follow its first use."""
        for name, dtype in self.declared:
            value = self.ev.scope.lookup(name)
            if not isinstance(value, tir.Buffer) and not (isinstance(value, tir.Var) and value.dtype == dtype):
                self.ev.scope.define(name, tir.Var(name, dtype, span=self.span))

    # -------------------------------------------------------------------------------------- parameters, result

    def param(self, arg: ast.arg) -> None:
        span = self.ev.spans.of(arg)
        if arg.annotation is None:
            raise fail(NOT_TVMSCRIPT, f"the parameter `{arg.arg}` has no type", span)
        if arg.arg in self.params:
            raise fail(DUPLICATE, f"the parameter `{arg.arg}` is defined twice", span)
        self.params.add(arg.arg)
        spec = self.type_of(self.ev.eval(arg.annotation), self.ev.spans.of(arg.annotation))
        if isinstance(spec, BufferSpec):
            var = tir.Var(f"{arg.arg}_handle", HANDLE, span=span)
            buffer = spec.buffer(arg.arg, span)
            self.draft.buffer_map[var] = buffer
            self.ev.scope.define(arg.arg, buffer)
        else:
            value = self.ev.scope.lookup(arg.arg)
            shared = isinstance(value, tir.Var) and value.dtype == spec.dtype and self.ev.scope.is_local(arg.arg)
            var = value if shared and isinstance(value, tir.Var) else spec.var(arg.arg, span)
            self.draft.declared.add(var)
            self.ev.scope.define(arg.arg, var)
        self.draft.params.append(var)

    def type_of(self, value: Meta, span: Span) -> VarSpec | BufferSpec:
        spec = self.statements.annotation(value, span)
        if isinstance(spec, (LetSpec, VectorSpec)):
            raise fail(BAD_ARGUMENTS, "this is not the type of a parameter", span)
        return spec

    def result(self, node: ast.expr) -> DType | None:
        value, span = self.ev.eval(node), self.ev.spans.of(node)
        return None if value is None else dtype_of(value, span)


def _plain_sizes(buffer: tir.Buffer) -> None:
    """Refuse sizes of a parameter that memory holds: what is passed cannot be matched with them. Fails: RM105."""
    loads = [
        node for size in (*buffer.shape, *buffer.strides) for node in walk(size) if isinstance(node, tir.BufferLoad)
    ]
    if loads:
        message = (
            f"the sizes of `{buffer.name}` are loaded from `{loads[0].buffer.name}`; a parameter's are of variables"
        )
        raise fail(BAD_ARGUMENTS, message, loads[0].span or buffer.span)


def _declared_in(ev: Evaluator, node: ast.FunctionDef) -> Iterator[tuple[str, DType]]:
    """Names that some statement declares: `n = T.int32()`."""
    for part in every_statement(node.body):
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called, args=[], keywords=[])):
                row = _dtype_annotation(ev, called)
                if row is not None and row.kind != "handle":
                    yield name, row


def _dtype_annotation(ev: Evaluator, node: ast.expr) -> DType | None:
    if not isinstance(node, ast.Attribute):
        return None
    construct = ev.construct_of(node)
    return None if construct is None else dtype_construct(construct)
