"""The kinds of findings on importers: how a program is read from data, who judges it, and what it is called.

| kind            | program        | is right         |
|-----------------|----------------|------------------|
| `imports`       | `OnnxGraph`    | ONNX's evaluator |
| `torch-imports` | `TorchProgram` | PyTorch          |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from refmlc.lazy import load
from refmlc.oracle.fuzz.subjects.imports import importers, torch_imports
from refmlc.oracle.fuzz.subjects.imports.importer_process import ImportJudge
from refmlc.oracle.fuzz.subjects.imports.tensor_reduction import StoredProgram
from refmlc.oracle.fuzz.subjects.imports.torch_operators import TorchProgram, function_of

Data = Mapping[str, object]
P = TypeVar("P", bound=StoredProgram)
DTYPE_KINDS = "biuf"  # of NumPy's dtypes that tensors of a file may have


@dataclass(frozen=True)
class ImportKind(Generic[P]):
    """A kind. `package`: of the framework; `data`: the key of a case; `names`: of the calls."""

    name: str
    package: str
    framework: str
    witness: str
    data: str
    missing: Callable[[], str]
    read: Callable[[Data], P]
    judge: Callable[[Sequence[str], float], ImportJudge[P]]
    names: Callable[[P], Sequence[str]]
    cause: Callable[[P, str], tuple[str, ...]]


def _read_graph(data: Data) -> Any:  # noqa: ANN401 - a graph, whose module needs ONNX
    """The graph, of which ONNX makes a model."""
    graph = load(f"{importers.GRAPHS}:OnnxGraph").from_json(data)
    graph.model()
    return graph


def _read_program(data: Data) -> TorchProgram:
    """The program. Raises ValueError for names that a text of Python does not have."""
    program = TorchProgram.from_json(data)
    names = [*program.constants, *program.arguments]
    names += [word for call in program.calls for word in (*call.inputs, *call.options)]
    strange = next((name for name in names if not (name.isascii() and name.isidentifier())), None)
    if strange is not None:
        raise ValueError(f"`{strange}` is not a name")
    return program


KINDS: Mapping[str, ImportKind[Any]] = {
    importers.KIND: ImportKind(
        importers.KIND,
        importers.FRAMEWORK,
        "ONNX",
        "ONNX's evaluator",
        "graph",
        importers.missing,
        _read_graph,
        importers.Judge,
        lambda graph: [node.op for node in graph.nodes],
        importers.cause_of,
    ),
    torch_imports.KIND: ImportKind(
        torch_imports.KIND,
        "torch",
        "PyTorch",
        "PyTorch",
        "program",
        torch_imports.missing,
        _read_program,
        torch_imports.TorchJudge,
        lambda program: [function_of(call.function) for call in program.calls],
        torch_imports.cause_of,
    ),
}


def program_of(kind: str, data: Data) -> StoredProgram:
    """The program of some data. Raises whatever its framework raises; ValueError for a tensor without numbers."""
    tables = [data[key] for key in ("constants", "arguments")]
    dtypes = [array[0] for table in tables if isinstance(table, Mapping) for array in table.values()]
    if any(np.dtype(dtype).kind not in DTYPE_KINDS for dtype in dtypes):
        raise ValueError("a tensor holds no numbers")
    program: StoredProgram = KINDS[kind].read(data)
    return program
