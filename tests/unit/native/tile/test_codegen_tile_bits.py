"""Tiled nests leave the same bits as the loops in order: odd shapes, every kind, dtype and instruction set here.

The loops in order are C of the plainest form (`nest_kit.literal`). Forty shapes of each in the profile soak.
"""

import nest_kinds as kinds
import numpy as np
import pytest
from nest_kit import HERE_ISAS, ISAS_TO_TEST, SOAK, differing, pairs

SHAPES = 40 if SOAK else 1
FLOATS = ("float32", "float64", "float16", "bfloat16")
NUMBERS = (*FLOATS, "int8", "uint8", "int32", "int64")


def _odd(rng, *ends):
    return [int(rng.integers(2, end)) for end in ends]


KINDS = {
    "matmul": (lambda r, k: kinds.matmul(*_odd(r, 20, 90, 40), k, init=float(r.integers(-2, 3))), NUMBERS),
    "matmul transposed": (lambda r, k: kinds.matmul(*_odd(r, 40, 60, 60), k, transposed=True), NUMBERS),
    "row by matrix": (lambda r, k: kinds.matmul(1, *_odd(r, 60, 99), k, transposed=True), NUMBERS),
    "matmul added to": (lambda r, k: kinds.matmul(*_odd(r, 20, 60, 30), k, started=False), NUMBERS),
    "left transposed": (lambda r, k: kinds.left_transposed(*_odd(r, 30, 60, 30), k), NUMBERS[:2]),
    "batched": (lambda r, k: kinds.batched(*_odd(r, 5, 12, 40, 20), k), FLOATS),
    "batched, shared": (lambda r, k: kinds.batched(*_odd(r, 5, 12, 40, 20), k, shared=True), FLOATS),
    "conv2d": (lambda r, k: kinds.conv2d(*_odd(r, 12, 5, 8, 40), 3, k), FLOATS),
    "conv2d, stride 2": (lambda r, k: kinds.conv2d(*_odd(r, 12, 5, 8, 40), 3, k, stride=2), FLOATS[:2]),
    "conv2d, many filters": (
        lambda r, k: kinds.conv2d(24 + 16 * int(r.integers(6)), *_odd(r, 4, 9, 30), 3, k),
        NUMBERS,
    ),
    "conv2d, many filters, stride 2": (
        lambda r, k: kinds.conv2d(24 + 16 * int(r.integers(6)), *_odd(r, 4, 9, 30), 3, k, stride=2),
        NUMBERS,
    ),
    "depthwise": (lambda r, k: kinds.depthwise(*_odd(r, 6, 12, 40), 3, k), FLOATS),
    "pool": (lambda r, k: kinds.pool(*_odd(r, 6, 12, 40), 3, int(r.integers(1, 3)), k), NUMBERS),
    "sum of rows": (lambda r, k: kinds.row_reduction(*_odd(r, 60, 99), k), NUMBERS),
    "greatest of rows": (lambda r, k: kinds.row_reduction(*_odd(r, 60, 99), k, "max", -3), NUMBERS),
    "least of rows": (lambda r, k: kinds.row_reduction(*_odd(r, 60, 99), k, "min", 3), NUMBERS),
    "sum of columns": (lambda r, k: kinds.column_reduction(*_odd(r, 40, 300), k), NUMBERS),
    "moments": (lambda r, k: kinds.moments(*_odd(r, 40, 99), k), NUMBERS),
    "place of the greatest": (lambda r, k: kinds.greatest(*_odd(r, 40, 60), k), FLOATS),
    "normalised": (lambda r, k: kinds.normalised(*_odd(r, 12, 99), k), FLOATS),
    "exp": (lambda r, k: kinds.softmax_exp(*_odd(r, 12, 99), k), FLOATS),
    "divided": (lambda r, k: kinds.softmax_divided(*_odd(r, 12, 99), k), FLOATS),
    "chain": (lambda r, k: kinds.chain(*_odd(r, 999), k), NUMBERS),
    "in place": (lambda r, k: kinds.in_place(*_odd(r, 12, 99), k), NUMBERS),
    "transpose": (lambda r, k: kinds.transpose(*_odd(r, 60, 60), k), NUMBERS),
    "padded": (lambda r, k: kinds.padded(*_odd(r, 5, 9, 60), int(r.integers(0, 4)), k), NUMBERS),
    "masked": (lambda r, k: kinds.mask_of(*_odd(r, 30, 60), k), FLOATS),
}


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("isa", ISAS_TO_TEST)
@pytest.mark.parametrize("kind", KINDS)
def test_the_bits_are_those_of_the_loops_in_order(kind, isa):
    make, dtypes = KINDS[kind]
    rng = np.random.default_rng([len(kind), HERE_ISAS.index(isa)])
    cases = [(dtype, *make(rng, dtype)) for dtype in dtypes for _ in range(SHAPES)]
    made = pairs([nest for _, nest, _ in cases], isa)
    wrong = [
        (dtype, sizes, one.form.plan, names)
        for (dtype, _, sizes), one in zip(cases, made, strict=True)
        if (names := differing(one, sizes, rng))
    ]
    assert wrong == []
