"""Texts of TIRx: what is read of them, by hand, and that they are shown as they were written."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import FLOAT32, INT32, UINT32
from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.equal import first_difference, structural_equal
from refmlc.lang.ir.kinds import Layout
from refmlc.lang.ir.tree import module_of, tree_of
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import read, show
from refmlc.lang.wellformed.module import check_module

HEAD = "@T.prim_func\ndef f(A: T.Buffer((4, 8), 'float32'), B: T.Buffer((4, 8), 'float32'), n: T.int32):\n"


def module(body, head=HEAD):
    """The module of a function of TIRx with this body."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return read(head + lines, "f.py")


def nodes(body, kind, head=HEAD):
    """The nodes of a kind in it."""
    return [node for node in walk(module(body, head)["f"]) if isinstance(node, kind)]


def shown(body):
    """The lines that the body is shown as; what is shown is read as the same."""
    before = module(body)
    text = show(before)
    after = read(text, "shown.py")
    assert first_difference(before, after) is None
    assert first_difference(before, module_of(tree_of(before))) is None
    return [line[8:] for line in text.split("def f(")[1].split("\n")[1:] if line.strip()]


def refused(body, head=HEAD):
    """The code and the line of the text of the failure."""
    with pytest.raises(RefmlcError) as caught:
        module(body, head)
    assert caught.value.diagnostic.span is not None
    return caught.value.code.id, caught.value.diagnostic.span.line


# ------------------------------------------------------------------------------------------------- scope ids

SCOPE_IDS = [
    "bx = T.cta_id([4])",
    "bx, by = T.cta_id([4, n])",
    "bx = T.cta_id([8], preferred=[2])",
    "cx, cy = T.cta_id_in_cluster([2, 2], preferred=[4, 2])",
    "lane = T.lane_id()",
    'lane = T.lane_id([32], dtype="uint32")',
    "tx = T.thread_id([128])",
    "tx = T.thread_id_in_wg([128])",
    "wg = T.warpgroup_id([2])",
    "w = T.warp_id_in_wg([4])",
    "w = T.warp_id([4])",
    "c = T.cluster_id([2])",
    "pair = T.cta_id_in_pair()",
]


@pytest.mark.parametrize("line", SCOPE_IDS)
def test_scope_ids_are_shown_as_they_are_written(line):
    assert shown(line) == [line]


def test_a_scope_id_has_a_variable_for_each_extent():
    (node,) = nodes(
        "bx, by = T.cta_id([4, n], preferred=[2, 1], dtype='uint32')\nA[bx, by] = T.float32(0)", tirx.ScopeIdDef
    )
    assert (node.kind, [var.name for var in node.ids]) == ("cta_id", ["bx", "by"])
    assert {var.dtype for var in node.ids} == {UINT32}
    assert node.extents is not None
    assert node.preferred is not None
    assert node.extents[0].value == 4
    assert node.extents[1].name == "n"
    assert [size.value for size in node.preferred] == [2, 1]


def test_scope_ids_of_one_name_are_a_tuple():
    (store,) = nodes("ids = T.cta_id([4, 8])\nA[ids[0], ids[1]] = T.float32(0)", tir.BufferStore)
    assert [index.name for index in store.indices] == ["ids_0", "ids_1"]


def test_a_scope_id_without_a_name_is_kept():
    assert shown("T.thread_id([32])") == ["v = T.thread_id([32])"]
    assert shown("T.cta_id([2, 3])") == ["v_0, v_1 = T.cta_id([2, 3])"]


def test_a_scope_id_is_visible_after_its_definition():
    assert check_module(module("tx = T.thread_id([4])\nA[tx, 0] = T.float32(1)")) == ()
    assert refused("A[tx, 0] = T.float32(1)\ntx = T.thread_id([4])") == ("RM104", 3)


def test_extents_are_integers():
    findings = check_module(module("tx = T.thread_id([T.float32(4)])"))
    assert [finding.code.id for finding in findings] == ["RM201"]
    findings = check_module(module("tx = T.cta_id([4], preferred=[T.float32(4)])"))
    assert [finding.code.id for finding in findings] == ["RM201"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("tx = T.thread_id([])", "RM105"),
        ("tx = T.thread_id(size=4)", "RM105"),
        ("tx = T.thread_id([4], preferred=[2])", "RM105"),
        ("tx = T.cta_id(preferred=[2])", "RM105"),
        ("tx = T.thread_id([4], dtype='float32')", "RM105"),
        ("tx = T.cta_id_in_pair([2])", "RM105"),
        ("tx, ty = T.thread_id([4])", "RM105"),
        ("tx, A[0] = T.thread_id([4, 2])", "RM105"),
        ("A[0, 0] = T.thread_id([4])", "RM103"),
        ("tx = T.thread_id(['a'])\nT.device_entry(1)", "RM105"),
        ("T.hint('a', 'b')", "RM105"),
    ],
)
def test_wrong_scope_ids_are_refused(body, code):
    assert refused(body)[0] == code


def test_the_entry_of_the_device_is_around_the_rest():
    (attr,) = nodes("T.device_entry()\nA[0, 0] = T.float32(1)", tir.AttrStmt)
    assert (attr.node, attr.key) == (None, "tirx.device_entry")
    assert isinstance(attr.body, tir.BufferStore)
    assert shown("T.device_entry()\ntx = T.thread_id([4])")[0] == 'T.attr({"tirx.device_entry": T.bool(True)})'


def test_hints_are_shown_as_they_are_written():
    lines = [
        'with T.hint("scheduler", access=A[0:2, 3], mode="fast"):',
        "    A[0, 0] = T.float32(1.0)",
        "T.evaluate(n)",
    ]
    assert shown("\n".join(lines)) == lines
    assert shown("T.hint(depth=4)\nT.evaluate(n)") == ["T.hint(depth=4)", "T.evaluate(n)"]


# --------------------------------------------------------------------------------------------------- layouts

LAYOUTS = [
    "T.TileLayout(T.S[(8, 4):(4 @ Axis.laneid, 1)])",
    "T.TileLayout(T.S[32:1 @ Axis.laneid] + T.R[2:4 @ Axis.warpid])",
    "T.TileLayout(T.S[(8, 4):(4, 1)] + 5 @ Axis.warpid)",
    "T.TileLayout(T.S[(8, 4):(4, 1)] + (7 @ Axis.laneid + 3))",
    "T.TileLayout(T.R[2:1])",
    "T.TileLayout(T.S[(8, 4):(n, n + 1)])",
    "T.TileLayout(T.S[(8, 4):((n + 1) @ Axis.tx, 1)])",
    "T.TileLayout.from_iters()",
    'T.TileLayout.from_iters(offset={"m": 3})',
    "T.ComposeLayout(3, 2, 1, T.TileLayout(T.S[32:1]))",
    "T.ComposeLayout(3, 2, 1, T.TileLayout(T.S[32:1]), swizzle_inner=False)",
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_shown_as_they_are_written(layout):
    line = f'C = T.alloc_local((4, 8), "int32", layout={layout})'
    assert shown(line) == [line]
    (buffer,) = [node for node in nodes(line, tir.Buffer) if node.name == "C"]
    assert isinstance(buffer.layout, tirx.TileLayout | tirx.ComposeLayout)


def test_a_layout_is_read_by_hand():
    text = (
        "C = T.alloc_local((32,), layout=T.TileLayout(T.S[(8, 4):(4 @ Axis.laneid, 1)] + T.R[2:1] + 5 @ Axis.warpid))"
    )
    (layout,) = nodes(text, tirx.TileLayout)
    assert [(item.extent.value, item.stride.value, item.axis) for item in layout.shard] == [
        (8, 4, "laneid"),
        (4, 1, "m"),
    ]
    assert [(item.extent.value, item.stride.value, item.axis) for item in layout.replica] == [(2, 1, "m")]
    assert {axis: value.value for axis, value in layout.offset.items()} == {"warpid": 5}


def test_terms_of_a_layout_stand_in_any_order():
    one = nodes(
        "C = T.alloc_local((32,), layout=T.TileLayout(3 + T.R[2:1] + T.S[32:1] + 1 @ Axis.tx + 2 @ Axis.tx))",
        tirx.TileLayout,
    )
    assert {axis: getattr(value, "value", None) or value.op for axis, value in one[0].offset.items()} == {
        "m": 3,
        "tx": "add",
    }
    iters = nodes(
        "C = T.alloc_local((32,), layout=T.TileLayout.from_iters([T.Iter(32, 2, 'tx')], []))", tirx.TileLayout
    )
    other = nodes("C = T.alloc_local((32,), layout=T.TileLayout(T.S[32:2 @ Axis.tx]))", tirx.TileLayout)
    assert structural_equal(iters[0], other[0])


def test_strides_of_a_layout_are_row_major_where_there_are_none():
    (layout,) = nodes("C = T.alloc_local((32,), layout=T.TileLayout(T.S[2, 4, 4]))", tirx.TileLayout)
    assert [item.stride.value for item in layout.shard] == [16, 4, 1]
    (layout,) = nodes("C = T.alloc_local((32, n), layout=T.TileLayout(T.S[2, n, 4]))", tirx.TileLayout)
    assert [getattr(item.stride, "value", None) for item in layout.shard] == [None, 4, 1]


def test_axes_are_imported_by_name():
    head = "from tvm.tirx.layout import S, TileLayout, laneid\n" + HEAD
    (layout,) = nodes(
        "C = T.alloc_local((32,), layout=TileLayout(S[(8, 4):(4 @ laneid, laneid)]))", tirx.TileLayout, head
    )
    assert [item.axis for item in layout.shard] == ["laneid", "laneid"]


def test_a_row_major_layout_is_the_default_one():
    (buffer,) = [
        node
        for node in nodes("C = T.alloc_local((2, 4), layout=T.TileLayout(T.S[(2, 4):(4, 1)]))", tir.Buffer)
        if node.name == "C"
    ]
    assert buffer.layout is Layout.DEFAULT
    schedulable = HEAD.replace("@T.prim_func", "@T.prim_func(s_tir=True)")
    text = "C = T.alloc_local((2, 4), layout=T.TileLayout(T.S[(2, 4):(4, 1)]))"
    (buffer,) = [node for node in nodes(text, tir.Buffer, schedulable) if node.name == "C"]
    assert buffer.layout is Layout.ROW_MAJOR
    assert "layout=T.TileLayout(T.S[(2, 4):(4, 1)])" in show(module(text, schedulable))


@pytest.mark.parametrize(
    ("layout", "code"),
    [
        ("T.TileLayout(T.S[(8, 4):(4,)])", "RM105"),
        ("T.TileLayout(T.S[8:4:2])", "RM105"),
        ("T.TileLayout(T.S[8:1] + T.S[4:1])", "RM105"),
        ("T.TileLayout(T.R[8:1] + T.R[4:1])", "RM105"),
        ("T.TileLayout(T.S[8:1] - 1)", "RM105"),
        ("T.TileLayout(T.S[8:'a'] * 2)", "RM105"),
        ("T.TileLayout(3)", "RM105"),
        ("T.TileLayout.from_iters([3])", "RM105"),
        ("T.TileLayout.from_iters(offset=3)", "RM105"),
        ("T.ComposeLayout(3, 3, 3, 4)", "RM105"),
        ("T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[32:1]), 1)", "RM105"),
        ("T.S[8:1]", "RM105"),
        ("4 @ n", "RM105"),
        ("T.prim_func @ 3", "RM105"),
        ("'HW'", "RM105"),
        ("T.Iter(1, 2, 3)", "RM105"),
    ],
)
def test_wrong_layouts_are_refused(layout, code):
    assert refused(f"C = T.alloc_local((4, 8), layout={layout})")[1] == 3
    assert refused(f"C = T.alloc_local((4, 8), layout={layout})")[0] in (code, "RM103", "RM201")


def test_addresses_in_tensor_memory():
    lines = [
        "addr: T.uint32",
        'C = T.decl_buffer((4, 8), scope="tmem", layout=T.TileLayout(T.S[32:1 @ Axis.TCol]), allocated_addr=addr)',
        'D = T.decl_buffer((4, 8), scope="tmem", allocated_addr=0)',
        'E = T.alloc_buffer((4, 8), "int32", allocated_addr=[1, 2])',
    ]
    assert shown("\n".join(lines))[:3] == lines[:3]
    (buffer,) = [node for node in nodes("\n".join(lines[:2]), tir.Buffer) if node.name == "C"]
    assert isinstance(buffer.allocated_addr[0], tir.BufferLoad)


# ---------------------------------------------------------------------------------------------------- views

LANES = "A_reg = T.alloc_local((8, 8), layout=T.TileLayout(T.S[(8, 4, 2):(4 @ Axis.laneid, 1 @ Axis.laneid, 1)]))"


@pytest.mark.parametrize(
    "line",
    [
        "C = A_reg.local()",
        "C = A_reg.local(1, 2)",
        'C = A_reg.view("float16")',
        'C = A_reg.view("float64")',
        "C = A_reg.view(64, layout=T.TileLayout(T.S[64:1 @ Axis.laneid]))",
        "C = A_reg.view(4, 16)",
    ],
)
def test_derived_buffers_are_shown_as_they_are_written(line):
    assert shown(f"{LANES}\n{line}") == [LANES, line]


def declared(body, name="C"):
    """The buffer of a view."""
    return next(node.buffer for node in nodes(body, tir.DeclBuffer) if node.buffer.name == name)


def strides(buffer):
    """Extents, strides and axes of a layout."""
    return [(item.extent.value, item.stride.value, item.axis) for item in buffer.layout.shard]


def test_the_layout_of_a_view_of_another_dtype():
    half = declared(f"{LANES}\nC = A_reg.view('float16')")
    assert [size.value for size in half.shape] == [8, 16]
    assert strides(half) == [(8, 8, "laneid"), (4, 2, "laneid"), (2, 2, "m"), (2, 1, "m")]
    double = declared(f"{LANES}\nC = A_reg.view('float64')")
    assert [size.value for size in double.shape] == [8, 4]
    assert strides(double) == [(8, 2, "laneid"), (4, 0, "laneid"), (1, 1, "m")]
    assert declared("C = A.view('float64')").layout is Layout.DEFAULT
    assert strides(declared("C = A.view('float16')")) == [(4, 16, "m"), (8, 2, "m"), (2, 1, "m")]


def test_the_layout_of_a_view_of_a_swizzled_buffer():
    swizzled = "D = T.alloc_local((32,), layout=T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[32:1])))\n"
    assert declared(f"{swizzled}C = D.view('float16')").layout.per_element == 4
    assert declared(f"{swizzled}C = D.view('float64')").layout.per_element == 2
    assert shown(f"{swizzled}C = D.view('float16')")[1] == 'C = D.view("float16")'


def test_what_a_thread_has_of_a_buffer():
    local = declared(f"{LANES}\nC = A_reg.local()")
    assert [size.value for size in local.shape] == [2]
    assert local.layout is Layout.DEFAULT
    laid = declared(f"{LANES}\nC = A_reg.local(layout=T.TileLayout(T.S[2:4]))")
    assert [size.value for size in laid.shape] == [2]
    assert strides(laid) == [(2, 4, "m")]
    one = "D = T.alloc_local((32,), layout=T.TileLayout(T.S[32:1 @ Axis.laneid]))\nd = D.local()\nA[0, 0] = d"
    (store,) = nodes(one, tir.BufferStore)
    assert isinstance(store.value, tir.BufferLoad)


def test_the_offset_counts_to_what_a_thread_has():
    laid = "D = T.alloc_local((8,), layout=T.TileLayout(T.S[(4, 2):(1 @ Axis.laneid, 2)] + T.R[2:1] + 3))\n"
    assert [size.value for size in declared(f"{laid}C = D.local()").shape] == [1 + 2 + 1 + 3]


def test_permuted_dimensions():
    assert strides(declared("C = A.permute(1, 0)")) == [(8, 1, "m"), (4, 8, "m")]
    assert strides(declared(f"{LANES}\nC = A_reg.permute(1, 0)")) == [(4, 1, "laneid"), (2, 1, "m"), (8, 4, "laneid")]
    swizzled = "D = T.alloc_local((4, 8), layout=T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[(4, 8):(8, 1)])))\n"
    assert declared(f"{swizzled}C = D.permute(1, 0)").layout.tile_layout.shard[0].extent.value == 8


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("C = A_reg.local(3)", "RM105"),
        ("C = A_reg.permute(1, 1)", "RM105"),
        ("C = A_reg.permute(1)", "RM105"),
        ("D = T.alloc_local((8, 4), layout=None)\nC = D.local()", "RM504"),
        ("D = T.alloc_local((8, 4), layout=None)\nC = D.permute(1, 0)", "RM504"),
        ("D = T.alloc_local((8, 4), layout=T.TileLayout(T.S[32:2]))\nC = D.view('float64')", "RM504"),
        ("D = T.alloc_local((8, 4), layout=T.TileLayout(T.S[32:2]))\nC = D.permute(1, 0)", "RM504"),
        ("D = T.alloc_local((n,), layout=T.TileLayout(T.S[(n, 2):(1, 1 @ Axis.tx)]))\nC = D.local()", "RM504"),
        ("C = A_reg.view('float16', layout='HW')", "RM105"),
        ("C = A_reg.view(-1, -1)", "RM105"),
        ("C = A.view('int3')", "RM106"),
        ("C = A.ptr_to([1])", "RM208"),
    ],
)
def test_wrong_views_are_refused(line, code):
    assert refused(f"{LANES}\n{line}")[0] == code


def test_mutable_scalars_are_shown_by_their_names():
    lines = ["x: T.float32", "x = A[0, 0]", 'y = T.shared_scalar("int32")', "T.evaluate(x)"]
    assert shown("\n".join(lines)) == lines
    assert shown("x: T.uint32\nT.ptx.mov.b32(x, x.source.data)")[-1] == "T.ptx.mov.b32(x, x.source.data)"
    assert shown("x = T.decl_scalar('uint32', A.data, 'global', 2)\nT.evaluate(x)")[1] == "T.evaluate(x[0])"


def test_pointers_to_elements():
    assert shown("T.evaluate(A.ptr_to([1, n]))") == ["T.address_of(A[1, n])"]


# -------------------------------------------------------------------------------------------- tile primitives

TILES = [
    "T.tile.copy(A[0:2, 0:8], B[0:2, 0:8])",
    'T.warp.copy(A[0:2, 3], B[0:2, 4], dispatch="ldgsts", mode="zero", size=16)',
    "T.cta.zero(A[0:2, 0:8])",
    "T.wg.sum(A[0:2, 0], B[0:2, 0:8], [-1], False)",
    "T.cluster.fill(A[0:4, 0:8], T.float16(1.5))",
    'T.tile.add(A[0:4, 0:8], B[0:4, 0:8], T.float32(1.0), workspace={"w": B})',
    "T.tile.fma(A[0:4, 0:8], B[0:4, 0:8], A[0:1, 0:1], B[0, 0])",
    "T.warp.gemm(A[0:4, 0:4], B[0:4, 0:4], A[0:4, 4:8], B[0:4, 4:8], False, T.bool(True), n, T.float32(0.0))",
    "T.cta.gemm_async(A[0:4, 0:4], B[0:4, 0:4], A[0:4, 4:8], False, True, False)",
    "T.cta.gemm_async(A[0:4, 0:4], B[0:4, 0:4], A[0:4, 4:8], B[0, 0:2], B[1, 0:2], False, True, False)",
    'T.tile.binary_reduce(A[0:4, 0], B[0:4, 0], A[0:4, 0], n, I.Op("tirx.tile.add"), I.Op("tirx.tile.sum"), [1])',
    'T.tile.unary_reduce(A[0, 0:8], B[0, 0], A[0, 0:8], I.Op("tirx.tile.sqrt"), I.Op("tirx.tile.sum"), None, n, [0])',
    "T.tile.select(A[0:4, 0:8], B[0:4, 0:8], T.float32(1.0), lambda i, j: i < j)",
    "T.tile.sqrt(A[0:4, 0:8], B[0:4, 0:8], T.float32(0.5), T.float32(1.5))",
    "T.tile.copy(A[n:n + 2, 0:n], B[0:2, 0:n])",
]


@pytest.mark.parametrize("line", TILES)
def test_tile_primitives_are_shown_as_they_are_written(line):
    assert shown(line) == [line]
    assert check_module(module(line)) == ()


def test_a_tile_primitive_is_read_by_hand():
    head = "from tvm.script.tirx import tile as Tx\n" + HEAD
    (call,) = nodes(
        "Tx.warp.sum(A[0:2, 0], B, axes=1, accum=True, dispatch='x', depth=3)", tirx.TilePrimitiveCall, head
    )
    assert (call.op, call.scope, call.dispatch, call.config) == ("sum", "warp", "x", {"depth": 3})
    region, whole, axes, accum = call.args
    assert isinstance(region, tir.BufferRegion)
    assert isinstance(whole, tir.BufferRegion)
    assert [item.extent.value for item in region.region] == [2, 1]
    assert [item.extent.value for item in whole.region] == [4, 8]
    assert (axes, accum) == ((1,), True)


@pytest.mark.parametrize(("space", "scope"), [("warpgroup", "warpgroup"), ("thread", "thread"), ("wg", "warpgroup")])
def test_namespaces_have_two_names(space, scope):
    (call,) = nodes(f"Tx.{space}.zero(A)", tirx.TilePrimitiveCall)
    assert call.scope == scope
    assert structural_equal(call.args[0], call.args[1], map_free_vars=True)


def test_numbers_are_of_the_dtype_that_tvm_gives_them():
    (call,) = nodes("Tx.gemm(A, B, A, B, alpha=2.5)", tirx.TilePrimitiveCall)
    assert [arg.dtype for arg in call.args[6:]] == [FLOAT32, FLOAT32]
    assert [arg.value for arg in call.args[6:]] == [2.5, 0.0]
    (call,) = nodes("Tx.fill(A, 3)", tirx.TilePrimitiveCall)
    assert call.args[1] == 3
    (call,) = nodes("Tx.fill(A, T.int32(3), a=T.int32(1))", tirx.TilePrimitiveCall)
    assert (call.args[1].value, call.config["a"].dtype) == (3, INT32)
    assert shown("T.tile.fill(A[0:4, 0:8], T.int32(3), a=T.int32(1))") == [
        "T.tile.fill(A[0:4, 0:8], T.int32(3), a=T.int32(1))"
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("T.tile.copi(A, B)", "RM103"),
        ("T.tile.copy.fast(A, B)", "RM103"),
        ("T.tile.copy(A)", "RM105"),
        ("T.tile.copy(A, 3)", "RM105"),
        ("T.tile.copy(A, B, A)", "RM105"),
        ("T.tile.copy(A, B, dispatch=3)", "RM105"),
        ("T.tile.copy(A, B, workspace={'a': 3})", "RM105"),
        ("T.tile.copy(A, B, workspace=3)", "RM105"),
        ("T.tile.unary_reduce(A, B, A, 'sqrtt', 'sum')", "RM105"),
        ("T.tile.select(A, B, A, 3)", "RM105"),
        ("T.tile.select(A, B, A, lambda *i: 3)", "RM105"),
        ("T.tile.unary_reduce(A, B, A, I.Op(3), 'sum')", "RM105"),
        ("T.tile.copy(A, B, mode=T.prim_func)", "RM105"),
    ],
)
def test_wrong_tile_primitives_are_refused(line, code):
    assert refused(line) == (code, 3)


def test_static_rules_look_into_tile_primitives():
    free = "T.tile.copy(A[0:2, 0:8], T.Buffer((4, 8))[0:2, 0:8])"
    assert refused(free)[0] == "RM103"
    findings = check_module(module("C = T.Buffer((4, 8))\nT.tile.copy(A, C, workspace={'w': C}, at=n)"))
    assert {finding.code.id for finding in findings} == {"RM203"}


def test_texts_before_0_27_have_no_word_for_it():
    for line in ("tx = T.thread_id([4])", "T.tile.copy(A, B)"):
        with pytest.raises(RefmlcError, match="RM504"):
            show(module(line), dialect="2023")


# ------------------------------------------------------------------------------------------ operators of devices

CALLS = [
    "T.cuda.cta_sync()",
    "x: T.uint32 = T.cuda.elect_sync()",
    "x: T.int32 = T.cuda.__shfl_sync(T.uint32(1), n, 0, 32)",
    'x: T.float32 = T.cuda.ldg(A.data, "float32")',
    'x: T.int32 = T.cuda.mov_sreg(32, "clusterid.x")',
    'x: T.int32 = T.cuda.func_call("f", n, source_code="int f(int a);", return_type="int32")',
    'T.cuda.func_call("g", source_code="void g();")',
    'T.ptx.mma(A[0, 0], B[0, 0], "sync", "aligned", "")',
    "T.ptx.ld.global_.b32(A[0, 0], B.data)",
    'T.ptx["tcgen05.st.sync.aligned.32x32b.x1.b32"](n)',
    "T.ptx.mov.b64(T.ptx.SINK, T.ptx.pred(n), T.ptx.addr(A.data, 4))",
    'x: T.float32 = T.cuda.warp_reduce(A[0, 0], "sum", 32)',
    'T.ptx_legacy.ldmatrix(T.bool(False), 4, ".b16", A.data, 0, B.data, 0)',
    'T.ptx_legacy.ldmatrix(T.bool(False), 4, ".b16", A.data, 0, B.data, 0, dtype="float16")',
    "x: T.int32 = T.buffer_offset(A[n, 1])",
    'p: T.let[T.handle("float16", "global")] = T.ptr_byte_offset(A.data, 4, T.type_annotation("float16"))',
    'm: T.let[T.TensorMap()] = T.tvm_stack_alloca("tensormap", 1)',
]


@pytest.mark.parametrize("line", CALLS)
def test_calls_are_shown_as_they_are_written(line):
    head, colon, value = line.partition(" = ") if ": T." in line and "let" not in line else (line, "", "")
    expected = [head, f"{head.partition(':')[0]} = {value}"] if colon else [line]
    assert shown(line) == expected


def test_other_spellings_of_the_same_call():
    assert shown('T.ptx["ld.global.b32"](A[0, 0], B.data)') == ["T.ptx.ld.global_.b32(A[0, 0], B.data)"]
    assert shown("T.evaluate(T.cuda.cta_max(A[0, 0], 4, B.data))") == ['T.cuda.cta_reduce(A[0, 0], "max", 4, B.data)']
    assert shown("T.evaluate(T.cuda.warp_min(A[0, 0]))") == ['T.cuda.warp_reduce(A[0, 0], "min", 32)']
    assert shown('T.call_intrin("uint32", "tirx.cuda.iket_range_start", "a")') == ['T.cuda.iket.range_start("a")']
    assert shown('T.call_intrin("float32", "tirx.cuda.iket_range_start", "a")') == [
        'T.call_intrin("float32", "tirx.cuda.iket_range_start", "a")'
    ]
    assert shown('T.evaluate(T.ptr_byte_offset(n, 4, "float16"))')[0].startswith("T.ptr_byte_offset(n, 4")
    assert shown("p: T.handle('float16', 'shared')\nT.evaluate(0)") == shown(
        "p: T.handle('float16', 'shared')\nT.evaluate(0)"
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("T.cuda.cta_sinc()", "RM103"),
        ("T.ptx.lld.b32(A.data)", "RM103"),
        ("T.ptx.ld.b33(A.data)", "RM103"),
        ("T.ptx['ld b32'](A.data)", "RM105"),
        ("T.ptx[3](A.data)", "RM105"),
        ("T.cuda.func_call('f')", "RM105"),
        ("T.cuda.mov_sreg(33, 'a')", "RM106"),
        ("T.evaluate(T.buffer_offset(A[0, 0], 1, 2))", "RM105"),
        ("T.TensorMap(3)", "RM105"),
    ],
)
def test_wrong_calls_are_refused(line, code):
    assert refused(line) == (code, 3)


def test_serial_loops_say_how_they_are_unrolled():
    loops = nodes("for i in T.serial(4, unroll=False):\n    A[i, 0] = T.float32(0)", tir.For)
    assert loops[0].annotations == {"disable_unroll": True}
    loops = nodes("for i in T.serial(4, unroll=2, dtype='uint32'):\n    A[i, 0] = T.float32(0)", tir.For)
    assert (loops[0].annotations, loops[0].loop_var.dtype) == ({"pragma_unroll": 2}, UINT32)
    loops = nodes("for i in T.serial(4, unroll=True):\n    A[i, 0] = T.float32(0)", tir.For)
    assert loops[0].annotations == {"pragma_unroll": True}
    assert refused("for i in T.serial(4, unroll=0):\n    A[i, 0] = T.float32(0)")[0] == "RM105"


def test_slices_have_scalable_lanes():
    head = "@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((64,), 'float32')):\n"
    (store,) = nodes("A[0:T.vscale() * 4] = T.Broadcast(T.float32(1), T.vscale() * 4)", tir.BufferStore, head)
    assert (store.indices[0].dtype.lanes, store.indices[0].dtype.scalable) == (4, True)
    (store,) = nodes("A[3:3 + 4 * T.vscale() * 2:2] = T.Broadcast(T.float32(1), T.vscale() * 4)", tir.BufferStore, head)
    assert store.indices[0].stride.value == 2
    assert refused("A[0:T.vscale() * 4:3] = T.float32(1)", head)[0] == "RM105"
    assert refused("A[0:T.vscale()] = T.float32(1)", head)[0] == "RM105"


def test_a_handle_that_nothing_defines_is_declared_by_its_type():
    lines = ['p = T.handle("float16", "shared")', "m = T.TensorMap()", "T.evaluate(p)", "T.evaluate(m)"]
    assert shown("\n".join(lines))[:2] == lines[:2]


@pytest.mark.parametrize("layout", ["T.TileLayout(T.S[8:1])", "T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[8:1]))"])
def test_a_layout_is_an_attribute_too(layout):
    line = f"T.tile.copy(A[0:4, 0:8], B[0:4, 0:8], smem={layout})"
    assert shown(line) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "T.hint('a', message='b')",
        "C = A.view(8, 4, scope='shared')",
        "C = A.view([])",
        "C = A.view('int32', 3)",
        "C = A.view(1.5)",
        "C = A.local(32, dtype='int8')",
        "C = A.local('x')",
        "T.ptx_legacy.ldmatrix('float16', True, 4, '.b16', A.data, 0, B.data, 0, trans=True)",
        "T.tile.copy(A, B, workspace={1: A, '1': B})",
        "T.evaluate(A.scope(1) == 'global')",
        "C = T.alloc_local((4,), 'float32', None, None, None, 'shared')",
    ],
)
def test_no_argument_is_dropped(line):
    assert refused(line) == ("RM105", 3)


def test_a_named_scope_is_the_scope():
    (buffer,) = (node.buffer for node in nodes("C = T.alloc_local((4,), scope='shared')", tir.AllocBuffer))
    assert buffer.scope == "shared"
