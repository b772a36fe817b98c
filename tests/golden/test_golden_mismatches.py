"""Findings on implementations, RM701 to RM710: the whole message of each, beside what makes it."""

from pathlib import Path

import numpy as np
from in_process import InProcess

import refmlc
from refmlc.diag.render import render_text
from refmlc.frontends.files import Imported
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.visit import walk
from refmlc.oracle.arguments import CallLimits
from refmlc.oracle.check.model import Model
from refmlc.oracle.check.program import CallRequest
from refmlc.oracle.check.run import CheckOptions, examined
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.implementation import Ended, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.run.memory.tensor import Tensor

COPY = """\
@T.prim_func
def copy(A: T.Buffer((2, 2), "float32"), B: T.Buffer((2, 2), "float32")):
    for i, j in T.grid(2, 2):
        B[i, j] = A[i, j + SHIFT]
"""
WRONG = """\
error[RM701]: `mine` gives a wrong result for `B` of `copy`
 --> copy.py:2:1
  |
2 | def copy(A: T.Buffer((2, 2), "float32"), B: T.Buffer((2, 2), "float32")):
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: `B[0, 1]` is 3.0, the program gives 2.0
  = note: 4194304 ulp away; the bits are compared
  = note: 2 of 4 elements are wrong
  = note: distances in ulp: 0: 2, > 65536: 2
  = note: axes 0 and 1 are transposed
  = note: call 1: float32[2, 2] [[1, 2], [3, 4]], float32[2, 2] not all initialised
  = help: `refmlc explain RM701`
"""
OTHER = """\
error[RM702]: `mine` gives a different verdict on `copy`
 --> copy.py:2:1
  |
2 | def copy(A: T.Buffer((2, 2), "float32"), B: T.Buffer((2, 2), "float32")):
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: the implementation runs to its end; the program stops at copy.py:4:19: RM304: load from `A` is out of bounds
  = note: call 1: float32[2, 2] [[1, 2], [3, 4]], float32[2, 2] not all initialised
note: here: load from `A` is out of bounds
 --> copy.py:4:19
  |
4 |         B[i, j] = A[i, j + 1]
  |                   ^^^^^^^^^^^
  = help: `refmlc explain RM702`
"""
CRASH = """\
error[RM703]: `mine` crashes in `copy`
 --> copy.py:2:1
  |
2 | def copy(A: T.Buffer((2, 2), "float32"), B: T.Buffer((2, 2), "float32")):
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: the process was killed by SIGFPE
  = note: call 1: float32[2, 2] [[1, 2], [3, 4]], float32[2, 2] not all initialised
  = help: `refmlc explain RM703`
"""
LATE = """\
error[RM704]: `mine` gives no answer to `copy`
 --> copy.py:2:1
  |
2 | def copy(A: T.Buffer((2, 2), "float32"), B: T.Buffer((2, 2), "float32")):
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: no answer within 60 s
  = note: call 1: float32[2, 2] [[1, 2], [3, 4]], float32[2, 2] not all initialised
  = help: `refmlc explain RM704`
"""
REFUSAL = """\
error[RM707]: `mine` refuses `copy`
 --> copy.py:2:1
  |
2 | def copy(A: T.Buffer((2, 2), "float32"), B: T.Buffer((2, 2), "float32")):
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: copies of float32 are not supported
  = note: call 1: float32[2, 2] [[1, 2], [3, 4]], float32[2, 2] not all initialised
  = help: `refmlc explain RM707`
"""
BUILD = """\
error[RM708]: `mine` fails to compile `copy`
 --> copy.py:2:1
  |
2 | def copy(A: T.Buffer((2, 2), "float32"), B: T.Buffer((2, 2), "float32")):
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: the process was killed by SIGABRT
  = note: call 1: float32[2, 2] [[1, 2], [3, 4]], float32[2, 2] not all initialised
  = help: `refmlc explain RM708`
"""
CONTRADICTION = """\
error[RM705]: `mine` contradicts itself on `B` of `copy`: the same program, unrolled
 --> copy.py:2:1
  |
2 | def copy(A: T.Buffer((2, 2), "float32"), B: T.Buffer((2, 2), "float32")):
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: `B[0, 1]` is 3.0, to the program itself it gives 2.0
  = note: 4194304 ulp away; the bits are compared
  = note: 2 of 4 elements are wrong
  = note: distances in ulp: 0: 2, > 65536: 2
  = note: axes 0 and 1 are transposed
  = note: call 1: float32[2, 2] [[1, 2], [3, 4]], float32[2, 2] not all initialised
  = help: `refmlc explain RM705`
"""
WRONG_IMPORT = """\
error[RM706]: `onnx` computes something else from `negated.onnx` than the module that refmlc imported
 --> negated.py:3:1
  |
3 | def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: the result[0] is 1.0, the program gives -1.0
  = note: 2130706432 ulp away; the certified bound is 0
  = note: 2 of 2 elements are wrong
  = note: distances in ulp: > 65536: 2
  = note: the result has the wrong sign
  = note: call 1: float32[2] [1, 2]
  = note: refmlc's importer is wrong, or the framework
  = help: `refmlc explain RM706`
"""


class Copy:
    """The program, its only call; indices of `A` are off by `shift`."""

    func, calls, name = "copy", (None,), ""

    def __init__(self, shift=0):
        self.module = refmlc.read(COPY.replace("SHIFT", str(shift)).replace(" + 0", ""), "copy.py")

    def arguments(self, _number=0):
        return [Tensor.from_numpy(np.array([[1, 2], [3, 4]], "float32")), Tensor.empty((2, 2), FLOAT32)]


class Mine:
    """The interpreter behind a change of its answers."""

    name = "mine"

    def __init__(self, change, *, promises=False):
        self.change, self.promises_verdicts = change, promises

    def prepare(self, module):
        return Inside(self, module, Interp().prepare(module))

    def close(self):
        """Nothing is held."""


class Inside:
    def __init__(self, mine, module, prepared):
        self.mine, self.module, self.prepared = mine, module, prepared

    def run(self, func, args):
        return self.mine.change(self.prepared.run(func, args), self.module)

    def close(self):
        """Nothing is held."""


def message(change, *, shift=0, promises=False, pairs=False):
    (found,) = examine([Copy(shift)], [Mine(change, promises=promises)], pairs=pairs)
    (finding,) = found.findings
    return render_text(finding.diagnostic) + "\n"


def transposed(answer, _module):
    array = answer.args[1].numpy()
    array[...] = array.T.copy()
    return answer


def test_a_wrong_result():
    assert message(transposed) == WRONG


def test_another_verdict():
    went_on = Ended(None, tuple(Copy().arguments()))
    assert message(lambda _answer, _module: went_on, shift=1, promises=True) == OTHER


def test_a_crash():
    assert message(lambda _answer, _module: Stopped(Stop.CRASHED, "the process was killed by SIGFPE")) == CRASH


def test_no_answer():
    late = Stopped(Stop.TIMED_OUT, "no answer within 60 s")
    assert message(lambda _answer, _module: late) == LATE


def test_a_refusal():
    refusal = Stopped(Stop.REJECTED, "copies of float32 are not supported")
    assert message(lambda _answer, _module: refusal) == REFUSAL


def test_a_failed_build():
    failure = Stopped(Stop.CRASHED, "the process was killed by SIGABRT", building=True)
    assert message(lambda _answer, _module: failure) == BUILD


def test_a_contradiction():
    def unlike(answer, module):
        kinds = {node.kind for node in walk(module["copy"].body) if isinstance(node, tir.For)}
        return transposed(answer, module) if ForKind.UNROLLED in kinds else answer

    assert message(unlike, pairs=True) == CONTRADICTION


NEGATED = """
@R.function
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    return R.negative(x)
"""


def test_an_import_that_is_wrong():
    module = refmlc.read(NEGATED, "negated.py")
    model = Model(Path("negated.onnx"), Imported(module, {}), InProcess("onnx", module, lambda inputs: inputs[0]))
    asked = CallRequest(inputs={"x": np.array([1, 2], "float32")}, limits=CallLimits(1))
    row = examined(module, "main", CheckOptions(asked, pairs=False), model.ways(CheckOptions(named=True)))
    (finding,) = model.judged(row).examination.findings
    assert render_text(finding.diagnostic) + "\n" == WRONG_IMPORT


POOLED = """
@R.function
def main(x: R.Tensor((1, 1, 2), "int8")):
    return R.nn.avg_pool1d(x, pool_size=[2])
"""
INACCURATE = """\
error[RM709]: `interp` is inaccurate: the result of `nn.avg_pool1d` is not within the bound of its definition
 --> pooled.py:4:12
  |
4 |     return R.nn.avg_pool1d(x, pool_size=[2])
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: the result[0, 0, 0] is -28, the definition gives 100
  = note: integers are exact
  = note: 1 of 1 elements are outside
  = note: definition: PyTorch 2.13 torch.nn.AvgPool1d, ONNX 1.23 AveragePool
  = note: `nn.avg_pool1d` is executed alone, on the inputs that it has in the program
  = note: call 1: int8[1, 1, 2] [[[100, 100]]]
  = help: `refmlc explain RM709`
"""


def test_an_inaccurate_operator():
    module = refmlc.read(POOLED, "pooled.py")
    asked = CallRequest(inputs={"x": np.full((1, 1, 2), 100, "int8")}, limits=CallLimits(1))
    row = examined(module, "main", CheckOptions(asked, pairs=False, against="reference"), [Interp()])
    (finding,) = row.examination.findings
    assert render_text(finding.diagnostic) + "\n" == INACCURATE
