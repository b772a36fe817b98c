"""A document executed twice, by refmlc and with real TVM: what each block prints, compared.

| verdict     | means                                                                                              |
|-------------|----------------------------------------------------------------------------------------------------|
| `equal`     | both ran and printed the same (TVMScript by structure, numbers within the tolerance of `outputs`)  |
| `explained` | both ran; what differs has a reason of `outputs`: an address, an image drawn at random …           |
| `differs`   | both ran and printed otherwise, or it fails here and runs there                                    |
| `not there` | it does not run there: the API of that version has no such name; or it prints otherwise after that |
| `neither`   | it runs nowhere: a piece of a program, or a package that is missing                                |
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.tools.course.document import Document, Output
from refmlc.tools.course.outputs import DIFFERS, EQUAL, compare
from refmlc.tools.course.run import RAN, SECONDS, BlockReport, read_document, run_document

NOT_THERE, NEITHER = "not there", "neither"
REAL = "`tvm` is real TVM"


@dataclass(frozen=True)
class Pair:
    """A block here and there."""

    number: int
    line: int
    verdict: str
    reason: str = ""


def run_both(path: Path, python: str, *, offline: bool = True, seconds: float = SECONDS) -> tuple[Pair, ...]:
    """Execute a chapter here and with the real TVM of `python`. Fails: RM109, RM112 where that has no TVM."""
    document = read_document(path)
    our_report = run_document(path, offline=offline, seconds=seconds, python=sys.executable, real=False)
    tvm_report = run_document(path, offline=offline, seconds=seconds, python=python)
    if not any(REAL in block.notes for block in tvm_report.blocks):
        raise fail(BAD_USAGE, f"`{python}` has no TVM to compare with")
    pairs: list[Pair] = []
    for our_block, tvm_block in zip(our_report.blocks, tvm_report.blocks, strict=True):
        pair = _pair(our_block, tvm_block, document)
        if pair.verdict == DIFFERS and any(earlier.verdict == NOT_THERE for earlier in pairs):
            pair = Pair(pair.number, pair.line, NOT_THERE, f"after a block that did not run in real TVM: {pair.reason}")
        pairs.append(pair)
    return tuple(pairs)


def _pair(ours: BlockReport, tvm: BlockReport, document: Document) -> Pair:
    number, line = ours.number, ours.line
    if RAN not in {tvm.status, ours.status}:
        return Pair(number, line, NEITHER, ours.why)
    if tvm.status != RAN:
        return Pair(number, line, NOT_THERE, tvm.why)
    if ours.status != RAN:
        return Pair(number, line, DIFFERS, f"fails under refmlc: {ours.why}")
    if ours.text == tvm.text:
        return Pair(number, line, EQUAL, "" if ours.text.strip() else "nothing is printed")
    output_verdict = compare(Output(line, "text", tvm.text), ours.text, document)
    return Pair(number, line, output_verdict.verdict, output_verdict.reason.replace("in the chapter", "there"))
