"""Correct programs, for `check_power.py`: whoever accuses one of them is wrong.

| source      | is                                                                                                   |
|-------------|------------------------------------------------------------------------------------------------------|
| `library`   | a call of each operator of Relax, on float32 and on int32, as `tests/operator_calls.py` has them     |
| `kernels`   | the TensorIR functions that `legalize_ops` makes of these calls, each on its own; one whose result   |
|             | has a size that its caller computes (`sized_by_caller`) with its caller                              |
| `schedules` | rolled pipelines after a step of a schedule that refmlc calls legal (`step_applications.py`)         |
| `models`    | small models of `relax.frontend.nn`, and programs of `tests/programs` that take no minutes           |
| `faults`    | the correct half of each planted fault                                                               |
| `tvm`       | modules that real TVM prints and executes: operators, lowered operators, models, schedules           |
| `kv`        | the kernels of the paged key-value cache that real TVM prints, for three targets                     |

The last two come from folders that programs of `tvm_side` write: `make_sample.py` and `kv_kernels.py`.
"""

# ruff: noqa: E402 - tests import by name from folders beside

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "property"), str(Path(__file__).parent)]

import nn_models
from operator_calls import EXTENTS, rows
from operator_runs import text
from step_applications import STEPS, applied, draw

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.statements import stored_buffers
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import checked, read
from refmlc.rewrite.transform import legalize_ops
from refmlc.tvm import topi
from refmlc.tvm.relax.frontend import nn

DTYPES = ("float32", "int32")
SEEDS = 4  # applications that are drawn for each step
NOT_EXECUTED = ("GenericConst", "packed")  # constants without metadata, functions from outside
PROGRAMS = ("printed_softmax", "several_functions")


@dataclass(frozen=True)
class Innocent:
    """A correct program."""

    source: str
    name: str
    module: IRModule


def library() -> Iterator[Innocent]:
    """The calls that the type rules take."""
    for row in rows():
        for dtype in DTYPES if "{D}" in row.call or any(not param.dtype for param in row.params) else DTYPES[:1]:
            module = _readable(text(row, dtype, EXTENTS))
            if module is not None:
                yield Innocent("library", f"{row.call} {dtype}", module)


def kernels() -> Iterator[Innocent]:
    """Each function once, whichever calls have it. It is public where it stands alone."""
    for name, alone, lowered in _lowered():
        yield Innocent("kernels", name, lowered if sized_by_caller(alone) else alone)


def kernels_of_free_sizes() -> Iterator[Innocent]:
    """The functions of `sized_by_caller` alone: at sizes that their callers never ask for they are undefined."""
    for name, alone, _ in _lowered():
        if sized_by_caller(alone):
            yield Innocent("free sizes", name, alone)


def sized_by_caller(alone: IRModule) -> bool:
    """Whether a size of the only function stands in what it writes and in nothing that it is given.

    The result of `nonzero` has as many columns as the argument has elements that are not 0; another function counts
    them first. No declaration says so: alone, the function is undefined at each other size.
    """
    (function,) = alone.functions.values()
    written = stored_buffers(function.body)
    sizes = {True: set(), False: set()}
    for buffer in function.buffer_map.values():
        sizes[buffer in written].update(node for extent in buffer.shape for node in walk(extent))
    return any(isinstance(node, tir.Var) for node in sizes[True] - sizes[False] - {*function.params})


def _lowered() -> Iterator[tuple[str, IRModule, IRModule]]:
    """The name of each function that a call means, the function alone, and the module that calls it."""
    known = set()
    for call in library():
        try:
            lowered = legalize_ops(call.module)
        except RefmlcError:
            continue
        for name, function in lowered.functions.items():
            if not isinstance(function, tir.PrimFunc):
                continue
            alone = IRModule({name: replace(function, private=False)})
            key = show(alone)
            if key not in known:
                known.add(key)
                yield f"{name} of {call.name}", alone, lowered


def schedules() -> Iterator[Innocent]:
    """The applications that are legal."""
    for step in STEPS:
        for seed in range(SEEDS):
            application = draw(step, seed)
            if application is None:
                continue
            try:
                function = applied(application.func, *application.words)
                yield Innocent(
                    "schedules",
                    f"{' '.join(map(str, application.words[:2]))} {seed}",
                    checked(IRModule({"main": function})),
                )
            except RefmlcError:
                continue


def models() -> Iterator[Innocent]:
    """What `relax.frontend.nn` exports, and small files of `tests/programs`."""
    for name, model in nn_models.texts(nn, topi).items():
        text_of_model = model.get("text", "")
        if any(word in text_of_model for word in NOT_EXECUTED):
            continue
        module = _readable(text_of_model) if text_of_model else None
        if module is not None:
            yield Innocent("models", name, module)
    for name in PROGRAMS:
        module = _readable((TESTS / "programs" / f"{name}.py").read_text(encoding="utf-8"))
        if module is not None:
            yield Innocent("models", name, module)


def printed(folder: Path, source: str) -> Iterator[Innocent]:
    """The texts of real TVM in a folder: those that TVM executes, where an index says so."""
    index = folder / "index.json"
    entries = json.loads(index.read_text(encoding="utf-8")) if index.exists() else []
    names = {entry["stem"]: f"{entry['group']}: {entry['name']}" for entry in entries if entry["run"]}
    for file in sorted(folder.rglob("*.py")):
        name = names.get(file.stem, "") if entries else file.relative_to(folder).with_suffix("").as_posix()
        module = _readable(file.read_text(encoding="utf-8")) if name else None
        if module is not None:
            yield Innocent(source, name, module)


def _readable(source: str) -> IRModule | None:
    """The module; None where refmlc does not read it, or refuses it by a static rule."""
    try:
        return read(source, "a correct program")
    except RefmlcError:
        return None
