"""`refmlc why FILE --element 'C[3,7]'`: the backward slice of one element of a result."""

import re

import click
from rich.text import Text
from rich.tree import Tree

from refmlc.cli.call import Call, call_options
from refmlc.cli.console import counted, err, out, print_json
from refmlc.cli.options import count_option, json_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.observe.why import Line, SliceLimits, as_data, outline, text, why

DEPTH = 8

_ELEMENT = re.compile(r"\s*([A-Za-z_][\w.]*)?\s*(?:\[\s*((?:\d+\s*,?\s*)*|\(\s*\))\s*\])?\s*", re.ASCII)


@click.command("why", epilog="Example: refmlc why gemm.py --element 'C[3,2]' --input A=ones --input B=iota")
@click.option("--element", required=True, help="C[3,7], result[0,3], result.1[2], or an inner variable or buffer.")
@call_options
@count_option("--depth", DEPTH, "Levels of elements to show.")
@json_option
def why_command(call: Call, element: str, depth: int, *, as_json: bool) -> None:
    """Show why an element has its value: the stores, operators and roundings that lead to it from the inputs.

    The function runs several times and records only what the element depends on.
    """
    name, index = parsed(element)
    with err.status(f"running {call.func} …"):
        backward_slice = why(
            call.module, call.func, call.arguments.values, name, index, limits=SliceLimits(max_steps=call.max_steps)
        )
    if as_json:
        print_json({"file": str(call.file), **as_data(backward_slice)})
        return
    line = outline(backward_slice, depth)
    if out.is_terminal:
        out.print(_tree(line, None))
    else:
        click.echo(text(line))
    err.print(f"{counted(len(backward_slice.writes), 'store')}, {counted(backward_slice.runs, 'run')}", style="dim")


def parsed(element: str) -> tuple[str, tuple[int, ...]]:
    """`C[3, 7]` as a name and indices. Fails: RM112."""
    match = _ELEMENT.fullmatch(element)
    if match is None or not element.strip():
        raise fail(BAD_USAGE, f"`--element {element}` is not an element", None, "write NAME[INDEX, …], as in C[3, 7]")
    indices = re.findall(r"\d+", match[2] or "")
    return match[1] or "", tuple(int(index) for index in indices)


def _tree(line: Line, above: Tree | None) -> Tree:
    """The outline as rich draws trees; nothing in it is markup."""
    label = Text.assemble(
        line.text, (f"  [{line.note}]" if line.note else "", "dim"), (f"  {line.place}" if line.place else "", "cyan")
    )
    tree = Tree(label) if above is None else above.add(label)
    for part in line.parts:
        _tree(part, tree)
    return tree
