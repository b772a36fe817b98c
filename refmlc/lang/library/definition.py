r"""What defines an operator of Relax: one function in tensor expressions, and a row that names it.

| parameter of the function                   | in a call                                      | in text        |
|---------------------------------------------|------------------------------------------------|----------------|
| `x: Tensor`                                 | a tensor                                       | `x`            |
| `x: Tensor \| None`                         | the same; it may be left out                   | `x`            |
| `xs: Tensors`                               | a tuple of tensors                             | `xs`           |
| `shape: Shape`                              | a shape                                        | `s`            |
| `begin: Numbers`                            | a tuple of numbers, or a shape                 | `xs`           |
| `value: Value`                              | a number, known or not                         | `x`            |
| keyword only (`*, axis: int = -1`)          | an attribute, with TVM's default               | `a`            |
| keyword only, `counts: Counts`              | nothing: what `counted` gives                  |                |

The function is what `topi` gives too: called on tensors of tensor expressions it gives tensors. Its docstring says
meaning, shapes, dtypes, order of accumulation, errors. The type of a call follows from it: it is run on tensors of the
symbolic shapes that the arguments have, and what it makes has the shape and the dtype of the result.

Where the shape of the result depends on elements, a second function, `counted`, takes the same arguments and gives a
vector of int64; a call computes that first, and the function gets its elements as `counts`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import Parameter, signature
from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.lang.te import Tensor, Value, compute

Tensors: TypeAlias = Sequence[Tensor]
Shape: TypeAlias = tuple[Value, ...]
Numbers: TypeAlias = Sequence[Value]
Counts: TypeAlias = list[Value]
Result: TypeAlias = Tensor | tuple[Tensor, ...]
Argument: TypeAlias = Tensor | tuple[Tensor, ...] | Shape | Value | None

KINDS: Mapping[object, str] = {
    Tensor: "x",
    Tensor | None: "x",
    Tensor | Value: "x",
    Tensors: "xs",
    Shape: "s",
    Numbers: "xs",
    Numbers | None: "xs",
    Value: "x",
    Value | None: "x",
}
"""How the reader takes the argument of a parameter, by its annotation."""

WANTED: Mapping[object, str] = {
    Tensor: "a tensor",
    Tensor | None: "a tensor",
    Tensor | Value: "a tensor or a number",
    Tensors: "a tuple of tensors",
    Shape: "a shape",
    Numbers: "a tuple of numbers",
    Numbers | None: "a tuple of numbers",
    Value: "a number",
    Value | None: "a number",
}
"""The accepted values of a parameter, in words."""


def fits(annotation: object, argument: Argument) -> bool:
    """Whether a parameter with this annotation takes the argument."""
    match argument:
        case Tensor():
            return annotation in (Tensor, Tensor | None, Tensor | Value)
        case Value():
            return annotation in (Value, Value | None, Tensor | Value)
        case tuple():
            tensors, numbers = (all(isinstance(part, kind) for part in argument) for kind in (Tensor, Value))
            return (tensors and annotation == Tensors) or (numbers and annotation in (Shape, Numbers, Numbers | None))
        case None:
            return True


@dataclass(frozen=True)
class Operator:
    """Operator `name` (without `R.`). `topi`: its names there. `reason`: why it is unsupported, where it is.

    `counted`: what the shape of the result depends on, where that are elements. `domains`: what the values of a
    parameter have to be beside their dtype: `index` (of an axis), `ascending`, `unit` (from 0 to before 1).
    """

    name: str
    compute: Callable[..., Result]
    clause: str
    topi: tuple[str, ...] = ()
    reason: str = ""
    counted: Callable[..., Tensor] | None = None
    domains: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters of the function, by name, in order."""
        return signature(self.compute).parameters

    @cached_property
    def signature(self) -> tuple[tuple[str, str], ...]:
        """Each parameter with its kind in text, as the reader takes it."""
        return tuple(
            (name, "a" if parameter.kind is Parameter.KEYWORD_ONLY else KINDS[parameter.annotation])
            for name, parameter in self.parameters.items()
            if parameter.annotation != Counts
        )

    @cached_property
    def counting(self) -> "Operator | None":
        """The operator that gives what the shape of the result depends on."""
        return None if self.counted is None else Operator(self.name, self.counted, self.clause)

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The names of the parameters that a call has arguments for, in order."""
        return tuple(name for name, kind in self.signature if kind != "a")

    @cached_property
    def attributes(self) -> Mapping[str, object]:
        """The attributes with their defaults; `Parameter.empty` where there is none."""
        return {name: self.parameters[name].default for name, kind in self.signature if kind == "a"}

    @property
    def meaning(self) -> str:
        """The first line of the docstring."""
        return (self.compute.__doc__ or "").strip().partition("\n")[0]


def computed(shape: Sequence[Value | int], fcompute: Callable[..., Value | object], name: str) -> Tensor:
    """`te.compute` of one tensor."""
    tensors = compute(shape, fcompute, name=name)
    return tensors if isinstance(tensors, Tensor) else tensors[0]


def plain(value: tir.Attr) -> object:
    """An attribute as a plain Python value: constants as numbers, tuples as tuples."""
    match value:
        case tir.IntImm(value=number) | tir.FloatImm(value=number):
            return bool(number) if value.dtype.kind == "bool" else number
        case tir.StringImm(value=text):
            return text
        case tuple():
            return tuple(plain(item) for item in value)
        case _:
            return value
