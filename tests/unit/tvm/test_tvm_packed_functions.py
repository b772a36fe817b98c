"""`tvm.get_global_func`: functions by name, with and without one of that name."""

import numpy as np
import pytest

from refmlc import tvm
from refmlc.diag import RefmlcError
from refmlc.tvm import ffi


def test_a_missing_function_is_none_where_it_may_be_missing():
    assert tvm.get_global_func("nowhere.at_all", True) is None
    assert tvm.get_global_func("nowhere.at_all", allow_missing=True) is None
    with pytest.raises(RefmlcError, match="RM402"):
        tvm.get_global_func("nowhere.at_all")
    with pytest.raises(RefmlcError, match="RM504"):  # TVM has it
        tvm.get_global_func("vm.builtin.kv_state_add_sequence", True)


def test_a_registered_function_is_given():
    tvm.register_func("test_tvm_packed_functions.twice", lambda x: x.numpy() * 2, override=True)
    np.testing.assert_array_equal(tvm.get_global_func("test_tvm_packed_functions.twice")(np.ones(2)).numpy(), [2, 2])


def test_a_tensor_in_another_shape_shares_its_memory():
    view = tvm.get_global_func("vm.builtin.reshape", True)
    tensor = tvm.runtime.tensor(np.arange(6, dtype="float32"))
    matrix = view(tensor, ffi.Shape([2, 3]))
    np.testing.assert_array_equal(matrix.numpy(), [[0, 1, 2], [3, 4, 5]])
    matrix.numpy()[1, 2] = 7
    assert tensor.numpy()[5] == 7
