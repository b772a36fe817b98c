"""The tier makes no difference to a report; what is proved free of findings is, and what is not is watched."""

import numpy as np
import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.observe.sanitize.proved import is_plain, outputs_alone
from refmlc.observe.sanitize.sanitizer import Sanitizer

HEAD = "from tvm.script import tirx as T\n\n\n@T.prim_func\n"
PARAMS = 'A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32")'
MATMUL = """
    for i, j, k in T.grid(4, 4, 4):
        with T.sblock("multiply"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[0:4, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
REVERSED = """vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(4, 3 - k)"""
LOWERED = """
    for i in range(4):
        for j in T.unroll(4):
            if j < 2:
                C[i, j] = A[i, j]
"""


def function(body, params=PARAMS):
    (func,) = read(f"{HEAD}def main({params}):{body}", "case.py").functions.values()
    return func


@pytest.mark.parametrize(
    "body",
    [
        MATMUL,
        LOWERED,
        MATMUL.replace("            T.reads(A[vi, vk], B[0:4, vj])\n            T.writes(C[vi, vj])\n", ""),
    ],
)
def test_plain_functions(body):
    assert is_plain(function(body))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ('remap("SSR"', 'remap("SSS"'),  # RM319
        ("T.writes(C[vi, vj])", "T.writes(C[vi, 0])"),  # RM318
        ("A[vi, vk], B", "A[vi, 0], B"),  # RM318
        ("C[vi, vj] = C[vi, vj] +", "C[vi, vj] = C[vj, vi] +"),  # RM319
        ('remap("SSR", [i, j, k])', 'remap("SSR", [i, j, k])\n            v = T.axis.reduce(2, 0)'),  # RM325
        ("            with T.init():\n                C[vi, vj] = T.float32(0)\n", ""),  # RM326
        ("    for i, j, k in T.grid(4, 4, 4):", "    for t, i, j, k in T.grid(2, 4, 4, 4):"),
        ("    for i, j, k in T.grid(4, 4, 4):", "    for i, j, k in T.grid(4, 4, 4):\n      for p in T.parallel(2):"),
        ("T.reads", "T.where(i < 3)\n            T.reads"),  # RM325
        ('vi, vj, vk = T.axis.remap("SSR", [i, j, k])', REVERSED),  # RM320
    ],
)
def test_functions_that_are_not_plain(text, other):
    body = MATMUL.replace(text, other)
    assert body != MATMUL
    assert not is_plain(function(body))


TWICE = """
    for i, j in T.grid(4, 4):
        with T.sblock("twice"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(C[vi, vj], C[{again}])
            C[vi, vj] = A[vi, vj]
            C[{again}] = A[vi, vj]
"""


def test_instances_that_store_elements_of_each_other_are_not_plain():
    assert is_plain(function(TWICE.format(again="vi, vj")))
    assert not is_plain(function(TWICE.format(again="vj, vi")))


def test_parallel_loops_are_watched():
    for kind in ("T.parallel", "T.vectorized"):
        assert not is_plain(function(LOWERED.replace("T.unroll", kind)))


MODULE = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def g(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            {store} = {value}

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(Module.g, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
"""


@pytest.mark.parametrize(("store", "alone"), [("B[i]", True), ("A[i]", False)])
def test_stores_to_inputs_of_calls_are_watched(store, alone):
    module = read(MODULE.format(store=store, value="A[i]"), "case.py")
    assert outputs_alone(module, "g", module.functions["g"]) is alone


def test_arguments_that_overlap_against_a_promise_are_watched():
    body = '\n    T.func_attr({"tirx.noalias": True})\n' + LOWERED.lstrip("\n")
    module = read(f"{HEAD}def main({PARAMS}):{body}", "case.py")
    a, b, c = (np.zeros((4, 4), "float32") for _ in range(3))
    hooks = Sanitizer(module)
    assert hooks.is_quiet("main", (a, b, c))
    assert not hooks.is_quiet("main", (a, b, a))


@pytest.mark.parametrize("tier", ["native", "auto"])
@pytest.mark.parametrize(
    ("store", "value", "verdict", "codes"),
    [
        ("B[i]", "A[i]", "defined", set()),
        ("B[i]", "A[i + 1]", "undefined", {"RM304"}),
        ("B[i]", "B[3 - i]", "undefined", {"RM305"}),
        ("B[i // 2]", "A[i]", "defined", {"RM324"}),
        ("A[i]", "A[i]", "undefined", {"RM323"}),
    ],
)
def test_reports_are_the_same_in_every_tier(tier, store, value, verdict, codes):
    module = read(MODULE.format(store=store, value=value), "case.py")
    given = [np.arange(4, dtype="float32")]
    interp, other = (sanitize(module, "main", given, tier=one) for one in ("interp", tier))
    assert other.text() == interp.text()
    assert other.to_json() == interp.to_json()
    assert other.verdict == verdict
    assert {code for code, count in other.counts.items() if count} == codes
