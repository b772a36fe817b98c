"""A node of an ONNX graph as a rule sees it: the rule takes what it uses, and what nobody took is refused by name.

| a rule asks                | and gets                                                                     |
|----------------------------|------------------------------------------------------------------------------|
| `node.take(name, default)` | an attribute                                                                 |
| `node.input(place)`        | an input, None where there is none; `node.tensor(place)`: as a tensor        |
| `node.numbers(place)`      | the integers that an input holds, where they are known before the graph runs |
| `node.wants(place)`        | whether anybody uses an output                                               |
| `node.graph(name)`         | an attribute that is a graph; `node.run(graph, inputs)`: its results         |

So an attribute, an input or an output that no rule knows cannot be ignored (`check_all_taken`).
"""

from collections.abc import Callable, Mapping, Sequence

import onnx

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.emitter import Emitter, Operand, Size
from refmlc.frontends.onnx.constant_values import as_tensor, elements, known, late, numbers_of
from refmlc.lang.ir import relax


def identifier(name: str) -> str:
    """A name of a model as one of Python's."""
    spelled = "".join(item if item.isascii() and item.isalnum() else "_" for item in name)
    return spelled if spelled.isidentifier() else f"_{spelled}"


class Node:
    """See the docstring of the module. `opset` is the version of the operators that the model imports."""

    def __init__(
        self,
        emitter: Emitter,
        op: str,
        inputs: Sequence[Operand],
        attributes: Mapping[str, object],
        outputs: Sequence[str],
        opset: int,
        run: "Callable[[onnx.GraphProto, Sequence[Operand]], list[Operand]] | None" = None,
    ) -> None:
        self.e = emitter
        self.op = op
        self.opset = opset
        self.outputs = tuple(outputs)
        self._inputs = tuple(inputs)
        self._run = run
        self._attributes = dict(attributes)
        self._taken: set[int] = set()

    def converted(self, dtype: str) -> "Node":
        """The same node over inputs of another dtype; what it takes counts as taken of this one."""
        other = Node(
            self.e, self.op, [self.e.astype(tensor, dtype) for tensor in self.tensors()], {}, self.outputs, self.opset
        )
        other._attributes = self._attributes
        return other

    # ------------------------------------------------------------------------------------------- attributes

    def take(self, name: str, default: object = None) -> object:
        """An attribute, which counts as understood from now on."""
        return self._attributes.pop(name, default)

    def has(self, name: str) -> bool:
        """Whether an attribute is given and not taken yet."""
        return name in self._attributes

    def whole(self, name: str, default: int) -> int:
        """An attribute that is an integer. Fails: RM111."""
        value = self.take(name, default)
        if not isinstance(value, int):
            raise fail(BAD_INPUT, f"the attribute `{name}` is an integer; this is {type(value).__name__}")
        return int(value)

    def real(self, name: str, default: float) -> float:
        """An attribute that is a number. Fails: RM111."""
        value = self.take(name, default)
        if not isinstance(value, int | float):
            raise fail(BAD_INPUT, f"the attribute `{name}` is a number; this is {type(value).__name__}")
        return float(value)

    def text(self, name: str, default: str) -> str:
        """An attribute that is a text. Fails: RM111."""
        value = self.take(name, default)
        if not isinstance(value, str):
            raise fail(BAD_INPUT, f"the attribute `{name}` is a text; this is {type(value).__name__}")
        return value

    def ints(self, name: str) -> tuple[int, ...] | None:
        """An attribute that is a list of integers; None where it is not given. Fails: RM111."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, tuple) or not all(isinstance(item, int) for item in value):
            raise fail(BAD_INPUT, f"the attribute `{name}` is a list of integers")
        return value

    def graph(self, name: str) -> onnx.GraphProto:
        """An attribute that is a graph. Fails: RM111."""
        value = self.take(name)
        if not isinstance(value, onnx.GraphProto):
            raise fail(BAD_INPUT, f"the attribute `{name}` of `{self.op}` is a graph")
        return value

    def run(self, graph: onnx.GraphProto, inputs: Sequence[Operand]) -> list[Operand]:
        """The results of a graph; names that it does not define are those around the node. Fails: RM501, RM109."""
        if self._run is None:
            raise fail(UNSUPPORTED_OP, f"`{self.op}` with a graph is not supported here")
        return self._run(graph, inputs)

    # ----------------------------------------------------------------------------------------------- inputs

    def __len__(self) -> int:
        """The number of inputs, those left out in the middle among them."""
        return len(self._inputs)

    def input(self, place: int) -> Operand:
        """An input; None where it is left out."""
        self._taken.add(place)
        return self._inputs[place] if place < len(self._inputs) else None

    def tensor(self, place: int) -> relax.Expr:
        """An input as a tensor. Fails: RM111 where it is left out."""
        value = self.input(place)
        if value is None:
            raise fail(BAD_INPUT, f"input {place} of `{self.op}` is left out")
        return as_tensor(self.e, value)

    def tensors(self) -> list[relax.Expr]:
        """All inputs as tensors."""
        return [self.tensor(place) for place in range(len(self))]

    def optional(self, place: int) -> relax.Expr | None:
        """An input as a tensor; None where it is left out."""
        return None if self.input(place) is None else self.tensor(place)

    def numbers(self, place: int) -> tuple[Size, ...]:
        """The integers of an input. Fails: RM501 where they are known only when the graph runs."""
        return numbers_of(self.input(place))

    def integers(self, place: int) -> tuple[int, ...]:
        """The same, none of them symbolic. Fails: RM501."""
        result = self.numbers(place)
        if not all(isinstance(item, int) for item in result):
            raise fail(UNSUPPORTED_OP, f"input {place} of `{self.op}` depends on a symbolic extent")
        return tuple(item for item in result if isinstance(item, int))

    def number(self, place: int) -> int | float | None:
        """The one number of an input; None where it is left out. Fails: RM501 where it is computed from data."""
        value = self.input(place)
        if value is None:
            return None
        array = elements(value)
        if array is None and known(value) is not None:
            return self.integers(place)[0]
        if array is None:
            message = f"input {place} of `{self.op}` is computed from data: a known number is needed"
            raise late(value, message)
        if array.size != 1 or array.dtype.kind not in "biufV":
            raise fail(BAD_INPUT, f"input {place} of `{self.op}` is one number; this is {array.dtype} {array.shape}")
        item = array.ravel()[0]
        return int(item) if array.dtype.kind in "biu" else float(item)

    def one(self, place: int) -> int:
        """The one integer of an input. Fails: RM111, RM501."""
        number = self.number(place)
        if not isinstance(number, int):
            raise fail(BAD_INPUT, f"input {place} of `{self.op}` is one integer; this is {number}")
        return number

    # ---------------------------------------------------------------------------------------------- outputs

    @property
    def name(self) -> str:
        """The name of its first output, as one of Python's."""
        return identifier(next(filter(None, self.outputs), self.op))

    def wants(self, place: int) -> bool:
        """Whether an output is named."""
        return place < len(self.outputs) and bool(self.outputs[place])

    def check_all_taken(self) -> None:
        """Refuse what no rule took. Fails: RM501 that names it."""
        left = [f"attribute `{name}`" for name in self._attributes]
        left += [f"input {place}" for place, value in enumerate(self._inputs) if not self._is_taken(place, value)]
        if left:
            raise fail(UNSUPPORTED_OP, f"{left[0]} of `{self.op}` is not supported")

    def _is_taken(self, place: int, value: Operand) -> bool:
        return value is None or place in self._taken
