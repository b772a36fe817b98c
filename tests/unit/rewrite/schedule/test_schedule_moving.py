"""Steps that move blocks, on small functions: what comes of it, written by hand; what is refused, in which words."""

import pytest
from test_schedule_steps import CHAIN, SUM, function, refusal, same

from refmlc.rewrite import schedule

LINEAR = """
P = T.sblock_alloc_buffer((8,), "float32")
for i in range(8):
    with T.sblock("make"):
        vi = T.axis.spatial(8, i)
        P[vi] = A[vi] * T.float32(2)
for i, j in T.grid(3, 2):
    with T.sblock("use"):
        v = T.axis.spatial(6, i * 2 + j)
        X[v] = P[v] + P[v + 2]
"""
PARAMS = 'A: T.Buffer((8,), "float32"), X: T.Buffer((6,), "float32")'


def linear():
    return function(LINEAR, PARAMS)


def at(step, func, block, other, place=0):
    return step(func, block, schedule.get_loops(func, other)[place])


def test_a_producer_computes_the_box_that_is_read():
    assert same(
        at(schedule.compute_at, linear(), "make", "use"),
        """
P = T.sblock_alloc_buffer((8,), "float32")
for i in range(3):
    for ax0 in range(4):
        with T.sblock("make"):
            vi = T.axis.spatial(8, i * 2 + ax0)
            P[vi] = A[vi] * T.float32(2)
    for j in range(2):
        with T.sblock("use"):
            v = T.axis.spatial(6, i * 2 + j)
            X[v] = P[v] + P[v + 2]
""",
        PARAMS,
    )


def test_a_box_that_overlaps_the_end_is_guarded():
    text = LINEAR.replace("T.grid(3, 2)", "T.grid(2, 4)").replace(
        "        v = T.axis.spatial(6, i * 2 + j)",
        "        v = T.axis.spatial(6, i * 4 + j)\n        T.where(i * 4 + j < 6)",
    )
    found = at(schedule.compute_at, function(text, PARAMS), "make", "use")
    assert "T.where(i * 4 + ax0 < 8)" in found.script()
    assert "for ax0 in range(6)" in found.script()


def test_a_consumer_computes_what_is_finished():
    func = function(CHAIN.replace("P[5 - vi, vj]", "P[vi, vj]"))
    assert same(
        at(schedule.reverse_compute_at, func, "second", "first"),
        """
P = T.sblock_alloc_buffer((6, 4), "float32")
for i in range(6):
    for j in range(4):
        with T.sblock("first"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = A[vi, vj] * T.float32(2)
    for ax1 in range(4):
        with T.sblock("second"):
            vi, vj = T.axis.remap("SS", [i, ax1])
            X[vi, vj] = P[vi, vj] + T.float32(1)
""",
    )


def test_a_consumer_that_reads_backwards_stays():
    message = refusal(lambda: at(schedule.reverse_compute_at, function(CHAIN), "second", "first"))
    assert message == "RM504 `reverse_compute_at` is refused: `P` is read where other iterations write it"


def test_a_consumer_takes_the_place_of_what_it_reads():
    func = function(CHAIN.replace("P[5 - vi, vj]", "P[vi, vj]"))
    assert same(
        schedule.reverse_compute_inline(func, "second"),
        """
for i, j in T.grid(6, 4):
    with T.sblock("first"):
        vi, vj = T.axis.remap("SS", [i, j])
        X[vi, vj] = A[vi, vj] * T.float32(2) + T.float32(1)
""",
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("P[v] + P[v + 2]", "A[v]", "nothing in the loop over `i` reads `P`"),
        ("P[vi] = A[vi]", "P[7 - vi] = A[vi]", "`make` does not store at its own spatial axes"),
        ("range(8):", "range(4):", "axis `vi` may not run over all its dimension"),
        ("A[vi] * T.float32(2)", "A[vi] * X[vi]", "`X` is written later"),
    ],
)
def test_a_producer_that_cannot_be_moved(old, new, words):
    func = function(LINEAR.replace(old, new), PARAMS)
    assert words in refusal(lambda: at(schedule.compute_at, func, "make", "use"))


def test_what_is_read_elsewhere_stays():
    text = (
        LINEAR
        + 'for i in range(2):\n    with T.sblock("again"):\n        v = T.axis.spatial(2, i)\n        X[v] = P[v]\n'
    )
    assert "`P` is used outside of `i`" in refusal(
        lambda: at(schedule.compute_at, function(text, PARAMS), "make", "use")
    )


def test_parts_of_a_reduction():
    params = 'A: T.Buffer((6, 4), "int16"), X: T.Buffer((6,), "int16")'
    func = function(SUM.replace("X[vi, 0]", "X[vi]").replace("float32", "int16"), params)
    found, name = schedule.rfactor(func, "sum", schedule.get_loops(func, "sum")[1])
    assert name == "sum_rf"
    assert same(
        found,
        """
X_rf = T.sblock_alloc_buffer((4, 6), "int16")
for i, k in T.grid(6, 4):
    with T.sblock("sum_rf"):
        vk, vi = T.axis.remap("SS", [k, i])
        with T.init():
            X_rf[vk, vi] = T.int16(0)
        X_rf[vk, vi] = X_rf[vk, vi] + A[vi, vk]
for i, k in T.grid(6, 4):
    with T.sblock("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            X[vi] = T.int16(0)
        X[vi] = X[vi] + X_rf[vk, vi]
""",
        params,
    )


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32"])
def test_sums_that_depend_on_their_order_stay_whole(dtype):
    params = f'A: T.Buffer((6, 4), "{dtype}"), X: T.Buffer((6,), "{dtype}")'
    func = function(SUM.replace("X[vi, 0]", "X[vi]").replace("float32", dtype), params)
    assert "depends on the order of its terms" in refusal(
        lambda: schedule.rfactor(func, "sum", schedule.get_loops(func, "sum")[1])
    )


def test_parts_along_a_loop_that_does_not_start_at_0():
    text = """
for i in range(6):
    for k in range(-1, 3):
        with T.sblock("sum"):
            vi = T.axis.spatial(6, i)
            vk = T.axis.reduce(4, k + 1)
            with T.init():
                X[vi] = T.int16(0)
            X[vi] = X[vi] + A[vi, vk]
"""
    func = function(text, 'A: T.Buffer((6, 4), "int16"), X: T.Buffer((6,), "int16")')
    assert "`k` does not start at 0" in refusal(
        lambda: schedule.rfactor(func, "sum", schedule.get_loops(func, "sum")[1])
    )


def test_threads_that_would_wait_for_each_other():
    func = function(CHAIN)
    i, j = schedule.get_loops(func, "first")
    bound = schedule.bind(schedule.bind(func, i, "blockIdx.x"), j, "threadIdx.x")
    assert bound.script().count("T.thread_binding") == 2
    assert "is bound around `j`, or inside" in refusal(
        lambda: schedule.bind(schedule.bind(func, i, "threadIdx.x"), j, "threadIdx.x")
    )
    assert "is no thread axis" in refusal(lambda: schedule.bind(func, i, "threads"))


def test_annotations_come_and_go():
    func = function(CHAIN)
    noted = schedule.annotate(func, "first", "note", 3)
    assert schedule.get_block(noted, "first").block.annotations == {"note": 3}
    assert "is annotated already" in refusal(lambda: schedule.annotate(noted, "first", "note", 4))
    assert schedule.unannotate(noted, "first", "note").script() == func.script()
    assert "there is no annotation" in refusal(lambda: schedule.unannotate(func, "first", "note"))


def test_scopes_and_strides_are_of_own_memory():
    func = function(CHAIN)
    assert "`X` is not allocated at the root" in refusal(lambda: schedule.set_scope(func, "second", 0, "shared"))
    assert "`X` is not allocated at the root" in refusal(lambda: schedule.storage_align(func, "second", 0, 0, 32, 8))
    loop = schedule.get_loops(func, "second")[0]
    bound = schedule.bind(func, loop, "threadIdx.x")
    assert "there are threads" in refusal(lambda: schedule.set_scope(bound, "first", 0, "shared"))
    shared = schedule.set_scope(func, "first", 0, "local")
    assert "would be private to each thread" in refusal(lambda: schedule.bind(shared, loop, "threadIdx.x"))


def test_relations_of_blocks():
    func = function(CHAIN)
    assert schedule.get_producers(func, "second") == ("first",)
    assert schedule.get_consumers(func, "first") == ("second",)
    assert schedule.get_output_blocks(func) == ("second",)
    assert schedule.get_child_blocks(func, schedule.get_loops(func, "first")[0]) == ("first",)


def test_loops_of_one_iteration_are_kept_where_that_is_asked_for():
    func = function(CHAIN.replace("P[5 - vi, vj]", "P[vi, vj]"))
    _, j = schedule.get_loops(func, "first")
    assert same(
        schedule.reverse_compute_at(func, "second", j, preserve_unit_loops=True),
        """
P = T.sblock_alloc_buffer((6, 4), "float32")
for i in range(6):
    for j in range(4):
        with T.sblock("first"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = A[vi, vj] * T.float32(2)
        for ax0, ax1 in T.grid(1, 1):
            with T.sblock("second"):
                vi = T.axis.spatial(6, i + ax0)
                vj = T.axis.spatial(4, j + ax1)
                X[vi, vj] = P[vi, vj] + T.float32(1)
""",
    )


def test_a_unit_loop_around_a_loop():
    func = function(CHAIN)
    i, _ = schedule.get_loops(func, "first")
    found, var = schedule.add_unit_loop(func, i)
    assert schedule.get_loops(found, "first")[:2] == (var, i)
