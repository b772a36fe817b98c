"""Nests in strips of rows: where they are, where they must not be, and that the elements are those of whole nests."""

import numpy as np
import pytest

import refmlc
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.emit import emit_module
from refmlc.native.options import ISAS, Options
from refmlc.vm import VirtualMachine, build

WIDE = Options(isa=ISAS["avx512"])
MODULE = """
@T.prim_func(s_tir=True)
def f(x: T.Buffer(({rows}, 700), "float32"), o: T.Buffer(({rows}, 700), "float32")):
    total = T.sblock_alloc_buffer(({rows},), "float32")
    for i, k in T.grid({rows}, 700):
        with T.sblock("total"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                total[vi] = T.float32(0)
            total[vi] = total[vi] + x[vi, vk]
    for i, j in T.grid({rows}, 700):
        with T.sblock("out"):
            vi, vj = T.axis.remap("SS", [i, j])
            o[vi, vj] = {value}
"""
ROWS = {
    "their own row": ("x[vi, vj] + total[vi]", True),
    "the first row": ("x[vi, vj] + total[0]", False),
    "the row from the end": ("x[vi, vj] + total[299 - vi]", False),
    "their own row, in an arm": ("T.if_then_else(vj < 3, x[vi, vj], total[vi])", True),
    "the number of the row": ("T.if_then_else(vi < 3, x[vi, vj], total[vi])", False),
}


@pytest.mark.parametrize("reads", ROWS)
def test_only_nests_that_keep_to_their_rows_are_in_strips(reads):
    value, expected = ROWS[reads]
    source = emit_module(read(MODULE.format(rows=300, value=value)), WIDE)
    assert ("blocks at a time" in source.text) == expected


def test_small_nests_are_not_in_strips():
    source = emit_module(read(MODULE.format(rows=40, value="x[vi, vj] + total[vi]")), WIDE)
    assert "blocks at a time" not in source.text


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("rows", [96, 300, 301, 317])
@pytest.mark.parametrize("reads", ["their own row", "the first row", "the number of the row"])
def test_the_elements(rows, reads):
    value, _ = ROWS[reads]
    machine = VirtualMachine(build(refmlc.read(MODULE.format(rows=rows, value=value)), tier="native"))
    x = np.random.default_rng(rows).integers(-50, 50, (rows, 700)).astype("float32")  # every sum is exact
    found = np.full((rows, 700), np.nan, "float32")
    machine["f"](x, found)
    total = x.sum(axis=1, dtype="float64").astype("float32")[:, None]
    wanted = {
        "their own row": x + total,
        "the first row": x + total[0],
        "the number of the row": np.where(np.arange(rows)[:, None] < 3, x, total),
    }[reads]
    assert np.array_equal(found, wanted)
    assert machine.native.counts.native == 1  # not the interpreter
