"""The queried element: of an argument, a result, a Relax variable, or an inner buffer.

The name is looked for in this order: parameters, `result` (`result.0` of a tuple), variables of Relax (as they were
bound last), buffers (the last store to the element). Where the run ends in the middle of a binding, its variable means
the memory that the binding's call writes to. No name: the only result, or the only parameter that is written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ops.contract import Scalar
from refmlc.observe.addresses import first_byte
from refmlc.observe.why.memory import ArgumentTensor, Storages, cell_of
from refmlc.observe.why.recorder import FOREVER, Demands, Recorder
from refmlc.observe.why.sites import Sites
from refmlc.observe.why.values import Cell, Reading
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.tensor import Tensor


@dataclass(frozen=True, slots=True)
class ElementQuery:
    """The name and the indices that the user asks for."""

    name: str
    index: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ElementPlace:
    """The queried element: its place, the time of the query, its value then (None: not initialised)."""

    name: str
    index: tuple[int, ...]
    reading: Reading
    value: Scalar | None
    dtype: DType


class Finder(Recorder):
    """The recorder of the first run, which also looks for variables and buffers with the queried name."""

    def __init__(self, module: IRModule, sites: Sites, budget: Budget, demands: Demands, chain_limit: int) -> None:
        super().__init__(module, sites, budget, demands, chain_limit)
        self.query = ElementQuery("", ())
        self.element: ElementPlace | None = None
        self.names: dict[str, None] = {}
        self.unfinished: dict[str, Tensor] = {}

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Note the outputs of a call that computes the queried variable: its last tensors, not written yet."""
        super().enter_function(name, args)
        if not self._bindings or self._bindings[-1] != self.query.name.partition(".")[0]:
            return
        destinations = tuple(takewhile(is_unwritten, reversed([arg for arg in args if isinstance(arg, Tensor)])))
        if destinations:
            value = destinations[0] if len(destinations) == 1 else destinations[::-1]
            self.unfinished = dict(tensors_in(self._bindings[-1], value))

    def binding(self, binding: relax.Binding, value: object) -> None:
        """Locate the element if the variable has the queried name."""
        super().binding(binding, value)
        self.names[binding.var.name] = None
        self.unfinished = {}
        for name, tensor in tensors_in(binding.var.name, value):
            if name == self.query.name:
                self.element = element(self.storages, name, tensor, self.query.index, self.count)

    def store(self, access: tir.BufferStore, indices: tuple[int, ...], value: object, frame: Frame) -> None:
        """Locate the element if the buffer has the queried name."""
        super().store(access, indices, value, frame)
        if access.buffer.name != self.query.name or indices != self.query.index or self.place is None:
            return
        dtype = access.buffer.dtype
        view, offset = self.place
        storage = self.storages.number(view.data.storage)
        cell = Cell(storage, first_byte(view, offset), cell_size(dtype))
        lane = value[0] if isinstance(value, tuple) else value
        number = lane if isinstance(lane, (bool, int, float)) else None
        self.element = ElementPlace(self.query.name, indices, (cell, self.count), number, dtype.scalar)


def is_unwritten(tensor: Tensor) -> bool:
    """True if no element of the tensor was written."""
    return not any(tensor.shadow[place] for place in range(tensor.reach * tensor.dtype.lanes))


def tensors_in(name: str, value: object) -> Iterator[tuple[str, Tensor]]:
    """The tensors of a value with their names; field `n` of a tuple is `name.n`."""
    stack = [(name, value)]
    while stack:
        path, part = stack.pop()
        if isinstance(part, Tensor):
            yield path, part
        elif isinstance(part, tuple):
            stack.extend((f"{path}.{number}", field) for number, field in reversed(list(enumerate(part))))


def element(storages: Storages, name: str, tensor: Tensor, index: Sequence[int], time: int) -> ElementPlace:
    """An element of a tensor. Fails: RM112 for indices outside the shape."""
    if len(index) != tensor.ndim or not all(0 <= at < extent for at, extent in zip(index, tensor.shape, strict=True)):
        text = f"{name}[{', '.join(map(str, index))}]"
        raise fail(BAD_USAGE, f"there is no element `{text}`: `{name}` has the shape {tensor.shape}")
    cell = cell_of(storages, tensor, index)
    at = sum(i * stride for i, stride in zip(index, tensor.element_strides, strict=True)) * tensor.dtype.lanes
    value = tensor.cells[at] if tensor.shadow[at] else None
    return ElementPlace(name, tuple(index), (cell, time), value, tensor.dtype.scalar)


def locate(recorder: Finder, query: ElementQuery, arguments: Sequence[ArgumentTensor], value: object) -> ElementPlace:
    """The queried element, after the first run. Fails: RM112 if nothing has the name."""
    results = list(tensors_in("result", value))
    tensors = {argument.name: argument.tensor for argument in reversed(arguments)} | dict(results)
    name = query.name or _only(results, arguments, recorder)
    if name in tensors:
        return element(recorder.storages, name, tensors[name], query.index, FOREVER)
    if recorder.element is not None:
        return recorder.element
    if name in recorder.unfinished:
        return element(recorder.storages, name, recorder.unfinished[name], query.index, FOREVER)
    raise _unknown(query, [*tensors, *recorder.names])


def _only(results: Sequence[tuple[str, Tensor]], arguments: Sequence[ArgumentTensor], recorder: Finder) -> str:
    names = [name for name, _ in results] or [
        argument.name for argument in arguments if argument.storage in recorder.written
    ]
    if len(names) != 1:
        raise fail(BAD_USAGE, "choose an output", None, f"there are: {', '.join(names) or 'none'}")
    return names[0]


def _unknown(query: ElementQuery, names: Sequence[str]) -> RefmlcError:
    text = f"{query.name}[{', '.join(map(str, query.index))}]"
    message = f"no `{text}` was written or returned"
    return fail(BAD_USAGE, message, None, f"known names: {', '.join(dict.fromkeys(names)) or 'no names'}")
