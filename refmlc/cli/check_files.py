"""Files that `refmlc check` reads and writes besides modules: a baseline, SARIF, JUnit, annotations.

| option                                | file                                                             |
|---------------------------------------|------------------------------------------------------------------|
| `--baseline FILE`                     | findings in it are accepted, not reported; it need not exist yet |
| `--baseline FILE --update-baseline`   | it is written: what this check finds is accepted from now on     |
| `--sarif`, `--junit`, `--annotations` | the findings for other tools                                     |

pre-commit puts the names of files behind the options of a hook, with nothing between them, and strangers name the files
of their commits: with `--skip-others`, which the hook has, a word that names a file is this file (`FileNames`).
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

import click

from refmlc.cli.console import counted, err
from refmlc.cli.options import PATH
from refmlc.cli.sources import Source, sources
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.oracle.check.baseline import BaselineFile, read_baseline
from refmlc.oracle.contracts.assumptions import contract_file
from refmlc.oracle.findings import CheckedFile, annotations, junit, sarif
from refmlc.oracle.findings.files import file_of
from refmlc.system.git import NoAnswer, changed_files


class FileNames(click.Command):
    """A command to which a hook passes names of files that may begin with `-`.

    Decision: with `--skip-others` a word that begins with `-` and names a file is this file, up to a `--`. One that is
    an option too, alone or with a value, is refused: it is not clear which is meant, and a file `--register=x.py` of a
    commit must not be an option.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; files among them are written as paths. Fails: UsageError for a file that is an option."""
        if SKIP in args:
            end = args.index("--") if "--" in args and not _names_file("--") else len(args)
            args = [self._word(ctx, word) for word in args[:end]] + args[end:]
        return super().parse_args(ctx, args)

    def _word(self, ctx: click.Context, word: str) -> str:
        if not word.startswith("-") or not _names_file(word):
            return word
        options = {option for param in self.get_params(ctx) for option in param.opts} | {"--"}
        if word.partition("=")[0] in options:
            message = f"`{word}` is an option and a file of the current folder: it is not clear which is meant"
            raise click.UsageError(f"{message}; rename the file")
        return str(Path.cwd() / word) if word == "-" else f"./{word}"  # `./-` would become `-`, the standard input


def _names_file(word: str) -> bool:
    return os.path.lexists(word)


@dataclass(frozen=True)
class Adoption:
    """What is accepted and selected, and where findings are written for other tools; None: nowhere.

    `update`: the baseline is written. `revision`, `skip`: as in `Selection`.
    """

    sarif: Path | None = None
    junit: Path | None = None
    annotations: Path | None = None
    baseline: BaselineFile | None = None
    update: bool = False
    revision: str | None = None
    skip: bool = False

    def write(self, files: Sequence[CheckedFile]) -> None:
        """Write the findings. Fails: RM109."""
        if self.sarif is not None:
            _write(self.sarif, f"{json.dumps(sarif(files), indent=2, allow_nan=False)}\n")
        if self.junit is not None:
            _write(self.junit, junit(files))
        if self.annotations is not None:
            _write(self.annotations, annotations(files))

    def finish(self, files: Sequence[CheckedFile]) -> BaselineFile | None:
        """Write the findings, and the baseline where it is updated; the baseline that holds now. Fails: RM109."""
        self.write(files)
        if self.baseline is None or not self.update:
            return self.baseline
        causes = [
            (file.place, finding)
            for file in files
            for cause in (file.report.all_causes if file.report is not None else ())
            if cause.accepted is None or cause.accepted.external
            for finding in cause.of_functions
        ]
        baseline = self.baseline.updated([file.place for file in files if file.report is not None], causes)
        baseline.write()
        missing = sum(not row.reason for row in baseline.rows)
        count = counted(len(baseline.rows), "finding")
        err.print(f"{baseline.path}: {count} accepted, {missing} without a reason", style="dim")
        return baseline


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror}") from None


def baseline_of(path: Path | None, *, update: bool) -> BaselineFile | None:
    """The baseline to use. Fails: RM109 for one that cannot be read; RM112."""
    if path is None:
        if update:
            raise fail(BAD_USAGE, "`--update-baseline` writes the file of `--baseline FILE`: give that too")
        return None
    if path.is_file() or not update:
        return read_baseline(path)
    return BaselineFile(path)


@dataclass(frozen=True)
class Selection:
    """The files to check: `paths`, of these only what differs from `revision`; `skip`, `trust`: as `sources` has it."""

    paths: tuple[Path, ...]
    revision: str | None = None
    trust: bool = False
    skip: bool = False

    def sources(self) -> tuple[list[Source], int]:
        """The sources, and the number of skipped files. Fails: RM109; RM112 where git gives no answer."""
        inputs, skipped = sources(self.paths, trust=self.trust, skip=self.skip)
        if self.revision is None:
            return inputs, skipped
        try:
            files = changed_files(Path.cwd(), self.revision)
        except NoAnswer as problem:
            raise fail(BAD_USAGE, f"`--changed`: {problem}") from None
        return [each for each in inputs if {_real(each.path), _real(contract_file(each.path))} & files], skipped


def _real(path: Path) -> Path:
    return file_of(path).resolve()


SKIP = "--skip-others"
OPTIONS = (
    click.option("--sarif", "sarif_file", type=PATH, help="Write findings as SARIF 2.1.0."),
    click.option("--junit", "junit_file", type=PATH, help="Write JUnit XML: a test case for each function."),
    click.option("--annotations", "lines", type=PATH, help="Write findings as commands that GitHub shows on lines."),
    click.option("--baseline", "baseline", type=PATH, help="Do not report the findings that this file accepts."),
    click.option("--update-baseline", "update", is_flag=True, help="Write the baseline: accept all findings of today."),
    click.option(SKIP, "skip", is_flag=True, help="Skip Python files without TVMScript, as in folders."),
    click.option(
        "--changed",
        is_flag=False,
        flag_value="HEAD",
        metavar="[REV]",
        help="Check only files that differ in git from where the branch left REV.  [default of REV: HEAD]",
    ),
)


def file_options(command: Callable[..., None]) -> Callable[..., None]:
    """These options, which reach the command as one argument `adoption`."""

    @wraps(command)
    def collected(
        *,
        sarif_file: Path | None,
        junit_file: Path | None,
        lines: Path | None,
        baseline: Path | None,
        update: bool,
        skip: bool,
        changed: str | None,
        **rest: object,
    ) -> None:
        accepted = baseline_of(baseline, update=update)
        command(adoption=Adoption(sarif_file, junit_file, lines, accepted, update, changed, skip), **rest)

    for option in reversed(OPTIONS):
        collected = option(collected)
    return collected
