"""A whole text to an IRModule.

| top level of the text                     | meaning                                                 |
|-------------------------------------------|---------------------------------------------------------|
| import lines, comments, docstrings        | names (`imports`), nothing                              |
| `n = TypeVar("n")`                        | a shape variable, int64, one per function that names it |
| `metadata = tvm.ir.load_json("…")`        | the entries of `metadata[…]`, wherever it stands        |
| `@I.ir_module class Name:`                | the module                                              |
| `@T.prim_func def f`, `@R.function def f` | a function; a text of functions is a module of them     |
| anything else                             | refused                                                 |

| body of the class                                   | meaning                                               |
|-----------------------------------------------------|-------------------------------------------------------|
| decorated functions                                 | functions of the module; each sees all others by name |
| `I.module_attrs({…})`, `I.module_global_infos({…})` | attributes, global infos                              |
| `f = R.ExternFunc("…")`                             | an external function                                  |
| docstring, `pass`                                   | nothing                                               |

Fails: RM103 another statement or decorator; RM210 two functions of one name; RM504 a function of another language.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from refmlc.diag import Diagnostic, RefmlcError, Related, error, fail
from refmlc.diag.catalogue import DUPLICATE, NOT_TVMSCRIPT, UNSUPPORTED_CONSTRUCT
from refmlc.diag.source import Span
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.attrs import VDevice
from refmlc.lang.ir.module import IRModule
from refmlc.lang.script.reader.deadline import Deadline
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.evidence import generation_of
from refmlc.lang.script.reader.imports import define_imports, prelude
from refmlc.lang.script.reader.metadata import read_metadata
from refmlc.lang.script.reader.scope import Scope
from refmlc.lang.script.reader.syntax import Spans
from refmlc.lang.script.reader.table import Table
from refmlc.lang.script.reader.values import Construct, Meta, ModuleRef, ShapeVar, described
from refmlc.lang.script.spellings import Generation

AnyFunction: TypeAlias = tir.PrimFunc | relax.Function | relax.ExternFunc


@dataclass(frozen=True, slots=True)
class Decorator:
    """A decorator of a function: its canonical name, its options, its place."""

    name: str
    options: Mapping[str, Meta]
    span: Span


FunctionReader: TypeAlias = Callable[[Evaluator, ast.FunctionDef, Decorator], AnyFunction]


@dataclass(frozen=True, slots=True)
class Language:
    """What the reader knows: the table of constructs, and who reads a function, by the decorator's canonical name."""

    table: Table
    functions: Mapping[str, FunctionReader]


@dataclass(frozen=True, slots=True)
class ModuleAttrs:
    """`I.module_attrs({…})`."""

    attrs: Mapping[str, tir.Attr]


@dataclass(frozen=True, slots=True)
class GlobalInfos:
    """`I.module_global_infos({…})`."""

    infos: Mapping[str, tuple[tir.Attr, ...]]


@dataclass(slots=True)
class _Draft:
    """The module while it is read."""

    name: str = "Module"
    functions: dict[str, AnyFunction] = field(default_factory=dict)
    attrs: dict[str, tir.Attr] = field(default_factory=dict)
    infos: dict[str, tuple[tir.Attr, ...]] = field(default_factory=dict)


def read_tree(
    tree: ast.Module,
    spans: Spans,
    language: Language,
    names: Mapping[str, Meta] | None = None,
    *,
    deadline: Deadline | None = None,
) -> IRModule:
    """The module that the text of `tree` is. `names` are defined around it (live objects, for a decorator)."""
    ev = Evaluator(spans, language.table, Scope({**prelude(), **(names or {})}), deadline)
    draft = _Reader(tree, language, ev).read(_Draft())
    return IRModule(draft.functions, draft.attrs, draft.infos, draft.name, spans.source)


class _Reader:
    def __init__(self, tree: ast.Module, language: Language, ev: Evaluator) -> None:
        self.tree = tree
        self.spans = ev.spans
        self.language = language
        self.ev = ev

    def read(self, draft: _Draft) -> _Draft:
        classes: list[ast.ClassDef] = []
        functions: list[ast.FunctionDef] = []
        for stmt in self.tree.body:
            match stmt:
                case ast.ClassDef():
                    classes.append(stmt)
                case ast.FunctionDef():
                    functions.append(stmt)
                case _:
                    self.outside(stmt)
        if len(classes) + bool(functions) > 1:
            span = self.spans.of(classes[1] if len(classes) > 1 else functions[0])
            raise fail(NOT_TVMSCRIPT, "the text holds more than one module; one is read", span)
        if classes:
            self.module_class(classes[0], draft)
        elif functions:
            self.body(functions, draft)
        else:
            raise fail(NOT_TVMSCRIPT, "the text holds no module and no function", self.spans.whole())
        return draft

    def outside(self, stmt: ast.stmt) -> None:
        """A statement of the top level that is no class and no function."""
        match stmt:
            case ast.Import() | ast.ImportFrom():
                define_imports(stmt, self.ev.scope)
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Assign(
                targets=[ast.Name(id="metadata" | "meta")], value=ast.Call(args=[ast.Constant(value=str(text))])
            ):
                self.ev.metadata = read_metadata(text, self.spans.of(stmt))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called)) if self.is_type_var(called):
                value = self.ev.eval(stmt.value)
                self.ev.scope.define(name, ShapeVar(name) if isinstance(value, ShapeVar) else value)
            case _:
                raise fail(NOT_TVMSCRIPT, "a statement outside of the module's class is not read", self.spans.of(stmt))

    def is_type_var(self, called: ast.expr) -> bool:
        found = self.ev.construct_of(called)
        return found is not None and found.path == "I.TypeVar"

    # --------------------------------------------------------------------------------------------- the module

    def module_class(self, node: ast.ClassDef, draft: _Draft) -> None:
        span = self.spans.of(node)
        paths = [self.decorator(one).name for one in node.decorator_list]
        if paths and paths != ["I.ir_module"]:
            raise fail(NOT_TVMSCRIPT, f"the decorator `{paths[0]}` does not make a module", span)
        if node.bases or node.keywords:
            names = {base.id for base in node.bases if isinstance(base, ast.Name)}
            if names != {"BasePyModule"}:
                raise fail(NOT_TVMSCRIPT, "a module's class has no bases", span)
        if not paths:
            raise fail(NOT_TVMSCRIPT, f"the class `{node.name}` is not decorated with `@I.ir_module`", span)
        draft.name = node.name
        with self.ev.scope.frame():
            self.body(node.body, draft)

    def body(self, body: Sequence[ast.stmt], draft: _Draft) -> None:
        """The statements of the class, or all functions of a text without a class."""
        results = {f.name: f.returns for f in body if isinstance(f, ast.FunctionDef) and f.returns is not None}
        module = ModuleRef(self.declared(body), results)
        for name, var in module.functions.items():
            self.ev.scope.define(name, var)
        self.ev.scope.define(draft.name, module)
        self.ev.scope.define("cls", module)
        self.ev.module = module
        for stmt in body:
            match stmt:
                case ast.FunctionDef():
                    draft.functions[stmt.name] = self.function(stmt)
                case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                    pass
                case ast.Expr(value=call):
                    self.info(self.ev.eval(call), draft, stmt)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    draft.functions[name] = self.extern(self.ev.eval(value), stmt)
                case _:
                    raise fail(NOT_TVMSCRIPT, "this statement has no meaning in a module", self.spans.of(stmt))

    def declared(self, body: Iterable[ast.stmt]) -> dict[str, tir.GlobalVar]:
        places: dict[str, Span] = {}
        for stmt in body:
            match stmt:
                case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                    span = self.spans.of(stmt)
                    if name in places:
                        related = (Related(f"`{name}` is defined here first", places[name]),)
                        message = f"the module defines `{name}` twice"
                        raise error(Diagnostic(DUPLICATE, message, span, related=related))
                    places[name] = span
        return {name: tir.GlobalVar(name, span=span) for name, span in places.items()}

    def info(self, value: Meta, draft: _Draft, stmt: ast.stmt) -> None:
        match value:
            case ModuleAttrs(attrs):
                draft.attrs.update(attrs)
            case GlobalInfos(infos):
                draft.infos.update(infos)
                if "vdevice" in infos:
                    self.ev.devices = tuple(one for one in infos["vdevice"] if isinstance(one, VDevice))
            case _:
                message = f"{described(value)} as a statement has no meaning in a module"
                raise fail(NOT_TVMSCRIPT, message, self.spans.of(stmt))

    def extern(self, value: Meta, stmt: ast.stmt) -> relax.ExternFunc:
        if isinstance(value, relax.ExternFunc):
            return value
        raise fail(NOT_TVMSCRIPT, f"a module cannot hold {described(value)}", self.spans.of(stmt))

    # -------------------------------------------------------------------------------------------- a function

    def function(self, node: ast.FunctionDef) -> AnyFunction:
        span = self.spans.of(node)
        if not node.decorator_list:
            raise fail(NOT_TVMSCRIPT, f"the function `{node.name}` has no decorator", span)
        if len(node.decorator_list) > 1:
            raise fail(NOT_TVMSCRIPT, f"the function `{node.name}` has several decorators", span)
        decorator = self.decorator(node.decorator_list[0])
        reader = self.language.functions.get(decorator.name)
        if reader is None:
            raise self.other_language(decorator)
        self.ev.generation = generation_of(node) or self.generation
        with self.ev.scope.frame():
            for name in self.shape_vars:
                if isinstance(self.ev.scope.lookup(name), ShapeVar):
                    self.ev.scope.define(name, tir.Var(name, INT64))
            return reader(self.ev, node, decorator)

    @cached_property
    def shape_vars(self) -> tuple[str, ...]:
        """The names that are shape variables outside of functions. Order: of the text."""
        return tuple(name for name, value in self.ev.scope.items().items() if isinstance(value, ShapeVar))

    @cached_property
    def generation(self) -> Generation:
        """What the text as a whole shows, for functions that show nothing."""
        return generation_of(self.tree) or "0.27"

    def other_language(self, decorator: Decorator) -> RefmlcError:
        if decorator.name.partition(".")[0] in ("T", "R", "I"):
            message = f"functions decorated with `{decorator.name}` are not supported"
            return fail(UNSUPPORTED_CONSTRUCT, message, decorator.span)
        return fail(NOT_TVMSCRIPT, f"`{decorator.name}` is not a decorator of TVMScript", decorator.span)

    def decorator(self, node: ast.expr) -> Decorator:
        span = self.spans.of(node)
        called = node.func if isinstance(node, ast.Call) else node
        found = self.ev.construct_of(called)
        if not isinstance(found, Construct):
            raise fail(NOT_TVMSCRIPT, "the decorator is not one of TVMScript", span)
        options: dict[str, Meta] = {}
        if isinstance(node, ast.Call):
            site = self.ev.site(node, found)
            if site.args:
                raise site.misfit("takes options by name")
            options = dict(site.kwargs)
        return Decorator(found.path, options, span)
