"""Eight models of PyTorch, imported and run: `python tests/e2e/torch_times.py [--tvm PYTHON] [MODEL …]`.

| column      | says                                                                                            |
|-------------|-------------------------------------------------------------------------------------------------|
| ops         | bindings of the imported function                                                               |
| text        | the module's text reads back as an equal module, and the check finds nothing                    |
| tiers       | interpreter and C give equal bits (small sizes)                                                 |
| error/bound | the greatest distance of PyTorch's result to the exact one, and what is certified (small sizes) |
| C, PyTorch  | milliseconds of the thread, the median of `--runs` calls on one thread (real sizes)             |
| TVM         | the same of TVM's default build for this CPU, in its own environment (`--tvm`)                  |

Ends with 1 where a claim does not hold.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch_architectures import CASES, case

import refmlc
from refmlc.frontends.torch_export import from_exported_program, params_of
from refmlc.observe.bounds import certify
from refmlc.rewrite.transform import legalize_ops

APART = 1e-4
"""How far results of real sizes may be from PyTorch's, relative to the greatest; small ones are certified."""

TVM_SIDE = Path(__file__).parent / "tvm_side" / "time_module.py"


def flat(result: object) -> list[object]:
    """The tensors of a result, of tuples too."""
    return [one for part in result for one in flat(part)] if isinstance(result, tuple | list) else [result]


def exported(name: str, *, large: bool) -> tuple[object, torch.export.ExportedProgram]:
    """A case, and what PyTorch exports of it."""
    made = case(name, large=large)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        return made, torch.export.export(made.model, made.inputs)


def small(name: str) -> dict[str, object]:
    """What is claimed of a model of small size."""
    made, program = exported(name, large=False)
    module = from_exported_program(program)
    back = refmlc.read(module.script(show_meta=True))
    args = [one.numpy() for one in made.inputs]
    runs = [flat(refmlc.VirtualMachine(refmlc.build(module, tier))["main"](*args)) for tier in ("interp", "native")]
    with torch.no_grad():
        wanted = [one.numpy() for one in flat(made.model(*made.inputs))]
    certified = certify(legalize_ops(module), "main", args).outputs
    within = len(certified) == len(wanted) and all(
        tensor.permits(at, float(value))
        for tensor, want in zip(certified, wanted, strict=True)
        for at, value in enumerate(want.ravel())
    )
    error = max(float(np.abs(want - tensor.centre).max()) for tensor, want in zip(certified, wanted, strict=True))
    return {
        "ops": sum(len(block.bindings) for block in module.functions["main"].body.blocks),
        "text": refmlc.structural_equal(back, module),
        "tiers": all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(*runs, strict=True)),
        "within": within,
        "error": error,
        "bound": max(float(tensor.bound.max()) for tensor in certified),
    }


def milliseconds(call: Callable[[], object], runs: int) -> float:
    """The median of the thread's time."""
    call()
    taken = []
    for _ in range(runs):
        start = time.thread_time()
        call()
        taken.append(time.thread_time() - start)
    return 1000 * statistics.median(taken)


def large(name: str, runs: int, tvm: str | None) -> dict[str, float]:
    """Times of a model of real size, in milliseconds; how far the results are apart, relative to the greatest."""
    made, program = exported(name, large=True)
    module = from_exported_program(program)
    args = [one.numpy() for one in made.inputs]
    main = refmlc.VirtualMachine(refmlc.build(module, "native"))["main"]
    with torch.no_grad():
        wanted = flat(made.model(*made.inputs))[0].numpy()
        theirs = milliseconds(lambda: made.model(*made.inputs), runs)
    found = flat(main(*args))[0].numpy()
    times = {
        "C": milliseconds(lambda: main(*args), runs),
        "PyTorch": theirs,
        "apart": float(np.abs(found - wanted).max() / np.abs(wanted).max()),
    }
    return times | ({} if tvm is None else {"TVM": on_tvm(tvm, program, args, runs)})


def on_tvm(python: str, program: torch.export.ExportedProgram, args: list[np.ndarray], runs: int) -> float:
    """The time of TVM's default build of the imported module, its parameters being arguments."""
    module = from_exported_program(program, keep_params_as_input=True)
    main = module.functions["main"]
    params = params_of(program)
    given = [*args, *(params[var.name] for var in main.params[len(args) :])]
    with tempfile.TemporaryDirectory() as folder:
        text, arrays = Path(folder, "module.py"), Path(folder, "arguments.npz")
        text.write_text(module.script(show_meta=True), encoding="utf-8")
        np.savez(arrays, *given)
        command = [python, str(TVM_SIDE), str(text), str(arrays), str(runs)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr[-2000:])
        return float("nan")
    return float(done.stdout.split()[-1])


def main() -> int:
    """Print the table."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("names", nargs="*", metavar="MODEL", default=list(CASES))
    reader.add_argument("--runs", type=int, default=7)
    reader.add_argument("--tvm", metavar="PYTHON", help="an interpreter that has TVM")
    given = reader.parse_args()
    torch.set_num_threads(1)
    shown = Table(title="models of PyTorch, one thread")
    for column in ("model", "ops", "text", "tiers", "error", "bound", "C ms", "PyTorch ms", "ratio", "apart", "TVM ms"):
        shown.add_column(column, justify="left" if column == "model" else "right")
    sound = True
    for name in given.names:
        a, b = small(name), large(name, given.runs, given.tvm)
        sound &= bool(a["text"] and a["tiers"] and a["within"]) and b["apart"] < APART
        shown.add_row(
            name,
            str(a["ops"]),
            "equal" if a["text"] else "DIFFERS",
            "equal" if a["tiers"] else "DIFFER",
            f"{a['error']:.1e}",
            f"{a['bound']:.1e}" if a["within"] else f"{a['bound']:.1e} BROKEN",
            f"{b['C']:.2f}",
            f"{b['PyTorch']:.2f}",
            f"{b['C'] / b['PyTorch']:.2f}",
            f"{b['apart']:.0e}",
            f"{b['TVM']:.2f}" if "TVM" in b else "",
        )
    Console(width=120).print(shown)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
