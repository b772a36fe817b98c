"""Hooks on places: elements, loops, instances of blocks, allocations, calls that say what they write."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

HEAD = "from tvm.script import tirx as T\n\n\n@T.prim_func\ndef main({params}):{body}"
SUM = """
    S = T.sblock_alloc_buffer((2,), "float32")
    for i in range(2):
        for k in T.parallel(2):
            with T.sblock("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.where(i + k < {bound})
                T.reads(A[vk:vk + 1])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vk]
"""


class Trace(Hooks):
    """Writes down what it is told."""

    def __init__(self):
        self.seen = []

    def allocated(self, buffer, view, frame):
        self.seen.append(f"alloc {buffer.name} {view.shape}")

    def enter_loop(self, loop, frame):
        self.seen.append(f"loop {loop.loop_var.name}")

    def leave_loop(self, loop, frame):
        self.seen.append(f"end {loop.loop_var.name}")

    def enter_block(self, site, frame):
        regions = [
            (box.declared.buffer.name, box.axes) for box in (*(site.reads(frame) or ()), *(site.writes(frame) or ()))
        ]
        self.seen.append(f"{site.node.block.name}{site.values(frame)} {regions}")

    def leave_block(self, site, frame):
        self.seen.append(f"end {site.node.block.name}")

    def init(self, site, frame):
        self.seen.append("init")

    def read_element(self, access, view, offset, frame):
        self.seen.append(f"read {access.buffer.name}@{offset}")

    def write_element(self, access, view, offset, frame):
        self.seen.append(f"write {access.buffer.name}@{offset}")


class Calls(Hooks):
    """Writes down calls that say what they write."""

    def __init__(self):
        self.seen = []

    def before_destination(self, call):
        self.seen.append(("before", len(call.args), [output.initialised for output in call.outputs]))

    def after_destination(self, call):
        self.seen.append(("after", len(call.args), [output.initialised for output in call.outputs]))


def trace(body, *args, params='A: T.Buffer((2,), "float32")'):
    hooks = Trace()
    machine = Machine(read(HEAD.format(params=params, body=body), "case.py"), hooks=hooks)
    try:
        machine.call("main", [Tensor.from_numpy(arg) for arg in args])
    except RefmlcError as failure:
        hooks.seen.append(failure.code.id)
    return hooks.seen


def test_a_reduction_is_told_in_its_order():
    seen = trace(SUM.format(bound=2), np.ones(2, "float32"))
    assert (seen.pop(0), seen.pop()) == ("root() []", "end root")
    assert seen == [
        "alloc S (2,)",
        "loop i",
        "loop k",
        "sum(0, 0) [('A', ((0, 1),)), ('S', ((0, 1),))]",
        "init",
        "write S@0",
        "read S@0",
        "read A@0",
        "write S@0",
        "end sum",
        "sum(0, 1) [('A', ((1, 1),)), ('S', ((0, 1),))]",
        "read S@0",
        "read A@1",
        "write S@0",
        "end sum",
        "end k",
        "loop k",
        "sum(1, 0) [('A', ((0, 1),)), ('S', ((1, 1),))]",
        "init",
        "write S@1",
        "read S@1",
        "read A@0",
        "write S@1",
        "end sum",
        "end k",
        "end i",
    ]


def test_an_element_is_told_before_it_is_known_whether_it_was_written():
    seen = trace('\n    S = T.alloc_buffer((1,), "float32")\n    A[0] = S[0]\n', np.ones(2, "float32"))
    assert seen == ["alloc S (1,)", "read S@0", "RM305"]


def test_an_element_out_of_bounds_is_not_told():
    assert trace("\n    A[0] = A[2]\n", np.ones(2, "float32")) == ["RM304"]


@pytest.mark.parametrize("jump", ["T.continue_loop()", "T.break_loop()"])
def test_jumps_leave_blocks_and_loops(jump):
    body = f"""
    for i in range(2):
        with T.sblock("b"):
            vi = T.axis.spatial(2, i)
            T.reads()
            T.writes()
            T.evaluate({jump})
"""
    seen = trace(body, np.ones(2, "float32"))
    once = ["b(0,) []", "end b"]
    again = ["b(1,) []", "end b"] if "continue" in jump else []
    assert seen == ["loop i", *once, *again, "end i"]


def test_vectors_are_told_lane_by_lane():
    body = "\n    A[T.Ramp(0, 1, 2)] = A[T.Ramp(0, 1, 2)]\n"
    assert trace(body, np.ones(2, "float32")) == ["read A@0", "read A@1", "write A@0", "write A@1"]


def test_calls_with_destinations_are_told_before_and_after():
    text = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def g(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i]

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_tir(Module.g, (x,), out_ty=R.Tensor((2,), "float32"))
        return y
"""
    hooks = Calls()
    Machine(read(text, "case.py"), hooks=hooks).call("main", [Tensor.from_numpy(np.ones(2, "float32"))])
    assert hooks.seen == [("before", 2, [False]), ("after", 2, [True])]
