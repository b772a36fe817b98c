"""Small programs for sequences of requests, with what their functions take."""

from dataclasses import dataclass

import numpy as np

import refmlc
from refmlc.debug import Program
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor

GRAPH = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scale(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("B"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        y = R.call_tir(cls.scale, (x,), out_ty=R.Tensor((3,), "float32"))
        z = R.call_tir(cls.scale, (y,), out_ty=R.Tensor((3,), "float32"))
        R.print(z, format="{}")
        return z
"""

SUMS = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def sums(A: T.Buffer((3, 2), "float32"), S: T.Buffer((3,), "float32")):
    W = T.sblock_alloc_buffer((3, 2))
    for i, j in T.grid(3, 2):
        with T.sblock("W"):
            vi, vj = T.axis.remap("SS", [i, j])
            W[vi, vj] = A[vi, vj] - A[vi, 0]
    for i, j in T.grid(3, 2):
        with T.sblock("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] += W[vi, vj]
"""

FAULT = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def fault(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        n: T.int32 = i * 2
        B[i] = A[n] + T.float32(1)
"""


@dataclass(frozen=True)
class Kind:
    """A text, the function to run, what an element may be called in it, expressions, names of places."""

    text: str
    func: str
    elements: tuple[str, ...]
    expressions: tuple[str, ...]
    names: tuple[str, ...]
    targets: tuple[tuple[str, str], ...]


KINDS = {
    "graph": Kind(
        GRAPH, "main", ("B[0]", "B[vi]", "A", "z[0]"), ("A[vi] + T.float32(1)", "i * 2", "vi", "x", "y", "B[2]"),
        ("scale", "B", "main", "z", "Module"), (("A[0]", "7"), ("i", "2"), ("y[1]", "3")),
    ),
    "sums": Kind(
        SUMS, "sums", ("W[0, 1]", "S[0:2]", "S[vi]", "W"), ("W[vi, vj]", "vi == 1", "j", "S", "A[1, 0] * A[2, 1]"),
        ("sums", "W", "S", "sums.S"), (("S[0]", "5"), ("vj", "0"), ("W[2, 1]", "T.float32(1) / T.float32(0)")),
    ),
    "fault": Kind(
        FAULT, "fault", ("B[1]", "A[0:4]", "B"), ("n", "A[n]", "i + n", "B[0]"), ("fault", "n", "B"),
        (("B[0]", "1"), ("n", "3"), ("i", "9")),
    ),
}  # fmt: skip


def program(name, say):
    """One of them; what it prints is said by `say`."""
    if name not in KINDS:
        raise fail(BAD_USAGE, f"there is no program `{name}`")
    kind = KINDS[name]
    module = refmlc.read(kind.text, f"{name}.tvm")
    match name:
        case "graph":
            args = [np.array([1, 2, 3], "float32")]
        case "sums":
            args = [np.array([[1, 2], [np.inf, np.inf], [3, 4]], "float32"), Tensor.empty((3,), FLOAT32)]
        case _:
            args = [np.arange(4, dtype="float32"), Tensor.empty((4,), FLOAT32)]
    return Program(module, kind.func, args, output=say)


def launcher(given, say):
    """What a server makes of a launch request."""
    return program(given.text("program"), say)
