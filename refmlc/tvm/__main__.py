"""`python -m refmlc.tvm [--show] script.py|notebook.ipynb [arguments]`: run it with `import tvm` being `refmlc.tvm`.

With `--show` the modules that it leaves at its top level are printed as TVMScript, which `refmlc check` reads, and what
it prints itself goes to standard error. The file is executed: run what you trust.
"""

import json
import runpy
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path

from refmlc.diag import Internal, RefmlcError, render
from refmlc.diag.frames import user_lines
from refmlc.diag.layout import plain
from refmlc.tvm.install import install_tvm
from refmlc.tvm.listing import listing
from refmlc.tvm.session import Cell, Session, shown


def cells_of(path: Path) -> list[Cell]:
    """The code cells of a notebook. Ends the program where the file is none."""
    try:
        cells = enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1)
        return [Cell("".join(cell["source"]), f"{path}:cell {at}") for at, cell in cells if cell["cell_type"] == "code"]
    except (ValueError, LookupError, TypeError) as bad:
        raise SystemExit(_told(f"{path} is not a notebook: {type(bad).__name__}: {bad}")) from None


def _told(problem: str, status: int = 2) -> int:
    """Tell the problem; the exit status."""
    sys.stderr.write(f"{problem}\n")
    return status


def run_notebook(path: Path) -> Mapping[str, object]:
    """The cells of a notebook in order; values of last expressions go to standard output. Gives the namespace."""
    session = Session({"__file__": str(path)})
    for cell in cells_of(path):
        value = session.run(cell)
        if value is not None:
            sys.stdout.write(f"{shown(value)}\n")
    return session.names


def run(path: Path) -> Mapping[str, object]:
    """Run a script or a notebook; the names at its top level."""
    return run_notebook(path) if path.suffix == ".ipynb" else runpy.run_path(str(path), run_name="__main__")


def show_modules(path: Path) -> None:
    """Run a file, then print the modules at its top level."""
    with redirect_stdout(sys.stderr):
        names = run(path)
    text = listing(names)
    if not text:
        raise SystemExit(_told(f"{path} leaves no module and no function at its top level"))
    sys.stdout.write(f"{text}\n")


def main() -> None:
    """Run the file that is named first."""
    action: Callable[[Path], object] = run
    if sys.argv[1:2] == ["--show"]:
        action = show_modules
        del sys.argv[1]
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        (sys.stderr if len(sys.argv) < 2 else sys.stdout).write(f"{__doc__}\n")
        raise SystemExit(2 if len(sys.argv) < 2 else 0)
    path = Path(sys.argv[1])
    if not path.is_file():
        raise SystemExit(_told(f"the file {path} does not exist"))
    install_tvm()
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        action(path)
    except Internal:
        raise
    except RefmlcError as failure:
        lines = map(plain, user_lines(failure.__traceback__))
        raise SystemExit(_told("\n".join([render(failure), *lines]), failure.exit_code)) from None


if __name__ == "__main__":
    main()
