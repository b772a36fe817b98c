"""Calls about asynchronous copies and barriers in memory, and those of them at which a thread may wait (TIA-001)."""

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.ptx import PtxCall, operator_of

WAIT = "cuda.mbarrier_wait"
RAW = "s_tir.cp_async_raw"
"""What InjectPTXAsyncCopy writes."""
OPERATORS = frozenset(("ptx.cp", "ptx.mbarrier", "ptx.fence", "ptx.st_async", WAIT, RAW))
WAITS = (("mbarrier", "try_wait"), ("mbarrier", "test_wait"))


def is_asynchronous(node: Node) -> bool:
    """Whether a node is a call of such an operator."""
    return isinstance(node, tir.Call) and operator_of(node.callee) in OPERATORS


def is_wait(node: Node) -> bool:
    """Whether a thread may wait in a statement, for a barrier in memory, or let others run."""
    call = node.value if isinstance(node, tir.Evaluate) else None
    if not isinstance(call, tir.Call) or not is_asynchronous(call):
        return False
    ptx = PtxCall.of(call)
    return call.callee == WAIT if ptx is None else ptx.words[:2] in WAITS
