"""`R.Tensor((n, 4), "float32")` outside of a text: a type, for `relax.Var("x", R.Tensor(…))` and the like.

In a text it is what the text says, and Python's value of it means nothing, as of all names of the language.
"""

from collections.abc import Callable, Mapping

from refmlc.diag import RefmlcError
from refmlc.lang.ir.types import AnyType, Type
from refmlc.lang.script.front import Namespace
from refmlc.lang.script.inert import Inert
from refmlc.tvm.nodes import ShapeVariable
from refmlc.tvm.relax.constructors import prim_type, shape_type, tensor_type


class TypeValue(Inert):
    """A name of the language that has been called and is a type."""

    __slots__ = ("ty",)

    def __init__(self, ty: Type) -> None:
        super().__init__("")
        self.ty = ty


class TypeMaker(Inert):
    """A name of the language that is called to make a type."""

    __slots__ = ("make",)

    def __init__(self, path: str, make: Callable[..., Type]) -> None:
        """The name; `make` makes the type."""
        super().__init__(path)
        self.make = make

    def __call__(self, *args: object, **kwargs: object) -> object:
        """The type; nothing in particular where the arguments are those of a text alone, as names of sizes are."""
        try:
            return TypeValue(self.make(*args, **kwargs))
        except (RefmlcError, TypeError):
            return super().__call__(*args, **kwargs)


MAKERS: Mapping[str, Callable[..., Type]] = {
    "Tensor": tensor_type,
    "Shape": shape_type,
    "Prim": prim_type,
    "Object": AnyType,
    "Any": AnyType,
}


class SizeMaker(Inert):
    """`T.int64`, which called without arguments is a size."""

    __slots__ = ()

    def __call__(self, *args: object, **kwargs: object) -> object:
        """A size, or nothing in particular."""
        return super().__call__(*args, **kwargs) if args or kwargs else ShapeVariable()


class Programs(Namespace):
    """`T`, whose `int64()` is a size."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Inert:
        """A name of the language."""
        return SizeMaker(f"{self.path}.{name}") if name == "int64" else super().__getattr__(name)


class Graphs(Namespace):
    """`R`, whose types may be called."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Inert:
        """A name of the language."""
        return TypeMaker(f"{self.path}.{name}", MAKERS[name]) if name in MAKERS else super().__getattr__(name)


def as_type(value: object) -> object:
    """The type that a name of the language was called to make; anything else as it is."""
    return value.ty if isinstance(value, TypeValue) else value
