"""Lines typed at the prompt, with completion and a history where Python has readline."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import click

from refmlc.debug.terminal import Shell, completions

HISTORY = "~/.refmlc_history"
LINES = 1000


def typed_lines(prompt: str, shell: Shell) -> Iterator[str]:
    """Lines until the end of the input."""
    save_history = _prepare(shell)
    try:
        while True:
            try:
                yield input(prompt)
            except EOFError:
                click.echo()
                return
            except KeyboardInterrupt:
                click.echo("\n`quit` ends the session")
    finally:
        save_history()


def _prepare(shell: Shell) -> Callable[[], None]:
    """Set up completion and history; returns the function that saves it. `REFMLC_HISTORY`: its file; empty: none."""
    try:
        import readline  # noqa: PLC0415 - not every Python has it
    except ImportError:
        return lambda: None

    def complete(_text: str, number: int) -> str | None:
        words = completions(shell.state.session, readline.get_line_buffer()[: readline.get_endidx()])
        return words[number] if number < len(words) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")
    readline.set_history_length(LINES)
    name = os.environ.get("REFMLC_HISTORY", HISTORY)
    path = Path(name).expanduser()
    if not name:
        return lambda: None
    with suppress(OSError):
        readline.read_history_file(path)

    def save_history() -> None:
        with suppress(OSError):
            readline.write_history_file(path)

    return save_history
