"""Kernels of TIRx, thread by thread (TIX-001 … TIX-004): values worked out by hand; real TVM in tests/e2e."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

HEAD = "@T.prim_func\ndef f({params}):\n"
IDS = {
    "T.warp_id([3])": lambda t: t // 32,
    "T.lane_id([32])": lambda t: t % 32,
    "T.warpgroup_id([1])": lambda t: t // 128,
    "T.thread_id_in_wg([96])": lambda t: t % 128,
    "T.warp_id_in_wg([3])": lambda t: t // 32 % 4,
    "T.warp_id()": lambda t: t // 32,
}


def run(body, *arrays, params=None):
    """Call the function of this body on arrays A, B, …, which it changes."""
    names = "ABCD"[: len(arrays)]
    declared = [f"{name}: T.Buffer({array.shape}, '{array.dtype}')" for name, array in zip(names, arrays, strict=True)]
    text = HEAD.format(params=params or ", ".join(declared)) + "".join(f"    {line}\n" for line in body.split("\n"))
    Machine(read(text, "f.py")).call("f", arrays)


def failure(body, *arrays, params=None):
    with pytest.raises(RefmlcError) as caught:
        run(body, *arrays, params=params)
    return caught.value


def code(body, *arrays, params=None):
    return failure(body, *arrays, params=params).code.id


def ints(*shape):
    return np.full(shape, -1, "int32")


# --------------------------------------------------------------------------------------------------- the launch


@pytest.mark.parametrize("spelled", IDS)
def test_an_id_is_a_function_of_the_number_of_the_thread(spelled):
    out = ints(96)
    run(f"T.device_entry()\nt = T.thread_id([96])\nl = T.lane_id([32])\nx = {spelled}\nA[t] = x", out)
    assert out.tolist() == [IDS[spelled](t) for t in range(96)]


def test_threads_of_three_axes_are_numbered_with_x_fastest():
    out = ints(64, 4)
    run(
        "T.device_entry()\nx, y, z = T.thread_id([4, 8, 2])\nw = T.warp_id([2])\nl = T.lane_id([32])\n"
        "A[w * 32 + l, 0] = x\nA[w * 32 + l, 1] = y\nA[w * 32 + l, 2] = z\nA[w * 32 + l, 3] = w",
        out,
    )
    assert out.tolist() == [[t % 4, t // 4 % 8, t // 32, t // 32] for t in range(64)]


def test_blocks_have_an_index_on_each_axis():
    out = ints(2, 3, 4)
    run("T.device_entry()\nx, y, z = T.cta_id([2, 3, 4])\nt = T.thread_id([1])\nA[x, y, z] = x + 10 * y + 100 * z", out)
    assert out.tolist() == [[[x + 10 * y + 100 * z for z in range(4)] for y in range(3)] for x in range(2)]


@pytest.mark.parametrize(
    ("ids", "threads"),
    [
        ("w = T.warp_id([3])\nl = T.lane_id([32])", 96),
        ("g = T.warpgroup_id([2])\nt = T.thread_id_in_wg([128])", 256),
        ("g = T.warpgroup_id([2])\nw = T.warp_id_in_wg([4])\nl = T.lane_id([32])", 256),
        ("t = T.thread_id([8, 2])", 16),
        ("t = T.thread_id([n])", 5),
        ("w = T.warp_id([n])\nl = T.lane_id([32])", 160),
    ],
)
def test_the_extents_fix_the_number_of_threads(ids, threads):
    out = np.zeros(1, "int32")
    lines = ids.replace("t = T.thread_id([8, 2])", "t, u = T.thread_id([8, 2])")
    body = f"T.device_entry()\n{lines}\nA[0] = A[0] + 1"
    text = HEAD.format(params="A: T.Buffer((1,), 'int32'), n: T.int32")
    Machine(read(text + "".join(f"    {line}\n" for line in body.split("\n")), "f.py")).call("f", (out, 5))
    assert out.tolist() == [threads]


def test_a_cluster_has_ids_of_its_blocks():
    out = ints(8, 3)
    run(
        "T.device_entry()\nc = T.cluster_id([2])\nr = T.cta_id_in_cluster([4])\np = T.cta_id_in_pair()\n"
        "b = T.cta_id()\n"
        "t = T.thread_id([1])\nA[b, 0] = c\nA[b, 1] = r\nA[b, 2] = p",
        out,
    )
    assert out.tolist() == [[b // 4, b % 4, b % 2] for b in range(8)]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("w = T.warp_id()\nl = T.lane_id()", "the extent of `T.warp_id` follows from no other scope ids"),
        ("b = T.cta_id([4])", "no scope ids say how many threads a block has"),
        ("t = T.thread_id([64])\nu = T.thread_id([32])", "there are 64 values of `T.thread_id`, and 32"),
        (
            "t = T.thread_id([100])\nl = T.lane_id([32])",
            "100 values of `T.thread_id` are no multiple of 32 of `T.lane_id`",
        ),
        ("t = T.thread_id([64])\nl = T.lane_id([16])", "`T.lane_id` has 32 values in a block of 64 threads, not 16"),
        ("t = T.thread_id([64])\nw = T.warp_id([4])", "`T.warp_id` has 2 values in a block of 64 threads, not 4"),
        ("a = T.cta_id([8])\nb, c = T.cta_id([2, 4])\nt = T.thread_id([1])", "the launch has 1 such axes"),
        (
            "b = T.cta_id([6])\nr = T.cta_id_in_cluster([4])\nt = T.thread_id([1])",
            "6 values of `T.cta_id` are no multiple",
        ),
        ("c = T.cluster_id([2])\nt = T.thread_id([1])", "no scope ids say how many blocks there are"),
    ],
)
def test_ids_that_do_not_fix_a_launch_are_refused(ids, message):
    caught = failure(f"T.device_entry()\n{ids}\nA[0] = 1", ints(1))
    assert caught.code.id == "RM214"
    assert message in caught.diagnostic.message
    assert caught.diagnostic.span is not None


def test_preferred_sizes_of_clusters_and_unknown_products_are_unsupported():
    body = "b = T.cta_id([4])\nr = T.cta_id_in_cluster([2], preferred=[4])\nt = T.thread_id([1])"
    assert code(f"T.device_entry()\n{body}\nA[0] = 1", ints(1)) == "RM504"


def test_a_kernel_without_ids_is_executed_once():
    out = np.zeros(1, "int32")
    run("T.device_entry()\nA[0] = A[0] + 1", out)
    assert out.tolist() == [1]


def test_ids_may_have_other_dtypes_and_be_defined_where_they_are_used():
    out = ints(64)
    run(
        "T.device_entry()\nt = T.thread_id([64])\nl = T.lane_id([32])\nif t >= 32:\n"
        "    w = T.warp_id(dtype='uint32')\n    A[t] = T.cast(w, 'int32')",
        out,
    )
    assert out.tolist() == [-1] * 32 + [1] * 32


# ----------------------------------------------------------------------------------------------------- memory


def test_shared_memory_belongs_to_a_block_and_local_memory_to_a_thread():
    out = ints(2, 64)
    run(
        "T.device_entry()\nb = T.cta_id([2])\nt = T.thread_id([64])\nS = T.alloc_shared((64,), 'int32')\n"
        "L = T.alloc_local((1,), 'int32')\nL[0] = t + 100 * b\nS[t] = L[0]\nT.cuda.cta_sync()\n"
        "A[b, t] = S[63 - t] * 1000 + L[0]",
        out,
    )
    assert out.tolist() == [[(63 - t + 100 * b) * 1000 + t + 100 * b for t in range(64)] for b in range(2)]


def test_shared_memory_of_one_block_is_not_that_of_the_next():
    body = "T.device_entry()\nb = T.cta_id([2])\nt = T.thread_id([32])\nS = T.alloc_shared((1,), 'int32')\n"
    body += "if b == 0 and t == 0:\n    S[0] = 7\nT.cuda.cta_sync()\nA[b, t] = S[0]"
    assert code(body, ints(2, 32)) == "RM305"


@pytest.mark.parametrize(
    ("layout", "address"),
    [
        ("T.TileLayout(T.S[(4, 8):(1, 4)])", lambda i, j: i + 4 * j),
        ("T.TileLayout(T.S[(4, 8):(16, 1)])", lambda i, j: 16 * i + j),
        ("T.TileLayout(T.S[(4, 8):(8, 1)] + 3)", lambda i, j: 8 * i + j + 3),
        (
            "T.ComposeLayout(1, 2, 2, T.TileLayout(T.S[(4, 8):(8, 1)]))",
            lambda i, j: 8 * i + (j ^ (i << 1) if j >= 0 else 0),
        ),
    ],
)
def test_an_element_lies_at_the_address_of_its_layout(layout, address):
    out = np.full(64, -1, "int32")
    run(
        f"V = T.decl_buffer((4, 8), 'int32', data=A.data, layout={layout})\n"
        "for i, j in T.grid(4, 8):\n    V[i, j] = i * 10 + j",
        out,
    )
    expected = np.full(64, -1, "int32")
    for i in range(4):
        for j in range(8):
            expected[address(i, j)] = i * 10 + j
    assert out.tolist() == expected.tolist()


def test_allocated_memory_is_as_large_as_the_addresses_reach_and_bounds_are_those_of_the_shape():
    body = "B = T.alloc_local((4,), 'int32', layout=T.TileLayout(T.S[4:3]))\nfor i in range(4):\n    B[i] = i + 5\n"
    out = ints(4)
    run(body + "for i in range(4):\n    A[i] = B[i]", out)
    assert out.tolist() == [5, 6, 7, 8]
    caught = failure(body + "for i in range(5):\n    A[0] = B[i]", ints(4))
    assert caught.code.id == "RM304"
    assert caught.diagnostic.label == "index 0 is 4, extent is 4"
    assert code("B = T.alloc_local((4,), 'int32', layout=T.TileLayout(T.S[4:3]))\nA[0] = B[3]", ints(4)) == "RM305"


def test_a_view_beyond_its_memory_is_out_of_bounds():
    body = "V = T.decl_buffer((4,), 'int32', data=A.data, layout=T.TileLayout(T.S[4:3]))\n"
    out = ints(4)
    run(body + "V[1] = 7", out)
    assert out.tolist() == [-1, -1, -1, 7]
    assert code(body + "V[2] = 7", ints(4)) == "RM304"


def test_a_parameter_has_the_layout_that_it_declares():
    out = np.arange(6, dtype="int32")
    params = "A: T.Buffer((2, 3), 'int32', layout=T.TileLayout(T.S[(2, 3):(1, 2)])), B: T.Buffer((2, 3), 'int32')"
    result = ints(2, 3)
    run("for i, j in T.grid(2, 3):\n    B[i, j] = A[i, j]", out.reshape(2, 3), result, params=params)
    assert result.tolist() == [[0, 2, 4], [1, 3, 5]]


OWNER = (
    "T.device_entry()\nl = T.lane_id([32])\nw = T.warp_id([1])\n"
    "R = T.alloc_local((32, 2), 'int32', layout=T.TileLayout(T.S[(32, 2) : (1 @ Axis.laneid, 1)]))\n"
)


def test_what_a_thread_has_of_a_buffer_is_its_local_view():
    out = ints(32, 2)
    run(
        f"{OWNER}r = R.local()\nr[0] = l\nr[1] = l * 10\nTx.warp.copy(A, R)",
        out,
    )
    assert out.tolist() == [[lane, lane * 10] for lane in range(32)]


@pytest.mark.parametrize("access", ["R[l, 0] = 1", "A[l, 0] = R[l, 0]"])
def test_an_element_of_a_buffer_of_several_threads_is_not_accessed_alone(access):
    caught = failure(OWNER + access, ints(32, 2))
    assert caught.code.id == "RM504"
    assert "`R` belongs to several threads" in caught.diagnostic.message


@pytest.mark.parametrize(
    ("layout", "scope", "message"),
    [
        ("T.TileLayout(T.S[4 : 1 @ Axis.TLane])", "local", "it has the axis `TLane`"),
        ("T.TileLayout(T.S[4 : 1 @ Axis.tx])", "shared", "it has axes of threads, in scope `shared`"),
        ("T.TileLayout(T.S[4:1] + T.R[2:4])", "local", "it has a replica in memory"),
        ("T.TileLayout(T.S[n:1])", "local", "it is not constant"),
    ],
)
def test_other_layouts_are_unsupported_by_name(layout, scope, message):
    params = "A: T.Buffer((4,), 'int32'), n: T.int32"
    text = (
        HEAD.format(params=params)
        + f"    B = T.alloc_buffer((4,), 'int32', scope='{scope}', layout={layout})\n    A[0] = B[0]\n"
    )
    with pytest.raises(RefmlcError, match=message) as caught:
        Machine(read(text, "f.py")).call("f", (ints(4), 4))
    assert caught.value.code.id == "RM504"


@pytest.mark.parametrize(
    ("ids", "kind"),
    [("t = T.thread_id([n])\nl = T.lane_id([16])", "lane_id"), ("w = T.warp_id([n])\nl = T.lane_id([16])", "lane_id")],
)
def test_parts_of_a_block_of_any_size_have_their_own_size(ids, kind):
    text = HEAD.format(params="A: T.Buffer((64,), 'int32'), n: T.int32")
    text += "".join(f"    {line}\n" for line in f"T.device_entry()\n{ids}\nA[l] = 1".split("\n"))
    with pytest.raises(RefmlcError) as caught:
        Machine(read(text, "f.py")).call("f", (ints(64), 4))
    assert (caught.value.code.id, f"an extent of `T.{kind}` other than 32" in str(caught.value)) == ("RM504", True)


def test_a_return_would_end_all_threads():
    caught = failure("T.device_entry()\nt = T.thread_id([4])\nif t == 1:\n    T.evaluate(T.ret(0))\nA[t] = 1", ints(4))
    assert (caught.code.id, caught.diagnostic.message) == ("RM504", "a return in a kernel is not executed")
    launched = "with T.launch_thread('threadIdx.x', 4) as t:\n    T.cuda.warp_sync()\n    if t == 1:\n"
    caught = failure(f"{launched}        T.evaluate(T.ret(0))\n    A[t] = 1", ints(4))
    assert (caught.code.id, caught.diagnostic.message) == ("RM504", "a return in a kernel is not executed")


@pytest.mark.parametrize("layout", ["T.S[(2, 4) : (-4, 1)] + 4", "T.S[(8,) : (1,)] + -2"])
def test_memory_begins_at_its_first_element(layout):
    caught = failure(
        "T.device_entry()\nt = T.thread_id([8])\n"
        f"S = T.alloc_shared((2, 4), 'int32', layout=T.TileLayout({layout}))\nS[t // 4, t % 4] = t\nA[t] = 1",
        ints(8),
    )
    assert (caught.code.id, "before the first element of its memory" in caught.diagnostic.message) == ("RM504", True)
