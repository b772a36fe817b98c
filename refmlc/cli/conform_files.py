"""`refmlc conform adapter`, `refmlc conform findings`: the documents of the suite that a package brings with it."""

from pathlib import Path

import click

from refmlc.cli.console import json_option, out, print_json
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.suite.suite import root_of

ADAPTER = ("README.md", "PROTOCOL.md", "template.c", "template.py")


@click.command(epilog="Example: refmlc conform adapter -o mine")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default="adapter",
    show_default=True,
    help="Write to this folder.",
)
@json_option
def adapter(*, folder: Path, as_json: bool) -> None:
    """Write a guide, the protocol and templates in C and Python for an implementation of your own.

    Existing files are kept.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ADAPTER:
            target = folder / name
            if not target.exists():
                target.write_bytes((root_of(None) / "adapters" / name).read_bytes())
                written.append(str(target))
    except OSError as problem:
        raise fail(BAD_USAGE, f"`{folder}` cannot be written: {problem.strerror}") from None
    if as_json:
        print_json({"output": str(folder), "written": written})
        return
    for name in written:
        out.print(f"written: {name}", markup=False)
    if len(written) < len(ADAPTER):
        out.print(f"kept as they are: {len(ADAPTER) - len(written)} files", markup=False)


@click.command(epilog="Example: refmlc conform findings")
@json_option
def findings(*, as_json: bool) -> None:
    """Print the known bugs of TVM as Markdown, each with a module, the clause and the versions."""
    text = (root_of(None) / "FINDINGS.md").read_text(encoding="utf-8")
    if as_json:
        print_json({"markdown": text})
        return
    click.echo(text, nl=False)
