"""Numbers of arguments of operators of devices: a number that TVM's function does not take is refused."""

import pytest

from refmlc.diag import Malformed, Unsupported
from refmlc.lang.script import read

HEAD = '# from tvm.script import tirx as T\n\n@T.prim_func\ndef main(A: T.Buffer((4,), "{0}"), n: T.int32):\n    {1}\n'
TAKEN = (
    "T.evaluate(T.cuda.ballot_sync(T.uint32(1), n))",
    "T.cuda.cta_sync()",
    "T.cuda.iket.range_push('a')",
    "T.cuda.iket.range_push('a', n)",
    "T.cuda.printf('%d %d', n, n)",
    "A[0] = T.cuda.ldg(T.address_of(A[1]), 'float32')",
    "T.cuda.ldg(T.address_of(A[0]), T.address_of(A[1]), A.data, 'float32', 'v2', 2)",
    "T.cuda.mma_fill_legacy(8, A.data, 0)",
    "T.cuda.mma_fill_legacy('float32', 8, A.data, 0)",
    "T.cuda.tcgen05.encode_matrix_descriptor(A.data, A.data, 1, 2, 3)",
    "T.ptx.add.f32(A[0], A[1], A[2])",
    "T.ptx.add(A[0], A[1], A[2], '', '', '', 'f32', '')",
    "T.ptx.add(A[0], A[1], A[2], T.bool(True), '', '', '', 'f32', 'pred')",
    "T.ptx.add.f32(A[0], A[1], A[2], pred=T.bool(True))",
    "T.ptx.mov(A[1], A[2], 'b64', 's0')",
)
REFUSED = {
    "T.evaluate(T.cuda.ballot_sync(T.uint32(1)))": "takes 2 arguments and gets 1",
    "T.cuda.cta_sync(n)": "takes 0 arguments and gets 1",
    "T.cuda.iket.range_push('a', n, n)": "takes 1 to 2 arguments and gets 3",
    "T.cuda.printf()": "takes at least 1 argument and gets 0",
    "T.cuda.mma_fill_legacy(8, A.data)": "takes 4 arguments and gets 2",
    "T.cuda.syncthreads_and(n, n)": "takes 1 argument and gets 2",
    "T.evaluate(T.cuda.ldg(A.data, A.data, A.data, A.data, 'float32', 'v2', 3))": "takes 2 to 4 arguments and gets 7",
    "T.evaluate(T.metal.simd_shuffle(A[0]))": "takes 2 arguments and gets 1",
    "T.ptx.add.f32(A[0], A[1])": "takes 3 operands and gets 2",
    "T.ptx.add(A[0], A[1], T.bool(True), '', '', '', 'f32', 'pred')": "takes 3 operands and gets 2",
    "T.ptx.add.f32(A[0], A[1], A[2], A[3])": "takes 3 operands and gets 4",
    "T.ptx.atom.global_.add.f32()": "takes at least 1 operand and gets 0",
}


@pytest.mark.parametrize("text", TAKEN)
def test_a_number_that_tvm_takes_is_read(text):
    read(HEAD.format("float32", text))


@pytest.mark.parametrize("text", REFUSED)
def test_another_number_is_refused(text):
    with pytest.raises(Malformed, match=REFUSED[text]) as caught:
        read(HEAD.format("float32", text))
    assert caught.value.code.id == "RM105"


@pytest.mark.parametrize("text", ["x: T.uint128", "T.evaluate(T.uint128(1))", "B = A.view('int128x2')"])
def test_dtypes_of_128_bits_are_refused_by_name(text):
    with pytest.raises(Unsupported, match="int128` is not supported") as caught:
        read(HEAD.format("float32", text))
    assert caught.value.code.id == "RM503"
