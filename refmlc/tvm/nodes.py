"""TVM's classes of nodes by their names, for `isinstance` and to be called: they make nodes of `refmlc.lang.ir`.

>>> isinstance(bb.emit(call), relax.DataflowVar)
True
>>> relax.Var("x", relax.TensorStructInfo((1, 4), "float32"))

`type(x)` is the class of refmlc, `refmlc.lang.ir.relax.Var`: one class is both `relax.Var` and `relax.DataflowVar`.
"""

from collections.abc import Callable, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, BAD_USAGE
from refmlc.lang.dtypes import INT64
from refmlc.lang.ir import tir
from refmlc.lang.script.inert import Inert
from refmlc.lang.te import Tensor, Value


class NodeClass:
    """A class of TVM that is some nodes here: `holds` says which, `make` makes one."""

    def __init__(self, name: str, holds: Callable[[object], bool], make: Callable[..., object] | None = None) -> None:
        """The class `name`; without `make` it is for `isinstance` alone."""
        self.__name__ = self.__qualname__ = name
        self._holds = holds
        self._make = make
        self.__doc__ = None if make is None else make.__doc__

    def __call__(self, *args: object, **kwargs: object) -> object:
        """A node. Fails: RM112 where it cannot be made by hand, else as its maker does."""
        if self._make is None:
            raise fail(BAD_USAGE, f"`{self.__name__}` is only for isinstance: refmlc creates such nodes by reading")
        return self._make(*args, **kwargs)

    def __instancecheck__(self, value: object) -> bool:
        """Whether a node is one of them."""
        return self._holds(value)

    def __or__(self, other: object) -> object:
        return self

    __ror__ = __or__

    def __repr__(self) -> str:
        return f"<class '{self.__name__}' of TVM, as refmlc's nodes>"


def of(name: str, *classes: type, make: Callable[..., object] | None = None) -> NodeClass:
    """A class that stands for several classes of refmlc; by default the first makes instances."""
    return NodeClass(name, lambda value: isinstance(value, classes), make)


class ShapeVariable(Inert):
    """`n = T.int64()` outside of a text: a size; in a text that names it, a size of each function."""

    __slots__ = ("var",)

    def __init__(self) -> None:
        super().__init__("", "T.int64")
        self.var = tir.Var("v", INT64)  # TVM's name for it


def extent(value: object) -> tir.Expr:
    """A dimension: numbers are int64, as they are in Relax. Fails: RM105."""
    match value:
        case bool():
            raise fail(BAD_ARGUMENTS, "a dimension is a number; this is a truth value")
        case int():
            return tir.IntImm(INT64, value)
        case Value():
            return value.expr
        case ShapeVariable():
            return value.var
    if isinstance(value, tir.Expr):
        return value
    raise fail(BAD_ARGUMENTS, f"a dimension is a number or an expression; this is {type(value).__name__}")


def extents(shape: "Sequence[object] | object") -> tuple[tir.Expr, ...]:
    """A shape; one number is a shape of one dimension."""
    if isinstance(shape, Tensor):
        shape = shape.shape
    return tuple(extent(size) for size in shape) if isinstance(shape, tuple | list) else (extent(shape),)
