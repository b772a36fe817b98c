"""`nn.Mutator`: a tree of modules changed in place, a method for each kind of member."""

from collections.abc import Callable

from refmlc.tvm.relax.frontend.nn.module import (
    Effect,
    Module,
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    children_of,
)
from refmlc.tvm.relax.frontend.nn.tensor import Parameter


class Mutator:
    """Override `visit_module`, `visit_param`, …: what it gives takes the place of the member."""

    def visit_module(self, name: str, node: Module) -> object:
        """A module."""
        return self.visit(name, node)

    def visit_effect(self, name: str, node: Effect) -> object:
        """An effect."""
        return self.visit(name, node)

    def visit_param(self, name: str, node: Parameter) -> object:
        """A weight."""
        return self.visit(name, node)

    def visit_moduledict(self, name: str, node: ModuleDict) -> object:
        """Modules by names."""
        return self.visit(name, node)

    def visit_modulelist(self, name: str, node: ModuleList) -> object:
        """Modules in order."""
        return self.visit(name, node)

    def visit_parameterdict(self, name: str, node: ParameterDict) -> object:
        """Weights by names."""
        return self.visit(name, node)

    def visit_parameterlist(self, name: str, node: ParameterList) -> object:
        """Weights in order."""
        return self.visit(name, node)

    def _method(self, child: object) -> Callable[[str, object], object] | None:
        methods: tuple[tuple[type, Callable[..., object]], ...] = (
            (ParameterDict, self.visit_parameterdict),
            (ParameterList, self.visit_parameterlist),
            (ModuleDict, self.visit_moduledict),
            (ModuleList, self.visit_modulelist),
            (Module, self.visit_module),
            (Effect, self.visit_effect),
            (Parameter, self.visit_param),
        )
        return next((method for kind, method in methods if isinstance(child, kind)), None)

    def visit(self, name: str, node: object) -> object:
        """Visit the members of a module, and put what the methods give in their places; `node`."""
        if not isinstance(node, Module):
            return node
        for key, child in children_of(node):
            method = self._method(child)
            if method is None:
                continue
            changed = method(f"{name}.{key}" if name else key, child)
            match node:
                case ModuleList() | ParameterList():
                    node[int(key)] = changed
                case ModuleDict() | ParameterDict():
                    node[key] = changed
                case _:
                    setattr(node, key, changed)
        return node
