"""Lexical scopes: names to what they stand for, inner frames hiding outer ones."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from refmlc.lang.script.reader.values import Meta

MISSING = object()


class Scope:
    """A stack of frames. `with scope.frame():` opens one; names defined in it end with it."""

    __slots__ = ("frames",)

    def __init__(self, outermost: Mapping[str, Meta]) -> None:
        """Begin with one frame that holds `outermost`."""
        self.frames: list[dict[str, Meta]] = [dict(outermost)]

    def lookup(self, name: str) -> Meta:
        """What `name` stands for, or `MISSING`."""
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        return MISSING

    def define(self, name: str, value: Meta) -> None:
        """Let `name` stand for `value` from here to the end of the innermost frame."""
        self.frames[-1][name] = value

    def is_local(self, name: str) -> bool:
        """Whether the innermost frame defines `name`."""
        return name in self.frames[-1]

    def names(self) -> set[str]:
        """Every visible name."""
        return {name for frame in self.frames for name in frame}

    def items(self) -> dict[str, Meta]:
        """Every visible name with its value."""
        return {name: value for frame in self.frames for name, value in frame.items()}

    @contextmanager
    def frame(self, names: dict[str, Meta] | None = None) -> Iterator[None]:
        """A new innermost frame, or `names` as one: the caller keeps it and opens another above it."""
        self.frames.append({} if names is None else names)
        try:
            yield
        finally:
            self.frames.pop()

    def snapshot(self) -> "Scope":
        """A scope that sees what is visible now (for lambdas)."""
        copy = Scope({})
        copy.frames = list(self.frames)
        return copy
