"""Layouts that a text derives or names outside of its functions: what becomes of them, by hand."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import Layout
from refmlc.lang.ir.tirx import ComposeLayout
from refmlc.lang.ir.visit import walk
from refmlc.lang.layouts.forms import form_of
from refmlc.lang.script import read, show

HEAD = """
from tvm.script import tirx as T
from tvm.tirx.layout import F, P, R, S, TileLayout, laneid
from tvm.tirx.layout import tcgen05_atom_layout, tmem_datapath_layout, wg_local_layout
from tvm.tirx.cuda.tile_primitive.tma_utils import SwizzleMode, mma_atom_shape, mma_shared_layout

L = TileLayout(S[(8, 4):(4, 1)])
"""


def layout(expression, shape, scope="shared"):
    """The layout of a buffer of this shape, bound outside of the function."""
    text = (
        f"{HEAD}\nM = {expression}\n\n@T.prim_func\ndef f():\n"
        f"    A = T.alloc_buffer({shape}, 'float32', scope='{scope}', layout=M)\n"
        f"    T.evaluate(A[{', '.join('0' * len(shape))}])"
    )
    module = read(text, "f.py")
    assert show(read(show(module))) == show(module)
    return next(node for node in walk(module["f"]) if isinstance(node, tir.Buffer)).layout


def iters(expression, shape):
    """Extents, strides and axes of its shard."""
    form = form_of(layout(expression, shape))
    return [(step.extent, step.stride, step.axis) for step in form.shard], dict(form.offset)


def refused(expression, shape=(8, 4)):
    with pytest.raises(RefmlcError) as caught:
        layout(expression, shape)
    return caught.value.code.id, caught.value.diagnostic.message


@pytest.mark.parametrize(
    ("expression", "shape", "steps", "offset"),
    [
        ("L.canonicalize()", (8, 4), [(32, 1, "m")], {}),
        (
            "L.tile(TileLayout(S[(2, 2):(2, 1)]), (2, 2), (8, 4))",
            (16, 8),
            [(2, 64, "m"), (8, 4, "m"), (2, 32, "m"), (4, 1, "m")],
            {},
        ),
        ("L.tile_to((8, 8), (8, 4))", (8, 8), [(8, 4, "m"), (2, 32, "m"), (4, 1, "m")], {}),
        (
            "L.direct_sum(TileLayout(S[(2, 1):(5@laneid, 7@laneid)]), (2, 1), (8, 4))",
            (16, 4),
            [(2, 5, "laneid"), (32, 1, "m")],
            {},
        ),
        ("L.slice((8, 4), [(2, 6), (1, 3)])", (4, 2), [(4, 4, "m"), (2, 1, "m")], {"m": 9}),
        ("L.unpack(2)", (64,), [(8, 8, "m"), (4, 2, "m"), (2, 1, "m")], {}),
        ("L.pack(4)", (4, 2), [(8, 1, "m"), (1, 1, "m")], {}),
        ("L.broadcast(3, 1)", (8, 3, 4), [(8, 4, "m"), (3, 0, "m"), (4, 1, "m")], {}),
        ("wg_local_layout(16)", (128, 16), [(128, 1, "tid_in_wg"), (16, 1, "m")], {}),
        (
            "tmem_datapath_layout('F', 64, 8, sub_slab=1)",
            (64, 8),
            [(4, 32, "TLane"), (16, 1, "TLane"), (8, 1, "TCol")],
            {"TLane": 16},
        ),
        ("tmem_datapath_layout('B', 64, 8)", (64, 8), [(64, 1, "TLane"), (2, 64, "TLane"), (4, 1, "TCol")], {}),
        (
            "tcgen05_atom_layout('16x128b', (64, 8), 'float32')",
            (64, 8),
            [(4, 1, "wid_in_wg"), (2, 1, "m"), (8, 4, "laneid"), (2, 2, "m"), (4, 1, "laneid")],
            {},
        ),
        (
            "TileLayout.trainium('FPF', (2, 256, 8))",
            (2, 256, 8),
            [(2, 8, "F"), (2, 16, "F"), (128, 1, "P"), (8, 1, "F")],
            {},
        ),
        (
            "TileLayout(S[(128, 2048):(1@P, 1@F)]).to_psum()",
            (128, 2048),
            [(128, 1, "P"), (4, 1, "Bank"), (512, 1, "F")],
            {},
        ),
    ],
)
def test_what_a_text_derives(expression, shape, steps, offset):
    assert iters(expression, shape) == (steps, offset)


def test_a_swizzle_of_128_bytes_has_atoms_of_8_rows():
    result = layout("mma_shared_layout('float16', SwizzleMode.SWIZZLE_128B_ATOM, (16, 128))", (16, 128))
    assert isinstance(result, ComposeLayout)
    assert (result.per_element, result.swizzle_len, result.atom_len, result.swizzle_inner) == (3, 3, 3, True)
    assert [(i.extent.value, i.stride.value) for i in result.tile_layout.shard] == [(16, 64), (2, 1024), (64, 1)]
    assert iters("mma_shared_layout('float16', 0, (16, 32))", (16, 32))[0] == [(16, 8, "m"), (4, 128, "m"), (8, 1, "m")]


def test_a_row_major_result_is_the_default_one():
    assert layout("L.canonicalize()", (32,)) is Layout.DEFAULT
    assert layout("TileLayout(S[tuple(mma_atom_shape('float16', 1))])", (8, 16)) is Layout.DEFAULT


def test_letters_say_the_layout_of_a_buffer_of_trainium():
    form = form_of(layout("'PF'", (128, 2048), "trn.psum"))
    assert [(step.extent, step.stride, step.axis) for step in form.shard] == [
        (128, 1, "P"),
        (4, 1, "Bank"),
        (512, 1, "F"),
    ]
    assert layout("'default'", (128, 4), "trn.sbuf") is Layout.NONE
    with pytest.raises(RefmlcError, match="stands where a layout is wanted"):
        layout("'PF'", (128, 4), "shared")
    with pytest.raises(RefmlcError, match="is not one of the shape"):
        layout("'PF'", (130, 4), "trn.sbuf")


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("L.tile(L, (8, 4), (8, 5))", "RM105"),
        ("L.tile_to((8, 2), (8, 4))", "RM105"),
        ("L.slice((8, 4), [(0, 8)])", "RM105"),
        ("L.unpack(0)", "RM105"),
        ("L.pack(3)", "RM105"),
        ("L.broadcast(2, 9)", "RM105"),
        ("L.canonicalize(1)", "RM105"),
        ("L.apply(0)", "RM103"),
        ("wg_local_layout(4, 5, 6)", "RM105"),
        ("tmem_datapath_layout('D', 64, 8)", "RM105"),
        ("tcgen05_atom_layout('16x64b', (64, 6), 'float32')", "RM105"),
        ("mma_shared_layout('float16', 9, (8, 64))", "RM105"),
        ("mma_shared_layout('float16', 3, (8, 65))", "RM105"),
        ("TileLayout(S[(8, 3):(300@F, 1@F)]).to_psum()", "RM105"),
        ("TileLayout(S[8:1@F] + 3@F).to_psum()", "RM504"),
    ],
)
def test_what_has_no_layout_is_refused(expression, code):
    name, message = refused(expression)
    assert name == "RM114"
    text = f"{HEAD}\n@T.prim_func\ndef f():\n    A = T.alloc_buffer((8, 4), 'float32', layout={expression})\n"
    with pytest.raises(RefmlcError) as caught:
        read(text, "f.py")
    assert caught.value.code.id == code
    assert caught.value.diagnostic.message in message


def test_a_layout_of_a_parameter_is_refused_by_name():
    text = (
        f"{HEAD}\n@T.prim_func\ndef f(n: T.int32):\n"
        "    A = T.alloc_buffer((8, 4), 'float32', layout=TileLayout(S[(8, 4):(n, 1)]).canonicalize())\n"
    )
    with pytest.raises(RefmlcError, match="of a layout that is not constant is not supported") as caught:
        read(text)
    assert caught.value.code.id == "RM504"


def test_expressions_without_variables_have_names():
    head = "from tvm.script import tirx as T\nimport tvm\none = tvm.tirx.const(1, 'float32x4')\n\n"
    text = f"{head}@T.prim_func\ndef f(A: T.Buffer((4,), 'float32x4')):\n    A[0] = one\n"
    (store,) = [node for node in walk(read(text)["f"]) if isinstance(node, tir.BufferStore)]
    assert isinstance(store.value, tir.Broadcast)


def test_operands_of_a_tile_primitive_may_leave_out_indices():
    text = f"{HEAD}\n@T.prim_func\ndef f(A: T.Buffer((2, 8, 4)), B: T.Buffer((8, 4))):\n    T.tile.copy(B, A[1])\n"
    module = read(text)
    assert "T.tile.copy(B[0:8, 0:4], A[1, 0:8, 0:4])" in show(module)
    with pytest.raises(RefmlcError, match="`A` has 3 dimensions, 1 index given"):
        read(text.replace("T.tile.copy(B, A[1])", "T.evaluate(A[1])"))
