"""Files that people wrote: what refmlc reads of the definitions of TVMScript in them, and whether real TVM agrees.

`python tests/e2e/written_files.py [--tvm PYTHON] [--every N] [--verdicts FILE] [--time S] FILE_OR_FOLDER…` takes Python
files, Markdown documents (the blocks of code of one document are one file) and notebooks. Without `--tvm` nothing is
compared. A definition is a class or a function; of `--every N` each N-th file is taken. Verdicts are kept in FILE, a
line of JSON for each file, and files that have one are passed over; after S seconds no further file is begun. A
definition is closed if all its values are in its file: refmlc does not refuse it with RM114.

| count       | meaning                                                                                    |
|-------------|--------------------------------------------------------------------------------------------|
| `read`      | read; with `--tvm`: TVM did not reach it, as the code before it needs what is not here      |
| `equal`     | read, and the same as what TVM reads when it executes the file                               |
| `unshown`   | read; TVM does not read the text that refmlc prints of it, so they are not compared          |
| `explained` | read, and not the same, for a reason in `EXPLAINED`                                          |
| `wrong`     | read, and not the same                                                                       |
| `refused`   | refused with a code of refmlc                                                                |
| `traceback` | refmlc ends by a bug of its own                                                              |

Exit status 1: something is wrong, or a traceback.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path

from rich.console import Console

from refmlc.diag import Internal, RefmlcError, Source
from refmlc.lang.ir import IRModule
from refmlc.lang.script import show
from refmlc.lang.script.reader.text import program_of

SIDE = Path(__file__).parent / "tvm_side" / "written_files.py"
BLOCK = re.compile(r"^```(?:\{\.python[^\n]*\}|python)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"prim_func|ir_module|R\.function")
TVM_SECONDS = 300
OPEN = "RM114"
EXPLAINED = {
    "string_annotation_of_special_chars": "TVM takes the indentation of the function out of the lines of its strings",
}
"""Definitions by name of which TVM makes something else than Python says."""
CONSOLE = Console(width=180, highlight=False, markup=False)


def text_of(path):
    """The Python of a file, a document or a notebook; of these two, lines that begin with `!` or `%` are left out."""
    text = path.read_text("utf-8", "replace")
    if path.suffix == ".md":
        text = "\n".join(BLOCK.findall(text))
    elif path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    if path.suffix == ".py":
        return text
    return "\n".join("" if line.lstrip().startswith(("!", "%")) else line for line in text.splitlines()) + "\n"


def definitions(text, name):
    """What refmlc reads: rows of `name`, `line`, `text` or `code` and `message`."""
    rows = []
    try:
        units = program_of(Source(name, text)).units
    except Exception as failure:  # noqa: BLE001 - a traceback is a bug to be counted
        return [refused(name, 0, failure)]
    for unit in units:
        if unit.failure is not None:
            rows.append(refused(unit.name, unit.span.line, unit.failure))
            continue
        try:
            rows += shown(unit)
        except Exception as failure:  # noqa: BLE001 - the same
            rows.append(refused(unit.name, unit.span.line, failure))
    return rows


def shown(unit):
    """The text of a class, or of each function."""
    module = unit.module
    if module.name == unit.name:
        return [{"name": unit.name, "line": unit.span.line, "text": show(module, show_meta=True)}]
    return [
        {"name": name, "line": func.span.line, "text": show(IRModule({name: func}), show_meta=True)}
        for name, func in module.functions.items()
    ]


def refused(name, line, failure):
    known = isinstance(failure, RefmlcError) and not isinstance(failure, Internal)
    code = failure.code.id if known else "traceback"
    message = failure.diagnostic.message if known else f"{type(failure).__name__}: {failure}"
    return {"name": name, "line": line, "code": code, "message": message}


def judged(job):
    """The rows of one file with their verdicts."""
    path, python = job
    text = text_of(path)
    rows = definitions(text, str(path))
    for row in rows:
        row["verdict"] = "read" if "text" in row else "traceback" if row["code"] == "traceback" else "refused"
    units = [row for row in rows if "text" in row]
    if python and units:
        for row, answer in zip(units, compared(text, units, python), strict=False):
            if answer["verdict"] != "missing":
                row["verdict"], row["message"] = answer["verdict"], answer["reason"]
            if row["verdict"] == "wrong" and row["name"] in EXPLAINED:
                row["verdict"] = "explained"
    return str(path), rows


def compared(text, units, python):
    """TVM's verdicts on what was read; none where TVM ends by a fault."""
    with tempfile.TemporaryDirectory() as folder:
        file, data = Path(folder) / "case.py", Path(folder) / "units.json"
        file.write_text(text, "utf-8")
        data.write_text(json.dumps([{key: row[key] for key in ("name", "line", "text")} for row in units]), "utf-8")
        command = [python, str(SIDE), str(file), str(data)]
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TVM_SECONDS, cwd=folder)
        except subprocess.TimeoutExpired:
            return []
    lines = done.stdout.splitlines()
    try:
        return json.loads(lines[-1])
    except (IndexError, ValueError):
        return []


def files_in(paths):
    for path in map(Path, paths):
        candidates = (
            [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in (".py", ".md", ".ipynb"))
        )
        yield from (file for file in candidates if MARK.search(file.read_text("utf-8", "replace")))


def judge_all(files, options):
    """Verdicts of all files, which are kept; after the time no further file is begun."""
    until = time.monotonic() + options.time
    verdicts = options.verdicts
    kept = map(json.loads, verdicts.read_text("utf-8").splitlines()) if verdicts and verdicts.exists() else ()
    known = {row["file"]: row["definitions"] for row in kept}
    missing = [(file, options.tvm) for file in files if str(file) not in known]
    with ThreadPoolExecutor(options.workers) as pool:
        for at in range(0, len(missing), options.workers):
            if time.monotonic() > until:
                break
            for path, rows in pool.map(judged, missing[at : at + options.workers]):
                known[path] = [{key: value for key, value in row.items() if key != "text"} for row in rows]
                if verdicts:
                    with verdicts.open("a", encoding="utf-8") as out:
                        out.write(json.dumps({"file": path, "definitions": known[path]}) + "\n")
    return [(str(file), known[str(file)]) for file in files if str(file) in known]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--tvm", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--verdicts", type=Path)
    parser.add_argument("--time", type=float, default=inf)
    options = parser.parse_args()
    files = list(files_in(options.paths))[:: options.every]
    counts, reasons = Counter(), Counter()
    results = judge_all(files, options)
    for path, rows in results:
        for row in rows:
            counts[row["verdict"]] += 1
            if row["verdict"] == "refused":
                reasons[row["code"], re.sub(r"`[^`]*`", "`_`", row["message"])[:110]] += 1
            elif row["verdict"] in ("wrong", "traceback"):
                CONSOLE.print(f"{row['verdict']}: {path}:{row['line']} {row['name']}: {row['message'][:300]}")
    for (code, message), count in reasons.most_common(25):
        CONSOLE.print(f"{count:6} {code} {message}")
    closed = sum(counts.values()) - sum(count for (code, _), count in reasons.items() if code == OPEN)
    done = sum(counts.values()) - counts["refused"] - counts["traceback"]
    CONSOLE.print(f"{closed} closed definitions: {done} read ({100 * done / max(1, closed):.1f} %)")
    if len(results) < len(files):
        CONSOLE.print(f"{len(files) - len(results)} files are left")
    CONSOLE.print(
        f"{len(results)} files, {sum(counts.values())} definitions: "
        + ", ".join(f"{n} {k}" for k, n in counts.most_common())
    )
    sys.exit(1 if counts["wrong"] + counts["traceback"] else 0)


if __name__ == "__main__":
    main()
