"""The command that executes kernels on logical tiles and after TVM's lowering, on two texts written here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tirx_table import Outcome, tried

COMMAND = Path(__file__).parent / "tirx_table.py"
TEXT = """
# from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32")):
    with T.attr({"tirx.device_entry": T.bool(True)}):
        T.cta_id([1])
        T.lane_id([32])
        T.thread_id([32])
        S = T.alloc_shared((32, 32), layout=T.TileLayout(T.S[(32, 32):(32, 1)]))
        T.warp.copy(S[0:32, 0:32], A[0:32, 0:32])
        T.cuda.cta_sync()
        T.warp.copy(B[0:32, 0:32], S[0:32, 0:32])
"""
BROKEN = TEXT.replace("        T.lane_id([32])\n        T.thread_id([32])\n", "")


@pytest.mark.parametrize(("texts", "verdict"), [((BROKEN, None), "unread"), ((TEXT, BROKEN), "lowered")])
def test_what_breaks_a_static_rule_is_not_undefined(texts, verdict):
    outcome = tried(*texts, "", Outcome("main", "kernel"), "main")
    assert (outcome.verdict, "RM214" in outcome.reason) == (verdict, True), outcome.reason


@pytest.mark.needs("tvm")
def test_kernels_are_compared_and_a_run_goes_on(tmp_path):
    corpus, verdicts = tmp_path / "corpus", tmp_path / "verdicts.jsonl"
    corpus.mkdir()
    (corpus / "test_here__one.py").write_text(TEXT)
    command = [sys.executable, str(COMMAND), "--tvm", os.environ["REFMLC_TVM_PYTHON"], "--corpus", str(corpus)]
    command += ["--verdicts", str(verdicts)]

    def ran(*options):
        done = subprocess.run([*command, *options], check=False, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, [json.loads(line) for line in verdicts.read_text().splitlines()]

    shown, lines = ran()
    (outcome,) = lines[0]["outcomes"]
    assert outcome["verdict"] == "equal"
    assert {(operator, scope) for operator, _, scope in outcome["variants"]} == {("tirx.tile.copy", "warp")}
    assert " 1 taken by a kernel, 1 with one that agrees" in shown
    (corpus / "test_here__two.py").write_text(TEXT.replace("B[0:32, 0:32]", "B[0:16, 0:32]"))
    shown, again = ran("--time", "-1")
    assert again == lines
    assert shown.splitlines()[-1] == "1 texts are left"
