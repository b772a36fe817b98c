"""The rules of `dlight` take the functions that those of TVM 0.27 take: the functions of `tvm_kernels`."""

from functools import cache

import pytest
import tvm_kernels

pytestmark = pytest.mark.needs("tvm")


@cache
def both():
    real = tvm_kernels.theirs()
    return tvm_kernels.ours(real), real


def test_every_rule_takes_what_tvms_takes():
    ours, real = both()
    differences = {
        (name.partition(": ")[0], rule): verdict
        for name, row in real.items()
        for rule, verdict in row["takes"].items()
        if ours[name]["takes"][rule] != (verdict is True)
    }
    # TVM's rule ends in an exception on six columns, which eight threads do not divide
    assert differences == {("33 R.nn.rms_norm(x, y, axes=[-1])", "RMSNorm"): "ValueError"}


def test_each_rule_takes_some_and_declines_some():
    _, real = both()
    for rule in set(tvm_kernels.RULES) - {"LowBatchGEMV", "Fallback"}:
        assert {row["takes"][rule] for row in real.values()} >= {True, False}, rule
