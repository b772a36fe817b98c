"""Every recorded deviation of TVM is proved again: refmlc gives what is expected, TVM what is recorded."""

import json
import os
import signal
import subprocess
from pathlib import Path

import known
import numpy as np
import pytest
from scalar_edges import differing

import refmlc
from refmlc.ir.equal import structural_equal
from refmlc.script import show

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
RUN_MODULE = Path(__file__).parent / "tvm_side" / "run_module.py"
needs_tvm = pytest.mark.skipif(not PYTHON, reason="REFMLC_TVM_PYTHON names no Python that has apache-tvm")
each = pytest.mark.parametrize("row", known.ROWS, ids=[row["id"] for row in known.ROWS])
LIMIT = 120


def meaning(module, arguments):
    """What refmlc computes: an array, or the code of what it finds."""
    try:
        result = refmlc.VirtualMachine(refmlc.build(refmlc.read(module)))["main"](*arguments)
    except refmlc.RefmlcError as failure:
        return failure.code.id
    return arguments[-1] if result is None else result.numpy()


def assert_is(found, stated):
    """A result is what a row states: an array to the bit, NaN as one class, or a word."""
    if isinstance(stated, str):
        assert isinstance(found, str)
        assert found.startswith(stated)
        return
    array = known.array(stated)
    assert isinstance(found, np.ndarray), found
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert not differing(found, array).any(), found


@each
def test_refmlc_gives_what_is_expected(row):
    if row["expected"] == "text":
        module = refmlc.read(row["module"])
        assert structural_equal(refmlc.read(show(module, show_meta=True)), module)
        return
    assert_is(meaning(row["module"], list(map(known.array, row["input"]))), row.get("refmlc", row["expected"]))


@pytest.fixture(scope="module")
def answers():
    """What TVM does with each row, by id."""
    requests = [
        {
            "module": row["module"],
            "action": row.get("action", "run"),
            "arguments": [[a[0], np.shape(a[1]), known.array(a).tobytes().hex()] for a in row["input"]],
        }
        for row in known.ROWS
    ]
    command = [PYTHON, str(RUN_MODULE)]
    done = subprocess.run(
        command, input=json.dumps(requests), capture_output=True, text=True, check=True, timeout=LIMIT
    )
    return dict(zip([row["id"] for row in known.ROWS], json.loads(done.stdout), strict=True))


def said(answer, row):
    """TVM's answer as a row states it. The text of a rewritten module is run by refmlc."""
    match answer:
        case {"signal": number}:
            return signal.Signals(number).name
        case {"error": message}:
            return message
        case {"text": text}:
            return meaning(text, list(map(known.array, row["input"])))
        case {"array": [name, shape, raw]}:
            array = np.frombuffer(bytes.fromhex(raw), known.array([name, []]).dtype).reshape(shape)
            return "runs" if row["got"] == "runs" else array
    raise AssertionError(answer)


@pytest.mark.tvm
@needs_tvm
@each
def test_tvm_does_what_is_recorded(row, answers):
    assert_is(said(answers[row["id"]], row), row["got"])
