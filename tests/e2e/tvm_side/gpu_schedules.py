"""Runs under TVM's Python: operators as TVM's default rules schedule them for CUDA, at three stages of the lowering.

`gpu_schedules.py DIRECTORY` writes `<stage>/<number>.py`, a module for each operator of `tvm_kernels.OPERATORS`. No
GPU is needed. Passes after these stages may refuse a module; its texts are written all the same.

| stage       | is                                                                              |
|-------------|---------------------------------------------------------------------------------|
| `scheduled` | the functions as the rules leave them: reductions across threads are blocks     |
| `synced`    | after `ThreadSync`: barriers and reductions over threads are in the text        |
| `shuffled`  | after `LowerThreadAllreduce`: reductions are shuffles within a warp             |
"""

import sys
from pathlib import Path

import tvm
from tvm import relax, tirx
from tvm.ir import IRModule
from tvm.s_tir import dlight, pipeline

sys.path.insert(0, str(Path(__file__).parents[1]))

from tvm_kernels import texts

STAGES = {"ThreadSync": "synced", "LowerThreadAllreduce": "shuffled"}


def keeping(texts_by_stage):
    """An instrument that keeps the text after each pass of `STAGES`."""

    @tvm.instrument.pass_instrument
    class Keeping:
        """Keeps the last text of each stage."""

        def run_after_pass(self, mod, info):
            """Keep the module."""
            stage = STAGES.get(info.name.rsplit(".", 1)[-1])
            if stage is not None:
                texts_by_stage[stage] = mod.script()

    return Keeping()


def main():
    """Schedule and lower each operator; what TVM refuses is said on standard error."""
    directory = Path(sys.argv[1])
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_80"})
    gpu = dlight.gpu
    rules = (gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback())
    for number, (call, text) in enumerate(texts()):
        kept = {}
        try:
            with target:
                module = relax.get_pipeline("zero")(tvm.script.from_source(text))
                functions = {var: f for var, f in module.functions_items() if isinstance(f, tirx.PrimFunc)}
                scheduled = dlight.ApplyDefaultSchedule(*rules)(IRModule(functions))
            kept["scheduled"] = scheduled.script()
            with target, tvm.transform.PassContext(instruments=[keeping(kept)]):
                bound = tirx.transform.BindTarget(tvm.target.Target(target, host="llvm"))(scheduled)
                pipeline.default_s_tir_pipeline()[0](bound)
        except Exception as problem:
            if len(kept) <= len(STAGES):
                print(f"{call}: {type(problem).__name__}: {str(problem)[:100]}", file=sys.stderr)  # noqa: T201 - for people
        for stage, script in kept.items():
            folder = directory / stage
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number:02}.py").write_text(script, encoding="utf-8")


main()
