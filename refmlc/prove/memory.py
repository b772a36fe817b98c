"""The memory of a symbolic execution: a value beside each element, and what branches on data do to it.

The interpreter's storages stay what they are (identity, size, life, what is initialised); their bytes are never used.
An element that has no value here, although the interpreter counts it as initialised, was written behind the prover's
back: then nothing is decided.

A branch on data writes into a layer of its own. When both sides are done, each element that one of them wrote becomes a
selection between the two.
"""

from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from refmlc.diag.source import Span
from refmlc.lang.dtypes import DType
from refmlc.prove.obligations import Obligation, Obligations
from refmlc.prove.terms import ELEMENTS, LEAF, SymbolicTerm, Terms, TermValue, Undecided, key_of
from refmlc.run.interp.graph.expressions import CONSTANT
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.cells import cell_size, cells
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor

Place: TypeAlias = tuple[int, int]
UNSEEN = "memory is read that the prover did not see written"
UNINITIALISED = "uninitialised"
Layer: TypeAlias = dict[Place, tuple[DType, TermValue]]


@dataclass(frozen=True)
class ArgumentMemory:
    """A tensor of the caller: its name, dtype and shape."""

    name: str
    dtype: DType
    shape: tuple[int, ...]

    def index(self, cell: int) -> tuple[int, ...]:
        """The indices of a cell; of a vector dtype the lane is the last."""
        shape = (*self.shape, self.dtype.lanes) if self.dtype.is_vector else self.shape
        indices: list[int] = []
        for extent in reversed(shape):
            cell, index = divmod(cell, extent)
            indices.append(index)
        return tuple(reversed(indices))


class TermMemory:
    """The values of all elements of one execution, and its obligations under the current conditions.

    `has_possible_accesses`: an access was reported to the detectors that only some arguments make. `has_blocks`: an
    instance of a block was entered; then an element that one side of a branch wrote is not read, since its write would
    permit the read to the detectors of blocks although the other side does not write.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.obligations = Obligations()
        self.conditions: frozenset[tuple[int, bool]] = frozenset()
        self._outer: list[frozenset[tuple[int, bool]]] = []
        self._layers: list[Layer] = [{}]
        self._arguments: dict[int, ArgumentMemory] = {}
        self._storages: dict[int, Storage] = {}
        self._units: dict[int, int] = {}
        self._one_sided: set[Place] = set()
        self.has_possible_accesses = False
        self.has_blocks = False

    def oblige(self, kind: str, key: object, text: str, span: Span | None) -> None:
        """Note what must hold here."""
        self.obligations.add(Obligation(kind, key, self.conditions, text, span))

    def argument(self, name: str, tensor: Tensor) -> None:
        """Let each element of `tensor` be one of the caller's, under `name`."""
        tensor.mark_initialised()
        self._storages[id(tensor.storage)] = tensor.storage
        self._arguments[id(tensor.storage)] = ArgumentMemory(name, tensor.dtype, tensor.shape)

    def load(self, view: View, cell: int, span: Span | None) -> TermValue:
        """The value of a cell of a view, which is initialised. Fails: Undecided."""
        dtype = view.buffer.dtype.scalar
        place = self._place(view, cell, dtype)
        value = self._at(place, dtype)
        self._require_certain(place, span)
        if value is not None:
            return value
        return self._of_argument(place, dtype, span)

    def content(self, view: View, offset: int) -> tuple[object, ...]:
        """What tells the values of an element apart, by lane; None: a lane has no value."""
        width, dtype = view.buffer.dtype.lanes, view.buffer.dtype.scalar
        places = [self._place(view, lane, dtype) for lane in range(offset * width, (offset + 1) * width)]
        values = [self._before(place, dtype) for place in places]
        return tuple([None if value is None else key_of(value) for value in values])

    def _require_certain(self, place: Place, span: Span | None) -> None:
        if self.has_blocks and place in self._one_sided:
            raise Undecided("an element is read that one side of a branch on data writes", span)

    def store(self, view: View, cell: int, value: TermValue) -> None:
        """Put a value into a cell of a view. Fails: Undecided."""
        dtype = view.buffer.dtype.scalar
        place = self._place(view, cell, dtype)
        self._at(place, dtype)
        self._layers[-1][place] = (dtype, value)
        if not self.conditions:
            self._one_sided.discard(place)
        argument = self._arguments.get(place[0])
        if argument is not None:
            self.oblige("writable", argument.name, f"the memory of `{argument.name}` may be written", None)

    def contents(self, tensor: Tensor) -> tuple[TermValue | None, ...]:
        """The value of each cell of a compact tensor after the execution; None: it is not initialised.

        Fails: Undecided for an initialised cell that the prover did not see written.
        """
        return tuple([self._content(tensor, number) for number in range(tensor.size * tensor.dtype.lanes)])

    def _content(self, tensor: Tensor, number: int) -> TermValue | None:
        dtype = tensor.dtype.scalar
        self._storages[id(tensor.storage)] = tensor.storage
        place = (id(tensor.storage), tensor.byte_offset + number * cell_size(dtype))
        value = self._before(place, dtype)
        if value is None and tensor.shadow[number]:
            raise Undecided(UNSEEN)
        return value

    def elements(self, view: View) -> SymbolicTerm:
        """All elements of a view as one term, in row-major order: what a load at an unknown place may read."""
        places = product(*map(range, view.shape))
        offsets = (sum(index * step for index, step in zip(place, view.strides, strict=True)) for place in places)
        values = [self._element(view, offset) for offset in offsets]
        return self.terms.term(ELEMENTS, view.buffer.dtype, view.shape, values)

    def _element(self, view: View, offset: int) -> TermValue:
        dtype = view.buffer.dtype
        place = self._place(view, offset, dtype)
        self._require_certain(place, None)
        value = self._before(place, dtype)
        if value is not None:
            return value
        if offset < len(view.shadow) and view.shadow[offset]:
            raise Undecided(UNSEEN)
        return self.terms.term(UNINITIALISED, dtype, None, ())

    # ------------------------------------------------------------------------------------ branches

    def begin(self, condition: SymbolicTerm, *, side: bool) -> None:
        """Execute the following under a condition on data, until `end`."""
        self.has_possible_accesses = True
        self._layers.append({})
        self._outer.append(self.conditions)
        self.conditions |= {(condition.number, side)}

    def end(self) -> Layer:
        """What was written since `begin`, which is taken back."""
        self.conditions = self._outer.pop()
        return self._layers.pop()

    def join(self, condition: SymbolicTerm, yes: Layer, no: Layer) -> None:
        """Let each element that one of two sides wrote be a selection between them.

        An element without a value before, which only one side wrote, has none afterwards: a read of it is undecided.
        """
        self._one_sided |= yes.keys() ^ no.keys()
        for place in (*yes, *(place for place in no if place not in yes)):
            dtype = (yes.get(place) or no[place])[0]
            sides = [layer[place][1] if place in layer else self._before(place, dtype) for layer in (yes, no)]
            if sides[0] is not None and sides[1] is not None:
                self._layers[-1][place] = (dtype, self.terms.select(condition, sides[0], sides[1], dtype))

    def _before(self, place: Place, dtype: DType) -> TermValue | None:
        value = self._at(place, dtype)
        if value is None and place[0] in self._arguments:
            return self._leaf(place, dtype)
        return self._constant(place, dtype) if value is None else value

    def _constant(self, place: Place, dtype: DType) -> TermValue | None:
        """The number in an element of a constant tensor, whose bytes are its own; None: it is in none."""
        storage = self._storages.get(place[0])
        if storage is None or storage.origin != CONSTANT:
            return None
        return cells(storage, dtype, place[1], 1)[0]

    # ------------------------------------------------------------------------------------ elements

    def _place(self, view: View, cell: int, dtype: DType) -> Place:
        """The storage and the byte of a cell. Fails: Undecided where elements of other sizes share it."""
        size = cell_size(dtype)
        storage = view.data.storage
        self._storages[id(storage)] = storage
        byte = view.data.byte_offset + (view.offset * view.buffer.dtype.lanes + cell) * size
        unit = self._units.setdefault(id(storage), size)
        if unit != size or byte % size:
            raise Undecided("memory is shared between elements of different sizes")
        return id(storage), byte

    def _at(self, place: Place, dtype: DType) -> TermValue | None:
        for layer in reversed(self._layers):
            entry = layer.get(place)
            if entry is not None:
                if entry[0] != dtype:
                    raise Undecided(f"memory is accessed as {dtype} and was written as {entry[0]}")
                return entry[1]
        return None

    def _of_argument(self, place: Place, dtype: DType, span: Span | None) -> TermValue:
        argument = self._arguments.get(place[0])
        if argument is None:
            constant = self._constant(place, dtype)
            if constant is None:
                raise Undecided(UNSEEN, span)
            return constant
        leaf = self._leaf(place, dtype)
        self.oblige("argument", leaf.number, f"`{argument.name}` is initialised where it is read", span)
        return leaf

    def _leaf(self, place: Place, dtype: DType) -> SymbolicTerm:
        argument = self._arguments[place[0]]
        if argument.dtype.scalar != dtype:
            raise Undecided(f"the argument `{argument.name}` of {argument.dtype} is accessed as {dtype}")
        return self.terms.term(LEAF, dtype, (argument.name, argument.index(place[1] // cell_size(dtype))), ())
