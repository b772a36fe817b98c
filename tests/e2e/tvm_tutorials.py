"""TVM's tutorials, as they are, run by refmlc: `python tests/e2e/tvm_tutorials.py FOLDER [--docs]`.

FOLDER holds the files `docs/**/tutorials/*.py` of TVM's repository. Each is split into the cells of sphinx-gallery (a
line of 20 or more `#`, or `# %%`, opens the text above a cell), and a process of its own runs them in order as
`python -m refmlc.tvm` does, in an empty folder, twice: with `CI=true`, as TVM builds its documentation, and without.

| becomes       | if                                                                                             |
|---------------|------------------------------------------------------------------------------------------------|
| ran           | no exception left the cell                                                                     |
| needs network | its code names weights that are downloaded (`WEIGHTS`), and it failed; or it misses a name     |
|               | that such a cell binds                                                                         |
| needs …       | the same of a Python package that is not installed                                             |
| failed        | anything else                                                                                  |

Whether a cell asks for a GPU is read from its code alone, comments aside, whatever becomes of it: it names a device or
a library of one (`GPU`). What a cell needs is never read from a message of refmlc.

`--docs` writes the table into docs/reference/tvm-tutorials.md. `--cells` prints each cell that did not run.
"""

import argparse
import ast
import builtins
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tvm-tutorials.md"
MARKS = ("<!-- tutorials: written by tests/e2e/tvm_tutorials.py --docs -->\n", "<!-- end of tutorials -->")
OPENS = re.compile(r"^(#{20,}|# ?%%.*)$")
GPU = re.compile(r"\b(cuda|cublas|cudnn|cutlass|tensorrt|nvidia|opencl|vulkan|metal|rocm)\b", re.IGNORECASE)
WEIGHTS = re.compile(r"\b(ResNet18_Weights|HF_WEIGHT_PATH|from_pretrained)\b")
SECONDS, GIGABYTES = 300, 12


@dataclass(frozen=True)
class GalleryCell:
    """A cell: its text and the line where it begins."""

    line: int
    text: str


def cells(source: str) -> Iterator[GalleryCell]:
    """The cells of a tutorial that hold code."""
    code: list[str] = []
    first, in_text = 1, False
    for number, line in enumerate([*source.splitlines(), "#" * 20], 1):
        if OPENS.match(line) and not in_text:
            text = "\n".join(code)
            if has_code(text):
                yield GalleryCell(first, text)
            in_text, code = True, []
        elif in_text and not line.startswith("#"):
            in_text, code, first = False, [line], number
        elif not in_text:
            code.append(line)


def names_gpu(cell: GalleryCell) -> bool:
    """Whether the code of a cell names a GPU or a library of one."""
    return bool(GPU.search(ast.unparse(ast.parse(cell.text))))


def has_code(text: str) -> bool:
    """Whether there is more than comments and a docstring."""
    statements = ast.parse(text).body
    return any(not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)) for item in statements)


# -------------------------------------------------------------------------------------- in a process of its own


def run_alone(path: Path) -> None:
    """Run the cells of a tutorial; one line of JSON for each."""
    from refmlc.tvm.install import install_tvm  # noqa: PLC0415 - only this process needs it
    from refmlc.tvm.session import Cell, Session  # noqa: PLC0415

    install_tvm(anyway=True)
    session, wanting = Session({"__file__": str(path)}), {}
    for cell in cells(path.read_text(encoding="utf-8")):
        piece = Cell(cell.text, str(path), cell.line)
        outcome = {"line": cell.line, "is": "ran", "why": "", "gpu": names_gpu(cell)}
        try:
            session.run(piece)
        except (Exception, SystemExit) as reason:  # noqa: BLE001 - whatever the tutorial does
            need = needed(cell, reason, wanting)
            outcome |= {"is": f"needs {need}" if need else "failed", "why": said(reason)}
            if need:
                wanting.update(dict.fromkeys(bound(cell.text) - set(session.names), need))
        sys.stderr.write(f"\0{json.dumps(outcome)}\n")
        sys.stderr.flush()


def needed(cell: GalleryCell, reason: BaseException, wanting: dict[str, str]) -> str:
    """What the machine lacks; empty where the failure is refmlc's."""
    if isinstance(reason, NameError) and reason.name in wanting:
        return wanting[reason.name]
    if WEIGHTS.search(ast.unparse(ast.parse(cell.text))):
        return "network"
    package = (reason.name or "").partition(".")[0] if isinstance(reason, ModuleNotFoundError) else ""
    return "" if package in ("tvm", "tvm_ffi", "refmlc") else package


def said(reason: BaseException) -> str:
    """The error in one line."""
    diagnostic = getattr(reason, "diagnostic", None)
    text = str(reason) if diagnostic is None else f"{diagnostic.code.id}: {diagnostic.message}"
    text = text.replace(f"{PAGE.parents[2]}/", "")
    return f"{type(reason).__name__}: {' '.join(text.split())[:240]}"


def bound(text: str) -> set[str]:
    """The names that a cell defines."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names |= {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
    return names - set(dir(builtins))


# ------------------------------------------------------------------------------------------------- all of them


def limited(path: Path, *, ci: bool) -> list[dict[str, object]]:
    """What became of each cell of a tutorial."""
    environment = {key: value for key, value in os.environ.items() if key != "CI"} | ({"CI": "true"} if ci else {})
    size = GIGABYTES << 30
    command = [sys.executable, str(Path(__file__).resolve()), "--alone", str(path.resolve())]
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=SECONDS,
                preexec_fn=partial(resource.setrlimit, resource.RLIMIT_DATA, (size, size)),
            )
            written, end = done.stderr, f"the process ended with {done.returncode}"
        except subprocess.TimeoutExpired as late:
            written, end = (late.stderr or b"").decode(errors="replace"), f"the limit of {SECONDS} s is over"
    outcomes = [json.loads(line[1:]) for line in written.splitlines() if line.startswith("\0")]
    rest = list(cells(path.read_text(encoding="utf-8")))[len(outcomes) :]
    late = ({"line": cell.line, "is": "failed", "why": end, "gpu": names_gpu(cell)} for cell in rest)
    return [*outcomes, *late]


def summary(outcomes: list[dict[str, object]]) -> str:
    """The counts: `5 of 7 ran, 2 need a GPU`."""
    counts = Counter(str(outcome["is"]) for outcome in outcomes)
    ran, failed = counts.pop("ran", 0), counts.pop("failed", 0)
    needs = [f"{number} {what.replace('needs', 'need')}" for what, number in sorted(counts.items())]
    return ", ".join([f"{ran} of {len(outcomes)} ran", *needs, *([f"{failed} failed"] if failed else [])])


def reason(outcomes: list[dict[str, object]]) -> str:
    """Why the first cell that failed did, else the first that needs something."""
    for wanted in ("failed", "needs"):
        for outcome in outcomes:
            if str(outcome["is"]).startswith(wanted):
                text = str(outcome["why"]).replace("|", "\\|").replace("<", "&lt;")
                return f"line {outcome['line']}: {text[:130]}"
    return ""


def table(results: dict[str, tuple[list[dict[str, object]], list[dict[str, object]]]]) -> str:
    """The table of all tutorials, and the counts."""
    lines = ["| tutorial | with `CI=true` | in full | stops at |", "|---|---|---|---|"]
    for name, (ci, full) in results.items():
        lines.append(f"| `{name}` | {summary(ci)} | {summary(full)} | {reason(full) or reason(ci)} |")
    lines.append("")
    for place, title in enumerate(("With `CI=true`", "In full")):
        each = [pair[place] for pair in results.values()]
        ended = sum(all(cell["is"] == "ran" for cell in outcomes) for outcomes in each)
        every = [cell for outcomes in each for cell in outcomes]
        lines.append(f"{title}: {ended} of {len(each)} tutorials run to the end; {share(every)} of the cells ran.")
        network = [cell for cell in every if cell["is"] == "needs network"]
        gpu = [cell for cell in every if cell["gpu"] and cell not in network]
        rest = [cell for cell in every if cell not in network and not cell["gpu"]]
        lines.append(
            f"Cells that need weights from the network: {len(network)}. Of the others, those that name a GPU or a "
            f"library of one: {share(gpu)} ran, on the CPU; those that do not: {share(rest)} ran.\n"
        )
    return "\n".join(lines)


def share(outcomes: list[dict[str, object]]) -> str:
    """How many of some cells ran: `5 of 7 (71 %)`."""
    ran = sum(cell["is"] == "ran" for cell in outcomes)
    return f"{ran} of {len(outcomes)} ({100 * ran / max(len(outcomes), 1):.0f} %)"


def title_of(path: Path) -> str:
    """The name of a tutorial: that of its file, without the folders that may stand before it."""
    return path.stem.rpartition("tutorials_")[2]


def main() -> int:
    """Run the tutorials of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", help="names of tutorials")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--cells", action="store_true")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        run_alone(options.folder)
        return 0
    paths = [path for path in sorted(options.folder.glob("*.py")) if not options.only or title_of(path) in options.only]
    runs = [(path, ci) for path in paths for ci in (True, False)]
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda run: limited(run[0], ci=run[1]), runs))
    results = {title_of(path): (outcomes[2 * at], outcomes[2 * at + 1]) for at, path in enumerate(paths)}
    for name, pair in results.items() if options.cells else ():
        for mode, cells_of_it in zip(("CI=true", "in full"), pair, strict=True):
            for cell in cells_of_it:
                if cell["is"] != "ran":
                    sys.stdout.write(f"{name}:{cell['line']} ({mode}) {cell['is']}: {cell['why']}\n")
    text = table(results)
    sys.stdout.write(f"{text}\n")
    if options.docs:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(MARKS[0])[0], page.split(MARKS[1])[1]
        PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
