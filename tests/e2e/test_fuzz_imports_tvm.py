"""Both importers of ONNX with real TVM: an attribute that TVM ignores is found, named and shrunk."""

from dataclasses import replace

import numpy as np
import pytest
from campaigns import finding_errors
from needs import TVM_PYTHON, need

from refmlc.lang.script import read
from refmlc.oracle.fuzz.result import FindingRecord
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.imports import importers

pytestmark = pytest.mark.needs("onnx_importer", "onnx")
SECONDS = 120.0
SETTINGS = CampaignSettings(
    kinds=(importers.KIND,), implementations=(f"tvm:{TVM_PYTHON}",), program_seconds=SECONDS, seed=1
)
PATH = f"{importers.IMPORTER}{TVM_PYTHON}"


@pytest.fixture(scope="module")
def judge():
    return importers.Judge((TVM_PYTHON,), SECONDS)


@pytest.fixture(scope="module")
def signs():
    """Which elements are infinite, without negative ones; an attribute that does not matter besides."""
    need("onnx")
    from refmlc.oracle.fuzz.subjects.imports.onnx_graphs import OnnxGraph, OnnxNode  # noqa: PLC0415 - ONNX is optional

    nodes = (
        OnnxNode("Neg", ("x",), ("a",)),
        OnnxNode("IsInf", ("a",), ("b",), {"detect_negative": 0, "detect_positive": 1}),
    )
    x = np.array([[np.inf, 1.0], [-np.inf, 2.0], [0.25, 3.0]], "float32")
    return OnnxGraph(13, nodes, {}, {"x": x}, ("b",))


def test_a_wrong_importer_is_found_by_one_node_and_as_its_row(judge, signs):
    assert importers.judged(judge, importers.OURS, signs)[0] == "equal"
    verdict, why, finding = importers.judged(judge, PATH, signs)
    assert (verdict, why) == ("wrong", "")
    assert finding.cause == ("IsInf", "detect_negative", "opset10", "value")
    assert [node.op for node in finding.graph.nodes] == ["IsInf"]
    record = importers.record_of(SETTINGS, 5, judge, finding)
    assert record.message.startswith("tvm 0.")
    assert "as the known row onnx-isinf-signs" in record.message
    assert "its importer is wrong" in record.message
    assert record.code == "RM706"
    again = FindingRecord.from_json(record.to_json())
    small = importers.shrink_graph(SETTINGS, again, SECONDS)
    assert finding_errors(again, small) == []
    before, after = small["elements"]
    assert (before, after) == (6, 1)
    assert small["case"]["cause"] == list(finding.cause)


def test_the_module_of_the_importer_is_shown(judge, signs):
    module = read(judge.shown(TVM_PYTHON, signs))
    assert "R.isinf(" in module.script()
    refused = replace(signs, nodes=(replace(signs.nodes[0], op="Celu", outputs=("b",)),))
    assert judge.shown(TVM_PYTHON, refused) == ""


def test_what_tvm_refuses_by_name_is_counted_with_its_reason():
    settings = replace(SETTINGS, exclude=tuple(sorted(set(importers.operator_names()) - {"Celu"})))
    result = importers.run_graphs(settings, 0, [0])
    assert result.verdicts[PATH] == {"unsupported": 1}
    assert any("Celu" in reason for reason in result.reasons[PATH])
    assert not result.findings
