"""Methods of TVM's schedule that are not here: each is refused by its name (RM504), with the reason.

| methods                                              | reason                                                    |
|------------------------------------------------------|-----------------------------------------------------------|
| `sample_…`, `seed`, `fork_seed`, `enter_postproc`    | they serve a search for good schedules                    |
| `get_sref`, `state`                                  | they are of how TVM keeps a schedule                      |
| layouts, indices and padding of buffers              | they change what is stored where; no step here does       |
| `unsafe_…`                                           | they may change the meaning, by their name                |
| the rest                                             | not built                                                 |
"""

from typing import NoReturn

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT

SEARCH = "it serves a search for good schedules, and nothing is searched for here"
KEPT = "it is of how TVM keeps a schedule"
LAYOUT = "no step here changes what is stored where"
UNSAFE = "it may change what the function means"
UNBUILT = "this step is not built"
OTHERS = {
    SEARCH: (
        "enter_postproc", "fork_seed", "sample_categorical", "sample_compute_location", "sample_partitioned_tile",
        "sample_perfect_tile", "seed",
    ),
    KEPT: ("func_working_on", "get_sref", "remove_rv", "state"),
    LAYOUT: (
        "cache_index", "cache_inplace", "can_decompose_padding", "decompose_padding", "pad_einsum", "read_at",
        "reindex", "reindex_cache_read", "reindex_cache_write", "rolling_buffer", "transform_block_layout",
        "transform_layout", "write_at",
    ),
    UNSAFE: ("annotate_buffer_access", "unsafe_hide_buffer_access", "unsafe_set_dtype"),
    UNBUILT: ("fuse_reduction_epilogue", "loop_partition", "merge", "reorder_block_iter_var"),
}  # fmt: skip


class Refusing:
    """A method that is not here."""

    def __init__(self, name: str, why: str) -> None:
        """The method `name`, and why it is not here."""
        self.name = name
        self.why = why

    def __call__(self, *_args: object, **_options: object) -> NoReturn:
        """Refuse the step by its name. Fails: RM504."""
        raise fail(UNSUPPORTED_CONSTRUCT, f"`Schedule.{self.name}` is not supported: {self.why}")


def refusing(name: str) -> Refusing:
    """The method of this name, which refuses. Fails: AttributeError where TVM's schedule has none of this name."""
    for why, names in OTHERS.items():
        if name in names:
            return Refusing(name, why)
    message = f"'Schedule' object has no attribute {name!r}"
    raise AttributeError(message)
