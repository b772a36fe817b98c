"""`refmlc play`: a page to try refmlc in a browser: a module, its verdicts, traces and layout; on loopback only."""

import click

from refmlc.cli.console import err, print_json
from refmlc.cli.options import json_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE


@click.command("play", epilog="Example: refmlc play --port 8765")
@click.option("--port", type=click.IntRange(1, 65535), help="Serve on this port of loopback.  [default: a free one]")
@json_option
def play(port: int | None, *, as_json: bool) -> None:
    """Serve a page on which a module is written, checked, traced and drawn, until Ctrl-C (extra `report`).

    The address has a token, and only loopback is served: nobody else on the network or the machine can use it. A module
    is read as data; nothing else is executed, no file is read or written, and every run has limits. `--json` prints the
    address as JSON.
    """
    try:
        from refmlc.cli.playground.server import Playground  # noqa: PLC0415 - an extra
    except ImportError:
        problem = "the page needs the libraries `jinja2` and `pygments`"
        raise fail(BAD_USAGE, problem, None, "install `refmlc[report]`") from None
    with Playground(port or 0) as playground:
        if as_json:
            print_json({"url": playground.door.url, "port": playground.server_port})
        else:
            click.echo(playground.door.url)
            err.print("Ctrl-C ends it", style="dim")
        playground.owner.worker()  # the first check need not wait for it to load
        playground.serve_forever()
