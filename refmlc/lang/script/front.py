"""`T`, `R`, `I` and `ir_module` for live Python: the decorators read the source, all other names are inert.

| written                                   | is                                                               |
|-------------------------------------------|------------------------------------------------------------------|
| `@I.ir_module` or `@ir_module` on a class | the `IRModule`                                                   |
| the same, if a base class has `of_module` | what that class method gives for the module                      |
| `@I.pyfunc` on a function                 | the function as it is: reading never runs it                     |
| `@T.prim_func` on a function in a class   | the function as it is: the class's decorator reads it            |
| `@T.prim_func` on any other function      | the `PrimFunc`                                                   |
| `@R.function` on any other function       | the Relax `Function`                                             |
| anything else of `T`, `R`, `I`            | an object without meaning, so that Python gets through the class |

No function of the decorated class is called, whatever its name.
"""

import sys
from collections.abc import Callable
from inspect import ismethod
from types import FrameType, FunctionType
from typing import TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule
from refmlc.lang.script.inert import Inert
from refmlc.lang.script.live import read_live

Finish: TypeAlias = Callable[[IRModule], IRModule]


class _Decorator(Inert):
    """A decorator, with or without options; the options are read from the source."""

    __slots__ = ("finish",)

    def __init__(self, path: str, finish: Finish | None = None) -> None:
        """The decorator of this name; `finish` is what is done with the module that was read."""
        super().__init__(path)
        self.finish = finish

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Decorate, or take options and be the decorator."""
        if not args:
            return _Decorator(self.path, self.finish)
        if len(args) > 1 or kwargs:
            raise fail(BAD_USAGE, f"`{self.path}` decorates one object and takes its options by name")
        frame = sys._getframe(1)  # noqa: SLF001 - names are looked up where the decorator stands
        return _decorated(self, args[0], frame)


@entry_point
def _decorated(decorator: _Decorator, obj: object, frame: FrameType) -> object:
    path = decorator.path
    if path == "I.ir_module":
        if not isinstance(obj, type):
            raise fail(BAD_USAGE, f"`{path}` decorates a class, not an object of type `{type(obj).__name__}`")
        module = _read(decorator, obj, frame)
        become = getattr(super(obj, obj), "of_module", None)  # a function of the text may have the name too
        return become(module) if ismethod(become) else module
    if not isinstance(obj, FunctionType):
        raise fail(BAD_USAGE, f"`{path}` decorates a function, not an object of type `{type(obj).__name__}`")
    if path == "I.pyfunc":  # a function of Python beside those of the module
        return obj
    if "__qualname__" in frame.f_locals and "__module__" in frame.f_locals:  # the body of a class
        return obj
    return _read(decorator, obj, frame)[obj.__name__]


def _read(decorator: _Decorator, obj: "type | FunctionType", frame: FrameType) -> IRModule:
    module = read_live(obj, frame)
    return module if decorator.finish is None else decorator.finish(module)


class Namespace(Inert):
    """`T`, `R` or `I`."""

    __slots__ = ("decorators", "finish")

    def __init__(self, path: str, *decorators: str, finish: Finish | None = None) -> None:
        """A namespace whose `decorators` decorate; `finish` is what they do with the module that was read."""
        super().__init__(path)
        self.decorators = decorators
        self.finish = finish

    def __getattr__(self, name: str) -> Inert:
        """A name of the language."""
        longer = super().__getattr__(name)
        return _Decorator(longer.path, self.finish) if name in self.decorators else longer


T = Namespace("T", "prim_func")
R = Namespace("R", "function")
I = Namespace("I", "ir_module", "pyfunc")  # noqa: E741 - its name in every text
ir_module = _Decorator("I.ir_module")
tir = tirx = T  # as in `from refmlc.lang.script import tir as T, relax as R`
relax = R
ir = I
