"""The parts of what a call leaves behind: every value returned, then every tensor given, tuples part by part.

Numbers and shapes are given by value: no call can change them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from refmlc.lang.ir import IRModule, relax
from refmlc.oracle.implementations.implementation import Ended
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.vm.parameters import parameters_of


@dataclass(frozen=True)
class Part:
    """One value. `label` is what messages call it; `argument` its number among the arguments (None: returned)."""

    label: str
    value: object
    argument: int | None = None


def parts(module: IRModule, func: str, ended: Ended) -> list[Part]:
    """The parts of `ended`, a call of `func`, in order."""
    result = [Part(label, value) for label, value in _flat("the result", ended.value)]
    function = module.functions.get(func)
    names = [] if function is None or isinstance(function, relax.ExternFunc) else parameters_of(function)
    for number, arg in enumerate(ended.args):
        name = f"`{names[number].name}`" if number < len(names) else f"argument {number}"
        tensors = [(label, value) for label, value in _flat(name, arg) if isinstance(value, Tensor)]
        result += [Part(label, value, number) for label, value in tensors]
    return result


def _flat(label: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, tuple) and not isinstance(value, Shape):
        for number, item in enumerate(value):
            yield from _flat(f"{label}, field {number}", item)
    elif value is not None or label != "the result":
        yield label, value
