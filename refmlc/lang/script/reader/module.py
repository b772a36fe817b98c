"""A module: the class, or functions of one scope, to an IRModule.

| body of the class                                   | meaning                                               |
|-----------------------------------------------------|-------------------------------------------------------|
| decorated functions                                 | functions of the module; each sees all others by name |
| `I.module_attrs({…})`, `I.module_global_infos({…})` | attributes, global infos                              |
| `f = R.ExternFunc("…")`                             | an external function                                  |
| `@I.pyfunc` on a function                           | an external function of its name: its body is not read |
| docstring, `pass`                                   | nothing                                               |

A function that stands outside of the class is part of the module when the module names it.
Fails: RM103 another statement or decorator; RM210 two functions of one name; RM504 a function of another language.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from refmlc.diag import Diagnostic, RefmlcError, Related, error, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, DUPLICATE, NOT_TVMSCRIPT, UNSUPPORTED_CONSTRUCT
from refmlc.diag.source import Span
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.attrs import VDevice
from refmlc.lang.ir.module import IRModule
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.evidence import generation_of
from refmlc.lang.script.reader.pieces import loaded
from refmlc.lang.script.reader.problems import together
from refmlc.lang.script.reader.syntax import every_node
from refmlc.lang.script.reader.table import Table
from refmlc.lang.script.reader.type_parameters import type_parameters
from refmlc.lang.script.reader.values import Defined, Meta, ModuleRef, ShapeVar, described
from refmlc.lang.script.spellings import Generation

AnyFunction: TypeAlias = tir.PrimFunc | relax.Function | relax.ExternFunc
_WORD = re.compile(r"[A-Za-z_]\w*")
PYTHON_FUNCTION = "I.pyfunc"


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


class ModuleReader:
    """Reads one module: the class `node`, or the functions of a scope, of which `node` is the first."""

    def __init__(
        self, ev: Evaluator, language: Language, node: ast.ClassDef | ast.FunctionDef, fallback: Generation
    ) -> None:
        self.ev = ev
        self.spans = ev.spans
        self.language = language
        self.node = node
        self.fallback = fallback
        self.draft = _Draft()
        self.outside: dict[str, AnyFunction] = {}
        self.problems: list[Diagnostic] = []
        self.reference = ModuleRef({})
        self.members: dict[str, Meta] = {self.draft.name: self.reference, "cls": self.reference}

    @property
    def title(self) -> str:
        """The name of the class, or of the first function."""
        return self.node.name

    def module(self) -> IRModule:
        """The module that was read, with the functions from outside that it names. Fails: with all its problems."""
        if self.problems:
            raise together(self.problems)
        clash = next((name for name in self.outside if name in self.draft.functions), None)
        if clash is not None:
            message = f"`{clash}` is a function of the module and one outside of it"
            raise fail(DUPLICATE, message, self.spans.of(self.node))
        functions = {**self.outside, **self.draft.functions}
        return IRModule(functions, self.draft.attrs, self.draft.infos, self.draft.name, self.spans.source)

    # ---------------------------------------------------------------------------------------------- definitions

    def read_class(self, node: ast.ClassDef) -> None:
        """The module that the class is."""
        with self.reading(node):
            decorators = [decorator(self.ev, part) for part in node.decorator_list]
            span = self.spans.of(node)
            if [part.name for part in decorators] != ["I.ir_module"]:
                name = next(part.name for part in decorators if part.name != "I.ir_module")
                raise fail(NOT_TVMSCRIPT, f"the decorator `{name}` does not make a module", span)
            if (node.bases or node.keywords) and {base.id for base in node.bases if isinstance(base, ast.Name)} != {
                "BasePyModule"
            }:
                raise fail(NOT_TVMSCRIPT, "a module's class has no bases", span)
            self.draft.name = node.name
            self.declare(node.body)
            for stmt in node.body:
                with self.reading(stmt):
                    self.statement(stmt)

    def declare(self, body: Sequence[ast.stmt]) -> None:
        """Name the functions of the module: each sees all of them. Fails: RM210."""
        results = {f.name: f.returns for f in body if isinstance(f, ast.FunctionDef) and f.returns is not None}
        self.reference = ModuleRef(self._declared(body), results)
        self.members = {**self.reference.functions, self.draft.name: self.reference, "cls": self.reference}

    @contextmanager
    def reading(self, node: ast.stmt) -> Iterator[None]:
        """The names that `node` may use: of the module, and functions outside; its problems are kept."""
        scope = self.ev.scope
        with self.ev.problems.collecting() as problems, scope.frame(self.members), scope.frame():
            for name, value in self._functions_outside(node):
                if value.function is not None:
                    self.outside[value.name] = value.function
                    scope.define(name, tir.GlobalVar(value.name, span=self.spans.of(node)))
            self.ev.module = self.reference
            yield
        self.problems.extend(problems)

    def _functions_outside(self, node: ast.stmt) -> list[tuple[str, Defined]]:
        """The definitions that `node` names. The text decides whether its tree is searched, which takes longer."""
        text = self.spans.text_of(node)
        names = dict.fromkeys(_WORD.findall(text) if text.isascii() else _names_in(node))
        known = [(name, value) for name in names if isinstance(value := self.ev.scope.lookup(name), Defined)]
        inside = frozenset(_names_in(node)) if known else frozenset[str]()
        return [(name, value) for name, value in known if name in inside]

    def statement(self, stmt: ast.stmt) -> None:
        """A statement of the class."""
        match stmt:
            case ast.FunctionDef():
                self.draft.functions[stmt.name] = self._function(loaded(stmt))
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Expr(value=call):
                self._info(self.ev.eval(call), stmt)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.draft.functions[name] = self._extern(self.ev.eval(value), stmt)
            case _:
                raise fail(NOT_TVMSCRIPT, "this statement has no meaning in a module", self.spans.of(stmt))

    def read_function(self, node: ast.FunctionDef) -> AnyFunction | None:
        """A function of a scope; None where it has a problem."""
        with self.reading(node):
            self.draft.functions[node.name] = self._function(loaded(node))
        return self.draft.functions.get(node.name)

    def _declared(self, body: Iterable[ast.stmt]) -> dict[str, tir.GlobalVar]:
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

    def _info(self, value: Meta, stmt: ast.stmt) -> None:
        match value:
            case ModuleAttrs(attrs):
                self.draft.attrs.update(attrs)
            case GlobalInfos(infos):
                self.draft.infos.update(infos)
                self.ev.infos = dict(self.draft.infos)
                if "vdevice" in infos:
                    self.ev.devices = tuple(info for info in infos["vdevice"] if isinstance(info, VDevice))
            case _:
                message = f"{described(value)} as a statement has no meaning in a module"
                raise fail(NOT_TVMSCRIPT, message, self.spans.of(stmt))

    def _extern(self, value: Meta, stmt: ast.stmt) -> relax.ExternFunc:
        if isinstance(value, relax.ExternFunc):
            return value
        raise fail(NOT_TVMSCRIPT, f"a module cannot hold {described(value)}", self.spans.of(stmt))

    # -------------------------------------------------------------------------------------------- a function

    def _function(self, node: ast.FunctionDef) -> AnyFunction:
        span = self.spans.of(node)
        if not node.decorator_list:
            raise fail(NOT_TVMSCRIPT, f"the function `{node.name}` has no decorator", span)
        if len(node.decorator_list) > 1:
            raise fail(NOT_TVMSCRIPT, f"the function `{node.name}` has several decorators", span)
        options = decorator(self.ev, node.decorator_list[0])
        if options.name == PYTHON_FUNCTION:
            return relax.ExternFunc(node.name, span=span)  # never executed by reading
        reader = self.language.functions.get(options.name)
        if reader is None:
            raise other_language(options)
        self.ev.generation = generation_of(node, self.spans.text_of(node)) or self.fallback
        with self.ev.scope.frame():
            for name in (*self.shape_vars, *self._own_shape_vars(node)):
                self.ev.scope.define(name, tir.Var(name, INT64))
            function = reader(self.ev, node, options)
        self.ev.problems.check()
        return function

    def _own_shape_vars(self, node: ast.FunctionDef) -> Iterator[str]:
        """The names of `def f[n, m: int](…)`. Fails: RM105."""
        names: set[str] = set()
        for name, bound in type_parameters(node):
            if name.startswith("*") or bound not in ("", "int"):
                message = f"the variables of `{node.name}` are names, with `int` as their bound or without one"
                raise fail(BAD_ARGUMENTS, message, self.spans.of(node))
            if name in names:
                raise fail(DUPLICATE, f"`{node.name}` declares `{name}` twice", self.spans.of(node))
            names.add(name)
            yield name

    @cached_property
    def shape_vars(self) -> tuple[str, ...]:
        """The names that are shape variables outside of functions. Order: of the text."""
        return tuple(name for name, value in self.ev.scope.items().items() if isinstance(value, ShapeVar))


def _names_in(node: ast.stmt) -> Iterator[str]:
    return (part.id for part in every_node(node) if isinstance(part, ast.Name))


def other_language(decorator: Decorator) -> RefmlcError:
    """The failure of a function that is neither TensorIR nor Relax."""
    if decorator.name.partition(".")[0] in ("T", "R", "I"):
        message = f"functions decorated with `{decorator.name}` are not supported"
        return fail(UNSUPPORTED_CONSTRUCT, message, decorator.span)
    return fail(NOT_TVMSCRIPT, f"`{decorator.name}` is not a decorator of TVMScript", decorator.span)


def decorator_path(ev: Evaluator, node: ast.expr) -> str | None:
    """The canonical name of a decorator; None where it is not of the language."""
    construct = ev.construct_of(node.func if isinstance(node, ast.Call) else node)
    return None if construct is None else construct.path


def decorator(ev: Evaluator, node: ast.expr) -> Decorator:
    """A decorator with its options. Fails: RM103, RM105."""
    span = ev.spans.of(node)
    construct = ev.construct_of(node.func if isinstance(node, ast.Call) else node)
    if construct is None:
        ev.eval(node.func if isinstance(node, ast.Call) else node)  # fails where a name of it has no value
        raise fail(NOT_TVMSCRIPT, "the decorator is not one of TVMScript", span)
    options: dict[str, Meta] = {}
    if isinstance(node, ast.Call):
        site = ev.site(node, construct)
        if site.args:
            raise site.misfit("takes options by name")
        options = dict(site.kwargs)
    return Decorator(construct.path, options, span)
