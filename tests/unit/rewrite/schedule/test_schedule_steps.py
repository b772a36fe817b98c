"""Each step on a small function: what comes of it, written by hand; what is refused, and in which words."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.wellformed.reader_checks import read
from refmlc.rewrite import schedule

HEAD = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\ndef main({params}):\n"
X = 'X: T.Buffer((6, 4), "float32")'
AX = f'A: T.Buffer((6, 4), "float32"), {X}'


def function(body, params=AX):
    """The function of this body."""
    return read(
        HEAD.format(params=params) + "".join(f"    {line}\n" for line in body.strip("\n").splitlines()), "s.py"
    )["main"]


MAP = """
for i, j in T.grid(6, 4):
    with T.sblock("map"):
        vi, vj = T.axis.remap("SS", [i, j])
        X[vi, vj] = A[vi, vj] + T.float32(1)
"""
CHAIN = """
P = T.sblock_alloc_buffer((6, 4), "float32")
for i, j in T.grid(6, 4):
    with T.sblock("first"):
        vi, vj = T.axis.remap("SS", [i, j])
        P[vi, vj] = A[vi, vj] * T.float32(2)
for i, j in T.grid(6, 4):
    with T.sblock("second"):
        vi, vj = T.axis.remap("SS", [i, j])
        X[vi, vj] = P[5 - vi, vj] + T.float32(1)
"""
SUM = """
for i, k in T.grid(6, 4):
    with T.sblock("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            X[vi, 0] = T.float32(0)
        X[vi, 0] = X[vi, 0] + A[vi, vk]
"""


def same(func, body, params=AX):
    """Whether the function is the one of this text; names of variables are no part of it."""
    return structural_equal(IRModule({"main": func}), IRModule({"main": function(body, params)}))


def loops(func, block="map"):
    return schedule.get_loops(func, block)


def refusal(step, *args):
    with pytest.raises(RefmlcError) as found:
        step(*args)
    return f"{found.value.code.id} {found.value.diagnostic.message}"


def test_split_by_a_divisor():
    func = function(MAP)
    found, new = schedule.split(func, loops(func)[0], [None, 3])
    assert [var.name for var in new] == ["i_0", "i_1"]
    assert same(
        found,
        """
for i_0, i_1, j in T.grid(2, 3, 4):
    with T.sblock("map"):
        vi = T.axis.spatial(6, i_0 * 3 + i_1)
        vj = T.axis.spatial(4, j)
        X[vi, vj] = A[vi, vj] + T.float32(1)
""",
    )


def test_split_that_leaves_a_rest_guards_the_block():
    func = function(MAP)
    assert same(
        schedule.split(func, loops(func)[0], [None, 4])[0],
        """
for i_0, i_1, j in T.grid(2, 4, 4):
    with T.sblock("map"):
        vi = T.axis.spatial(6, i_0 * 4 + i_1)
        vj = T.axis.spatial(4, j)
        T.where(i_0 * 4 + i_1 < 6)
        X[vi, vj] = A[vi, vj] + T.float32(1)
""",
    )


def test_split_of_bare_loops_guards_by_an_if():
    func = function("for i in range(6):\n    X[i, 0] = A[i, 1]")
    var = func.body.loop_var
    assert same(
        schedule.split(func, var, [None, 4])[0],
        """
for i_0, i_1 in T.grid(2, 4):
    if i_0 * 4 + i_1 < 6:
        X[i_0 * 4 + i_1, 0] = A[i_0 * 4 + i_1, 1]
""",
    )


def test_fuse():
    func = function(MAP)
    assert same(
        schedule.fuse(func, *loops(func))[0],
        """
for f in range(24):
    with T.sblock("map"):
        vi = T.axis.spatial(6, f // 4)
        vj = T.axis.spatial(4, f % 4)
        X[vi, vj] = A[vi, vj] + T.float32(1)
""",
    )


def test_reorder():
    func = function(SUM)
    i, k = loops(func, "sum")
    assert same(schedule.reorder(func, [k, i]), SUM.replace("for i, k in T.grid(6, 4)", "for k, i in T.grid(4, 6)"))


@pytest.mark.parametrize(
    ("step", "kind"), [("unroll", "T.unroll"), ("vectorize", "T.vectorized"), ("parallel", "T.parallel")]
)
def test_kinds(step, kind):
    func = function(MAP)
    wanted = MAP.replace("for i, j in T.grid(6, 4):\n    ", f"for i in range(6):\n  for j in {kind}(4):\n    ")
    found = getattr(schedule, step)(func, loops(func)[1])
    assert same(found, wanted)
    assert same(schedule.serial(found, loops(found)[1]), MAP)


def test_unit_loops():
    func = function(MAP)
    added, var = schedule.add_unit_loop(func, "map")
    assert same(added, MAP.replace("i, j in T.grid(6, 4)", "i, j, u in T.grid(6, 4, 1)"))
    # The start of the loop stands where its variable stood: nowhere.
    assert same(schedule.drop_unit_loop(added, var), MAP)


def test_compute_inline():
    assert same(
        schedule.compute_inline(function(CHAIN), "first"),
        """
for i, j in T.grid(6, 4):
    with T.sblock("second"):
        vi, vj = T.axis.remap("SS", [i, j])
        X[vi, vj] = A[5 - vi, vj] * T.float32(2) + T.float32(1)
""",
    )


COPY = """
for i, j in T.grid(6, 4):
    with T.sblock("{name}"):
        vi, vj = T.axis.remap("SS", [i, j])
        {target}[vi, vj] = {source}[vi, vj]
"""


def test_cache_read():
    func = function(MAP)
    (buffer,) = (one for one in func.buffer_map.values() if one.name == "A")
    body = 'C = T.sblock_alloc_buffer((6, 4), "float32")' + COPY.format(name="A_global", source="A", target="C")
    assert same(schedule.cache_read(func, "map", buffer), body + MAP.replace("A[", "C["))


def test_cache_write():
    body = 'C = T.sblock_alloc_buffer((6, 4), "float32")' + MAP.replace("X[", "C[")
    wanted = body + COPY.format(name="X", source="C", target="X")
    found = schedule.cache_write(function(MAP), "map")
    assert same(found, wanted.replace('"X"', f'"{found.body.block.body.seq[-1].body.body.block.name}"'))


def test_decompose_reduction():
    func = function(SUM)
    found = schedule.decompose_reduction(func, "sum", loops(func, "sum")[0])
    assert same(
        found,
        """
for i in range(6):
    with T.sblock("sum_init"):
        vi = T.axis.spatial(6, i)
        X[vi, 0] = T.float32(0)
for i, k in T.grid(6, 4):
    with T.sblock("sum_update"):
        vi, vk = T.axis.remap("SR", [i, k])
        X[vi, 0] = X[vi, 0] + A[vi, vk]
""",
    )


# -------------------------------------------------------------------------------------------------- refusals


def test_what_is_not_there():
    func = function(MAP)
    other = loops(function(MAP))[0]
    assert refusal(schedule.get_block, func, "nothing") == "RM112 the function has no block called `nothing`"
    assert refusal(schedule.unroll, func, other) == "RM112 the function has no loop over the variable `i`"
    assert refusal(schedule.split, func, loops(func)[0], [2, 0]).startswith("RM112 a loop is split by positive factors")


def test_split_into_too_few_rounds():
    func = function(MAP)
    assert (
        refusal(schedule.split, func, loops(func)[0], [1, 4])
        == "RM504 `split` is refused: 1 rounds of 4 may be too few"
    )


def test_thread_axes_stay():
    func = function(
        MAP.replace(
            "i, j in T.grid(6, 4):\n    ", 'i in T.thread_binding(6, thread="blockIdx.x"):\n  for j in range(4):\n    '
        )
    )
    message = "is refused: the loop over `i` is bound to a thread axis"
    assert refusal(schedule.split, func, loops(func)[0], [None, 2]) == f"RM504 `split` {message}"
    assert refusal(schedule.fuse, func, *loops(func)) == f"RM504 `fuse` {message}"
    assert refusal(schedule.parallel, func, loops(func)[0]) == f"RM504 `parallel` {message}"


@pytest.mark.parametrize("step", ["parallel", "vectorize"])
@pytest.mark.parametrize(
    ("index", "value"),
    [
        ("0, 0", "A[i, j]"),
        ("i + j, 0", "A[i, j]"),
        ("j, i % 2", "A[i, j]"),
        ("i, j", "X[5 - i, j]"),
        ("i * j, 0", "A[0, 0]"),
    ],
)
def test_iterations_that_meet_are_not_parallel(step, index, value):
    func = function(f"for i, j in T.grid(3, 3):\n    X[{index}] = {value}")
    message = f"RM504 `{step}` is refused: iterations over `i` may touch the same elements of `X`"
    assert refusal(getattr(schedule, step), func, func.body.loop_var) == message


@pytest.mark.parametrize("index", ["i, j", "5 - i, j", "i * 2 + 1, 0", "i * 2 + j, 0", "i // 2, i % 2", "2 - i, i"])
def test_iterations_that_do_not_meet_are(index):
    func = function(f"for i, j in T.grid(3, 2):\n    X[{index}] = A[i, j]")
    assert schedule.parallel(func, func.body.loop_var).body.kind.value == "parallel"


def test_a_value_carried_on_keeps_its_loops():
    func = function("for i, j in T.grid(5, 3):\n    X[i + 1, j] = X[i, j + 1]")
    outer, inner = func.body.loop_var, func.body.body.loop_var
    assert refusal(schedule.reorder, func, [inner, outer]).endswith("an element of `X` may change")


def test_effects_stay_in_order():
    func = function('for i, j in T.grid(6, 4):\n    X[i, j] = A[i, j]\n    assert A[i, j] > T.float32(0), "positive"')
    outer, inner = func.body.loop_var, func.body.body.loop_var
    assert (
        refusal(schedule.reorder, func, [inner, outer])
        == "RM504 `reorder` is refused: the body does more than to write buffers"
    )


def test_inline_needs_unchanged_operands():
    changed = CHAIN + "for i in range(6):\n    A[i, 0] = T.float32(0)\n"
    assert refusal(schedule.compute_inline, function(changed), "first") == (
        "RM504 `compute_inline` is refused: `A` is written later, or by the block itself"
    )
    assert refusal(schedule.compute_inline, function(MAP), "map") == (
        "RM504 `compute_inline` is refused: `X` is not allocated at the root"
    )


def test_caches_need_all_of_the_buffer():
    func = function(MAP.replace("T.grid(6, 4)", "T.grid(6, 3)"))
    assert refusal(schedule.cache_write, func, "map") == (
        "RM504 `cache_write` is refused: axis `vj` may not run over all its dimension"
    )
    func = function(MAP.replace("A[vi", "X[vi"))
    (buffer,) = (one for one in func.buffer_map.values() if one.name == "X")
    assert refusal(schedule.cache_read, func, "map", buffer) == (
        "RM504 `cache_read` is refused: `X` is not a parameter that is only read"
    )


def test_a_reduction_outside_of_the_loop_is_not_decomposed():
    func = function(SUM.replace("for i, k in T.grid(6, 4)", "for k, i in T.grid(4, 6)"))
    assert refusal(schedule.decompose_reduction, func, "sum", loops(func, "sum")[1]) == (
        "RM504 `decompose_reduction` is refused: loops of the reduction are outside, or spatial axes share them"
    )


def test_a_reduction_that_begins_elsewhere_is_not_decomposed():
    func = function(
        SUM.replace(
            'vi, vk = T.axis.remap("SR", [i, k])', "vi = T.axis.spatial(6, i)\n        vk = T.axis.reduce(4, 3 - k)"
        )
    )
    assert refusal(schedule.decompose_reduction, func, "sum", loops(func, "sum")[0]) == (
        "RM504 `decompose_reduction` is refused: the reduction over `vk` may not begin at its start"
    )
