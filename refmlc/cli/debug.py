"""`refmlc debug FILE`: step through a function of a module, forwards and backwards."""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from refmlc.cli.call import Call, call_options
from refmlc.cli.console import print_json
from refmlc.cli.debug_prompt import typed_lines
from refmlc.cli.options import PATH, count_option, json_option
from refmlc.debug import Program, Session
from refmlc.debug.terminal import Shell
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE

PROMPT = "(refmlc) "


@click.command("debug", epilog="Example: refmlc debug gemm.py --input A=ones --input B=ones --break nan")
@call_options
@click.option(
    "--break", "breaks", multiple=True, metavar="WHAT",
    help="Stop at a line, function, block, binding, nan, inf, undefined, trap, code, or 'watch C[3, 7]'.",
)  # fmt: skip
@click.option("--command", "-c", "commands", multiple=True, help="Execute this command, then end. May be repeated.")
@click.option("--script", type=PATH, help="Execute the commands in this file, then end.")
@click.option("--tui", is_flag=True, help="Use the full screen (extra `debug`).")
@count_option("--memory", 256, "Megabytes of snapshots for going back.")
@json_option
def debug(
    call: Call,
    breaks: tuple[str, ...],
    commands: tuple[str, ...],
    script: Path | None,
    memory: int,
    *,
    tui: bool,
    as_json: bool,
) -> None:
    """Step through a function of the module in FILE, forwards and backwards.

    Commands come from the terminal, `--command`, `--script` or standard input; `help` lists them. Parameters of a
    prim_func without an input are its outputs: allocated uninitialised.
    """
    lines = [*commands, *(_lines(script) if script else ())]
    if tui and (lines or as_json):
        raise fail(BAD_USAGE, "`--tui` takes no commands and prints no JSON")
    printed: list[str] = []
    write: Callable[[str], object] = printed.append if as_json else click.echo
    program = Program(call.module, call.func, call.arguments.values, output=write, max_steps=call.max_steps)
    with Session(program, snapshot_bytes=memory << 20) as session:
        shell = Shell(session, breaks)
        if tui:
            _run_full_screen(shell)
        elif as_json:
            _as_data(call, shell, lines, printed)
        else:
            _run_prompt(shell, lines)
    if shell.failed and (lines or not sys.stdin.isatty()):
        click.get_current_context().exit(2)


def _lines(script: Path) -> list[str]:
    try:
        return script.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as bad:
        raise fail(BAD_FILE, f"`{script}`: {bad}") from None


def _run_prompt(shell: Shell, lines: list[str]) -> None:
    """Execute commands in order and print the answer of each."""
    _print(shell.begin())
    if lines:
        commands: Iterable[str] = _echoed(lines)
    elif sys.stdin.isatty():
        # A shell may start this process with SIGINT ignored; a prompt needs it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        commands = typed_lines(PROMPT, shell)
    else:
        commands = _echoed(sys.stdin)
    for line in commands:
        try:
            _print(shell.execute(line))
        except KeyboardInterrupt:  # no motion is running
            if lines or not sys.stdin.isatty():
                raise
            _print("interrupted")
        if shell.over:
            return


def _print(text: str) -> None:
    if text:
        click.echo(text)


def _echoed(lines: Iterable[str]) -> Iterator[str]:
    """Lines from a file or option, each echoed after the prompt."""
    for line in lines:
        text = line.rstrip("\n")
        click.echo(f"{PROMPT}{text}")
        yield text


def _as_data(call: Call, shell: Shell, lines: list[str], printed: list[str]) -> None:
    """Execute commands in order and print all answers as one JSON object."""
    commands = [{"command": "", "said": _with_output(printed, shell.begin())}]
    for line in lines or (line.rstrip("\n") for line in sys.stdin):
        commands.append({"command": line, "said": _with_output(printed, shell.execute(line))})
        if shell.over:
            break
    stop = shell.state.session.stop
    data = {} if stop is None else {"reason": stop.reason.value, "moment": str(stop.moment), "text": stop.text}
    if stop is not None and stop.note:
        data["note"] = stop.note
    print_json({"file": str(call.file), "func": call.func, "commands": commands, "stop": data})


def _with_output(printed: list[str], reply: str) -> str:
    """The output of the program since the last command, then the reply of this one."""
    text = "\n".join([*printed, *([reply] if reply else [])])
    printed.clear()
    return text


def _run_full_screen(shell: Shell) -> None:
    try:
        from refmlc.debug.screen import Screen  # noqa: PLC0415 - optional, and slow to load
    except ImportError:
        raise fail(BAD_USAGE, "`--tui` needs the library `textual`", None, "install `refmlc[debug]`") from None
    screen = Screen(shell)
    screen.run()
    if screen.problem is not None:
        raise screen.problem
