"""Templates of a text (`@T.jit`): each specialisation is read as a function with its constants."""

import ast
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import NO_VALUE
from refmlc.lang.ir import tir
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.budget import CALL
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.functions import defaults_of
from refmlc.lang.script.reader.module import Language, ModuleReader
from refmlc.lang.script.reader.pieces import loaded
from refmlc.lang.script.reader.syntax import every_node
from refmlc.lang.script.reader.units import Unit
from refmlc.lang.script.reader.values import Defined, Meta, NoValue
from refmlc.lang.script.spellings import Generation
from refmlc.lang.script.tirx.templates import Template, specialised, template_of, values_of


class TemplateReader:
    """The part of the reader of a program that reads templates; the rest of it says what is around them."""

    ev: Evaluator
    language: Language
    units: list[Unit]

    def __init__(self) -> None:
        """Begin without templates."""
        self.templates: list[Template] = []

    @property
    @abstractmethod
    def generation(self) -> Generation:
        """What the text as a whole shows."""

    def span(self, node: ast.AST) -> Span:
        """The place of a node."""
        return self.ev.spans.of(node)

    @abstractmethod
    def closure(self) -> AbstractContextManager[None]:
        """The scope that functions see which are defined here."""

    @abstractmethod
    def has_value(self, value: Meta) -> bool:
        """Whether a name of the text may stand for a value."""

    @abstractmethod
    def keep(self, reader: ModuleReader) -> None:
        """Keep the function that was read."""

    def template(self, node: ast.FunctionDef) -> Meta:
        """`@T.jit def f`: it is read where it is specialised, or at the end when it is not."""
        try:
            with self.closure():
                template = template_of(self.ev, loaded(node), defaults_of(self.ev, node))
        except RefmlcError as failure:
            self.units.append(Unit(node.name, self.span(node), None, failure))
            return NoValue("its definition has a problem", self.span(node))
        self.templates.append(template)
        return template

    def specialization(self, template: Template, site: CallSite) -> Meta:
        """The function that a template is with constants; it is kept. Fails: RM103, RM105, RM606, and as functions."""
        values = values_of(template, site)
        for name, value in values.items():
            if not self.has_value(value):
                raise site.wrong(name, value, "a constant")
        self.ev.budget.charge(CALL, site.span)
        return self.specialized(template, values, site.span)

    def specialized(self, template: Template, values: Mapping[str, Meta], span: Span) -> Meta:
        """The function of a template with these values of its parameters."""
        template.calls += 1
        node = specialised(template, values)
        with self.ev.apart(template.scope.snapshot()), self.ev.scope.frame(dict(values)):
            reader = ModuleReader(self.ev, self.language, node, self.generation)
            reader.declare([node])
            function = reader.read_function(node)
        self.keep(reader)
        if not isinstance(function, tir.PrimFunc):
            raise fail(NO_VALUE, f"`{node.name}` has a problem where it is specialised", span)
        return Defined(node.name, function)

    def unspecialized(self, template: Template) -> None:
        """A template that nothing specialises, as it is with its defaults; without them its constants have no value."""
        if template.calls:
            return
        reason = NoValue(f"it is a parameter of `{template.node.name}`, which the text does not specialise")
        values = {**template.constants, **dict.fromkeys(template.required, reason)}
        with suppress(RefmlcError):
            self.specialized(template, values, self.span(template.node))


def specialisations(stmt: ast.stmt) -> Iterator[ast.Call]:
    """The calls `f.specialize(…)` in a statement."""
    for node in every_node(stmt):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "specialize":
            yield node
