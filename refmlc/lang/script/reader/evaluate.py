"""The one evaluator: a Python expression of the text to its meta-value. Nothing is executed but what `Table` lists.

| Python expression          | meaning                                                                    |
|----------------------------|----------------------------------------------------------------------------|
| literal                    | itself; `bytes`, complex numbers, `...` are refused                        |
| name                       | by scope, then Python builtins the language uses; else RM104               |
| `a.b`                      | a longer construct name, a function of the module, or by the family of `a` |
| `f(…)`                     | by the table: construct, method, value                                     |
| `a[…]`                     | by the table: construct, host container, family                            |
| operators, `a if c else b` | host arithmetic, else by the family of an operand                          |
| `lambda`                   | kept; `apply` evaluates its body                                           |
| comprehension, f-string    | of constants (`constants`)                                                 |
| `:=`, `await`, set, …      | refused, RM103                                                             |

Fails: RM103, RM104, RM105, RM107; RM602 deeper than `DEPTH`; RM605 after the deadline; and what the handlers report.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from refmlc.diag import Diagnostic, RefmlcError, Related, Span, error, fail
from refmlc.diag.catalogue import (
    BAD_ARGUMENTS,
    BAD_LITERAL,
    DEPTH_EXHAUSTED,
    NO_VALUE,
    NOT_TVMSCRIPT,
    UNKNOWN_FUNCTION,
    UNKNOWN_NAME,
)
from refmlc.lang.ir.attrs import VDevice
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.tir import Attr
from refmlc.lang.script.reader.arguments import ArgumentPlaces, CallSite
from refmlc.lang.script.reader.budget import CALL, Budget
from refmlc.lang.script.reader.constants import BUILTINS, comprehension, dictionary, formatted
from refmlc.lang.script.reader.deadline import EXPRESSIONS, Deadline
from refmlc.lang.script.reader.metadata import Entries
from refmlc.lang.script.reader.mutation import Changes
from refmlc.lang.script.reader.operators import BINARY, COMPARE, UNARY, host_binary, host_unary
from refmlc.lang.script.reader.problems import BROKEN, Followup, Problems
from refmlc.lang.script.reader.scope import MISSING, Scope
from refmlc.lang.script.reader.suggestion import suggestion
from refmlc.lang.script.reader.syntax import Spans
from refmlc.lang.script.reader.table import BinaryHandler, Family, Table
from refmlc.lang.script.reader.values import (
    Construct,
    Lambda,
    Meta,
    Method,
    ModuleRef,
    NoValue,
    PlainFunction,
    Slice,
    described,
)
from refmlc.lang.script.spellings import Generation, canonical

if TYPE_CHECKING:
    from refmlc.lang.script.tirx.templates import Template

DEPTH = 120
WAY_OUT = "`python -m refmlc.tvm --show FILE` executes a file that you trust and prints its modules"
_HOST = (int, float, str, bool, type(None), list, tuple, dict)


class Evaluator:
    """Evaluates expressions of one text. `scope` is open to the reader of statements, which opens frames in it."""

    def __init__(self, spans: Spans, table: Table, scope: Scope, deadline: Deadline | None = None) -> None:
        """An evaluator of one text, to be read before `deadline` (None: the default number of seconds from now).

        The reader of the module sets the rest: `module`, what `cls` stands for; `metadata`, the entries that the text
        holds, `devices`, those that the module lists (None: it holds none), and `infos`, all that it lists;
        `generation`, which decides where one spelling has two meanings (`spellings`). The reader of a function of
        TensorIR sets `s_tir`: it is schedulable.
        The reader of the program sets `star`, why a name that is not defined has no value, after a star import, and
        `plain_call`, which calls functions of the text with constants, and `specialize`, which reads a template.
        """
        self.spans = spans
        self.table = self._outermost = table
        self.scope = scope
        self.module: ModuleRef | None = None
        self.metadata: Entries | None = None
        self.devices: tuple[VDevice, ...] | None = None
        self.infos: Mapping[str, tuple[Attr, ...]] = {}
        self.generation: Generation = "0.27"
        self.s_tir = False
        self.budget = Budget()
        self.problems = Problems()
        self.changes = Changes()
        self.notes: list[Related] = []
        self.star: NoValue | None = None
        self.plain_call: Callable[[PlainFunction, CallSite], Meta] | None = None
        self.specialize: Callable[[Template, CallSite], Meta] | None = None
        self._deadline = deadline or Deadline()
        self._until_look = EXPRESSIONS
        self._depth = 0

    # ------------------------------------------------------------------------------------------- entry points

    def eval(self, node: ast.expr) -> Meta:
        """The meta-value of `node`."""
        if self._depth >= DEPTH:
            raise fail(DEPTH_EXHAUSTED, f"the expression nests deeper than {DEPTH}", self.spans.of(node))
        self._until_look -= 1
        if not self._until_look:
            self._until_look = EXPRESSIONS
            if self._deadline.over:
                raise self._deadline.exhausted(self.spans.of(node))
        self._depth += 1
        try:
            return self._EXPRESSIONS.get(type(node), Evaluator._refused)(self, node)
        except RefmlcError as bad:
            if bad.diagnostic.span is None:
                raise error(bad.diagnostic.at(self.spans.of(node))) from None
            raise
        finally:
            self._depth -= 1

    def eval_all(self, nodes: Sequence[ast.expr]) -> list[Meta]:
        """The meta-values of `nodes`, starred ones spread."""
        values: list[Meta] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values.extend(self._spread(node))
            else:
                values.append(self.eval(node))
        return values

    def apply(self, function: Lambda, args: Sequence[Meta], span: Span) -> Meta:
        """The body of a lambda with its parameters standing for `args`."""
        fixed = len(function.params)
        if len(args) < fixed or (len(args) > fixed and function.variadic is None):
            raise fail(BAD_ARGUMENTS, f"the lambda takes {fixed} arguments and gets {len(args)}", span)
        outer, self.scope = self.scope, function.scope.snapshot()
        try:
            with self.scope.frame():
                for name, value in zip(function.params, args, strict=False):
                    self.scope.define(name, value)
                if function.variadic is not None:
                    self.scope.define(function.variadic, tuple(args[fixed:]))
                return self.eval(function.body)
        finally:
            self.scope = outer

    @contextmanager
    def apart(self, scope: Scope) -> Iterator[None]:
        """Evaluate in another scope at the module level; what is being read around it is as it was, afterwards."""
        outer = (self.scope, self.table, self.module, self.devices, self.infos, self.generation, self.s_tir)
        self.scope, self.table = scope, self._outermost
        try:
            yield
        finally:
            self.scope, self.table, self.module, self.devices, self.infos, self.generation, self.s_tir = outer

    def construct_of(self, node: ast.expr) -> Construct | None:
        """The construct that a name or dotted name stands for, if it does; evaluates nothing else."""
        match node:
            case ast.Name(id=name):
                value = self.scope.lookup(name)
                return value if isinstance(value, Construct) else None
            case ast.Attribute(value=inner, attr=attr):
                owner = self.construct_of(inner)
                return None if owner is None else _longer(owner, attr)
            case _:
                return None

    def refuse(self, what: str, span: Span) -> RefmlcError:
        """The finding RM103 that `what` is not TVMScript."""
        return fail(NOT_TVMSCRIPT, what, span)

    # -------------------------------------------------------------------------------------------- expressions

    def _refused(self, node: ast.expr) -> Meta:
        raise self.refuse(f"{_KINDS.get(type(node), type(node).__name__)} is not TVMScript", self.spans.of(node))

    def _items_of(self, node: ast.Tuple | ast.List) -> Meta:
        values = self.eval_all(node.elts)
        return tuple(values) if isinstance(node, ast.Tuple) else values

    def index(self, node: ast.expr) -> Meta:
        """The meta-value of what stands in brackets: a value, a `Slice`, or a tuple of them."""
        return self._slice(node) if isinstance(node, ast.Slice) else self.eval(node)

    def _slice(self, node: ast.Slice) -> Slice:
        start, stop, step = (None if part is None else self.eval(part) for part in (node.lower, node.upper, node.step))
        return Slice(start, stop, step)

    def _constant(self, node: ast.Constant) -> Meta:
        value = node.value
        if value is None or isinstance(value, (int, float, str)):
            if isinstance(value, int) and value.bit_length() > 256:
                raise fail(BAD_LITERAL, f"the integer has {value.bit_length()} bits", self.spans.of(node))
            return value
        raise self.refuse(f"a literal of Python type `{type(value).__name__}` is not TVMScript", self.spans.of(node))

    def _name(self, node: ast.Name) -> Meta:
        name = node.id
        value = self.scope.lookup(name)
        match value:
            case NoValue():
                raise self.without_value(name, value, self.spans.of(node))
            case tuple() | list() | dict():
                self.budget.charge_value(value, self.spans.of(node))
                changed = self.changes.place_in(value)
                if changed is not None:
                    raise self.without_value(name, changed, self.spans.of(node))
                return value
        if value is not MISSING:
            return self._value_of(value)
        if self.star is not None and name != "range":  # a construct of TVMScript
            raise self.without_value(name, self.star, self.spans.of(node))
        if name in BUILTINS:
            return Construct(f"builtin.{name}", name)
        helps = suggestion(name, self.scope.names() | BUILTINS)
        raise error(Diagnostic(UNKNOWN_NAME, f"`{name[:80]}` is not defined", self.spans.of(node), helps=helps))

    def without_value(self, name: str, why: NoValue, span: Span) -> RefmlcError:
        """The finding that `name`, which the text binds, has no value while it is read: RM114."""
        if why is BROKEN:
            return Followup(Diagnostic(NO_VALUE, f"`{name[:80]}` has no value because of an earlier problem", span))
        related = () if why.span is None or why.span == span else (Related("the reason is here", why.span),)
        message = f"`{name[:80]}` has no value here: {why.reason}"
        return error(Diagnostic(NO_VALUE, message, span, related=related, helps=(WAY_OUT,)))

    def _value_of(self, found: Meta) -> Meta:
        if isinstance(found, Construct) and found.path in self.table.names:
            return self.table.names[found.path]
        return found

    def _attribute(self, node: ast.Attribute) -> Meta:
        owner = self.eval(node.value)
        if isinstance(owner, Construct):
            return self._value_of(_longer(owner, node.attr))
        span = self.spans.of(node)
        if isinstance(owner, ModuleRef):
            if node.attr not in owner.functions:
                raise fail(UNKNOWN_FUNCTION, f"the module has no function `{node.attr}`", span)
            return owner.functions[node.attr]
        family = self.table.family(owner)
        if family is None or family.attribute is None:
            raise self.refuse(f"{described(owner)} has no attribute `{node.attr}`", span)
        return family.attribute(self, owner, node.attr, span)

    def _dict(self, node: ast.Dict) -> Meta:
        result: dict[Meta, Meta] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise self.refuse("`**` in a dictionary is not TVMScript", self.spans.of(value))
            name = self.eval(key)
            if not isinstance(name, (str, int, float, Node)):
                raise self.refuse(f"a dictionary's key is {described(name)}", self.spans.of(key))
            result[name] = self.eval(value)
        return result

    def _lambda(self, node: ast.Lambda) -> Meta:
        args = node.args
        if args.kwonlyargs or args.kwarg or args.defaults or args.posonlyargs:
            raise self.refuse("a lambda with defaults or keyword parameters is not TVMScript", self.spans.of(node))
        variadic = None if args.vararg is None else args.vararg.arg
        return Lambda(tuple(arg.arg for arg in args.args), variadic, node.body, self.scope.snapshot())

    def _spread(self, node: ast.Starred) -> Sequence[Meta]:
        value = self.eval(node.value)
        if not isinstance(value, (list, tuple)):
            raise self.refuse(f"`*` spreads {described(value)}", self.spans.of(node))
        return value

    # ---------------------------------------------------------------------------------------------- operators

    def _binop(self, node: ast.BinOp) -> Meta:
        spine: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):  # long sums lean to the left: a loop instead of recursion
            spine.append(left)
            left = left.left
        value = self.eval(left)
        for part in reversed(spine):
            value = self.binary(BINARY[type(part.op)], value, self.eval(part.right), self.spans.of(part))
        return value

    def binary(self, symbol: str, a: Meta, b: Meta, span: Span) -> Meta:
        """`a symbol b`; `symbol` as Python writes it, `and` and `or` included."""
        for value in (a, b):
            family = self.table.family(value)
            if family is not None and family.binary is not None:
                return self._chosen(a, b, family)(self, symbol, a, b, span)
        if symbol in ("and", "or") and isinstance(a, _HOST) and isinstance(b, _HOST):
            return (a and b) if symbol == "and" else (a or b)
        return host_binary(symbol, a, b, span)

    def _chosen(self, a: Meta, b: Meta, found: Family) -> BinaryHandler:
        """The binary handler of the family that stands first in the table, of the two operands'."""
        families = [family for family in (self.table.family(a), self.table.family(b)) if family and family.binary]
        first = min(families, key=self.table.families.index, default=found)
        handler = first.binary or found.binary
        if handler is None:
            raise AssertionError
        return handler

    def unary(self, symbol: str, a: Meta, span: Span) -> Meta:
        """`symbol a`; `symbol` is `-`, `+`, `~` or `not`."""
        family = self.table.family(a)
        if family is not None and family.unary is not None:
            return family.unary(self, symbol, a, span)
        return host_unary(symbol, a, span)

    def _unaryop(self, node: ast.UnaryOp) -> Meta:
        return self.unary(UNARY[type(node.op)], self.eval(node.operand), self.spans.of(node))

    def _boolop(self, node: ast.BoolOp) -> Meta:
        symbol = "and" if isinstance(node.op, ast.And) else "or"
        value = self.eval(node.values[0])
        for part in node.values[1:]:
            if isinstance(value, _HOST) and bool(value) is (symbol == "or"):
                return value
            value = self.binary(symbol, value, self.eval(part), self.spans.of(node))
        return value

    def _compare(self, node: ast.Compare) -> Meta:
        """`a < b < c` is `a < b and b < c`, as Python has it."""
        span = self.spans.of(node)
        left = self.eval(node.left)
        result: Meta = None
        for number, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.eval(right_node)
            symbol = COMPARE[type(op)]
            if symbol in ("is", "is not") and (left is None or right is None):
                item: Meta = (left is right) is (symbol == "is")
            else:
                item = self.binary(symbol, left, right, span)
            result = item if number == 0 else self.binary("and", result, item, span)
            left = right
        return result

    def _choice(self, node: ast.IfExp) -> Meta:
        condition = self.eval(node.test)
        if isinstance(condition, _HOST):
            return self.eval(node.body if condition else node.orelse)
        family = self.table.family(condition)
        if family is None or family.choice is None:
            raise self.refuse(f"{described(condition)} is no condition", self.spans.of(node.test))
        return family.choice(self, condition, self.eval(node.body), self.eval(node.orelse), self.spans.of(node))

    # ----------------------------------------------------------------------------------- subscripts and calls

    def _subscript(self, node: ast.Subscript) -> Meta:
        owner, index, span = self.eval(node.value), self.index(node.slice), self.spans.of(node)
        match owner:
            case Construct(path, spelled):
                handler = self.table.subscripts.get(path)
                if handler is None:
                    raise self.refuse(f"`{spelled}[…]` is not TVMScript", span)
                return handler(self, owner, index, span)
            case list() | tuple() | str() | dict():
                return self._host_item(owner, index, span)
        family = self.table.family(owner)
        if family is None or family.item is None:
            raise self.refuse(f"{described(owner)} has no items", span)
        return family.item(self, owner, index, span)

    def _host_item(
        self, owner: "list[Meta] | tuple[Meta, ...] | str | dict[Meta, Meta]", index: Meta, span: Span
    ) -> Meta:
        match owner, index:
            case dict(), str() | int():
                if index in owner:
                    return owner[index]
            case list() | tuple() | str(), int():
                if -len(owner) <= index < len(owner):
                    return owner[index]
            case list() | tuple() | str(), Slice(None | int() as start, None | int() as stop, None | int() as step):
                if step != 0:
                    return owner[start:stop:step]
        raise self.refuse(f"{described(owner)} has no item {described(index)}", span)

    def _call(self, node: ast.Call) -> Meta:
        callee = self.eval(node.func)
        if isinstance(callee, Construct) and callee.path in self.table.lazy:
            return self.table.lazy[callee.path](self, node)
        site = self.site(node, callee)
        match callee:
            case Construct(path, spelled):
                handler = self.table.calls.get(path) or self.table.prefix_handler(path)
                if handler is None:
                    raise self.refuse(f"`{spelled}` is not a construct that can be called", self.spans.of(node.func))
                return handler(self, site)
            case Lambda():
                self.budget.charge(CALL, site.span)
                return self.apply(callee, site.only_positional(), site.span)
            case PlainFunction() if self.plain_call is not None:
                return self.plain_call(callee, site)
            case Method(receiver, name):
                family = self.table.family(receiver)
                if family is not None and family.method is not None:
                    return family.method(self, callee, site)
                raise self.refuse(f"{described(receiver)} has no method `{name}`", site.span)
        family = self.table.family(callee)
        if family is None or family.call is None:
            raise self.refuse(f"{described(callee)} cannot be called", site.span)
        return family.call(self, callee, site)

    def site(self, node: ast.Call, callee: Meta) -> CallSite:
        """The call with its arguments evaluated, left to right."""
        path, spelled = (callee.path, callee.spelled) if isinstance(callee, Construct) else ("", _spelled(node.func))
        args = self.eval_all(node.args)
        kwargs: dict[str, Meta] = {}
        named: dict[str, ast.expr] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                extra = self.eval(keyword.value)
                if not isinstance(extra, Mapping) or not all(isinstance(key, str) for key in extra):
                    raise self.refuse(f"`**` spreads {described(extra)}", self.spans.of(keyword.value))
                kwargs.update(extra)
                continue
            kwargs[keyword.arg] = self.eval(keyword.value)
            named[keyword.arg] = keyword.value
        placed = () if ast.Starred in map(type, node.args) else node.args
        return CallSite(
            path, spelled, tuple(args), kwargs, self.spans.of(node), ArgumentPlaces(self.spans, placed, named)
        )

    _EXPRESSIONS: ClassVar[Mapping[type[ast.expr], Callable[..., Meta]]] = {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.Subscript: _subscript,
        ast.Tuple: _items_of,
        ast.List: _items_of,
        ast.Dict: _dict,
        ast.BinOp: _binop,
        ast.UnaryOp: _unaryop,
        ast.BoolOp: _boolop,
        ast.Compare: _compare,
        ast.ListComp: comprehension,
        ast.GeneratorExp: lambda ev, node: tuple(comprehension(ev, node)),
        ast.DictComp: dictionary,
        ast.JoinedStr: formatted,
        ast.IfExp: _choice,
        ast.Lambda: _lambda,
        ast.Slice: _slice,
    }


def _longer(owner: Construct, attr: str) -> Construct:
    return _member(owner.path, owner.spelled, attr)


@lru_cache(maxsize=1024)
def _member(path: str, spelled: str, attr: str) -> Construct:
    return Construct(canonical(f"{path}.{attr}"), f"{spelled}.{attr}")


def _spelled(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=attr):
            return f"{_spelled(inner)}.{attr}"
        case _:
            return "…"


_KINDS: dict[type[ast.AST], str] = {
    ast.SetComp: "a set comprehension",
    ast.NamedExpr: "`:=`",
    ast.Await: "`await`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield from`",
    ast.Set: "a set",
    ast.Starred: "`*` here",
}
