"""Fences between instructions on tensor memory of several threads (TMM-005).

Decision: they change no value. What has not been waited for is open until it is, with and without a fence.
"""

from refmlc.run.interp.threads.matrix.tensor_memory.place import TensorInstruction
from refmlc.run.interp.threads.matrix.work import NotExecuted, ThreadWork

NAMES = ("fence::before_thread_sync", "fence::after_thread_sync")


def order(here: TensorInstruction) -> ThreadWork:  # TMM-005
    """`tcgen05.fence`."""
    if here.modifiers not in [(name,) for name in NAMES]:
        raise NotExecuted(f"with the modifiers {' '.join(here.modifiers)[:100]}")
    here.check_count(0)
    return ThreadWork(lambda _frame: None)
