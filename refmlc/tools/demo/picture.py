"""One image with its class scores: for the terminal as half blocks, for a file as PNG (Pillow, extra `demo`)."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style

from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import fail

Floats = NDArray[np.float32]
SCALE = 10
BAR_WIDTH = 220


def terminal_image(pixels: Floats) -> Segments:
    """Two pixel rows to a line of text, as upper half blocks.

    Shapes: (h, w). Units: 0 … 1.
    """
    grey = np.rint(pixels * 255).astype(int)
    segments = []
    for row in range(0, len(grey) - 1, 2):
        for top, bottom in zip(grey[row], grey[row + 1], strict=True):
            upper, lower = (Color.from_rgb(value, value, value) for value in (top, bottom))
            segments.append(Segment("▀", Style(color=upper, bgcolor=lower)))
        segments.append(Segment.line())
    return Segments(segments)


def score_bars(scores: Floats) -> list[float]:
    """The length of each score's bar, in 0 … 1 of the widest: least score 0, greatest 1."""
    span = float(scores.max() - scores.min()) or 1.0
    return [float(score - scores.min()) / span for score in scores]


def write_png(path: Path, pixels: Floats, scores: Floats, names: tuple[str, ...]) -> None:
    """The image beside a bar for each class score.

    Shapes: pixels (h, w) in 0 … 1, scores (classes,). Fails: RM112 when Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw  # noqa: PLC0415 - the extra `demo`
    except ImportError as missing:
        raise fail(BAD_USAGE, "writing PNG needs Pillow: `pip install 'refmlc[demo]'`") from missing
    side = pixels.shape[0] * SCALE
    grey = Image.fromarray(np.rint(pixels * 255).astype(np.uint8)).resize((side, side), Image.Resampling.NEAREST)
    picture = Image.new("RGB", (side + BAR_WIDTH + 150, side), "white")
    picture.paste(grey, (0, 0))
    draw = ImageDraw.Draw(picture)
    step = side / len(scores)
    best = int(scores.argmax())
    for number, (name, score, length) in enumerate(zip(names, scores, score_bars(scores), strict=True)):
        top = number * step + 4
        left = side + 40
        colour = "#1f77b4" if number == best else "#b0b0b0"
        draw.rectangle((left, top, left + 1 + length * BAR_WIDTH, top + step - 8), fill=colour)
        draw.text((side + 14, top + step / 2 - 10), name, fill="black")
        draw.text((left + 8 + length * BAR_WIDTH, top + step / 2 - 10), f"{score:.3f}", fill="black")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path)
