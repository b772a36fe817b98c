"""Orders of numbers of 16 bits: a runtime that takes them for wider ones reads memory behind them."""

import ml_dtypes
import numpy as np
from op_several import several

ROWS = [[3.0, 1.0, -2.0, 0.5, 7.0], [-0.25, 96.0, 4.0, -4.0, 1.5]]


def orders(book):
    """`sort`, `argsort`, `topk` along either axis; all numbers differ."""
    book.witness = "numpy"
    for name in ("bfloat16", "float16"):
        x = np.array(ROWS, getattr(ml_dtypes, name, None) or name)
        wide = x.astype("float64")
        up = [np.argsort(wide, axis) for axis in (0, 1)]
        down = [np.argsort(-wide, axis) for axis in (0, 1)]
        several(
            book,
            f"op.sort.{name}",
            "LIB-950",
            [x],
            [
                ("sort(a)", np.take_along_axis(x, up[1], 1)),
                ("sort(a, axis=0, descending=True)", np.take_along_axis(x, down[0], 0)),
            ],
        )
        several(
            book,
            f"op.argsort.{name}",
            "LIB-951",
            [x],
            [
                ("argsort(a)", up[1].astype("int32")),
                ("argsort(a, axis=0, descending=True)", down[0].astype("int32")),
            ],
        )
        several(
            book,
            f"op.topk.{name}",
            "LIB-952",
            [x],
            [
                ('topk(a, k=3, ret_type="values")', np.take_along_axis(x, down[1], 1)[:, :3]),
                ('topk(a, k=2, ret_type="indices")', down[1][:, :2].astype("int32")),
            ],
        )
