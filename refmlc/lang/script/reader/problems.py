"""The problems of a text: reading continues behind a statement that fails, so that all of them are reported.

A problem that only follows from an earlier one is not reported: a name that a failed statement binds is `BROKEN`, and
a statement that holds a failed one may fail as well.
"""

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from refmlc.diag import Diagnostic, Exhausted, Internal, Malformed, RefmlcError, error
from refmlc.lang.script.reader.scope import Scope
from refmlc.lang.script.reader.syntax import every_node
from refmlc.lang.script.reader.values import NoValue

BROKEN = NoValue("the statement that binds it has a problem")
MOST = 20
"""The problems of one function after which the rest of it is not read, and the number that a message holds."""


class Followup(Malformed):
    """A problem that an earlier one explains."""


class Problems:
    """The problems of what is read at the moment, in the order of reading."""

    __slots__ = ("diagnostics",)

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def add(self, failure: RefmlcError) -> None:
        """Keep a problem. Raises it when a budget is used up, or by a bug."""
        if isinstance(failure, (Exhausted, Internal)):
            raise failure
        if not isinstance(failure, Followup):
            self.diagnostics.append(failure.diagnostic)

    @contextmanager
    def collecting(self) -> Iterator[list[Diagnostic]]:
        """Gives a list of its own to the problems of a definition."""
        outer, self.diagnostics = self.diagnostics, []
        collected = self.diagnostics
        try:
            yield collected
        except RefmlcError as failure:
            if not collected or isinstance(failure, (Exhausted, Internal)):
                self.add(failure)
        finally:
            self.diagnostics = outer

    @contextmanager
    def recovering(self, scope: Scope, stmt: ast.stmt | ast.arg) -> Iterator[None]:
        """Keep the problem of `stmt`, unless it holds one that is known; the names that it binds are broken then."""
        before = len(self.diagnostics)
        try:
            yield
        except RefmlcError as failure:
            if before >= MOST:
                raise
            if len(self.diagnostics) == before or isinstance(failure, (Exhausted, Internal)):
                self.add(failure)
            self.break_names(scope, stmt)

    @staticmethod
    def break_names(scope: Scope, root: ast.AST) -> None:
        """Let the names that `root` binds be broken: problems with them are not reported again."""
        if isinstance(root, ast.arg):
            scope.define(root.arg, BROKEN)
        for node in every_node(root):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                scope.define(node.id, BROKEN)

    def check(self) -> None:
        """Raise when there are problems: what was read has gaps."""
        if self.diagnostics:
            raise Followup(self.diagnostics[0])


def together(diagnostics: Sequence[Diagnostic]) -> RefmlcError:
    """One failure of several findings, each once: the first with the others behind it."""
    first, *others = dict.fromkeys(diagnostics)
    if len(others) >= MOST:
        first = first.noting(f"{len(others) - MOST + 1} more problems are not shown")
    return error(replace(first, others=tuple(others[: MOST - 1])))
