"""An IRModule: functions by name, in the order of the text."""

from collections.abc import Mapping
from dataclasses import field

from refmlc.diag import Source
from refmlc.ir import relax, tir
from refmlc.ir.node import Node, node


@node
class IRModule(Node):
    """Functions by name. `source` is the text it was read from, `name` the class's name in it."""

    functions: Mapping[str, "tir.PrimFunc | relax.Function | relax.ExternFunc"]
    attrs: Mapping[str, tir.Attr] = field(default_factory=dict)
    global_infos: Mapping[str, tuple[tir.Attr, ...]] = field(default_factory=dict)
    name: str = "Module"
    source: Source | None = None

    def __getitem__(self, name: str) -> "tir.PrimFunc | relax.Function | relax.ExternFunc":
        """The function called `name`; KeyError when there is none."""
        return self.functions[name]
