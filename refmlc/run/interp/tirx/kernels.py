"""What the interpreter executes in place of a function: kernels as loops, instructions of PTX as stores."""

from functools import lru_cache

from refmlc.lang.ir import tir
from refmlc.rewrite.launches.entries import with_loops
from refmlc.run.interp.ptx.stores import with_stores


@lru_cache(maxsize=1024)
def as_loops(func: tir.PrimFunc) -> tir.PrimFunc:
    """The function as it is executed; itself where it has no kernel and no instruction. Fails: RM214, RM504.

    The same function each time, so that its statements are known before a run.
    """
    return with_loops(with_stores(func))
