"""How large the programs are: as promised, or tiny, to see that everything works."""

from dataclasses import dataclass

from refmlc.tools.bench.timing import SAMPLE


@dataclass(frozen=True, slots=True)
class Sizes:
    """Extents.

    `conv2d`: channels, filters, height, width; `rows`: of softmax and layernorm, their lengths as well; `shapes`: how
    many random ones for each kernel. Units: `sample` in nanoseconds.
    """

    matmul: tuple[int, ...] = (512, 1024)
    narrow_matmul: int = 512
    conv2d: tuple[int, int, int, int] = (64, 64, 56, 56)
    rows: int = 1024
    elementwise: int = 1 << 22
    mlp: tuple[int, int, int] = (784, 128, 10)
    literal: int = 192
    exp: int = 1 << 24
    shapes: int = 40
    compilations: int = 5
    sample: int = SAMPLE


FULL = Sizes()
TINY = Sizes(
    matmul=(8,),
    narrow_matmul=5,
    conv2d=(2, 3, 5, 4),
    rows=6,
    elementwise=50,
    mlp=(12, 5, 3),
    literal=6,
    exp=40,
    shapes=1,
    compilations=1,
    sample=1,
)
