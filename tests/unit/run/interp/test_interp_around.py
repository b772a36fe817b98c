"""`around`: a client gives what is executed as a statement or binding; it is asked once for each of them."""

import numpy as np

from refmlc.lang.ir import relax, tir
from refmlc.lang.script import read
from refmlc.run.interp.graph import activation
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.frame import Frame, Run
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.tensor import Tensor

TEXT = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def twice(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        y = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((3,), "float32"))
        return y
"""


class Replacing(Hooks):
    """Counts how often statements are prepared and executed; does not execute the store to element 1."""

    def __init__(self) -> None:
        self.prepared: list[str] = []
        self.executed: list[str] = []

    def around(self, scope: Scope, stmt: tir.Stmt, run: Run) -> Run:
        self.prepared.append(type(stmt).__name__)

        def instead(frame: Frame) -> None:
            self.executed.append(type(stmt).__name__)
            loop = scope.layout.named["i"]
            if not (isinstance(stmt, tir.BufferStore) and frame[loop] == 1):
                run(frame)

        return instead

    def around_binding(self, binding: relax.Binding, run: activation.Run) -> activation.Run:
        self.prepared.append(binding.var.name)

        def instead(env: activation.Activation) -> None:
            self.executed.append(binding.var.name)
            run(env)

        return instead


def test_what_is_given_is_executed_in_place() -> None:
    hooks = Replacing()
    machine = Machine(read(TEXT), hooks=hooks)
    x = Tensor.from_numpy(np.array([1, 2, 3], "float32"))
    for _ in range(2):
        result = machine.call("main", [x])
    assert sorted(hooks.prepared) == ["BufferStore", "For", "y"]
    assert hooks.executed == ["y", "For", "BufferStore", "BufferStore", "BufferStore"] * 2
    assert isinstance(result, Tensor)
    assert [result.shadow[i] for i in range(3)] == [1, 0, 1]
    assert [result.cells[i] for i in (0, 2)] == [2.0, 6.0]


def test_hooks_that_do_not_watch_it_are_not_asked() -> None:
    assert not Hooks().watches("around")
    assert not Hooks().watches("around_binding")
    assert Replacing().watches("around")
