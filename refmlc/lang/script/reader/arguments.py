"""A call in the text with its evaluated arguments, and how a construct takes them."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.script.reader.syntax import Spans
from refmlc.lang.script.reader.values import Meta, described


class _Required:
    """Marks a parameter without default in `CallSite.take`."""


REQUIRED = _Required()


@dataclass(frozen=True, slots=True)
class ArgumentPlaces:
    """Where the arguments of a call stand: positional ones in order, others by keyword."""

    spans: Spans | None = None
    args: Sequence[ast.expr] = ()
    kwargs: Mapping[str, ast.expr] = field(default_factory=dict)

    def of(self, which: int | str) -> Span | None:
        """The place of an argument; None where it is not known."""
        if isinstance(which, str):
            node = self.kwargs.get(which)
        else:
            node = self.args[which] if which < len(self.args) else None
        return None if node is None or self.spans is None else self.spans.of(node)

    def positional(self, first: int = 0) -> "ArgumentPlaces":
        """Those of the positional arguments from the one of this number on."""
        return ArgumentPlaces(self.spans, self.args[first:])

    def renamed(self, rename: Callable[[str], str]) -> "ArgumentPlaces":
        """The same with other keywords."""
        return ArgumentPlaces(self.spans, self.args, {rename(key): node for key, node in self.kwargs.items()})


NOWHERE = ArgumentPlaces()


@dataclass(slots=True)
class CallSite:
    """A call: the canonical and the written name of what is called, the arguments, their places."""

    name: str
    spelled: str
    args: tuple[Meta, ...]
    kwargs: Mapping[str, Meta]
    span: Span
    places: ArgumentPlaces = NOWHERE

    def take(self, **parameters: Meta) -> dict[str, Meta]:
        """The arguments by name. `parameters` are the names in order with defaults (`REQUIRED`: none).

        Fails with RM105 when an argument is missing, unknown, given twice or too many.
        """
        if len(self.args) > len(parameters):
            raise self.misfit(f"takes at most {len(parameters)} positional arguments and gets {len(self.args)}")
        values = dict(zip(parameters, self.args, strict=False))
        for key, value in self.kwargs.items():
            if key not in parameters:
                raise self.misfit(f"has no parameter `{key}`", self.place(key))
            if key in values:
                raise self.misfit(f"gets `{key}` twice", self.place(key))
            values[key] = value
        for key, default in parameters.items():
            if key not in values:
                if default is REQUIRED:
                    raise self.misfit(f"gets no argument for `{key}`")
                values[key] = default
        return values

    def only_positional(self, least: int = 0, most: int | None = None) -> tuple[Meta, ...]:
        """The positional arguments, when there are `least` … `most` and no others. Fails with RM105."""
        self.only_keywords()
        if len(self.args) < least or (most is not None and len(self.args) > most):
            wanted = str(least) if most == least else f"{least} to {most}" if most is not None else f"at least {least}"
            raise self.misfit(f"takes {wanted} arguments and gets {len(self.args)}")
        return self.args

    def only_keywords(self, *names: str) -> None:
        """Fails with RM105 where there is a keyword that is not one of `names`."""
        for key in self.kwargs:
            if key not in names:
                raise self.misfit(f"has no parameter `{key}`", self.place(key))

    def place(self, which: int | str, position: int = -1) -> Span:
        """Where argument `which` (a position or a keyword) stands; the call where that is not known.

        `position` is where a keyword's argument may stand as well.
        """
        if isinstance(which, str) and which not in self.kwargs and position >= 0:
            which = position
        return self.places.of(which) or self.span

    def misfit(self, what: str, span: Span | None = None) -> RefmlcError:
        """The finding RM105 that the construct `what` (`takes 2 arguments and gets 3`)."""
        return fail(BAD_ARGUMENTS, f"`{self.spelled}` {what}", span or self.span)

    def wrong(self, key: str, value: Meta, wanted: str) -> RefmlcError:
        """The finding RM105 that argument `key` is `value` where `wanted` is."""
        return self.misfit(f"takes {wanted} as `{key}` and gets {described(value)}")
