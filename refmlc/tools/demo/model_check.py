"""The model imported from PyTorch on all paths: its meaning under the sanitizer, C in two ways.

One call, with a real image and the shipped parameters: the meaning is defined, C gives its bits. Where PyTorch is there
the model is exported and imported anew, and compared with the one that is shipped. The model's graph is drawn as SVG.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from refmlc.lang.drawing import graph_of, svg_of
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.equal import structural_equal
from refmlc.oracle.examine import examine
from refmlc.oracle.implementations.lookup import implementation
from refmlc.tools.demo.from_torch import has_torch, imported
from refmlc.tools.demo.runner import IMPORTED, Floats, read_variant

PATHS = ("native:guarded", "native")


@dataclass(frozen=True)
class ModelCall:
    """One call of a module, as the oracle takes it."""

    module: IRModule
    args: tuple[Floats, ...]
    func: str = "main"
    name: str = IMPORTED.name
    calls: tuple[int, ...] = (0,)

    def arguments(self, number: int = 0) -> list[object]:
        del number
        return [array.copy() for array in self.args]


def check_imported(image: Floats, params: Mapping[str, Floats], svg: Path) -> dict[str, str]:
    """What each path says of a call, by its name. Draws the graph. Shapes: image (28, 28)."""
    module = read_variant(IMPORTED, params)
    call = ModelCall(module, (image.reshape(1, 784), *(params[name] for name in ("w0", "b0", "w1", "b1"))))
    (examination,) = examine([call], [implementation(path) for path in PATHS])
    verdicts = {
        "meaning": examination.reference[0].verdict,
        **{path: str(verdict_of_calls[0]) for path, verdict_of_calls in examination.verdicts.items()},
    }
    if has_torch():
        verdicts["imported anew"] = "equal" if structural_equal(imported(), module) else "differs: another PyTorch"
    _draw(module, svg)
    return verdicts


def _draw(module: IRModule, svg: Path) -> None:
    main = module["main"]
    if isinstance(main, relax.Function):
        svg.parent.mkdir(parents=True, exist_ok=True)
        svg.write_text(svg_of(graph_of(main, IMPORTED.name)), encoding="utf-8")
