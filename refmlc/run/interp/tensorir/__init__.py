"""TensorIR: `prepare_prim_func` turns a function into closures; cases in the order of `refmlc.lang.ir.tir`."""

from refmlc.run.interp.tensorir.function import prepare_prim_func

__all__ = ["prepare_prim_func"]
