"""Certificates: what each element of a function's results may be, proved from the program and the arguments.

A certificate is made in two runs on copies of the arguments: the interpreter's, which finds what is undefined and
gives the reference result; and the run on enclosures (`statements`). What the latter cannot bound is unsupported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_CONSTRUCT
from refmlc.dtypes import DType
from refmlc.dtypes.rounding import rounder
from refmlc.interp.machine import Machine
from refmlc.ir import IRModule, tir
from refmlc.oracle.choice import Choice, Value, members
from refmlc.oracle.enclosure import Enclosure, point
from refmlc.oracle.freedom import Freedom
from refmlc.oracle.places import View, view_of
from refmlc.oracle.statements import Run, execute, matched
from refmlc.runtime.tensor import Tensor

STANDARD = Freedom()


@dataclass(frozen=True)
class CertifiedTensor:
    """What each element of one result may be.

    Order: `elements` row-major; None was not written. `reference` is the interpreter's result.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    elements: tuple[Value | None, ...]
    reference: np.ndarray

    def permits(self, number: int, value: float) -> bool:
        """Whether element `number` may be `value`."""
        element = self.elements[number]
        if isinstance(element, Enclosure):
            return element.contains(value)
        found = None if element is None else members(element)
        return found is None or int(value) in found

    @cached_property
    def centre(self) -> np.ndarray:
        """The exact results, rounded to binary64; NaN where there is no finite one."""
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


def certify(module: IRModule, name: str, args: Sequence[object], *, freedom: Freedom = STANDARD) -> Certificate:
    """Certify TensorIR function `name` on `args`, destinations among them; `args` are not changed.

    Fails: as the interpreter does (RM3xx is the verdict undefined), RM504 for what is not certified, RM111.
    """
    func = module.functions.get(name)
    if not isinstance(func, tir.PrimFunc):
        raise fail(UNSUPPORTED_CONSTRUCT, f"`{name}` is no TensorIR function: it is not certified")
    given = [_owned(arg) for arg in args]
    copies = [arg.copy() if isinstance(arg, Tensor) else arg for arg in given]
    Machine(module).call(name, copies)
    views = enclosed(func, given, freedom)
    outputs = [
        _certified(buffer, views[buffer], copy)
        for param, copy in zip(func.params, copies, strict=True)
        if (buffer := func.buffer_map.get(param)) in views and isinstance(copy, Tensor) and buffer is not None
        if views[buffer].region.written
    ]
    return Certificate(name, tuple(outputs), freedom)


def enclosed(func: tir.PrimFunc, args: Sequence[object], freedom: Freedom) -> dict[tir.Buffer, View]:
    """The buffers of the parameters after the run on enclosures."""
    run = Run(freedom)
    views: dict[tir.Buffer, View] = {}
    for param, arg in zip(func.params, args, strict=True):
        buffer = func.buffer_map.get(param)
        if buffer is not None and isinstance(arg, Tensor):
            views[buffer] = view = view_of(arg)
            matched(run, buffer, arg.shape, view.strides, 0)
        elif isinstance(arg, bool | int | float) and param.dtype.kind != "handle":
            run.values[param] = point(rounder(param.dtype)(float(arg))) if param.dtype.is_float else int(arg)
        else:
            raise fail(BAD_INPUT, f"`{param.name}` is not certified: it is neither tensor nor number", param.span)
    execute(run, func.body, views)
    return views


def _owned(arg: object) -> object:
    if isinstance(arg, np.ndarray):
        return Tensor.from_numpy(arg)
    return arg.item() if isinstance(arg, np.generic) else arg


def _certified(buffer: tir.Buffer, view: View, result: Tensor) -> CertifiedTensor:
    elements = tuple(view.read(where) for where in view.places())
    return CertifiedTensor(buffer.name, buffer.dtype, result.shape, elements, result.numpy())


def _centre(element: Value | None) -> float:
    if isinstance(element, Enclosure):
        if not element.finite:
            return np.nan
        return float(element.centre) if element.size < inf else inf if element.centre > 0 else -inf
    return float(element) if isinstance(element, int) else np.nan


def _bound(element: Value | None) -> float:
    if isinstance(element, Enclosure):
        return element.radius
    return inf if element is None or isinstance(element, Choice) else 0.0
