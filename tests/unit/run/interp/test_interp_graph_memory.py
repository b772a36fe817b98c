"""Relax: storages, tensors in them, kills, views, the shape heap."""

import numpy as np
import pytest

from refmlc.lang.dtypes import dtype
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape

HEAD = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def fill(A: T.Buffer((4,), "float32"), k: T.int64):
        for i in range(4):
            A[i] = T.Cast("float32", k)

    @T.prim_func
    def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i]

    @T.prim_func
    def twice_n(H: T.Buffer((3,), "int64")):
        H[2] = H[0] * T.int64(2)

    @R.function(pure=False)
    def main(x: R.Any):
        cls = Module
"""


def body(lines):
    return HEAD + "\n".join(f"        {line}" for line in lines.strip().splitlines()) + "\n"


def listed(tensor):
    return tensor.numpy().tolist()


@pytest.fixture
def main(run):
    return lambda lines, *args, **options: run(body(lines), *(args or (0,)), func="main", **options)


@pytest.fixture
def wrong(failing):
    return lambda lines, *args, **options: failing(body(lines), *(args or (0,)), func="main", **options)


STORAGE = {
    "memory": 's = R.memory.alloc_storage(R.shape([32]), 0, R.str("global"), R.dtype("uint8"))',
    "vm": 's = R.vm.alloc_storage(R.shape([32]), 0, R.dtype("uint8"), R.str("global"))',
}
KILL = {"memory": "R.memory.kill_tensor", "vm": "R.vm.kill_object"}


def tensor(name, offset, level="memory", extent=4):
    shape = f'R.shape([{extent}]), R.dtype("float32"), 0'
    return f"{name} = R.{level}.alloc_tensor(s, {offset}, {shape})"


@pytest.mark.parametrize("level", ["memory", "vm"])
def test_tensors_of_one_storage(main, level):
    lines = f"""
{STORAGE[level]}
{tensor("a", 0, level)}
{tensor("b", 16, level)}
{KILL[level]}(s)
cls.fill(a, R.prim_value(3))
cls.fill(b, R.prim_value(4))
return (a, b)
"""
    a, b = main(lines)
    assert a.storage.whole is b.storage.whole
    assert (listed(a), listed(b)) == ([3] * 4, [4] * 4)


def test_reused_memory_begins_uninitialised(wrong):
    lines = f"""
{STORAGE["memory"]}
{tensor("a", 0)}
cls.fill(a, R.prim_value(3))
{tensor("b", 0)}
{tensor("c", 16)}
cls.copy(b, c)
return c
"""
    assert wrong(lines).code.id == "RM305"


def test_a_plan_that_gives_memory_away_too_early_is_found(wrong):
    lines = f"""
{STORAGE["memory"]}
{tensor("a", 0)}
cls.fill(a, R.prim_value(3))
{tensor("b", 8)}
{tensor("c", 16)}
cls.copy(a, c)
return c
"""
    found = wrong(lines)
    assert found.code.id == "RM316"
    assert "`a` is used after its memory went to another tensor" in found.message


def test_reuse_after_the_last_use_is_right(main):
    lines = f"""
{STORAGE["memory"]}
{tensor("a", 0)}
cls.fill(a, R.prim_value(3))
{tensor("c", 16)}
cls.copy(a, c)
R.memory.kill_tensor(a)
{tensor("b", 0)}
cls.fill(b, R.prim_value(5))
return (b, c)
"""
    b, c = main(lines)
    assert (listed(b), listed(c)) == ([5] * 4, [3] * 4)


HELD = f"""
{STORAGE["memory"]}
{tensor("a", 0)}
{tensor("b", 16)}
cls.fill(a, R.prim_value(3))
cls.fill(b, R.prim_value(4))
{tensor("c", 0)}
cls.fill(c, R.prim_value(5))
"""
"""The memory of `a` goes to `c`."""


@pytest.mark.parametrize(
    "lines",
    [
        "t = (a, b)\nd = t[1]",
        "t = ((a, b), c)\ni = t[0]\nd = i[1]",
        "t = ((a, b), c)\nd = t[0][1]",
        "t = (a, b)\no = t\nd = o[1]",
        "t = (a, b)\nd = t[1]\nR.vm.kill_object(t)\nR.memory.kill_tensor(a)",
    ],
)
def test_a_tensor_without_memory_may_be_held(main, lines):
    assert listed(main(f"{HELD}\n{lines}\nreturn d")) == [4] * 4


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("t = (a, b)\nreturn t", "`t` is used after the memory of a tensor in it"),
        ("t = (c, (b, a))\nreturn t", "`t` is used after the memory of a tensor in it"),
        ("t = (c, (b, a))\nreturn t[1]", "field 1 is used after the memory of a tensor in it"),
        ("return (b, a)", "`a` is used after its memory"),
        ("t = (a, b)\nu = t[0]\nreturn b", "field 0 is used after its memory"),
        ("t = (a, b)\nreturn t[0]", "field 0 is used after its memory"),
        ("t = (a, b)\ncls.copy(t[0], b)\nreturn b", "field 0 is used after its memory"),
        ("t = (a, b)\nd = R.concat(t)\nreturn d", "`t` is used after the memory of a tensor in it"),
        ("d = R.concat((b, a))\nreturn d", "`a` is used after its memory"),
        ("o = a\nreturn b", "`a` is used after its memory"),
    ],
)
def test_a_tensor_without_memory_is_not_used(wrong, lines, what):
    found = wrong(f"{HELD}\n{lines}")
    assert found.code.id == "RM316"
    assert f"{what} went to another" in found.message


def test_a_tensor_outside_its_storage(wrong):
    assert wrong(f"{STORAGE['memory']}\n{tensor('a', 24)}\nreturn a").code.id == "RM304"
    assert wrong(f"{STORAGE['memory']}\n{tensor('a', 0, extent=-1)}\nreturn a").code.id == "RM315"


def test_a_storage_of_elements(main):
    lines = 's = R.vm.alloc_storage(R.shape([2, 3]), 0, R.dtype("float32"), R.str("global"))\nreturn s'
    assert main(lines).nbytes == 24


def test_memory_is_counted_and_given_back(main, wrong):
    lines = f"""
{STORAGE["memory"]}
{tensor("a", 0)}
R.memory.kill_storage(s)
R.memory.kill_tensor(a)
t = R.memory.alloc_storage(R.shape([32]), 0, R.str("global"), R.dtype("uint8"))
return t
"""
    assert main(lines, budget=Budget(max_bytes=40)).nbytes == 32
    assert wrong(lines, budget=Budget(max_bytes=20)).code.id == "RM603"


@pytest.mark.parametrize("kill", ["R.memory.kill_tensor", "R.memory.kill_storage", "R.vm.kill_object"])
def test_a_killed_variable_is_gone_and_others_stay(main, wrong, kill):
    assert main(f"y = x\n{kill}(x)\nreturn y", 5) == 5
    found = wrong(f"y = x\n{kill}(x)\nz = (y, x)\nreturn z", 5)
    assert found.code.id == "RM316"
    assert "`x` is used after it was killed" in found.message
    assert wrong(f"{kill}(x)\n{kill}(x)\nreturn R.shape([1])", 5).code.id == "RM316"


def test_killing_what_is_no_variable_has_no_meaning(main):
    assert main("R.vm.kill_object(R.shape([1]))\nreturn x", 5) == 5


def test_wrong_kinds_of_arguments(wrong):
    for line in (
        'R.memory.alloc_tensor(x, 0, R.shape([1]), R.dtype("float32"), 0)',
        'R.memory.alloc_storage(x, 0, R.str("global"), R.dtype("uint8"))',
        'R.vm.alloc_storage(R.shape([1, 1]), 0, x, R.str("global"))',
        'R.call_packed("vm.builtin.tuple_getitem", x, 0, ty_args=R.Any)',
        'R.call_packed("relax.run.print", x, ty_args=R.Any)',
        "R.memory.ensure_zero_offset(x)",
    ):
        assert wrong(f"y = {line}\nreturn y", 5).code.id == "RM201"
    lines = f'{STORAGE["vm"]}\ny = R.vm.alloc_tensor(s, x, R.shape([1]), R.dtype("float32"), 0)\nreturn y'
    assert wrong(lines, Shape((1,))).code.id == "RM201"


# ---------------------------------------------------------------------------------------------------- views


def test_views(main, wrong):
    x = Tensor.from_numpy(np.arange(6, dtype="float32"))
    lines = """
n = R.null_value()
a = R.memory.view(x, R.shape([2, 2]), n, R.prim_value(8))
b = R.memory.view(x, n, R.dtype("int32"), n)
c = R.call_packed("runtime.TVMTensorCreateView", x, R.shape([1]), R.dtype("float32"), R.prim_value(20))
d = R.memory.ensure_zero_offset(a)
e = R.memory.ensure_zero_offset(x)
return (a, b, c, d, e)
"""
    a, b, c, d, e = main(lines, x)
    assert listed(a) == listed(d) == [[2, 3], [4, 5]]
    assert a.storage is x.storage
    assert d.storage is not x.storage
    assert d.byte_offset == 0
    assert e is x
    assert listed(b) == np.arange(6, dtype="float32").view("int32").tolist()
    assert listed(c) == [5]
    for shape, offset in (("[7]", 0), ("[2]", 20), ("[1]", -4)):
        line = f"n = R.null_value()\ny = R.memory.view(x, R.shape({shape}), n, R.prim_value({offset}))\nreturn y"
        assert wrong(line, x).code.id == "RM304"
    strided = Tensor.from_numpy(np.zeros((2, 2), "float32").T)
    assert wrong("y = R.memory.view(x)\nreturn y", strided).code.id == "RM202"


def test_a_view_stays_inside_the_view_that_it_is_taken_of(wrong):
    inner = Tensor.from_numpy(np.zeros(8, "float32"))
    part = Tensor(inner.storage, inner.dtype, (2,), None, 8)
    for offset in (-8, 8):
        line = f"n = R.null_value()\ny = R.memory.view(x, R.shape([2]), n, R.prim_value({offset}))\nreturn y"
        assert wrong(line, part).code.id == "RM304"


# -------------------------------------------------------------------------------------------- the shape heap

HEAP = 'h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (3,), ty_args=(R.Any,))\n'


def call(name, *args):
    return f'R.call_packed("vm.builtin.{name}", {", ".join(args)}, ty_args=(R.Any,))'


def test_the_shape_heap(main):
    lines = f"""
{HEAP}
{call("match_shape", "x", "h", "3", "1", "0", "0", "4", "2", "0", 'R.str("here")')}
cls.twice_n(h)
{call("match_prim_value", "6", "h", "3", "2", 'R.str("here")')}
{call("match_prim_value", "9", "h", "1", "1")}
s = {call("make_shape", "h", "3", "1", "2", "0", "5", "1", "1")}
p = {call("make_prim_value", "h", "1", "0")}
return (s, p)
"""
    x = Tensor.from_numpy(np.zeros((3, 4, 5), "float32"))
    assert main(lines, x) == (Shape((6, 5, 9)), 3)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (call("match_shape", "x", "h", "2", "0", "2", "0", "4", 'R.str("here ")'), "RM405"),
        (call("match_shape", "x", "h", "1", "2", "0"), "RM405"),
        (call("match_shape", "x", "h", "2", "3", "0", "2", "0"), "RM305"),
        (call("match_shape", "x", "h", "2", "1", "7", "2", "0"), "RM304"),
        (call("match_shape", "x", "h", "2", "9", "7", "2", "0"), "RM311"),
        (call("match_shape", "x", "h", "2", "2"), "RM311"),
        (call("match_shape", "h", "x", "1", "1", "0"), "RM304"),
        (call("match_shape", "R.shape([1])", "R.null_value()", "1", "1", "0"), "RM201"),
        (call("make_shape", "h", "1", "1", "0"), "RM305"),
        (call("make_prim_value", "h", "2", "0"), "RM311"),
        (call("make_shape", "h", "-1"), "RM311"),
        (call("match_shape", "R.shape([])", "h", "-1", "2"), "RM311"),
    ],
)
def test_what_the_shape_heap_refuses(wrong, line, code):
    first = Tensor.from_numpy(np.zeros((0, 3) if code == "RM304" and '"vm.builtin.match_shape", h' in line else (2, 3)))
    found = wrong(f"{HEAP}y = {line}\nreturn y", first)
    assert found.code.id == code
    if 'R.str("here ")' in line:
        assert "here" in found.notes


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('"vm.builtin.check_tensor_info", x, 1, R.dtype("float32"), R.str("e")', Shape((1,))),
        ('"vm.builtin.check_tensor_info", x, 1, R.dtype("float32"), R.str("e")', np.zeros((1, 1), "float32")),
        ('"vm.builtin.check_tensor_info", x, -1, R.dtype("float32"), R.str("e")', np.zeros(1, "float64")),
        ('"vm.builtin.check_tensor_info", x, -1, R.null_value(), R.str("e")', 5),
        ('"vm.builtin.check_shape_info", R.shape([1]), 1, R.str("e")', None),
        ('"vm.builtin.check_shape_info", R.shape([1]), -1', None),
        ('"vm.builtin.check_prim_value_info", R.prim_value(1), R.dtype("int64"), R.str("e")', None),
        ('"vm.builtin.check_tuple_info", (x, x), 2, R.str("e")', None),
        ('"vm.builtin.check_func_info", cls.fill, R.str("e")', None),
    ],
)
def test_checks(main, wrong, good, bad):
    line = f"y = R.call_packed({good}, ty_args=(R.Any,))\nreturn y"
    assert main(line, Tensor.from_numpy(np.zeros(1, "float32"))) is None
    if bad is None:
        name, rest = good.split(", ", 1)
        words = rest.replace("(x, x)", "x").replace("R.shape([1])", "x").replace("cls.fill", "x")
        line = f"y = R.call_packed({name}, {words.replace('R.prim_value(1)', 'x')}, ty_args=(R.Any,))\nreturn y"
    given = Tensor.from_numpy(bad) if isinstance(bad, np.ndarray) else bad
    assert wrong(line, "text" if bad is None else given).code.id == "RM405"


def test_fields_and_conditions(main, wrong):
    assert main(f"y = {call('tuple_getitem', '(x, 2)', '1')}\nreturn y", 5) == 2
    assert wrong(f"y = {call('tuple_getitem', '(x, 2)', '2')}\nreturn y", 5).code.id == "RM304"
    assert main(f"y = {call('read_if_cond', 'x')}\nreturn y", Tensor.from_numpy(np.array(True))) is True


def test_print_and_assert_by_name(main, wrong):
    lines = []
    main('R.call_packed("relax.run.print", R.str("{}!"), x, ty_args=(R.Tuple,))\nreturn x', 5, output=lines.append)
    assert lines == ["5!"]
    line = 'R.call_packed("relax.run.assert_op", x, R.str("no"), ty_args=(R.Tuple,))\nreturn x'
    assert wrong(line, Tensor.from_numpy(np.array(False))).message == "no"


def test_builtin_storage_by_name(main):
    lines = f"""
s = {call("alloc_storage", "R.shape([16])", "0", 'R.dtype("uint8")', 'R.str("global")')}
t = {call("alloc_tensor", "s", "0", "R.shape([4])", 'R.dtype("float32")', "0")}
R.call_packed("vm.builtin.call_tir_dyn", cls.fill, t, R.shape([7]), ty_args=(R.Tuple,))
return t
"""
    made = main(lines)
    assert listed(made) == [7] * 4
    assert made.dtype == dtype("float32")
