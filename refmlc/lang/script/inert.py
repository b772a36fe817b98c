"""Names of the language as live Python objects: `T.Buffer((1, 128), "float32")` in a class is evaluated by Python.

Whatever is done with them at class-definition time gives another such object and means nothing: what the text means
is read from its source. `path` is what the object stands for as a name of the language; empty when it is the result of
a call or an operator.
"""

import typing


class Inert:
    """A name of the language, or something made from one."""

    __slots__ = ("called", "path")

    __iter__ = None  # or Python would iterate by items, without end

    def __init__(self, path: str, called: str = "") -> None:
        """`called` is the path of what was called with no arguments to make this object: `T.int64()`."""
        self.path = path
        self.called = called

    def __getattr__(self, name: str) -> "Inert":
        """A longer name."""
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert(f"{self.path}.{name}" if self.path else "")

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Give another inert object: nothing is executed."""
        return Inert("", "" if args or kwargs else self.path)

    def __repr__(self) -> str:
        return self.path or "…"

    def _inert(self, *_: object) -> "Inert":
        return Inert("")

    __getitem__ = __neg__ = __pos__ = __invert__ = _inert
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _inert
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _inert
    __lt__ = __le__ = __gt__ = __ge__ = __or__ = __ror__ = __and__ = __rand__ = __xor__ = _inert
    __lshift__ = __rshift__ = _inert


def as_shape_variable(value: object) -> bool:
    """Whether a live object declares a shape variable: `TypeVar("n")`, `T.int64()`."""
    return isinstance(value, typing.TypeVar) or (isinstance(value, Inert) and value.called == "T.int64")
