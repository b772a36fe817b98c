"""Statements and blocks: what each kind does, by hand-worked results."""

import numpy as np
import pytest

from refmlc.lang.script import read
from refmlc.native.emit.function import emit_function
from refmlc.native.emit.state import Unsuited
from refmlc.native.options import Options
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tensorir.frame import names
from refmlc.run.memory.budget import Budget


def ints(*shape):
    return np.full(shape, -1, "int32")


def body(text, params='A: T.Buffer((8,), "int32"), n: T.int32'):
    lines = "\n".join("    " + line for line in text.strip("\n").split("\n"))
    return f"\n@T.prim_func(s_tir=True)\ndef f({params}):\n{lines}\n"


def after(run, text, n=0):
    a = ints(8)
    run(body(text), a, n)
    return a.tolist()


def test_let_binds(run):
    assert after(run, "x: T.let[T.int32] = n + 2\nA[0] = x * x", 3)[0] == 25


def test_for_runs_in_order_from_its_minimum(run):
    text = """
for i in range(2, 5):
    A[i] = i * 10
"""
    assert after(run, text) == [-1, -1, 20, 30, 40, -1, -1, -1]


def test_for_with_a_step(run):
    assert after(run, "for i in T.serial(1, 8, step=3):\n    A[i] = i") == [-1, 1, -1, -1, 4, -1, -1, 7]


def test_zero_extent_runs_nothing(run):
    assert after(run, "for i in range(n):\n    A[0] = i", 0)[0] == -1


def test_negative_extent_is_undefined(failing):
    found = failing(body("for i in range(n):\n    A[0] = i"), ints(8), -3)
    assert (found.code.id, found.message) == ("RM315", "the extent of loop `i` is -3")


def test_step_must_be_positive(failing):
    found = failing(body("for i in T.serial(0, 8, step=n):\n    A[0] = i"), ints(8), 0)
    assert (found.code.id, found.message) == ("RM315", "the step of loop `i` is 0")


@pytest.mark.parametrize("kind", ["serial", "parallel", "vectorized", "unroll"])
def test_every_kind_of_loop_is_serial(run, kind):
    """Each iteration sees what the one before it wrote."""
    text = f"""
A[0] = 1
for i in T.{kind}(7):
    A[i + 1] = A[i] * 2
"""
    assert after(run, text) == [1, 2, 4, 8, 16, 32, 64, 128]


def test_thread_binding_is_a_loop(run):
    text = """
for i in T.thread_binding(2, thread="blockIdx.x"):
    for j in T.thread_binding(3, thread="threadIdx.x"):
        A[i * 3 + j] = i * 10 + j
"""
    assert after(run, text) == [0, 1, 2, 10, 11, 12, -1, -1]


def test_same_thread_axis_inside_does_not_iterate(run, failing):
    text = """
for i in T.thread_binding(4, thread="threadIdx.x"):
    for j in T.thread_binding({extent}, thread="threadIdx.x"):
        A[i] = j
"""
    assert after(run, text.format(extent=4)) == [0, 1, 2, 3, -1, -1, -1, -1]
    assert failing(body(text.format(extent=3)), ints(8), 0).code.id == "RM315"


def test_virtual_threads_nest(run):
    text = """
for i in T.thread_binding(2, thread="vthread"):
    for j in T.thread_binding(2, thread="vthread"):
        A[i * 2 + j] = j
"""
    assert after(run, text)[:4] == [0, 1, 0, 1]


def test_launch_thread(run):
    text = """
bx = T.launch_thread("blockIdx.x", 2)
tx = T.launch_thread("threadIdx.x", n)
A[bx * 4 + tx] = bx * 10 + tx
"""
    assert after(run, text, 3) == [0, 1, 2, -1, 10, 11, 12, -1]


def test_env_thread(run):
    text = """
tx = T.env_thread("threadIdx.x")
with T.launch_thread(tx, 3):
    A[tx] = tx
"""
    assert after(run, text)[:4] == [0, 1, 2, -1]


def test_while(run):
    text = """
A[0] = 0
while A[0] < n:
    A[0] = A[0] + 4
"""
    assert after(run, text, 10)[0] == 12


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for i in range(6):", [0, -1, 2, 3, -1, -1, -1, -1]),
        ("A[7] = -1\nwhile A[7] < 6:\n    A[7] = A[7] + 1", [0, -1, 2, 3, -1, -1, -1, 4]),
    ],
)
def test_break_and_continue(run, loop, expected):
    index = "i" if loop.startswith("for") else "A[7]"
    text = f"""
{loop}
    if {index} == 1:
        T.continue_loop()
    if {index} == 4:
        T.break_loop()
    A[{index}] = {index}
"""
    assert after(run, text) == expected


def test_break_ends_the_innermost_loop_only(run):
    text = """
for i in range(3):
    for j in range(5):
        if j == 2:
            T.break_loop()
        A[i] = j
    A[i + 4] = i
"""
    assert after(run, text) == [1, 1, 1, -1, 0, 1, 2, -1]


def test_if_else(run):
    text = """
if n > 0:
    A[0] = 1
else:
    A[0] = 2
if n > 5:
    A[1] = 3
"""
    assert after(run, text, 1)[:2] == [1, -1]
    assert after(run, text, 0)[:2] == [2, -1]
    assert after(run, text, 6)[:2] == [1, 3]


def test_assert_stops_with_its_message(run, failing):
    text = body('assert n == 3, "n is three"\nA[0] = n')
    run(text, ints(8), 3)
    found = failing(text, ints(8), 4)
    assert found.code.id == "RM401"
    assert "n is three" in found.message


def test_attr_does_nothing(run):
    assert after(run, 'with T.attr(0, "pragma_x", 1):\n    A[0] = 5')[0] == 5


def test_evaluate_is_undefined_where_its_value_is(failing):
    assert failing(body("T.evaluate(A[n])"), ints(8), 8).code.id == "RM304"


def test_return_gives_a_value(run):
    text = """
@T.prim_func(s_tir=True)
def f(n: T.int32) -> T.int32:
    if n > 2:
        T.ret(n * 2)
    T.ret(0)
"""
    assert run(text, 3) == 6
    assert run(text, 2) == 0


@pytest.mark.parametrize("thread", ["threadIdx.x", "blockIdx.y"])
def test_a_thread_of_several_does_not_return(failing, thread):
    """On a machine the other threads continue."""
    text = f"""
@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "int32")):
    for i in T.thread_binding(4, thread="{thread}"):
        if i == 1:
            T.ret(0)
        A[i] = 1
"""
    assert failing(text, ints(4)).code.id == "RM504"
    with pytest.raises(Unsuited, match="a thread of several returns"):
        emit_function(read(text)["f"], "f", "f", Options())


def test_allocation_is_fresh_each_time(failing):
    text = """
for i in range(2):
    with T.sblock("b"):
        vi = T.axis.spatial(2, i)
        C = T.sblock_alloc_buffer((1,), "int32")
        if vi == 0:
            C[0] = 1
        A[vi] = C[0]
"""
    found = failing(body(text), ints(8), 0)
    assert found.code.id == "RM305"
    assert found.notes == ("i = 1 in `f`, step 3",)


def test_alloc_with_negative_extent(failing):
    text = 'C = T.alloc_buffer((n, 2), "int32")\nC[0, 0] = 1'
    found = failing(body(text), ints(8), -1)
    assert (found.code.id, found.message) == ("RM315", "`C` has the shape (-1, 2)")


def test_decl_buffer_is_a_view_of_other_dtype(run):
    """1.0f is 0x3f800000: little endian."""
    text = """
C = T.alloc_buffer((1,), "float32")
C[0] = T.float32(1)
B = T.decl_buffer((4,), "uint8", data=C.data)
for i in range(4):
    A[i] = T.Cast("int32", B[i])
"""
    assert after(run, text)[:4] == [0, 0, 0x80, 0x3F]


def test_decl_buffer_with_strides_and_offset(run, failing):
    text = """
B = T.decl_buffer((2, 2), "int32", data=A.data, strides=(3, 1), elem_offset=1)
for i, j in T.grid(2, 2):
    B[i, j] = i * 10 + j
"""
    assert after(run, text) == [-1, 0, 1, -1, 10, 11, -1, -1]
    text = 'B = T.decl_buffer((n,), "int32", data=A.data)\nA[0] = 0'
    assert failing(body(text), ints(8), -1).code.id == "RM315"


def test_decl_buffer_without_data_is_fresh(failing):
    assert failing(body('B = T.decl_buffer((2,), "int32")\nA[0] = B[0]'), ints(8), 0).code.id == "RM305"


BLOCK = """
for i, k in T.grid(3, 4):
    with T.sblock("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        T.reads(A[vk])
        T.writes(B[vi])
        with T.init():
            B[vi] = 100
        B[vi] = B[vi] + A[vk] * vi
"""


def test_block_init_runs_where_the_reduction_starts(run):
    a, b = np.array([1, 2, 3, 4], "int32"), ints(3)
    run(body(BLOCK, 'A: T.Buffer((4,), "int32"), B: T.Buffer((3,), "int32")'), a, b)
    assert b.tolist() == [100, 110, 120]


def test_init_with_several_reduce_axes_and_other_minimum(run):
    text = """
for k, l in T.grid(2, 3):
    with T.sblock("sum"):
        vk = T.axis.reduce((1, 3), k + 1)
        vl = T.axis.reduce(3, l)
        with T.init():
            A[0] = 0
        A[0] = A[0] + vk * 10 + vl
"""
    assert after(run, text)[0] == 3 * 10 + 3 * 20 + 2 * (0 + 1 + 2)


def test_init_without_reduce_axes_runs_always(run):
    text = """
for i in range(2):
    with T.sblock("b"):
        vi = T.axis.spatial(2, i)
        with T.init():
            A[vi] = 7
        A[vi + 2] = A[vi]
"""
    assert after(run, text)[:4] == [7, 7, 7, 7]


def test_axis_outside_its_domain(failing):
    text = """
for i in range(5):
    with T.sblock("b"):
        vi = T.axis.spatial(4, i)
        A[vi] = 0
"""
    found = failing(body(text), ints(8), 0)
    assert (found.code.id, found.message, found.label) == (
        "RM312",
        "axis `vi` is bound to 4",
        "its domain is 0 … 3",
    )


def test_predicate_excludes_instances(run):
    text = """
for i, j in T.grid(3, 2):
    with T.sblock("b"):
        vi = T.axis.spatial(5, i * 2 + j)
        T.where(i * 2 + j < 5)
        A[vi] = vi
"""
    assert after(run, text) == [0, 1, 2, 3, 4, -1, -1, -1]


def test_opaque_and_scan_axes_are_bound(run):
    text = """
for i in range(3):
    with T.sblock("b"):
        vi = T.axis.opaque(3, i)
        vj = T.axis.scan(3, i)
        A[vi] = vj
"""
    assert after(run, text)[:4] == [0, 1, 2, -1]


def test_nested_blocks(run):
    text = """
for i in range(2):
    with T.sblock("outer"):
        vi = T.axis.spatial(2, i)
        for j in range(2):
            with T.sblock("inner"):
                vo = T.axis.spatial(2, vi)
                vj = T.axis.spatial(2, j)
                A[vo * 2 + vj] = vo * 10 + vj
"""
    assert after(run, text)[:4] == [0, 1, 10, 11]


MATCH = """
for i in range(2):
    with T.sblock("b"):
        vi = T.axis.spatial(2, i)
        s0 = T.int32()
        s1 = T.int32()
        e = T.int32()
        M = T.match_buffer(A[vi * 2:vi * 2 + 2, 1:3], (2, 2), "int32", strides=[s0, s1], elem_offset=e)
        for j, k in T.grid(2, 2):
            M[j, k] = e * 100 + s0 * 10 + s1
"""


def test_match_buffer_of_a_region(run):
    a = ints(4, 4)
    run(body(MATCH, 'A: T.Buffer((4, 4), "int32")'), a)
    assert a.tolist() == [
        [-1, 141, 141, -1],
        [-1, 141, 141, -1],
        [-1, 941, 941, -1],
        [-1, 941, 941, -1],
    ]


@pytest.mark.parametrize(
    ("region", "shape", "code"),
    [
        ("A[0:2, 3:5]", "(2, 2)", "RM304"),
        ("A[0:2, 0:3]", "(2, 2)", "RM314"),
        ("A[0:2, 0:2]", "(2,)", "RM314"),
        ("A[1, 0:2]", "(2,)", ""),
    ],
)
def test_match_buffer_that_does_not_match(run, failing, region, shape, code):
    text = body(
        f"""
with T.sblock("b"):
    M = T.match_buffer({region}, {shape}, "int32")
    M[{"0, 0" if "," in shape[:-2] else "0"}] = 5
""",
        'A: T.Buffer((4, 4), "int32")',
    )
    if code:
        assert failing(text, ints(4, 4)).code.id == code
    else:
        a = ints(4, 4)
        run(text, a)
        assert a[1, 0] == 5


class Trace(Hooks):
    def __init__(self):
        self.seen = []

    def before_stmt(self, stmt, frame):
        self.seen.append((">", type(stmt).__name__, dict(names(frame))))

    def after_stmt(self, stmt, frame):
        self.seen.append(("<", type(stmt).__name__, dict(names(frame))))


class Before(Hooks):
    def __init__(self):
        self.seen = []

    def before_stmt(self, stmt, frame):
        self.seen.append(type(stmt).__name__)


class After(Hooks):
    def __init__(self):
        self.seen = []

    def after_stmt(self, stmt, frame):
        self.seen.append(type(stmt).__name__)


WATCHED = "for i in range(2):\n    A[i] = i"


def test_hooks_are_called_around_statements(run):
    trace, before, after_ = Trace(), Before(), After()
    for hooks in (trace, before, after_):
        run(body(WATCHED), ints(8), 0, hooks=hooks)
    assert [(mark, kind) for mark, kind, _ in trace.seen] == [
        (">", "For"),
        (">", "BufferStore"),
        ("<", "BufferStore"),
        (">", "BufferStore"),
        ("<", "BufferStore"),
        ("<", "For"),
    ]
    assert [values["i"] for _, kind, values in trace.seen if kind == "BufferStore"] == [0, 0, 1, 1]
    assert before.seen == ["For", "BufferStore", "BufferStore"]
    assert after_.seen == ["BufferStore", "BufferStore", "For"]


def test_steps_end_a_long_loop(failing):
    text = body("for i in T.serial(0, T.int64(1000000000000)):\n    A[0] = 1")
    found = failing(text, ints(8), 0, budget=Budget(max_steps=10_000))
    assert found.code.id == "RM601"
    text = body("while n == n:\n    A[0] = 1")
    assert failing(text, ints(8), 0, budget=Budget(max_steps=10_000)).code.id == "RM601"


def test_a_loop_left_early_pays_for_what_it_did(run):
    budget = Budget()
    text = body("for i in range(1000000):\n    if i == 9:\n        T.break_loop()\n    A[0] = i")
    run(text, ints(8), 0, budget=budget)
    assert budget.steps == 1 + 10


def test_memory_is_limited_and_given_back(run, failing):
    text = body(
        """
for i in range(100):
    with T.sblock("b"):
        C = T.sblock_alloc_buffer((n,), "int32")
        C[0] = i
"""
    )
    run(text, ints(8), 1000, budget=Budget(max_bytes=4000))
    assert failing(text, ints(8), 1001, budget=Budget(max_bytes=4000)).code.id == "RM603"
    assert failing(text, ints(8), 2_000_000_000).code.id == "RM603"
