"""Certificates: what each element of a function's results may be, proved from the program and the arguments.

A certificate is made on copies of the arguments: the interpreter runs the function, finds what is undefined and gives
the reference result; each TensorIR function it calls is then run on enclosures (`graph`, `statements`). What cannot
be bounded is unsupported.
"""

import math
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
from refmlc.observe.bounds.graph import Enclosing, check_graph, tensors
from refmlc.observe.bounds.places import View
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor

STANDARD = Freedom()


@dataclass(frozen=True)
class CertifiedTensor:
    """What each element of one result may be.

    Order: `elements` row-major; None was not written. `reference` is the interpreter's result. `exact`: no operator of
    the program rounds, so that its bits are the only result.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    elements: tuple[Value | None, ...]
    reference: np.ndarray
    exact: bool = False

    def permits(self, number: int, value: float) -> bool:
        """Whether element `number` may be `value`."""
        element = self.elements[number]
        if isinstance(element, Enclosure):
            return element.contains(value)
        found = None if element is None else members(element)
        return found is None or int(value) in found

    @cached_property
    def centre(self) -> np.ndarray:
        """The exact results, rounded to binary64; NaN if not finite."""
        return np.array([_centre(element) for element in self.elements], np.float64).reshape(self.shape)

    @cached_property
    def bound(self) -> np.ndarray:
        """How far a permitted finite result is from the exact one at most; 0 for integers that are certain."""
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
    for what is not certified, RM111.
    """
    module = reachable(module, name) if name in module.functions else module
    check_graph(module, name)
    copies = _owned(args)
    hooks = Enclosing(module, freedom)
    result = Machine(module, hooks=hooks).call(name, copies)
    views = [(tensor, hooks.regions.view(tensor)) for tensor in tensors(result)]
    func = module.functions[name]
    named = [f"result {number}" for number in range(len(views))]
    if isinstance(func, tir.PrimFunc):
        views = [(copy, hooks.regions.view(copy)) for copy in copies if isinstance(copy, Tensor)]
        given = [param for param, copy in zip(func.params, copies, strict=True) if isinstance(copy, Tensor)]
        named = [func.buffer_map[param].name if param in func.buffer_map else param.name for param in given]
        kept = [number for number, (_, view) in enumerate(views) if view.region.written]
        views, named = [views[number] for number in kept], [named[number] for number in kept]
    exact = only_exact(module)
    outputs = [_certified(label, view, tensor, exact=exact) for label, (tensor, view) in zip(named, views, strict=True)]
    return Certificate(name, tuple(outputs), freedom)


def _owned(args: Sequence[object]) -> list[object]:
    """Copies, with the same strides; arguments that share a storage share its copy."""
    given: dict[int, Tensor] = {}
    made: dict[int, Storage] = {}
    found: list[object] = []
    for arg in args:
        if isinstance(arg, np.ndarray):
            found.append(_copied(given.setdefault(id(arg), Tensor.from_numpy(arg)), made))
        elif isinstance(arg, Tensor):
            found.append(_copied(arg, made))
        else:
            found.append(arg.item() if isinstance(arg, np.generic) else arg)
    return found


def _copied(tensor: Tensor, made: dict[int, Storage]) -> Tensor:
    old = tensor.storage
    if id(old) not in made:
        fresh = Storage(old.nbytes, unit=old.unit, origin=old.origin, span=old.span)
        fresh.array[...] = old.array
        fresh.shadow[:] = old.shadow
        fresh.objects.update(old.objects)
        fresh.writable = old.writable
        made[id(old)] = fresh
    return Tensor(made[id(old)], tensor.dtype, tensor.shape, tensor.strides, tensor.byte_offset)


def _certified(name: str, view: View, result: Tensor, *, exact: bool) -> CertifiedTensor:
    elements = tuple(view.read(where) for where in view.places())
    return CertifiedTensor(name, result.dtype, result.shape, elements, result.array, exact)


def _centre(element: Value | None) -> float:
    if isinstance(element, Enclosure):
        if not element.finite:
            return np.nan
        try:
            return float(element.centre)
        except OverflowError:
            return math.copysign(inf, element.centre)
    return float(element) if isinstance(element, int) else np.nan


def _bound(element: Value | None) -> float:
    if isinstance(element, Enclosure):
        return element.radius
    return inf if element is None or isinstance(element, Choice) else 0.0
