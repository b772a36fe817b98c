"""The contracts of TVM's kernels that depend on values, printed by TVM itself."""

import os

import pytest
from contract_table import line_of, printed


@pytest.mark.needs("tvm")
def test_nine_of_ten_kernels_have_their_contracts(tmp_path):
    lines = [line_of(name, file) for name, file in printed(tmp_path, os.environ["REFMLC_TVM_PYTHON"])]
    dependent = [line for line in lines if line.uses]
    assert len(dependent) >= 50
    assert sum(line.is_expressed or bool(line.contracts) for line in dependent) >= 0.9 * len(dependent)
    by_name = {line.name: line.contracts for line in lines}
    assert "0 <= page_table_values < max_num_pages" in by_name["cuda/decode"]
    assert "0 <= length_info <= 16" in by_name["cuda/decode"]
    assert "page_table_indptr: ascending" in by_name["cuda/decode"]
    assert by_name["operators/take_fast"] == ("0 <= indices < n",)
    assert by_name["operators/take_clip"] == ()
    assert by_name["operators/scatter_elements_add"] == ("-n <= indices < n",)
