"""The page that a text is written on: lines, indentation, names, the dialect, and the metadata met on the way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.attrs import DeviceMesh
from refmlc.lang.ir.types import Type
from refmlc.lang.script.printer.names import Names
from refmlc.lang.script.spellings import Generation, spelled

Domain = Literal["tir", "relax"]


@dataclass(slots=True)
class Page:
    """What is written so far, and what decides on what comes next.

    `domain` is the language that expressions stand in: in Relax a plain int is int64. `functions` are the names
    of the module's functions, None where no module is around. `undeclared` is what a line names and
    nothing declared: `declare` writes the declarations before it. `type_vars` are names that may stand before the
    class, `outside` those that do, as type variables: TVM lets no function give one a meaning of its own.
    `referred` is how many entries of metadata that was omitted the program refers to, `constants` come after them.
    `graph` writes types and expressions of Relax, which an attribute of TensorIR may hold too.
    `meshes` are the names of the meshes of devices that the module lists.
    `parts` are the variables, by identity, that are called by the part of a buffer that gives them a value:
    `A.strides[0]`; `cells` are the buffers that are shown as mutable scalars, `threads` the variables of thread axes
    that are declared before they are launched.
    """

    dialect: Generation
    show_meta: bool = False
    names: Names = field(default_factory=Names)
    lines: list[str] = field(default_factory=list)
    indent: int = 0
    domain: Domain = "tir"
    functions: frozenset[str] | None = None
    module: str = ""
    constants: list[relax.Constant] = field(default_factory=list)
    referred: int = 0
    omitted: bool = False
    loops: list[tir.For] = field(default_factory=list)
    undeclared: list[tir.Buffer | tir.Var] = field(default_factory=list)
    declare: "Callable[[Page, tir.Buffer | tir.Var], str] | None" = None
    graph: "Callable[[Page, relax.Expr | Type], str] | None" = None
    pointers: set[int] = field(default_factory=set)
    type_vars: frozenset[str] = frozenset()
    outside: frozenset[str] = frozenset()
    meshes: list[tuple[DeviceMesh, str]] = field(default_factory=list)
    shape_vars: list[str] = field(default_factory=list)
    parts: set[int] = field(default_factory=set)
    cells: set[int] = field(default_factory=set)
    threads: set[int] = field(default_factory=set)
    s_tir: bool = True

    @property
    def modern(self) -> bool:
        """Whether the dialect is that of 0.27."""
        return self.dialect == "0.27"

    @property
    def oldest(self) -> bool:
        """Whether the dialect is that of 2022."""
        return self.dialect == "2022"

    def spelled(self, name: str) -> str:
        """How the dialect spells a construct, keyword or attribute."""
        return spelled(name, self.dialect)

    def line(self, text: str) -> None:
        """Write a line, after the declarations of what it needs."""
        while self.undeclared and self.declare is not None:
            item = self.undeclared.pop(0)
            self.line(self.declare(self, item))
        self.lines.append(f"{'    ' * self.indent}{text}" if text else "")

    @contextmanager
    def block(self, *, scoped: bool = True) -> Iterator[None]:
        """An indented suite, in a scope of names of its own; `pass` where nothing is written."""
        self.indent += 1
        before = len(self.lines)
        try:
            if scoped:
                with self.names.frame():
                    yield
            else:
                yield
            if not any(text.strip() and not text.lstrip().startswith("#") for text in self.lines[before:]):
                self.line("pass")
        finally:
            self.indent -= 1

    @contextmanager
    def speaking(self, domain: Domain) -> Iterator[None]:
        """Expressions stand in `domain`."""
        outer, self.domain = self.domain, domain
        try:
            yield
        finally:
            self.domain = outer
