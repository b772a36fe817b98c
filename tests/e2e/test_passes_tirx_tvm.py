"""TVM's pipeline of TIRx, from tiles to the device function, stage by stage on the CPU; a planted fault is named."""

import os
from dataclasses import replace

import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main
from refmlc.oracle.passes.check import check
from refmlc.oracle.passes.run import TvmPasses

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
TILES = """
from tvm.script import tirx as T

@T.prim_func
def reversed_sum(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    T.device_entry()
    bx = T.cta_id([1])
    tx = T.thread_id([8])
    tile = T.alloc_shared((8,), "int32")
    tile[tx] = A[tx]
    T.cuda.cta_sync()
    B[tx] = tile[tx] - tile[7 - tx]
"""
TILE_COPY = TILES.replace("tile[tx] = A[tx]", "T.cta.copy(tile, A)")

pytestmark = pytest.mark.needs("tvm")


@pytest.fixture(scope="module")
def stages():
    """The stages of `reversed_sum` for CUDA."""
    text = refmlc.show(refmlc.read(TILES), show_meta=True)
    with TvmPasses(PYTHON, target="cuda", pipelines={"tir_pipeline": "tirx"}) as tvm:
        return tvm(text)


def test_every_stage_has_the_meaning_of_the_kernel(stages):
    found = check(stages, calls=3)
    assert {row.verdict.value for row in found.rows} == {"same"}
    names = [row.name for row in found.rows]
    assert names[1] == "tirx.TilePrimitiveDispatch"
    assert names.index("tirx.SplitHostDevice") < names.index("tirx.LowerWarpMemory")
    assert "launch_thread" in stages.stages[-1].text


def test_a_barrier_that_a_pass_drops_is_found(stages):
    place = next(number for number, stage in enumerate(stages.stages) if stage.name == "tirx.SplitHostDevice")
    texts = ["\n".join(line for line in each.text.split("\n") if "cta_sync" not in line) for each in stages.stages]
    faulty = [replace(each, text=text) for each, text in zip(stages.stages[place:], texts[place:], strict=True)]
    assert texts[place] != stages.stages[place].text
    broken = check(replace(stages, stages=(*stages.stages[:place], *faulty)), small=False, calls=3).broken
    assert broken is not None
    assert (broken.name, "tile[" in broken.diagnostic.message) == ("tirx.SplitHostDevice", True)


@pytest.mark.parametrize(
    ("text", "why"), [(TILES, "Cannot resolve ScopeIdDef"), (TILE_COPY, "no registered variants")], ids=["ids", "copy"]
)
def test_what_a_target_has_no_lowering_of_is_no_fault(text, why, tmp_path):
    file = tmp_path / "tiles.py"
    file.write_text(text, encoding="utf-8")
    asked = ["passes", str(file), "--tvm", PYTHON, "--calls", "1", "--pipeline", "tirx", "--target", "metal"]
    done = CliRunner().invoke(main, asked)
    assert (done.exit_code, done.stderr) == (0, "")
    said = next(line for line in done.stdout.splitlines() if line.startswith("the compiler"))
    assert said.startswith("the compiler stopped (not taken): ")
    assert why in said
    assert "T.prim_func" not in said
