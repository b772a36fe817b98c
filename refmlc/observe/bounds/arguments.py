"""The arguments of a TensorIR function on enclosures: numbers are rounded to the parameter, shapes bind variables."""

from collections.abc import Mapping, Sequence

from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.observe.bounds.enclosure import point
from refmlc.observe.bounds.operators import not_certified
from refmlc.observe.bounds.places import View
from refmlc.observe.bounds.run import Run
from refmlc.observe.bounds.statements import matched


def bound(run: Run, func: tir.PrimFunc, args: Sequence[object], views: Mapping[tir.Buffer, View]) -> None:
    """Give the parameters of `func` their values. Fails: RM504 for what is neither tensor nor number."""
    for param, arg in zip(func.params, args, strict=True):
        buffer = func.buffer_map.get(param)
        if buffer is not None and buffer in views:
            view = views[buffer]
            matched(run, buffer, view.shape, view.strides, view.offset)
        elif isinstance(arg, bool | int | float) and param.dtype.kind not in ("handle", "void"):
            run.values[param] = point(rounder(param.dtype)(float(arg))) if param.dtype.is_float else int(arg)
        else:
            raise not_certified(f"`{param.name}`, which is neither tensor nor number,", param.span)
