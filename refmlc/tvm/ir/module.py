"""`tvm.ir.module`: the class of modules."""

from refmlc.tvm.ir import IRModule

__all__ = ["IRModule"]
