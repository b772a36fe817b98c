"""`refmlc conform export`, `adapter` and `findings`: the suite as JSON, and the documents that come with it."""

from pathlib import Path

import click

from refmlc.cli.console import out, print_json
from refmlc.cli.options import folder_option, json_option, suite_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.suite.export import write_suite
from refmlc.oracle.suite.suite import load_suite, root_of

ADAPTER = ("README.md", "PROTOCOL.md", "template.c", "template.py")


@click.command(epilog="Example: refmlc conform export -o cases")
@folder_option("conformance-json")
@suite_option
@json_option
def export(*, folder: Path, suite: Path | None, as_json: bool) -> None:
    """Write every case as JSON, with its module as a tree, an index, and the JSON Schemas."""
    cases = load_suite(suite)
    try:
        count = write_suite(cases, folder)
    except OSError as problem:
        raise fail(BAD_USAGE, f"`{folder}` cannot be written: {problem.strerror}") from None
    if as_json:
        print_json({"cases": count, "version": cases.version, "output": str(folder)})
        return
    out.print(f"{count} cases of version {cases.version} in {folder}")


@click.command(epilog="Example: refmlc conform adapter -o mine")
@folder_option("adapter")
@json_option
def adapter(*, folder: Path, as_json: bool) -> None:
    """Write a guide, the protocol and templates in C and Python for your own implementation.

    Existing files are not overwritten.
    """
    targets = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ADAPTER:
            target = folder / name
            if not target.exists():
                target.write_bytes((root_of(None) / "adapters" / name).read_bytes())
                targets.append(str(target))
    except OSError as problem:
        raise fail(BAD_USAGE, f"`{folder}` cannot be written: {problem.strerror}") from None
    if as_json:
        print_json({"output": str(folder), "written": targets})
        return
    for name in targets:
        out.print(f"written: {name}", markup=False)
    if len(targets) < len(ADAPTER):
        out.print(f"not overwritten: {len(ADAPTER) - len(targets)} files", markup=False)


@click.command(epilog="Example: refmlc conform findings")
@json_option
def findings(*, as_json: bool) -> None:
    """Print the known bugs of TVM as Markdown, each with a module, the clause and the versions."""
    text = (root_of(None) / "FINDINGS.md").read_text(encoding="utf-8")
    if as_json:
        print_json({"markdown": text})
        return
    click.echo(text, nl=False)
