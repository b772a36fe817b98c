"""Operators of Relax as they are, with inputs and what TVM gives for them: `python operator_results.py DIRECTORY`.

As `make_sample`, but the modules hold the operators themselves; `NAME.legal.py` is what TVM's `LegalizeOps` makes.
"""

import sys
from pathlib import Path

import models
import operators
from make_sample import Writer, attempt, run_relax

REFUSALS = (AttributeError, AssertionError, NotImplementedError, TypeError, ValueError, RuntimeError)


def main() -> None:
    """Write all cases, or those whose name begins with one of the further arguments."""
    writer, wanted = Writer(Path(sys.argv[1])), tuple(sys.argv[2:])
    for case in operators.cases():
        if wanted and not case.name.startswith(wanted):
            continue
        module = operators.build(case)
        try:
            legal = models.legalized(module)
        except REFUSALS as problem:  # TVM's own lowering of nn.pixel_shuffle is broken, that of some slices refuses
            writer.add("operator", case.name, module, "main", case.inputs, None, str(problem))
            continue
        outputs, error = attempt(run_relax, legal, "main", case.inputs)
        writer.add("operator", case.name, module, "main", case.inputs, outputs, error)
        stem = writer.index[-1]["stem"]
        (writer.directory / f"{stem}.legal.py").write_text(legal.script(), encoding="utf-8")  # show_meta crashes
    writer.close()


if __name__ == "__main__":
    main()
