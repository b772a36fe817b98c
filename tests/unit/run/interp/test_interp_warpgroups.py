"""Products of warpgroups (TIM-011 … TIM-013): expected values are NumPy's, layouts those of PTX's tables."""

import numpy as np
import pytest
from shared_matrices import across_k, along_k, distances, packed

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.script import read
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

RNG = np.random.default_rng(11)
FORMS = {  # the elements of A, k, bits, and the elements of D
    "f16": ("float16", 16, 16, "float32"),
    "bf16": ("bfloat16", 16, 16, "float32"),
    "tf32": ("float32", 8, 32, "float32"),
    "e4m3": ("float8_e4m3fn", 32, 8, "float32"),
    "s8": ("int8", 32, 8, "int32"),
    "u8": ("uint8", 32, 8, "int32"),
    "b1": ("uint8", 256, 1, "int32"),
}
SIZE = 8192
NAMES = {"float32": "f32", "float16": "f16", "int32": "s32"}


def kernel(words, n, own, rest, extra="", after="", mode=3, size=SIZE):
    """A kernel whose 128 threads multiply what is in SA and SB; each writes its registers to a row of O."""
    registers = ", ".join(f"d[{i}]" for i in range(own))
    return f"""
@T.prim_func
def f(A: T.Buffer(({size},), "uint8"), B: T.Buffer(({size},), "uint8"), R: T.Buffer((128, 4), "uint32"),
      O: T.Buffer((128, {own}), "uint32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([128])
    SA = T.alloc_buffer(({size},), "uint8", scope="shared", align=1024)
    SB = T.alloc_buffer(({size},), "uint8", scope="shared", align=1024)
    da = T.alloc_local((1,), "uint64")
    db = T.alloc_local((1,), "uint64")
    d = T.alloc_local(({own},), "uint32")
    a = T.alloc_local((4,), "uint32")
    for i in range({size // 128}):
        SA[i * 128 + t] = A[i * 128 + t]
        SB[i * 128 + t] = B[i * 128 + t]
    for i in range(4):
        a[i] = R[t, i]
    for i in range({own}):
        d[i] = O[t, i]
    T.ptx.fence.proxy.async_.shared__cta()
    T.cuda.cta_sync()
    T.cuda.wgmma.encode_matrix_descriptor(T.address_of(da[0]), SA.data, {rest["a"][0]}, {rest["a"][1]}, {mode})
    T.cuda.wgmma.encode_matrix_descriptor(T.address_of(db[0]), SB.data, {rest["b"][0]}, {rest["b"][1]}, {mode})
    T.ptx.wgmma.fence.sync.aligned()
{extra}    T.ptx["wgmma.mma_async.sync.aligned.m64n{n}{words}"]({registers}, {rest["operands"]})
    T.ptx.wgmma.commit_group.sync.aligned()
{after}    T.ptx.wgmma.wait_group.sync.aligned(0)
    for i in range({own}):
        T.cuda.wgmma.noop_barrier(d[i])
        O[t, i] = d[i]
"""


def held(matrix):
    """What the 128 threads hold of a matrix of 64 rows, as the figure of PTX draws it: (128, n div 2)."""
    n = matrix.shape[1]
    rows = [[16 * (t // 32) + t % 32 // 4 + 8 * (i // 2 % 2) for i in range(n // 2)] for t in range(128)]
    columns = [[8 * (i // 4) + 2 * (t % 4) + i % 2 for i in range(n // 2)] for t in range(128)]
    return np.ascontiguousarray(matrix[rows, columns])


def fragments(matrix):
    """The four registers of A that each of the 128 threads holds."""
    own = 4 // matrix.dtype.itemsize
    rows = [[16 * (t // 32) + t % 32 // 4 + 8 * (r % 2) for r in range(4) for _ in range(own)] for t in range(128)]
    columns = [[own * (t % 4) + e + 4 * own * (r // 2) for r in range(4) for e in range(own)] for t in range(128)]
    return np.ascontiguousarray(matrix[rows, columns]).view("uint32")


def numbers(kind, shape):
    low, high = {"uint8": (0, 9)}.get(kind, (-3, 4))
    return RNG.integers(low, high, shape).astype(storage_dtype(dtype(kind)))


def multiplied(text, a, b, c, registers=None):
    """The kernel's O for these memories and sums."""
    out = held(c).view("uint32").copy()
    whole = np.zeros((128, 4), "uint32") if registers is None else registers
    module = read(text, "f.py")
    Machine(module).call("f", [Tensor.from_numpy(array) for array in (a, b, whole, out)])
    return out


@pytest.mark.parametrize(
    ("name", "chunks"),
    [("f16", 1), ("f16", 8), ("bf16", 4), ("tf32", 2), ("tf32", 8), ("e4m3", 1), ("s8", 2), ("u8", 4), ("s8", 8)],
)
def test_matrices_along_k_in_shared_memory(name, chunks):
    kind, k, bits, result = FORMS[name]
    nbytes, n = bits // 8, 16
    a, b, c = numbers(kind, (64, k)), numbers(kind, (n, k)), numbers(result, (64, n))
    memories = [packed(part, along_k(len(part), k, nbytes, chunks), SIZE) for part in (a, b)]
    signs = ", 1, 1" + ", 0, 0" * (bits == 16) if "int" not in kind else ""
    where = distances(64, k, nbytes, chunks, turned=False)
    rest = {"a": where, "b": where, "operands": f"da[0], db[0], 1{signs}"}
    words = f"k{k}.{NAMES[result]}.{name}.{name}"
    out = multiplied(kernel(words, n, n // 2, rest, mode=chunks.bit_length() - 1), *memories, c)
    wide = "int64" if "int" in kind else "float64"
    expected = (a.astype(wide) @ b.astype(wide).T + c).astype(result)
    assert out.tolist() == held(expected).view("uint32").tolist()


@pytest.mark.parametrize(("name", "chunks"), [("f16", 1), ("bf16", 2), ("bf16", 4), ("f16", 8)])
def test_matrices_across_k_and_signs(name, chunks):
    kind, k, _, result = FORMS[name]
    n = 64
    a, b = numbers(kind, (64, k)), numbers(kind, (n, k))
    memories = [packed(part, across_k(64, k, 2, chunks), SIZE) for part in (a, b)]
    where = distances(64, k, 2, chunks, turned=True)
    rest = {"a": where, "b": where, "operands": "da[0], db[0], 0, -1, 1, 1, 1"}
    text = kernel(f"k{k}.f32.{name}.{name}", n, n // 2, rest, mode=chunks.bit_length() - 1)
    out = multiplied(text, *memories, np.zeros((64, n), result))
    expected = -(a.astype("float64") @ b.astype("float64").T)
    assert out.view("float32").tolist() == held(expected.astype("float32")).tolist()


@pytest.mark.parametrize("name", ["f16", "tf32", "s8"])
def test_a_in_registers(name):
    kind, k, bits, result = FORMS[name]
    n = 8
    a, b, c = numbers(kind, (64, k)), numbers(kind, (n, k)), numbers(result, (64, n))
    memory = packed(b, along_k(n, k, bits // 8, 8), SIZE)
    signs = ", 1, -1" + ", 0" * (bits == 16) if "int" not in kind else ""
    where = distances(n, k, bits // 8, 8, turned=False)
    rest = {"a": where, "b": where, "operands": f"a[0], a[1], a[2], a[3], db[0], t >= 0{signs}"}
    out = multiplied(kernel(f"k{k}.{NAMES[result]}.{name}.{name}", n, 4, rest), memory, memory, c, fragments(a))
    expected = a.astype("float64") @ b.astype("float64").T * (-1 if signs else 1) + c
    assert out.tolist() == held(expected.astype(result)).view("uint32").tolist()


def test_halves_share_registers_of_sums():
    k, n = 16, 16
    a, b, c = numbers("float16", (64, k)), numbers("float16", (n, k)), numbers("float16", (64, n))
    memories = [packed(part, along_k(len(part), k, 2, 8), SIZE) for part in (a, b)]
    where = distances(64, k, 2, 8, turned=False)
    rest = {"a": where, "b": where, "operands": "da[0], db[0], 1, 1, 1, 0, 0"}
    out = multiplied(kernel("k16.f16.f16.f16", n, n // 4, rest), *memories, c)
    expected = (a.astype("float64") @ b.astype("float64").T + c).astype("float16")
    assert out.tolist() == held(expected).view("uint32").tolist()


def test_bits_in_common_are_counted():
    k, n = 256, 8
    a, b = RNG.integers(0, 2, (64, k), "uint8"), RNG.integers(0, 2, (n, k), "uint8")
    rows = [np.packbits(part, axis=1, bitorder="little") for part in (a, b)]
    memories = [packed(part, along_k(len(part), 32, 1, 8), SIZE) for part in rows]
    where = distances(64, 32, 1, 8, turned=False)
    rest = {"a": where, "b": where, "operands": "da[0], db[0], 0"}
    out = multiplied(kernel("k256.s32.b1.b1.and_.popc", n, 4, rest), *memories, np.zeros((64, n), "int32"))
    expected = a.astype("int32") @ b.astype("int32").T
    assert out.view("int32").tolist() == held(expected).tolist()


F16 = {"a": (1, 16), "b": (1, 16), "operands": "da[0], db[0], 1, 1, 1, 0, 0"}
WORDS = "k16.f32.f16.f16"


def test_products_go_on_in_the_same_registers_and_groups_end_in_order():
    k, n = 16, 8
    a, b, c = numbers("float16", (64, 2 * k)), numbers("float16", (n, 2 * k)), numbers("float32", (64, n))
    memories = [packed(part, along_k(len(part), 2 * k, 2, 8), SIZE) for part in (a, b)]
    once = 'T.ptx["wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"](d[0], d[1], d[2], d[3], {}, 1, 1, 1, 0, 0)'
    commit = "    T.ptx.wgmma.commit_group.sync.aligned()\n"
    extra = f"    {once.format('da[0] + T.uint64(2), db[0] + T.uint64(2)')}\n{commit}"
    rest = F16 | {"a": (1, 64), "b": (1, 64)}
    text = kernel(WORDS, n, 4, rest, extra, "    T.ptx.wgmma.wait_group.sync.aligned(1)\n")
    out = multiplied(text, *memories, c)
    expected = a.astype("float64") @ b.astype("float64").T + c
    assert out.view("float32").tolist() == held(expected.astype("float32")).tolist()


ZEROS = np.zeros(2048, "uint8")
SMALL = {"mode": 1, "size": 2048}
READ, STORE = "    d[0] = d[1]\n", "    SA[t] = T.uint8(1)\n"
OTHER = '    T.ptx["wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"]({}, da[0], db[0], 1, 1, 1, 0, 0)\n'
FAULTS = [
    ({"after": READ}, "RM341", "is read before the asynchronous operation that writes it is complete"),
    ({"after": "    d[0] = T.uint32(1)\n"}, "RM341", "a statement writes memory that a product of matrices into `d`"),
    ({"after": STORE}, "RM341", "a statement writes memory that a product of matrices into `d`"),
    ({"extra": OTHER.format("d[1], d[0], d[2], d[3]")}, "RM341", "a product with other registers"),
    (
        {"extra": OTHER.format("d[0], d[1], d[2], d[3]").replace("f32.f16.f16", "f32.bf16.bf16")},
        "RM341",
        "another form",
    ),
    ({"operands": "da[0], db[0], t % 2, 1, 1, 0, 0"}, "RM329", "different operands"),
    ({"operands": "da[0] + T.uint64(t), db[0], 1, 1, 1, 0, 0"}, "RM329", "different operands"),
    ({"b": (1, 2000)}, "defined", ""),  # one group of 8 columns: the stride is not used
    ({"a": (1, 1000)}, "RM304", "a product reads 16 bytes from"),
    ({"operands": "T.uint64(4096), db[0], 1, 1, 1, 0, 0"}, "RM304", "a product reads 16 bytes from"),
    ({"operands": "da[0] + (T.uint64(1) << T.uint64(50)), db[0], 1, 1, 1, 0, 0"}, "RM504", "has other bits"),
    ({"a": (1, 20000)}, "RM504", "no descriptor has the distances 1 and 20000"),
    ({"mode": 4}, "RM504", "swizzle 4"),
]


@pytest.mark.parametrize(("changes", "code", "words"), FAULTS)
def test_what_has_no_meaning_is_refused_with_its_code(changes, code, words):
    rest = F16 | {key: value for key, value in changes.items() if key in F16}
    others = {key: value for key, value in changes.items() if key not in F16}
    text = kernel(WORDS, 8, 4, rest, **{**SMALL, **others})
    if code == "defined":
        multiplied(text, ZEROS, ZEROS, np.zeros((64, 8), "float32"))
        return
    with pytest.raises(RefmlcError, match=words) as caught:
        multiplied(text, ZEROS, ZEROS, np.zeros((64, 8), "float32"))
    assert caught.value.code.id == code


CHANGES = [
    ("T.cuda.wgmma.encode_matrix_descriptor(T.address_of(da[0]), SA.data", "…(T.address_of(da[0]), A.data", "RM313"),
    ("T.address_of(da[0]), SA.data", "T.address_of(da[0]), T.address_of(SA[8])", "RM313"),
    ("T.ptx.wgmma.fence.sync.aligned()\n", "T.ptx.wgmma.fence.sync()\n", "RM502"),
    ("wait_group.sync.aligned(0)", "wait_group.sync.aligned(t)", "RM502"),
    ("    T.ptx.wgmma.commit_group.sync.aligned()", "    T.ptx.wgmma.commit_group.sync.aligned(1)", "RM502"),
    ("1, 1, 1, 0, 0)", "1, 1, 2, 0, 0)", "RM502"),
    ("1, 1, 1, 0, 0)", "1, 1, 1, 0)", "RM502"),
    ("1, 1, 1, 0, 0)", "1, 1, t, 0, 0)", "RM502"),
    ("m64n8k16", "m64n9k16", "RM103"),
    ("m64n8k16", "m64n8k8", "RM502"),
    ("(d[0], d[1]", "(d[1], d[1]", "RM504"),
    ("(d[0], d[1]", "(d[t], d[1]", "RM304"),
    ("(d[0], d[1]", "(O[t, 0], d[1]", "RM502"),
    ("f32.f16.f16", "s32.f16.f16", "RM502"),
    ("f32.f16.f16", "f64.f16.f16", "RM103"),
    ("f32.f16.f16", "f32.f16.bf16", "RM502"),
    ("T.ptx.wgmma.fence.sync.aligned()", "if t < 64:\n        T.ptx.wgmma.fence.sync.aligned()", "RM345"),
    ('    T.ptx["wgmma.mma', '    if t < 64:\n      T.ptx["wgmma.mma', "RM327"),
    ("d[i] = O[t, i]", "T.evaluate(0)", "RM305"),
]


@pytest.mark.parametrize(("old", "new", "code"), CHANGES)
def test_changed_kernels(old, new, code):
    text = kernel(WORDS, 8, 4, F16, **SMALL)
    assert old in text
    assert found(text.replace(old, new.replace("…", old.split("(")[0]))) == code


def found(text):
    """The code of what a call under all detectors ends with, or of its only finding."""
    arrays = [ZEROS, ZEROS.copy(), np.zeros((128, 4), "uint32"), np.zeros((128, 4), "uint32")]
    try:
        report = sanitize(read(text, "f.py"), "f", arrays)
    except RefmlcError as failure:
        return failure.code.id
    return " ".join(finding.diagnostic.code.id for finding in report.findings)


def test_a_correct_kernel_raises_no_alarm():
    module = read(kernel(WORDS, 8, 4, F16, **SMALL), "f.py")
    arrays = [ZEROS, ZEROS.copy(), np.zeros((128, 4), "uint32"), np.zeros((128, 4), "uint32")]
    assert sanitize(module, "f", arrays).findings == ()


@pytest.mark.parametrize(("place", "verb"), [("d[0] = T.uint32(0)", "writes"), ("O[t, 0] = a[0]", "reads")])
def test_a_register_that_is_accessed_after_the_fence(place, verb):
    operands = "a[0], a[1], a[2], a[3], db[0], 1, 1, 1, 0"
    module = read(kernel(WORDS, 8, 4, F16 | {"operands": operands}, f"    {place}\n", **SMALL), "f.py")
    arrays = [ZEROS, ZEROS.copy(), np.zeros((128, 4), "uint32"), np.zeros((128, 4), "uint32")]
    [finding] = sanitize(module, "f", arrays).findings
    assert finding.diagnostic.code.id == "RM345"
    assert finding.diagnostic.related[0].message == f"it {verb} the register here"


def test_the_first_product_of_a_thread_needs_a_fence_even_of_fresh_registers():
    fresh = kernel(WORDS, 8, 4, F16 | {"operands": "da[0], db[0], 0, 1, 1, 0, 0"}, **SMALL)
    fresh = fresh.replace("        d[i] = O[t, i]\n", "        T.evaluate(0)\n")
    assert found(fresh) == ""
    assert found(fresh.replace("    T.ptx.wgmma.fence.sync.aligned()\n", "")) == "RM345"
