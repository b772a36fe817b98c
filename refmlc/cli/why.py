"""`refmlc why FILE --element 'C[3,7]'`: the backward slice of one element of a result."""

import re
from pathlib import Path

import click
from rich.text import Text
from rich.tree import Tree

import refmlc
from refmlc.cli.console import err, json_option, out, print_json
from refmlc.cli.inputs import Inputs, gather
from refmlc.cli.registering import register, register_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.observe.why import Line, SliceLimits, as_data, outline, text, why

DEPTH = 8

_ELEMENT = re.compile(r"\s*([A-Za-z_][\w.]*)?\s*(?:\[\s*((?:\d+\s*,?\s*)*|\(\s*\))\s*\])?\s*", re.ASCII)


@click.command("why", epilog="Example: refmlc why gemm.py --element 'C[3,2]' --input A=ones --input B=iota")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--element", required=True, help="C[3,7], result[0,3], result.1[2], or an inner variable or buffer.")
@click.option("--func", help="The function to run.  [default: main, or the only one]")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help=Inputs.HELP)
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="The size of a symbolic dimension.")
@click.option("--params", type=click.Path(path_type=Path), help="Inputs by name: .npz, .safetensors or .pkl.")
@click.option("--depth", type=click.IntRange(1), default=DEPTH, show_default=True, help="Levels of elements to show.")
@click.option("--max-steps", type=click.IntRange(1), help="Stop each run after this many statements (RM601).")
@register_option
@json_option
def why_command(  # noqa: PLR0913 - one parameter per option
    file: Path,
    element: str,
    func: str | None,
    inputs: tuple[str, ...],
    dims: tuple[str, ...],
    params: Path | None,
    depth: int,
    max_steps: int | None,
    *,
    registered: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Show why an element has its value: the stores, operators and roundings that lead to it from the inputs.

    The function runs several times and records only what the element depends on.
    """
    module = refmlc.read_file(file)
    register(registered)
    func = func or (next(iter(module.functions)) if len(module.functions) == 1 else "main")
    name, index = parsed(element)
    arguments = gather(module, func, inputs, dims, params)
    with err.status(f"running {func} …"):
        backward_slice = why(module, func, arguments.values, name, index, limits=SliceLimits(max_steps=max_steps))
    if as_json:
        print_json({"file": str(file), **as_data(backward_slice)})
        return
    line = outline(backward_slice, depth)
    if out.is_terminal:
        out.print(_tree(line, None))
    else:
        click.echo(text(line))
    err.print(f"{_counted(len(backward_slice.writes), 'store')}, {_counted(backward_slice.runs, 'run')}", style="dim")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def parsed(element: str) -> tuple[str, tuple[int, ...]]:
    """`C[3, 7]` as a name and indices. Fails: RM112."""
    match = _ELEMENT.fullmatch(element)
    if match is None or not element.strip():
        raise fail(BAD_USAGE, f"`--element {element}` is no element", None, "write NAME[INDEX, …], as in C[3, 7]")
    indices = re.findall(r"\d+", match[2] or "")
    return match[1] or "", tuple(int(index) for index in indices)


def _tree(line: Line, above: Tree | None) -> Tree:
    """The outline as rich draws trees; nothing in it is markup."""
    label = Text.assemble(
        line.text,
        (f"  [{line.note}]" if line.note else "", "dim"),
        (f"  {line.place}" if line.place else "", "cyan"),
    )
    tree = Tree(label) if above is None else above.add(label)
    for part in line.parts:
        _tree(part, tree)
    return tree
