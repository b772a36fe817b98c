"""Instructions of PTX in a kernel (PTX-001, PTX-002, PTX-016, PTX-017, PTX-099): operands, memory, refusals."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.run.interp.machine import Machine

IDS = "T.device_entry()\nb = T.cta_id([1])\nt = T.thread_id([{threads}])\n"


def module_of(body, *arrays, threads=1):
    params = ", ".join(
        f"{name}: T.Buffer({item.shape}, '{item.dtype}')" for name, item in zip("ABCD", arrays, strict=False)
    )
    lines = "".join(f"    {line}\n" for line in (IDS.format(threads=threads) + body).split("\n"))
    return read(f"@T.prim_func\ndef f({params}):\n{lines}", "f.py")


def run(body, *arrays, threads=1):
    """Call the kernel of this body on arrays A, B, …, which it changes."""
    Machine(module_of(body, *arrays, threads=threads)).call("f", arrays)


def failure(body, *arrays, threads=1):
    with pytest.raises(RefmlcError) as caught:
        run(body, *arrays, threads=threads)
    return caught.value.diagnostic


def floats(*values):
    return np.array(values, "float32")


def words(*values):
    return np.array(values, "uint32")


# ------------------------------------------------------------------------------------------------- registers


def test_a_destination_is_an_element_or_a_scalar():
    out = floats(1, 2, 0)
    run("x: T.float32\nT.ptx.add.f32(x, A[0], A[1])\nT.ptx.mul.f32(A[2], x, x)", out)
    assert out.tolist() == [1, 2, 9]


@pytest.mark.parametrize(
    "call",
    [
        'T.ptx.add(A[2], A[0], A[1], "rz", "", "", "f32", "", "")',
        'T.ptx["add.rz.f32"](A[2], A[0], A[1])',
        "T.ptx.add.f32.rz(A[2], A[0], A[1])",
    ],
)
def test_modifiers_are_in_the_name_or_behind_the_operands(call):
    out = floats(1, 2**-24 + 2**-47, 0)
    run(call, out)
    assert out[2] == 1  # to nearest it is 1 + 2 ** -23


def test_all_operands_are_read_before_a_destination_is_written():
    out = words(5, 3)
    run("T.ptx.setp.lt.u32(A[0], A[1], A[0], A[1])", out)
    assert out.tolist() == [0, 1]


def test_a_number_in_the_text_has_the_type_of_its_operand():
    out = np.array([1, 0], "uint64")
    run("T.ptx.add.u64(A[1], A[0], 7)\nT.ptx.and_.b64(A[0], A[1], -2)", out)
    assert out.tolist() == [8, 8]


def test_a_register_of_bits_holds_a_float():
    bits, out = words(0), floats(-2)
    run(
        "T.ptx.mov.b32(A[0], B[0])\nT.ptx.xor.b32(A[0], A[0], T.uint32(0x80000000))\nT.ptx.mov.b32(B[0], A[0])",
        bits,
        out,
    )
    assert bits[0] == 0x40000000
    assert out[0] == 2


def test_the_bits_of_a_nan_in_a_float_are_not_known():
    found = failure("T.ptx.mov.b32(A[0], B[0])", words(0), floats(np.nan))
    assert found.code.id == "RM502"
    assert "`mov.b32` of a NaN" in found.message


def test_a_nan_moves_from_float_to_float():
    out = floats(np.nan, 0)
    run("T.ptx.mov.b32(A[1], A[0])\nT.ptx.selp.b32(A[0], A[1], A[1], True)", out)
    assert np.isnan(out).all()


def test_a_nan_written_to_an_integer_register_has_all_bits_but_the_sign():
    out = np.array([0x7C00, 0xFC00, 0], "uint16")
    run("T.ptx.add.f16(A[2], A[0], A[1])", out)
    assert out[2] == 0x7FFF


def test_two_predicates_and_a_choice():
    out = words(0, 0, 5, 9)
    run("T.ptx.setp.lt.u32(A[0], A[1], A[2], A[3])\nT.ptx.selp.u32(A[2], A[2], A[3], T.ptx.pred(A[1]))", out)
    assert out.tolist() == [1, 0, 9, 9]


def test_a_result_is_extended_to_a_wider_register():
    signed, unsigned = np.array([0, 0], "int32"), words(0x80, 0)
    run("T.ptx.cvt.s8.u32(A[0], B[0])\nT.ptx.cvt.u8.u32(A[1], B[0])", signed, unsigned)
    assert signed.tolist() == [-128, 128]


def test_a_sunk_register_is_not_written():
    out = np.array([7, 7], "uint16")
    run("x: T.uint32\nT.ptx.mov.b32(x, A[0], A[1])\nA[0] = T.uint16(1)\nT.ptx.mov.b32(T.ptx.SINK, A[1], x)", out)
    assert out.tolist() == [1, 7]


@pytest.mark.parametrize(("predicate", "kept"), [("True", 3), ("False", 5)])
def test_a_false_predicate_keeps_what_the_call_preserves(predicate, kept):
    out = floats(1, 2, 5)
    run(f"T.ptx.add.f32(A[2], A[0], A[1], pred=A[0] > T.float32(0) and {predicate}, preserve_dst=True)", out)
    assert out[2] == kept


def test_a_destination_that_is_not_written_has_no_value():
    found = failure("T.ptx.add.f32(A[2], A[0], A[1], pred=False)\nA[0] = A[2]", floats(1, 2, 5))
    assert found.code.id == "RM305"


def test_a_division_by_0_is_undefined():
    assert failure("T.ptx.div.u32(A[0], A[0], A[1])", words(1, 0)).code.id == "RM307"


# --------------------------------------------------------------------------------------------------- memory


def test_a_vector_is_loaded_and_stored():
    data, out = floats(0, 1, 2, 3, 4, 5, 6, 7), floats(*[0] * 8)
    body = (
        "r = T.alloc_local((4,), 'float32')\n"
        "T.ptx.ld.global_.v4.f32(r[0], r[1], r[2], r[3], A.ptr_to([4]))\n"
        "T.ptx.st.v2.f32(T.ptx.addr(B.ptr_to([0]), 8), r[3], r[0])"
    )
    run(body, data, out)
    assert out.tolist() == [0, 0, 7, 4, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("kind", "dtype", "value"), [("u8", "uint32", 0xFE), ("s8", "int32", -2), ("b8", "uint32", 0xFE)]
)
def test_a_byte_is_extended_to_a_wider_register(kind, dtype, value):
    data, out = np.array([0, 0xFE], "uint8"), np.zeros(1, dtype)
    run(f"T.ptx.ld.global_.{kind}(B[0], A.ptr_to([1]))", data, out)
    assert out[0] == value


def test_the_low_bits_of_a_register_are_stored():
    data, out = words(0x12345678), np.array([0, 0], "uint8")
    run("T.ptx.st.u8(B.ptr_to([1]), A[0])", data, out)
    assert out.tolist() == [0, 0x78]


def test_memory_of_other_elements_is_read_as_bits():
    data, out = np.array([1.0, 2.0], "float16"), words(0)
    run("T.ptx.ld.b32(B[0], A.ptr_to([0]))", data, out)
    assert out[0] == 0x4000_3C00


def test_shared_memory_is_reached_by_its_address():
    out = words(0, 0)
    body = (
        "S = T.alloc_shared((4,), 'uint32')\n"
        "T.ptx.st.shared.b32(T.cuda.cvta_generic_to_shared(S.ptr_to([1])), T.uint32(9))\n"
        "T.ptx.ld.shared.u32(A[0], S.ptr_to([1]))"
    )
    run(body, out)
    assert out.tolist() == [9, 0]


@pytest.mark.parametrize(
    ("call", "code", "words_"),
    [
        ("T.ptx.ld.v2.f32(A[0], A[1], A.ptr_to([1]))", "RM313", "it is not aligned"),
        ("T.ptx.ld.v2.f32(A[0], A[1], A.ptr_to([4]))", "RM304", "out of bounds"),
        ("T.ptx.ld.f32(A[0], T.ptx.addr(A.ptr_to([0]), 16))", "RM304", "beyond its storage"),
        ("T.ptx.ld.shared.f32(A[0], A.ptr_to([0]))", "RM313", "accesses shared memory, the address is in `global`"),
        ("r = T.alloc_local((2,), 'float32')\nT.ptx.ld.f32(A[0], r.ptr_to([0]))", "RM305", "never written"),
        ("T.ptx.ld.mmio.relaxed.sys.global_.f32(A[0], A.ptr_to([0]))", "RM502", "memory of devices"),
    ],
)
def test_accesses_that_fail(call, code, words_):
    found = failure(call, floats(1, 2, 3, 4))
    assert found.code.id == code
    assert words_ in found.message + found.label


def test_discarded_memory_has_no_value():
    data = floats(*range(64))
    found = failure("T.ptx.discard.global_.L2(A.ptr_to([32]))\nA[0] = A[31]\nA[1] = A[32]", data)
    assert found.code.id == "RM305"
    assert data[0] == 31


@pytest.mark.parametrize("call", ["setmaxnreg.dec.sync.aligned.u32(256)", "griddepcontrol.wait()"])
def test_what_has_no_effect_on_values(call):
    data = floats(1, 2)
    run(f"T.ptx.{call}\nA[0] = A[1]", data)
    assert data[0] == 2


def test_a_prefetch_does_nothing_wherever_it_points():
    data = floats(1)
    run("T.ptx.prefetch.global_.L2(A.ptr_to([99]))", data)
    assert data[0] == 1


# ------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("T.ptx.sin.approx.f32(A[0], T.float32(400))", "beyond 100 pi PTX states no error"),
        ("T.ptx.div.full.f32(A[0], A[1], T.float32(0))", "or of a division by 0"),
        ("x: T.float64\nT.ptx.rsqrt.approx.f64(x, T.float64(2))", "of an approximation of f64 PTX states no error"),
        (
            "x: T.uint32\nT.ptx.cvt.rs.satfinite.e4m3x4.f32(x, A[0], A[0], A[0], A[0], T.uint32(0))",
            "which random bits belong to which of four numbers is not said",
        ),
    ],
)
def test_an_instruction_without_a_meaning_is_unsupported_by_name(call, why):
    found = failure(call, floats(1, 2))
    assert found.code.id == "RM502"
    assert why in found.message


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("T.ptx.add.sat.f64(A[0], A[0], A[0])", "`.sat` goes with f32 only"),
        ("T.ptx.max.u32(A[0], A[1], A[0], A[1])", "it takes 3 operands, 4 given"),
        ("T.ptx.add.u32(A[0], A[0], A[0])", "`d` is of u32, float32 given"),
        ("T.ptx.fma.f32(A[0], A[0], A[0], A[0])", "it needs a modifier for rnd"),
        ("T.ptx.add.f32(T.float32(1), A[0], A[0])", "no scalar or element that can be written"),
        ("T.ptx.ld.relaxed.f32(A[0], A.ptr_to([0]))", "need a scope"),
        ("T.ptx.setmaxnreg.inc.sync.aligned.u32(25)", "`nreg` is not 25"),
    ],
)
def test_a_call_that_is_none_is_ill_formed(call, why):
    problems = check_module(module_of(call, floats(1, 2)))
    assert [problem.code.id for problem in problems] == ["RM201"]
    assert why in problems[0].message


def test_a_wrong_number_of_operands_is_refused_when_read():
    found = failure("T.ptx.add.f32(A[0], A[1])", floats(1, 2))
    assert found.code.id == "RM105"
    assert "takes 3 operands and gets 2" in found.message
