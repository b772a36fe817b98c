"""No false alarms: programs of the course, and modules printed by real TVM, under the sanitizer."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import sanitized_sample

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.wellformed.reader_checks import read_file
from refmlc.observe.sanitize import sanitize
from refmlc.run.memory.budget import Budget

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
# Texts of 2022 let variables out of dataflow blocks, with a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*is used after its dataflow block:UserWarning")

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.py"))
SIZE = 3  # of symbolic dimensions


def ones(shape, dtype):
    sizes = [extent.value if isinstance(extent, tir.IntImm) else SIZE for extent in shape]
    return np.ones(sizes, storage_dtype(dtype))


def arguments(function):
    """Ones of the declared shapes; None where a parameter is no tensor."""
    if isinstance(function, tir.PrimFunc):
        buffers = [function.buffer_map.get(param) for param in function.params]
        return None if None in buffers else [ones(buffer.shape, buffer.dtype) for buffer in buffers]
    types = [param.ty for param in getattr(function, "params", [None])]
    if not all(isinstance(ty, TensorType) and ty.shape is not None and ty.dtype is not None for ty in types):
        return None
    return [ones(ty.shape, ty.dtype) for ty in types]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_have_no_findings(path):
    """As far as some thousand steps go; programs that the static rules refuse are not run."""
    try:
        module = read_file(path)
    except RefmlcError as refused:
        assert refused.code.id.startswith("RM2")  # noqa: PT017 - there is nothing to run
        return
    for name, function in module.functions.items():
        given = None if isinstance(function, relax.ExternFunc) else arguments(function)
        if given is None:
            continue
        try:
            report = sanitize(module, name, given, budget=Budget(max_steps=5_000))
        except RefmlcError as refused:
            assert refused.code.id.startswith("RM1")  # noqa: PT017 - what does not begin is not sanitized
            continue
        assert [finding for finding in report.findings if finding.diagnostic.code.id.startswith("RM3")] == [], name


@pytest.fixture(scope="module")
def outcomes(tvm_sample):
    index = json.loads((tvm_sample / "index.json").read_text(encoding="utf-8"))
    return [sanitized_sample.run((str(tvm_sample), entry, 60)) for entry in index]


@pytest.mark.needs("tvm")
def test_no_finding_in_the_sample_is_unexplained(outcomes):
    assert sum(outcome.verdict == "defined" for outcome in outcomes) >= 700
    assert sanitized_sample.unexplained(outcomes) == []


@pytest.mark.needs("tvm")
def test_every_explanation_of_a_finding_is_needed(outcomes):
    met = {(code, outcome.name) for outcome in outcomes for code, _, _ in outcome.findings}
    assert set(sanitized_sample.explained()) <= met
