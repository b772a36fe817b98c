"""Certificates: what each element of a function's results may be, proved from the program and the arguments.

The interpreter runs the function on copies of the arguments, reports undefined behaviour and gives the reference
result; each TensorIR function that it calls is then run on enclosures (`graph`, `statements`). Constructs without a
bound are unsupported.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import copysign, inf

import numpy as np

from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.reach import reachable
from refmlc.lang.ir.visit import walk
from refmlc.observe.bounds.array_results import ArrayElements
from refmlc.observe.bounds.choice import Choice, Value, members
from refmlc.observe.bounds.enclosure import Enclosure
from refmlc.observe.bounds.exactness import only_exact
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.graph import ARRAYS_FROM, EnclosureHooks, check_graph, tensors
from refmlc.observe.bounds.places import View
from refmlc.observe.bounds.zeros import signs_follow
from refmlc.observe.copies import copies
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.substitutes import BlockRun, Prepared
from refmlc.run.memory.tensor import Tensor

STANDARD = Freedom()


@dataclass(frozen=True)
class CertifiedTensor:
    """The permitted values of each element of one result.

    Order: `elements` row-major; None: not written. `reference` is the interpreter's result. `exact`: no operator of the
    program rounds, so that the bits of the reference are the only result. `signed`: an element that is exactly 0 is the
    zero of the reference (`zeros`).
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    elements: Sequence[Value | None]
    reference: np.ndarray
    exact: bool = False
    signed: bool = False

    def permits(self, number: int, value: float) -> bool:
        """True if element `number` may be `value`."""
        element = self.elements[number]
        if isinstance(element, Enclosure):
            return element.contains(value) and not (value == 0.0 and self._other_zero(element, number, value))
        options = None if element is None else members(element)
        return options is None or int(value) in options

    def _other_zero(self, element: Enclosure, number: int, value: float) -> bool:
        """True if `value` is the zero that the element is not."""
        if not self.signed or not element.exact or element.centre:
            return False
        return copysign(1.0, value) != copysign(1.0, self.reference.flat[number])

    @cached_property
    def centre(self) -> np.ndarray:
        """The exact results, rounded to binary64; NaN if not finite."""
        if isinstance(self.elements, ArrayElements):
            return self.elements.centres.reshape(self.shape)
        return np.array([_centre(element) for element in self.elements], np.float64).reshape(self.shape)

    @cached_property
    def bound(self) -> np.ndarray:
        """The greatest distance of a permitted finite result from the exact one; 0 for integers that are certain."""
        if isinstance(self.elements, ArrayElements):
            return self.elements.bounds.reshape(self.shape)
        return np.array([_bound(element) for element in self.elements], np.float64).reshape(self.shape)

    @cached_property
    def unwritten(self) -> frozenset[int]:
        """The numbers of the elements without a value."""
        if isinstance(self.elements, ArrayElements):
            return self.elements.unwritten
        return frozenset(number for number, element in enumerate(self.elements) if element is None)


@dataclass(frozen=True)
class Certificate:
    """The certified results of function `name`: its written tensors, in the order of the parameters."""

    name: str
    outputs: tuple[CertifiedTensor, ...]
    freedom: Freedom


@entry_point
def certify(
    module: IRModule,
    name: str,
    args: Sequence[object],
    *,
    freedom: Freedom = STANDARD,
    arrays_from: int = ARRAYS_FROM,
    result: object = None,
) -> Certificate:
    """Certify function `name` on `args`, the destinations of a TensorIR function among them; `args` are not changed.

    Functions that `name` does not reach do not matter. From `arrays_from` iterations on a function is executed on
    arrays of enclosures, which are wider. `result` is what a function of Relax gives, where it is known that the call
    is defined: nothing is executed again then. Fails: as the interpreter (RM3xx: undefined), RM504 for constructs
    without a bound, RM111.
    """
    module = reachable(module, name) if name in module.functions else module
    check_graph(module, name)
    arguments = copies(args)
    func, exact = module.functions[name], only_exact(module)
    signed = not exact and signs_follow(module, name)
    executes = result is None or isinstance(func, tir.PrimFunc) or not _only_writes(module)
    hooks = EnclosureHooks(module, freedom, arrays_from=arrays_from, executes=executes)
    answer = Machine(module, hooks=hooks, substitutes=None if executes else _Nothing()).call(name, arguments)
    references = [tensor.array for tensor in tensors(answer if executes else result)]
    results = [(f"result {number}", tensor) for number, tensor in enumerate(tensors(answer))]
    if isinstance(func, tir.PrimFunc):
        names = [func.buffer_map[param].name if param in func.buffer_map else param.name for param in func.params]
        results = [(label, arg) for label, arg in zip(names, arguments, strict=True) if isinstance(arg, Tensor)]
        references = [tensor.array for _, tensor in results]
    outputs: list[CertifiedTensor] = []
    for (label, tensor), reference in zip(results, references, strict=True):
        view = hooks.regions.view(tensor)
        if view.region.written or not isinstance(func, tir.PrimFunc):
            elements = _elements(view, arrays_from)
            outputs.append(CertifiedTensor(label, tensor.dtype, tensor.shape, elements, reference, exact, signed))
    return Certificate(name, tuple(outputs), freedom)


def _elements(view: View, least: int) -> Sequence[Value | None]:
    """The elements of a result; of large arrays they are made one by one."""
    places = view.places()
    if view.region.large_arrays(least):
        return ArrayElements(view.region.arrays(), np.asarray(places, np.int64))
    return tuple(view.read(place) for place in places)


def _only_writes(module: IRModule) -> bool:
    """Whether no TensorIR function of the module returns a value."""
    functions = [func for func in module.functions.values() if isinstance(func, tir.PrimFunc)]
    return not any(isinstance(node, tir.Return) for func in functions for node in walk(func.body))


class _Nothing:
    """In place of TensorIR functions: they do nothing."""

    def function(self, name: str, interpreted: Callable[[], Prepared]) -> Prepared:
        """A function without effect."""
        del name, interpreted
        return lambda _args: None

    def block(self, function: str, block: relax.Block) -> BlockRun | None:
        """No block is executed otherwise."""
        del function, block
        return None


def _centre(element: Value | None) -> float:
    if isinstance(element, Enclosure):
        if not element.finite:
            return np.nan
        try:
            return float(element.centre)
        except OverflowError:
            return inf if element.centre > 0 else -inf
    return float(element) if isinstance(element, int) else np.nan


def _bound(element: Value | None) -> float:
    if isinstance(element, Enclosure):
        return element.radius
    return inf if element is None or isinstance(element, Choice) else 0.0
