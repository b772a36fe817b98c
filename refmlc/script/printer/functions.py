"""TensorIR functions as text: signature, shape variables, attributes, the root block.

| shape variable                       | where it is declared                                                   |
|--------------------------------------|------------------------------------------------------------------------|
| 0.27, int64, in a module             | `n = TypeVar("n")` before the class                                     |
| 0.27, others                         | a string where it stands first: `T.Buffer(("n",))`; `n = T.int32()`      |
| 2022, 2023                           | `n = T.int64()` before the `T.match_buffer` that needs it                |

A parameter is written as a buffer where its type can say all of it (before 0.27: constant shape and dtype); else it
is a handle, matched in the body.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.dtypes import HANDLE, INT64
from refmlc.ir import tir
from refmlc.ir.attrs import CommReducer, IndexMap
from refmlc.ir.node import Node
from refmlc.ir.visit import walk
from refmlc.script.printer.buffers import is_simple, match_text, type_of_var, type_text, variable_text
from refmlc.script.printer.expressions import attribute_text, expr_text
from refmlc.script.printer.literals import string_text
from refmlc.script.printer.page import Page
from refmlc.script.printer.statements import write_block_body, write_body


def shape_variables(func: tir.PrimFunc) -> list[tir.Var]:
    """The variables that no node of `func` defines: dimensions and strides, in the order they are met."""
    defined = {id(var) for var in func.params}
    found: dict[int, tir.Var] = {}
    for node in walk(func):
        defined.update(id(var) for var in defines(node))
        if isinstance(node, tir.Var):
            found[id(node)] = node
    return [var for key, var in found.items() if key not in defined]


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
        case _:
            return ()


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
        self.waiting = [var for var in self.variables if not is_type_var(page, var)]
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

    def decorator(self) -> str:
        func, options = self.func, []
        if func.private:
            options.append("private=True")
        if func.s_tir and self.page.modern:
            options.append("s_tir=True")
        if not func.check_well_formed:
            options.append("check_well_formed=False")
        return f"@T.prim_func({', '.join(options)})" if options else "@T.prim_func"

    # --------------------------------------------------------------------------------------------- parameters

    def can_annotate(self, param: tir.Var) -> bool:
        buffer = self.func.buffer_map.get(param)
        if buffer is None or param.dtype != HANDLE or param.pointer is not None:
            return False
        symbolic = any(isinstance(node, tir.Var) for dim in buffer.shape for node in walk(dim))
        if not self.page.modern and (symbolic or not is_simple(buffer)):
            return False
        given = {id(other) for other in self.func.params}
        if any(id(node) in given for node in walk(buffer)):  # a size that is a parameter: no type can name it
            return False
        twice = sum(other is buffer for other in self.func.buffer_map.values()) > 1
        uses = replace(self.func, params=(), buffer_map={})  # its body and its attributes
        return not twice and not any(node is param for node in walk(uses))

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
                text = match_text(page, page.names.get(param) or param.name, buffer)
                page.line(f"{page.names.define(buffer, buffer.name)} = {text}")
        self.declarations(self.waiting)
        self.root()

    def declarations(self, variables: list[tir.Var]) -> None:
        """Declare those of `variables` that wait for it."""
        for var in variables:
            if any(var is one for one in self.waiting):
                self.waiting = [one for one in self.waiting if one is not var]
                self.define(var)
                self.page.line(variable_text(self.page, var))

    def attributes(self) -> None:
        page = self.page
        attrs = {page.spelled(key): value for key, value in self.func.attrs.items()}
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


def is_implicit_root(body: tir.Stmt) -> TypeGuard[tir.SBlockRealize]:
    """Whether `body` is a root block that only allocates: the text leaves it out."""
    if not isinstance(body, tir.SBlockRealize):
        return False
    block = body.block
    silent = block.reads is None and block.writes is None and not block.annotations and block.init is None
    open_ = not body.iter_values and isinstance(body.predicate, tir.IntImm) and body.predicate.value == 1
    return silent and open_ and block.name == "root" and bool(block.alloc_buffers) and not block.match_buffers
