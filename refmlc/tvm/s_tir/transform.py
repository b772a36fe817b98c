"""`tvm.s_tir.transform`: passes on functions of TensorIR."""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.transform import Pass
from refmlc.tvm.s_tir.dlight.gpu import Fallback
from refmlc.tvm.s_tir.dlight.rules import ApplyDefaultSchedule

__all__ = ["DefaultGPUSchedule"]


def DefaultGPUSchedule() -> Pass:  # noqa: N802 - TVM's name
    """Functions that are not scheduled yet get threads, for the GPU of the `with` around."""
    return ApplyDefaultSchedule(Fallback())


__getattr__ = refusal(__name__, __all__)
