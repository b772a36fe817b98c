"""Real TVM behind the protocol of implementations: results, refusals, crashes, silence."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import refmlc
from refmlc.lang.dtypes import dtype
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations import real_tvm
from refmlc.oracle.implementations.implementation import Ask, Ended, Limits, Stop, Stopped
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.outcome import Kind
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.strategies.arguments import Array, Number
from refmlc.strategies.case import Case

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
pytestmark = pytest.mark.needs("tvm")
DIVIDE = """
@T.prim_func
def main(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int32")):
    B[0] = 7 // A[0]
"""
ENDLESS = """
@T.prim_func
def main(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int32")):
    while A[0] > 0:
        B[0] = B[0] + 1
"""
SUM = """
@T.prim_func
def main(A: T.Buffer((16, 32), "float32"), B: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 32):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] += T.exp(A[vi, vk])
"""
GRAPH = """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), s: R.Shape(["m"]), p: R.Prim("int64")):
        with R.dataflow():
            y = R.add(x, x)
            z = (y, x)
            R.output(z)
        return z
"""
NOT_EQUAL = """
@T.prim_func
def main(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "bool")):
    B[0] = A[0] != A[0]
"""


@pytest.fixture(scope="module")
def tvm():
    made = implementation(f"tvm:{PYTHON}", Limits(seconds=2.0))
    yield made
    made.close()


def ints(*values):
    return Tensor.from_numpy(np.array(values, "int32"))


def test_a_prim_func_writes_into_its_arguments(tvm):
    answer = tvm.prepare(refmlc.read(DIVIDE)).run("main", [ints(2), ints(0)])
    assert isinstance(answer, Ended)
    assert [arg.numpy().tolist() for arg in answer.args] == [[2], [3]]


def test_a_crash_ends_its_module_only(tvm):
    prepared = tvm.prepare(refmlc.read(DIVIDE))
    crash = prepared.run("main", [ints(0), ints(0)])
    assert crash.why is Stop.CRASHED
    assert "SIGFPE" in crash.message
    assert isinstance(prepared.run("main", [ints(1), ints(0)]), Ended)


def test_silence_is_ended(tvm):
    answer = tvm.prepare(refmlc.read(ENDLESS)).run("main", [ints(1), ints(0)])
    assert answer.why is Stop.TIMED_OUT


def test_what_tvm_does_not_take_is_rejected(tvm):
    answer = tvm.prepare(refmlc.read(DIVIDE.replace("7 // A[0]", "A[0] // 0")))
    assert answer.why is Stop.REJECTED


def test_values_of_relax_go_there_and_back(tvm):
    x = Tensor.from_numpy(np.array([[1, 2]], "float32"))
    answer = tvm.prepare(refmlc.read(GRAPH)).run("main", [x, Shape((5,)), 3])
    assert isinstance(answer, Ended)
    assert [part.numpy().tolist() for part in answer.value] == [[[2, 4]], [[1, 2]]]
    assert answer.args[1:] == (Shape((5,)), 3)


def test_a_sum_is_equal_or_permitted(tvm):
    call = (Array(dtype("float32"), (16, 32), "tame", 5), Array(dtype("float32"), (16,), form="fresh"))
    (found,) = examine([Case(refmlc.read(SUM), "main", (call,))], [tvm], pairs=True)
    assert found.findings == ()
    assert found.verdicts[tvm.name][0].kind in (Kind.EQUAL, Kind.PERMITTED)


def test_nan_is_not_itself(tvm):
    call = (Array(dtype("float32"), (1,), "steps"), Array(dtype("bool"), (1,), form="fresh"))
    case = Case(refmlc.read(NOT_EQUAL), "main", (call,))
    nan = NanCase(case)
    (found,) = examine([nan], [tvm])
    assert [finding.code.id for finding in found.findings] == ["RM701"]  # known: != is emitted ordered, or folded


class NanCase:
    """A case whose first argument holds NaN."""

    def __init__(self, case):
        self.case, self.module, self.func, self.calls, self.name = case, case.module, case.func, case.calls, ""

    def arguments(self, number=0):
        first, second = self.case.arguments(number)
        first.numpy()[0] = np.nan
        return [first, second]


def test_numbers_are_given_by_value(tvm):
    text = '@T.prim_func\ndef main(n: T.int32, A: T.Buffer((1,), "int32")):\n    A[0] = n * 2\n'
    call = (Number(dtype("int32"), 21), Array(dtype("int32"), (1,), form="fresh"))
    (found,) = examine([Case(refmlc.read(text), "main", (call,))], [tvm])
    assert found.verdicts[tvm.name][0].kind is Kind.EQUAL


def test_constants_are_sent_with_their_values(tvm):
    text = GRAPH.replace("R.add(x, x)", "R.add(x, R.const([1.5, -2.0], 'float32'))")
    answer = tvm.prepare(refmlc.read(text)).run("main", [Tensor.from_numpy(np.ones((1, 2), "float32")), Shape((5,)), 3])
    assert isinstance(answer, Ended)
    assert answer.value[0].numpy().tolist() == [[2.5, -1.0]]


@pytest.mark.parametrize("kind", ["float4_e2m1fn", "int4", "uint1", "float6_e2m3fn"])
def test_tensors_that_tvm_packs_are_not_given(tvm, kind):
    text = f'@T.prim_func\ndef main(A: T.Buffer((2,), "{kind}"), B: T.Buffer((2,), "{kind}")):\n'
    text += "    for i in range(2):\n        B[i] = A[1 - i]\n"
    call = (Array(dtype(kind), (2,), "steps", low=0, high=1), Array(dtype(kind), (2,), form="fresh"))
    (found,) = examine([Case(refmlc.read(text), "main", (call,))], [tvm])
    assert found.verdicts[tvm.name][0].kind is Kind.NOT_TAKEN


CALLS = """
# from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int32")):
        Module.put(B.data, A[0])

    @T.prim_func(private=True, s_tir=True)
    def put(p: T.handle("int32"), n: T.int32):
        P = T.decl_buffer((1,), "int32", data=p)
        P[0] = n + 1

    @T.prim_func(s_tir=True)
    def other(A: T.Buffer((1,), "int32"), B: T.Buffer((1,), "int32")):
        B[0] = A[0] - 1
"""


@pytest.mark.parametrize(("name", "expected"), [("main", 8), ("other", 6)])
def test_a_prim_func_is_compiled_with_those_that_it_calls(tvm, name, expected):
    prepared = tvm.prepare(refmlc.read(CALLS))
    answer = prepared.run(name, [Tensor.from_numpy(np.array([number], np.int32)) for number in (7, 0)])
    assert isinstance(answer, Ended)
    assert answer.args[1].numpy().tolist() == [expected]


def test_a_module_that_comes_again_has_the_same_answers(tvm):
    for _ in range(2):
        prepared = tvm.prepare(refmlc.read(CALLS))
        answer = prepared.run("main", [Tensor.from_numpy(np.array([number], np.int32)) for number in (7, 0)])
        assert answer.args[1].numpy().tolist() == [8]


def test_tensors_without_elements_are_given(tvm):
    module = refmlc.read(
        """
# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((0,), "int32"), B: T.Buffer((1,), "int32")):
    B[0] = 5
"""
    )
    answer = tvm.prepare(module).run("main", [Tensor.from_numpy(np.zeros(size, np.int32)) for size in (0, 1)])
    assert isinstance(answer, Ended), answer
    assert answer.args[1].numpy().tolist() == [5]


def test_numbers_and_any_value_are_spelled_as_the_version_has_them(tvm):
    text = """
# from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Any, n: R.Prim("int64")):
        return (x, R.shape([n, n + 1]))
"""
    answer = tvm.prepare(refmlc.read(text)).run("main", [ints(7), 3])
    assert isinstance(answer, Ended), answer
    assert answer.value[0].numpy().tolist() == [7]
    assert answer.value[1] == Shape((3, 4))


CUDA = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    T.func_attr({"target": T.target({"kind": "cuda", "arch": "sm_80"})})
    for bx in T.thread_binding(2, thread="blockIdx.x"):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            B[bx * 4 + tx] = A[bx * 4 + tx]
"""


@pytest.mark.parametrize("text", [CUDA, "\n".join(line for line in CUDA.split("\n") if "func_attr" not in line)])
def test_a_kernel_is_not_taken_by_a_process_without_a_device(tvm, text):
    case = Case(refmlc.read(text), "main", ((Array(dtype("float32"), (8,)), Array(dtype("float32"), (8,))),))
    found = examine([case], [tvm])[0]
    (verdict,) = found.verdicts[tvm.name]
    assert (verdict.kind, found.findings) == (Kind.NOT_TAKEN, ())
    assert verdict.notes[0].startswith("this process has no device ")


EXTERN = """
# from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
        return BODY
"""


def test_what_nobody_registered_is_not_taken(tvm):
    text = EXTERN.replace("BODY", 'R.call_pure_packed("made.up", x, ty_args=R.Tensor((2,), "int8"))')
    prepared = tvm.prepare(refmlc.read(text))
    answer = prepared if isinstance(prepared, Stopped) else prepared.run("main", [ints8()])
    assert (answer.why, answer.refused, answer.fault) == (Stop.UNSUPPORTED, False, False), answer


def ints8():
    return Tensor.from_numpy(np.array([3, 1], np.int8))


def test_a_limit_that_is_met_in_a_call_is_a_refusal(tvm):
    answer = tvm.prepare(refmlc.read(EXTERN.replace("BODY", "R.sort(x)"))).run("main", [ints8()])
    assert (answer.why, answer.refused) == (Stop.TRAP, True)
    assert "Unsupported input dtype: int8" in answer.message


RAISES = """
import sys
sys.path.insert(0, sys.argv[1])
import run_calls, tvm

def told(name, message, work):
    def raises():
        kind = getattr(tvm.error, name, None) or getattr(__import__("builtins"), name)
        raise kind(message)

    answer = run_calls.answered(lambda: work(raises, 'a text with "my.function"'))
    print(answer["stop"], answer.get("fault", False))

told("InternalError", "Check failed: (it != end) is false", run_calls.compiled)
told("AssertionError", "", run_calls.compiled)
told("ValueError", "the axis is out of range", run_calls.compiled)
told("InternalError", "vectors of this length are not supported", run_calls.compiled)
told("InternalError", "Cannot find ffi::Function my.function in the kernel library", run_calls.compiled)
told("InternalError", "Cannot find ffi::Function of.tvm in the kernel library", run_calls.compiled)
told("RuntimeError", "CUDA runtime is not linked into this build", run_calls.ran)
"""


def test_a_build_fails_unless_its_message_names_a_limit():
    side = str(Path(real_tvm.__file__).parent / "tvm_side")
    done = subprocess.run([PYTHON, "-c", RAISES, side], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == [
        "rejected True",
        "rejected True",
        "rejected True",
        "rejected False",
        "unsupported False",
        "rejected True",
        "unsupported False",
    ]


READ_QUICKLY = """
import inspect
import sys
sys.path.insert(0, sys.argv[1])
import line_server
import tvm
from tvm.script import from_source
first = from_source(line_server.FIRST, check_well_formed=False)
looked, whole, stack = [], inspect.findsource, inspect.stack
inspect.findsource = lambda part: looked.append(part) or whole(part)
second = line_server.module_of(line_server.FIRST)
tvm.ir.assert_structural_equal(first, second)
print(len(looked), inspect.stack is stack)
from_source(line_server.FIRST, check_well_formed=False)
print(len(looked) > 0)
with line_server.frames_alone():
    def inner():
        return inspect.stack(), inspect.stack(1)
    short, long = inner()
print([each.frame for each in short] == [each.frame for each in long], short[0].function, len(long))
"""


def test_reading_a_text_looks_for_no_source_of_frames_and_gives_the_same_module():
    side = str(Path(real_tvm.__file__).parent / "tvm_side")
    done = subprocess.run([PYTHON, "-c", READ_QUICKLY, side], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == ["0 True", "True", "True inner 2"]


def test_a_batch_answers_as_separate_requests_do_whatever_ends_its_child(tvm):
    def divided(number):
        return ("main", [ints(number), ints(0)])

    module = refmlc.read(DIVIDE)
    requests = [
        Ask(module, (divided(7), divided(2))),
        Ask("this is no module", (divided(1),)),
        Ask(module, (divided(1), divided(0), divided(-7))),  # the second call ends the process
        Ask(module, (divided(3),)),
    ]
    assert tvm.batch > 1
    good, refused, crashed, last = tvm.answer_all(requests)
    assert [int(answer.args[1].numpy()[0]) for answer in (*good, *last)] == [1, 3, 2]
    assert refused.why is Stop.REJECTED
    assert int(crashed[0].args[1].numpy()[0]) == 7
    assert crashed[1].why is Stop.CRASHED
    assert "SIGFPE" in crashed[1].message
    assert int(crashed[2].args[1].numpy()[0]) == -1
