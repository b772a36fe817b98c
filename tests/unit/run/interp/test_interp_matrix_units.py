"""Matrix units (TIM-001 … TIM-006): expected values are NumPy's, of matrices laid out by the tables of PTX."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

RNG = np.random.default_rng(7)


def call(text, *arrays):
    """Call `f` on arrays, which it changes."""
    module = read(text, "f.py")
    func = module.functions["f"]
    names = [func.buffer_map[parameter] for parameter in func.params]
    Machine(module).call(
        "f", [Tensor.from_numpy(item, buffer.dtype) for item, buffer in zip(arrays, names, strict=True)]
    )


def failure(text, *arrays):
    with pytest.raises(RefmlcError) as caught:
        call(text, *arrays)
    return caught.value


def kernel(params, body, *, dialect="s_tir=True", threads=32):
    """A function whose body 32 threads execute."""
    lines = "".join(f"        {line}\n" for line in body.strip().split("\n"))
    head = f"    for t in T.thread_binding({threads}, thread='threadIdx.x'):\n"
    return f"@T.prim_func({dialect})\ndef f({params}):\n{head}{lines}"


# ------------------------------------------------------------------------------------------------ mma


def registers(rows, columns, bits, *, of_b=False):
    """Row and column of each element that each lane holds, as PTX draws them for A (or B) of 32-bit registers."""
    held, packed = [], 32 // bits
    for lane in range(32):
        group, thread = lane // 4, lane % 4
        own = []
        for half in range(max(1, (rows if of_b else columns) // (4 * packed))):
            for upper in range(1 if of_b or rows == 8 else 2):
                for element in range(packed):
                    inner = thread * packed + element + 4 * packed * half
                    own.append((inner, group) if of_b else (group + 8 * upper, inner))
        held.append(own)
    return held


def sums(rows):
    """The same for C and D."""
    return [
        [(lane // 4 + 8 * upper, 2 * (lane % 4) + element) for upper in range(rows // 8) for element in (0, 1)]
        for lane in range(32)
    ]


def taken(matrix, places):
    """What the lanes hold of a matrix, in memory of (32, n)."""
    return np.array([[matrix[place] for place in own] for own in places], matrix.dtype)


FORMS = [
    ("m16n8k8", "float16", "float32", 16),
    ("m16n8k16", "float16", "float32", 16),
    ("m16n8k16", "float16", "float16", 16),
    ("m8n8k16", "int8", "int32", 8),
    ("m16n8k16", "int8", "int32", 8),
    ("m16n8k32", "int8", "int32", 8),
    ("m16n8k32", "uint8", "int32", 8),
    ("m8n8k32", "int4", "int32", 4),
    ("m16n8k32", "uint4", "int32", 4),
    ("m16n8k64", "int4", "int32", 4),
    ("m16n8k128", "int1", "int32", 1),
    ("m16n8k256", "int1", "int32", 1),
]


def mma_text(shape, element, result, counts, extra=""):
    a, b, c = counts
    params = ", ".join(
        f"{name}: T.Buffer((32, {count}), '{kind}', scope='warp')"
        for name, count, kind in zip("ABC", counts, (element, element, result), strict=True)
    )
    operands = f"A.data, t * {a}, B.data, t * {b}, C.data, t * {c}, {extra or 'False'}"
    call = (
        f"T.ptx_legacy.mma('{shape}', 'row', 'col', '{element}', '{element}', '{result}', {operands}, dtype='{result}')"
    )
    return kernel(params, call)


@pytest.mark.parametrize(("shape", "element", "result", "bits"), FORMS)
def test_mma_is_the_product_of_the_matrices_that_the_lanes_hold(shape, element, result, bits):
    m, n, k = (int(part) for part in shape.replace("m", " ").replace("n", " ").replace("k", " ").split())
    low, high = (-3, 4) if element in ("int8", "int4", "float16") else (0, 2 if bits == 1 else 4)
    kind = storage_dtype(dtype(element))
    a, b = RNG.integers(low, high, (m, k)).astype(kind), RNG.integers(low, high, (k, n)).astype(kind)
    c = RNG.integers(-9, 9, (m, n)).astype(result)
    held_a, held_b, held_c = registers(m, k, bits), registers(k, n, bits, of_b=True), sums(m)
    arrays = [taken(a, held_a), taken(b, held_b), taken(c, held_c)]
    text = mma_text(shape, element, result, [array.shape[1] for array in arrays], "False, 'xor'" if bits == 1 else "")
    call(text, *arrays)
    wide_a, wide_b = a.astype("int64"), b.astype("int64")
    product = wide_a @ wide_b
    if bits == 1:
        product = ((wide_a[:, :, None] & 1) != (wide_b[None, :, :] & 1)).sum(axis=1)
    assert arrays[2].tolist() == taken((product + c).astype(result), held_c).tolist()


def test_float64_has_an_element_in_each_register():
    a, b = RNG.integers(-3, 4, (8, 4)).astype("float64"), RNG.integers(-3, 4, (4, 8)).astype("float64")
    held_a = [[(lane // 4, lane % 4)] for lane in range(32)]
    held_b = [[(lane % 4, lane // 4)] for lane in range(32)]
    c = np.ones((8, 8))
    arrays = [taken(a, held_a), taken(b, held_b), taken(c, sums(8))]
    call(mma_text("m8n8k4", "float64", "float64", (1, 1, 2)), *arrays)
    assert arrays[2].tolist() == taken(a @ b + c, sums(8)).tolist()


def test_integers_wrap_and_saturate():
    ones = np.full((32, 16), 127, "int8"), np.full((32, 8), 127, "int8")
    start = np.full((32, 4), 2**31 - 1, "int32")
    wrapped, limited = start.copy(), start.copy()
    call(mma_text("m16n8k32", "int8", "int32", (16, 8, 4)), *ones, wrapped)
    call(mma_text("m16n8k32", "int8", "int32", (16, 8, 4), "True"), *ones, limited)
    assert set(wrapped.ravel().tolist()) == {2**31 - 1 + 32 * 127 * 127 - 2**32}
    assert set(limited.ravel().tolist()) == {2**31 - 1}


def test_a_saturated_sum_that_depends_on_the_order_has_no_value():
    a, b = np.full((32, 16), 1, "int8"), np.full((32, 8), 1, "int8")
    a[:, 0] = -1
    caught = failure(
        mma_text("m16n8k32", "int8", "int32", (16, 8, 4), "True"), a, b, np.full((32, 4), 2**31 - 2, "int32")
    )
    assert caught.code.id == "RM502"
    assert "order" in caught.diagnostic.message


@pytest.mark.parametrize(
    ("value", "start", "reason"),
    [
        (2048.0, 1.0, "takes 27 bits"),
        (6e-5, 0.0, "subnormal"),
        (float("inf"), 0.0, "an element is inf"),
        (float("nan"), 0.0, "an element is nan"),
    ],
)
def test_a_float_sum_that_order_or_width_change_has_no_value(value, start, reason):
    a, b = np.full((32, 8), value, "float16"), np.full((32, 4), value, "float16")
    caught = failure(mma_text("m16n8k16", "float16", "float32", (8, 4, 4)), a, b, np.full((32, 4), start, "float32"))
    assert caught.code.id == "RM502"
    assert reason in caught.diagnostic.message


def test_the_widest_sum_of_floats_that_no_order_changes_has_a_value():
    a, b = np.full((32, 8), 2.0**9, "float16"), np.full((32, 4), 2.0**10, "float16")
    c = np.full((32, 4), 2.0**24 - 1, "float32")
    caught = failure(mma_text("m16n8k16", "float16", "float32", (8, 4, 4)), a, b, c)
    assert "takes 25 bits" in caught.diagnostic.message
    c[:] = 2.0**24 - 16 * 2.0**19 - 1
    call(mma_text("m16n8k16", "float16", "float32", (8, 4, 4)), a, b, c)
    assert set(c.ravel().tolist()) == {2.0**24 - 1}


def test_elements_of_8_bits_are_summed_in_half_precision_at_least():
    ones = np.full((32, 16), 0x38, "uint8"), np.full((32, 8), 0x38, "uint8")  # 1.0 of e4m3
    one, two = np.full((32, 4), 2.0**11 - 33, "float32"), np.full((32, 4), 2.0**11, "float32")
    text = mma_text("m16n8k32", "float8_e4m3fn", "float32", (16, 8, 4))
    storage = storage_dtype(dtype("float8_e4m3fn"))
    operands = [array.view(storage) for array in ones]
    call(text, *operands, one)
    assert set(one.ravel().tolist()) == {2.0**11 - 1}
    assert "takes 12 bits" in failure(text, *operands, two).diagnostic.message


def test_negative_zeros_alone_have_no_sign():
    a, b, c = np.zeros((32, 8), "float16"), np.full((32, 4), -1, "float16"), np.full((32, 4), -0.0, "float32")
    assert (
        "negative zeros" in failure(mma_text("m16n8k16", "float16", "float32", (8, 4, 4)), a, b, c).diagnostic.message
    )
    c[:] = 0.0
    call(mma_text("m16n8k16", "float16", "float32", (8, 4, 4)), a, b, c)
    assert not np.signbit(c).any()


def test_a_form_that_ptx_has_not_is_refused():
    arrays = np.zeros((32, 8), "float16"), np.zeros((32, 4), "float16"), np.zeros((32, 4), "float32")
    caught = failure(mma_text("m16n8k32", "float16", "float32", (8, 4, 4)), *arrays)
    assert caught.code.id == "RM502"
    assert "m16n8k32" in caught.diagnostic.message


def test_an_instruction_takes_its_registers_as_elements():
    body = """
words = T.decl_buffer((32, 2), "uint32", data=A.data)
T.ptx.mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32(
    D[t, 0], D[t, 1], D[t, 2], D[t, 3], words[t, 0], words[t, 1], B[t], C[t, 0], C[t, 1], C[t, 2], C[t, 3]
)
"""
    params = (
        "A: T.Buffer((32, 4), 'float16'), B: T.Buffer((32,), 'uint32'), "
        "C: T.Buffer((32, 4), 'float32'), D: T.Buffer((32, 4), 'float32')"
    )
    a, b = RNG.integers(-3, 4, (16, 8)).astype("float16"), RNG.integers(-3, 4, (8, 8)).astype("float16")
    c = RNG.integers(-3, 4, (16, 8)).astype("float32")
    words = taken(b, registers(8, 8, 16, of_b=True)).view("uint32")[:, 0].copy()
    out = np.zeros((32, 4), "float32")
    call(kernel(params, body), taken(a, registers(16, 8, 16)), words, taken(c, sums(16)), out)
    assert out.tolist() == taken((a @ b).astype("float32") + c, sums(16)).tolist()


# ------------------------------------------------------------------------------------------- movement

LOAD = """
T.ptx.ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16(
    R[t, 0], R[t, 1], R[t, 2], R[t, 3], T.cuda.cvta_generic_to_shared(T.address_of(S[t % 16, t // 16 * 8]))
)
"""
STORE = """
T.ptx.stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16(
    T.cuda.cvta_generic_to_shared(T.address_of(S[t % 16, t // 16 * 8])), R[t, 0], R[t, 1], R[t, 2], R[t, 3]
)
"""
TILE = "S: T.Buffer((16, 16), 'uint16'), R: T.Buffer((32, 4), 'uint32')"


def quarters(matrix):
    """The four matrices of 8 by 8 in the order of the lanes that point to their rows."""
    return [matrix[8 * (i % 2) : 8 * (i % 2) + 8, 8 * (i // 2) : 8 * (i // 2) + 8] for i in range(4)]


@pytest.mark.parametrize("trans", ["", ".trans"])
def test_ldmatrix_and_stmatrix_move_8_by_8_matrices(trans):
    shared = np.arange(256, dtype="uint16").reshape(16, 16)
    out, back = np.zeros((32, 4), "uint32"), np.zeros((16, 16), "uint16")
    call(kernel(TILE, LOAD.format(trans=trans)), shared, out)
    parts = [part.T if trans else part for part in quarters(shared)]
    for lane in range(32):
        for number, part in enumerate(parts):
            low, high = part[lane // 4, 2 * (lane % 4)], part[lane // 4, 2 * (lane % 4) + 1]
            assert int(out[lane, number]) == int(low) + (int(high) << 16)
    call(kernel(TILE, STORE.format(trans=trans)), back, out)
    assert back.tolist() == shared.tolist()


def test_movmatrix_transposes_registers():
    body = "T.ptx.movmatrix.sync.aligned.m8n8.trans.b16(D[t], S[t])"
    matrix = np.arange(64, dtype="uint16").reshape(8, 8)
    source, out = matrix.view("uint32").ravel().copy(), np.zeros(32, "uint32")
    call(kernel("S: T.Buffer((32,), 'uint32'), D: T.Buffer((32,), 'uint32')", body), source, out)
    assert out.view("uint16").reshape(8, 8).tolist() == matrix.T.tolist()


def test_a_row_begins_at_a_multiple_of_16_bytes():
    text = kernel(TILE, LOAD.format(trans="").replace("t // 16 * 8", "t // 16 * 4"))
    assert failure(text, np.zeros((16, 16), "uint16"), np.zeros((32, 4), "uint32")).code.id == "RM313"


def test_forms_of_bytes_are_refused():
    text = kernel(TILE, LOAD.format(trans="").replace("b16", "b8"))
    assert failure(text, np.zeros((16, 16), "uint16"), np.zeros((32, 4), "uint32")).code.id == "RM502"


def test_all_threads_of_the_warp_have_to_come():
    body = LOAD.format(trans="").strip().replace("\n", "\n    ")
    text = kernel(TILE, f"if t < 16:\n    {body}")
    assert failure(text, np.zeros((16, 16), "uint16"), np.zeros((32, 4), "uint32")).code.id == "RM327"


def test_a_warp_has_32_threads():
    text = kernel(TILE, LOAD.format(trans=""), threads=16)
    assert failure(text, np.zeros((16, 16), "uint16"), np.zeros((32, 4), "uint32")).code.id == "RM502"


def test_a_thread_fills_and_stores_its_part():
    fill = kernel("W: T.Buffer((32, 8), 'int32', scope='warp')", "T.cuda.mma_fill_legacy(8, W.data, 0, dtype='int32')")
    out = np.full((32, 8), 5, "int32")
    call(fill, out)
    assert not out.any()
    store = kernel(
        "W: T.Buffer((32, 8), 'int32', scope='warp'), M: T.Buffer((16, 20), 'int32')",
        "T.cuda.mma_store_legacy(16, 16, M.data, W.data, 0, 20, dtype='int32')",
    )
    held, matrix = np.arange(256, dtype="int32").reshape(32, 8), np.full((16, 20), -1, "int32")
    call(store, held, matrix)
    expected = np.full((16, 20), -1, "int32")
    for row in range(16):
        for column in range(16):
            expected[row, column] = held[4 * (row % 8) + column % 8 // 2, 4 * (column // 8) + row // 8 * 2 + column % 2]
    assert matrix.tolist() == expected.tolist()


# ------------------------------------------------------------------------------------- whole matrices

WHOLE = """@T.prim_func(s_tir=True)
def f(A: T.Buffer((16, 24), "{kind}"), B: T.Buffer(({rows}, {columns}), "{kind}"), C: T.Buffer((16, 16), "{result}")):
    a = T.alloc_buffer((16, 16), "{kind}", scope="wmma.matrix_a")
    b = T.alloc_buffer((16, 16), "{kind}", scope="wmma.matrix_b")
    c = T.alloc_buffer((2, 16, 16), "{result}", scope="wmma.accumulator")
    {threads}T.tvm_load_matrix_sync(a.data, 16, 16, 16, 0, A.data, 24, "row_major")
    {indent}T.tvm_load_matrix_sync(b.data, 16, 16, 16, 0, B.data, {columns}, "{layout}")
    {indent}T.tvm_fill_fragment(c.data, 16, 16, 16, 1, T.float32(2))
    {indent}T.tvm_mma_sync(c.data, 1, a.data, 0, b.data, 0, c.data, 1)
    {indent}T.tvm_store_matrix_sync(c.data, 16, 16, 16, 1, C.data, 16, "row_major")
"""


def whole(kind, result, layout="row_major", *, threads=False):
    head = "for t in T.thread_binding(32, thread='threadIdx.x'):\n        " if threads else ""
    return WHOLE.format(
        kind=kind, result=result, layout=layout, rows=16, columns=20, threads=head, indent="    " if threads else ""
    )


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("layout", ["row_major", "col_major"])
@pytest.mark.parametrize(("kind", "result"), [("float16", "float32"), ("float16", "float16"), ("int8", "int32")])
def test_wmma_multiplies_whole_matrices(kind, result, layout, threads):
    a, b = RNG.integers(-3, 4, (16, 24)).astype(kind), RNG.integers(-3, 4, (16, 20)).astype(kind)
    out = np.zeros((16, 16), result)
    call(whole(kind, result, layout, threads=threads), a, b, out)
    right = b[:, :16].astype("int64")
    expected = a[:, :16].astype("int64") @ (right.T if layout == "col_major" else right) + 2
    assert out.astype("int64").tolist() == expected.tolist()


def test_the_threads_of_a_warp_bring_the_same_operands():
    text = whole("int8", "int32", threads=True).replace("C.data, 16, ", "C.data, 16 + t, ")
    caught = failure(text, np.zeros((16, 24), "int8"), np.zeros((16, 20), "int8"), np.zeros((16, 16), "int32"))
    assert caught.code.id == "RM329"


def test_a_matrix_that_was_never_written_is_undefined():
    text = whole("int8", "int32").replace("T.tvm_fill_fragment(c.data, 16, 16, 16, 1, T.float32(2))", "pass")
    text = text.replace("    pass\n", "")
    caught = failure(text, np.zeros((16, 24), "int8"), np.zeros((16, 20), "int8"), np.zeros((16, 16), "int32"))
    assert caught.code.id == "RM305"


def test_a_shape_that_wmma_has_not_is_refused():
    text = whole("int8", "int32").replace("16, 16, 16", "16, 16, 8")
    caught = failure(text, np.zeros((16, 24), "int8"), np.zeros((16, 20), "int8"), np.zeros((16, 16), "int32"))
    assert caught.code.id == "RM502"


def test_metal_multiplies_8_by_8():
    text = """@T.prim_func(s_tir=True)
def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    a = T.alloc_buffer((3, 64), "float32", scope="metal.simdgroup")
    T.metal.simdgroup_load(a.data, 0, A.data, 8, 8, 8, False)
    T.metal.simdgroup_load(a.data, 1, B.data, 8, 8, 8, True)
    T.metal.make_filled_simdgroup_matrix(a.data, 2, T.float32(1), 8, 8)
    T.metal.simdgroup_multiply_accumulate(a.data, 2, a.data, 0, a.data, 1, a.data, 2)
    T.metal.simdgroup_store(a.data, 2, C.data, 8, 8, 8, False)
"""
    a, b = (RNG.integers(-3, 4, (8, 8)).astype("float32") for _ in range(2))
    out = np.zeros((8, 8), "float32")
    call(text, a, b, out)
    assert out.tolist() == (a @ b.T + 1).tolist()


POINTER = 'T.tvm_access_ptr(T.type_annotation("{}"), {}.data, {}, 256, {})'
LOADED = """@T.prim_func
def main(A: T.Buffer((512,), "float16"), C: T.Buffer((512,), "float32")):
    ty = T.env_thread("threadIdx.y")
    tx = T.env_thread("threadIdx.x")
    T.launch_thread(ty, 2)
    S = T.alloc_buffer((512,), "float16", scope="shared")
    sums = T.alloc_buffer((256,), "float32", scope="wmma.accumulator")
    left = T.alloc_buffer((256,), "float16", scope="wmma.matrix_a")
    right = T.alloc_buffer((256,), "float16", scope="wmma.matrix_b")
    T.tvm_fill_fragment(sums.data, 16, 16, 16, 0, T.float32(0))
    for k in range(8):
        with T.launch_thread(tx, 32):
            S[ty * 256 + k * 32 + tx] = A[ty * 256 + k * 32 + tx]
    T.tvm_load_matrix_sync(left.data, 16, 16, 16, 0, {first}, 16, "row_major")
    T.tvm_load_matrix_sync(right.data, 16, 16, 16, 0, {second}, 16, "row_major")
    T.tvm_mma_sync(sums.data, 0, left.data, 0, right.data, 0, sums.data, 0)
    T.tvm_store_matrix_sync(sums.data, 16, 16, 16, 0, {out}, 16, "row_major")
""".format(
    first=POINTER.format("float16", "S", 0, 1),
    second=POINTER.format("float16", "S", 256, 1),
    out=POINTER.format("float32", "C", "ty * 256", 2),
)


def test_what_another_warp_wrote_is_there_where_a_compiler_puts_the_barrier():  # TIR-227
    a, c = (np.arange(512) % 5).astype("float16"), np.zeros(512, "float32")
    Machine(read(LOADED, "f.py")).call("main", [a, c])
    product = a[:256].reshape(16, 16).astype("float32") @ a[256:].reshape(16, 16).astype("float32")
    assert np.array_equal(c.reshape(2, 16, 16), np.stack([product, product]))
