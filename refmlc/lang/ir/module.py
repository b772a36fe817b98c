"""An IRModule: functions by name, in the order of the text.

Decision: a module is the one node that changes, as TVM's does, because people write `mod["f"] = func`. It gets another
mapping then: who took `functions` before, and what was built from the module, keeps what it had.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TypeAlias

from refmlc.diag import Source
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.node import Node, node

AnyFunction: TypeAlias = "tir.PrimFunc | relax.Function | relax.ExternFunc"


@node
class IRModule(Node):
    """Functions by name. `source` is the text it was read from, `name` the class's name in it."""

    functions: Mapping[str, AnyFunction]
    attrs: Mapping[str, tir.Attr] = field(default_factory=dict)
    global_infos: Mapping[str, tuple[tir.Attr, ...]] = field(default_factory=dict)
    name: str = "Module"
    source: Source | None = None

    def __getitem__(self, name: "str | tir.GlobalVar") -> AnyFunction:
        """The function called `name`; KeyError when there is none."""
        return self.functions[_name(name)]

    def __setitem__(self, name: "str | tir.GlobalVar", func: AnyFunction) -> None:
        """Set the function `name` to `func`; a new name is added at the end."""
        object.__setattr__(self, "functions", {**self.functions, _name(name): func})

    def __contains__(self, name: object) -> bool:
        """Whether there is a function called `name`."""
        return isinstance(name, str | tir.GlobalVar) and _name(name) in self.functions

    def __delitem__(self, name: "str | tir.GlobalVar") -> None:
        """Take a function out; KeyError when there is none."""
        self.functions[_name(name)]
        left = {key: func for key, func in self.functions.items() if key != _name(name)}
        object.__setattr__(self, "functions", left)

    def update_func(self, var: "str | tir.GlobalVar", func: AnyFunction) -> None:
        """As `mod[var] = func`."""
        self[var] = func

    def update(self, other: "IRModule | Mapping[str, AnyFunction]") -> None:
        """Put all functions of another module in."""
        for name, func in (other.functions if isinstance(other, IRModule) else other).items():
            self[name] = func

    def functions_items(self) -> "list[tuple[tir.GlobalVar, AnyFunction]]":
        """The functions with their names as nodes."""
        return [(tir.GlobalVar(name), func) for name, func in self.functions.items()]

    def get_global_var(self, name: str) -> tir.GlobalVar:
        """The name of a function as a node, to be called; KeyError when there is none."""
        self.functions[name]
        return tir.GlobalVar(name)

    def get_global_vars(self) -> list[tir.GlobalVar]:
        """The names of all functions as nodes."""
        return [tir.GlobalVar(name) for name in self.functions]

    def get_attr(self, key: str) -> tir.Attr:
        """An attribute; None when there is none."""
        return self.attrs.get(key)

    def with_attr(self, key: str, value: tir.Attr) -> "IRModule":
        """Another module, with an attribute."""
        return replace(self, attrs={**self.attrs, key: value})

    def without_attr(self, key: str) -> "IRModule":
        """Another module, without an attribute."""
        return replace(self, attrs={name: value for name, value in self.attrs.items() if name != key})

    def clone(self) -> "IRModule":
        """Another module with the same functions."""
        return replace(self)


def _name(name: "str | tir.GlobalVar") -> str:
    return name.name if isinstance(name, tir.GlobalVar) else name
