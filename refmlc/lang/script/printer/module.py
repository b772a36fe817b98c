"""Modules as text, and any node alone."""

import keyword
import re
from collections.abc import Iterable

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, DEPTH_EXHAUSTED, UNSUPPORTED_CONSTRUCT
from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import BOOL, INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.module import IRModule
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.printer.buffers import arguments, declaration_text
from refmlc.lang.script.printer.expressions import attribute_text, expr_text, region_text
from refmlc.lang.script.printer.functions import shape_variables, write_prim_func
from refmlc.lang.script.printer.graph_expressions import value_text
from refmlc.lang.script.printer.graph_functions import type_variables, write_binding, write_blocks, write_function
from refmlc.lang.script.printer.literals import string_text
from refmlc.lang.script.printer.meshes import listed_meshes
from refmlc.lang.script.printer.metadata import metadata_text
from refmlc.lang.script.printer.names import Names, python_name
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.printer.statements import write_stmt
from refmlc.lang.script.printer.types import Types
from refmlc.lang.script.spellings import GENERATIONS, Generation

_OLD_EVIDENCE = re.compile(r"T\.block|T\.Buffer\[|out_sinfo=|sinfo_args=|R\.Object")
_TRUE = tir.IntImm(BOOL, 1)
_OMITTED = "# Metadata omitted. Use show_meta=True in script() method to show it."


@entry_point
def show(node: Node, *, dialect: Generation = "0.27", show_meta: bool = False) -> str:
    """`node` as TVMScript of `dialect`. A module or function is a whole text, anything else a piece of one.

    Fails: RM112 no dialect, RM503 a constant that the metadata cannot hold, RM504 what has no text, RM602 too deep.
    """
    if dialect not in GENERATIONS:
        raise fail(BAD_USAGE, f"there is no dialect `{dialect}`", None, f"the dialects: {', '.join(GENERATIONS)}")
    page = Page(dialect, show_meta, declare=declaration_text, graph=_graph_text, referred=_referred(node))
    try:
        match node:
            case IRModule():
                _module(page, node)
            case tir.PrimFunc() | relax.Function():
                _function_alone(page, node)
            case _:
                return _piece(page, node)
    except RecursionError:
        raise fail(DEPTH_EXHAUSTED, "the program nests too deep to be shown", node.span) from None
    return "\n".join(_whole(page)) + "\n"


def _referred(node: Node) -> int:
    """How many entries of omitted metadata `node` refers to, at least."""
    return max((part.index + 1 for part in walk(node) if isinstance(part, relax.MetadataRef)), default=0)


# --------------------------------------------------------------------------------------------- whole texts


def _whole(page: Page) -> Iterable[str]:
    """The text of a page, with what it imports before and its metadata after."""
    if page.constants and page.show_meta:
        yield metadata_text(page)
    yield from _head(page)
    yield from (f'{name} = TypeVar("{name}")' for name in page.shape_vars)
    yield from page.lines
    if not page.show_meta and (page.constants or page.omitted) and not page.oldest:
        yield ""
        yield _OMITTED


def _head(page: Page) -> Iterable[str]:
    text = "\n".join(line for line in page.lines if not line.lstrip().startswith("#"))
    tensorir, graph = re.search(r"\bT\.", text) is not None, re.search(r"\bR\.", text) is not None
    if page.oldest and (_OLD_EVIDENCE.search(text) or not tensorir):
        return
    if page.shape_vars:
        yield "# from typing import TypeVar"
    if re.search(r"\bI\.", text):
        yield "# from tvm.script import ir as I"
    if tensorir and page.modern:
        yield "# from tvm.script import tirx as T"
        yield "# from tvm.tirx.layout import Axis"
    elif tensorir:
        yield f"{'# ' if _OLD_EVIDENCE.search(text) else ''}from tvm.script import tir as T"
    if graph:
        yield "# from tvm.script import relax as R"
    yield ""


def _module(page: Page, module: IRModule) -> None:
    page.functions = frozenset(module.functions)
    page.module = python_name(module.name)
    taken = {page.module, *(module.functions if page.oldest else ())}
    page.names = Names(taken)
    if page.modern:
        result = (node for func in module.functions.values() for node in walk(func))
        page.type_vars = _names(node for node in result if isinstance(node, tir.Var))
        page.outside = _names(var for func in module.functions.values() for var in _type_variables(func))
    page.line("@tvm.script.ir_module" if page.oldest else "@I.ir_module")
    page.line(f"class {page.module}:")
    with page.block():
        if module.attrs:
            page.line(f"I.module_attrs({attribute_text(page, module.attrs)})")
        if module.global_infos:
            infos = {key: tuple(values) for key, values in module.global_infos.items()}
            page.line(f"I.module_global_infos({attribute_text(page, infos)})")
            page.meshes = listed_meshes(module.global_infos)
        for number, (name, func) in enumerate(module.functions.items()):
            if number:
                page.line("")
            _function(page, func, name)


def _names(variables: Iterable[tir.Var]) -> frozenset[str]:
    """The names of the variables that type variables can be."""
    return frozenset(python_name(var.name) for var in variables if var.dtype == INT64)


def _type_variables(func: "tir.PrimFunc | relax.Function | relax.ExternFunc") -> list[tir.Var]:
    match func:
        case tir.PrimFunc():
            return shape_variables(func)
        case relax.Function():
            return type_variables(func)
        case relax.ExternFunc():
            return []


def _function(page: Page, func: "tir.PrimFunc | relax.Function | relax.ExternFunc", name: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise fail(UNSUPPORTED_CONSTRUCT, f"a function called {string_text(name[:80])} has no text", func.span)
    match func:
        case tir.PrimFunc():
            write_prim_func(page, func, name)
        case relax.Function():
            write_function(page, func, name)
        case relax.ExternFunc(symbol=symbol):
            page.line(f"{name} = R.ExternFunc({string_text(symbol)})")


def _function_alone(page: Page, func: tir.PrimFunc | relax.Function) -> None:
    if page.oldest and isinstance(func, tir.PrimFunc):
        _function(page, func, "func")  # the name of every one alone, in texts of that time
        return
    symbol = func.attrs.get("global_symbol")
    _function(page, func, python_name(symbol) if isinstance(symbol, str) else "main")


# -------------------------------------------------------------------------------------------------- pieces


def _graph_text(page: Page, node: relax.Expr | Type) -> str:
    return Types(page, argument=True).text(node) if isinstance(node, Type) else value_text(page, node)


def _piece(page: Page, node: Node) -> str:
    """A node alone, as messages show it: nothing is declared."""
    page.declare = None
    if isinstance(node, tir.Stmt):
        write_stmt(page, node)
        return "\n".join(page.lines)
    match node:
        case tir.Buffer(name=name):
            return f"{name}: T.Buffer({arguments(page, node)})"
        case tir.BufferRegion():
            return region_text(page, node)
        case tir.SBlock():
            write_stmt(page, tir.SBlockRealize(tuple(axis.var for axis in node.iter_vars), _TRUE, node))
            return "\n".join(page.lines)
        case tir.MatchBufferRegion(buffer=buffer, source=source):
            return f"{buffer.name} = T.match_buffer({region_text(page, source)}, {arguments(page, buffer)})"
        case tir.IterVar(var=var, dom=dom, kind=kind):
            return f"{var.name} = T.axis.{kind.value}({attribute_text(page, dom)})"
        case relax.VarBinding() | relax.MatchCast():
            write_binding(page, node)
            return "\n".join(page.lines)
        case relax.BindingBlock() | relax.DataflowBlock():
            write_blocks(page, (node,))
            return "\n".join(page.lines)
    if isinstance(node, tir.GlobalVar):
        return node.name
    if isinstance(node, tir.Expr):
        return expr_text(page, node)
    if isinstance(node, Type):
        return Types(page).text(node)
    if isinstance(node, relax.Expr):
        return value_text(page, node)
    return attribute_text(page, node)
