"""RM328: a tensor is used by an old name after a call in place overwrote it (RLX-214).

`call_tir_inplace` and `call_inplace_packed` consume the arguments that they write: from then on only the variable of
the call names the tensor. Each tensor has an age, the number of calls that consumed it; each variable has the ages of
its tensors at its binding.

| use of a variable                            | counts                               |
|----------------------------------------------|--------------------------------------|
| in a binding, as a result of the function    | yes                                  |
| `t[i]` of a tuple                            | field i alone                        |
| in a branch of an `if`, in an inner function | when the bindings there are executed |
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

from refmlc.diag import Diagnostic, Related, error
from refmlc.diag.catalogue import USE_AFTER_INPLACE
from refmlc.diag.source import Span
from refmlc.lang.ir import relax
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.observe.sanitize.detector import Detector, Reach
from refmlc.observe.sanitize.facts import FactTable
from refmlc.run.interp.graph.call_site import DestinationCall
from refmlc.run.interp.graph.calls import inplace_indices
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor

Path: TypeAlias = "tuple[int, ...]"


@dataclass(slots=True)
class TensorAge:
    """A tensor of a variable, and its age at the binding."""

    path: Path
    tensor: Tensor
    age: int


@dataclass(slots=True)
class Consumption:
    """The number of calls that consumed a tensor, and the last of them."""

    age: int = 0
    call: relax.Call | None = None


class UsesAfterInplace(Detector):
    """Compares the ages of tensors with those at the bindings of variables."""

    code = USE_AFTER_INPLACE
    reach = Reach.GRAPH

    def __init__(self, facts: FactTable) -> None:
        super().__init__(facts)
        self._ages: WeakKeyDictionary[Storage, dict[int, Consumption]] = WeakKeyDictionary()
        self._bindings: list[dict[relax.Var, list[TensorAge]]] = []  # of each open call

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        self._bindings.append({})
        func = self.facts.module.functions.get(name)
        if isinstance(func, relax.Function):
            for param, arg in zip(func.params, args, strict=False):
                self._bind(param, arg)

    def leave_function(self, name: str, result: object) -> None:
        del result
        func = self.facts.module.functions.get(name)
        if isinstance(func, relax.Function):
            self._look(func.body.body, func.body.span)
        self._bindings.pop()

    def before_binding(self, binding: relax.Binding) -> None:
        value = binding.value
        self._look(value, binding.span if isinstance(value, relax.Var) else value.span)

    def binding(self, binding: relax.Binding, value: object) -> None:
        self._bind(binding.var, value)

    def after_destination(self, call: DestinationCall) -> None:
        op = call.call.op
        if isinstance(op, relax.Op) and op.name in ("call_tir_inplace", "call_inplace_packed"):
            for index in inplace_indices(call.call):
                arg = call.args[index] if 0 <= index < len(call.args) else None
                if isinstance(arg, Tensor):
                    use = self._consumption(arg)
                    use.age += 1
                    use.call = call.call

    def _consumption(self, tensor: Tensor) -> Consumption:
        return self._ages.setdefault(tensor.storage, {}).setdefault(tensor.byte_offset, Consumption())

    def _bind(self, var: relax.Var, value: object) -> None:
        if self._bindings:
            self._bindings[-1][var] = [
                TensorAge(path, tensor, self._consumption(tensor).age) for path, tensor in _tensors(value, ())
            ]

    def _look(self, value: Node, span: Span | None) -> None:
        """Fails: RM328 for a use of a consumed tensor in `value`."""
        bindings = self._bindings[-1] if self._bindings else {}
        for var, path in _uses(value):
            for binding in bindings.get(var, ()):
                use = self._consumption(binding.tensor)
                if binding.path[: len(path)] == path and use.age > binding.age:
                    call = use.call
                    message = f"`{var.name}` is used after a call in place consumed it"
                    related = (
                        Related("this call writes it in place", None if call is None else call.span),
                        Related(f"`{var.name}` is bound here", var.span),
                    )
                    raise error(Diagnostic(USE_AFTER_INPLACE, message, span or var.span, "", (), related))


def _tensors(value: object, path: Path) -> Iterator[tuple[Path, Tensor]]:
    if isinstance(value, Tensor):
        yield path, value
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            yield from _tensors(part, (*path, number))


def _uses(node: Node) -> Iterator[tuple[relax.Var, Path]]:
    """The variables that the evaluation of `node` uses, each with the path of the used field."""
    stack: list[Node] = [node]
    while stack:
        part = stack.pop()
        match part:
            case relax.Var():
                yield part, ()
            case relax.TupleGetItem(tuple_value=relax.Var() as var, index=index):
                yield var, (index,)
            case relax.SeqExpr() | relax.Function():
                pass
            case _:
                stack.extend(child for child in children(part) if isinstance(child, Node))
