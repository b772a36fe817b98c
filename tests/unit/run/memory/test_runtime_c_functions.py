"""C functions: called through cffi pointers by what their types say."""

import cffi
import numpy as np
import pytest

from refmlc.diag import Malformed, Trap
from refmlc.lang.dtypes import BFLOAT16, FLOAT32, INT8, INT32
from refmlc.run.memory.c_functions import register_c_func
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor, tensor


@pytest.fixture(scope="module")
def ffi():
    made = cffi.FFI()
    made.cdef(
        """
        typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
        typedef struct { int32_t device_type, device_id; } DLDevice;
        typedef struct { void *data; DLDevice device; int32_t ndim; DLDataType dtype;
                         int64_t *shape; int64_t *strides; uint64_t byte_offset; } DLTensor;
        struct other { int x; };
        size_t strlen(const char *);
        int abs(int);
        """
    )
    return made


@pytest.fixture
def registry():
    return FunctionRegistry()


def code(failure):
    return failure.value.code.id


def test_numbers_and_strings(ffi, registry):
    libc = ffi.dlopen(None)
    register_c_func("strlen", libc.strlen, owner=libc, registry=registry)
    register_c_func("abs", ffi.addressof(libc, "abs"), registry=registry)
    assert registry.get_func("strlen")(["héé"]) == 5
    assert registry.get_func("abs")([-4]) == 4


def test_tensors_as_dltensor(ffi, registry):
    seen = {}

    @ffi.callback("void(DLTensor *, DLTensor *, double)")
    def scale(x, out, factor):
        seen.update(
            ndim=x.ndim,
            dtype=(x.dtype.code, x.dtype.bits, x.dtype.lanes),
            shape=[x.shape[i] for i in range(x.ndim)],
            strides=[x.strides[i] for i in range(x.ndim)],
            device=(x.device.device_type, x.device.device_id, x.byte_offset),
        )
        source, target = ffi.cast("float *", x.data), ffi.cast("float *", out.data)
        for i in range(x.shape[0]):
            target[i] = source[i * x.strides[0]] * factor

    register_c_func("scale", scale, registry=registry)
    array = np.arange(6, dtype=np.float32).reshape(3, 2)
    out = Tensor.empty((3,), FLOAT32)
    assert registry.get_func("scale")([Tensor.from_numpy(array[:, :1]), out, 2]) is None
    assert out.numpy().tolist() == [0, 4, 8]
    assert out.initialised
    assert seen == {"ndim": 2, "dtype": (2, 32, 1), "shape": [3, 1], "strides": [2, 1], "device": (1, 0, 0)}


def test_the_dtype_of_bfloat16(ffi, registry):
    seen = []
    callback = ffi.callback("int(DLTensor *)", lambda x: seen.append((x.dtype.code, x.dtype.bits)) or 0)
    register_c_func("f", callback, registry=registry)
    registry.get_func("f")([Tensor.empty((1,), BFLOAT16)])
    assert seen == [(4, 16)]


def test_data_pointers(ffi, registry):
    total = ffi.callback("int(int32_t *, int)", lambda p, n: sum(p[i] for i in range(n)) if p else -1)
    register_c_func("sum", total, registry=registry)
    call = registry.get_func("sum")
    numbers = tensor([1, 2, 3, 4], "int32")
    assert call([numbers, 4]) == 10
    assert call([Pointer(numbers.storage, 8), 2]) == 7
    assert call([Tensor(numbers.storage, INT32, (2,), byte_offset=4), 2]) == 5
    assert call([None, 4]) == -1


@pytest.mark.parametrize(
    ("type_name", "dtype_name"),
    [("float", "float32"), ("double", "float64"), ("uint16_t", "uint16"), ("_Bool", "bool"), ("int8_t", "int8")],
)
def test_pointers_know_their_elements(ffi, registry, type_name, dtype_name):
    register_c_func("first", ffi.callback(f"double({type_name} *)", lambda p: float(p[0])), registry=registry)
    assert registry.get_func("first")([tensor([1, 0], dtype_name)]) == 1


def test_void_pointers_and_text(ffi, registry):
    first = ffi.callback("int(void *, char *)", lambda p, s: ffi.cast("signed char *", p)[0] + len(ffi.string(s)))
    register_c_func("f", first, registry=registry)
    assert registry.get_func("f")([tensor([3], "int8"), "ab"]) == 5
    text = Tensor.from_numpy(np.frombuffer(b"xyz\0", np.int8).copy())
    assert registry.get_func("f")([tensor([3], "int8"), text]) == 6


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([1], "takes 2 arguments, 1 are given"),
        ([tensor([1.0], "float32"), 1], "needs elements of int32, a tensor (1,) of float32"),
        ([Tensor.from_numpy(np.zeros((2, 2), np.int32)[:, 0]), 1], "needs a compact tensor, strides (2,)"),
        (["text", 1], "needs a tensor or a pointer, the string 'text'"),
        ([tensor([1], "int32"), "x"], "a `int` is needed, the string 'x'"),
        ([tensor([1], "int32"), 2**40], "OverflowError"),
        ([tensor([1], "int32"), 1.5], "TypeError"),
    ],
)
def test_arguments_that_do_not_fit(ffi, registry, args, words):
    register_c_func("f", ffi.callback("int(int32_t *, int)", lambda p, n: p[0] + n), registry=registry)
    with pytest.raises(Trap) as failure:
        registry.get_func("f")(args)
    assert code(failure) == "RM403"
    assert words in str(failure.value)


def test_a_dltensor_is_a_tensor(ffi, registry):
    register_c_func("f", ffi.callback("int(DLTensor *)", lambda _: 0), registry=registry)
    with pytest.raises(Trap, match="a tensor is needed, the int 3"):
        registry.get_func("f")([3])


def test_read_only_memory_is_safe_from_c(ffi, registry):
    @ffi.callback("void(float *)")
    def write(p):
        p[0] = 5

    register_c_func("write", write, registry=registry)
    array = np.zeros(2, np.float32)
    array.flags.writeable = False
    with pytest.raises(Trap) as failure:
        registry.get_func("write")([Tensor.from_numpy(array)])
    assert code(failure) == "RM404"
    assert array[0] == 0


def test_what_is_no_c_function(ffi, registry):
    for wrong in (3, "int(int)", len, ffi.new("int *"), ffi.callback("int *(int)", lambda _: ffi.NULL)):
        with pytest.raises(Malformed) as failure:
            register_c_func("f", wrong, registry=registry)
        assert code(failure) == "RM112"
    for wrong in ("int(struct other *)", "int(int **)", "int(struct other)"):
        with pytest.raises(Malformed) as failure:
            register_c_func("f", ffi.callback(wrong, lambda _: 0), registry=registry)
        assert "no value" in str(failure.value)
    with pytest.raises(Malformed, match="any number of arguments"):
        register_c_func("f", ffi.cast("int(*)(int, ...)", 1), registry=registry)


def test_registered_by_default_for_the_process(ffi):
    libc = ffi.dlopen(None)
    register_c_func("refmlc_test_abs", libc.abs, owner=libc)
    try:
        with pytest.raises(Malformed):
            register_c_func("refmlc_test_abs", libc.abs)
        register_c_func("refmlc_test_abs", libc.abs, override=True)
        assert DEFAULT.get_func("refmlc_test_abs")([-1]) == 1
    finally:
        DEFAULT.remove("refmlc_test_abs")


def test_a_null_pointer_and_a_storage(ffi, registry):
    register_c_func("f", ffi.callback("int(int8_t *)", lambda p: p[0]), registry=registry)
    storage = Storage(4)
    storage.array[2] = 9
    assert registry.get_func("f")([Pointer(storage, 2)]) == 9
    assert registry.get_func("f")([Tensor(storage, INT8, (1,), byte_offset=2)]) == 9
