"""Matrix units, as the threads of a warp use them (TIM-001 …): fragments, registers, and where a warp meets."""

from refmlc.run.interp.threads.matrix.calls import EXECUTED, prepare_matrix

__all__ = ["EXECUTED", "prepare_matrix"]
