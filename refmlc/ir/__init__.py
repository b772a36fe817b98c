"""Immutable nodes: `tir` (TensorIR), `relax`, `types`, `module`; and what walks, rewrites and compares them."""

from refmlc.ir.module import IRModule

__all__ = ["IRModule"]
