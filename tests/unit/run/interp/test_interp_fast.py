"""The fast closures do what the cases of the `match` do, to the bit: the same programs with and without them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.lang.script import read
from refmlc.oracle.implementations import interp
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.suite.runner import run_suite
from refmlc.oracle.suite.suite import load_suite
from refmlc.run.interp import fast
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget

AREAS = ("scalar", "tir", "undefined", "trap", "lowered")
ONE_IN = 12

GEMM = """@T.prim_func(s_tir=True)
def gemm(A: T.Buffer((3, 4), "float32"), B: T.Buffer((4, 3), "float32"), C: T.Buffer((3, 3), "float32"),
         n: T.int32, first: T.int32):
    D = T.alloc_buffer((12,), "float32")
    for i in range(n):
        D[i] = A[i // 4, i % 4] - T.float32(0.1)
    for i, j, k in T.grid(3, 3, 4):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(4, first + k)
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + D[vi * 4 + vk] * B[vk, vj]
"""
CALLS = {
    "no failure": (12, 0),
    "an element that was never written": (11, 0),
    "an element out of bounds": (13, 0),
    "an axis out of its domain": (12, 1),
}


@pytest.fixture
def without(monkeypatch):
    """Without fast closures: every machine is made with `fast=False`, and a fast closure is an error."""
    monkeypatch.setattr(interp, "Machine", partial(Machine, fast=False))
    for part in (fast.numbers, fast.elements, fast.inits):
        for name in {"apply", "load", "store", "init"} & set(vars(part)):
            monkeypatch.setattr(part, name, None)


def test_the_frozen_suite_passes_without_them(without):
    suite = load_suite()
    cases = [case for case in suite.cases if case.id.split(".")[0] in AREAS]
    report = run_suite(replace(suite, cases=tuple(cases[::ONE_IN])), Interp())
    assert report.ok
    assert report.counts["pass"] > len(cases) / ONE_IN * 0.95


def ending(run, n, first, **options):
    """The bits of the result, or the message of the failure with its notes, which name the step."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((3, 4), "float32"), random.standard_normal((4, 3), "float32")
    c = np.zeros((3, 3), "float32")
    try:
        run(GEMM, a, b, c, n, first, **options)
    except RefmlcError as failure:
        diagnostic = failure.diagnostic
        return diagnostic.code.id, diagnostic.message, diagnostic.label, diagnostic.notes, diagnostic.span
    return c.tobytes()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_results_and_failures_are_the_same(run, call):
    assert ending(run, *call) == ending(run, *call, fast=False)


class Accesses(Hooks):
    """The elements read and written."""

    def __init__(self):
        self.seen = []

    def load(self, access, indices, value, frame):
        self.seen.append((access.buffer.name, indices, value))

    def store(self, access, indices, value, frame):
        self.seen.append((access.buffer.name, indices, value))


def test_hooks_see_the_same(run):
    hooks = {each: Accesses() for each in (True, False)}
    for each, watching in hooks.items():
        ending(run, 12, 0, hooks=watching, fast=each)
    assert hooks[True].seen == hooks[False].seen
    assert len(hooks[True].seen) == 12 * 2 + 9 + 36 * 4


def test_they_take_part_unless_it_is_said(run, monkeypatch):
    asked = []
    load = fast.elements.load
    monkeypatch.setattr(fast.elements, "load", lambda scope, node: asked.append(node) or load(scope, node))
    ending(run, 12, 0)
    assert len(asked) == 4
    ending(run, 12, 0, fast=False)
    ending(run, 12, 0, hooks=Accesses())
    assert len(asked) == 4


COUNTED = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True, private=True)
    def next(c: T.handle) -> T.int32:
        C = T.match_buffer(c, (1,), "int32")
        for i in range(3):
            C[0] = C[0] + 1
        T.ret(C[0])

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((40, 8), "float32"), B: T.Buffer((40, 8), "float32"), C: T.Buffer((1,), "int32")):
        for i, j in T.grid(40, 8):
            B[i, j] = A[{indices}]
"""


@pytest.mark.parametrize("fast_ways", [True, False])
@pytest.mark.parametrize(
    ("indices", "label"),
    [
        ("i, Module.next(C)", "index 1 is 9, extent is 8"),
        ("i // 9, Module.next(C)", "index 1 is 9, extent is 8"),
        ("Module.next(C) * 5, j", "index 0 is 45, extent is 40"),
    ],
)
def test_an_index_with_effects_is_evaluated_once_where_it_fails(indices, label, fast_ways):
    """The third call of the function fails, which takes three steps for each of them."""
    module, counter, budget = read(COUNTED.format(indices=indices)), np.zeros(1, "int32"), Budget()
    machine = Machine(module, budget=budget, fast=fast_ways)
    with pytest.raises(RefmlcError) as caught:
        machine.call("main", (np.zeros((40, 8), "float32"), np.zeros((40, 8), "float32"), counter))
    assert caught.value.diagnostic.label == label
    assert counter.tolist() == [9]
    steps_of_calls, steps_of_main = 3 * (3 + 1), 1 + 3 + 1
    assert budget.steps == steps_of_calls + steps_of_main


TWICE = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((300, 2), "float32"), B: T.Buffer((300, 2), "float32")):
    for i, j in T.grid(300, 2):
        B[i, j] = A[i, j]
    for i in range(300):
        for j in range(0, 8, 4):
            B[i, 0] = A[i, j]
"""


def test_a_variable_of_two_loops_has_the_domain_of_the_loop_around_it():
    """IR of passes may name the variable of two loops by the same object; the text never does."""
    module = read(TWICE)
    main = module["main"]
    first, second = main.body.seq
    variable = first.body.loop_var
    inner = second.body
    store = inner.body
    load = replace(store.value, indices=(store.value.indices[0], variable))
    inner = replace(inner, loop_var=variable, body=replace(store, value=load))
    body = replace(main.body, seq=(first, replace(second, body=inner)))
    with pytest.raises(RefmlcError) as caught:
        Machine(IRModule({"main": replace(main, body=body)})).call("main", (np.zeros((300, 2), "float32"),) * 2)
    assert caught.value.diagnostic.label == "index 1 is 4, extent is 2"
    assert caught.value.diagnostic.notes[0].startswith("i = 0, j = 4 in `main`")


AXIS_TWICE = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((300, 2), "float32"), B: T.Buffer((300, 2), "float32")):
    for i in range(300):
        for t in T.thread_binding(2, thread="threadIdx.x"):
            B[i, t] = A[i, t]
        for t in T.thread_binding(0, 8, thread="threadIdx.x", step=4):
            B[i, 0] = A[i, t]
"""


def test_a_thread_axis_has_the_domain_of_the_loop_around_it():
    """Its loops share a slot; of one with a step no domain is known."""
    with pytest.raises(RefmlcError) as caught:
        Machine(read(AXIS_TWICE)).call("main", (np.zeros((300, 2), "float32"),) * 2)
    assert caught.value.diagnostic.notes[0].startswith("i = 0, t = 4 in `main`")


SUMS = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((20, 20), "float32"), B: T.Buffer((20, 20), "float32"), I: T.Buffer((20,), "int32")):
    X = T.alloc_buffer((20, 20), "float32")
    for i, j in T.grid(20, 20):
        if i != 19 or j != 19:
            X[i, j] = A[i, j]
    for i, j in T.grid(20, 20):
{body}
"""
SKEWED = """        with T.sblock("skewed"):
            vi = T.axis.spatial(20, 19 - i)
            vj = T.axis.spatial(20, 19 - j)
            {}"""
READS = {
    "of what the loop keeps": ("        B[i, j] = A[i, 3]", lambda a: np.repeat(a[:, 3:4], 20, axis=1)),
    "of what it moves": ("        B[i, j] = A[j, i]", lambda a: a.T),
    "of several variables that it moves": (SKEWED.format("B[vi, vj] = A[vj, vi]"), lambda a: a.T),
    "of converted and scaled variables": (
        '        B[i, j] = A[T.cast(T.int64(2) * T.cast(i, "int64"), "int32") - i, 19 - j]',
        lambda a: a[:, ::-1],
    ),
    "with an index of memory": ("        B[i, j] = A[I[j], i]", lambda a: np.roll(a, -1, axis=0).T),
    "with an index of memory, and kept": ("        B[i, j] = A[i, I[j]]", lambda a: np.roll(a, -1, axis=1)),
    "to what the loop keeps": ("        B[i, 3] = A[i, j]", lambda a: np.where(np.arange(20) == 3, a[:, 19:], 0)),
    "under conditions": (
        "        if not (i == 0 or 3 > j):\n            B[i, j] = A[i - 1, j - 3]",
        lambda a: np.pad(a[:-1, :-3], ((1, 0), (3, 0))),
    ),
}
UNWRITTEN = {
    "kept": ("        B[i, j] = X[i, 19]", "X[19, 19]"),
    "moving": ("        B[i, j] = X[i, j]", "X[19, 19]"),
    "a sum": (SKEWED.format("B[vi, vj] = X[19 - vi, 19 - vj]"), "X[19, 19]"),
    "checked": ("        B[i, j] = X[i, (I[j] + 19) % 20]", "X[19, 19]"),
}
STORES = {
    "kept": "        B[i, 3] = A[i, j]",
    "moving": "        B[i, j] = A[i, j]",
    "a sum": SKEWED.format("B[vi, vj] = A[vi, vj]"),
}


def sums(body, b, **options):
    a, i = np.arange(400, dtype="float32").reshape(20, 20), np.roll(np.arange(20, dtype="int32"), -1)
    Machine(read(SUMS.format(body=body)), **options).call("main", (a, b, i))
    return a


@pytest.mark.parametrize("fast_ways", [True, False])
@pytest.mark.parametrize(("body", "expected"), READS.values(), ids=READS)
def test_elements_at_offsets_that_are_sums(body, expected, fast_ways):
    b = np.zeros((20, 20), "float32")
    a = sums(body, b, fast=fast_ways)
    assert b.tolist() == expected(a).tolist()


@pytest.mark.parametrize("fast_ways", [True, False])
@pytest.mark.parametrize(("body", "element"), UNWRITTEN.values(), ids=UNWRITTEN)
def test_an_element_at_a_sum_that_was_never_written(body, element, fast_ways):
    with pytest.raises(RefmlcError) as caught:
        sums(body, np.zeros((20, 20), "float32"), fast=fast_ways)
    assert caught.value.code.id == "RM305"
    assert caught.value.diagnostic.message == f"`{element}` is read but was never written"


@pytest.mark.parametrize("fast_ways", [True, False])
@pytest.mark.parametrize("body", STORES.values(), ids=STORES)
def test_a_store_at_a_sum_to_memory_that_is_read_only(body, fast_ways):
    b = np.zeros((20, 20), "float32")
    b.flags.writeable = False
    with pytest.raises(RefmlcError) as caught:
        sums(body, b, fast=fast_ways)
    assert caught.value.code.id == "RM313"


@pytest.mark.parametrize("fast_ways", [True, False])
def test_a_division_of_singles_by_zero(fast_ways):
    b = np.zeros((20, 20), "float32")
    a = sums(
        "        B[i, j] = (A[i, j] - T.float32(7)) / (A[i, j] - T.float32(7) - A[i, j] + T.float32(7))",
        b,
        fast=fast_ways,
    )
    with np.errstate(all="ignore"):
        assert np.array_equal(b, (a - 7) / np.float32(0), equal_nan=True)
