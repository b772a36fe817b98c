"""The course's model, two linear layers and a relu, as each generation of its texts has it.

Inputs are multiples of 1/8 from -1 to 1, so that every product and sum is exact in float32, in any order: the witness is
NumPy on integers.
"""

import re
import sys
from pathlib import Path

import numpy as np
from book import KEPT, Asked, Book, want

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
DIALECTS = {"course_2022.py": "2022", "course_2023.py": "2023", "course_027.py": "0.27"}
MASK = (1 << 64) - 1


def grid(seed, shape):
    """The generator `grid` from -8 to 8, by its definition, as integers."""
    found = []
    for i in range(int(np.prod(shape))):
        z = ((seed + 1) * 0xD1342543DE82EF95 + i * 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        found.append(-8 + (z >> 32) % 17)
    return np.array(found, np.int64).reshape(shape)


def made(seed, shape):
    return {
        "dtype": "float32",
        "shape": list(shape),
        "generator": "grid",
        "seed": seed,
        "low": -8,
        "high": 8,
        "scale": "0x1p-3",
    }


def main():
    book = Book("model", "numpy", strict=False)
    for file, dialect in DIALECTS.items():
        text = (PROGRAMS / file).read_text(encoding="utf-8")
        m, n, k = (784, 128, 10) if re.search(r"784", text) else (12, 8, 5)
        shapes = ((1, m), (n, m), (n,), (k, n), (k,))
        x, w0, b0, w1, b1 = (grid(seed, shape) for seed, shape in enumerate(shapes))
        hidden = np.maximum(x @ w0.T + b0 * 8, 0)  # in units of 1/64
        found = hidden @ w1.T + b1 * 64  # in units of 1/512
        assert abs(found).max() < 1 << 24
        parts = [want((found / 512).astype(np.float32)), *[KEPT] * 5]
        calls = [Asked([made(seed, shape) for seed, shape in enumerate(shapes)], parts)]
        stem = file.removesuffix(".py").replace("_", "-")
        book.case(f"model.{stem}", ["RLX-204", "RLX-201", "RLX-116"], text, "main", calls, dialect=dialect)
    count = book.write("course", "The course's model: two linear layers and a relu.")
    sys.stdout.write("".join(f"{line[:300]}\n" for line in book.disagreements) + f"{count} cases\n")


if __name__ == "__main__":
    main()
