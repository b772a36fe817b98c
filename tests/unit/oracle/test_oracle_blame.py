"""Blame: planted faults are found at the binding, the block, the instance and the element where they are."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import refmlc
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite
from refmlc.oracle.blame import blame, first_difference
from refmlc.oracle.implementations.implementation import Prepared, Stopped
from refmlc.oracle.implementations.interp import Interp

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n"


@dataclass
class Faulty:
    """The interpreter on a module with a fault in it."""

    fault: Callable[[Node], Node]
    name: str = "faulty"
    promises_verdicts: bool = False

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        return Interp(check=False).prepare(faulty(module, self.fault))

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Asked:
    module: IRModule
    func: str
    given: tuple[np.ndarray, ...]
    name: str = ""

    @property
    def calls(self) -> tuple[object, ...]:
        return (self.given,)

    def arguments(self, number: int = 0) -> list[object]:
        return [array.copy() for array in (self.calls and self.given) if number == 0]


def faulty(module: IRModule, fault: Callable[[Node], Node]) -> IRModule:
    return replace(module, functions={name: rewrite(func, fault) for name, func in module.functions.items()})


def constant(old: float, new: float) -> Callable[[Node], Node]:
    """Every float constant `old` is `new`."""

    def fault(node: Node) -> Node:
        return replace(node, value=new) if isinstance(node, tir.FloatImm) and node.value == old else node

    return fault


STAGES = refmlc.read(
    HEAD
    + """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2, 3), "float32"), D: T.Buffer((2, 3), "float32")):
    B = T.alloc_buffer((2, 3), "float32")
    C = T.alloc_buffer((2, 3), "float32")
    for i, j in T.grid(2, 3):
        with T.sblock("first"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(2, 3):
        with T.sblock("second"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(5)
    for i, j in T.grid(2, 3):
        with T.sblock("third"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj] * T.float32(4)
""",
    "stages.py",
)
A = np.arange(6, dtype="float32").reshape(2, 3)


def test_the_block_with_the_fault_is_named_with_its_first_wrong_instance() -> None:
    found = blame(Asked(STAGES, "main", (A, np.zeros((2, 3), "float32"))), 0, Faulty(constant(5, 6)))
    assert (found.function, found.block, found.instance) == ("main", "second", (("vi", 0), ("vj", 0)))
    assert found.compared is not None
    difference = found.compared.verdict.difference
    assert difference is not None
    assert (found.compared.label, difference.index, difference.actual, difference.expected) == ("`C`", (0, 0), 6, 5)
    assert found.place.startswith("stages.py:15:")
    assert found.program is not None
    cut = found.program.module["main"]
    assert isinstance(cut, tir.PrimFunc)
    assert [buffer.name for buffer in cut.buffer_map.values()] == ["A", "D", "B", "C"]


def test_a_fault_in_one_element_names_the_instance_of_that_element() -> None:
    def fault(node: Node) -> Node:
        if isinstance(node, tir.BufferLoad) and node.buffer.name == "A":
            column = node.indices[1]
            last = tir.Apply("eq", (column, tir.IntImm(column.dtype, 2)), refmlc.lang.dtypes.BOOL)
            zero = tir.FloatImm(node.buffer.dtype, 0.0)
            return tir.Select(last, zero, replace(node))
        return node

    found = blame(Asked(STAGES, "main", (A + 1, np.zeros((2, 3), "float32"))), 0, Faulty(fault))
    assert (found.block, found.instance) == ("first", (("vi", 0), ("vj", 2)))
    assert found.compared is not None
    assert found.compared.verdict.difference is not None
    assert found.compared.verdict.difference.wrong == 2


GRAPH = refmlc.read(
    HEAD
    + """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def twice(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("twice"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi] * T.float32(2)

    @T.prim_func(s_tir=True)
    def more(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("more"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi] + T.float32(7)

    @R.function
    def main(x: R.Tensor((3,), dtype="float32")) -> R.Tensor((3,), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((3,), dtype="float32"))
            b = R.call_tir(cls.twice, (a,), out_ty=R.Tensor((3,), dtype="float32"))
            c = R.call_tir(cls.more, (b,), out_ty=R.Tensor((3,), dtype="float32"))
            d = R.call_tir(cls.twice, (c,), out_ty=R.Tensor((3,), dtype="float32"))
            R.output(d)
        return d
""",
    "graph.py",
)
X = np.array([1, 2, 3], "float32")


def test_the_first_wrong_binding_is_named_with_the_block_that_it_calls() -> None:
    found = blame(Asked(GRAPH, "main", (X,)), 0, Faulty(constant(7, 8)))
    assert (found.binding, found.function, found.block, found.instance) == ("c", "more", "more", (("vi", 0),))
    assert found.compared is not None
    difference = found.compared.verdict.difference
    assert difference is not None
    assert (difference.actual, difference.expected) == (12.0, 11.0)
    assert str(found).startswith("binding `c`, `more`, block `more` at vi = 0: `B` wrong: [0] is 12.0, expected 11.0")


def test_a_fault_of_the_whole_alone_is_said_to_be_one() -> None:
    """The implementation swaps the constant only in programs that have the binding `d`."""

    @dataclass
    class Whole(Faulty):
        def prepare(self, module: IRModule) -> Prepared | Stopped:
            text = refmlc.show(module)
            return Interp(check=False).prepare(faulty(module, self.fault) if "return d" in text else module)

    found = blame(Asked(GRAPH, "main", (X,)), 0, Whole(constant(7, 8)))
    assert found.binding == ""
    assert found.notes == ("no prefix of the program is wrong by itself: the fault needs a later statement",)


def test_an_implementation_that_is_right_is_not_blamed() -> None:
    assert blame(Asked(GRAPH, "main", (X,)), 0, Interp()).notes == ("the program is not wrong on this call",)


def test_of_two_modules_the_first_differing_store_is_named() -> None:
    found = first_difference(GRAPH, faulty(GRAPH, constant(7, 8)), "main", [X])
    assert found is not None
    assert (found.binding, found.function, found.block, found.axes) == ("c", "more", "more", (0,))
    assert (found.element, found.right, found.wrong) == ("B[0]", 11.0, 12.0)
    assert found.ulps == 1 << 20  # both lie in 8 … 16, where the spacing is 2**-20


def test_a_store_that_the_wrong_module_leaves_out_is_a_difference() -> None:
    def shorter(node: Node) -> Node:
        if isinstance(node, tir.For) and isinstance(node.body, tir.SBlockRealize) and node.body.block.name == "more":
            return replace(node, extent=tir.IntImm(node.loop_var.dtype, 2))
        return node

    found = first_difference(
        replace(GRAPH), replace(GRAPH, functions={**GRAPH.functions, "more": rewrite(GRAPH["more"], shorter)}),
        "more", [X, np.zeros(3, "float32")],
    )  # fmt: skip
    assert found is not None
    assert (found.axes, found.right, found.wrong) == ((2,), 10.0, None)
    assert "is not written" in str(found)


def test_modules_that_agree_do_not_part() -> None:
    assert first_difference(GRAPH, GRAPH, "main", [X]) is None
