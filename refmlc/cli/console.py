"""Shared by all subcommands: the consoles, `--json`, and the one place where failures become exit codes."""

import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import IO, Any, ClassVar, TextIO, cast

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from refmlc.cli.streams import Gate, gated
from refmlc.diag import Diagnostic, Internal, RefmlcError, Related
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE, BUG, DEPTH_EXHAUSTED, MEMORY_EXHAUSTED
from refmlc.diag.errors import fail
from refmlc.diag.layout import DOUBTFUL, plain, safe
from refmlc.diag.render import note_line, render_text, to_json
from refmlc.lazy import load

MOST_NOTES = 5
INTERRUPTED = 130  # the exit status of shells for Ctrl-C


class Terminal(Console):
    """A console for untrusted text, which is never markup, a control sequence or a link.

    The command decides what a closed pipe means.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - as rich takes them
        """Write to standard output, or with `stderr` to standard error."""
        super().__init__(**{"highlight": False, "markup": False, "emoji": False, "soft_wrap": True, **options})

    @property  # type: ignore[misc]  # no console here has another file
    def file(self) -> IO[str]:
        """The stream behind the gate, for text that `render` has cleaned and rich has painted."""
        stream = super().file
        return cast("IO[str]", stream.behind) if isinstance(stream, Gate) else stream

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The cleaned segments: everything that a console prints passes here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else cleaned(segment)

    def status(self, status: RenderableType, **options: Any) -> Status:  # noqa: ANN401 - as rich takes them
        """Show that the command is working; the text is not markup."""
        return super().status(Text(status) if isinstance(status, str) else status, **options)

    def on_broken_pipe(self) -> None:
        """Raise: the reader of the pipe has closed it."""
        raise BrokenPipeError


def cleaned(segment: Segment) -> Segment:
    """A segment without control sequences and without a link."""
    style = segment.style
    return Segment(safe(segment.text), style.update_link(None) if style is not None and style.link else style)


out = Terminal()
err = Terminal(stderr=True)


def print_json(value: Mapping[str, object]) -> None:
    """Print one JSON object; NaN and infinities as strings, since JSON has none.

    Control characters, and characters that the encoding lacks, are written as JSON escapes: nothing is lost.
    """
    click.echo(DOUBTFUL.sub(lambda doubtful: "".join(map(_escaped, doubtful[0])), json_text(value)))


def json_text(value: Mapping[str, object]) -> str:
    """The text of `print_json`, with control characters as they are."""
    options: dict[str, Any] = {"ensure_ascii": not out.encoding.startswith("utf"), "indent": 2, "allow_nan": False}
    try:
        return json.dumps(value, **options)
    except ValueError:
        return json.dumps(_finite(value), **options)


def _finite(value: object) -> object:
    """The value with its NaN and infinities as strings."""
    match value:
        case float() if not isfinite(value):
            return str(value)
        case dict():
            return {name: _finite(each) for name, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
    return value


def _escaped(char: str) -> str:
    return char if plain(char) == char else json.dumps(char)[1:-1]


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 run`, `2 runs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show_diagnostic(diagnostic: Diagnostic, console: Terminal) -> None:
    """Show a diagnostic, painted on a terminal: `render_text` has cleaned what it paints."""
    color = console.is_terminal and not console.no_color
    console.file.write(f"{render_text(diagnostic, color=color)}\n")
    console.file.flush()


def show_notes(notes: Sequence[Related]) -> None:
    """Print notes on a text, in a line each, to standard error."""
    for note in notes[:MOST_NOTES]:
        err.print(note_line(note), style="dim")
    if len(notes) > MOST_NOTES:
        err.print(f"note: {len(notes) - MOST_NOTES} more statements are skipped", style="dim")


def report_failure(failure: RefmlcError, *, as_json: bool) -> None:
    """Show a failure: as JSON on standard output, or as text on standard error."""
    if as_json:
        print_json({"error": to_json(failure.diagnostic)})
    else:
        show_diagnostic(failure.diagnostic, err)


def open_streams() -> None:
    """Open the standard streams that the shell closed (`<&-`; Python has None). Fails: RM109 for the output."""
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - as long as the process
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - the same
    if sys.stdout is None:
        raise fail(BAD_FILE, "standard output is closed")


@contextmanager
def short_warnings() -> Iterator[None]:
    """Print each warning as one line on standard error, without its place in refmlc's own code."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del category, filename, lineno, file, line
        click.echo(f"warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def as_failure(problem: Exception) -> RefmlcError:
    """An exception as a failure: exhausted resources and files by kind, anything else a bug in refmlc."""
    match problem:
        case RefmlcError():
            return problem
        case MemoryError():
            return fail(MEMORY_EXHAUSTED, "Python is out of memory")
        case RecursionError():
            return fail(DEPTH_EXHAUSTED, "Python's recursion limit is reached")
        case OSError():
            return fail(BAD_FILE, f"{problem.filename or 'output'}: {problem.strerror or problem}")
        case _:
            note = "set REFMLC_TRACEBACK=1 to see the traceback"
            return Internal(Diagnostic(BUG, f"{type(problem).__name__}: {problem}", notes=(note,)))


def _forget_interrupt() -> None:
    """Let the process end with an exit status, not by the signal.

    Decision: CPython marks the process when a `KeyboardInterrupt` leaves the execution of a text, and `@dataclass`
    executes texts while a module loads. A marked process ends by SIGINT, although the interrupt was caught; the next
    execution of a text removes the mark.
    """
    eval("0")  # noqa: S307 - a constant


class GuardedGroup(click.Group):
    """A group whose subcommands end in one message and the exit code of its kind, never in a traceback.

    `places` maps each name to `module:attribute`; a subcommand is loaded when it is called.
    """

    places: ClassVar[Mapping[str, str]] = {}

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """All names, in order."""
        return sorted(self.places)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """The subcommand of this name, or None."""
        if name not in self.places:
            return None
        command: click.Command = load(self.places[name])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand named by the first argument. Fails: UsageError, with a suggestion, for an unknown name."""
        name = args[0]
        if name not in self.places and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(self.suggestion(name), ctx)
        return super().resolve_command(ctx, args)

    def suggestion(self, name: str) -> str:
        """The message for an unknown name, with the nearest known one."""
        near = get_close_matches(name, self.places, n=1)
        return f"No such command '{name}'." + (f" Did you mean '{near[0]}'?" if near else "")

    def main(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as in click
        """Run the command line; everything it prints passes the gate."""
        with gated():
            return super().main(*args, **options)

    def invoke(self, ctx: click.Context) -> None:
        """Run the subcommand and report how it fails."""
        as_json = "--json" in ctx.args
        try:
            open_streams()
            with short_warnings():
                super().invoke(ctx)
        except click.UsageError as problem:
            if not as_json:
                raise
            self._end(ctx, fail(BAD_USAGE, problem.format_message()), as_json=True)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            _forget_interrupt()
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            self._discard(ctx, 0)
        except Exception as problem:
            failure = as_failure(problem)
            if isinstance(failure, Internal) and os.environ.get("REFMLC_TRACEBACK"):
                raise
            self._end(ctx, failure, as_json=as_json)

    def _end(self, ctx: click.Context, failure: RefmlcError, *, as_json: bool) -> None:
        """Report the failure if an output is still open, and exit with its status."""
        try:
            report_failure(failure, as_json=as_json)
        except BrokenPipeError:
            self._discard(ctx, failure.exit_code)
        except OSError:  # the output is full: report to standard error
            with suppress(OSError):
                report_failure(failure, as_json=False)
            self._discard(ctx, failure.exit_code)
        if sys.stdout is not None:
            try:
                sys.stdout.flush()
            except OSError:  # otherwise Python flushes again at exit, and fails with another status
                self._discard(ctx, failure.exit_code)
        ctx.exit(failure.exit_code)

    def _discard(self, ctx: click.Context, status: int) -> None:
        """Discard the rest of an output that accepts no more."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        ctx.exit(status)
