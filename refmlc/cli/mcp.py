"""`refmlc mcp`: verdicts for assistants, as tools of the Model Context Protocol, over standard streams or loopback."""

import sys
from contextlib import redirect_stdout
from importlib.metadata import version
from inspect import getdoc
from typing import Any

import click

from refmlc.cli.console import print_json
from refmlc.cli.options import json_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

LOOPBACK = "127.0.0.1"
INSTRUCTIONS = (
    "refmlc is the reference for TVMScript modules (TensorIR and Relax of Apache TVM). Send the text of a module. "
    "`check` finds undefined behaviour and wrong results; `prove` shows for all arguments that one module may replace "
    "another; `why` and the debugger show where a value comes from. A finding names a code: `explain` it. What refmlc "
    "does not support it names; that is never agreement."
)


@click.command("mcp", epilog="Example: refmlc mcp")
@click.option("--port", type=click.IntRange(1, 65535), help="Serve HTTP on this port of loopback, not the streams.")
@json_option
def mcp(port: int | None, *, as_json: bool) -> None:
    """Serve check, prove, explain, why and the debugger to an assistant (extra `mcp`).

    A client sends the text of a module and gets verdicts: nothing else is executed, no file is read or written, and
    every run has limits. `--json` lists the tools.
    """
    server = _server()
    if as_json:
        import anyio  # noqa: PLC0415 - comes with the extra

        tools = anyio.run(server.list_tools)
        print_json({"tools": [{"name": tool.name, "description": tool.description} for tool in tools]})
    elif port is None:
        with redirect_stdout(sys.__stdout__):  # the SDK takes it; what a program prints goes to standard error
            server.run("stdio")
    else:
        server.run("streamable-http", host=LOOPBACK, port=port)


def _server() -> Any:  # noqa: ANN401 - a class of the extra
    """The server with its tools. Fails: RM112 without the extra."""
    try:
        from mcp.server.mcpserver import MCPServer  # noqa: PLC0415 - an extra
    except ImportError:
        raise fail(BAD_USAGE, "`mcp` needs the library `mcp`", None, "install `refmlc[mcp]`") from None
    from refmlc.cli.mcp_tools import tools  # noqa: PLC0415 - loads all that the tools need

    server = MCPServer("refmlc", instructions=INSTRUCTIONS, version=version("refmlc"), log_level="WARNING")
    for name, tool in tools().items():
        server.tool(name=name, description=getdoc(tool))(tool)
    return server
