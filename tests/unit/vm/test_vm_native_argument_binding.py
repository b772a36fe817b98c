"""What fits a C function: each kind of argument, and what C is given for it."""

import numpy as np
import pytest
from handwritten import C, counts, machine, module, native_module, units

from refmlc.diag import Exhausted
from refmlc.lang.dtypes import BOOL, INT32, dtype
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.compile import ffi
from refmlc.native.tier.argument_binding import ArgumentBinder, Ones, as_int64, number
from refmlc.native.tier.native_call import result_of
from refmlc.native.unit import BufferParam, ScalarParam, Unit
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor

MATCHED = """
@T.prim_func
def f(a: T.handle, m: T.int32, b: T.handle):
    n = T.int64()
    s = T.int64()
    o = T.int64()
    A = T.match_buffer(a, (n, m), "int32", strides=(s, 1), elem_offset=o)
    B = T.match_buffer(b, (n + 1,), "int32")
    for i in range(n):
        B[i] = A[i, 0]
"""


@pytest.fixture(scope="module")
def known():
    return units(module())


@pytest.fixture(scope="module")
def matched():
    func = read(MATCHED).functions["f"]
    a, m, b = func.params
    first, second = func.buffer_map[a], func.buffer_map[b]
    params = (
        BufferParam(a, first, loaded=True, stored=False, tracked=False, covered=False),
        ScalarParam(m),
        BufferParam(b, second, loaded=False, stored=True, tracked=False, covered=True),
    )
    dims = (first.shape[0], first.strides[0], first.elem_offset)
    return ArgumentBinder(Unit("f", "f", params, dims, None, ()), Ones())


def ints(*values):
    return np.array(values, np.int32)


def dims_of(binder, args):
    """The variables of shapes for `args`; None: they do not bind."""
    binding = binder.bind(args)
    return None if binding is None else binder.dims(binding)


def address(pointer):
    return int(ffi().cast("uintptr_t", pointer))


def test_arrays_and_tensors_are_passed_by_their_first_elements(known):
    binder = ArgumentBinder(known["twice"], Ones())
    whole = np.arange(8, dtype=np.int32)
    given = Tensor.from_numpy(whole[2:5]), np.zeros(3, np.int32)
    binding = binder.bind(given)
    assert [address(pointer) for pointer in binding.passed[:2]] == [whole.ctypes.data + 8, given[1].ctypes.data]
    assert (binding.passed[2:], binder.dims(binding)) == ([], (3,))


def test_every_part_of_a_declaration_is_matched(matched):
    storage = Storage.from_array(np.arange(40, dtype=np.int32))
    a = Tensor(storage, INT32, (3, 4), (5, 1), 8)
    b = Tensor.empty((4,), INT32)
    binding = matched.bind([a, 4, b])
    assert matched.dims(binding) == (3, 5, 2)
    assert binding.passed[1] == 4
    assert dims_of(matched, [a, 3, b]) is None
    assert dims_of(matched, [a, 4, Tensor.empty((3,), INT32)]) is None
    assert matched.bind([a, 4]) is None
    assert dims_of(matched, [Tensor(storage, INT32, (3, 4), (5, 1), 6), 4, b]) is None
    assert dims_of(matched, [Tensor(storage, INT32, (2, 2, 2)), 4, b]) is None
    assert matched.bind([np.arange(40, dtype=np.int32)[::-1], 4, b]) is None


def test_what_is_no_tensor_does_not_fit(known):
    binder = ArgumentBinder(known["twice"], Ones())
    for wrong in (None, [1, 2, 3], "abc", np.int32(3), np.zeros(3, complex)):
        assert binder.bind([wrong, ints(0, 0, 0)]) is None


def test_elements_that_are_read_after_a_stride_must_be_initialised(known):
    binder = ArgumentBinder(known["window"], Ones())
    storage = Storage(64, unit=4)
    a = Tensor(storage, INT32, (4,), (2,))
    assert binder.bind([a, ints(0, 0, 0, 0)]) is None
    for place in (0, 8, 16, 24):
        storage.initialise(place, 4)
    assert dims_of(binder, [a, ints(0, 0, 0, 0)]) == (2,)


def test_calls_are_prepared_by_what_their_sizes_depend_on(known, matched):
    binder = ArgumentBinder(known["twice"], Ones())
    for size in (3, 4, 3, 5):
        assert dims_of(binder, [np.zeros(size, np.int32)] * 2) == (size,)
        assert dims_of(binder, [np.zeros(size, np.int32), np.zeros(size + 1, np.int32)]) is None
    storage, b = Storage.from_array(np.arange(40, dtype=np.int32)), Tensor.empty((4,), INT32)
    sizes = [
        matched.bind([Tensor(storage, INT32, (3, 4), strides, offset), number, b]).sizes
        for strides, offset, number in (((5, 1), 8, 4), ((6, 1), 8, 4), ((5, 1), 4, 4), ((5, 1), 8, 3), ((5, 1), 8, 4))
    ]
    assert len(set(sizes)) == 4
    assert sizes[0] == sizes[-1]


def test_numbers_that_no_shape_depends_on_prepare_no_call(known):
    binder = ArgumentBinder(known["add"], Ones())
    one, other = (binder.bind([ints(1, 2), number, ints(0, 0)]).sizes for number in (1, 2))
    assert one == other


def test_ones_stay_and_grow():
    ones = Ones()
    small, large = ones.pointer(3), ones.pointer(100)
    assert [bytes(ffi().buffer(found)) for found in (small, large)] == [b"\1" * 3, b"\1" * 100]


@pytest.mark.parametrize(
    ("given", "name", "taken"),
    [
        (3, "int8", 3),
        (np.int64(3), "int8", 3),
        (True, "int32", 1),
        (200, "int8", None),
        (-1, "uint8", None),
        (2**64 - 1, "uint64", 2**64 - 1),
        (1.0, "int32", None),
        (1, "bool", True),
        (2, "bool", None),
        (1, "float32", 1.0),
        (0.1, "float16", 0.0999755859375),
        (2**1024, "float64", None),
        ("1", "float32", None),
        (None, "int32", None),
        (None, "handle", None),
    ],
)
def test_numbers(given, name, taken):
    found = number(given, dtype(name))
    assert found == taken
    assert type(found) is type(taken)


def test_bits_of_numbers():
    assert [as_int64(value) for value in (0, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), True)] == [
        0,
        2**63 - 1,
        -(2**63),
        -1,
        -(2**63),
        1,
    ]


def test_results():
    run = ffi().new("rm_run *")
    run.result_int, run.result_float = -1, 2.5
    assert result_of(None, run) is None
    assert (result_of(dtype("int64"), run), result_of(dtype("uint64"), run)) == (-1, 2**64 - 1)
    assert (result_of(BOOL, run), result_of(dtype("float32"), run)) == (True, 2.5)


@pytest.mark.needs("compiler")
def test_a_function_without_checks_that_lacks_memory_ends_the_run():
    text = C.replace("run->result_int = 0;", "if (a[3] == 4) return RM_NO_MEMORY;\n  run->result_int = 0;")
    vm = machine(native=native_module(module(), text))
    with pytest.raises(Exhausted) as failure:
        vm["total"](ints(1, 2, 3, 4))
    assert failure.value.code.id == "RM603"
    assert counts(vm) == (0, 0, 0, 0)
