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
from refmlc.cli.console import err, json_option, out, print_json
from refmlc.cli.inputs import Inputs, gather
from refmlc.cli.registering import register, register_option
from refmlc.diag.catalogue import BAD_FILE, MEMORY_EXHAUSTED
from refmlc.diag.errors import fail
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.initialisation import UninitialisedWarning, missing, missing_text
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.tiers import AUTO, NAMES

JSON_ELEMENTS = 1000
SHOWN_ELEMENTS = 6
MOST_RESULTS = 10_000


@dataclass(frozen=True, slots=True)
class Result:
    """One tensor that the function gave back: returned, or written into an argument."""

    name: str
    tensor: Tensor


@click.command(epilog="Example: refmlc run gemm.py --input A=ones --input 'B=normal(7)' --out out")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--func", help="The function to run.  [default: main, or the only one]")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help=Inputs.HELP)
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="The size of a symbolic dimension.")
@click.option("--params", type=click.Path(path_type=Path), help="Inputs by name: .npz, .safetensors or .pkl.")
@click.option("--out", "directory", type=click.Path(path_type=Path), help="Write each result to PATH/NAME.npy.")
@click.option(
    "--tier",
    type=click.Choice(NAMES),
    default=AUTO,
    show_default=True,
    help="Interpret, compile to C, or compile when it pays (auto).",
)
@click.option("--max-steps", type=click.IntRange(1), help="Stop after this many statements (RM601).")
@register_option
@json_option
def run(  # noqa: PLR0913 - one parameter per option
    file: Path,
    func: str | None,
    inputs: tuple[str, ...],
    dims: tuple[str, ...],
    params: Path | None,
    directory: Path | None,
    tier: str,
    max_steps: int | None,
    *,
    registered: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Run a function of the module in FILE and print its results.

    Parameters of a prim_func without an input are its outputs: allocated uninitialised, printed after the run.
    """
    module = refmlc.read_file(file)
    register(registered)
    func = func or (next(iter(module.functions)) if len(module.functions) == 1 else "main")
    arguments = gather(module, func, inputs, dims, params)
    budget = Budget(max_steps=max_steps) if max_steps else Budget()
    machine = refmlc.VirtualMachine(refmlc.build(module, tier=tier, budget=budget))
    start = perf_counter()
    with err.status(f"running {func} …"):
        value = machine[func](*arguments.values)
    seconds = perf_counter() - start
    results = [*results_of(value), *(Result(name, tensor) for name, tensor in arguments.outputs.items())]
    if directory is not None:
        write(results, directory)
    for result in results:
        if not result.tensor.initialised:
            warnings.warn(missing_text(result.tensor, f"`{result.name}`"), UninitialisedWarning, stacklevel=1)
    if as_json:
        print_json({"file": str(file), "func": func, "seconds": seconds, "results": [as_data(r) for r in results]})
    else:
        out.print(table(func, results, value))
        err.print(f"{seconds:.3f} s", style="dim")


def results_of(value: object) -> list[Result]:
    """The tensors in a returned value. Fails: RM603 if there are too many to print."""
    found = list(islice(named(value, "result"), MOST_RESULTS + 1))
    if len(found) > MOST_RESULTS:
        raise fail(MEMORY_EXHAUSTED, f"the function returns more than {MOST_RESULTS} tensors")
    return found


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
    few = array.size <= JSON_ELEMENTS
    flat, there = (part.reshape(-1).tolist() if few else [] for part in (array, result.tensor.written))
    values = [in_json(value) if known else None for value, known in zip(flat, there, strict=True)]
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return {
        "name": result.name,
        "shape": list(array.shape),
        "dtype": str(result.tensor.dtype),
        "initialised": result.tensor.initialised,
        "unwritten": missing(result.tensor),
        "sha256": digest,
        "values": values if few else None,
    }


def in_json(value: object) -> object:
    """A number as JSON has it; NaN and infinities, which it has not, as strings."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def table(func: str, results: list[Result], value: object) -> Table:
    """The results for people."""
    shown = Table(title=f"{func}", title_justify="left")
    for column in ("result", "shape", "dtype", "values"):
        shown.add_column(column)
    for result in results:
        flat, there = result.tensor.array.reshape(-1), result.tensor.written.reshape(-1)
        first = zip(flat[:SHOWN_ELEMENTS], there[:SHOWN_ELEMENTS], strict=True)
        more = ", …" if flat.size > SHOWN_ELEMENTS else ""
        values = ", ".join(str(value) if known else "?" for value, known in first) + more
        shape = "x".join(map(str, result.tensor.shape)) or "scalar"
        shown.add_row(result.name, shape, str(result.tensor.dtype), values)
    if not results and value is not None:
        shown.add_row("result", "", type(value).__name__, repr(value))
    return shown
