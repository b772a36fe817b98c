"""Memory against a byte-level model: any views, of any dtype and alignment, over one storage."""

import numpy as np
from hypothesis import given, strategies as st

from refmlc.lang.dtypes import dtype
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.run.memory.array_memory import compact_strides, is_compact, span_of
from refmlc.run.memory.cells import cell_size, cells, shadow
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor

NAMES = ("bool", "int8", "uint16", "int32", "uint64", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn")


@st.composite
def views(draw, nbytes):
    """A view in a storage: dtype, byte offset, count."""
    name = draw(st.sampled_from([name for name in NAMES if cell_size(dtype(name)) <= nbytes]))
    size = cell_size(dtype(name))
    offset = draw(st.integers(0, nbytes - size))
    return name, offset, draw(st.integers(1, (nbytes - offset) // size))


@st.composite
def histories(draw):
    """A storage and what happens to it, view by view."""
    nbytes = draw(st.integers(8, 40))
    unit = draw(st.sampled_from((0, 1, 2, 4, 8, 3)))
    steps = draw(
        st.lists(
            st.tuples(
                views(nbytes), st.sampled_from(("store", "mark", "forget", "look")), st.integers(0, 39), st.booleans()
            ),
            min_size=1,
            max_size=30,
        )
    )
    return nbytes, unit, steps


@given(histories())
def test_shadows_of_all_views_agree_with_a_model_of_bytes(history):
    nbytes, unit, steps = history
    storage = Storage(nbytes, unit=unit)
    model = [False] * nbytes
    alive = []
    for (name, offset, count), what, index, keep in steps:
        size = cell_size(dtype(name))
        mine = shadow(storage, dtype(name), offset, count)
        alive.append((mine, size, offset, count))
        at = index % count
        if what == "forget":
            storage.forget(offset + at * size, size)
        elif what != "look":
            mine[at] = 1
        touched = range(offset + at * size, offset + (at + 1) * size)
        for byte in touched:
            model[byte] = (what != "forget") if what != "look" else model[byte]
        for view, its_size, start, length in alive:
            for i in range(length):
                place = start + i * its_size
                assert bool(view[i]) == all(model[place : place + its_size])
        assert storage.is_initialised(0, nbytes) == all(model)
        if not keep:
            alive.pop()


@given(st.data())
def test_cells_of_all_views_agree_with_numpy(data):
    nbytes = data.draw(st.integers(8, 40))
    storage = Storage(nbytes)
    mirror = np.zeros(nbytes, np.uint8)
    for _ in range(data.draw(st.integers(1, 12))):
        name, offset, count = data.draw(views(nbytes))
        stored = storage_dtype(dtype(name))
        size = stored.itemsize
        at = data.draw(st.integers(0, count - 1))
        value = data.draw(st.sampled_from((0, 1))) if name == "bool" else data.draw(st.integers(0, 7))
        given_value = np.array([value]).astype(stored)
        cells(storage, dtype(name), offset, count)[at] = (
            bool(value) if name == "bool" else float(value) if dtype(name).is_float else value
        )
        mirror[offset + at * size : offset + (at + 1) * size] = given_value.view(np.uint8)
        assert storage.array.tolist() == mirror.tolist()


@st.composite
def arrays(draw):
    """A NumPy array cut out of another one: transposed, with steps."""
    shape = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    array = np.arange(int(np.prod(shape)), dtype=draw(st.sampled_from(("i1", "i2", "i4", "f4", "f8")))).reshape(shape)
    array = array.transpose(draw(st.permutations(range(array.ndim))))
    return array[tuple(slice(draw(st.integers(0, 2)), None, draw(st.integers(1, 3))) for _ in shape)]


@given(arrays())
def test_strided_arrays_keep_their_elements_and_their_memory(array):
    tensor = Tensor.from_numpy(array)
    back = tensor.numpy()
    assert back.tolist() == array.tolist()
    assert (back.size == 0) or back.ctypes.data == array.ctypes.data
    strides = tensor.element_strides
    for index in np.ndindex(*array.shape):
        number = sum(i * step for i, step in zip(index, strides, strict=True))
        assert tensor.cells[number] == array[index]
        assert tensor.shadow[number]
    assert tensor.copy().numpy().tolist() == array.tolist()


@given(arrays())
def test_strides_in_words_of_numpy(array):
    elements = tuple(stride // array.itemsize for stride in array.strides)
    assert is_compact(array.shape, elements) == array.flags.c_contiguous
    if array.size:
        start = array.ctypes.data
        bounds = tuple(bound - start for bound in np.lib.array_utils.byte_bounds(array))
        assert span_of(array.shape, array.strides, array.itemsize) == bounds
        fresh = np.zeros(array.shape, array.dtype)
        assert tuple(step * array.itemsize for step in compact_strides(array.shape)) == fresh.strides
