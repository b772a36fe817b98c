"""`refmlc run FILE`: execute a function of a module on given or generated inputs."""

import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from pathlib import Path
from time import perf_counter

import click
import numpy as np
from rich.table import Table

import refmlc
from refmlc.cli.call import Call, call_options, tier_option
from refmlc.cli.console import err, out, print_json
from refmlc.cli.options import PATH, json_option, threads_option
from refmlc.diag.catalogue import BAD_FILE, MEMORY_EXHAUSTED
from refmlc.diag.errors import fail
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.initialisation import UninitialisedWarning, missing, missing_text
from refmlc.run.memory.tensor import Tensor

JSON_ELEMENTS = 1000
SHOWN_ELEMENTS = 6
MOST_RESULTS = 10_000


@dataclass(frozen=True, slots=True)
class Result:
    """A tensor that the function returned or wrote into an argument."""

    name: str
    tensor: Tensor


@click.command(epilog="Example: refmlc run gemm.py --input A=ones --input 'B=normal(7)' --out out")
@call_options
@click.option("--out", "directory", type=PATH, help="Write each result to PATH/NAME.npy.")
@tier_option
@threads_option
@json_option
def run(call: Call, directory: Path | None, tier: str, *, as_json: bool) -> None:
    """Run a function of the module in FILE and print its results.

    Parameters of a prim_func without an input are its outputs: allocated uninitialised, printed after the run.
    """
    budget = Budget(max_steps=call.max_steps) if call.max_steps else Budget()
    machine = refmlc.VirtualMachine(refmlc.build(call.module, tier=tier, budget=budget))
    start = perf_counter()
    with err.status(f"running {call.func} …"):
        value = machine[call.func](*call.arguments.values)
    seconds = perf_counter() - start
    results = [*results_of(value), *(Result(name, tensor) for name, tensor in call.arguments.outputs.items())]
    if directory is not None:
        write(results, directory)
    for result in results:
        if not result.tensor.initialised:
            warnings.warn(missing_text(result.tensor, f"`{result.name}`"), UninitialisedWarning, stacklevel=1)
    if as_json:
        print_json(
            {"file": str(call.file), "func": call.func, "seconds": seconds, "results": [as_data(r) for r in results]}
        )
    else:
        out.print(table(call.func, results, value))
        err.print(f"{seconds:.3f} s", style="dim")


def results_of(value: object) -> list[Result]:
    """The tensors in a returned value. Fails: RM603 if there are too many to print."""
    results = list(islice(named(value, "result"), MOST_RESULTS + 1))
    if len(results) > MOST_RESULTS:
        raise fail(MEMORY_EXHAUSTED, f"the function returns more than {MOST_RESULTS} tensors")
    return results


def named(value: object, name: str) -> Iterator[Result]:
    """The tensors in a returned value, tuples flattened with their indices."""
    if isinstance(value, Tensor):
        yield Result(name, value)
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from named(item, f"{name}.{number}")


def write(results: list[Result], directory: Path) -> None:
    """Write every result as `.npy`. Fails: RM109."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for result in results:
            np.save(directory / f"{result.name}.npy", result.tensor.array, allow_pickle=False)
    except OSError as problem:
        raise fail(BAD_FILE, f"{problem.filename or directory}: {problem.strerror}") from problem


def as_data(result: Result) -> dict[str, object]:
    """A result for machines: values as strings of Python floats where JSON has no such number, null for no value."""
    array = result.tensor.array
    is_small = array.size <= JSON_ELEMENTS
    flat, mask = (part.reshape(-1).tolist() if is_small else [] for part in (array, result.tensor.written))
    values = [in_json(value) if is_written else None for value, is_written in zip(flat, mask, strict=True)]
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return {
        "name": result.name,
        "shape": list(array.shape),
        "dtype": str(result.tensor.dtype),
        "initialised": result.tensor.initialised,
        "unwritten": missing(result.tensor),
        "sha256": digest,
        "values": values if is_small else None,
    }


def in_json(value: object) -> object:
    """A number for JSON; NaN and infinities as strings."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def table(func: str, results: list[Result], value: object) -> Table:
    """The results for people."""
    rows = Table(title=f"{func}", title_justify="left")
    for column in ("result", "shape", "dtype", "values"):
        rows.add_column(column)
    for result in results:
        flat, mask = result.tensor.array.reshape(-1), result.tensor.written.reshape(-1)
        first = zip(flat[:SHOWN_ELEMENTS], mask[:SHOWN_ELEMENTS], strict=True)
        more = ", …" if flat.size > SHOWN_ELEMENTS else ""
        values = ", ".join(str(value) if is_written else "?" for value, is_written in first) + more
        shape = "x".join(map(str, result.tensor.shape)) or "scalar"
        rows.add_row(result.name, shape, str(result.tensor.dtype), values)
    if not results and value is not None:
        rows.add_row("result", "", type(value).__name__, repr(value))
    return rows
