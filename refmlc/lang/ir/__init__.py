"""Immutable nodes: `tir` (TensorIR), `tirx`, `relax`, `types`, `module`; what walks, rewrites, compares; `tree`."""

from refmlc.lang.ir.module import IRModule

__all__ = ["IRModule"]
