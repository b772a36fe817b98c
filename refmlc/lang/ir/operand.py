"""What people write with nodes in Python: `x + y`, `lv[0]`, `cls(x)`, `func.with_attr("k", 1)`.

As `node.script()`, these call functions that the root of refmlc provides: `refmlc.lang.builder.operators` makes calls
of Relax, and through `refmlc.lang.te` expressions of TensorIR. Comparison stays that of identity.
"""

from collections.abc import Callable, Mapping
from typing import Self, cast

from refmlc.lazy import provided

Binary = Callable[[str, object, object], object]


class Operand:
    """Arithmetic; `MAKER` names the provided function that makes an expression of it."""

    __slots__ = ()
    MAKER = "operand.graph"

    def _binary(self, name: str, left: object, right: object) -> object:
        return cast("Binary", provided(self.MAKER))(name, left, right)

    def __add__(self, other: object) -> object:
        return self._binary("add", self, other)

    def __radd__(self, other: object) -> object:
        return self._binary("add", other, self)

    def __sub__(self, other: object) -> object:
        return self._binary("subtract", self, other)

    def __rsub__(self, other: object) -> object:
        return self._binary("subtract", other, self)

    def __mul__(self, other: object) -> object:
        return self._binary("multiply", self, other)

    def __rmul__(self, other: object) -> object:
        return self._binary("multiply", other, self)

    def __truediv__(self, other: object) -> object:
        return self._binary("divide", self, other)

    def __rtruediv__(self, other: object) -> object:
        return self._binary("divide", other, self)

    def __floordiv__(self, other: object) -> object:
        return self._binary("floor_divide", self, other)

    def __rfloordiv__(self, other: object) -> object:
        return self._binary("floor_divide", other, self)

    def __mod__(self, other: object) -> object:
        return self._binary("floor_mod", self, other)

    def __rmod__(self, other: object) -> object:
        return self._binary("floor_mod", other, self)

    def __pow__(self, other: object) -> object:
        return self._binary("power", self, other)

    def __neg__(self) -> object:
        return self._binary("negative", self, None)


class Graph(Operand):
    """Arithmetic of Relax, fields of tuples, calls."""

    __slots__ = ()

    def __getitem__(self, index: int) -> object:
        """A field of a tuple. Fails: TypeError for other values, IndexError beyond the last field."""
        return cast("Callable[[object, int], object]", provided("operand.field"))(self, index)


class Callee:
    """What may be called: a function of the module, a variable that is one."""

    __slots__ = ()
    name: str

    @property
    def name_hint(self) -> str:
        """The name, as TVM calls it."""
        return self.name

    def __call__(self, *args: object) -> object:
        """Make a call of Relax with these arguments."""
        return cast("Callable[..., object]", provided("operand.called"))(self, args)


class Scalar(Operand):
    """Arithmetic of TensorIR."""

    __slots__ = ()
    MAKER = "operand.scalar"


class Attributed:
    """Attributes of functions. Each of these gives a new function."""

    __slots__ = ()

    def with_attr(self, key: "str | Mapping[str, object]", value: object = None) -> Self:
        """The function with an attribute, or several. `global_symbol` makes it visible under its name."""
        attrs = {key: value} if isinstance(key, str) else key
        return cast("Callable[..., Self]", provided("attributes.with"))(self, attrs)

    def without_attr(self, key: str) -> Self:
        """The function without an attribute; without `global_symbol` it is private."""
        return cast("Callable[..., Self]", provided("attributes.without"))(self, key)
