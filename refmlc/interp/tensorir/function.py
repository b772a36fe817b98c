"""Functions: arguments are matched against parameters, the body runs in a fresh frame."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from refmlc.ir import tir

if TYPE_CHECKING:
    from refmlc.interp.machine import Machine


def prepare_prim_func(func: tir.PrimFunc, name: str, machine: "Machine") -> Callable[[Sequence[object]], object]:
    """The function as a callable on its arguments."""
    raise NotImplementedError
