"""`--tier` on the command line: the same results, the same messages, the same exit status."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from refmlc.cli import main

GEMM = """
@T.prim_func
def gemm(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
"""
TIERS = ("auto", "interp", "native")


@pytest.fixture
def gemm(tmp_path, monkeypatch):
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "gemm.py"
    path.write_text(GEMM)
    return path


def test_run_gives_the_same_bits_in_every_tier(gemm):
    options = ("run", str(gemm), "--input", "A=normal(1)", "--input", "B=normal(2)", "--json")
    told = [CliRunner().invoke(main, [*options, "--tier", tier]) for tier in TIERS]
    assert [each.exit_code for each in told] == [0, 0, 0]
    (first,) = {json.loads(each.stdout)["results"][0]["sha256"] for each in told}
    assert len(first) == 64
    assert json.loads(told[2].stdout)["results"][0]["initialised"] is True


def test_run_says_the_same_of_undefined_programs_in_every_tier(gemm):
    gemm.write_text(GEMM.replace("B[vk, vj]", "B[vk + 1, vj]"))
    options = ("run", str(gemm), "--input", "A=ones", "--input", "B=ones")
    told = [CliRunner().invoke(main, [*options, "--tier", tier]) for tier in TIERS]
    assert [each.exit_code for each in told] == [1, 1, 1]
    (message,) = {each.stderr for each in told}
    assert "RM304" in message
    assert "index 0 is 8, extent is 8" in message


def test_an_unknown_tier_is_refused(gemm):
    told = CliRunner().invoke(main, ["run", str(gemm), "--tier", "fast"])
    assert told.exit_code == 2
    assert "'auto', 'interp', 'native'" in told.stderr


def test_the_demo_takes_a_tier(tmp_path, monkeypatch):
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(tmp_path / "cache"))
    scores = []
    for tier in ("interp", "native"):
        options = ("demo", "--count", "3", "--tier", tier, "--png", str(tmp_path / "digit.png"), "--json")
        told = CliRunner().invoke(main, options)
        assert told.exit_code == 0, told.output
        scores.append([(row["variant"], row["right"], row["difference"]) for row in json.loads(told.stdout)["rows"]])
    assert scores[0] == scores[1]
    assert np.isfinite([row[2] for row in scores[0]]).all()
