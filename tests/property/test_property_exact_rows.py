"""Every operator on inputs of every kind, the interpreter's result held to the exact reference of the operator.

The interpreter follows TVM's formulas. Where a formula is not the definition, `FORMULAS` says why; a row that is not
found inaccurate any more is an error too.
"""

from functools import cache

import numpy as np
import pytest
from operator_calls import EXTENTS, rows
from operator_edges import Call
from operator_runs import together

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype as dtype_named
from refmlc.oracle.exact.comparison import distance
from refmlc.oracle.exact.definitions.definition import NoDefinition
from refmlc.oracle.exact.definitions.table import DEFINITIONS
from refmlc.oracle.exact.operands import operands
from refmlc.oracle.exact.programs import OperatorCalls
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

DTYPES = ("float32", "int8", "bfloat16")
SEEDS = (1, 2, 3)
NAN = "NaN is not kept: TVM selects by a comparison"
NARROW = "moments, or sums, in bfloat16"
FORMULAS = {
    "nn.instance_norm": "E[x²] - mean², and in bfloat16",
    "nn.group_norm": "E[x²] - mean², and in bfloat16",
    "nn.layer_norm": NARROW,
    "nn.batch_norm": NARROW,
    "mean": "sums of int8 wrap; in bfloat16",
    "variance": NARROW,
    "std": NARROW,
    **dict.fromkeys(("nn.avg_pool1d", "nn.avg_pool2d", "nn.avg_pool3d"), "sums of int8 wrap; in bfloat16"),
    **dict.fromkeys((f"nn.adaptive_avg_pool{rank}d" for rank in (1, 2, 3)), "sums of int8 wrap; in bfloat16"),
    **dict.fromkeys(("nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d"), NAN),
    "vision.roi_pool": NAN,
    "scatter_elements": NAN,
    "nn.relu": NAN,
    "median": NAN,
    "max": NAN,
    "min": NAN,
    "sign": "of NaN 0",
    "floor_divide": "the floor of the rounded quotient",
    "floor_mod": "a - floor(a / b) * b, each rounded",
    "log_add_exp": "log(exp(a) + exp(b))",
    "image.affine_grid": "a step of (2 - 1e-7) / (n - 1)",
}


class Watched(OperatorCalls):
    """The calls with the result of the last one."""

    def operator(self, call, values, result):
        super().operator(call, values, result)
        self.result = result


def flat(value):
    return [part for item in value for part in flat(item)] if isinstance(value, (tuple, list)) else [value]


def inaccurate(call, seed=1):
    """Whether a call is inaccurate; None where it is undefined, or the definition says nothing."""
    arguments = [
        Tensor.from_numpy(array.copy(), dtype_named(param.dtype or call.dtype))
        for param, array in zip(call.row.params, call.arguments(seed), strict=True)
    ]
    hooks = Watched()
    try:
        Machine(together([(call.row, call.dtype, call.sizes)]), hooks=hooks, output=str).call("f0", arguments)
    except RefmlcError:
        return None
    last = hooks.calls[-1]
    try:
        positional, attributes = operands(last.op, last.node, last.values)
        with np.errstate(all="ignore"):
            exact = flat(DEFINITIONS[last.op.name].compute(*positional, **attributes))
    except NoDefinition:
        return None
    results = flat(hooks.result)
    assert len(results) == len(exact)
    return any(distance(a.array, np.asarray(b)).wrong for a, b in zip(results, exact, strict=True))


@cache
def found(dtype, inputs):
    """The operators by what came of their calls."""
    calls = [Call(row, dtype, inputs) for row in rows() if row.operator in DEFINITIONS]
    results = {True: set(), False: set(), None: set()}
    for call in calls:
        for seed in SEEDS[: len(SEEDS) if inputs == "edges" else 1] if call.possible else ():
            results[inaccurate(call, seed)].add(call.row.operator)
    return results


@pytest.mark.parametrize("inputs", ["plain", "edges", *EXTENTS])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_interpreter_is_accurate_but_for_formulas_of_tvm(dtype, inputs):
    assert found(dtype, inputs)[True] - set(FORMULAS) == set()


def test_most_operators_are_compared():
    compared = found("float32", "plain")
    assert len(compared[True] | compared[False]) >= 150


def test_each_formula_that_is_named_is_found():
    inaccurate_ones = set().union(*(found(dtype, inputs)[True] for dtype in DTYPES for inputs in ("plain", "edges")))
    assert set(FORMULAS) - inaccurate_ones == set()
