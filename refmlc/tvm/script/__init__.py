"""`tvm.script`: the languages and their decorators, and what TVM's reading deduces (regions, return types).

`from tvm.script import ir as I, relax as R, tir as T` of 2022 and 2023, `tirx as T` of 0.27: one language each.
"""

from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule
from refmlc.lang.script.front import Namespace
from refmlc.lang.wellformed.reader_checks import read
from refmlc.rewrite.transform import deduced
from refmlc.tvm.former import is_2022, ranked
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.script.types import Graphs, Programs


def _finish(module: IRModule) -> IRModule:
    typed = deduced(module)
    return ranked(typed, module) if is_2022() else typed


T = Programs("T", "prim_func", finish=_finish)
R = Graphs("R", "function", finish=_finish)
I = Namespace("I", "ir_module", "pyfunc", finish=_finish)  # noqa: E741 - its name in every text
tir = tirx = T
relax = R
ir = I
ir_module = I.ir_module
prim_func = T.prim_func


@entry_point
def from_source(source: str, extra_vars: object = None) -> IRModule:
    """The module of a text. Fails: as `refmlc.read`."""
    del extra_vars
    return _finish(read(source))


__all__ = ["I", "R", "T", "from_source", "ir", "ir_module", "prim_func", "relax", "tir", "tirx"]

__getattr__ = refusal(__name__, __all__)
