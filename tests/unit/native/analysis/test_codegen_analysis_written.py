"""What is written before it is read, and what is all written; worked by hand."""

import pytest
from places import function

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.native.analysis.initialisation import find_initialisation

HEAD = '@T.prim_func(s_tir=True)\ndef main(A: T.Buffer((4, 6), "float32"), C: T.Buffer((4, 6), "float32")):\n'


def uses(text):
    """`{buffer: (tracked, covered)}` of a function, and what was found."""
    func = function(text)
    written = find_initialisation(func)
    return {buffer.name: (use.tracked, use.covered) for buffer, use in written.uses.items()}, written


def test_a_chain_of_elementwise_nests():
    found, written = uses(
        HEAD
        + """
    T1 = T.sblock_alloc_buffer((4, 6))
    for i, j in T.grid(4, 6):
        with T.sblock("one"):
            vi, vj = T.axis.remap("SS", [i, j])
            T1[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(4, 6):
        with T.sblock("two"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T1[3 - vi, vj] * T1[vi, vj]
"""
    )
    assert found == {"A": (False, False), "C": (False, True), "T1": (False, False)}
    assert not written.unproved
    (c,) = [use for buffer, use in written.uses.items() if buffer.name == "C"]
    assert (c.loaded, c.stored) == (False, True)
    assert c.proof == "every element is written before it is read, all are written"


def test_init_comes_before_the_reduction():
    found, _ = uses(
        HEAD
        + """
    for k, i, j in T.grid(6, 4, 6):
        with T.sblock("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk]
"""
    )
    assert found["C"] == (False, True)


def test_a_reduction_without_init_reads_what_was_there():
    found, written = uses(
        HEAD
        + """
    for i, j, k in T.grid(4, 6, 6):
        with T.sblock("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk]
"""
    )
    assert found["C"] == (True, False)
    assert list(written.unproved.values()) == ["`C[vi, vj]` may be read before it is written"]


def test_init_under_a_condition_on_the_reduction_may_be_left_out():
    found, _ = uses(
        HEAD
        + """
    for i, j, k in T.grid(4, 6, 6):
        with T.sblock("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.where(k > 2)
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk]
"""
    )
    assert found["C"] == (True, False)


def test_a_reduction_that_starts_late_has_no_init():
    found, _ = uses(
        HEAD
        + """
    for i, j, k in T.grid(4, 6, 5):
        with T.sblock("sum"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(6, k + 1)
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk]
"""
    )
    assert found["C"] == (True, False)


def test_a_reduction_that_goes_down_ends_with_its_init():
    found, _ = uses(
        HEAD
        + """
    for i, j, k in T.grid(4, 6, 6):
        with T.sblock("sum"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(6, 5 - k)
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk]
"""
    )
    assert found["C"] == (True, False)


def test_what_is_allocated_in_the_reduction_loses_its_init():
    found, _ = uses(
        HEAD
        + """
    for k in range(6):
        with T.sblock("outer"):
            vk = T.axis.reduce(6, k)
            T1 = T.sblock_alloc_buffer((1,))
            with T.init():
                T1[0] = T.float32(0)
            T1[0] = T1[0] + A[0, vk]
"""
    )
    assert found["T1"] == (True, False)


@pytest.mark.parametrize(
    ("loops", "index", "covered"),
    [
        ("for i, j in T.grid(4, 6):", "i, j", True),
        ("for j, i in T.grid(6, 4):", "i, j", True),
        ("for i, j in T.grid(4, 6):", "3 - i, 5 - j", True),
        ("for i, j in T.grid(4, 5):", "i, j", False),
        ("for i, j in T.grid(4, 5):", "i, j + 1", False),
        ("for i, j in T.grid(4, 7):", "i, T.min(j, 5)", False),
        ("for f in range(24):", "f // 6, f % 6", True),
        ("for f in range(24):", "f % 4, f // 4", True),
        ("for f in range(23):", "f // 6, f % 6", False),
        ("for f in range(24):", "f // 8, f % 6", False),
        ("for i, j0, j1 in T.grid(4, 3, 2):", "i, j0 * 2 + j1", True),
        ("for i, j0, j1 in T.grid(4, 2, 4):", "i, T.min(j0 * 4 + j1, 5)", False),
        ("for i, j0, j1 in T.grid(4, 3, 2):", "i, j1 * 3 + j0", False),
        ("for i, j0, j1 in T.grid(4, 2, 2):", "i, j0 * 4 + j1", False),
        ("for f, j1 in T.grid(12, 2):", "f // 3, f % 3 * 2 + j1", True),
        ("for i, j, k in T.grid(4, 6, 0):", "i, j", False),
    ],
)
def test_loops_cover_a_buffer(loops, index, covered):
    found, _ = uses(f"{HEAD}\n    {loops}\n        C[{index}] = T.float32(0)\n")
    assert found["C"] == (not covered, covered)


def test_symbolic_extents():
    found, _ = uses(
        """
@T.prim_func(s_tir=True)
def main(a: T.handle, c: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m))
    C = T.match_buffer(c, (n,))
    D = T.sblock_alloc_buffer((n * m,))
    for i, j in T.grid(n, m):
        D[i * m + j] = A[i, j]
    for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = D[vi * m]
"""
    )
    assert found == {"A": (False, False), "C": (False, True), "D": (False, False)}


def test_a_symbolic_reduction_may_be_empty():
    found, written = uses(
        """
@T.prim_func(s_tir=True)
def main(a: T.handle, C: T.Buffer((4,), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (4, n))
    for i, k in T.grid(4, n):
        with T.sblock("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
"""
    )
    assert found["C"] == (True, False)  # without an iteration nothing is written; what is read is
    assert not written.unproved


@pytest.mark.parametrize(
    ("condition", "tracked"),
    [("i < 4", False), ("i < 3", True), ("A[0, 0] > T.float32(0)", True)],
)
def test_stores_under_conditions(condition, tracked):
    found, _ = uses(
        f"{HEAD}    for i, j in T.grid(4, 6):\n        if {condition}:\n            C[i, j] = T.float32(1)\n"
    )
    assert found["C"] == (tracked, not tracked)


def test_a_condition_in_a_loop_that_is_longer_each_time():
    """`i` is 3 in no iteration: k - z is never below 0."""
    found, _ = uses(
        HEAD
        + """
    for k in range(2):
        for z in range(k + 1):
            for i, j in T.grid(4, 6):
                if i + k - z < 3:
                    C[i, j] = T.float32(1)
"""
    )
    assert found["C"] == (True, False)


@pytest.mark.parametrize(
    ("condition", "covered"),
    [
        ("j0 * 4 + j1 < 6", True),
        ("j0 * 4 + j1 <= 5", True),
        ("j0 * 4 + j1 < 5", False),
        ("j0 * 4 + j1 < 6 and i < 3", False),
        ("j0 * 4 + j1 < 6 and i < 4", True),
        ("j0 * 4 + j1 < 6 and 0 <= i - 1", False),
        ("j0 * 4 + j1 < 6 and A[0, 0] > T.float32(0)", False),
        ("j0 * 4 < 3", False),
    ],
)
def test_a_condition_that_keeps_stores_inside_of_the_buffer(condition, covered):
    text = f"{HEAD}    for i, j0, j1 in T.grid(4, 2, 4):\n        if {condition}:\n"
    found, _ = uses(text + "            C[i, T.min(j0 * 4 + j1, 9)] = T.float32(0)\n")
    assert found["C"] == (not covered, covered)


def test_init_of_a_reduction_that_is_cut_to_its_domain():
    text = (
        HEAD
        + """
    for i, j, k0, k1 in T.grid(4, 6, 2, 4):
        with T.sblock("sum"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(6, k0 * 4 + k1)
            T.where({0})
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk]
"""
    )
    conditions = ("k0 * 4 + k1 < 6", "6 > k0 * 4 + k1", "k0 + k1 > 2", "k0 * 2 >= 1")
    found = [uses(text.format(condition))[1] for condition in conditions]
    assert [bool(written.unproved) for written in found] == [False, False, True, True]


@pytest.mark.parametrize(
    ("loops", "condition", "proved"),
    [
        ("i, j, k in T.grid(4, 6, 6)", "k == 0", True),
        ("k, i, j in T.grid(6, 4, 6)", "k == 0", True),
        ("k, i, j in T.grid(6, 4, 6)", "k < 1", True),
        ("k, i, j in T.grid(6, 4, 6)", "k == 0 and j < 6", True),
        ("k, i, j in T.grid(6, 4, 6)", "k == 0 and j < 5", False),
        ("k, i, j in T.grid(6, 4, 6)", "k == 1", False),
        ("k, i, j in T.grid(6, 4, 6)", "k == j", False),
        ("k, i, j in T.grid(6, 4, 6)", "k == 0 or j == 2", False),
        ("k, i, j in T.grid(6, 4, 6)", "A[0, 0] == A[0, 1] and k == 0", False),
    ],
)
def test_init_as_a_statement(loops, condition, proved):
    found, _ = uses(
        f"""{HEAD}
    for {loops}:
        if {condition}:
            C[i, j] = T.float32(0)
        C[i, j] = C[i, j] + A[i, k]
"""
    )
    assert found["C"] == (not proved, proved)


def test_a_condition_on_rows_of_a_flat_buffer():
    text = """
@T.prim_func(s_tir=True)
def main(C: T.Buffer((96,), "float32")):
    for i0, i1, j in T.grid(3, 3, 12):
        if i0 * 3 + i1 < {rows}:
            C[(i0 * 3 + i1) * 12 + j] = T.float32(0)
"""
    assert uses(text.format(rows=8))[0]["C"] == (False, True)
    assert uses(text.format(rows=7))[0]["C"] == (True, False)


def test_stores_in_both_arms():
    found, _ = uses(
        HEAD
        + """
    for i, j in T.grid(4, 6):
        if A[i, j] > T.float32(0):
            C[i, j] = T.float32(1)
        else:
            C[i, j] = T.float32(2)
"""
    )
    assert found["C"] == (False, True)


def test_loads_under_their_condition():
    text = (
        HEAD
        + """
    T1 = T.sblock_alloc_buffer((4, 6))
    for i, j in T.grid(4, 5):
        T1[i, j] = A[i, j]
    for i, j in T.grid(4, 6):
        C[i, j] = T.if_then_else({condition}, T1[i, j], T.float32(0))
"""
    )
    found, _ = uses(text.format(condition="j < 5"))
    assert found == {"A": (False, False), "T1": (False, False), "C": (False, True)}
    found, _ = uses(text.format(condition="j < 6"))
    assert found["T1"] == (True, False)


def test_loads_after_an_assertion():
    text = """
@T.prim_func(s_tir=True)
def main(n: T.int32, C: T.Buffer((1,), "float32")):
    T1 = T.sblock_alloc_buffer((6,))
    for i in range(4):
        T1[i] = T.float32(0)
    assert {condition}, "n"
    C[0] = T1[n]
"""
    assert not uses(text.format(condition="n < 4 and n >= 0"))[1].unproved
    assert uses(text.format(condition="n < 5 and n >= 0"))[1].unproved
    assert uses(text.format(condition="n >= 4"))[1].unproved


@pytest.mark.parametrize(("ramp", "covered"), [("T.Ramp(0, 1, 6)", True), ("T.Ramp(0, 2, 3)", False)])
def test_vectors(ramp, covered):
    lanes = ramp[-2]
    found, _ = uses(f"{HEAD}    for i in range(4):\n        C[i, {ramp}] = T.Broadcast(T.float32(1), {lanes})\n")
    assert found["C"] == (not covered, covered)


def test_an_allocation_in_a_loop_is_new_each_time():
    text = (
        HEAD
        + """
    for i in range(4):
        with T.sblock("row"):
            vi = T.axis.spatial(4, i)
            T1 = T.sblock_alloc_buffer((6,))
            for j in range(6):
                {first}
            for j in range(6):
                C[vi, j] = T1[j]
"""
    )
    found, _ = uses(text.format(first="T1[j] = A[vi, j]"))
    assert found["T1"] == (False, False)
    found, _ = uses(text.format(first="if vi == 0:\n                    T1[j] = A[vi, j]"))
    assert found["T1"] == (True, False)


def test_in_and_out():
    found, _ = uses(f"{HEAD}    for i, j in T.grid(4, 6):\n        C[i, j] = C[i, j] + A[i, j]\n")
    assert found["C"] == (True, False)


@pytest.mark.parametrize(
    ("view", "tail"),
    [
        ("T.decl_buffer((23,), data=C.data)", ""),
        ("T.decl_buffer((24,), data=C.data)", "C[0, 0] = T.float32(1)"),
        ("T.decl_buffer((24,), data=C.data)", "D = T.decl_buffer((24,), data=C.data)"),
        ("T.decl_buffer((24,), data=C.data)", "T.evaluate(T.call_packed('f', C.data))"),
        ("T.decl_buffer((24,), data=C.data, elem_offset=1)", ""),
        ("T.decl_buffer((24,), data=C.data, strides=(1,))", ""),
        ('T.decl_buffer((24,), "int32", data=C.data)', ""),
    ],
)
def test_views_share_storage(view, tail):
    kind = "int32" if "int32" in view else "float32"
    text = f"{HEAD}    B = {view}\n    for i in range(23):\n        B[i] = T.{kind}(0)\n    B[23] = T.{kind}(0)\n"
    found, written = uses(text + f"    {tail}\n")
    assert found["C"] == found["B"] == (True, False)
    (c,) = [buffer for buffer in written.uses if buffer.name == "C"]
    assert {buffer.name for buffer in written.use_of(c).shared} >= {"B", "C"}


def test_the_only_view_of_a_whole_buffer_is_another_name_of_it():
    text = (
        HEAD
        + """
    B = T.decl_buffer((24,), data=C.data)
    for i in range({extent}):
        B[i] = T.float32(0)
"""
    )
    found, written = uses(text.format(extent=24))
    assert found["C"] == found["B"] == (False, True)
    (c,) = [buffer for buffer in written.uses if buffer.name == "C"]
    assert {buffer.name for buffer in written.use_of(c).shared} == {"B", "C"}
    found, _ = uses(text.format(extent=23))
    assert found["C"] == found["B"] == (True, False)


def test_a_view_of_what_is_only_read_is_given():
    found, _ = uses(
        HEAD
        + """
    B = T.decl_buffer((24,), data=A.data)
    for i, j in T.grid(4, 6):
        C[i, j] = B[i * 6 + j]
"""
    )
    assert found == {"A": (False, False), "B": (False, False), "C": (False, True)}


@pytest.mark.parametrize(
    ("body", "proof"),
    [
        (
            "for i in range(4):\n        if i == 2:\n            break\n        C[i, 0] = T.float32(0)",
            "a loop may be left early",
        ),
        ("T.evaluate(T.call_packed('f', C.data))", "`C` is given to `call_packed`"),
        ("C[0, 0] = T.Cast('float32', T.undef())", "`T.undef()` is stored"),
    ],
)
def test_what_forbids_a_proof(body, proof):
    _, written = uses(f"{HEAD}    {body}\n")
    (use,) = [use for buffer, use in written.uses.items() if buffer.name == "C"]
    assert (use.tracked, use.covered, use.proof) == (True, False, proof)


def test_loads_of_a_function_left_early_are_not_proved_but_of_what_is_given():
    func = function(
        HEAD
        + """
    for i, j in T.grid(4, 6):
        C[i, j] = A[i, j]
        C[i, j] = C[i, j] + T.float32(1)
        if i == 2:
            break
"""
    )
    written = find_initialisation(func)
    loads = {node.buffer.name: node for node in walk(func.body) if isinstance(node, tir.BufferLoad)}
    assert written.initialised(loads["A"])
    assert not written.initialised(loads["C"])


def test_what_a_block_declares_is_not_read_but_a_shape_is():
    text = """
@T.prim_func(s_tir=True)
def main(N: T.Buffer((1,), "int32"), C: T.Buffer((4,), "float32")):
    I1 = T.sblock_alloc_buffer((4,), "int32")
    for i in range({extent}):
        with T.sblock("C"):
            vi = T.axis.spatial(4, i)
            T.reads(I1[I1[vi]])
            T.writes(C[vi])
            {inside}
            C[vi] = T.float32(0)
"""
    plain = uses(text.format(extent=4, inside=""))[1]
    assert not plain.unproved
    shape = uses(text.format(extent=4, inside='X = T.sblock_alloc_buffer((I1[vi],), "int32")'))[1]
    assert list(shape.unproved.values()) == ["a shape or an attribute is read from a buffer"]
