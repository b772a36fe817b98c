"""Runs under TVM's Python: kernels of TIRx after LowerTIRx for CUDA, as TVM prints them. No GPU is needed.

`lower_tirx.py DIRECTORY [ARCH]` reads each `NAME.py`, and writes `NAME.lowered`, or `NAME.refused` with the reason, and
`NAME.variants`: operator, variant and scope of each tile primitive that was dispatched. `registered.variants` has those
that TVM knows. What is written already is passed over, so that a run that a fault ended goes on.
"""

import json
import sys
from functools import wraps
from pathlib import Path

import tvm
from tvm.tirx.operator.tile_primitive import dispatcher
from tvm.tirx.transform import BindTarget, LowerTIRx

KIND = "cuda"


def watched(case, operator, seen):
    """Note in `seen` each call that the variant takes."""
    implementation = case.impl

    @wraps(implementation)
    def noted(call, context):
        result = implementation(call, context)
        seen.append((operator, case.variant, context.scope_kind))
        return result

    case.impl = noted


def watch(seen):
    """Watch all variants; those that are registered."""
    registered = []
    for (operator, kind), cases in dispatcher._DISPATCH_TABLE.items():
        if kind == KIND:
            for case in cases:
                watched(case, operator.name, seen)
                registered.append((operator.name, case.variant))
    return registered


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
    target = tvm.target.Target({"kind": KIND, "arch": arch})
    seen = []
    (directory / "registered.variants").write_text(json.dumps(watch(seen)), "utf-8")
    for path in sorted(directory.glob("*.py")):
        result, reason = path.with_suffix(".lowered"), path.with_suffix(".refused")
        if result.exists() or reason.exists():
            continue
        reason.write_text("it ends by a fault", "utf-8")
        seen.clear()
        try:
            text = lowered(path.read_text("utf-8"), target)
        except Exception as failure:
            lines = [line for line in str(failure).splitlines() if line.strip(" |^")]
            reason.write_text(lines[-1][:300] if lines else type(failure).__name__, "utf-8")
        else:
            reason.unlink()
            result.write_text(text, "utf-8")
        path.with_suffix(".variants").write_text(json.dumps(sorted(set(seen))), "utf-8")


main()
