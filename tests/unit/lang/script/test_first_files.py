"""The first files of a new user of TVM: those that are right are read, those with a mistake name it."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.lang.wellformed.module import check_module

HEAD = "import numpy as np\nimport tvm\nfrom tvm.script import ir as I, relax as R, tirx as T\n\n"
GEMM = """
@T.prim_func(s_tir=True)
def gemm(A: T.Buffer((N, N), "float32"), B: T.Buffer((N, N), "float32"), C: T.Buffer((N, N), "float32")):
    for i, j, k in T.grid(N, N, N):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
INSIDE = GEMM.replace("\n", "\n    ")
RIGHT = {
    "a constant above": "N = 16\n" + GEMM,
    "a constant of constants": "TILE = 4\nN = TILE * 4\n" + GEMM,
    "a shape": "SHAPE = (16, 16)\nN = SHAPE[0]\n" + GEMM.replace("(N, N)", "SHAPE"),
    "a dtype": 'N, DTYPE = 16, "float" + str(32)\n' + GEMM.replace('"float32"', "DTYPE"),
    "a dtype in an f-string": 'N = 16\nBITS = 32\nDTYPE = f"float{BITS}"\n' + GEMM.replace('"float32"', "DTYPE"),
    "a main": "N = 16\n" + GEMM + "\nif __name__ == '__main__':\n    print(gemm)\n    tvm.compile(gemm)\n",
    "a print": "N = 16\n" + GEMM + "\nprint(gemm.script())\n",
    "a maker": f"def make(N):{INSIDE}\n    return gemm\n\nfunc = make(16)\n",
    "a maker with a default": f"def make(N=16):{INSIDE}\n    return gemm\n\nfunc = make()\n",
    "a maker with a half": f"def make(M):\n    N = M // 2{INSIDE}\n    return gemm\n\nfunc = make(M=32)\nprint(func)\n",
    "a maker and an assert": f"def make(N):\n    assert N % 4 == 0{INSIDE}\n    return gemm\n\nfunc = make(16)\n",
    "a function of tests": f"def test_gemm():\n    N = 16{INSIDE}\n    tvm.compile(gemm)\n",
    "a module with a constant": f"N = 16\n@I.ir_module\nclass Module:{INSIDE}\n",
    "a builtin function": "SIZES = [4, 8, 16]\nN = max(SIZES)\n" + GEMM,
    "a length": "TAPS = [1, 2, 3, 4]\nN = len(TAPS)\n" + GEMM,
    "a macro": "N = 16\n@T.macro\ndef add(C, i, j, x):\n    C[i, j] = C[i, j] + x\n"
    + GEMM.replace("C[vi, vj] = C[vi, vj] + A", "add(C, vi, vj, A").replace("B[vk, vj]", "B[vk, vj])"),
    "an inline function": "N = 16\n@T.inline\ndef zero(C, i, j):\n    C[i, j] = T.float32(0)\n"
    + GEMM.replace("C[vi, vj] = T.float32(0)", "zero(C, vi, vj)"),
    "data and a call": "N = 16\n" + GEMM + "\nrt = tvm.compile(gemm)\na = np.zeros((N, N), 'float32')\nrt(a, a, a)\n",
    "a decorator with arguments": "N = 16\n"
    + GEMM.replace("s_tir=True", "s_tir=True, private=True, check_well_formed=True"),
    "a choice": "WIDE = True\nN = 16 if WIDE else 8\n" + GEMM,
    "a logger": "import logging\nlogging.basicConfig(level=logging.INFO)\nN = 16\n" + GEMM,
    "a helper": "def ceildiv(a, b):\n    return (a + b - 1) // b\nN = ceildiv(61, 4)\n" + GEMM,
}
WRONG = {
    "a loop": ("N = 16\n" + GEMM.replace("T.grid", "T.grd"), "RM103", "`T.grid`"),
    "a dtype": ("N = 16\n" + GEMM.replace('"float32"', '"flaot32"', 1), "RM106", "`float32`"),
    "a buffer": ("N = 16\n" + GEMM.replace("T.Buffer", "T.bufer", 1), "RM103", "`T.Buffer`"),
    "a name": ("N = 16\n" + GEMM.replace("* B[", "* BB["), "RM104", "`B`"),
    "a constant": ("SIZE = 16\n" + GEMM.replace("N", "SIZ"), "RM104", "`SIZE`"),
    "a constant that changes": ("N = 16\nN += 1\n" + GEMM, "RM114", "--show"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_file_is_read(name):
    module = read(HEAD + RIGHT[name])
    assert check_module(module) == ()
    (size,) = {int(part.value) for buffer in module["gemm"].buffer_map.values() for part in buffer.shape}
    assert size == (4 if name == "a length" else 16)


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_named_with_the_way_out(name):
    text, code, proposal = WRONG[name]
    with pytest.raises(RefmlcError) as caught:
        read(HEAD + text)
    assert caught.value.code.id == code
    assert any(proposal in text for text in caught.value.diagnostic.helps)
