"""Memory at its edges: what was never written and is forgotten, views without elements."""

import numpy as np
import pytest

from refmlc.diag import Malformed
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.array_memory import span_of
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor


def test_forgetting_what_was_never_written():
    """Forgetting makes nothing known: not the bytes beside the forgotten one either."""
    storage = Storage(8, unit=4)
    storage.forget(1, 1)
    assert not any(storage.is_initialised(at, 1) for at in range(8))


def test_an_array_without_elements_touches_nothing():
    assert span_of((0, 3), (3, 1), 4) == (0, 0)
    assert span_of((3, 0), (-4, 4), 4) == (0, 0)
    assert span_of((3, 2), (-4, 16), 4) == (-8, 20)  # from two steps of 4 below to one of 16 above, and 4 bytes of it


def test_a_strided_tensor_without_elements_has_no_cells():
    tensor = Tensor(Storage(16, unit=4), FLOAT32, (0, 2), (4, 1))
    assert len(tensor.cells) == 0
    assert len(tensor.shadow) == 0
    assert tensor.numpy().shape == (0, 2)
    assert tensor.numpy().dtype == np.float32


def test_strides_are_one_per_dimension():
    with pytest.raises(Malformed) as failure:
        Tensor(Storage(16), FLOAT32, (2, 2), (1,))
    assert failure.value.diagnostic.message == "1 strides are given for 2 dimensions"
