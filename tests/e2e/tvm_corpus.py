"""The corpus of texts that real TVM prints of the modules in its own tests: made once, a file of tests at a time.

`DIRECTORY/NAME.py` is a text, `DIRECTORY/index.json` a list of `{"name", "directory", "file"}`; `directory` is the
first folder below the tests. `DIRECTORY/extracted.txt` has the files that are done.
"""

import json
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

PLUGIN = Path(__file__).parent / "tvm_side"
FAULTS = 12  # times that a file of tests may end by a fault or a clock before the rest of it is given up


@dataclass(frozen=True)
class Entry:
    """A text of the corpus, and where it comes from."""

    name: str
    directory: str
    file: str


def stem_of(file: Path) -> str:
    """What the texts of a file of tests are called by."""
    return ".".join(file.with_suffix("").parts)


def record(python: str, tests: Path, file: Path, corpus: Path, seconds: int) -> None:
    """Run the tests of one file, again after each fault, until all are begun."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "record_modules", "--rootdir", str(tests)]
    command += ["--record", str(corpus), "--record-stem", stem_of(file), str(tests / file)]
    environment = {**os.environ, "PYTHONPATH": str(PLUGIN), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    journal = corpus / f"{stem_of(file)}.tests"
    for _ in range(FAULTS):
        before = journal.read_text("utf-8") if journal.exists() else ""
        try:
            done = subprocess.run(
                command, cwd=corpus, env=environment, capture_output=True, check=False, timeout=seconds
            )
            if done.returncode in range(6):  # pytest's own statuses: it came to its end
                break
        except subprocess.TimeoutExpired:
            pass
        if journal.exists() is False or journal.read_text("utf-8") == before:
            break
    journal.unlink(missing_ok=True)


def extract(python: str, tests: Path, corpus: Path, seconds: int, tell: Callable[[str], None]) -> None:
    """Complete the corpus with the files of tests that are not done."""
    corpus.mkdir(parents=True, exist_ok=True)
    done_file = corpus / "extracted.txt"
    done = set(done_file.read_text("utf-8").splitlines()) if done_file.exists() else set()
    files = [path.relative_to(tests) for path in sorted(tests.rglob("test_*.py"))]
    missing = [file for file in files if str(file) not in done]

    def one(file: Path) -> None:
        record(python, tests, file, corpus, seconds)
        with done_file.open("a", encoding="utf-8") as out:
            out.write(f"{file}\n")
        tell(str(file))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, missing))
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
