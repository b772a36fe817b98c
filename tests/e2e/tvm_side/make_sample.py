"""Make the sample: modules printed by real TVM, with inputs and what its default `llvm` build returns.

Run inside TVM's environment: `python make_sample.py DIRECTORY [QUICK]`. Writes `NAME.py` (the text), `NAME.npz`
(inputs i0…, results o0…, as raw bytes with dtypes in the index) and `index.json`.
"""

import json
import sys
import traceback
from pathlib import Path

import models
import numpy as np
import operators
import schedules
import tvm
from tvm import relax

TARGET = tvm.target.Target("llvm")


def flatten(value) -> list[np.ndarray]:
    """Tensors of a result, tuples in order."""
    if hasattr(value, "numpy"):
        return [value.numpy()]
    return [array for item in value for array in flatten(item)]


class Writer:
    """Collects entries into a directory."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.index = directory, []

    def add(self, group: str, name: str, module, entry: str, inputs, outputs, error: str = "") -> None:
        """One module; `outputs` None: read and shown only."""
        stem = f"{len(self.index):04d}"
        (self.directory / f"{stem}.py").write_text(module.script(show_meta=True), encoding="utf-8")
        arrays = {f"i{n}": np.asarray(a) for n, a in enumerate(inputs)}
        arrays |= {f"o{n}": np.asarray(a) for n, a in enumerate(outputs or [])}
        kinds = {key: [str(a.dtype), list(np.shape(a))] for key, a in arrays.items()}
        raw = {key: np.frombuffer(a.tobytes(), np.uint8) for key, a in arrays.items()}
        np.savez_compressed(self.directory / f"{stem}.npz", **raw)
        self.index.append(
            {
                "stem": stem,
                "group": group,
                "name": name,
                "entry": entry,
                "arrays": kinds,
                "run": outputs is not None,
                "error": error,
            }
        )

    def close(self) -> None:
        """Write the index."""
        (self.directory / "index.json").write_text(json.dumps(self.index, indent=1))


def run_relax(module, entry: str, inputs) -> list[np.ndarray]:
    """What TVM's virtual machine returns."""
    machine = relax.VirtualMachine(tvm.compile(module, TARGET), tvm.cpu())
    return flatten(machine[entry](*[tvm.runtime.tensor(value) for value in inputs]))


def run_prim(module, inputs) -> list[np.ndarray]:
    """The last argument after the call."""
    arguments = [tvm.runtime.tensor(value) for value in inputs]
    tvm.compile(module, TARGET)["main"](*arguments)
    return [arguments[-1].numpy()]


def attempt(function, *arguments) -> tuple[list[np.ndarray] | None, str]:
    """The outputs, or TVM's last line of complaint."""
    try:
        return function(*arguments), ""
    except Exception:
        return None, traceback.format_exc().strip().splitlines()[-1][:200]


def main() -> None:
    """Make the sample."""
    writer, quick = Writer(Path(sys.argv[1])), len(sys.argv) > 2
    for number, case in enumerate(operators.sample_cases()):
        if quick and number % 8:
            continue
        module = operators.build(case)
        try:
            module = models.legalized(module)
        except AttributeError as problem:  # TVM's own lowering of nn.pixel_shuffle is broken
            writer.add("operator", case.name, module, "main", case.inputs, None, str(problem))
            continue
        outputs, error = attempt(run_relax, module, "main", case.inputs)
        writer.add("operator", case.name, module, "main", case.inputs, outputs, error)
    prims = [("te", schedules.functions()), ("schedule", schedules.scheduled(1 if quick else 4))]
    for group, entries in prims:
        for name, module, values in entries:
            outputs, error = attempt(run_prim, module, values)
            writer.add(group, name, module, "main", values, outputs, error)
    done: dict[str, list[np.ndarray] | None] = {}
    for name, module, values, plain in schedules.lowered():
        source = name.split("@")[0]
        if plain and source not in done:
            done[source] = attempt(run_prim, module, values)[0]
        entry = next(iter(module.functions)).name_hint
        writer.add("lowered", name, module, entry, values, done[source])
    for name, module, values, plain_module in schedules.gpu():
        outputs, error = attempt(run_prim, plain_module, values)
        writer.add("gpu", name, module, "main", values, outputs, error)
    for name, module, entry, values in models.models():
        lowered = models.legalized(module)
        outputs, error = attempt(run_relax, lowered, entry, values)
        writer.add("model", name, lowered, entry, values, outputs, error)
        fused = relax.transform.FuseTIR()(relax.transform.FuseOps()(relax.transform.AnnotateTIROpPattern()(lowered)))
        writer.add("model", f"{name}/fused", fused, entry, values, outputs, error)
    writer.close()


if __name__ == "__main__":
    main()
