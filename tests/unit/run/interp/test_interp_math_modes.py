"""The two modes of the transcendentals, as a program meets them: operators, lanes, C's names, LLVM's names."""

import ctypes
import math

import numpy as np
import pytest

from refmlc import VirtualMachine, build, read
from refmlc.diag import RefmlcError

TINY = float(np.float32(1e-8))  # tanh of it is itself; TVM's formula gives 0
PLATFORM = ctypes.CDLL(None)


def text(expression, dtype="float32"):
    return f"""# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2,), "{dtype}"), R: T.Buffer((2,), "{dtype}")):
    for i in range(2):
        R[i] = {expression}
"""


def run(expression, values, dtype="float32", **options):
    operands, result = np.array(values, dtype), np.zeros(2, dtype)
    VirtualMachine(build(read(text(expression, dtype)), tier="interp", **options))["main"](operands, result)
    return result.tolist()


def test_the_default_mode_is_the_mathematical_function():
    assert run("T.tanh(A[i])", [TINY, 1.0]) == [TINY, float(np.float32(math.tanh(1.0)))]
    assert run("T.tanh(A[i])", [TINY, 1.0], math="cr") == [TINY, float(np.float32(math.tanh(1.0)))]


def test_an_operator_is_tvms_formula_in_mode_libm():
    assert run("T.tanh(A[i])", [TINY, 0.0], math="libm") == [0.0, 0.0]


@pytest.mark.parametrize("callee", ["call_pure_extern", "call_extern"])
def test_a_name_of_c_is_the_platforms_function_in_mode_libm(callee):
    found = run(f'T.{callee}("float32", "tanhf", A[i])', [TINY, 0.7], math="libm")
    tanhf = PLATFORM.tanhf
    tanhf.restype, tanhf.argtypes = ctypes.c_float, [ctypes.c_float]
    assert found == [TINY, tanhf(float(np.float32(0.7)))]


def test_a_name_of_llvm_is_the_platforms_function_in_mode_libm():
    """10 ** 3: TVM's formula is off at the eleventh digit."""
    exp10 = PLATFORM.exp10
    exp10.restype, exp10.argtypes = ctypes.c_double, [ctypes.c_double]
    call = 'T.call_llvm_pure_intrin("float64", "llvm.exp10.f64", A[i])'
    assert run(call, [3.0, 0.3], "float64", math="libm") == [exp10(3.0), exp10(0.3)]
    assert run("T.exp10(A[i])", [3.0, 0.3], "float64", math="libm")[0] == 1000.0000000178628


def test_lanes_take_the_mode_too():
    module = read("""# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), R: T.Buffer((4,), "float32")):
    R[0:4] = T.tanh(A[0:4])
""")
    for mode, wanted in (("cr", TINY), ("libm", 0.0)):
        result = np.ones(4, "float32")
        VirtualMachine(build(module, tier="interp", math=mode))["main"](np.full(4, TINY, "float32"), result)
        assert result.tolist() == [wanted] * 4


def test_no_other_mode_exists():
    with pytest.raises(RefmlcError) as failure:
        build(read(text("A[i]")), math="fast")
    assert failure.value.code.id == "RM112"
