"""Both importers of PyTorch with real TVM: a call that TVM's importer computes wrongly is found, named and shrunk."""

import numpy as np
import pytest
from campaigns import finding_errors
from needs import TVM_PYTHON

from refmlc.oracle.fuzz.result import FindingRecord
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.imports import torch_imports
from refmlc.oracle.fuzz.subjects.imports.importers import IMPORTER, OURS
from refmlc.oracle.fuzz.subjects.imports.torch_operators import TorchCall, TorchProgram

pytestmark = pytest.mark.needs("importers", "torch")
SECONDS = 120.0


def test_a_wrong_importer_is_found_by_one_call():
    settings = CampaignSettings(
        kinds=(torch_imports.KIND,), implementations=(f"tvm:{TVM_PYTHON}",), program_seconds=SECONDS
    )
    judge = torch_imports.TorchJudge((TVM_PYTHON,), SECONDS)
    calls = (TorchCall("neg", ("x",)), TorchCall("F.hardsigmoid", ("y0",)))
    program = TorchProgram(calls, {}, {"x": np.array([np.nan, 1.0, 2.0], "float32")})
    assert torch_imports.judged(judge, OURS, program)[0] == "equal"
    verdict, why, finding = torch_imports.judged(judge, f"{IMPORTER}{TVM_PYTHON}", program)
    assert (verdict, why) == ("wrong", "")
    assert finding.cause == ("F.hardsigmoid", "special", "float32", "nan")
    record = torch_imports.record_of(settings, 5, judge, finding)
    assert record.message.startswith("tvm 0.")
    assert "its importer is wrong" in record.message
    small = torch_imports.shrink_program(settings, FindingRecord.from_json(record.to_json()), SECONDS)
    assert small["elements"] == [3, 1]
    assert finding_errors(record, small) == []
