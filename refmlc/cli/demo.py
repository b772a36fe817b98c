"""`refmlc demo`: the course's two-layer network on real digits, in its four variants, and imported from PyTorch."""

from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from refmlc.cli.call import tier_option
from refmlc.cli.console import err, out, print_json
from refmlc.cli.options import PATH, count_option, json_option
from refmlc.tools.demo.model_check import check_imported
from refmlc.tools.demo.picture import score_bars, terminal_image, write_png
from refmlc.tools.demo.runner import ALL, CLASS_NAMES, VariantResult, read_images, read_params, run_all

PNG = "Write the first image and its scores here."
SVG = "Write the graph of the imported model here."


@click.command(epilog="Example: refmlc demo --count 10")
@count_option("--count", 100, "Number of test images.")
@click.option("--images", type=PATH, help="IDX file of images, also .gz (MNIST, Fashion-MNIST).")
@click.option("--labels", type=PATH, help="IDX file of labels, also .gz.")
@click.option("--params", type=PATH, help="Parameters: .npz, .safetensors, or the course's .pkl.")
@tier_option
@click.option("--png", type=PATH, default=Path("demo-out/digit.png"), show_default=True, help=PNG)
@click.option("--svg", type=PATH, default=Path("demo-out/graph.svg"), show_default=True, help=SVG)
@json_option
def demo(
    count: int,
    images: Path | None,
    labels: Path | None,
    params: Path | None,
    tier: str,
    png: Path,
    svg: Path,
    *,
    as_json: bool,
) -> None:
    """Run a small network (784-128-10) on real handwritten digits, in several variants, and compare them with NumPy."""
    digits, weights = read_images(images, labels, count), read_params(params)
    rows: list[VariantResult] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("images x variants", total=len(digits.labels) * len(ALL))
        for row, result in run_all(digits, weights, lambda: progress.advance(task), tier):
            rows.append(row)
            scores = result
    paths = check_imported(digits.pixels[0], weights, svg)
    write_png(png, digits.pixels[0], scores[0], CLASS_NAMES)
    if as_json:
        results = [{name: getattr(row, name) for name in VariantResult.__slots__} for row in rows]
        print_json({"png": str(png), "svg": str(svg), "paths": paths, "rows": results})
        return
    show_image(digits.pixels[0], scores[0], int(digits.labels[0]))
    out.print(f"the same with scores: {png}\n")
    out.print(table(rows))
    verdicts = ", ".join(f"{name} {verdict}" for name, verdict in paths.items())
    out.print(f"the model imported from PyTorch on image 0: {verdicts}; its graph: {svg}")


def show_image(pixels: NDArray[np.float32], scores: NDArray[np.float32], label: int) -> None:
    """One image and its class scores in the terminal."""
    if out.is_terminal:
        out.print(terminal_image(pixels))
    out.print(f"image 0, labelled {CLASS_NAMES[label]}; scores of the last variant:")
    for name, score, length in zip(CLASS_NAMES, scores, score_bars(scores), strict=True):
        out.print(f"  {name} {'█' * round(1 + 30 * length):<32}{score:9.4f}")


def table(rows: list[VariantResult]) -> Table:
    """The results of the variants as a table."""
    result = Table(title=f"784-128-10 network, {rows[0].images} handwritten digits")
    for column in ("variant", "accuracy", "as NumPy", "max |Δ|", "ms/image"):
        result.add_column(column, justify="left" if column == "variant" else "right", no_wrap=True)
    for row in rows:
        result.add_row(
            row.variant,
            f"{row.right / row.images:.1%}",
            f"{row.agreeing}/{row.images}",
            f"{row.difference:.2e}",
            f"{1000 * row.seconds / row.images:.1f}",
        )
    result.caption = "as NumPy: images of the same class; max |Δ|: greatest distance of a score from NumPy's"
    return result
