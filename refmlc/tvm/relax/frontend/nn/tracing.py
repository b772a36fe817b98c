"""The builder of the module that is exported at this moment: operators of tensors emit into it.

Decision: it is a context variable, which each thread and task has for itself: TVM's users write `op.relu(x)` without a
builder, and a tensor as `op.zeros((4,))` has no argument that could carry one. Outside of an export: RM112.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.tvm.relax.builder import BlockBuilder

_BUILDER: ContextVar[BlockBuilder] = ContextVar("builder")


def current_builder() -> BlockBuilder:
    """The builder. Fails: RM112 outside of an export."""
    builder = _BUILDER.get(None)
    if builder is None:
        raise fail(BAD_USAGE, "operators of `relax.frontend.nn` are called while `export_tvm` or `jit` traces a module")
    return builder


@contextmanager
def tracing(builder: BlockBuilder) -> Iterator[None]:
    """Operators emit into `builder`."""
    token = _BUILDER.set(builder)
    try:
        yield
    finally:
        _BUILDER.reset(token)
