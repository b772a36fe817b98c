"""Models in files: which frontend reads a file, by its ending.

| ending  | written by                | read by                        |
|---------|---------------------------|--------------------------------|
| `.pt2`  | `torch.export.save`       | `torch_export`                 |
| `.onnx` | `torch.onnx.export`, …    | `onnx`                         |
| `.json` | `tvm.ir.save_json`        | `tvm_json`                     |

The frameworks are extras: their modules are imported here when a file asks for them.
Decision: a file is looked into before PyTorch has it, which logs a traceback of its own for what it cannot read.
Decision: `.pt2` is read only where the caller trusts the file. `torch.export.load` (2.13) executes what is in it:
pickles of sample inputs and constants, without limits where the limited reader refuses them, and expressions of sizes
by `sympy.sympify`, which is `eval`. No look into the file is known to cover that for every version of PyTorch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from zipfile import BadZipFile, ZipFile

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.frontends.tvm_json import from_json
from refmlc.lang.ir import IRModule
from refmlc.lazy import load
from refmlc.system.regular import open_regular

EXPORTED = ".pt2"


@dataclass(frozen=True)
class Imported:
    """A module, and the values of the parameters that its `main` takes besides its inputs.

    `model`: the file as its framework has it, an `ExportedProgram` or a `ModelProto`; None of a module of TVM.
    """

    module: IRModule
    params: Mapping[str, np.ndarray]
    model: object = field(default=None, repr=False)


def import_file(path: Path, *, keep_params_as_input: bool = False, trust: bool = False) -> Imported:
    """The model in a file. `trust`: the file may execute what it likes, which reading `.pt2` lets it.

    Fails: RM109 what cannot be read, RM112 an ending, a missing framework, a file that is not trusted; RM501.
    """
    if path.suffix not in READERS:
        raise fail(BAD_USAGE, f"`{path}` is not a model: model files end in {' or '.join(READERS)}")
    if not path.is_file():
        raise fail(BAD_FILE, f"the file `{path}` does not exist")
    if path.suffix == EXPORTED and not trust:
        raise fail(
            BAD_USAGE,
            f"`{path}` may hold code, which PyTorch executes when it reads the file",
            None,
            f"this would call: torch.export.load({str(path)!r})",
            "`--trust` reads it nevertheless: use it only for files that you would execute",
        )
    return READERS[path.suffix](path, keep_params_as_input)


def _torch_export(path: Path, keep: bool) -> Imported:
    torch = _framework("torch", "torch")
    if not _is_exported(path):
        raise fail(BAD_FILE, f"`{path}` is not a file of `torch.export.save`")
    try:
        program = torch.export.load(str(path))
    except (RuntimeError, ValueError, LookupError) as bad:
        raise fail(BAD_FILE, f"`{path}`: PyTorch cannot read it: {_line(bad)}") from None
    frontend = load("refmlc.frontends.torch_export")
    module = frontend.from_exported_program(program, keep_params_as_input=keep, unwrap_unit_return_tuple=True)
    return Imported(module, frontend.params_of(program) if keep else MappingProxyType({}), program)


def _is_exported(path: Path) -> bool:
    """Whether a file is an archive with what PyTorch writes into it, 2.5's way or the one since 2.7."""
    try:
        with ZipFile(path) as archive:
            names = {name.rsplit("/", 1)[-1] for name in archive.namelist()}
    except BadZipFile:
        return False
    return not names.isdisjoint({"archive_format", "serialized_exported_program.json"})


def _onnx(path: Path, keep: bool) -> Imported:
    onnx = _framework("onnx", "onnx")
    unreadable = (import_module("google.protobuf.message").DecodeError, onnx.checker.ValidationError)
    try:
        model = onnx.load(str(path))
    except unreadable as bad:
        raise fail(BAD_FILE, f"`{path}`: ONNX cannot read it: {_line(bad)}") from None
    frontend = load("refmlc.frontends.onnx")
    module = frontend.from_onnx(model, keep_params_in_input=keep)
    return Imported(module, frontend.params_of(model) if keep else MappingProxyType({}), model)


def _tvm(path: Path, keep: bool) -> Imported:
    try:
        with open_regular(path) as file:
            text = file.read().decode()
    except UnicodeDecodeError as bad:
        raise fail(BAD_FILE, f"`{path}` is not UTF-8: {bad.reason} at byte {bad.start}") from None
    del keep  # constants of a module of TVM stay what they are
    return Imported(from_json(text), MappingProxyType({}))


def _line(problem: Exception) -> str:
    """What a framework says, in one line."""
    return " ".join(str(problem).split()) or type(problem).__name__


def _framework(name: str, extra: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise fail(
            BAD_USAGE, f"`{name}` is not installed; the model needs it", None, f"pip install 'refmlc[{extra}]'"
        ) from None


READERS: Mapping[str, Callable[[Path, bool], Imported]] = {
    EXPORTED: _torch_export,
    ".onnx": _onnx,
    ".json": _tvm,
}
