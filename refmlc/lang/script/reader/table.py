"""The table of constructs: what names, calls, subscripts and operators of the text mean.

A part of the language (TensorIR, Relax, the module level) is one `Table`; `merged` puts the parts together in one
place (`text`). Keys are canonical names (`refmlc.lang.script.spellings`), such as `T.grid`, `R.call_tir`.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from refmlc.diag import Span
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.values import Construct, Meta

if TYPE_CHECKING:
    from refmlc.lang.ir.node import Node
    from refmlc.lang.script.reader.evaluate import Evaluator

CallHandler: TypeAlias = "Callable[[Evaluator, CallSite], Meta]"
SubscriptHandler: TypeAlias = "Callable[[Evaluator, Construct, Meta, Span], Meta]"
AttributeHandler: TypeAlias = "Callable[[Evaluator, Meta, str, Span], Meta]"
ItemHandler: TypeAlias = "Callable[[Evaluator, Meta, Meta, Span], Meta]"
BinaryHandler: TypeAlias = "Callable[[Evaluator, str, Meta, Meta, Span], Meta]"
UnaryHandler: TypeAlias = "Callable[[Evaluator, str, Meta, Span], Meta]"
ValueCallHandler: TypeAlias = "Callable[[Evaluator, Meta, CallSite], Meta]"
NodesOf: TypeAlias = "Callable[[Meta], tuple[Node, ...]]"
ChoiceHandler: TypeAlias = "Callable[[Evaluator, Meta, Meta, Meta, Span], Meta]"


@dataclass(frozen=True, slots=True)
class Family:
    """How Python's syntax acts on meta-values of certain types. None: not at all (RM103).

    `binary` gets the operator as Python writes it (`+`, `//`, `==`, `and`, `or` …) and is called when either operand
    is of `types`; `unary` gets `-`, `+`, `~`, `not`. `method` is called for `value.name(…)`: it gets the `Method` as
    value, `call` for `value(…)`. `choice` is `a if value else b`.
    """

    types: tuple[type, ...]
    attribute: "AttributeHandler | None" = None
    item: "ItemHandler | None" = None
    binary: "BinaryHandler | None" = None
    unary: "UnaryHandler | None" = None
    call: "ValueCallHandler | None" = None
    method: "ValueCallHandler | None" = None
    choice: "ChoiceHandler | None" = None


@dataclass(frozen=True, slots=True)
class Table:
    """One part of the language, or all of it.

    `calls`: a call of the name. `names`: a bare name that is a value. `subscripts`: `name[…]`.
    `prefixes`: a call of any other name that begins with the prefix; the longest prefix wins.
    `lazy`: a call whose arguments must not be evaluated first; gets the tree.
    `constants`: types of values, beside plain data, that names outside definitions stand for, where the nodes that
    they hold have no variables.
    """

    calls: Mapping[str, CallHandler] = field(default_factory=dict)
    names: Mapping[str, Meta] = field(default_factory=dict)
    subscripts: Mapping[str, SubscriptHandler] = field(default_factory=dict)
    prefixes: Mapping[str, CallHandler] = field(default_factory=dict)
    lazy: "Mapping[str, Callable[[Evaluator, ast.Call], Meta]]" = field(default_factory=dict)
    families: tuple[Family, ...] = ()
    constants: "Mapping[type, NodesOf]" = field(default_factory=dict)

    def family(self, value: Meta) -> Family | None:
        """The family of `value`; the first that fits."""
        for family in self.families:
            if isinstance(value, family.types):
                return family
        return None

    def beginning_with(self, family: Family) -> "Table":
        """The same table with `family` first."""
        return replace(self, families=(family, *self.families))

    def prefix_handler(self, name: str) -> "CallHandler | None":
        """The handler of the longest prefix of `name`."""
        best = max((prefix for prefix in self.prefixes if name.startswith(prefix)), key=len, default=None)
        return None if best is None else self.prefixes[best]


def merged(*parts: Table) -> Table:
    """One table of all `parts`; a name in two parts is the later part's, families of earlier parts come first."""
    whole = Table({}, {}, {}, {}, {}, tuple(family for part in parts for family in part.families))
    return Table(
        {**whole.calls, **{key: row for part in parts for key, row in part.calls.items()}},
        {key: row for part in parts for key, row in part.names.items()},
        {key: row for part in parts for key, row in part.subscripts.items()},
        {key: row for part in parts for key, row in part.prefixes.items()},
        {key: row for part in parts for key, row in part.lazy.items()},
        whole.families,
        {key: row for part in parts for key, row in part.constants.items()},
    )
