"""Attention that TVM has no lowering for on a CPU: to a window of keys, inside of sequences of their own lengths."""

import numpy as np
from operator_case import Case, f32
from tvm import tirx
from tvm.relax import op as R


def sequence_cases():
    """What TVM types and refuses to lower."""
    heads = (f32(1, 5, 2, 4), f32(1, 5, 2, 4), f32(1, 5, 2, 3))
    starts, longest = np.array([0, 2, 5], "int32"), np.array(3, "int32")
    yield Case("nn.attention_var_len", R.nn.attention_var_len, (*heads, starts, longest))
    yield Case(
        "nn.attention/window",
        lambda *x: R.nn.attention(*x, causal_mask="BottomRight", window_size=tirx.IntImm("int32", 2)),
        heads,
    )


SEQUENCES = (sequence_cases,)
