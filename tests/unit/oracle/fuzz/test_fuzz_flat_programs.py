"""Prim_funcs without blocks mean what they mean with them."""

from refmlc.lang.wellformed.reader_checks import checked, read
from refmlc.oracle.examine import examine
from refmlc.oracle.fuzz.subjects.flat_programs import has_blocks, without_blocks
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.pairs.contradiction import of_interpreter
from refmlc.oracle.pairs.equivalents import Variant
from refmlc.strategies.functions import rolled

SEEDS = 60
SUM = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2, 3), "int32"), X: T.Buffer((2,), "int32")):
    with T.sblock("root"):
        Y = T.sblock_alloc_buffer((2,), "int32")
        for i, k in T.grid(2, 4):
            with T.sblock("sum"):
                T.where(k < 3)
                v, r = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[v] = 5
                Y[v] = Y[v] + A[v, r]
        for i in range(2):
            with T.sblock("copy"):
                v = T.axis.spatial(2, i)
                X[v] = Y[v]
"""
FLAT = """# from tvm.script import tirx as T
@T.prim_func
def main(A: T.Buffer((2, 3), "int32"), X: T.Buffer((2,), "int32")):
    Y = T.alloc_buffer((2,), "int32")
    for i, k in T.grid(2, 4):
        if k < 3:
            v: T.let[T.int32] = i
            r: T.let[T.int32] = k
            if r == 0:
                Y[v] = 5
            Y[v] = Y[v] + A[v, r]
    for i in range(2):
        v: T.let[T.int32] = i
        X[v] = Y[v]
"""
VIEW = SUM.replace("X[v] = Y[v]", "Z = T.match_buffer(X[v], (), 'int32')\n                Z[()] = Y[v]")


def test_a_block_is_its_statements():
    assert str(without_blocks(read(SUM, "sum.py"))) == str(read(FLAT, "flat.py"))


def test_a_program_with_views_has_none_without_blocks():
    assert without_blocks(read(VIEW, "view.py")) is None


def test_the_interpreter_gives_the_same_bits_without_blocks():
    returned = 0
    for seed in range(SEEDS):
        case = rolled(seed, "", small=True)
        module = without_blocks(case.module)
        if module is None:
            continue
        checked(module)
        assert not has_blocks(module)
        flat = Variant(case, module, "without blocks", calls=case.calls)
        with_blocks, without = examine([case, flat], [])
        for call, pair in enumerate(zip(with_blocks.reference, without.reference, strict=True)):
            assert of_interpreter(flat, call, *pair) is None, seed
            returned += isinstance(pair[1].answer, Ended)
    assert returned > SEEDS // 2
