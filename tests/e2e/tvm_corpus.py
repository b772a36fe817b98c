"""The corpus of texts that real TVM prints of the modules in its own tests: made once, some files of tests at a time.

`DIRECTORY/NAME.py` is a text, `DIRECTORY/index.json` a list of `{"name", "directory", "file"}`; `directory` is the
first folder below the tests. `DIRECTORY/extracted.txt` has the files that are done.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from pathlib import Path

PLUGIN = Path(__file__).parent / "tvm_side"
FAULTS = 12  # times that a file of tests may end by a fault or a clock before the rest of it is given up
TOGETHER = 8  # files of tests that one process runs


@dataclass(frozen=True)
class Entry:
    """A text of the corpus, and where it comes from."""

    name: str
    directory: str
    file: str


def stem_of(file: Path) -> str:
    """What the texts of a file of tests are called by."""
    return ".".join(file.with_suffix("").parts)


def record(python: str, tests: Path, files: Sequence[Path], corpus: Path, seconds: int) -> None:
    """Run the tests of some files in one process, again after each fault, until all are begun."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "record_modules", "--rootdir", str(tests)]
    command += ["--record", str(corpus), *(str(tests / file) for file in files)]
    environment = {**os.environ, "PYTHONPATH": str(PLUGIN), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    journals = [corpus / f"{stem_of(file)}.tests" for file in files]
    for _ in range(FAULTS):
        before = [begun(journal) for journal in journals]
        try:
            done = subprocess.run(
                command, cwd=corpus, env=environment, capture_output=True, check=False, timeout=seconds * len(files)
            )
            if done.returncode in range(6):  # pytest's own statuses: it came to its end
                break
        except subprocess.TimeoutExpired:
            pass
        if [begun(journal) for journal in journals] == before:
            break
    for journal in journals:
        journal.unlink(missing_ok=True)


def begun(journal: Path) -> str:
    """The tests of a file that were begun."""
    return journal.read_text("utf-8") if journal.exists() else ""


def extract(
    python: str,
    tests: Path,
    corpus: Path,
    seconds: int,
    tell: Callable[[str], None],
    folders: Sequence[str] = ("",),
    until: float = inf,
) -> None:
    """Complete the corpus with the files of tests that are not done: those below `folders`, in their order.

    After `until`, on the clock of `time.monotonic`, none is begun.
    """
    corpus.mkdir(parents=True, exist_ok=True)
    done_file = corpus / "extracted.txt"
    done = set(done_file.read_text("utf-8").splitlines()) if done_file.exists() else set()
    found = [path for folder in folders for path in sorted((tests / folder).rglob("test_*.py"))]
    missing = [path.relative_to(tests) for path in dict.fromkeys(found) if str(path.relative_to(tests)) not in done]
    folders_of = [list(files) for _, files in groupby(missing, key=lambda file: file.parent)]
    for group in [files[at : at + TOGETHER] for files in folders_of for at in range(0, len(files), TOGETHER)]:
        if time.monotonic() > until:
            break
        record(python, tests, group, corpus, seconds)
        with done_file.open("a", encoding="utf-8") as out:
            out.writelines(f"{file}\n" for file in group)
        tell(" ".join(map(str, group)))
    write_index(corpus)


def write_index(corpus: Path) -> None:
    """List the texts, in order of their names."""
    files = {stem_of(Path(line)): line for line in (corpus / "extracted.txt").read_text("utf-8").splitlines()}
    entries = [
        {"name": path.stem, "directory": file.split("/")[0], "file": file}
        for path in sorted(corpus.glob("*__*.py"))
        if (file := files.get(path.stem.rpartition("__")[0]))
    ]
    (corpus / "index.json").write_text(json.dumps(entries, indent=1))


def entries(corpus: Path) -> list[Entry]:
    """The index."""
    return [Entry(**entry) for entry in json.loads((corpus / "index.json").read_text())]
