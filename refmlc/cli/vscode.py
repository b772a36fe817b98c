"""`refmlc vscode`: the extension for VS Code, packaged and installed."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from refmlc.cli.console import out, print_json
from refmlc.cli.options import json_option
from refmlc.debug.vsix import NAME, write_package
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

EDITORS = ("code", "codium", "code-server")
SECONDS = 120.0


@click.command(epilog="Example: refmlc vscode --install")
@click.option("--install", is_flag=True, help="Install the extension in the editor.")
@click.option(
    "--editor", metavar="COMMAND", help=f"The command of the editor.  [default: the first of {', '.join(EDITORS)}]"
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"Write the package to this file.  [default without --install: {NAME}]",
)
@json_option
def vscode(*, install: bool, editor: str | None, output: Path | None, as_json: bool) -> None:
    """Write the extension for VS Code as a package, or install it."""
    command = _editor(editor) if install else None
    with TemporaryDirectory(prefix="refmlc-vscode-") as folder:
        package = output or (Path(folder) / NAME if install else Path(NAME))
        try:
            write_package(package)
        except OSError as problem:
            raise fail(BAD_USAGE, f"`{package}` cannot be written: {problem.strerror}") from None
        if command is not None:
            _install(command, package)
    shown_path = None if output is None and install else str(package)
    if as_json:
        print_json({"package": shown_path, "editor": command})
        return
    if shown_path is not None:
        out.print(f"written: {shown_path}", markup=False)
    if command is not None:
        out.print(f"installed with {command}: open a module and choose `Debug this TVM module`", markup=False)


def _editor(command: str | None) -> str:
    """The path of the editor's command. Fails: RM112."""
    for name in (command,) if command else EDITORS:
        path = shutil.which(name)
        if path is not None:
            return path
    names = f"`{command}`" if command else " or ".join(f"`{name}`" for name in EDITORS)
    way = "`refmlc vscode -o FILE` writes the package; the editor installs it from its page of extensions"
    raise fail(BAD_USAGE, f"no command {names} is on the PATH", None, way)


def _install(editor: str, package: Path) -> None:
    """Have the editor install the package. Fails: RM112."""
    try:
        process = subprocess.run(  # noqa: S603 - the user asks for it, and names the editor
            [editor, "--install-extension", str(package), "--force"],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise fail(BAD_USAGE, f"`{editor}` did not install the extension: {problem}") from None
    if process.returncode:
        output = (process.stderr or process.stdout).strip() or "no output"
        raise fail(BAD_USAGE, f"`{editor}` did not install the extension (exit {process.returncode})", None, output)
