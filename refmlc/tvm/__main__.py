"""`python -m refmlc.tvm script.py|notebook.ipynb [arguments]`: run it with `import tvm` being `refmlc.tvm`."""

import json
import runpy
import sys
from pathlib import Path

from refmlc.tvm.install import install_tvm
from refmlc.tvm.session import Cell, Session, shown


def run_notebook(path: Path) -> None:
    """The cells of a notebook in order; values of last expressions go to standard output."""
    session = Session({"__file__": str(path)})
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        if cell["cell_type"] == "code":
            value = session.run(Cell("".join(cell["source"]), f"{path}:cell {number}"))
            if value is not None:
                sys.stdout.write(f"{shown(value)}\n")


def main() -> None:
    """Run the file that is named first."""
    if len(sys.argv) < 2:
        sys.stderr.write(f"{__doc__}\n")
        raise SystemExit(2)
    path = Path(sys.argv[1])
    install_tvm()
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(path.resolve().parent))
    if path.suffix == ".ipynb":
        run_notebook(path)
    else:
        runpy.run_path(str(path), run_name="__main__")


if __name__ == "__main__":
    main()
