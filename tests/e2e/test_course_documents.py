"""The course's documents, every block of code executed as it is printed, every output compared.

`REFMLC_SEEDS` names the folder of the documents. The data come from the shipped files; PyTorch and matplotlib are
needed by blocks of the chapters themselves.
"""

import os
import re
from pathlib import Path

import pytest
from needs import missing

from refmlc.tools.course import run_document
from refmlc.tools.course.outputs import DIFFERS, EQUAL
from refmlc.tools.course.run import EXCERPT, FAILED, NEEDS, RAN

SEEDS = os.environ.get("REFMLC_SEEDS", "")
DOCUMENTS = sorted(Path(SEEDS).glob("*.txt")) if SEEDS else []
# Counted by hand in the documents: blocks of code, excerpts among them, printed modules and functions.
COUNTS = {"000": (29, 4, 0), "001": (29, 5, 2), "002": (29, 5, 0), "003": (39, 6, 9), "004": (25, 2, 2)}

pytestmark = pytest.mark.needs("seeds")


@pytest.fixture(scope="module", params=DOCUMENTS, ids=lambda path: path.stem[:3])
def report(request):
    return run_document(request.param)


def test_no_block_fails(report):
    assert [(one.line, one.why) for one in report.blocks if one.status == FAILED] == []


def test_what_is_no_program_is_told(report, record_property):
    blocks, excerpts, _ = COUNTS[report.name[:3]]
    record_property("blocks", f"{report.count(RAN)} ran, {report.count(EXCERPT)} excerpts, {report.count(NEEDS)} need")
    assert len(report.blocks) == blocks
    assert report.count(EXCERPT) == excerpts
    for one in report.blocks:
        if one.status == EXCERPT:
            assert one.why
            assert not [note for note in one.notes if note.startswith("not read")]


def test_blocks_need_only_what_is_not_installed(report):
    wanted = [name for name in ("torch", "matplotlib") if missing(name)]
    needed = {one.why.removeprefix("needs ") for one in report.blocks if one.status == NEEDS}
    assert needed <= set(wanted)


def test_every_output_is_equal_or_explained(report):
    different = [one for block in report.blocks for one in block.outputs if one.verdict == DIFFERS]
    assert different == []


@pytest.mark.needs("torch")
def test_printed_modules_are_equal_in_structure_and_names(report):
    printed = [block for block in report.blocks if re.search("@T.prim_func|@R.function", block.text) and block.outputs]
    assert len(printed) == COUNTS[report.name[:3]][2]
    assert {(one.verdict, one.reason) for block in printed for one in block.outputs} <= {(EQUAL, "")}


@pytest.mark.needs("torch")
def test_all_ways_to_run_the_model_agree(report):
    text = "\n".join(block.text for block in report.blocks)
    predictions = re.findall(r"Predicti?on: (.*)", text)
    assert len(predictions) >= 2
    assert len(set(predictions)) == 1
