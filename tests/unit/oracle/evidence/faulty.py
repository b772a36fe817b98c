"""An implementation with a fault, and findings that it makes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

import refmlc
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite
from refmlc.observe.copies import copies
from refmlc.oracle.examine import examine
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import Prepared, Stopped
from refmlc.oracle.implementations.interp import Interp

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n"


@dataclass(frozen=True)
class Asked:
    """A program with one call."""

    module: IRModule
    func: str
    given: tuple[object, ...]
    name: str = "asked"

    @property
    def calls(self) -> tuple[object, ...]:
        """One."""
        return (self.given,)

    def arguments(self, number: int = 0) -> list[object]:
        """Fresh ones."""
        assert number == 0
        return copies(self.given)


@dataclass
class Faulty:
    """The interpreter, which takes one float constant for another."""

    old: float
    new: float
    name: str = "faulty"
    promises_verdicts: bool = False

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        """The module with the fault."""

        def fault(node: Node) -> Node:
            return replace(node, value=self.new) if isinstance(node, tir.FloatImm) and node.value == self.old else node

        functions = {name: rewrite(func, fault) for name, func in module.functions.items()}
        return Interp(check=False).prepare(replace(module, functions=functions))

    def close(self) -> None:
        """Nothing is held."""


def program(body: str, *given: object, func: str = "main", read: Callable[..., IRModule] = refmlc.read) -> Asked:
    """A program from its text."""
    return Asked(read(HEAD + body, "program.py"), func, given)


def found(asked: Asked, implementation: Faulty) -> Finding:
    """The one finding."""
    (finding,) = examine([asked], [implementation])[0].findings
    return finding


def floats(values: Sequence[float], dtype: str = "float32") -> np.ndarray:
    """An array."""
    return np.array(values, dtype)
