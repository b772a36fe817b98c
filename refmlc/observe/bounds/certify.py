"""Certificates: what each element of a function's results may be, proved from the program and the arguments.

The interpreter runs the function on copies of the arguments, reports undefined behaviour and gives the reference
result; each TensorIR function that it calls is then run on enclosures (`graph`, `statements`). Constructs without a
bound are unsupported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.reach import reachable
from refmlc.observe.bounds.choice import Choice, Value, members
from refmlc.observe.bounds.enclosure import Enclosure
from refmlc.observe.bounds.exactness import only_exact
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.graph import EnclosureHooks, check_graph, tensors
from refmlc.observe.copies import copies
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

STANDARD = Freedom()


@dataclass(frozen=True)
class CertifiedTensor:
    """The permitted values of each element of one result.

    Order: `elements` row-major; None: not written. `reference` is the interpreter's result. `exact`: no operator of the
    program rounds, so that the bits of the reference are the only result.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    elements: tuple[Value | None, ...]
    reference: np.ndarray
    exact: bool = False

    def permits(self, number: int, value: float) -> bool:
        """True if element `number` may be `value`."""
        element = self.elements[number]
        if isinstance(element, Enclosure):
            return element.contains(value)
        options = None if element is None else members(element)
        return options is None or int(value) in options

    @cached_property
    def centre(self) -> np.ndarray:
        """The exact results, rounded to binary64; NaN if not finite."""
        return np.array([_centre(element) for element in self.elements], np.float64).reshape(self.shape)

    @cached_property
    def bound(self) -> np.ndarray:
        """The greatest distance of a permitted finite result from the exact one; 0 for integers that are certain."""
        return np.array([_bound(element) for element in self.elements], np.float64).reshape(self.shape)


@dataclass(frozen=True)
class Certificate:
    """The certified results of function `name`: its written tensors, in the order of the parameters."""

    name: str
    outputs: tuple[CertifiedTensor, ...]
    freedom: Freedom


@entry_point
def certify(module: IRModule, name: str, args: Sequence[object], *, freedom: Freedom = STANDARD) -> Certificate:
    """Certify function `name` on `args`, the destinations of a TensorIR function among them; `args` are not changed.

    Functions that `name` does not reach do not matter. Fails: as the interpreter (RM3xx: undefined), RM504
    for constructs without a bound, RM111.
    """
    module = reachable(module, name) if name in module.functions else module
    check_graph(module, name)
    arguments = copies(args)
    hooks = EnclosureHooks(module, freedom)
    result = Machine(module, hooks=hooks).call(name, arguments)
    func, exact = module.functions[name], only_exact(module)
    results = [(f"result {number}", tensor) for number, tensor in enumerate(tensors(result))]
    if isinstance(func, tir.PrimFunc):
        names = [func.buffer_map[param].name if param in func.buffer_map else param.name for param in func.params]
        results = [(label, arg) for label, arg in zip(names, arguments, strict=True) if isinstance(arg, Tensor)]
    outputs: list[CertifiedTensor] = []
    for label, tensor in results:
        view = hooks.regions.view(tensor)
        if view.region.written or not isinstance(func, tir.PrimFunc):
            elements = tuple(view.read(place) for place in view.places())
            outputs.append(CertifiedTensor(label, tensor.dtype, tensor.shape, elements, tensor.array, exact))
    return Certificate(name, tuple(outputs), freedom)


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
