"""Arrays of NumPy in a text, in place: what NumPy itself makes of the same expression, or a refusal."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read

HEAD = """
import numpy as np
{0}

@R.function
def main(x: R.Tensor((2,), "float32")):
    z = R.const({1})
    return z
"""


def constant(expression, before=""):
    """The constant that `R.const(expression)` is."""
    return read(HEAD.format(before, expression))["main"].body.blocks[-1].bindings[-1].value


ARRAYS = (
    "np.array([1, 3], dtype=np.int64), 'int64'",
    "np.array([[1.5, -2], [3, 4]], np.float32)",
    "np.array(4, dtype='int32')",
    "np.array([True, False])",
    "np.array([1, 2], 'uint8')",
    "np.array([], dtype=np.float32)",
    "np.asarray([0.1], dtype='float16')",
    "np.zeros((2, 3), dtype='int8')",
    "np.ones([2, 2], np.float32)",
    "np.ones(3, bool)",
    "np.full((2,), 0.25, dtype=np.float32)",
    "np.eye(2, 3, dtype='float32')",
    "np.eye(3, k=-1, dtype=np.int32)",
    "np.arange(24, dtype=np.float32).reshape((3, 8))",
    "np.arange(7, 1, -2, dtype='int32')",
    "np.arange(6, dtype='int32').reshape(2, -1).astype('uint8')",
    "np.finfo(np.float32).max, 'float32'",
    "np.finfo('float16').min",
    "np.iinfo(np.int32).max, 'int32'",
    "np.float32(0.1)",
    "np.int8(-3)",
    "np.pi, 'float32'",
    "-np.inf, 'float32'",
)


@pytest.mark.parametrize("expression", ARRAYS)
def test_arrays_are_those_of_numpy(expression):
    found = constant(expression)
    value, dtype = eval(f"(lambda value, dtype=None: (value, dtype))({expression})", {"np": np, "bool": bool})  # noqa: S307
    expected = np.array(value, dtype) if dtype else np.asarray(value)
    assert np.array_equal(found.data, expected)
    assert str(found.dtype) == str(expected.dtype)


def test_wide_numbers_become_narrow_as_in_every_constant():
    assert str(constant("np.array([1, 3])").dtype) == "int32"
    assert str(constant("np.zeros((2,))").dtype) == "float32"


REFUSED = {
    "np.array(['a'])": "RM103",
    "np.array([x])": "RM103",
    "np.array([1, [2]])": "RM107",
    "np.array([300], dtype='uint8')": "RM107",
    "np.array([1 << 70])": "RM107",
    "np.array([np.nan], dtype='float32').astype('int32')": "RM107",
    "np.array([1], dtype='complex64')": "RM106",
    "np.array([1], dtype='builtin.int')": "RM106",
    "np.array([1], dtype='int')": "RM106",
    "np.array([1], 'int32', copy=True)": "RM105",
    "np.zeros((-1,))": "RM103",
    "np.zeros((True,))": "RM103",
    "np.zeros((1 << 20, 1 << 20))": "RM107",
    "np.eye(1 << 10)": "RM107",
    "np.arange(1 << 40)": "RM107",
    "np.arange(0.5)": "RM105",
    "np.arange(0, 4, 0)": "RM105",
    "np.arange(6).reshape(4)": "RM107",
    "np.arange(6).tofile('x')": "RM103",
    "np.finfo(np.int32).max": "RM105",
    "np.iinfo(np.float32).max": "RM105",
    "np.finfo(np.float32).dtype": "RM103",
    "np.float64(1.0)": "RM103",
    "np.load('x.npy')": "RM103",
    "np.random.rand(2)": "RM103",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(expression):
    with pytest.raises(RefmlcError) as caught:
        constant(expression)
    assert caught.value.code.id == REFUSED[expression]


def test_a_name_does_not_stand_for_an_array():
    """Code that is skipped may change it: `W[0] = 3`."""
    with pytest.raises(RefmlcError) as caught:
        constant("W", "W = np.ones((2,), 'float32')")
    assert caught.value.code.id == "RM114"
    assert "ndarray" in caught.value.diagnostic.message


def test_large_arrays_around_a_definition_do_not_matter():
    assert constant("1", "W = np.full((1 << 20, 1 << 20), 1.0)\nV = [np.zeros((64, 64)) for i in range(8)]").data == 1


def test_many_arrays_use_the_budget_up():
    with pytest.raises(RefmlcError) as caught:
        constant("1", "V = [np.zeros((64, 64)) for i in range(5000)]")
    assert caught.value.code.id == "RM606"
