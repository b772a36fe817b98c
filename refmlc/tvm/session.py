"""Cells of Python, executed one after the other in one namespace, as a notebook does.

| what                              | as a notebook                                                            |
|-----------------------------------|--------------------------------------------------------------------------|
| statements of a cell              | each by itself: `from __future__` may stand anywhere, and stays in force |
| the last statement, an expression | its value is shown, unless it is None                                    |
| `!command`, `%magic`              | taken out (`Cell.commands`), the lines stay                              |
| the source                        | is known to `linecache`, so that decorators can read it                  |

This executes code: use it only for programs that you trust. Modules are read elsewhere, and never
executed.
"""

import ast
import linecache
import re
import sys
from codeop import Compile
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType

from refmlc.lang.ir.node import Node

_COMMAND = re.compile(r"^(\s*)([!%].*)$", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A piece of source at a line of a file, and the commands that are no Python in it."""

    text: str
    file: str = "<cell>"
    line: int = 1
    commands: tuple[str, ...] = field(init=False)
    source: str = field(init=False)

    def __post_init__(self) -> None:
        commands = tuple(match[2] for match in _COMMAND.finditer(self.text))
        object.__setattr__(self, "commands", commands)
        object.__setattr__(self, "source", _COMMAND.sub(r"\1pass", self.text))

    def parsed(self) -> ast.Module:
        """The statements, at the lines of the file. Fails: SyntaxError."""
        return ast.parse("\n" * (self.line - 1) + self.source, self.file)


class Session:
    """A namespace, and what of `__future__` is in force."""

    def __init__(self, names: Mapping[str, object] | None = None) -> None:
        """An empty one, or one that has `names`. It is the module `__main__` of its process."""
        module = ModuleType("__main__")
        module.__dict__.update(names or {})
        sys.modules["__main__"] = module
        self.module = module
        self._compile = Compile()

    @property
    def names(self) -> dict[str, object]:
        """The namespace."""
        return self.module.__dict__

    def run(self, cell: Cell) -> object:
        """Execute a cell; the value of its last expression. Fails: as the cell does."""
        tree = cell.parsed()
        lines = ("\n" * (cell.line - 1) + cell.source).splitlines(keepends=True)
        linecache.cache[cell.file] = (len(lines), None, lines, cell.file)
        *before, last = tree.body or [ast.Pass(lineno=1, col_offset=0)]
        for statement in before:
            self._execute(ast.Module([statement], []), cell.file, "exec")
        if isinstance(last, ast.Expr):
            return self._execute(ast.Expression(last.value), cell.file, "eval")
        return self._execute(ast.Module([last], []), cell.file, "exec")

    def _execute(self, tree: ast.Module | ast.Expression, file: str, mode: str) -> object:
        compiled = self._compile(tree, file, mode)  # type: ignore[arg-type]
        return eval(compiled, self.names)  # noqa: S307 - what the session is for


def shown(value: object) -> str:
    """The text that a notebook shows for a value: the name of a class, the data of an `IPython.display.Code`."""
    if isinstance(value, type):
        return value.__qualname__ if value.__module__ == "builtins" else f"{value.__module__}.{value.__qualname__}"
    data = getattr(value, "data", None)
    if type(value).__name__ == "Code" and isinstance(data, str):
        return data
    return str(value) if isinstance(value, Node) else repr(value)
