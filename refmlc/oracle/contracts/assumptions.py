"""Contracts that the caller writes: `--assume LINE`, `assume=` in Python, and a TOML file beside the module.

    format = 1
    assume = ["page_indices: distinct"]        # of every function that has these parameters

    [functions.main]
    assume = ["indptr: ascending, indptr[0] == 0", "n % 16 == 0"]

The file of `gemm.py` is `gemm.contract.toml`; `schema.json` beside this file describes it. One without `format` is of
version 1: people write it by hand.
"""

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE, BROKEN_CONTRACT
from refmlc.diag.versions import KEY, FileFormat
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.oracle.contracts.contract import WRITTEN, ArgumentContract, Contracts
from refmlc.oracle.contracts.language import references
from refmlc.oracle.contracts.parse import parse
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.parameters import parameters_of, size_names

FORMAT = FileFormat("file of contracts", missing=1)
SUFFIX = ".contract.toml"
LARGEST = 1 << 20  # bytes of a file


def assumed(lines: str | Iterable[str], source: str = "--assume", func: str = "") -> tuple[ArgumentContract, ...]:
    """The contracts of a written line, or of several. Fails: RM112 for a line that is none."""
    each = [lines] if isinstance(lines, str) else lines
    return tuple(ArgumentContract(parse(line), WRITTEN, None, source, func) for line in each)


def written(assume: str | Collection[str], module: IRModule) -> tuple[ArgumentContract, ...]:
    """The contracts of the option `assume=`: a line or several. Fails: RM112 for a line that is none, or of nothing."""
    rows = assumed(assume, "assume")
    known_assumptions(module, rows)
    return rows


def contract_file(path: Path) -> Path:
    """The file of contracts beside a module."""
    return path.with_name(path.stem + SUFFIX)


def assumed_beside(path: Path) -> tuple[ArgumentContract, ...]:
    """The contracts in the file beside the module at `path`, which need not exist. Fails: RM109, RM112."""
    file = contract_file(path)
    if not file.is_file():
        return ()
    if file.stat().st_size > LARGEST:
        raise fail(BAD_FILE, f"`{file}` has more than {LARGEST} bytes")
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise fail(BAD_FILE, f"`{file}` is not TOML: {problem}") from None
    return tuple(_rows(data, file))


def _rows(data: Mapping[str, object], file: Path) -> list[ArgumentContract]:
    FORMAT.require(data, str(file))
    rows = list(_lines(data, file, ""))
    functions = data.get("functions", {})
    if data.keys() - {KEY, "assume", "functions"} or not isinstance(functions, dict):
        names = ", ".join(map(repr, data))
        raise fail(BAD_FILE, f"`{file}` has the keys {names}: it may have `{KEY}`, `assume`, `functions`")
    for name, table in functions.items():
        if not isinstance(table, dict) or table.keys() - {"assume"}:
            raise fail(BAD_FILE, f"`{file}`: `functions.{name}` may have the key `assume` only")
        rows += _lines(table, file, str(name))
    return rows


def _lines(table: Mapping[str, object], file: Path, func: str) -> tuple[ArgumentContract, ...]:
    lines = table.get("assume", [])
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise fail(BAD_FILE, f"`{file}`: `assume` is a list of lines")
    return assumed([str(line) for line in lines], file.name, func)


def known_assumptions(module: IRModule, rows: Collection[ArgumentContract]) -> None:
    """Require that each contract is of some function. Fails: RM112."""
    functions = [name for name, function in module.functions.items() if not isinstance(function, relax.ExternFunc)]
    for row in rows:
        if not any(row in applicable(module, name, [row]) for name in functions):
            names = ", ".join(dict.fromkeys(value.name for clause in row.clauses for value in references(clause)))
            of = f"`{row.func}` has" if row.func else "no function has"
            message = f"the contract `{row.text}` speaks of {names}: {of} not all of them"
            raise fail(BAD_USAGE, message, None, f"it is from {row.source}")


def applicable(module: IRModule, func: str, rows: Iterable[ArgumentContract]) -> tuple[ArgumentContract, ...]:
    """Those of `rows` that are of the function: it has every name that they speak of."""
    function = module.functions[func]
    if isinstance(function, relax.ExternFunc):
        return ()
    names = {parameter.name for parameter in parameters_of(function)} | set(size_names(function))
    return tuple(
        row
        for row in rows
        if row.func in ("", func) and all(value.name in names for clause in row.clauses for value in references(clause))
    )


def violation_by_caller(contracts: Contracts, values: Mapping[str, object]) -> RefmlcError | None:
    """The failure if arguments of the caller violate a written contract (RM115); None: they do not."""
    violation = contracts.of(WRITTEN).violation(values)
    if violation is None:
        return None
    return fail(BROKEN_CONTRACT, str(violation), None, f"the contract is from {violation.contract.source}")


def violation_of_call(
    module: IRModule, func: str, rows: Iterable[ArgumentContract], arguments: Sequence[object]
) -> RefmlcError | None:
    """The failure if the arguments of a call violate one of the written contracts `rows` (RM115); None: none does."""
    applied = applicable(module, func, rows)
    if not applied:
        return None
    return violation_by_caller(Contracts(applied), values_of_call(module.functions[func], arguments))


def values_of_call(function: object, arguments: Sequence[object]) -> dict[str, object]:
    """The values that contracts speak of: arguments by the names of their parameters, and sizes by theirs."""
    values: dict[str, object] = {}
    parameters = parameters_of(function) if isinstance(function, tir.PrimFunc | relax.Function) else []
    for parameter, argument in zip(parameters, arguments, strict=False):
        if isinstance(argument, Tensor):
            shape = parameter.ty.shape if isinstance(parameter.ty, TensorType) else None
            for extent, size in zip(shape or (), argument.shape, strict=False):
                if isinstance(extent, tir.Var):
                    values.setdefault(extent.name, size)
            if argument.initialised:
                values[parameter.name] = argument.array
        elif isinstance(argument, bool | int | float):
            values[parameter.name] = argument
    return values
