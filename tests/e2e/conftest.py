"""The sample of modules that real TVM prints: made once for all tests and processes of a run."""

import fcntl
import os

import pytest
import sample_table


@pytest.fixture(scope="session")
def tvm_sample(tmp_path_factory):
    """The folder of the whole sample (`tvm_side/make_sample.py`). Whoever comes first makes it, the others wait."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tvm_sample"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            sample_table.make_sample(os.environ["REFMLC_TVM_PYTHON"], folder, quick=False)
            (folder / "made").touch()
    return folder
