"""`refmlc conform adapter`, `refmlc conform findings`: the documents of the suite that a package brings with it."""

from pathlib import Path

import click

from refmlc.cli.console import json_option, out, print_json
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.suite.suite import root_of

ADAPTER = ("README.md", "PROTOCOL.md", "template.c", "template.py")


@click.command()
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default="adapter",
    show_default=True,
    help="The folder to write to.",
)
@json_option
def adapter(*, folder: Path, as_json: bool) -> None:
    """Write what an own implementation starts from: a guide, the protocol, a template in C and one in Python.

    Files that are there already are kept. Example: refmlc conform adapter -o mine
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


@click.command()
@json_option
def findings(*, as_json: bool) -> None:
    """Print what TVM is known to do wrong, as Markdown: each row with a module, the clause, the versions."""
    text = (root_of(None) / "FINDINGS.md").read_text(encoding="utf-8")
    if as_json:
        print_json({"markdown": text})
        return
    click.echo(text, nl=False)
