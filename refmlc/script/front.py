"""`T`, `R`, `I` and `ir_module` for live Python: the decorators read the source, all other names are inert.

| written                                   | is                                                                |
|-------------------------------------------|-------------------------------------------------------------------|
| `@I.ir_module` or `@ir_module` on a class | the `IRModule`                                                    |
| `@T.prim_func` on a function in a class   | the function as it is: the class's decorator reads it               |
| `@T.prim_func` on any other function      | the `PrimFunc`                                                     |
| `@R.function` on any other function       | the Relax `Function`                                              |
| anything else of `T`, `R`, `I`            | an object without meaning, so that Python gets through the class    |
"""

import sys
from types import FrameType, FunctionType

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.script.inert import Inert
from refmlc.script.live import read_live


class _Decorator(Inert):
    """A decorator, with or without options; the options are read from the source."""

    __slots__ = ()

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Decorate, or take options and be the decorator."""
        if not args:
            return _Decorator(self.path)
        if len(args) > 1 or kwargs:
            raise fail(BAD_USAGE, f"`{self.path}` decorates one object and takes its options by name")
        frame = sys._getframe(1)  # noqa: SLF001 - names are looked up where the decorator stands
        return _decorated(self.path, args[0], frame)


def _decorated(path: str, obj: object, frame: FrameType) -> object:
    if path == "I.ir_module":
        if not isinstance(obj, type):
            raise fail(BAD_USAGE, f"`{path}` decorates a class, not an object of type `{type(obj).__name__}`")
        return read_live(obj, frame)
    if not isinstance(obj, FunctionType):
        raise fail(BAD_USAGE, f"`{path}` decorates a function, not an object of type `{type(obj).__name__}`")
    if "__qualname__" in frame.f_locals and "__module__" in frame.f_locals:  # the body of a class
        return obj
    return read_live(obj, frame)[obj.__name__]


class _Namespace(Inert):
    """`T`, `R` or `I`."""

    __slots__ = ("decorators",)

    def __init__(self, path: str, *decorators: str) -> None:
        """A namespace whose `decorators` decorate."""
        super().__init__(path)
        self.decorators = decorators

    def __getattr__(self, name: str) -> Inert:
        """A name of the language."""
        longer = super().__getattr__(name)
        return _Decorator(longer.path) if name in self.decorators else longer


T = _Namespace("T", "prim_func")
R = _Namespace("R", "function")
I = _Namespace("I", "ir_module")  # noqa: E741 - its name in every text
ir_module = _Decorator("I.ir_module")
tir = tirx = T  # as in `from refmlc.script import tir as T, relax as R`
relax = R
ir = I
