"""TensorIR in the reader's table: its constructs, from the files that define them."""

from refmlc.lang.script.reader import tir_attrs, tir_calls, tir_exprs, tir_frames, tir_loops, tir_types
from refmlc.lang.script.reader.table import Table
from refmlc.lang.script.reader.tir_nodes import FAMILIES

TENSORIR = Table(
    calls={
        **tir_exprs.CALLS,
        **tir_calls.CALLS,
        **tir_types.CALLS,
        **tir_frames.CALLS,
        **tir_loops.CALLS,
        **tir_attrs.CALLS,
    },
    subscripts=tir_types.SUBSCRIPTS,
    lazy=tir_types.LAZY,
    prefixes=tir_calls.PREFIXES,
    families=FAMILIES,
)
