"""Kernels of TVM whose threads wait for each other are executed in C, and give what the interpreter gives."""

import os

import pytest
from threads_table import compared, printed, refusal


@pytest.mark.needs("tvm", "compiler")
def test_key_value_kernels_are_compiled_and_equal(tmp_path):
    kernels = dict(printed(tmp_path, os.environ["REFMLC_TVM_PYTHON"], ("kv",)))
    assert len(kernels) == 16
    assert {name: reason for name, func in kernels.items() if (reason := refusal(func))} == {}
    for name in ("kv/metal/decode main", "kv/metal/decode_sliding main"):
        result, slow, fast = compared(kernels[name])
        assert result == "equal"
        assert fast < slow
