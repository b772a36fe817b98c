"""`refmlc dap`: the debugger for editors, by the Debug Adapter Protocol.

| launch argument                          | is                                                                    |
|------------------------------------------|-----------------------------------------------------------------------|
| `program`                                | the file of the module; relative to `cwd`, if that is given             |
| `func`, `params`, `maxSteps`, `memory`   | as the options of `refmlc debug`                                        |
| `inputs`, `dims`                         | a list of `NAME=VALUE`, or an object of names and values                |
| `register`                               | a list of files; over a socket only with `--allow-register`              |
| `token`                                  | over a socket: the token that the server printed                        |
| `stopOnEntry`, `stopAtEnd`               | stop at the first statement; at the end, for stepping back              |
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import click

from refmlc.cli.call import open_call
from refmlc.debug import Program, dap as server
from refmlc.debug.dap import Arguments
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE


@click.command("dap", epilog="Example: refmlc dap --port 0")
@click.option("--port", type=click.IntRange(0, 65535), help="Listen on this port of this machine; 0: a free one.")
@click.option(
    "--allow-register", is_flag=True, help="With --port: execute the Python files that a launch request names."
)
def dap(port: int | None, *, allow_register: bool) -> None:
    """Serve one editor through the Debug Adapter Protocol, over the standard streams or a socket.

    With --port, a token is printed; the client sends it as `token` in the arguments of `launch`.
    """
    if port is None:
        reader, writer = _streams()
        server.serve(reader, writer, launch, leave=server.leave)
        return
    try:
        server_socket = server.listen(port)
    except OSError as problem:
        raise fail(BAD_USAGE, f"port {port}: {problem.strerror or problem}") from None
    token = server.new_token()
    click.echo(f"listening on {server.HOST}:{server_socket.getsockname()[1]}\ntoken: {token}")
    server.serve_socket(server_socket, launch if allow_register else launch_without_files, token, leave=server.leave)


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """The standard streams; all other output goes to standard error, away from the messages."""
    reader, writer = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, sys.stdin.fileno())
    os.close(null)
    return os.fdopen(reader, "rb"), os.fdopen(writer, "wb")


def launch_without_files(request: Arguments, output: Callable[[str], object]) -> Program:
    """The program of a launch request that may not execute files. Fails: RM112 if it names one; as `launch`."""
    if request.texts("register", []):
        raise fail(BAD_USAGE, "`register` executes files: start the server with `--allow-register` for that")
    return launch(request, output)


def launch(request: Arguments, output: Callable[[str], object]) -> Program:
    """The program of a launch request. Fails: as `refmlc debug`."""
    folder = Path(request.text("cwd", "."))
    call = open_call(
        folder / request.text("program"),
        request.text("func", ""),
        tuple(_beside(folder, pair) for pair in _pairs(request, "inputs")),
        tuple(_pairs(request, "dims")),
        folder / request.text("params") if "params" in request else None,
        [folder / file for file in request.texts("register", [])],
        request.number("maxSteps", 0) or None,
    )
    return Program(call.module, call.func, call.arguments.values, output=output, max_steps=call.max_steps)


def _pairs(request: Arguments, name: str) -> list[str]:
    """The pairs `NAME=VALUE` of a list of texts or of an object."""
    if isinstance(request.values.get(name), dict):
        return [f"{key}={value}" for key, value in request.inner(name).values.items()]
    return request.texts(name, [])


def _beside(folder: Path, pair: str) -> str:
    """A file that is named relative to `folder`."""
    name, equals, value = pair.partition("=")
    return f"{name}={folder / value}" if equals and value.endswith(".npy") else pair
