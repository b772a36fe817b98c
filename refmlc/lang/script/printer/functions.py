"""TensorIR functions as text: signature, shape variables, attributes, the root block.

| shape variable                         | where it is declared                                                  |
|----------------------------------------|-----------------------------------------------------------------------|
| 0.27, int64, in a module               | `n = TypeVar("n")` before the class                                   |
| 0.27, others                           | a string where it stands first: `T.Buffer(("n",))`; `n = T.int32()`   |
| 2022, 2023                             | `n = T.int64()` before the `T.match_buffer` that needs it             |
| 0.27, a stride or an offset of its own | nowhere: `strides=("s",)`, `offset_factor=1`; `A.strides[0]` names it |

A parameter is written as a buffer where its type can say all of it (before 0.27: constant shape and dtype); else it
is a handle, matched in the body.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import HANDLE, INT32, INT64
from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.attrs import CommReducer, IndexMap
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.offsets import own_index
from refmlc.lang.ir.tirx import PERSISTENT
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.printer.buffers import is_cell, is_simple, match_text, type_of_var, type_text, variable_text
from refmlc.lang.script.printer.expressions import attribute_text, expr_text
from refmlc.lang.script.printer.literals import string_text
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.printer.statements import write_block_body, write_body


def shape_variables(func: tir.PrimFunc) -> list[tir.Var]:
    """The variables that no node of `func` defines: dimensions and strides, in the order they are met."""
    defined = {id(var) for var in func.params}
    result: dict[int, tir.Var] = {}
    for node in walk(func):
        defined.update(id(var) for var in defines(node))
        if isinstance(node, tir.Var):
            result[id(node)] = node
    return [var for key, var in result.items() if key not in defined]


def defines(node: Node) -> tuple[tir.Var, ...]:
    """The variables that `node` defines in its own fields."""
    match node:
        case tir.For(loop_var=var) | tir.Bind(var=var) | tir.Let(var=var) | tir.IterVar(var=var):
            return (var,)
        case tir.ThreadVar(var=tir.Var() as var):
            return (var,)
        case CommReducer(lhs=lhs, rhs=rhs):
            return (*lhs, *rhs)
        case IndexMap(initial=initial):
            return initial
        case tirx.ScopeIdDef(ids=variables) | tirx.LambdaExpr(params=variables):
            return variables
        case _:
            return ()


def parts_of(page: Page, func: tir.PrimFunc, variables: list[tir.Var]) -> set[int]:
    """Those of `variables` that are the stride or the offset of a buffer and no part of a shape, by identity.

    TVM gives them their dtype: a stride is int32, an offset what the shape is.
    """
    if not page.modern:
        return set()
    buffers = {id(node): node for node in walk(func) if isinstance(node, tir.Buffer)}
    dims = {id(node) for buffer in buffers.values() for dim in buffer.shape for node in walk(dim)}
    result: dict[int, tir.Var] = {}
    for buffer in buffers.values():
        places = [(stride, INT32) for stride in buffer.strides]
        places += [] if buffer.elem_offset is None else [(buffer.elem_offset, own_index(buffer.shape))]
        own = [id(node) for part, _ in places for node in walk(part)]
        for part, dtype in places:
            if isinstance(part, tir.Var) and part.dtype == dtype and own.count(id(part)) == 1 and id(part) not in dims:
                result[id(part)] = part
    return {id(var) for var in variables if id(var) in result and not is_type_var(page, var)}


def cells_of(page: Page, func: tir.PrimFunc) -> set[int]:
    """The buffers that are shown as mutable scalars, by identity: every access is to element 0."""
    if not page.modern:
        return set()
    nodes = list(walk(func))
    result = {
        id(node.buffer)
        for node in nodes
        if isinstance(node, tir.AllocBuffer) and not node.annotations and is_cell(node.buffer, s_tir=func.s_tir)
    }
    for node in nodes:
        if isinstance(node, tir.BufferLoad | tir.BufferStore):
            first = [index.value for index in node.indices if isinstance(index, tir.IntImm)] == [0]
            if not first or node.predicate is not None:
                result.discard(id(node.buffer))
    return result


def threads_of(page: Page, func: tir.PrimFunc) -> list[tir.ThreadVar]:
    """The thread axes that are launched more than once with one variable: it is declared before."""
    launched = [
        node.node
        for node in walk(func.body)
        if isinstance(node, tir.AttrStmt) and node.key == "thread_extent" and isinstance(node.node, tir.ThreadVar)
    ]
    counts = Counter(id(thread.var) for thread in launched)
    first = {id(thread.var): thread for thread in reversed(launched) if thread.var is not None}
    return [thread for key, thread in first.items() if counts[key] > 1] if page.modern else []


def is_type_var(page: Page, var: tir.Var) -> bool:
    """Whether a shape variable is declared before the class."""
    return page.modern and page.functions is not None and var.dtype == INT64


def define_type_vars(page: Page, variables: list[tir.Var]) -> None:
    """Name those of `variables` that are declared before the class. Order: by name, function by function."""
    names = [page.names.define(var, var.name) for var in variables if is_type_var(page, var)]
    page.shape_vars.extend(name for name in sorted(names) if name not in page.shape_vars)


def write_prim_func(page: Page, func: tir.PrimFunc, name: str) -> None:
    """A function. Fails: RM504 before 0.27, when it is not of the schedulable kind: those texts have no word for it."""
    if not (page.modern or func.s_tir):
        message = f"`{name}` is not `s_tir`, which texts of {page.dialect} cannot say"
        raise fail(UNSUPPORTED_CONSTRUCT, message, func.span)
    with page.names.frame(), page.speaking("tir"):
        _Function(page, func, name).write()


class _Function:
    def __init__(self, page: Page, func: tir.PrimFunc, name: str) -> None:
        self.page = page
        self.func = func
        self.name = name
        self.variables = shape_variables(func)
        page.parts = parts_of(page, func, self.variables)
        page.s_tir = func.s_tir
        page.cells = cells_of(page, func)
        page.threads = {id(thread.var) for thread in threads_of(page, func)}
        self.waiting = [var for var in self.variables if not is_type_var(page, var) and id(var) not in page.parts]
        self.annotated: set[int] = set()

    def write(self) -> None:
        page, func = self.page, self.func
        define_type_vars(page, self.variables)
        self.annotated = {id(var) for var in func.params if self.can_annotate(var)}
        params = ", ".join(self.params())
        page.line(self.decorator())
        result = "" if func.ret_dtype is None else f" -> T.{func.ret_dtype}"
        if func.ret_dtype is None and page.oldest:
            result = " -> None"
        page.line(f"def {self.name}({params}){result}:")
        with page.block(scoped=False):
            self.body()

    @property
    def persistent(self) -> bool:
        """Whether the decorator says an attribute, as TVM's does."""
        return self.page.modern and self.func.attrs.get(PERSISTENT) is True

    def decorator(self) -> str:
        func, options = self.func, []
        if func.private:
            options.append("private=True")
        if func.s_tir and self.page.modern:
            options.append("s_tir=True")
        if not func.check_well_formed:
            options.append("check_well_formed=False")
        if self.persistent:
            options.append("persistent=True")
        return f"@T.prim_func({', '.join(options)})" if options else "@T.prim_func"

    # --------------------------------------------------------------------------------------------- parameters

    def can_annotate(self, param: tir.Var) -> bool:
        buffer = self.func.buffer_map.get(param)
        if buffer is None or param.dtype != HANDLE or param.pointer is not None:
            return False
        symbolic = any(isinstance(node, tir.Var) for dim in buffer.shape for node in walk(dim))
        if not self.page.modern and (symbolic or not is_simple(buffer)):
            return False
        values = {id(other) for other in self.func.params}
        if any(id(node) in values for node in walk(buffer)):  # a size that is a parameter: no type can name it
            return False
        if self.page.modern and not all(self.can_name(node) for part in _steps(buffer) for node in walk(part)):
            return False
        twice = sum(other is buffer for other in self.func.buffer_map.values()) > 1
        uses = replace(self.func, params=(), buffer_map={})  # its body and its attributes
        return not twice and not any(node is param for node in walk(uses))

    def can_name(self, node: Node) -> bool:
        """Whether a type can name a variable outside of its shape: a string there is another variable."""
        return not isinstance(node, tir.Var) or id(node) in self.page.parts or is_type_var(self.page, node)

    def params(self) -> Iterator[str]:
        page = self.page
        for param in self.func.params:
            if id(param) not in self.annotated and self.func.buffer_map.get(param) is None:
                page.names.define(param, param.name)
        for param in self.func.params:
            buffer = self.func.buffer_map.get(param)
            if buffer is not None and id(param) in self.annotated:
                name = page.names.define(buffer, buffer.name)
                yield f"{name}: {type_text(page, buffer, self.dimension)}"
            else:
                yield f"{page.names.define(param, param.name)}: {type_of_var(page, param)}"

    def dimension(self, dim: tir.Expr) -> str:
        """A dimension in a type: a string where it holds a variable that is not declared yet, or is an expression."""
        if isinstance(dim, tir.IntImm):
            return expr_text(self.page, dim)
        fresh = [node for node in walk(dim) if isinstance(node, tir.Var) and self.page.names.get(node) is None]
        for var in fresh:
            self.define(var)
        text = expr_text(self.page, dim)
        return text if isinstance(dim, tir.Var) and not fresh else string_text(text)

    def define(self, var: tir.Var) -> str:
        return self.page.names.define(var, var.name, avoid=self.page.type_vars)

    # --------------------------------------------------------------------------------------------------- body

    def body(self) -> None:
        page, func = self.page, self.func
        if page.modern:
            self.declarations(self.waiting)
            self.attributes()
        else:
            self.attributes()
        if page.oldest:
            page.line("# body")
        for param in func.params:
            buffer = func.buffer_map.get(param)
            if buffer is not None and id(param) not in self.annotated:
                self.declarations([node for node in walk(buffer) if isinstance(node, tir.Var)])
                name = page.names.define(buffer, buffer.name)
                text = match_text(page, page.names.get(param) or param.name, buffer)
                page.line(f"{name} = {text}")
        self.declarations(self.waiting)
        self.threads()
        self.root()

    def declarations(self, variables: list[tir.Var]) -> None:
        """Declare those of `variables` that wait for it."""
        for var in variables:
            if any(var is item for item in self.waiting):
                self.waiting = [item for item in self.waiting if item is not var]
                self.define(var)
                self.page.line(variable_text(self.page, var))

    def threads(self) -> None:
        """Declare the variables of thread axes that several launches have."""
        for thread in threads_of(self.page, self.func):
            var = thread.var
            if var is not None and self.page.names.get(var) is None:
                dtype = "" if var.dtype == INT32 else f", {string_text(str(var.dtype))}"
                name = self.page.names.define(var, var.name)
                self.page.line(f"{name} = T.env_thread({string_text(thread.tag)}{dtype})")

    def attributes(self) -> None:
        page = self.page
        said = (PERSISTENT,) if self.persistent else ()
        attrs = {page.spelled(key): value for key, value in self.func.attrs.items() if key not in said}
        if page.oldest:
            page.line("# function attr dict")
            if not self.func.private:
                attrs = {"global_symbol": self.name, **attrs}
        else:
            attrs = dict(sorted(attrs.items()))
        if attrs:
            page.line(f"T.func_attr({attribute_text(page, attrs)})")

    def root(self) -> None:
        page, body = self.page, self.func.body
        comment = f"# with {page.spelled('T.sblock')}({string_text('root')}){'' if page.oldest else ':'}"
        if is_implicit_root(body):
            page.line(comment)
            write_block_body(page, body)
            return
        holds = any(isinstance(node, tir.SBlockRealize) for node in walk(body))
        alone = isinstance(body, tir.SBlockRealize) and not body.iter_values
        if self.func.s_tir and holds and not alone:
            page.line(comment)
        write_body(page, body)


def _steps(buffer: tir.Buffer) -> tuple[tir.Expr, ...]:
    """Strides and offset."""
    return buffer.strides if buffer.elem_offset is None else (*buffer.strides, buffer.elem_offset)


def is_implicit_root(body: tir.Stmt) -> TypeGuard[tir.SBlockRealize]:
    """Whether `body` is a root block that only allocates: the text leaves it out."""
    if not isinstance(body, tir.SBlockRealize):
        return False
    block = body.block
    silent = block.reads is None and block.writes is None and not block.annotations and block.init is None
    open_ = not body.iter_values and isinstance(body.predicate, tir.IntImm) and body.predicate.value == 1
    return silent and open_ and block.name == "root" and bool(block.alloc_buffers) and not block.match_buffers
