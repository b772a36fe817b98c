"""`tvm.get_global_func`: packed functions by name."""

from refmlc.diag import RefmlcError
from refmlc.diag.catalogue import NO_PACKED_FUNC
from refmlc.run.memory.registry import get_func
from refmlc.run.memory.values import PackedFunc


def get_global_func(name: str, allow_missing: bool = False) -> PackedFunc | None:
    """The function `name`; None for one that is nowhere, if `allow_missing`.

    Fails: RM402; RM504 for one that TVM's runtime has and refmlc does not.
    """
    try:
        return get_func(name)
    except RefmlcError as reason:
        if allow_missing and reason.diagnostic.code is NO_PACKED_FUNC:
            return None
        raise
