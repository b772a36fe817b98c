"""Which nests may move, and the reasons why others may not; worked by hand."""

import pytest
from places import function

from refmlc.lang.ir import tir
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.initialisation import find_initialisation
from refmlc.native.analysis.legality import find_nest
from refmlc.native.nest import Nest

HEAD = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((4, 6), "{0}"), B: T.Buffer((6, 4), "{0}"), C: T.Buffer((4, 4), "{1}")):
"""
ONE = """            with T.sblock("{0}"):
                v{0} = T.axis.spatial(4, j)
                C[0, v{0}] = A[0, v{0}]
"""


def nest_of(text):
    """What is said of the last loop nest of a function."""
    func = function(text)
    body = func.body.block.body if isinstance(func.body, tir.SBlockRealize) else func.body
    stmt = body.seq[-1] if isinstance(body, tir.SeqStmt) else body
    return find_nest(stmt, Facts.entry(func), find_initialisation(func))


def block(body, loops="i, j, k in T.grid(4, 4, 6)", axes=('SSR", [i, j, k]',), kind="float32", out=None, init="0"):
    """A function of one block with the axes vi, vj, vk."""
    text = HEAD.format(kind, out or kind) + f'    for {loops}:\n        with T.sblock("C"):\n'
    names = ", ".join(["vi", "vj", "vk"][: axes[0].index('"')])
    text += f'            {names} = T.axis.remap("{axes[0]})\n'
    if init:
        text += f"            with T.init():\n                C[vi, vj] = T.{out or kind}({init})\n"
    return text + "".join(f"            {line}\n" for line in body.splitlines())


SUM = "C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]"
PLAIN = {"loops": "i, j in T.grid(4, 4)", "axes": ('SS", [i, j]',), "init": ""}


def test_matmul():
    nest = nest_of(block(SUM))
    assert isinstance(nest, Nest)
    vi, vj = (axis.var for axis in nest.spatial)
    (vk,) = (axis.var for axis in nest.reduce)
    assert [axis.extent for axis in (*nest.spatial, *nest.reduce)] == [4, 4, 6]
    offsets = {load.buffer.name: (dict(offset.terms), offset.constant) for load, offset in nest.offsets.items()}
    assert offsets == {"A": ({vi: 6, vk: 1}, 0), "B": ({vk: 4, vj: 1}, 0), "C": ({vi: 4, vj: 1}, 0)}
    (init,), (store,) = nest.init, nest.stores
    assert store.offset.terms == init.offset.terms == {vi: 4, vj: 1}
    assert nest.guarded == frozenset()
    assert nest.lets == ()


def test_axes_are_in_the_order_of_the_loops():
    nest = nest_of(block(SUM, loops="j, k, i in T.grid(4, 6, 4)"))
    assert [axis.var.name for axis in nest.spatial] == ["vj", "vi"]


@pytest.mark.parametrize(
    ("loops", "bindings"),
    [
        ("f, k in T.grid(16, 6)", "f // 4, f % 4, k"),
        ("i0, j, i1, k in T.grid(2, 4, 2, 6)", "i0 * 2 + i1, j, k"),
        ("i, j, k0, k1 in T.grid(4, 4, 2, 3)", "i, j, k0 * 3 + k1"),
        ("i, j, k in T.grid(4, 4, 6)", "3 - i, j, k"),
        ("i, j, k, u in T.grid(4, 4, 6, 1)", "i, j, k + u"),
    ],
)
def test_loops_that_are_split_fused_or_turned(loops, bindings):
    nest = nest_of(bound(loops, bindings))
    assert isinstance(nest, Nest), nest
    assert [axis.extent for axis in (*nest.spatial, *nest.reduce)] == [4, 4, 6]


def bound(loops, bindings, sizes=(4, 4, 6), where=""):
    """A matrix product whose axes are bound to expressions."""
    text = HEAD.format("float32", "float32") + f'    for {loops}:\n        with T.sblock("C"):\n'
    for name, size, value in zip(("vi", "vj", "vk"), sizes, bindings.split(", "), strict=True):
        kind = "reduce" if name == "vk" else "spatial"
        text += f"            {name} = T.axis.{kind}({size}, {value})\n"
    text += f"            T.where({where})\n" if where else ""
    text += "            with T.init():\n                C[vi, vj] = T.float32(0)\n"
    return f"{text}            {SUM}\n"


@pytest.mark.parametrize(
    ("loops", "bindings", "reason"),
    [
        ("i, j, k in T.grid(4, 4, 5)", "i, j, k", "the loops do not go through the whole domain of block `C`"),
        ("i, j, k, u in T.grid(4, 4, 6, 2)", "i, j, k", "block `C` is executed 192 times and has 96 points"),
        ("i, j, k in T.grid(4, 4, 6)", "i, j, 5 - k", "the reductions of block `C` are not in the order of its axes"),
        (
            "i, j, k1, k0 in T.grid(4, 4, 3, 2)",
            "i, j, k0 * 3 + k1",
            "the reductions of block `C` are not in the order of its axes",
        ),
        ("j, f in T.grid(4, 24)", "f // 6, j, f % 6", "one loop of block `C` moves spatial and reduction axes at once"),
        ("i, k in T.grid(4, 6)", "i, i, k", "loop `i` does not go through the axes of block `C` one by one"),
        ("i, j, k in T.grid(4, 4, 3)", "i, j, k * 2", "loop `k` does not go through the axes of block `C` one by one"),
    ],
)
def test_loops_that_do_something_else(loops, bindings, reason):
    assert nest_of(bound(loops, bindings)) == reason


def test_a_reduction_of_two_axes_keeps_its_order():
    text = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4, 6), "float32"), C: T.Buffer((1,), "float32")):
    for {loops} in T.grid({sizes}):
        with T.sblock("C"):
            vp = T.axis.reduce(4, {p})
            vq = T.axis.reduce(6, {q})
            with T.init():
                C[0] = T.float32(0)
            C[0] = C[0] + A[vp, vq]
"""
    ordered = nest_of(text.format(loops="q, p", sizes="6, 4", p="p", q="q"))
    assert [axis.var.name for axis in ordered.reduce] == ["vq", "vp"]
    fused = nest_of(
        text.format(loops="f", sizes="24", p="f // 6", q="f % 6").replace("for f in T.grid(24)", "for f in range(24)")
    )
    assert [axis.var.name for axis in fused.reduce] == ["vp", "vq"]
    mixed = nest_of(text.format(loops="p0, q, p1", sizes="2, 6, 2", p="p0 * 2 + p1", q="q"))
    assert mixed == "the reductions of block `C` are not in the order of its axes"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("C[vi, 0] = A[vi, vj]", "no dimension of `C[vi, 0]` is of axis `vj` alone"),
        ("C[vi, (vj + vi) % 4] = A[vi, vj]", "index `(vj + vi) % 4` of `C` is not affine in the axes"),
        ("C[vj, vi] = C[vi, vj]", "`C[vi, vj]` is read, which another iteration writes"),
        ("C[vi, vj] = A[vi, vj] + A[vi, vj + 3]", "`A[vi, vj + 3]` is not proved in bounds: vj + 3 in 3 … 6, extent 6"),
        ("C[vi, vj] = A[vi, T.max(vj, 1)]", "index `max(vj, 1)` of `A` is not affine in the axes"),
        ("if vi > 1:\n    C[vi, vj] = A[vi, vj]", "block `C` stores under a condition"),
        ("for u in range(2):\n    C[vi, vj] = A[vi, u]", "block `C` holds loops or blocks of its own"),
        (
            "T.evaluate(T.call_extern('int32', 'f'))\nC[vi, vj] = A[vi, vj]",
            "block `C` has effects: it evaluates a call",
        ),
        ("C[vi, vj] = T.call_extern('float32', 'f')", "it calls `call_extern`"),
        ("C[vi, vj] = A[vi, j]", "`j` is bound outside of the block"),
        ("C[vi, vj] = A[vi, vj]\nC[3 - vi, vj] = A[vi, vj]", "`C` is stored at more than one element"),
    ],
)
def test_bodies_that_may_not_move(body, reason):
    assert nest_of(block(body, **PLAIN)) == reason


def test_a_store_at_a_reduction_axis():
    text = block("C[vi, vk] = A[vi, vk]", loops="i, j, k in T.grid(4, 4, 4)", init="")
    assert nest_of(text) == "`C[vi, vk]` is stored at reduction axis `vk`"


def test_loads_in_arms_are_guarded():
    nest = nest_of(
        block("C[vi, vj] = T.if_then_else(1 <= vj and vj < 3, A[vi, vj - 1] + A[vi, vj + 3], A[vi, 0])", **PLAIN)
    )
    found = {tuple(sorted((var.name, by) for var, by in nest.offsets[load].terms.items())) for load in nest.guarded}
    assert {offset.constant for load, offset in nest.offsets.items() if load in nest.guarded} == {-1, 3}
    assert found == {(("vi", 6), ("vj", 1))}
    other = nest_of(block("C[vi, vj] = T.if_then_else(vj < 2, A[vi, 0], A[vi, vj - 2])", **PLAIN))
    assert [other.offsets[load].constant for load in other.guarded] == [-2]
    eager = block("C[vi, vj] = T.Select(1 <= vj, A[vi, vj - 1], T.float32(0))", **PLAIN)
    assert nest_of(eager) == "`A[vi, vj - 1]` is not proved in bounds: vj - 1 in -1 … 2, extent 6"


def test_bindings_before_the_stores():
    nest = nest_of(block("x: T.let[T.float32] = A[vi, vj]\nC[vi, vj] = x * x", **PLAIN))
    assert [let.var.name for let in nest.lets] == ["x"]
    late = block("C[vi, vj] = A[vi, vj]\nx: T.let[T.float32] = A[vi, vj]\nC[vi, vj] = x * C[vi, vj]", **PLAIN)
    assert nest_of(late) == "block `C` binds a variable after it stored"


def test_what_is_read_before_it_is_written():
    text = block(SUM, init="")
    assert nest_of(text) == "`C[vi, vj]` may be read before it is written"


def test_what_is_written_in_part_must_be_noted():
    text = (
        HEAD.format("float32", "float32")
        + """
    for i, j in T.grid(4, 3):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]
"""
    )
    reason = "what is written to `C` must be noted: it is not proved that all of `C` is written"
    assert nest_of(text) == reason


# ------------------------------------------------------------------------------------------- integers


def test_an_integer_sum_that_cannot_overflow():
    body = 'C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])'
    assert isinstance(nest_of(block(body, kind="int8", out="int32")), Nest)
    near = nest_of(block(body, kind="int8", out="int32", init=str(2**31 - 1 - 6 * 2**14)))
    assert isinstance(near, Nest)
    over = nest_of(block(body, kind="int8", out="int32", init=str(2**31 - 6 * 2**14)))
    assert over.startswith("`C[vi, vj] + A[vi, vk] * B[vk, vj]` of int32 is not proved defined: ")


def test_an_integer_difference_goes_the_other_way():
    body = 'C[vi, vj] = C[vi, vj] - T.Cast("int32", A[vi, vk])'  # 6 times -127 … 128
    assert isinstance(nest_of(block(body, kind="int8", out="int32", init=str(2**31 - 1 - 6 * 128))), Nest)
    assert "is not proved defined" in nest_of(block(body, kind="int8", out="int32", init=str(2**31 - 6 * 128)))
    assert isinstance(nest_of(block(body, kind="int8", out="int32", init=str(-(2**31) + 6 * 127))), Nest)
    assert "is not proved defined" in nest_of(block(body, kind="int8", out="int32", init=str(-(2**31) + 6 * 127 - 1)))


def test_an_integer_sum_that_may_overflow():
    body = "C[vi, vj] = C[vi, vj] + A[vi, vk]"
    assert nest_of(block(body, kind="int32")).startswith("`C[vi, vj] + A[vi, vk]` of int32 is not proved defined")
    assert isinstance(nest_of(block(body, kind="int16")), Nest)  # narrow integers wrap


def test_a_sum_that_is_changed_elsewhere_has_no_range():
    body = 'C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk])\nC[vi, vj] = C[vi, vj] * 2'
    assert "is not proved defined" in nest_of(block(body, kind="int8", out="int32"))


@pytest.mark.parametrize(
    ("value", "legal"),
    [
        ("A[vi, vj] // T.int32(3)", True),
        ("A[vi, vj] // B[vi, vj]", False),
        ("T.if_then_else(B[vi, vj] == 0, 0, A[vi, vj] // B[vi, vj])", False),
        ("A[vi, vj] // (T.max(B[vi, vj], 0) % 100 + 1)", True),
        ("T.shift_right(A[vi, vj], vi)", True),
        ("T.shift_right(A[vi, vj], B[vi, vj])", False),
        ("T.max(A[vi, vj], B[vi, vj])", True),
        ("T.abs(A[vi, vj])", False),
    ],
)
def test_integer_operators_must_be_defined_in_both_arms(value, legal):
    nest = nest_of(block(f"C[vi, vj] = {value}", kind="int32", **PLAIN))
    assert isinstance(nest, Nest) is legal, nest


def test_a_cast_of_a_float_to_an_integer_may_be_undefined():
    nest = nest_of(block('C[vi, vj] = T.Cast("int32", A[vi, vj])', out="int32", **PLAIN))
    assert nest == "`A[vi, vj]` of int32 is not proved defined: `A[vi, vj]` in ? … ?"


# ------------------------------------------------------------------------------------- what is outside


@pytest.mark.parametrize(
    ("loops", "bindings", "where"),
    [
        ("i0, i1, j, k in T.grid(2, 3, 4, 6)", "i0 * 3 + i1, j, k", "i0 * 3 + i1 < 4"),
        ("i, j0, j1, k in T.grid(4, 2, 3, 6)", "i, j0 * 3 + j1, k", "j0 * 3 + j1 < 4 and i < 4"),
        ("i, j, k0, k1 in T.grid(4, 4, 2, 4)", "i, j, k0 * 4 + k1", "k0 * 4 + k1 <= 5"),
    ],
)
def test_a_condition_that_cuts_an_axis_to_its_domain(loops, bindings, where):
    nest = nest_of(bound(loops, bindings, where=where))
    assert isinstance(nest, Nest), nest
    assert [axis.extent for axis in (*nest.spatial, *nest.reduce)] == [4, 4, 6]


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("i0 * 3 + i1 < 3", "block `C` has a condition that is not proved: `i0 * 3 + i1 < 3`"),
        ("i0 * 3 + i1 < 4 and j < 3", "block `C` has a condition that is not proved: `i0 * 3 + i1 < 4 and j < 3`"),
        ("i0 * 3 < 3", "block `C` has a condition that is not proved: `i0 * 3 < 3`"),
        ("i0 < 2", "axis `vi` leaves its domain 0 … 3"),
    ],
)
def test_a_condition_that_does_something_else(where, reason):
    assert nest_of(bound("i0, i1, j, k in T.grid(2, 3, 4, 6)", "i0 * 3 + i1, j, k", where=where)) == reason


def test_a_condition_on_the_block():
    text = (
        HEAD.format("float32", "float32")
        + """
    for i, j in T.grid(4, 4):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where({0})
            C[vi, vj] = A[vi, vj]
"""
    )
    assert isinstance(nest_of(text.format("i < 4")), Nest)
    assert nest_of(text.format("i < 3")) == "block `C` has a condition that is not proved: `i < 3`"


def test_symbolic_extents_do_not_move():
    text = """
@T.prim_func(s_tir=True)
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,))
    C = T.match_buffer(c, (n,))
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi]
"""
    assert nest_of(text) == "the extent of loop `i` is `n`, not a constant"


def test_loops_without_a_block_or_with_two():
    plain = HEAD.format("float32", "float32") + "    for i, j in T.grid(4, 4):\n        C[i, j] = A[i, j]\n"
    assert nest_of(plain) == "there is no block: only axes say what may move"
    two = (
        HEAD.format("float32", "float32")
        + "    for i in range(1):\n        for j in range(4):\n"
        + ONE.format("a")
        + ONE.format("b")
    )
    assert nest_of(two) == "the loops hold more than one block"


def test_views_and_strides():
    view = (
        HEAD.format("float32", "float32")
        + """
    D = T.decl_buffer((16,), data=C.data)
    for i in range(16):
        with T.sblock("D"):
            vi = T.axis.spatial(16, i)
            D[vi] = T.float32(0)
"""
    )
    assert nest_of(view) == "`D` shares storage with another buffer"
    strided = """
@T.prim_func(s_tir=True)
def main(a: T.handle, C: T.Buffer((4,), "float32")):
    A = T.match_buffer(a, (4,), strides=(2,))
    for i in range(4):
        with T.sblock("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi]
"""
    assert nest_of(strided) == "`A` is not compact"
