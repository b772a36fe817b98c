"""`refmlc debug FILE`: step through a function of a module, forwards and backwards."""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

import refmlc
from refmlc.cli.console import json_option, print_json
from refmlc.cli.debug_prompt import typed
from refmlc.cli.inputs import Inputs, gather
from refmlc.cli.registering import register, register_option
from refmlc.debug import Program, Session
from refmlc.debug.terminal import Shell
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE

PROMPT = "(refmlc) "


@click.command("debug", epilog="Example: refmlc debug gemm.py --input A=ones --input B=ones --break nan")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--func", help="The function to run.  [default: main, or the only one]")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help=Inputs.HELP)
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="The size of a symbolic dimension.")
@click.option("--params", type=click.Path(path_type=Path), help="Inputs by name: .npz, .safetensors or .pkl.")
@click.option(
    "--break", "breaks", multiple=True, metavar="WHAT",
    help="Stop at a line, function, block, binding, nan, inf, undefined, trap, code, or 'watch C[3, 7]'.",
)  # fmt: skip
@click.option("--command", "-c", "commands", multiple=True, help="Execute this command, then end. May be repeated.")
@click.option("--script", type=click.Path(path_type=Path), help="Execute the commands in this file, then end.")
@click.option("--tui", is_flag=True, help="Use the full screen (extra `debug`).")
@click.option(
    "--memory", type=click.IntRange(1), default=256, show_default=True, help="Megabytes of snapshots for going back."
)
@click.option("--max-steps", type=click.IntRange(1), help="Stop after this many statements (RM601).")
@register_option
@json_option
def debug(  # noqa: PLR0913, PLR0917 - one parameter per option
    file: Path,
    func: str | None,
    inputs: tuple[str, ...],
    dims: tuple[str, ...],
    params: Path | None,
    breaks: tuple[str, ...],
    commands: tuple[str, ...],
    script: Path | None,
    memory: int,
    max_steps: int | None,
    *,
    tui: bool,
    registered: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Step through a function of the module in FILE, forwards and backwards.

    Commands come from the terminal, `--command`, `--script` or standard input; `help` lists them. Parameters of a
    prim_func without an input are its outputs: allocated uninitialised.
    """
    module = refmlc.read_file(file)
    register(registered)
    func = func or (next(iter(module.functions)) if len(module.functions) == 1 else "main")
    arguments = gather(module, func, inputs, dims, params)
    lines = [*commands, *(_lines(script) if script else ())]
    if tui and (lines or as_json):
        raise fail(BAD_USAGE, "`--tui` is for people: it takes no commands and prints no JSON")
    said: list[str] = []
    write: Callable[[str], object] = said.append if as_json else click.echo
    program = Program(module, func, arguments.values, output=write, max_steps=max_steps)
    with Session(program, snapshot_bytes=memory << 20) as session:
        shell = Shell(session, breaks)
        if tui:
            _full_screen(shell)
        elif as_json:
            _as_data(file, func, shell, lines, said)
        else:
            _at_prompt(shell, lines)
    if shell.failed and (lines or not sys.stdin.isatty()):
        click.get_current_context().exit(2)


def _lines(script: Path) -> list[str]:
    try:
        return script.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as bad:
        raise fail(BAD_FILE, f"`{script}`: {bad}") from None


def _at_prompt(shell: Shell, lines: list[str]) -> None:
    """Execute commands in order and print the answer of each."""
    _say(shell.begin())
    if lines:
        read: Iterable[str] = _told(lines)
    elif sys.stdin.isatty():
        # A shell may start this process with SIGINT ignored; a prompt needs it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        read = typed(PROMPT, shell)
    else:
        read = _told(sys.stdin)
    for line in read:
        try:
            _say(shell.execute(line))
        except KeyboardInterrupt:  # nothing runs that could be paused
            if lines or not sys.stdin.isatty():
                raise
            _say("interrupted")
        if shell.over:
            return


def _say(text: str) -> None:
    if text:
        click.echo(text)


def _told(lines: Iterable[str]) -> Iterator[str]:
    """Lines from a file or option, each echoed after the prompt."""
    for line in lines:
        text = line.rstrip("\n")
        click.echo(f"{PROMPT}{text}")
        yield text


def _as_data(file: Path, func: str, shell: Shell, lines: list[str], said: list[str]) -> None:
    """The same as one JSON object."""
    done = [{"command": "", "said": _both(said, shell.begin())}]
    for line in lines or (line.rstrip("\n") for line in sys.stdin):
        done.append({"command": line, "said": _both(said, shell.execute(line))})
        if shell.over:
            break
    stop = shell.state.session.stop
    data = {} if stop is None else {"reason": stop.reason.value, "moment": str(stop.moment), "text": stop.text}
    if stop is not None and stop.note:
        data["note"] = stop.note
    print_json({"file": str(file), "func": func, "commands": done, "stop": data})


def _both(said: list[str], text: str) -> str:
    """The output of the program, then the answer of the command."""
    found = "\n".join([*said, *([text] if text else [])])
    said.clear()
    return found


def _full_screen(shell: Shell) -> None:
    try:
        from refmlc.debug.screen import Screen  # noqa: PLC0415 - optional, and slow to load
    except ImportError:
        raise fail(BAD_USAGE, "`--tui` needs the library `textual`", None, "install `refmlc[debug]`") from None
    screen = Screen(shell)
    screen.run()
    if screen.problem is not None:
        raise screen.problem
