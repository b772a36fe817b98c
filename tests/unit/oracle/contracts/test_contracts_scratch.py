"""Contracts through scratch buffers: an element is what stood there when it was stored, worked by hand."""

import pytest

import refmlc
from refmlc.oracle.contracts import contracts_of

TEXT = """
from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def main(idx: T.Buffer((8,), "int32"), A: T.Buffer(("n",), "float32"), B: T.Buffer((8,), "float32")):
        n = T.int32()
        P = T.alloc_buffer((9,), "int32")
        Q = T.alloc_buffer((8,), "int32")
        c = T.alloc_buffer((1,), "int32")
{stores}
        for i in range(8):
            B[i] = A[Q[i]]
"""


def rows(*stores, index="Q[i]"):
    lines = "\n".join(f"        {line}" for line in stores)
    module = refmlc.read(TEXT.format(stores=lines).replace("A[Q[i]]", f"A[{index}]"))
    return [row.text for row in contracts_of(module, "main").rows]


def each(store):
    return f"for v in range(8): {store}"


def test_an_element_is_followed_through_scratch_buffers():
    assert rows(each("P[v] = idx[v]"), each("Q[v] = n - 1 - P[v]")) == ["0 <= idx < n"]


@pytest.mark.parametrize(
    "stores",
    [
        [each("P[v] = P[v + 1] + 1"), each("Q[v] = P[v]")],
        [each("Q[v] = P[v]"), each("P[v] = Q[v] + P[v + 1]")],
        [each("Q[v] = Q[v] * idx[v]")],
    ],
)
def test_what_stood_in_a_buffer_before_its_store_is_unknown(stores):
    assert rows(*stores) == []


def test_a_cell_that_is_stored_again_later_does_not_change_what_was_made_of_it():
    stores = ["c[0] = idx[0]", each("Q[v] = c[0]"), "c[0] = 0"]
    assert rows(*stores) == ["0 <= idx[0] < n"]


def test_a_long_row_of_buffers_that_double_takes_no_time():
    names = [f"S{number}" for number in range(40)]
    made = [f'{name} = T.alloc_buffer((8,), "int32")' for name in names]
    doubled = [each(f"{b}[v] = {a}[v] + {a}[v]") for a, b in zip(["idx", *names], names, strict=False)]
    assert rows(*made, *doubled, each(f"Q[v] = {names[-1]}[v]")) == []
