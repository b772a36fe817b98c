"""What once came out otherwise in C than in the interpreter: the smallest programs, with what they do by hand."""

from textwrap import indent

import numpy as np
import pytest

from refmlc.diag import Exhausted, Trap, Undefined
from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.memory.budget import Budget
from refmlc.vm import VirtualMachine, build

pytestmark = pytest.mark.needs("compiler")

HEAD = "from tvm.script import ir as I, tir as T\n\n@I.ir_module\nclass Module:\n"
SIDE = 50_000  # a square of it has more elements than int32 has numbers
SQUARE = """
@T.prim_func
def f(A: T.Buffer((50000, 50000), "int8"), B: T.Buffer((2,), "int8"), C: T.Buffer((2,), "int32")):
    {0}
"""
VIEW = """for i in range(1):
        with T.sblock("view"):
            v = T.axis.spatial(1, i)
            D = T.match_buffer({0}, {1}, "int8")
            B[v] = {2}"""


def native(text, **options):
    return VirtualMachine(build(read(HEAD + indent(text, "    ")), tier="native", **options))


@pytest.fixture(scope="module")
def square():
    """Zeros but for two elements: the system gives memory for those pages only."""
    cells = np.zeros((SIDE, SIDE), np.int8)
    cells[SIDE - 1, SIDE - 1], cells[SIDE - 1, 7] = 3, 5
    return cells


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("B[0] = A[49999, 49999]", 3),
        ("B[0] = A[T.min(T.max(C[0], 0), 49999), 7]", 5),
        ("B[0] = A[C[0] % 50000, C[0] % 50000]", 3),
        (VIEW.format("A[49999, 49998:50000]", "(2,)", "D[1]"), 3),
        (VIEW.format("A[0:50000, 0:50000]", "(50000, 50000)", "D[49999, 49999]"), 3),
        (VIEW.format("A[0:50000, 0:50000]", "(50000, 50000)", "D[T.min(T.max(C[0], 0), 49999), 7]"), 5),
    ],
)
def test_numbers_of_elements_are_no_int32(square, statement, expected):
    out = np.zeros(2, np.int8)
    vm = native(SQUARE.format(statement))
    vm["f"](square, out, np.full(2, SIDE - 1, np.int32))
    assert vm.native.counts.native == 1
    assert out[0] == expected


EARLY = {
    "break": ("for i in range(1000000000):\n        if i == 3:\n            break\n        A[i] = i + 1", [1, 2, 3, 0]),
    "return": (
        "for i in range(1000000000):\n        if i == 3:\n            T.ret(0)\n        A[i] = i + 1",
        [1, 2, 3, 0],
    ),
    "step": ("for i in T.serial(0, 1000000000, step=300000000):\n        A[i // 300000000] = 1", [1, 1, 1, 1]),
    "if": (
        "for i in range(1000):\n        if i == 0:\n            for j in range(1000):\n                A[j % 4] = j",
        [996, 997, 998, 999],
    ),
}


@pytest.mark.parametrize("way", EARLY)
def test_iterations_that_are_not_executed_cost_nothing(way):
    body, expected = EARLY[way]
    out = np.zeros(4, np.int32)
    text = f'@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n    {body}\n'
    if way == "return":
        text = text.replace("):\n    for", ") -> T.int32:\n    for", 1) + "    return 1\n"
    vm = native(text, budget=Budget(max_steps=3900 if way == "if" else 100))
    vm["f"](out)
    assert vm.native.counts.native == 1
    assert out.tolist() == expected


@pytest.mark.parametrize("loops", ["for i in range(1 << 30):", "for j in range(1):\n    for i in range(1 << 30):"])
def test_a_failure_comes_before_what_the_loop_would_cost(loops):
    head = '@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n'
    depth = 1 + loops.count("for")
    body = indent(loops.replace("1 << 30", str(1 << 30)), "    ") + "\n" + "    " * depth + "A[i] = i\n"
    with pytest.raises(Undefined) as caught:
        native(head + body, budget=Budget(max_steps=100))["f"](np.zeros(4, np.int32))
    assert caught.value.code.id == "RM304"


def test_a_nest_that_runs_out_of_fuel_ends_so():
    text = """
@T.prim_func
def f(A: T.Buffer((4,), "int32"), P: T.Buffer((4,), "int32")):
    for i in range(1000):
        for j in range(1000):
            A[P[j % 4]] = i
        for j in range(1000):
            A[j % 4] = i
"""
    args = np.zeros(4, np.int32), np.arange(4, dtype=np.int32)
    with pytest.raises(Exhausted) as caught:
        native(text, budget=Budget(max_steps=7000))["f"](*args)
    assert caught.value.code.id == "RM601"
    native(text, budget=Budget(max_steps=8000))["f"](*args)  # 2 001 000 iterations, 256 for a step
    assert args[0].tolist() == [999] * 4


def test_variables_may_be_called_like_types_of_c():
    text = """
@T.prim_func
def f(int64_t: T.Buffer((4,), "int32"), uint8_t: T.int32):
    for size_t in range(4):
        int64_t[size_t] = size_t + uint8_t
"""
    out = np.zeros(4, np.int32)
    vm = native(text)
    vm["f"](out, 5)
    assert vm.native.counts.native == 1
    assert out.tolist() == [5, 6, 7, 8]


@pytest.mark.parametrize("first", ['assert A[0] == 0, "first"\n    if True:', "if A[0] == 0:"])
def test_memory_is_put_back_for_checks_outside_of_blocks_that_store(first):
    text = f"""
@T.prim_func
def f(A: T.Buffer((4,), "int32"), B: T.Buffer((1,), "int32")):
    {first}
        for i in range(4):
            with T.sblock("w"):
                vi = T.axis.spatial(4, i)
                A[vi] = 7
        assert B[0] == 3, "second"
"""
    vm = native(text)
    with pytest.raises(Trap, match="second"):
        vm["f"](np.zeros(4, np.int32), np.zeros(1, np.int32))
    assert vm.native.counts.false_alarms == 0
