"""Tensor maps on the stack of a host, and the intrinsic that makes one (TIA-040).

`T.tensormap_encode_tiled(map, address, *numbers, descriptor_dtype=…, rank=…, interleave=…, …)` is the call of
`runtime.cuTensorMapEncodeTiled` with the same arguments in another order; TVM writes it for tile primitives.
"""

from collections.abc import Callable, Mapping

from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.intrinsics import operands
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.tensor_maps import ENCODE, TensorMapPlace

MODES = ("interleave", "swizzle", "l2_promotion", "oob_fill", "force_cu_dtype")


def stack(scope: Scope, node: tir.Call) -> Eval:  # TIA-040
    """A place for a tensor map."""
    count = node.args[1]
    if not isinstance(count, tir.IntImm) or count.value != 1:
        return scope.unsupported(UNSUPPORTED_CONSTRUCT, "a stack of several tensor maps is not executed", node.span)
    return lambda _frame: TensorMapPlace()


def _encode(scope: Scope, node: tir.Call) -> Eval:  # TIA-040
    place, address, *numbers = (scope.expr(part) for part in operands(node))
    element, rank, *modes = (_plain(node.attrs.get(name)) for name in ("descriptor_dtype", "rank", *MODES))
    machine, span = scope.machine, node.span

    def encode(frame: Frame) -> object:
        values = [place(frame), element, rank, address(frame), *(number(frame) for number in numbers), *modes]
        machine.registry.get_func(ENCODE, span)(values, span)
        return 0

    return encode


def _plain(value: object) -> object:
    return value.value if isinstance(value, tir.IntImm | tir.StringImm) else value


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {"tensormap_encode_tiled": _encode}
