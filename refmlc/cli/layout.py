"""`refmlc layout TEXT --shape 8,16`: which coordinates on named axes each element of a tile has."""

import re
from pathlib import Path

import click
from rich.table import Table

from refmlc.cli.console import counted, err, out, print_json
from refmlc.cli.options import PATH, count_option, json_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, BAD_USAGE, MEMORY_EXHAUSTED
from refmlc.lang.layouts.forms import Placed
from refmlc.lang.layouts.ownership import MOST, PlacedElement, amount, elements
from refmlc.lang.layouts.pictures import page_of, svg_of
from refmlc.lang.layouts.placement import admits, is_injective
from refmlc.lang.script.layout_expression import layout_in

ROWS = 32


@click.command(epilog="Example: refmlc layout 'S[(8,4,2):(4@laneid,1@laneid,1)]' --shape 8,8")
@click.argument("text", metavar="LAYOUT")
@click.option("--shape", "extents", required=True, metavar="N,N", help="The shape of the tile: 8,16.")
@click.option("--svg", type=PATH, metavar="FILE.svg", help="Draw it.")
@click.option("--page", type=PATH, metavar="FILE.html", help="Write a page whose elements can be clicked.")
@count_option("--rows", ROWS, "Elements to list.")
@json_option
def layout(text: str, extents: str, svg: Path | None, page: Path | None, rows: int, *, as_json: bool) -> None:
    """Show where each element of a tile lies: on which lane, warp, address, or any axis that LAYOUT names.

    LAYOUT is written as in TIRx: S[extents:strides] + R[extents:strides] + offset, a stride or an offset with @axis.
    """
    shape = shape_of(extents)
    placed = layout_in(text)
    if not admits(placed, shape):
        raise fail(BAD_ARGUMENTS, f"the layout has {placed.size} elements, and the shape {extents.strip()} has others")
    if amount(placed) > MOST:
        raise fail(MEMORY_EXHAUSTED, f"the layout has {amount(placed)} places, and {MOST} are listed at most")
    for path, draw in ((svg, svg_of), (page, page_of)):
        if path is not None:
            path.write_text(draw(placed, shape, f"{text} of {extents}"), "utf-8")
            err.print(f"{path}")
    found = list(elements(placed, shape))
    if as_json:
        print_json(as_data(placed, shape, found))
        return
    table = Table(*("element", "number", "components"), *placed.axes)
    for element in found[:rows]:
        coordinates = [", ".join(map(str, element.on(axis))) for axis in placed.axes]
        table.add_row(_tuple(element.index), str(element.number), _tuple(element.components), *coordinates)
    out.print(table)
    if len(found) > rows:
        out.print(f"… {counted(len(found) - rows, 'element')} more")


def shape_of(text: str) -> tuple[int, ...]:
    """`8,16` as a shape. Fails: RM112."""
    if re.fullmatch(r"\s*\d{1,9}(\s*,\s*\d{1,9}){0,7}\s*,?\s*", text, re.ASCII) is None:
        raise fail(BAD_USAGE, f"`--shape {text}` is not a shape", None, "write the extents with commas: 8,16")
    return tuple(int(part) for part in re.findall(r"\d+", text))


def _tuple(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))


def as_data(placed: Placed, shape: tuple[int, ...], found: list[PlacedElement]) -> dict[str, object]:
    """The layout for machines."""
    return {
        "shape": list(shape),
        "axes": list(placed.axes),
        "injective": is_injective(placed),
        "elements": [
            {
                "index": list(element.index),
                "number": element.number,
                "components": list(element.components),
                "places": [dict(place) for place in element.places],
            }
            for element in found
        ],
    }
