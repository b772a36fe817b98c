"""Tensor maps and copies of boxes: against slices of padded NumPy arrays, and faults (TIA-040 … TIA-043)."""

from dataclasses import dataclass

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

TO_SHARED = "cp.async.bulk.tensor.{rank}d.shared::cta.global.mbarrier::complete_tx::bytes"
TO_GLOBAL = "cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group"
COMMIT, WAIT = "T.ptx.cp.async_.bulk.commit_group()", "T.ptx.cp.async_.bulk.wait_group(0)"


@dataclass(frozen=True)
class Map:
    """A tensor map as a text makes it, the contiguous axis first, of the buffer `of`."""

    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...] = ()
    dtype: str = "int32"
    rest: tuple[int, ...] = (0, 0, 0, 0)
    of: str = "A"
    name: str = "m"
    rank: int = 0

    def lines(self):
        rank = self.rank or len(self.extents)
        steps = self.steps or (1,) * len(self.box)
        numbers = ", ".join(map(str, (*self.extents, *self.strides, *self.box, *steps, *self.rest)))
        yield f"{self.name}: T.let[T.TensorMap()] = T.tvm_stack_alloca('tensormap', 1)"
        call = f'"runtime.cuTensorMapEncodeTiled", {self.name}, "{self.dtype}", {rank}, {self.of}.data, {numbers}'
        yield f"T.call_packed({call})"

    @property
    def nbytes(self):
        counts = [-(-size // step) for size, step in zip(self.box, self.steps or (1,) * len(self.box), strict=True)]
        return int(np.prod(counts)) * np.dtype(self.dtype).itemsize


def text(maps, statements, *, count, made, shared, dtype="int32", threads=32):
    """A kernel of one block: A has `count` elements, B `made`, S `shared`; the barrier takes one arrival."""
    lines = [line for each in maps for line in each.lines()]
    lines += ["T.device_entry()", "T.cta_id([1])", f"t = T.thread_id([{threads}])"]
    lines += [f'S = T.alloc_shared(({shared},), "{dtype}")', 'bar = T.alloc_shared((1,), "uint64")']
    lines += ["if t == 0:", "    T.ptx.mbarrier.init.shared.b64(bar.data, T.uint32(1))"]
    lines += [line for statement in statements for line in statement.split("\n")]
    head = f'@T.prim_func\ndef f(A: T.Buffer(({count},), "{dtype}"), B: T.Buffer(({made},), "{dtype}")):\n'
    return head + "".join(f"    {line}\n" for line in lines)


def load(each, at, *, words="", more="", to="S.data", expected=None):
    name = TO_SHARED.format(rank=len(at)) + words
    operands = ", ".join((to, f"T.address_of({each.name})", *map(str, at), "bar.data", *([more] if more else [])))
    nbytes = each.nbytes if expected is None else expected
    expect = f"    T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.data, T.uint32({nbytes}))"
    return f'if t == 0:\n{expect}\n    T.ptx["{name}"]({operands})\nT.cuda.mbarrier_wait(bar.data, 0)'


def store(each, at, *, words="", source="S.data", end=f"\n    {COMMIT}\n    {WAIT}"):
    name = TO_GLOBAL.format(rank=len(at)) + words
    operands = ", ".join((f"T.address_of({each.name})", *map(str, at), source))
    return f'T.ptx.fence.proxy.async_()\nT.cuda.cta_sync()\nif t == 0:\n    T.ptx["{name}"]({operands}){end}'


def copied(count, to="B", source="S"):
    copy = f"{to}[i * 32 + t] = {source}[i * 32 + t]"
    return f"for i in range({-(-count // 32)}):\n    if i * 32 + t < {count}:\n        {copy}"


def run(source, a, b):
    Machine(read(source, "f.py")).call("f", [a, b])
    return b


def failure(source, count=64, made=64):
    with pytest.raises(RefmlcError) as caught:
        run(source, np.zeros(count, "int32"), np.zeros(made, "int32"))
    return caught.value.code.id, caught.value.diagnostic.message


def padded(array, at, counts, steps, fill):
    """The box of an array, slowest axis first, as a slice of the array with `fill` around it."""
    rooms = [abs(start) + count * step for start, count, step in zip(at, counts, steps, strict=True)]
    whole = np.pad(array, [(room, room) for room in rooms], constant_values=fill)
    parts = zip(at, rooms, counts, steps, strict=True)
    return whole[tuple(slice(start + room, start + room + count * step, step) for start, room, count, step in parts)]


def mixed(rows, span):
    """Rows of `span` bytes with their chunks of 16 as the guide of CUDA draws them: by the number of the row."""
    chunks = np.ascontiguousarray(rows).view(np.uint8).reshape(-1, span // 16, 16)
    result = np.empty_like(chunks)
    together = 128 // span
    for number, row in enumerate(chunks):
        for chunk, content in enumerate(row):
            result[number, chunk ^ (number // together % (span // 16))] = content
    return result.reshape(-1).view(rows.dtype)


# ------------------------------------------------------------------------------------------------- to shared memory


@pytest.mark.parametrize(
    ("shape", "box", "steps", "at"),
    [
        ((32,), (8,), (1,), (4,)),
        ((32,), (8,), (1,), (-3,)),
        ((32,), (8,), (1,), (29,)),
        ((32,), (8,), (1,), (39,)),
        ((6, 12), (3, 8), (1, 1), (1, 2)),
        ((6, 12), (3, 12), (1, 1), (2, 0)),
        ((6, 12), (3, 8), (1, 1), (-1, -2)),
        ((6, 12), (3, 8), (1, 1), (4, 7)),
        ((6, 12), (4, 8), (2, 1), (1, 0)),
        ((9, 12), (7, 4), (3, 1), (1, 4)),
        ((3, 4, 8), (2, 2, 4), (1, 1, 1), (1, 1, 3)),
        ((3, 4, 8), (2, 3, 8), (1, 2, 1), (2, -1, 0)),
        ((2, 3, 2, 8), (1, 2, 2, 4), (1, 1, 1, 1), (1, 2, 0, 6)),
        ((2, 2, 3, 2, 4), (2, 1, 2, 2, 4), (1, 1, 1, 1, 1), (-1, 1, 1, 1, 0)),
    ],
)
def test_a_box_comes_to_shared_memory_with_zeros_around_the_tensor(shape, box, steps, at):
    array = np.arange(1, np.prod(shape) + 1, dtype="int32").reshape(shape)
    counts = tuple(-(-size // step) for size, step in zip(box, steps, strict=True))
    expected = padded(array, at, counts, steps, 0).reshape(-1)
    strides = tuple(stride for stride in array.strides[-2::-1])
    each = Map(shape[::-1], strides, box[::-1], steps[::-1])
    size = expected.size
    source = text([each], [load(each, at[::-1]), copied(size)], count=array.size, made=size, shared=size)
    result = run(source, array.reshape(-1), np.full(size, -1, "int32"))
    assert result.tolist() == expected.tolist()


def test_strides_may_leave_gaps():
    array = np.arange(48, dtype="int32").reshape(4, 12)
    each = Map((8, 4), (48,), (8, 4))
    source = text([each], [load(each, (0, 0)), copied(32)], count=48, made=32, shared=32)
    assert run(source, array.reshape(-1), np.zeros(32, "int32")).tolist() == array[:, :8].reshape(-1).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_fill_may_be_nan(dtype):
    array = np.arange(32).astype(dtype).reshape(2, 16)
    each = Map((16, 2), (array.strides[0],), (8, 3), dtype=dtype, rest=(0, 0, 2, 1))
    source = text([each], [load(each, (12, -1)), copied(24)], count=32, made=24, shared=24, dtype=dtype)
    result = run(source, array.reshape(-1), np.zeros(24, dtype))
    np.testing.assert_array_equal(result, padded(array, (-1, 12), (3, 8), (1, 1), np.nan).reshape(-1))


@pytest.mark.parametrize(("number", "span"), [(1, 32), (2, 64), (3, 128)])
@pytest.mark.parametrize("at", [(0, 0), (0, 5), (3, 0)])
def test_a_swizzle_exchanges_chunks(number, span, at):
    array = np.arange(1, 24 * 40 + 1, dtype="int32").reshape(24, 40)
    each = Map((40, 24), (160,), (span // 4, 20), rest=(0, number, 0, 0))
    size = span // 4 * 20
    expected = mixed(padded(array, at, (20, span // 4), (1, 1), 0), span)
    source = text([each], [load(each, at[::-1]), copied(size)], count=960, made=size, shared=size)
    assert run(source, array.reshape(-1), np.zeros(size, "int32")).tolist() == expected.tolist()


def test_a_swizzle_is_of_addresses_not_of_boxes():
    array = np.arange(16 * 8, dtype="int32").reshape(16, 8)
    each = Map((8, 16), (32,), (8, 8), rest=(0, 1, 0, 0))
    expected = mixed(np.concatenate([np.zeros((4, 8), "int32"), array[:8]]), 32)[32:]
    source = text(
        [each],
        [load(each, (0, 0), to="S.ptr_to([32])"), copied(64, source="(S").replace("(S[", "S[32 + ")],
        count=128,
        made=64,
        shared=96,
    )
    assert run(source, array.reshape(-1), np.zeros(64, "int32")).tolist() == expected.tolist()


def test_a_map_may_be_chosen_and_hints_change_nothing():
    each = Map((16,), (), (16,))
    words = ".L2::cache_hint"
    source = text([each], [load(each, (0,), words=words, more="T.uint64(7)"), copied(16)], count=16, made=16, shared=16)
    source = source.replace("T.address_of(m)", "T.reinterpret(T.handle().ty, T.address_of(m))")
    assert run(source, np.arange(16, dtype="int32"), np.zeros(16, "int32")).tolist() == list(range(16))


def test_bytes_outside_count_for_the_phase():
    each = Map((16,), (), (16,))
    statements = [load(each, (8,), expected=32), copied(16)]
    code, message = failure(text([each], statements, count=16, made=16, shared=16), 16, 16)
    assert code == "RM343"
    assert "an expectation of 32 bytes" in message


# ------------------------------------------------------------------------------------------------- to global memory


@pytest.mark.parametrize(
    ("shape", "box", "at", "number"),
    [
        ((32,), (8,), (4,), 0),
        ((32,), (8,), (-4,), 0),
        ((6, 12), (3, 8), (1, 2), 0),
        ((6, 12), (3, 8), (-1, 9), 0),
        ((24, 40), (10, 32), (20, 10), 3),
        ((24, 40), (10, 16), (-3, -3), 2),
        ((3, 4, 8), (2, 2, 8), (2, 1, 0), 1),
    ],
)
def test_a_box_goes_to_global_memory_as_far_as_it_is_in_the_tensor(shape, box, at, number):
    size, whole = int(np.prod(box)), int(np.prod(shape))
    rows = np.arange(1, size + 1, dtype="int32")
    room = np.pad(np.zeros(shape, "int32"), 40)
    room[tuple(slice(start + 40, start + 40 + count) for start, count in zip(at, box, strict=True))] = rows.reshape(box)
    expected = room[tuple(slice(40, 40 + extent) for extent in shape)]
    strides = np.zeros(shape, "int32").strides[-2::-1]
    each = Map(shape[::-1], strides, box[::-1], of="B", rest=(0, number, 0, 0))
    content = mixed(rows.reshape(-1, box[-1]), box[-1] * 4) if number else rows
    source = text([each], [copied(size, "S", "A"), store(each, at[::-1])], count=size, made=whole, shared=size)
    assert run(source, content, np.zeros(whole, "int32")).tolist() == expected.reshape(-1).tolist()


def test_what_is_outside_is_not_read():
    each = Map((16,), (), (16,), of="B")
    source = text([each], ["if t < 8:\n    S[t + 8] = A[t]", store(each, (-8,))], count=16, made=16, shared=16)
    assert run(source, np.arange(16, dtype="int32"), np.full(16, -1, "int32")).tolist() == [*range(8), *[-1] * 8]
    code, message = failure(source.replace("-8, S.data", "-7, S.data"), 16, 16)
    assert (code, "never written" in message) == ("RM305", True)


def test_the_source_may_be_written_after_a_wait_for_reads():
    each = Map((16,), (), (16,), of="B")
    end = f"\n    {COMMIT}\n    T.ptx.cp.async_.bulk.wait_group.read(0)"
    statements = [copied(16, "S", "A"), store(each, (0,), end=end), "if t == 0:\n    S[3] = -5"]
    source = text([each], statements, count=16, made=16, shared=16)
    assert run(source, np.arange(16, dtype="int32"), np.zeros(16, "int32")).tolist() == list(range(16))
    code, message = failure(source.replace("wait_group.read(0)", "commit_group()"), 16, 16)
    assert (code, "is not complete, reads" in message) == ("RM341", True)


def test_a_source_that_is_never_read_is_a_fault_of_the_block():
    each = Map((16,), (), (16,), of="B")
    statements = [copied(16, "S", "A"), store(each, (0,), end="")]
    code, message = failure(text([each], statements, count=16, made=16, shared=16), 16, 16)
    assert (code, "the block ends" in message) == ("RM341", True)


# ------------------------------------------------------------------------------------------------------------ faults

ONE = Map((64,), (), (16,))
TWO = Map((8, 8), (32,), (8, 2))


def kernel(each, *statements, **sizes):
    return text([each], statements, **{"count": 64, "made": 64, "shared": 64, **sizes})


@pytest.mark.parametrize(
    ("source", "code", "words"),
    [
        (kernel(TWO, load(TWO, (0,), expected=64)), "RM313", "a box of 1 axes is given the map of a tensor of 2"),
        (kernel(ONE, load(ONE, (0,), to="S.ptr_to([4])")), "RM313", "no multiple of 128"),
        (kernel(ONE, load(ONE, (0,)), shared=8), "RM304", "writes 64 bytes"),
        (kernel(ONE, load(ONE, (56,)), count=60), "RM304", "reads 32 bytes"),
        (kernel(ONE, load(ONE, (0,)).replace("S.data, ", "A.data, ")), "RM313", "writes shared memory"),
        (kernel(ONE, load(ONE, (0,)).replace("T.address_of(m)", "A.data")), "RM313", "needs a tensor map, a pointer"),
        (kernel(ONE, store(Map((64,), (), (16,)), (0,))), "RM305", "never written"),
        (kernel(ONE, load(ONE, (0,)) + "\nS[t] = 1\n" + store(ONE, (0,), source="S.ptr_to([1])")), "RM313", "128"),
    ],
)
def test_faults_of_copies(source, code, words):
    count = 60 if "((60,)" in source else 64
    ended, message = failure(source, count)
    assert (ended, words in message) == (code, True), message


def test_a_map_that_was_never_encoded():
    source = kernel(ONE, load(ONE, (0,)))
    source = "".join(line for line in source.splitlines(keepends=True) if "call_packed" not in line)
    assert failure(source) == ("RM305", "a copy of a box reads a tensor map that was never encoded")


@pytest.mark.parametrize(
    ("encoded", "words"), [(True, "a tensor map of 8 x 4 of int32 is given"), (False, "never encoded is given")]
)
def test_a_tensor_map_is_no_memory(encoded, words):
    source = kernel(Map((4, 8), (16,), (4, 2)), "T.ptx.mbarrier.init.shared.b64(T.address_of(m), T.uint32(1))")
    if not encoded:
        source = "".join(line for line in source.splitlines(keepends=True) if "call_packed" not in line)
    code, message = failure(source)
    assert (code, words in message) == ("RM313", True), message


def test_a_copy_is_open_until_its_phase():
    early = load(ONE, (0,)).partition("\nT.cuda.mbarrier_wait")[0]
    assert failure(kernel(ONE, early, "T.cuda.cta_sync()", copied(16)))[0] == "RM341"
    assert failure(kernel(ONE, early, "if t == 0:\n    A[3] = 5", "T.cuda.mbarrier_wait(bar.data, 0)"))[0] == "RM341"
    again = early.splitlines()[-1].replace("if t == 0:", "")
    assert failure(kernel(ONE, f"{early}\n{again}"))[0] == "RM341"


@pytest.mark.parametrize(
    ("each", "words"),
    [
        (Map((0,), (), (16,)), "globalDim[0] is 0: not from 1 to 4294967296"),
        (Map((64,), (), (257,)), "boxDim[0] is 257: not from 1 to 256"),
        (Map((64,), (), (6,)), "boxDim[0] is 24 bytes, no multiple of 16"),
        (Map((8, 8), (40,), (8, 2)), "globalStrides[0] is 40 bytes, no multiple of 16"),
        (Map((8, 8), (1 << 40,), (8, 2)), "not from 0 to 1099511627775"),
        (Map((8, 8), (32,), (8, 2), (1, 9)), "elementStrides[1] is 9: not from 1 to 8"),
        (Map((8, 8), (32,), (8, 2), (2, 1)), "elementStrides[0] is 2, not 1"),
        (Map((8, 8), (32,), (16, 2), rest=(0, 1, 0, 0)), "boxDim[0] is 64 bytes, more than the 32 of its swizzle"),
        (Map((64,), (), (16,), rest=(3, 0, 0, 0)), "interleave is 3"),
        (Map((64,), (), (16,), rest=(0, 7, 0, 0)), "swizzle is 7"),
        (Map((64,), (), (16,), rest=(0, 0, 4, 0)), "l2Promotion is 4"),
        (Map((64,), (), (16,), rest=(0, 0, 0, 2)), "oobFill is 2"),
        (Map((64,), (), (16,), rest=(0, 0, 0, 1)), "a fill of NaN does not go with int32"),
        (Map((64,), (), (16,), dtype="int16"), "no data type of tensor maps is int16"),
        (Map((64,), (), (16,), rest=(0, 0, 0, 0, 11)), "the data type 11 does not go with int32"),
        (Map((64,), (), (16,), rank=2), "it is called with 11 arguments for a rank of 2"),
        (Map((64,), (), (16,), rank=6), "tensorRank is 6: not from 1 to 5"),
    ],
)
def test_what_the_driver_refuses_is_an_error(each, words):
    code, message = failure(kernel(each))
    assert (code, words in message) == ("RM403", True), message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("A.data", "A.ptr_to([1])", "at byte 4 of its memory, no multiple of 16"),
        ("A.data", "0", "globalAddress is no address"),
        ('Tiled", m,', 'Tiled", A.data,', "no place for a tensor map"),
    ],
)
def test_arguments_of_other_kinds_are_errors(old, new, words):
    code, message = failure(kernel(ONE).replace(old, new))
    assert (code, words in message) == ("RM403", True), message


def test_a_call_without_arguments_is_an_error():
    source = kernel(ONE).replace(', m, "int32", 1, A.data, 64, 16, 1, 0, 0, 0, 0)', ", m)")
    code, message = failure(source)
    assert (code, "called with 1 arguments" in message) == ("RM403", True)


def tiled(each, **modes):
    """The statement that TVM's dispatcher writes in the place of the call."""
    call = list(each.lines())[1]
    names = {"interleave": 0, "swizzle": 0, "l2_promotion": 2, "oob_fill": 0, "force_cu_dtype": -1, **modes}
    numbers = ", ".join(map(str, (*each.extents, *each.strides, *each.box, *each.steps)))
    keywords = ", ".join(f"{name}={value}" for name, value in names.items())
    operands = f"{each.name}, T.handle_add_byte_offset({each.of}.data, 16), {numbers}"
    rank = len(each.extents)
    return call, f"T.tensormap_encode_tiled({operands}, descriptor_dtype='{each.dtype}', rank={rank}, {keywords})"


def test_the_intrinsic_does_what_the_function_does():
    each = Map((12, 5), (48,), (8, 4), (1, 1))
    statements = [load(each, (2, 3)), copied(32)]
    array = np.arange(64, dtype="int32")
    expected = padded(array[4:].reshape(5, 12), (3, 2), (4, 8), (1, 1), 0)
    source = text([each], statements, count=64, made=32, shared=32).replace(*tiled(each))
    assert run(source, array, np.zeros(32, "int32")).tolist() == expected.reshape(-1).tolist()
    mixed_source = text([each], statements, count=64, made=32, shared=32).replace(*tiled(each, swizzle=1))
    assert run(mixed_source, array, np.zeros(32, "int32")).tolist() == mixed(expected, 32).tolist()


def test_the_intrinsic_fails_as_the_function_does():
    each = Map((12, 5), (40,), (8, 4), (1, 1))
    code, message = failure(text([each], [], count=64, made=32, shared=32).replace(*tiled(each)), 64, 32)
    assert (code, "globalStrides[0] is 40 bytes" in message) == ("RM403", True)


def test_a_tensor_is_its_first_element():
    source = kernel(ONE, load(ONE, (0,)), copied(16)).replace("1, A.data", "1, A")
    result = run(source, np.arange(64, dtype="int32"), np.zeros(64, "int32"))
    assert result[:17].tolist() == [*range(16), 0]


@pytest.mark.parametrize(
    ("each", "words"),
    [
        (Map((8, 8, 8), (32, 256), (8, 2, 2), rest=(1, 0, 0, 0)), "an interleaved layout"),
        (Map((64,), (), (16,), rest=(0, 4, 0, 0)), "a swizzle of other atoms than 16 bytes"),
        (Map((64,), (), (4,), rest=(0, 1, 0, 0)), "rows of 16 bytes and a swizzle of 32"),
        (Map((64,), (), (16,), dtype="float32", rest=(0, 0, 0, 0, 11)), "tf32"),
        (Map((64,), (), (16,), dtype="float4_e2m1fn"), "float4_e2m1fn"),
    ],
)
def test_what_maps_have_no_meaning_here(each, words):
    code, message = failure(kernel(each))
    assert (code, words in message) == ("RM504", True), message


@pytest.mark.parametrize(
    ("statement", "code", "words"),
    [
        (load(ONE, (0,), words=".im2col"), "RM502", "does not define `.im2col` yet"),
        (load(ONE, (0,), more="1"), "RM502", "it has 5 operands"),
        (load(ONE, (0,)).replace("T.address_of(m)", "None"), "RM502", "operand 1 of it is not a tensor map"),
        (store(ONE, (0,)).replace("bulk_group", "mbarrier::complete_tx::bytes"), "RM502", "complete_tx::bytes` yet"),
        (store(ONE, (0,)).replace(".bulk_group", "", 1), "RM502", "it has no `.bulk_group`"),
        (load(ONE, (0,)).replace("cta.global.", "cta.shared::cta."), "RM502", "refmlc does not define it yet"),
        (load(ONE, (0,), words=".multicast::cluster", more="T.uint16(3)"), "RM313", "0x3, the cluster has one block"),
        (load(ONE, (0,), words=".multicast::cluster", more="T.uint16(0)"), "RM313", "0x0, the cluster has one block"),
    ],
)
def test_other_copies_are_unsupported(statement, code, words):
    ended, message = failure(kernel(ONE, statement))
    assert (ended, words in message) == (code, True), message


def test_a_row_that_is_written_twice_is_unsupported():
    each = Map((16, 4), (32,), (16, 4), of="B")
    source = kernel(each, copied(64, "S", "A"), store(each, (0, 0)))
    assert failure(source) == ("RM504", "a copy of a box whose elements share memory is not executed")


def test_several_maps_in_one_place_are_unsupported():
    assert failure(kernel(ONE).replace("'tensormap', 1", "'tensormap', 2"))[0] == "RM504"


ALONE = load(ONE, (0,), words=".multicast::cluster", more="T.uint16(1)")


@pytest.mark.parametrize(
    "ids", ["T.cta_id([1])", "T.cta_id([1])\n    c = T.cta_id_in_cluster([1])\n    g = T.cluster_id([1])"]
)
def test_a_copy_to_all_blocks_of_a_cluster_of_one(ids):
    source = kernel(ONE, ALONE, copied(16)).replace("T.cta_id([1])", ids)
    assert run(source, np.arange(64, dtype="int32"), np.zeros(64, "int32"))[:17].tolist() == [*range(16), 0]


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(
    "lines",
    [
        (
            "c = T.launch_thread('clusterCtaIdx.x', {size})",
            "b = T.launch_thread('blockIdx.x', {size})",
            "t = T.launch_thread('threadIdx.x', 32)",
        ),
        (
            "T.device_entry()",
            "for c in T.thread_binding({size}, thread='clusterCtaIdx.x'):",
            "    for b in T.thread_binding({size}, thread='blockIdx.x'):",
            "        for t in T.thread_binding(32, thread='threadIdx.x'):",
        ),
    ],
)
def test_clusters_of_launched_threads(lines, size):
    source = kernel(ONE, ALONE, copied(16))
    old = "    T.device_entry()\n    T.cta_id([1])\n    t = T.thread_id([32])\n"
    head, _, body = source.partition(old)
    loops = sum(line.endswith(":") for line in lines)
    body = "".join(f"{'    ' * loops}{line}\n" for line in body.splitlines())
    source = head + "".join(f"    {line.format(size=size)}\n" for line in lines) + body
    source = source.replace("T.uint16(1)", "T.Cast('uint16', 1 << c)")
    assert run(source, np.arange(64, dtype="int32"), np.zeros(64, "int32"))[:17].tolist() == [*range(16), 0]
