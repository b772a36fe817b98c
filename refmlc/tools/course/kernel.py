"""The process that executes the blocks of a document: `python -m refmlc.tools.course.kernel REQUEST RESULTS`.

REQUEST is JSON: the blocks, the folder, whether data come from the shipped files. RESULTS gets one JSON object for each
block, when it is done, so that what was done is known whatever happens after.

A block that fails for want of a package or a program that is not installed `needs` it; so does a block that names what
such a block would have defined. A block that imports a stand-in of a package (`stand_ins`) says so in its notes.
"""

import ast
import builtins
import contextlib
import io
import json
import os
import sys
import traceback
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from refmlc.diag import RefmlcError
from refmlc.diag.render import render_line
from refmlc.tools.course import stand_ins
from refmlc.tools.course.data import command, lay_out
from refmlc.tvm.install import install_tvm
from refmlc.tvm.session import Cell, Session, shown

RAN, FAILED, NEEDS = "ran", "failed", "needs"


@dataclass(frozen=True)
class BlockOutput:
    """The result of a block. `text`: standard output, then the value of the last expression."""

    number: int
    status: str
    text: str = ""
    error: str = ""
    needs: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


class Kernel:
    """Executes blocks in one namespace."""

    def __init__(self, name: str, folder: Path, *, offline: bool) -> None:
        """For the document `name`, in `folder`."""
        self._name = name
        self._folder = folder
        self._offline = offline
        self._session = Session()
        self._wanting: dict[str, str] = {}

    def execute(self, number: int, line: int, text: str) -> BlockOutput:
        start, imported = perf_counter(), _stand_ins()
        cell = Cell(text, f"{self._name}:block {number}", line)
        notes = tuple(command(cell_command, self._folder, offline=self._offline) for cell_command in cell.commands)
        out, err = io.StringIO(), io.StringIO()
        status, error, needs = RAN, "", ""
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                value = self._session.run(cell)
                if value is not None:
                    out.write(shown(value) + "\n")
            except (Exception, SystemExit) as reason:  # noqa: BLE001 - whatever the chapter does
                needs = self._needed(reason, cell)
                status = NEEDS if needs else FAILED
                error = _told(reason, cell.file)
        seconds = perf_counter() - start
        notes = (*notes, *_stand_in_notes(imported), *_warnings(err.getvalue()))
        return BlockOutput(number, status, out.getvalue(), error, needs, notes, seconds)

    def _needed(self, reason: BaseException, cell: Cell) -> str:
        """The package or program that is missing; empty where the failure has another reason."""
        if isinstance(reason, RefmlcError) and isinstance(reason.__cause__, FileNotFoundError):
            package = str(reason.__cause__.filename)
        elif isinstance(reason, ModuleNotFoundError) and reason.name:
            package = reason.name.partition(".")[0]
            if package in ("tvm", "refmlc") or package in sys.stdlib_module_names:
                return ""
        elif isinstance(reason, NameError) and reason.name in self._wanting:
            package = self._wanting[reason.name]
        else:
            return ""
        self._wanting.update(dict.fromkeys(_bound(cell) - set(self._session.names), package))
        return package


def _bound(cell: Cell) -> set[str]:
    """The names that a block defines at its top."""
    bound_names: set[str] = set()
    for node in ast.walk(cell.parsed()):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                bound_names.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                bound_names |= {(alias.asname or alias.name).partition(".")[0] for alias in names}
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound_names.add(name)
    return bound_names - set(dir(builtins))


def _told(reason: BaseException, file: str) -> str:
    """The error and the line of the document where it was met."""
    lines = [frame.lineno for frame in traceback.extract_tb(reason.__traceback__) if frame.filename == file]
    where = f" (line {lines[-1]})" if lines else ""
    if isinstance(reason, RefmlcError):
        return f"{type(reason).__name__}: {render_line(reason.diagnostic)}{where}"
    text = "".join(traceback.format_exception_only(reason)).strip()
    return f"{text}{where}"


def _stand_ins() -> set[str]:
    """The stand-ins that are imported."""
    folder = str(Path(stand_ins.__file__).parent)
    modules = {name.partition(".")[0]: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    return {name for name, file in modules.items() if file is not None and file.startswith(f"{folder}{os.sep}")}


def _stand_in_notes(before: set[str]) -> tuple[str, ...]:
    return tuple(f"`{name}` is a small stand-in of the package" for name in sorted(_stand_ins() - before))


def _warnings(text: str) -> list[str]:
    return [line.partition("Warning: ")[2] for line in text.splitlines() if "Warning: " in line]


def main(request: Path, results: Path) -> None:
    """Execute all blocks of a request."""
    wanted = json.loads(request.read_text(encoding="utf-8"))
    folder = Path(wanted["folder"])
    os.chdir(folder)
    if wanted["offline"]:
        lay_out(folder)
    sys.path.append(str(Path(stand_ins.__file__).parent))
    real = wanted["real"] and find_spec("tvm") is not None
    if not real:
        install_tvm(anyway=not wanted["real"])
    kernel = Kernel(wanted["name"], folder, offline=wanted["offline"])
    with results.open("w", encoding="utf-8") as file:
        for block in wanted["blocks"]:
            done = kernel.execute(block["number"], block["line"], block["text"])
            if real and block is wanted["blocks"][0]:
                done = replace(done, notes=("`tvm` is real TVM", *done.notes))
            file.write(json.dumps(asdict(done)) + "\n")
            file.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
