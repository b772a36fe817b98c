"""Steps under threads, and of blocks of blocks: what is refused, one rule each; what is legal is in tests/property."""

import pytest
from test_schedule_steps import function, refusal

from refmlc.rewrite import schedule

PARAMS = 'A: T.Buffer((34,), "float32"), X: T.Buffer((32,), "float32")'
FETCHED = """
S = T.sblock_alloc_buffer((34,), "float32", scope="shared")
for b in T.thread_binding(4, thread="blockIdx.x"):
    for t in T.thread_binding(8, thread="threadIdx.x"):
        for f, l in T.grid(2, 8):
            with T.sblock("fetch"):
                v = T.axis.spatial(34, b * 8 + f * 8 + l)
                T.where(f * 8 + l < 10)
                S[v] = A[v]
        with T.sblock("use"):
            v = T.axis.spatial(32, b * 8 + t)
            X[v] = S[v] + S[v + 2]
"""


def last_bound(text, tag="threadIdx.x", params=PARAMS):
    func = function(text, params)
    return schedule.bind(func, schedule.get_loops(func, "fetch")[-1], tag)


def test_work_is_shared_between_the_threads_around():
    assert 'for l in T.thread_binding(8, thread="threadIdx.x")' in last_bound(FETCHED).script()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("T.grid(2, 8)", "T.grid(2, 5)", "`threadIdx.x` is bound around"),
        ('scope="shared"', 'scope="local"', "each thread would do a part"),
        ('scope="shared"', 'scope="global"', "each thread would do a part"),
        ("b * 8 + f * 8 + l)", "b * 8 + f * 8 + (l + t) % 8)", "depends on the thread"),
        ("f, l in T.grid(2, 8)", "f, l in T.grid(T.max(b, 2), 8)", "not all threads come by together"),
        ("S[v] = A[v]", "S[v] = A[v] + X[v // 2]", "reads what threads write"),
        ("    for t in", '    T.tvm_storage_sync("shared")\n    for t in', "barriers"),
    ],
)  # fmt: skip
def test_what_is_no_shared_work_is_refused(old, new, why):
    assert old in FETCHED
    assert why in refusal(lambda: last_bound(FETCHED.replace(old, new)))


def test_work_under_a_condition_of_the_thread_is_not_shared():
    text = FETCHED.replace(
        "        for f, l in T.grid(2, 8):\n", "        for f in range(t + 1):\n            for l in range(8):\n"
    )
    text = text.replace('            with T.sblock("fetch"):', '                with T.sblock("fetch"):')
    for line in ("v = T.axis.spatial(34, b", "T.where", "S[v] = A"):
        text = text.replace(f"                {line}", f"                    {line}")
    assert "not all threads come by together" in refusal(lambda: last_bound(text))


MOVED = """
S = T.sblock_alloc_buffer((34,), "float32", scope="SCOPE")
for i in range(34):
    with T.sblock("make"):
        v = T.axis.spatial(34, i)
        S[v] = A[v] * T.float32(2)
for b in T.thread_binding(4, thread="blockIdx.x"):
    for t in T.thread_binding(8, thread="threadIdx.x"):
        with T.sblock("use"):
            v = T.axis.spatial(32, b * 8 + t)
            X[v] = S[v] + S[v + 2]
"""


@pytest.mark.parametrize(
    ("scope", "place", "box"),
    [("shared", 1, 10), ("shared", 0, 10), ("local", 1, 3), ("local", 0, 10)],
)
def test_the_scope_says_which_threads_share_a_box(scope, place, box):
    """Shared memory: 8 threads read 10 elements; each thread alone reads the hull of 3."""
    func = function(MOVED.replace("SCOPE", scope), PARAMS)
    moved = schedule.compute_at(func, "make", schedule.get_loops(func, "use")[place])
    assert f"for ax0 in range({box})" in moved.script()


@pytest.mark.parametrize("place", [0, 1])
def test_memory_of_all_threads_would_be_written_by_several(place):
    func = function(MOVED.replace("SCOPE", "global"), PARAMS)
    loop = schedule.get_loops(func, "use")[place]
    assert "would touch the same elements" in refusal(lambda: schedule.compute_at(func, "make", loop))


SQUARE = 'A: T.Buffer((8, 8), "float32"), X: T.Buffer((8, 8), "float32")'
TILES = """
for i, j, k in T.grid(2, 2, 2):
    with T.sblock("tile"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            for a, b in T.grid(4, 4):
                with T.sblock("zero"):
                    va, vb = T.axis.remap("SS", [a, b])
                    X[vi * 4 + va, vj * 4 + vb] = T.float32(0)
        for a, b, c in T.grid(4, 4, 4):
            with T.sblock("term"):
                va, vb, vc = T.axis.remap("SSR", [a, b, c])
                X[vi * 4 + va, vj * 4 + vb] = X[vi * 4 + va, vj * 4 + vb] + A[vi * 4 + va, vk * 4 + vc]
"""


def test_a_block_of_tiles_gets_a_buffer_of_its_own():
    text = schedule.cache_write(function(TILES, SQUARE), "tile", "global.acc").script()
    assert 'X_global_acc = T.sblock_alloc_buffer((8, 8), scope="global.acc")' in text
    assert 'T.sblock("X_global.acc")' in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for a, b in T.grid(4, 4)", "for a, b in T.grid(4, 3)"),  # a column is not started
        ("vi * 4 + va, vj * 4 + vb] = T.float32(0)", "vi * 4 + va, vj * 4 + va] = T.float32(0)"),  # the diagonal is
        ("= T.float32(0)", "= X[vi * 4 + va, vj * 4 + vb]"),  # it starts with what was there before
        ("+ A[vi * 4 + va", "+ X[7 - vi * 4 - va, vj * 4 + vb] + A[vi * 4 + va"),  # it reads another tile
        ("for i, j, k in T.grid(2, 2, 2)", "for i, j, k in T.grid(2, 1, 2)"),  # half of the tiles
        ('"SSR", [i, j, k]', '"SSR", [i, j, 1 - k]'),  # the reduction begins with its last term
        ("X[vi * 4 + va, vj * 4 + vb] = X", "X[vi * 2 + va, vj * 4 + vb] = X"),  # tiles that overlap
    ],
)
def test_tiles_that_may_not_be_all_of_the_buffer_are_refused(old, new):
    assert old in TILES
    refusal(lambda: schedule.cache_write(function(TILES.replace(old, new), SQUARE), "tile"))


BESIDE = """
for k in range(4):
    for n in range(8):
        with T.sblock("other"):
            v = T.axis.spatial(8, n)
            Y[v] = STORED
    for i in range(8):
        with T.sblock("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                X[vi] = T.float32(0)
            X[vi] = X[vi] + A[vi, vk] * Y[vi]
"""
THREE = 'A: T.Buffer((8, 4), "float32"), Y: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32")'


def decomposed(stored):
    func = function(BESIDE.replace("STORED", stored), THREE)
    return schedule.decompose_reduction(func, "sum", schedule.get_loops(func, "sum")[0])


def test_a_sum_is_started_before_the_loop_with_what_is_beside_it():
    lines = decomposed("A[v, k]").script().splitlines()
    blocks = [line.split('"')[1] for line in lines if "T.sblock(" in line and "root" not in line]
    assert blocks == ["sum_init", "other", "sum_update"]


def test_what_is_beside_a_sum_does_not_touch_it():
    assert "touches what it writes" in refusal(lambda: decomposed("X[v]"))


DIVIDED = """
for a, b in T.grid(4, 6):
    with T.sblock("put"):
        vi = T.axis.spatial(6, (a * 6 + b) // 4)
        vj = T.axis.spatial(DIVISOR, (a * 6 + b) % DIVISOR)
        X[vi, vj] = A[vi, vj]
"""


def bound(divisor, place):
    params = 'A: T.Buffer((8, 8), "float32"), X: T.Buffer((8, 8), "float32")'
    func = function(DIVIDED.replace("DIVISOR", str(divisor)), params)
    return schedule.parallel(func, schedule.get_loops(func, "put")[place])


@pytest.mark.parametrize("place", [0, 1])
def test_quotient_and_remainder_tell_iterations_apart(place):
    assert "T.parallel" in bound(4, place).script()


@pytest.mark.parametrize("divisor", [2, 3])
def test_a_remainder_by_another_divisor_does_not(divisor):
    """(0, 2) and (0, 0) of b = 0 and 2 are one element, by 2; by 3, b = 0 and 3."""
    assert "may touch" in refusal(lambda: bound(divisor, 1))
