"""Runs under TVM's Python: kernels of TIRx after LowerTIRx for CUDA, as TVM prints them. No GPU is needed.

`lower_tirx.py DIRECTORY [ARCH]` reads each `NAME.py`, and writes `NAME.lowered`, or `NAME.refused` with the reason.
What is written already is passed over, so that a run that a fault ended goes on.
"""

import sys
from pathlib import Path

import tvm
from tvm.tirx.transform import BindTarget, LowerTIRx


def lowered(text, target):
    """The text of the lowered module."""
    module = tvm.script.from_source(text, s_tir=False)
    if isinstance(module, tvm.tirx.PrimFunc):
        module = tvm.IRModule({"main": module})
    with target:
        return LowerTIRx()(BindTarget(target.with_host("llvm"))(module)).script(show_meta=True)


def main():
    """Lower each text."""
    directory, arch = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "sm_90a"
    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    for path in sorted(directory.glob("*.py")):
        result, reason = path.with_suffix(".lowered"), path.with_suffix(".refused")
        if result.exists() or reason.exists():
            continue
        reason.write_text("it ends by a fault", "utf-8")
        try:
            text = lowered(path.read_text("utf-8"), target)
        except Exception as failure:
            lines = [line for line in str(failure).splitlines() if line.strip(" |^")]
            reason.write_text(lines[-1][:300] if lines else type(failure).__name__, "utf-8")
        else:
            reason.unlink()
            result.write_text(text, "utf-8")


main()
