"""The registry: names, what functions get, what they may return, what happens when they fail."""

import numpy as np
import pytest
from needs import imported

from refmlc.diag import Malformed, Trap, Undefined
from refmlc.diag.catalogue import OUT_OF_BOUNDS
from refmlc.diag.errors import fail
from refmlc.lang.dtypes import FLOAT32, INT8
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry, get_func, register_func
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor, tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape, kind_of


@pytest.fixture
def registry():
    return FunctionRegistry()


def code(failure):
    return failure.value.code.id


def test_the_three_ways_to_register(registry):
    def first():
        return 1

    assert register_func("f.first", first, registry=registry) is first

    @register_func("f.second", registry=registry)
    def second():
        return 2

    @register_func("f.second", override=True, registry=registry)
    def third():
        return 3

    registry.register("f.fourth", lambda: 4)
    assert list(registry) == ["f.first", "f.second", "f.fourth"]
    assert [registry.get_func(name)([]) for name in registry] == [1, 3, 4]
    assert second() == 2
    assert third() == 3


def test_the_default_registry_is_shared():
    @register_func
    def refmlc_test_shared(x):
        return x + 1

    try:
        assert get_func("refmlc_test_shared")([4]) == 5
        assert "refmlc_test_shared" in DEFAULT
    finally:
        DEFAULT.remove("refmlc_test_shared")
    assert "refmlc_test_shared" not in DEFAULT
    DEFAULT.remove("refmlc_test_shared")


def test_a_name_is_taken_once(registry):
    registry.register("f", abs)
    with pytest.raises(Malformed) as failure:
        registry.register("f", min)
    assert code(failure) == "RM112"
    assert "override=True" in str(failure.value)


def test_what_cannot_be_called(registry):
    with pytest.raises(Malformed) as failure:
        registry.register("f", 3)
    assert code(failure) == "RM112"


def test_an_unknown_name(registry):
    with pytest.raises(Trap) as failure:
        registry.get_func("env.linear")
    assert code(failure) == "RM402"
    assert "`env.linear`" in str(failure.value)


def test_functions_write_in_place(registry):
    def relu(x, out):
        np.maximum(x.numpy(), 0, out=out.numpy())

    registry.register("relu", relu)
    out = Tensor.empty((3,), FLOAT32)
    assert registry.get_func("relu")([tensor([-1, 2, -3], "float32"), out]) is None
    assert out.numpy().tolist() == [0, 2, 0]
    assert out.initialised


def test_tensors_in_tuples_count_as_written(registry):
    registry.register("f", lambda pair, shape: None)
    out = Tensor.empty((3,), FLOAT32)
    registry.get_func("f")([(out, 1), Shape((3,))])
    assert out.initialised


def test_read_only_tensors_are_given_as_copies(registry):
    array = np.zeros(2, np.float32)
    array.flags.writeable = False
    seen = []
    registry.register("look", lambda x, *_: seen.append(x.numpy().copy()))
    registry.register("write", lambda pair: pair[0].numpy().fill(1))
    registry.get_func("look")([Tensor.from_numpy(array), 5])
    assert seen[0].tolist() == [0, 0]
    with pytest.raises(Trap) as failure:
        registry.get_func("write")([(Tensor.from_numpy(array),)])
    assert code(failure) == "RM404"
    assert "read-only" in str(failure.value)
    assert array.tolist() == [0, 0]


def test_what_a_function_raises_is_the_cause(registry):
    def failing(*_):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    registry.register("mm", failing)

    def silent():
        raise KeyError

    registry.register("silent", silent)
    with pytest.raises(Trap) as failure:
        registry.get_func("mm")([1])
    assert code(failure) == "RM403"
    assert "`mm` raised RuntimeError: mat1 and mat2" in str(failure.value)
    assert isinstance(failure.value.__cause__, RuntimeError)
    with pytest.raises(Trap, match=r"raised KeyError\n"):
        registry.get_func("silent")([])


def test_the_wrong_number_of_arguments_is_an_exception_of_the_function(registry):
    registry.register("one", lambda x: x)
    with pytest.raises(Trap) as failure:
        registry.get_func("one")([1, 2])
    assert code(failure) == "RM403"


def test_our_own_failures_pass_through(registry):
    def failing():
        raise fail(OUT_OF_BOUNDS, "inside")

    registry.register("f", failing)
    with pytest.raises(Undefined):
        registry.get_func("f")([])


def test_interrupts_pass_through(registry):
    def interrupted():
        raise KeyboardInterrupt

    registry.register("f", interrupted)
    with pytest.raises(KeyboardInterrupt):
        registry.get_func("f")([])


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2.5, "text", INT8, Shape((1, 2)), (1, (2, 3)), Closure("c", len), PackedFunc("p", lambda *_: 0)],
    ids=str,
)
def test_values_are_returned_as_they_are(registry, value):
    registry.register("f", lambda: value)
    assert registry.get_func("f")([]) == value


def test_arrays_come_back_as_tensors_on_the_same_memory(registry):
    array = np.arange(3, dtype=np.float32)
    registry.register("f", lambda: [array, np.float32(2.5), np.int8(3), np.bool_(1)])
    result = registry.get_func("f")([])
    assert isinstance(result, tuple)
    assert np.shares_memory(result[0].numpy(), array)
    assert result[1:] == (2.5, 3, True)
    assert [type(item) for item in result[1:]] == [float, int, bool]


def test_torch_tensors_come_back_as_tensors(registry):
    torch = imported("torch")
    theirs = torch.arange(3)
    registry.register("f", lambda: theirs)
    result = registry.get_func("f")([])
    theirs[0] = 9
    assert result.numpy().tolist() == [9, 1, 2]


@pytest.mark.parametrize("value", [object(), {1: 2}, {1}, 1j, b"x"], ids=lambda value: type(value).__name__)
def test_what_is_no_value(registry, value):
    registry.register("f", lambda: value)
    with pytest.raises(Trap) as failure:
        registry.get_func("f")([])
    assert code(failure) == "RM404"
    assert type(value).__name__ in str(failure.value)


@pytest.mark.parametrize("value", [np.zeros(2, np.complex64), np.array([None]), np.zeros(2, ">f4")])
def test_arrays_that_are_no_tensors(registry, value):
    registry.register("f", lambda: value)
    with pytest.raises(Trap) as failure:
        registry.get_func("f")([])
    assert code(failure) == "RM404"


def test_a_kept_tensor_stays_valid(registry):
    kept = []
    registry.register("keep", kept.append)
    out = Tensor.empty((2,), FLOAT32)
    registry.get_func("keep")([out])
    del out
    other = Tensor.empty((2,), FLOAT32)
    kept[0].array[...] = 7
    assert other.array.tolist() == [0, 0]


def test_a_closure_is_called_with_its_arguments():
    assert Closure("c", sum)([1, 2]) == 3


def test_values_in_words():
    storage = Storage(4, origin="`A`")
    words = {
        "null": None,
        "a tensor (2,) of float32": tensor([1, 2], "float32"),
        "the shape (1, 2)": Shape((1, 2)),
        "a tuple of 2": (1, 2),
        "the int 3": 3,
        "the bool True": True,
        "the float 0.5": 0.5,
        "the string 'x'": "x",
        "the dtype int8": INT8,
        "the function `c`": Closure("c", len),
        "a pointer to `A` + 2 bytes": Pointer(storage, 2),
        "a pointer to memory + 0 bytes": Pointer(Storage(1)),
        "an object of type complex": 1j,
    }
    for text, value in words.items():
        assert kind_of(value) == text
    assert repr(Shape((1, 2))) == "R.shape([1, 2])"
    assert "captured" not in repr(Closure("c", len, (1,)))


def test_a_result_that_holds_itself(registry):
    inside = []
    inside.append(inside)
    registry.register("f", lambda: inside)
    with pytest.raises(Trap) as failure:
        registry.get_func("f")([])
    assert code(failure) == "RM404"
