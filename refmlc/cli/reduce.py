"""`refmlc reduce FILE`: the smallest program for which a command still ends with 0, or a verdict stays the same."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import click
from rich.text import Text

import refmlc
from refmlc.cli.console import err, out, print_json
from refmlc.cli.options import PATH, Duration, file_argument, json_option
from refmlc.cli.reduce_verdict import find_target, is_static, known_code
from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.implementations.lookup import implementation
from refmlc.oracle.reduce import Reduction, TextReduction, reduce, reduce_case, reduce_text
from refmlc.oracle.reduce.command import CommandPredicate, Ran
from refmlc.oracle.reduction_predicates import fails_to_read

Result = Reduction | TextReduction
COMMAND_HELP = "A shell command; exit status 0: keep the candidate, whose path is {}, $1 and $REFMLC_FILE."


@click.command("reduce", epilog="Example: refmlc reduce prog.py --while './still-fails.sh {}'")
@file_argument
@click.option("--while", "command", metavar="COMMAND", help=COMMAND_HELP)
@click.option("--code", metavar="CODE", help="Keep the finding of `refmlc check` with this code: RM304.")
@click.option(
    "--impl", metavar="SPEC", help="Keep the wrong result of this implementation: native[:WAY], tvm:PYTHON, cmd:…."
)
@click.option("--out", "target", type=PATH, help="Write the result here.  [default: FILE.reduced.py]")
@click.option("--time", "seconds", type=Duration(), metavar="TIME", help="Stop after this time.  [default: no limit]")
@click.option(
    "--limit", type=Duration(), default="60s", show_default=True, help="Time limit of one run of the command."
)
@click.option(
    "--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, help="Number of commands that run at a time."
)
@click.option("--func", help="Keep this function; it is the one that is called.")
@click.option("--lines", is_flag=True, help="Treat FILE as lines of any text.")
@json_option
def reduce_command(  # noqa: PLR0913 - one parameter per option
    file: Path,
    command: str | None,
    code: str | None,
    impl: str | None,
    target: Path | None,
    seconds: float | None,
    limit: float,
    *,
    jobs: int,
    func: str | None,
    lines: bool,
    as_json: bool,
) -> None:
    """Shrink the program in FILE while COMMAND exits with 0 on it, or while the verdict stays the same.

    Each candidate is a valid module. A file that refmlc cannot read, or on whose printed form the command fails, is
    reduced line by line. The output file always holds the best candidate so far, also after Ctrl-C.
    """
    if (command is None) == (code is None and impl is None):
        raise fail(BAD_USAGE, "say what to keep: `--while COMMAND`, or `--code` and `--impl`")
    target = target or file.with_name(f"{file.stem}.reduced{file.suffix}")
    begin = monotonic()
    with interruptible(), err.status(f"reducing {file} …") as status:
        job = Job(file, target, seconds, jobs, func, lambda line: status.update(Text(f"reducing {file}: {line}")))
        if command is not None:
            with CommandPredicate(command, file.name, limit) as predicate:
                result: Result = job.command(predicate, limit, lines=lines)
        else:
            result = job.verdict(code, impl)
    write(target, whole_text(result))
    show_result(file, target, result, monotonic() - begin, as_json=as_json)


@contextmanager
def interruptible() -> Iterator[None]:
    """Treat SIGTERM as an interrupt: end running commands and keep the best candidate."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass(frozen=True)
class Job:
    """One reduction: the output file, the limits, the function to keep, and the form of the report."""

    file: Path
    target: Path
    seconds: float | None
    jobs: int
    func: str | None
    tell: Callable[[str], None]

    def command(self, predicate: CommandPredicate, limit: float, *, lines: bool) -> Result:
        """Reduce the file while a command holds."""
        text = text_of(self.file)
        expect(predicate.run(text), limit)
        module = None if lines else self.module(text)
        write(self.target, text)
        if module is not None and not predicate.holds(refmlc.show(module, show_meta=True)):
            err.print("note: the command fails on the module as refmlc prints it: reducing lines instead", style="dim")
            module = None
        if module is None:
            return self.lines(text, predicate.holds)
        return reduce(
            module,
            lambda candidate: predicate.holds(source_of(candidate)),
            func=self.func or "",
            seconds=self.seconds,
            jobs=self.jobs,
            on_progress=self._better,
        )

    def verdict(self, code: str | None, impl: str | None) -> Result:
        """Reduce the file while a verdict stays the same. Fails: RM112 if the file does not have it."""
        if code is not None and is_static(known_code(code)) and impl is None:
            return self.lines(text_of(self.file), fails_to_read(code))
        module = self._with_function(refmlc.read_file(self.file))
        if impl is None:
            target = find_target(module, self.func, code, None)
            return reduce_case(target.case, target.keep, seconds=self.seconds, on_progress=self._better)
        with closing(implementation(impl)) as candidate:
            target = find_target(module, self.func, code, candidate)
            return reduce_case(target.case, target.keep, seconds=self.seconds, on_progress=self._better)

    def lines(self, text: str, holds: Callable[[str], bool]) -> TextReduction:
        """Reduce the lines of a text."""
        return reduce_text(text, holds, seconds=self.seconds, jobs=self.jobs, on_progress=self._better)

    def module(self, text: str) -> IRModule | None:
        """The module in the text; None, with a note, if it breaks the static rules."""
        try:
            module = read(text, str(self.file))
        except RefmlcError as failure:
            err.print(f"note: {failure.code.id}, {failure.diagnostic.message}: reducing lines instead", style="dim")
            return None
        return self._with_function(module)

    def _with_function(self, module: IRModule) -> IRModule:
        if self.func is not None and self.func not in module.functions:
            names = ", ".join(module.functions) or "none"
            raise fail(BAD_USAGE, f"the module has no function `{self.func}`", None, f"its functions: {names}")
        return module

    def _better(self, result: Result) -> None:
        write(self.target, whole_text(result))
        self.tell(sizes(result))


def whole_text(result: Result) -> str:
    """The text of the result; its calls, if it has any, as comments."""
    if isinstance(result, TextReduction) or result.case is None:
        return result.text
    lines = [result.text.rstrip("\n"), ""]
    for call in result.case.calls:
        lines += [
            f"# `{result.case.func}` is called with" + ("" if call else " no arguments"),
            *(f"#   {argument}" for argument in call),
        ]
    return "\n".join(lines) + "\n"


def text_of(file: Path) -> str:
    """The text of the file. Fails: RM109."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise fail(BAD_FILE, f"{file} is not UTF-8: only text can be reduced") from None


def source_of(module: IRModule) -> str:
    """The text that the module was read from."""
    return refmlc.show(module, show_meta=True) if module.source is None else module.source.text


def expect(command_run: Ran, limit: float) -> None:
    """Check that the command holds for the original. Fails: RM112, with the output of the command."""
    if command_run.holds:
        return
    how = f"does not end within {limit:g} s" if command_run.status is None else f"ends with {command_run.status}, not 0"
    printed = [f"it printed: {line}" for line in command_run.output.splitlines()[-8:]] or ["it printed nothing"]
    raise fail(BAD_USAGE, f"the command {how} on the original file: there is nothing to keep", None, *printed)


def write(target: Path, text: str) -> None:
    """Replace the file in one step, so that it is always a whole program. Fails: RM109."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(target)


def sizes(result: Result) -> str:
    """Sizes before and after, in words."""
    pairs = [f"{a} → {b} {name}" for name, (a, b) in measures(result).items()]
    return f"{', '.join(pairs)}; {result.tries} tries"


def measures(result: Result) -> dict[str, tuple[int, int]]:
    """Sizes before and after, by name."""
    before, after = result.before, result.after
    if isinstance(result, TextReduction):
        return {"lines": (before[0], after[0]), "characters": (before[1], after[1])}
    names = ("functions", "calls", "statements", "characters")
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in names}
    return {name: pair for name, pair in pairs.items() if name != "calls" or result.case is not None}


def show_result(file: Path, target: Path, result: Result, seconds: float, *, as_json: bool) -> None:
    """Print the result and the name of its file."""
    if as_json:
        data = {name: {"before": before, "after": after} for name, (before, after) in measures(result).items()}
        counts = {"tries": result.tries, "steps": result.steps, "finished": result.finished, "seconds": seconds}
        print_json({"file": str(file), "out": str(target), "text": whole_text(result), **data, **counts})
        return
    out.print(whole_text(result).rstrip("\n"))
    end = "" if result.finished else "; the time is up"
    err.print(f"{sizes(result)}, {seconds:.1f} s{end}; in {target}", style="dim")
