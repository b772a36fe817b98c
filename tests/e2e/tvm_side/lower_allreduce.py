"""Runs under TVM's Python: reductions over threads after LowerThreadAllreduce, as TVM prints them. No GPU is needed.

`lower_allreduce.py DIRECTORY` reads each `NAME.py`, and writes `NAME.lowered`, or `NAME.refused` with the reason.
"""

import sys
from pathlib import Path

import tvm


def main():
    """Lower each text."""
    lower = tvm.s_tir.transform.LowerThreadAllreduce()
    for path in sorted(Path(sys.argv[1]).glob("*.py")):
        try:
            module = lower(tvm.script.from_source(path.read_text("utf-8"), s_tir=True))
            path.with_suffix(".lowered").write_text(module.script(show_meta=True), "utf-8")
        except Exception as failure:
            path.with_suffix(".refused").write_text(str(failure).strip().splitlines()[-1][:300], "utf-8")


main()
