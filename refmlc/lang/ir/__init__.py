"""Immutable nodes: `tir` (TensorIR), `relax`, `types`, `module`; what walks, rewrites and compares; `tree`: as JSON."""

from refmlc.lang.ir.module import IRModule

__all__ = ["IRModule"]
