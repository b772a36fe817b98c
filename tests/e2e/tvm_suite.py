"""What refmlc makes of the modules of TVM's own tests, as real TVM prints them; TVM judges what refmlc shows of them.

`python tests/e2e/tvm_suite.py --tests DIR --tvm PYTHON [--sample N] [--verdicts FILE] [--corpus DIR] [--folders A,B/C]
[--time SECONDS]`, where DIR is `tests/python` of a checkout of TVM, and PYTHON has apache-tvm and pytest. The texts go
into the corpus, which a further run completes; verdicts go into FILE, one line of JSON for each text, and texts that
have one are passed over. After the time no further tests are run, and no further texts are judged. `--docs` writes the
table of all verdicts in FILE into docs/reference/tvm-suite.md.

| verdict       | meaning                                                                                             |
|---------------|-----------------------------------------------------------------------------------------------------|
| `right`       | refmlc reads and checks it, reads what it shows as the same, and TVM does too                       |
| `explained`   | the same, but for an integer as a condition, which refmlc writes out (clause TIR-211)              |
| `different`   | TVM reads what refmlc shows otherwise, or not; or refmlc itself does                                |
| `unsupported` | refmlc says by name that it does not know a thing (RM5xx)                                           |
| `refused`     | refmlc does not read it, or a static rule is broken; TVM reads it                                   |
| `unread`      | TVM does not read its own text, or reads another thing in it; then nothing is judged, unless refmlc |
|               | ends otherwise than it should                                                                       |
| `traceback`   | refmlc ends by a bug of its own                                                                     |

Exit status 1: there is a traceback, or less than 99 of 100 texts that are read by both are right.
"""

import argparse
import hashlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path

import tvm_corpus
from rich.console import Console
from rich.table import Table

from refmlc.diag import Exhausted, Internal, RefmlcError, Unsupported
from refmlc.lang.ir.equal import first_difference
from refmlc.lang.script import read, show
from refmlc.lang.wellformed.module import check_module

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tvm-suite.md"
MARKS = ("<!-- suite: written by tests/e2e/tvm_suite.py --docs -->", "<!-- end of suite -->")
COMPARE = Path(__file__).parent / "tvm_side" / "compare_texts.py"
VERDICTS = ("right", "explained", "different", "unsupported", "refused", "unread", "traceback")
BATCH, SECONDS = 100, 60
CONSOLE = Console(width=180, highlight=False)


@dataclass
class Outcome:
    """What became of one text: how far refmlc came (`stage`), and why no further."""

    name: str
    directory: str
    file: str
    verdict: str = "right"
    stage: str = ""
    code: str = ""
    message: str = ""
    example: str = ""


class Late(Exception):
    """The time of one text is over."""


def stop(*_: object) -> None:
    """End what is done with a text."""
    raise Late


def failed(outcome: Outcome, stage: str, failure: Exception) -> Outcome:
    """The outcome after a failure."""
    outcome.stage, outcome.verdict = stage, "traceback"
    outcome.code, outcome.example = type(failure).__name__, str(failure)
    if isinstance(failure, RefmlcError):
        outcome.code, outcome.example = failure.code.id, failure.diagnostic.message
        kinds = {Unsupported: "unsupported", Exhausted: "unsupported", Internal: "traceback"}
        outcome.verdict = kinds.get(type(failure), "refused" if stage == "read" else "different")
    outcome.message = masked(outcome.example)
    return outcome


def masked(message: str) -> str:
    """A message without its names and numbers."""
    return re.sub(r"\d+", "#", re.sub(r"`[^`]*`", "`_`", message))[:200]


def tried(job: tuple[tvm_corpus.Entry, str, str]) -> Outcome:
    """Read, check, show and read again one text; what is shown goes into the folder."""
    entry, corpus, folder = job
    outcome = Outcome(entry.name, entry.directory, entry.file)
    text = (Path(corpus) / f"{entry.name}.py").read_text("utf-8")
    shown = text  # where refmlc has none, TVM is asked whether it reads its own
    stage = "read"
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        module = read(text, entry.file)
        stage = "show"
        shown = show(module, show_meta=True)
        stage = "read again"
        difference = first_difference(module, read(shown, "shown"))
        if difference is not None:
            outcome.verdict, outcome.stage = "different", stage
            outcome.message = outcome.example = str(difference)
        stage = "check"
        for finding in check_module(module)[:1]:
            outcome.stage, outcome.verdict, outcome.code = stage, "refused", finding.code.id
            outcome.example, outcome.message = finding.message, masked(finding.message)
    except Exception as failure:  # noqa: BLE001 - a traceback is a bug to be listed, not the end of the table
        outcome = failed(outcome, stage, failure)
    finally:
        signal.alarm(0)
    (Path(folder) / f"{entry.name}.py").write_text(text, "utf-8")
    (Path(folder) / f"{entry.name}.shown").write_text(shown, "utf-8")
    return outcome


def compared(python: str, folder: Path, names: list[str]) -> dict[str, tuple[str, str]]:
    """TVM's verdicts; where it ends by a fault, it is asked again for the halves."""
    with tempfile.TemporaryDirectory() as temporary:
        for name in names:
            for suffix in ("py", "shown"):
                (Path(temporary) / f"{name}.{suffix}").symlink_to(folder / f"{name}.{suffix}")
        try:
            subprocess.run([python, str(COMPARE), temporary], check=True, capture_output=True, timeout=600)
            return json.loads((Path(temporary) / "verdicts.json").read_text())
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            if len(names) == 1:
                return {names[0]: ("neither", "TVM ends by a fault")}
    middle = len(names) // 2
    return compared(python, folder, names[:middle]) | compared(python, folder, names[middle:])


def judged(outcome: Outcome, verdict: str, reason: str) -> Outcome:
    """The outcome with what TVM says; a text that TVM does not read is no evidence."""
    if outcome.verdict == "traceback":
        return outcome
    if verdict in ("neither", "unreadable", "misread"):
        outcome.verdict = "unread"
        outcome.message = outcome.message or reason
    elif verdict == "written" and outcome.verdict == "right":
        outcome.verdict, outcome.stage, outcome.message = "explained", "TVM", reason
    elif verdict not in ("equal", "printed") and outcome.verdict in ("right", "refused"):
        outcome.verdict, outcome.stage, outcome.code = "different", "TVM", verdict
        outcome.example = outcome.message = reason
    return outcome


def run(options: argparse.Namespace, entries: list[tvm_corpus.Entry], verdicts: Path, until: float) -> None:
    """Give each text its verdict, a batch at a time."""
    with ProcessPoolExecutor(options.workers) as pool, verdicts.open("a", encoding="utf-8") as out:
        for start in range(0, len(entries), BATCH):
            if time.monotonic() > until:
                break
            batch = entries[start : start + BATCH]
            with tempfile.TemporaryDirectory() as folder:
                jobs = [(entry, str(options.corpus), folder) for entry in batch]
                outcomes = list(pool.map(tried, jobs, chunksize=4))
                if options.keep:
                    options.keep.mkdir(exist_ok=True)
                    for entry in batch:
                        text = (Path(folder) / f"{entry.name}.shown").read_text("utf-8")
                        (options.keep / f"{entry.name}.shown").write_text(text, "utf-8")
                said = compared(options.tvm, Path(folder), [entry.name for entry in batch])
            for outcome in outcomes:
                out.write(json.dumps(asdict(judged(outcome, *said[outcome.name]))) + "\n")
            out.flush()
            CONSOLE.print(f"{start + len(batch)} of {len(entries)}", style="dim")


def table(outcomes: list[Outcome]) -> Table:
    """Counts for each folder of the tests."""
    result = Table(title="modules of TVM's tests, as TVM prints them")
    for column in ("tests", "modules", *VERDICTS, "shown right"):
        result.add_column(column, justify="left" if column == "tests" else "right")
    folders: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        folders[outcome.directory].append(outcome)
    folders = dict(sorted(folders.items()))
    folders["all"] = outcomes
    for folder, members in folders.items():
        counts = Counter(outcome.verdict for outcome in members)
        cells = [str(counts[verdict]) for verdict in VERDICTS]
        result.add_row(folder, str(len(members)), *cells, f"{100 * share(members):.1f} %")
    return result


def counts_of(members: list[Outcome]) -> list[str]:
    """The cells of a row of the page."""
    read = [outcome for outcome in members if outcome.stage not in ("read", "show")]
    again = [outcome for outcome in read if outcome.stage != "read again"]
    judged_by_tvm = [outcome for outcome in members if outcome.verdict != "unread"]
    equal = [o for o in judged_by_tvm if o.verdict == "right" or (o.verdict == "refused" and o.stage == "check")]
    ends = Counter(outcome.verdict for outcome in judged_by_tvm if outcome not in equal)
    cells = [len(members), len(read), len(again), len(judged_by_tvm), len(equal)]
    return [str(cell) for cell in (*cells, *(ends[v] for v in (*VERDICTS[1:5], "traceback")))]


def document(outcomes: list[Outcome]) -> str:
    """The table of the page, and what stands behind the last columns."""
    folders: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        parts = outcome.file.split("/")
        folders["/".join(parts[: 2 if len(parts) > 2 else 1])].append(outcome)
    head = ("tests", "texts", "read", "shown and read again", "TVM reads its text", "equal for TVM", *VERDICTS[1:5])
    rows = [f"| {' | '.join((*head, 'traceback'))} |", f"|{'---|' * 11}"]
    for folder, members in (*sorted(folders.items()), ("all", outcomes)):
        rows.append(f"| {' | '.join((f'`{folder}`' if members is not outcomes else 'all', *counts_of(members)))} |")
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.verdict not in ("right", "unread") or outcome.stage == "read":
            group = f"{outcome.stage}: {outcome.message}".replace("|", "\\|").replace("<", "&lt;")
            groups[re.sub(r"\(&lt;root>.*\.(\w+), .*", r"another \1", group)].append(outcome)
    lines = [f"* {len(group)}: {why}" for why, group in sorted(groups.items(), key=lambda item: -len(item[1]))]
    unread = Counter(outcome.message for outcome in outcomes if outcome.verdict == "unread" and not outcome.stage)
    tail = f"Texts that refmlc reads and TVM does not, or takes for something else: {sum(unread.values())}."
    return "\n".join(("", *rows, "", "What is not equal, or not read:", "", *lines, "", tail, ""))


def write_page(outcomes: list[Outcome]) -> None:
    """Put the table between the marks of the page."""
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{document(outcomes)}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}", "utf-8")


def share(outcomes: list[Outcome]) -> float:
    """The share of texts shown right among those that refmlc and TVM read."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    counts["right"] += sum(outcome.verdict == "refused" and outcome.stage == "check" for outcome in outcomes)
    right = counts["right"] + counts["explained"]
    return right / max(1, right + counts["different"])


def reasons(outcomes: list[Outcome]) -> None:
    """Print what stands behind the counts, the most frequent first."""
    groups: dict[tuple[str, ...], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.verdict not in ("right", "unread"):
            groups[outcome.verdict, outcome.stage, outcome.code, outcome.message].append(outcome)
    for (verdict, stage, code, message), members in sorted(groups.items(), key=lambda group: -len(group[1])):
        first = members[0]
        CONSOLE.print(f"{len(members):5} {verdict} ({stage}) {code} {message}", markup=False, soft_wrap=True)
        CONSOLE.print(f"      {first.name}: {first.example}"[:400], markup=False, style="dim", soft_wrap=True)


def chosen(entries: list[tvm_corpus.Entry], options: argparse.Namespace) -> list[tvm_corpus.Entry]:
    """The texts that are asked for; a sample is the same each time."""
    folders = tuple(f"{folder}/" if folder else "" for folder in options.folders.split(","))
    entries = [entry for entry in entries if re.search(options.names, entry.name) and entry.file.startswith(folders)]
    if options.sample:
        entries.sort(key=lambda entry: hashlib.sha256(entry.name.encode()).digest())
        entries = sorted(entries[: options.sample], key=lambda entry: entry.name)
    return entries


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=Path, help="`tests/python` of TVM; without it the corpus is used as it is")
    parser.add_argument("--tvm", required=True, help="a Python that has apache-tvm and pytest")
    parser.add_argument("--sample", type=int, default=0, help="so many texts alone")
    parser.add_argument("--names", default="", help="a regular expression: of these texts alone")
    parser.add_argument("--verdicts", type=Path, help="where verdicts are kept; texts that have one are passed over")
    parser.add_argument("--corpus", type=Path, help="where texts are kept")
    parser.add_argument("--docs", action="store_true", help="write the page")
    parser.add_argument("--keep", type=Path, help="where refmlc's texts are left")
    parser.add_argument("--folders", default="", help="of the tests below these folders alone, in this order")
    parser.add_argument("--time", type=float, default=inf, help="seconds after which no further work is begun")
    parser.add_argument("--workers", type=int, default=2, help="processes that read texts")
    parser.add_argument("--seconds", type=int, default=120, help="how long a file of tests may last, between faults")
    return parser.parse_args()


def main() -> int:
    """Print the table and the reasons."""
    options = arguments()
    until, folders = time.monotonic() + options.time, options.folders.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        options.corpus = options.corpus or Path(temporary) / "corpus"
        verdicts = options.verdicts or Path(temporary) / "verdicts.jsonl"
        if options.tests:
            tests, say = options.tests.resolve(), CONSOLE.print
            tvm_corpus.extract(options.tvm, tests, options.corpus, options.seconds, say, folders, until)
        entries = chosen(tvm_corpus.entries(options.corpus), options)
        verdicts.touch()
        lines = verdicts.read_text("utf-8").splitlines()
        before = {line["name"] for line in map(json.loads, lines)}
        run(options, [entry for entry in entries if entry.name not in before], verdicts, until)
        names = {entry.name for entry in entries}
        outcomes = [Outcome(**json.loads(line)) for line in verdicts.read_text("utf-8").splitlines()]
    if options.docs:
        write_page(outcomes)
    outcomes = [outcome for outcome in outcomes if outcome.name in names]
    CONSOLE.print(table(outcomes))
    reasons(outcomes)
    return int(share(outcomes) < 0.99 or any(outcome.verdict == "traceback" for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
