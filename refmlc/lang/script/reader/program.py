"""A whole text to the modules that it defines: its statements, the constants they bind, the functions they call.

| statement of a module, a function or a class | meaning                                                   |
|----------------------------------------------|-----------------------------------------------------------|
| import lines, comments, docstrings           | names (`imports`), nothing                                |
| `n = TypeVar("n")`                           | a shape variable, int64, one per function that names it   |
| `metadata = tvm.ir.load_json("…")`           | the entries of `metadata[…]`, wherever it stands          |
| `@I.ir_module class Name:`                   | a module                                                  |
| `@T.prim_func def f`, `@R.function def f`    | a function; those of one scope are a module               |
| `@T.inline def f`, `@T.macro def f`          | statements that a call puts in its place                  |
| `N = 16`, `SHAPE = (N, N)`                   | a constant (SCR-001), or a name without value (SCR-002)   |
| `@T.jit def f` and `f.specialize(N=16)`      | the function with these constants                         |
| `def make(n):` and `f = make(16)`            | the statements of `make` with n = 16 (SCR-003)            |
| `def test():` without a call                 | its statements; the parameters are names without value    |
| `class Test:` without a decorator            | its statements                                            |
| `return x`                                   | the value of the call                                     |
| any other                                    | skipped, with a note                                      |

A function that a function of the text defines a second time begins a module of its own. Nothing is executed.
Fails: RM103 another decorator; RM114 a name without value; RM606 more work than the budget; and as modules fail.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from refmlc.diag import Exhausted, Internal, RefmlcError, Related, fail
from refmlc.diag.catalogue import DEPTH_EXHAUSTED, NO_VALUE
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.bindings import OUTWARD, Binding, bindings, defect
from refmlc.lang.script.reader.budget import CALL
from refmlc.lang.script.reader.constants import define
from refmlc.lang.script.reader.deadline import Deadline
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.evidence import generation_of
from refmlc.lang.script.reader.functions import arguments, defaults_of, own_names, parameters
from refmlc.lang.script.reader.imports import imported, imports_any_name, prelude
from refmlc.lang.script.reader.macros import NUMBERED, macro_of
from refmlc.lang.script.reader.metadata import read_metadata
from refmlc.lang.script.reader.module import Language, ModuleReader, decorator_path
from refmlc.lang.script.reader.mutation import (
    NAMES_OF_ANY,
    foreign_modules,
    holds_definition,
    is_definition,
    is_function,
    is_nested,
    mentions,
    reaches_any_name,
)
from refmlc.lang.script.reader.operators import is_constant
from refmlc.lang.script.reader.scope import Scope
from refmlc.lang.script.reader.specialisation import TemplateReader, specialisations
from refmlc.lang.script.reader.substitution import substituted
from refmlc.lang.script.reader.syntax import Spans, every_node, may_name
from refmlc.lang.script.reader.tir_values import LoopSpec
from refmlc.lang.script.reader.types import TYPES
from refmlc.lang.script.reader.units import Program, Unit
from refmlc.lang.script.reader.values import (
    Construct,
    Defined,
    Macro,
    Meta,
    NoValue,
    PlainFunction,
    ShapeVar,
    described,
)
from refmlc.lang.script.spellings import Generation
from refmlc.lang.script.tirx.templates import JIT, Template

_VALUES = (
    *(DType, Construct, ShapeVar, PlainFunction, Macro, Template, Defined),
    *(tir.IntImm, tir.FloatImm, tir.StringImm, *TYPES),
)
_VARIABLE = (tir.Var, tir.Buffer, relax.Var)
METADATA = ("metadata", "meta")
_LONGEST = 60


@dataclass(slots=True)
class _Frame:
    """A scope while its statements are read.

    `function`: the function of which it is; `assumed`: without a call; `doubt`: a skipped statement that may return.
    """

    body: Sequence[ast.stmt]
    function: ast.FunctionDef | None = None
    assumed: bool = False
    is_class: bool = False
    doubt: ast.stmt | None = None
    result: Meta = None
    finished: bool = False
    groups: dict[ast.FunctionDef, ModuleReader] = field(default_factory=dict)


def read_program(
    tree: ast.Module,
    spans: Spans,
    language: Language,
    names: Mapping[str, Meta] | None = None,
    *,
    deadline: Deadline | None = None,
) -> Program:
    """What the text of `tree` holds. `names` are defined around it (live objects, for a decorator)."""
    ev = Evaluator(spans, language.table, Scope({**prelude(), **(names or {})}), deadline)
    return _Reader(tree, ev, language).read()


class _Reader(TemplateReader):
    def __init__(self, tree: ast.Module, ev: Evaluator, language: Language) -> None:
        super().__init__()
        self.tree, self.language = tree, language
        self.text = ev.spans.source.text
        self.ev = ev
        self.units: list[Unit] = []
        self.frames: list[_Frame] = []
        self.pending: dict[ast.FunctionDef, PlainFunction] = {}
        ev.plain_call = self.call
        ev.specialize = self.specialization

    def read(self) -> Program:
        for stmt in self.tree.body:  # the metadata of a text may stand behind what refers to it
            match stmt:
                case ast.Assign(
                    targets=[ast.Name(id="metadata" | "meta")], value=ast.Call(args=[ast.Constant(value=str(text))])
                ):
                    self.ev.metadata = read_metadata(text, self.span(stmt))
        with self.ev.scope.frame():
            self.scope(_Frame(self.tree.body))
            while self.pending:
                node, function = next(iter(self.pending.items()))
                self.assume(node, function)
            for template in self.templates:
                self.unspecialized(template)
        return Program(tuple(self.units), tuple(self.ev.notes), self.ev.spans.source)

    @cached_property
    def generation(self) -> Generation:
        """What the text as a whole shows, for functions that show nothing."""
        return generation_of(self.tree, self.text) or "0.27"

    @cached_property
    def mentioned_inside(self) -> frozenset[tuple[str, bool]]:
        """The names that functions and classes of the text mention, and whether they may change a list so."""
        scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        inner = (node for node in every_node(self.tree) if isinstance(node, scopes))
        own = ((node, own_names(node)) for node in inner if not is_definition(node, self.foreign))
        return frozenset(
            mention for node, names in own for mention in mentions(node, self.foreign) if mention[0] not in names
        )

    @cached_property
    def foreign(self) -> frozenset[str]:
        """Names of modules whose `function` is not of TVMScript."""
        return foreign_modules(self.tree) if "function" in self.text else frozenset()

    @cached_property
    def dynamic(self) -> ast.AST | None:
        """A place that names a function which can bind any name."""
        return reaches_any_name(self.tree) if may_name(self.text, NAMES_OF_ANY) else None

    @cached_property
    def binds_outward(self) -> bool:
        """Whether a function of the text may bind names of scopes around it."""
        return OUTWARD.search(self.text) is not None

    # ------------------------------------------------------------------------------------------------- scopes

    def scope(self, frame: _Frame) -> Meta:
        """The statements of a scope, whose names are in the innermost frame; the value that it returns."""
        for name, places in bindings(frame.body, outward=self.binds_outward).items():
            if self.ev.metadata is None or name not in METADATA:
                self.ev.scope.define(name, self.unbound(name, places))
        frame.groups = self.groups(frame)
        self.frames.append(frame)
        try:
            for stmt in frame.body:
                self.statement(stmt, frame)
                if frame.finished:
                    break
        finally:
            self.frames.pop()
        for group in dict.fromkeys(frame.groups.values()):
            if group.draft.functions or group.problems:
                self.add(group, frame)
        return frame.result

    def unbound(self, name: str, places: Sequence[Binding]) -> NoValue:
        """What a name stands for before its binding is read."""
        place = defect(places)
        if self.ev.scope.is_local(name):
            return NoValue("it is a parameter and is bound again", self.span(places[0].node))
        if place is not None:
            return NoValue(f"it {place.defect}", self.span(place.node))
        if self.dynamic is not None and not places[0].path:
            return NoValue("the text calls a function that may bind any name", self.span(self.dynamic))
        return NoValue("it is bound later", self.span(places[0].node), final=False)

    def groups(self, frame: _Frame) -> dict[ast.FunctionDef, ModuleReader]:
        """The module that each function of a scope belongs to; a name that stands there twice begins another one."""
        nodes = [stmt for stmt in frame.body if isinstance(stmt, ast.FunctionDef) and is_function(stmt, self.foreign)]
        parts: list[list[ast.FunctionDef]] = []
        inside = bool(self.frames) or frame.function is not None
        for node in nodes:
            if not parts or (inside and any(node.name == other.name for other in parts[-1])):
                parts.append([])
            parts[-1].append(node)
        groups: dict[ast.FunctionDef, ModuleReader] = {}
        for part in parts:
            reader = ModuleReader(self.ev, self.language, part[0], self.generation)
            reader.declare(part)
            groups.update(dict.fromkeys(part, reader))
        return groups

    def bind(self, name: str, value: Meta, stmt: ast.stmt) -> None:
        """Let `name` have `value`, unless the text binds it in a way that gives no value."""
        known = self.ev.scope.frames[-1].get(name)
        if isinstance(known, NoValue) and known.final:
            return
        if isinstance(value, (tuple, list, dict)):
            inside = self.mentioned_inside
            if (name, True) in inside or (is_nested(value) and (name, False) in inside):
                self.ev.changes.add(value, NoValue("a function of the text may change the list", self.span(stmt)))
        self.ev.scope.define(name, value)

    def add(self, reader: ModuleReader, frame: _Frame) -> None:
        """Keep the module that was read, or the failure."""
        span = self.span(reader.node)
        try:
            self.units.append(Unit(reader.title, span, reader.module()))
        except RefmlcError as failure:
            assumed = frame.assumed and any(part.code is NO_VALUE for part in reader.problems)
            self.units.append(Unit(reader.title, span, None, failure, assumed))
            if assumed:
                function = frame.function.name if frame.function is not None else reader.title
                message = f"`{reader.title}` is not read, because `{function}` is not called with constants"
                self.ev.notes.append(Related(message, span))

    def keep(self, reader: ModuleReader) -> None:
        """Keep the function of a template that was read."""
        self.add(reader, self.frames[-1] if self.frames else _Frame(()))

    @contextmanager
    def closure(self) -> Iterator[None]:
        """The scope that functions see which are defined here: without the names of a class."""
        outer = self.ev.scope
        if self.frames[-1].is_class:
            self.ev.scope = outer.snapshot()
            self.ev.scope.frames.pop()
        try:
            yield
        finally:
            self.ev.scope = outer

    # --------------------------------------------------------------------------------------------- statements

    def statement(self, stmt: ast.stmt, frame: _Frame) -> None:
        match stmt:
            case ast.Import() | ast.ImportFrom():
                self.imports(stmt)
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass() | ast.AnnAssign(value=None):
                pass
            case ast.ClassDef():
                self.class_definition(stmt, frame)
            case ast.FunctionDef():
                self.function_definition(stmt, frame)
            case ast.Assign(targets=[ast.Name(id="metadata" | "meta")]) if self.ev.metadata is not None:
                pass
            case ast.Assign(targets=targets, value=value):
                self.assignment(targets, value, stmt, frame)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assignment([target], value, stmt, frame)
            case ast.Return(value=value) if frame.function is not None:
                frame.finished = True
                frame.result = None if value is None else self.constant(value, stmt)
                if frame.doubt is not None:
                    frame.result = NoValue("the call may return elsewhere", self.span(frame.doubt))
            case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call) if isinstance(
                self.ev.scope.lookup(name), PlainFunction
            ):
                if isinstance(self.constant(call, stmt), NoValue):
                    self.skip(stmt, frame)
            case _:
                self.skip(stmt, frame)

    def imports(self, stmt: ast.Import | ast.ImportFrom) -> None:
        if imports_any_name(stmt):
            self.ev.star = NoValue("a star import may bind it", self.span(stmt))
            for names in self.ev.scope.frames[1:]:
                known = [name for name, value in names.items() if not isinstance(value, (Construct, NoValue))]
                names.update(dict.fromkeys(known, self.ev.star))
        for construct in imported(stmt):
            self.bind(construct.spelled, construct, stmt)

    def assignment(self, targets: Sequence[ast.expr], node: ast.expr, stmt: ast.stmt, frame: _Frame) -> None:
        """`N = 16`, `M, N = 16, 8`, `f = make(16)`."""
        value = self.constant(node, stmt)
        if isinstance(value, NoValue):
            self.changes_by(stmt)
            if any(isinstance(part, ast.Call) for part in every_node(node)):
                self.note(stmt, frame)
        for target in targets:
            for name, item in self.unpacked(target, value, stmt).items():
                if isinstance(item, Defined) and isinstance(node, ast.Call) and len(self.frames) == 1:
                    self.rename(item, name)
                self.bind(name, ShapeVar(name) if isinstance(item, ShapeVar) else item, stmt)

    def rename(self, value: Defined, name: str) -> None:
        """Call what a function of the text has made as the text does: `large = make(32)`."""
        for number, unit in enumerate(self.units):
            functions = () if unit.module is None else unit.module.functions.values()
            if number == value.unit or any(function is value.function for function in functions):
                self.units[number] = replace(unit, name=name)

    def unpacked(self, target: ast.expr, value: Meta, stmt: ast.stmt) -> dict[str, Meta]:
        """The values of the names in `target`."""
        match target:
            case ast.Name(id=name):
                return {name: value}
            case _:
                names = [part.id for part in every_node(target) if isinstance(part, ast.Name)]
        if isinstance(value, NoValue):
            return dict.fromkeys(names, value)
        with self.ev.scope.frame():
            try:
                define(self.ev, target, value)
            except RefmlcError as failure:
                return dict.fromkeys(names, self.without(failure, stmt))
            return dict(self.ev.scope.frames[-1])

    def constant(self, node: ast.expr, stmt: ast.stmt) -> Meta:
        """The constant that `node` is; a `NoValue` where it is none. Raises when a budget is used up."""
        try:
            value = self.ev.eval(node)
        except (Exhausted, Internal):
            raise
        except RefmlcError as failure:
            if isinstance(node, ast.Call) and decorator_path(self.ev, node) == "I.TypeVar":
                self.units.append(Unit("TypeVar", self.span(stmt), None, failure))
            return self.without(failure, stmt)
        if isinstance(value, (NoValue, *_VALUES)) or (isinstance(value, LoopSpec) and value.host is not None):
            return value
        items = value if isinstance(value, (tuple, list)) else (value,)
        if all(self.has_value(item) for item in items):
            return value
        return NoValue(f"it is bound to {described(value)}, which is not a constant", self.span(stmt))

    def has_value(self, value: Meta) -> bool:
        """Whether a name of the text may stand for `value`: plain data, a layout, an expression without variables."""
        if is_constant(value) or isinstance(value, _VALUES):
            return True
        nodes_of = self.language.table.constants.get(type(value))
        nodes = nodes_of(value) if nodes_of is not None else (value,) if isinstance(value, tir.Expr) else ()
        return bool(nodes) and not any(isinstance(part, _VARIABLE) for node in nodes for part in walk(node))

    def without(self, failure: RefmlcError, stmt: ast.stmt) -> NoValue:
        """The reason that the value of a statement is not a constant."""
        return NoValue(f"it is not bound to a constant ({failure.diagnostic.message})", self.span(stmt))

    def note(self, stmt: ast.stmt, frame: _Frame) -> None:
        """Say that a statement is skipped; statements of functions that are not called are not worth it."""
        if frame.assumed:
            return
        span = self.span(stmt)
        text = self.ev.spans.source.line(span.line)[span.column :].strip()
        more = ", and the TVMScript in it" if holds_definition(stmt, self.foreign) else ""
        self.ev.notes.append(Related(f"`{text[:_LONGEST]}` is skipped{more}: reading executes nothing", span))

    def skip(self, stmt: ast.stmt, frame: _Frame) -> None:
        """A statement that is not executed; what it may change has no value from here on."""
        self.note(stmt, frame)
        self.changes_by(stmt)
        for call in sorted(specialisations(stmt), key=lambda node: (node.lineno, node.col_offset)):
            self.constant(call, stmt)
        for node in every_node(stmt):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imports(node)
            elif isinstance(node, ast.Return) and frame.function is not None:
                frame.doubt = stmt

    def changes_by(self, stmt: ast.stmt) -> None:
        """Let the lists that `stmt` may change have no value."""
        for name, changes in mentions(stmt, self.foreign):
            value = self.ev.scope.lookup(name)
            if isinstance(value, (tuple, list, dict)) and (changes or is_nested(value)):
                self.ev.changes.add(value, NoValue("the list may be changed before", self.span(stmt)))

    # -------------------------------------------------------------------------------------------- definitions

    def class_definition(self, node: ast.ClassDef, frame: _Frame) -> None:
        """A module, or a Python class: its statements are read, its names are not seen by its functions."""
        paths = [decorator_path(self.ev, part) or "" for part in node.decorator_list]
        if any(path == "I.ir_module" or path in self.language.functions for path in paths):
            reader = ModuleReader(self.ev, self.language, node, self.generation)
            with self.closure():
                self.in_doubt(reader, frame)
                reader.read_class(node)
            self.add(reader, frame)
            self.bind(node.name, Defined(node.name, unit=len(self.units) - 1), node)
            return
        self.bind(node.name, NoValue("it is a class", self.span(node)), node)
        if holds_definition(node, self.foreign):
            with self.ev.scope.frame():
                self.scope(_Frame(node.body, frame.function, frame.assumed, is_class=True))

    def function_definition(self, node: ast.FunctionDef, frame: _Frame) -> None:
        """A function of TVMScript, a macro, or a plain function."""
        paths = [decorator_path(self.ev, part) or "" for part in node.decorator_list]
        if node in frame.groups and not any(path in NUMBERED for path in paths):
            reader = frame.groups[node]
            with self.closure():
                self.in_doubt(reader, frame)
                function = reader.read_function(node)
            if isinstance(function, tir.PrimFunc | relax.Function):
                self.bind(node.name, Defined(node.name, function), node)
            else:
                self.bind(node.name, NoValue("its definition has a problem", self.span(node)), node)
        elif any(path in NUMBERED for path in paths):
            self.bind(node.name, self.macro(node), node)
        elif JIT in paths:
            self.bind(node.name, self.template(node), node)
        else:
            self.plain(node)

    def in_doubt(self, reader: ModuleReader, frame: _Frame) -> None:
        """Refuse a definition of a call that may have returned before."""
        if frame.doubt is not None and not frame.assumed:
            message = f"whether `{reader.title}` is defined is not known: the call may return before"
            reader.problems.append(fail(NO_VALUE, message, self.span(frame.doubt)).diagnostic)

    def macro(self, node: ast.FunctionDef) -> Meta:
        """`@T.inline def f`, `@T.macro def f`."""
        try:
            return macro_of(self.ev, node)
        except RefmlcError as failure:
            self.units.append(Unit(node.name, self.span(node), None, failure))
            return NoValue("its definition has a problem", self.span(node))

    def plain(self, node: ast.FunctionDef) -> None:
        """A function of Python: it is read when it is called, or at the end when it is not."""
        refusal = "it is decorated" if node.decorator_list else ""
        if is_definition(node) and not is_definition(node, self.foreign):
            self.note(node, self.frames[-1])
        if any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)) for part in ast.walk(node)):
            refusal = "it is a generator"
        try:
            defaults = defaults_of(self.ev, node)
        except (Exhausted, Internal):
            raise
        except RefmlcError:
            defaults, refusal = {}, "a default of it is not a constant"
        with self.closure():
            function = PlainFunction(node, self.ev.scope.snapshot(), defaults, refusal)
        if holds_definition(node, self.foreign):
            self.pending[node] = function
        self.bind(node.name, function, node)

    # -------------------------------------------------------------------------------------------------- calls

    def call(self, function: PlainFunction, site: CallSite) -> Meta:
        """The value of a call with constants; what it defines is kept. Fails: RM103, RM105, RM114, RM602, RM606."""
        node = function.node
        if function.refusal:
            raise fail(NO_VALUE, f"`{node.name}` is not called while reading: {function.refusal}", site.span)
        if any(frame.function is node for frame in self.frames):
            raise fail(DEPTH_EXHAUSTED, f"`{node.name}` calls itself while it is read", site.span)
        values = arguments(node, function.defaults, site)
        if not all(self.has_value(value) for value in values.values()):
            return substituted(self.ev, function, values, site, self.has_value)
        self.ev.budget.charge(CALL, site.span)
        self.pending.pop(node, None)
        assumed = bool(self.frames) and self.frames[-1].assumed
        result = self.within(function, values, _Frame(node.body, node, assumed))
        if isinstance(result, NoValue):
            raise self.ev.without_value(f"{node.name}(…)", result, site.span)
        return result

    def assume(self, node: ast.FunctionDef, function: PlainFunction) -> None:
        """The definitions of a function that is not called: its parameters have no value, unless all have a default."""
        del self.pending[node]
        names = parameters(node)
        message = f"it is a parameter of `{node.name}`, which the text does not call with constants"
        reason = NoValue(message, self.span(node))
        complete = set(names) <= set(function.defaults)
        values = {name: function.defaults[name] if complete else reason for name in names}
        self.within(function, values, _Frame(node.body, node, assumed=True))

    def within(self, function: PlainFunction, values: Mapping[str, Meta], frame: _Frame) -> Meta:
        """The statements of a function in its own scope; the reader of what is around is as it was, afterwards."""
        with self.ev.apart(function.scope.snapshot()), self.ev.scope.frame():
            for name, value in values.items():
                self.ev.scope.define(name, value)
            return self.scope(frame)
