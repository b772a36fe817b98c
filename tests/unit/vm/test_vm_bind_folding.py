"""What binding parameters folds: integers of dimensions, and nothing of another dtype."""

import numpy as np

from refmlc.lang.dtypes import BOOL, INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.reader_checks import read
from refmlc.vm import bind_params

TEXT = """
from tvm.script import ir as I, relax as R, tir as T

@I.ir_module
class Module:
    @R.function
    def main(w: R.Tensor(("n",), "float32")):
        n = T.int64()
        a = R.prim_value(n * 2)
        b = R.prim_value(n > 2)
        return (a, b)
"""


def test_a_comparison_of_dimensions_stays_a_comparison():
    main = bind_params(read(TEXT), "main", {"w": np.zeros(4, np.float32)})["main"]
    double, more = [node.value for node in walk(main) if isinstance(node, relax.PrimValue)]
    assert isinstance(double, tir.IntImm)
    assert (double.value, double.dtype) == (8, INT64)
    assert more.dtype == BOOL
    assert isinstance(more, tir.Apply)
    assert (more.op, [arg.value for arg in more.args]) == ("gt", [4, 2])
