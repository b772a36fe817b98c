"""`tvm.s_tir.dlight.analysis`: the blocks of a function and their axes."""

from refmlc.rewrite.kernels import BlockIter as IterInfo, KernelBlock as SBlockInfo, kernel_blocks
from refmlc.rewrite.schedule import Schedule
from refmlc.tvm.missing_names import refusal

__all__ = ["IterInfo", "SBlockInfo", "normalize_prim_func"]


def normalize_prim_func(sch: Schedule) -> list[SBlockInfo] | None:
    """The innermost blocks of `main`, axes of extent 1 left out; None where the axes of one are not its loops."""
    return kernel_blocks(sch)


__getattr__ = refusal(__name__, __all__)
