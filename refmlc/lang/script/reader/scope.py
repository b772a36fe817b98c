"""Lexical scopes: names to what they stand for, inner frames hiding outer ones."""

from collections.abc import Mapping

from refmlc.lang.script.reader.values import Meta

MISSING = object()


class _Frame:
    """A frame while it is open."""

    __slots__ = ("frames", "names")

    def __init__(self, frames: list[dict[str, Meta]], names: dict[str, Meta]) -> None:
        self.frames = frames
        self.names = names

    def __enter__(self) -> None:
        self.frames.append(self.names)

    def __exit__(self, *failure: object) -> None:
        self.frames.pop()


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

    def frame(self, names: dict[str, Meta] | None = None) -> "_Frame":
        """A new innermost frame, or `names` as one: the caller keeps it and opens another above it."""
        return _Frame(self.frames, {} if names is None else names)

    def snapshot(self) -> "Scope":
        """A scope that sees what is visible now (for lambdas)."""
        copy = Scope({})
        copy.frames = list(self.frames)
        return copy
