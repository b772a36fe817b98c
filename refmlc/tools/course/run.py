"""Run a document from top to bottom: execute its blocks in a separate process, compare its outputs."""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.system.command import run
from refmlc.tools.course import markdown, notebook, restructured_text
from refmlc.tools.course.document import Block, Document, read_text
from refmlc.tools.course.excerpt import Excerpt, excerpt_of
from refmlc.tools.course.outputs import DIFFERS, OutputVerdict, compare
from refmlc.tools.course.pieces import piece

RAN, FAILED, NEEDS, EXCERPT = "ran", "failed", "needs", "excerpt"
SECONDS = 600.0
SUFFIXES = (".md", ".rst", ".ipynb", ".txt")
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class BlockReport:
    """What became of a block: `ran`, `failed`, `needs` a package, or it is an `excerpt`."""

    number: int
    line: int
    status: str
    why: str = ""
    notes: tuple[str, ...] = ()
    outputs: tuple[OutputVerdict, ...] = ()
    text: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class CourseReport:
    """What became of a document."""

    name: str
    generation: str
    blocks: tuple[BlockReport, ...] = field(default_factory=tuple)

    def count(self, status: str) -> int:
        """How many blocks have this status."""
        return sum(block.status == status for block in self.blocks)

    def verdicts(self, verdict: str) -> int:
        """How many outputs have this verdict."""
        return sum(one.verdict == verdict for block in self.blocks for one in block.outputs)

    @property
    def ok(self) -> bool:
        """Whether no block failed, and every difference of outputs has a reason."""
        return not self.count(FAILED) and not self.verdicts(DIFFERS)


def read_document(path: Path) -> Document:
    """The blocks of a chapter: a notebook by its suffix, reStructuredText by its directives, else Markdown."""
    text = read_text(path)
    if path.suffix == ".ipynb":
        reader = notebook.blocks
    else:
        reader = restructured_text.blocks if path.suffix == ".rst" or ".. code::" in text else markdown.blocks
    return Document(path.name, tuple(reader(text)))


def run_document(
    path: Path, *, offline: bool = True, seconds: float = SECONDS, python: str = sys.executable, real: bool = True
) -> CourseReport:
    """Execute a chapter and compare its outputs. `seconds`: the limit for all of it. Fails: RM109.

    `python`: what executes it; where that has real TVM, `import tvm` is real TVM, unless `real` is False.
    """
    document = read_document(path)
    excerpts: dict[int, Excerpt] = {}
    for place, block in enumerate(document.blocks):
        excerpt = excerpt_of(block, document.blocks[:place])
        if excerpt is not None:
            excerpts[block.number] = excerpt
    programs = [block for block in document.blocks if block.number not in excerpts]
    setting = Setting(python, seconds, offline, real)
    results, rest_of_it = _executed(document, programs, setting)
    reports = []
    left = set(excerpts)
    for place, block in enumerate(document.blocks):
        if block.number in excerpts:
            own = excerpts[block.number]
            notes = (own.read,) if own.read else ()
            reports.append(BlockReport(block.number, block.line, EXCERPT, own.reason, notes))
            continue
        report = _report(block, results.get(block.number), rest_of_it, document)
        failed = report.status == FAILED and block.number in results
        unfinished = piece(block, report.why, document.blocks[:place], left) if failed else None
        if unfinished is not None:
            left |= {block.number} if unfinished.leaves else set()
            report = replace(report, status=EXCERPT, why=unfinished.reason)
        reports.append(report)
    return CourseReport(document.name, document.generation, tuple(reports))


def documents_in(folder: Path) -> list[Path]:
    """The documents of a folder and of those in it that have code, by path. Fails: RM109 where there is none."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    documents = [path for path in paths if read_document(path).blocks]
    if not documents:
        raise fail(BAD_FILE, f"{folder}: no document with code ({', '.join(SUFFIXES)})")
    return documents


@dataclass(frozen=True)
class Setting:
    """How a document is executed."""

    python: str
    seconds: float
    offline: bool
    real: bool


def _executed(document: Document, blocks: Sequence[Block], how: Setting) -> tuple[dict[int, dict[str, object]], str]:
    """What each block did, by its number, and why the rest did nothing."""
    with tempfile.TemporaryDirectory(prefix="refmlc-course-") as name:
        folder = Path(name)
        work, request, results = folder / "work", folder / "request.json", folder / "results.jsonl"
        work.mkdir()
        block_requests = [{"number": block.number, "line": block.line, "text": block.text} for block in blocks]
        request_data = {
            "name": document.name,
            "folder": str(work),
            "offline": how.offline,
            "real": how.real,
            "blocks": block_requests,
        }
        request.write_text(json.dumps(request_data), encoding="utf-8")
        paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        around = {"MPLBACKEND": "Agg", "REFMLC_DIALECT": document.generation, "PYTHONPATH": paths}
        command = [how.python, "-m", "refmlc.tools.course.kernel", str(request), str(results)]
        ended = _process(command, {**os.environ, **around}, how.seconds)
        lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    results_by_line = [cast("dict[str, object]", json.loads(line)) for line in lines]
    return {cast("int", result["number"]): result for result in results_by_line}, ended


def _process(arguments: list[str], around: dict[str, str], seconds: float) -> str:
    """Run it; why it ended before its end, empty where it did not."""
    ended = run(arguments, seconds, environment=around)
    if ended.status is None:
        return f"the limit of {seconds:g} s is over"
    last = ended.printed.strip().splitlines()[-1:] or [""]
    return "" if ended.status == 0 else f"the process ended with status {ended.status}: {last[0]}"


def _report(block: Block, result: "dict[str, object] | None", ended: str, document: Document) -> BlockReport:
    if result is None:
        return BlockReport(block.number, block.line, FAILED, ended or "the process did not reach it")
    status, text = str(result["status"]), str(result["text"])
    why = f"needs {result['needs']}" if status == NEEDS else str(result["error"])
    compared = tuple(compare(note, text, document) for note in block.outputs) if status == RAN else ()
    notes = tuple(str(note) for note in cast("list[object]", result["notes"]))
    seconds = cast("float", result["seconds"])
    return BlockReport(block.number, block.line, status, why, notes, compared, text, seconds)
