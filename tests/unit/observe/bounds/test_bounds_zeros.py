"""The sign of a zero: where it follows from the program the other zero is wrong, elsewhere both are permitted."""

import math

import numpy as np
import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import certify
from refmlc.oracle.passes import PassTrace, Stage, check

KERNEL = """
@T.prim_func(s_tir=True)
def main(x: T.float32, A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32"), C: T.Buffer((1,), "float32")):
    for i in range(1):
        BODY
"""


def output(body, a, b=1.0, x=1.0):
    module = read(KERNEL.replace("BODY", body.replace("\n", "\n        ")))
    args = [x, *(np.array([value], "float32") for value in (a, b, 7.0))]
    return certify(module, "main", args).outputs[-1]


@pytest.mark.parametrize(
    ("body", "a", "b", "zero"),
    [  # by IEEE 754-2019, 6.3
        ("C[i] = A[i] + T.float32(0)", -0.0, 1.0, 0.0),
        ("C[i] = A[i] - T.float32(0)", -0.0, 1.0, -0.0),
        ("C[i] = A[i] + B[i]", -0.0, -0.0, -0.0),
        ("C[i] = A[i] - B[i]", 2.0, 2.0, 0.0),
        ("C[i] = A[i] * B[i]", 0.0, -3.0, -0.0),
        ("C[i] = A[i] * T.float32(0)", -3.0, 1.0, -0.0),
        ("C[i] = A[i] / B[i]", -0.0, -3.0, 0.0),
        ("C[i] = (A[i] + B[i]) * T.float32(-2)", 2.0, -2.0, -0.0),
        ("C[i] = T.if_then_else(A[i] < B[i], A[i] + T.float32(0), B[i])", -0.0, 1.0, 0.0),
    ],
)
def test_the_zero_that_follows_is_the_only_one(body, a, b, zero):
    result = output(body, a, b)
    assert math.copysign(1, result.reference[0]) == math.copysign(1, zero)
    assert (result.permits(0, zero), result.permits(0, -zero)) == (True, False)


@pytest.mark.parametrize(
    ("body", "a", "b"),
    [
        # the first factor is near 0 on a side that depends on whether its product is rounded
        ("C[i] = (A[i] * A[i] - B[i]) * T.float32(0)", 1 + 2**-12, 1 + 2**-11),
        ("C[i] = T.ceil(A[i] * A[i] - B[i])", 1.0, 1.0),
        ("C[i] = T.tanh(A[i])", -0.0, 1.0),
        ("C[i] = T.max(A[i] * B[i], T.float32(0))", -0.0, 1.0),
        ('C[i] = T.Cast("float32", T.Cast("float16", A[i] * B[i]))', -0.0, 1.0),
        ("y: T.let[T.float32] = A[i] * B[i]\nC[i] = y + T.float32(0)", -0.0, 1.0),
    ],
)
def test_elsewhere_both_zeros_are_permitted(body, a, b):
    result = output(body, a, b)
    assert not result.signed
    if result.permits(0, 0.0):
        assert result.permits(0, -0.0)


def test_a_reduction_may_begin_with_its_first_term():
    """0 + -0 is 0, and -0 alone is -0: whether the init is a term is left to an implementation."""
    body = (
        'with T.sblock("C"):\n    v = T.axis.reduce(1, i)\n    with T.init():\n        C[0] = T.float32(0)\n'
        "    C[0] = C[0] + A[v]"
    )
    result = output(body, -0.0)
    assert result.permits(0, 0.0)
    assert result.permits(0, -0.0)


SIGNED = KERNEL.replace("BODY", "C[i] = A[i] + T.float32(0)")


def test_a_pass_that_folds_plus_zero_changes_the_meaning():
    folded = SIGNED.replace(" + T.float32(0)", "")
    found = check(PassTrace((Stage("input", SIGNED), Stage("fold", folded))))
    assert found.broken is not None
    assert "[0] is -0.0, expected 0.0" in found.broken.diagnostic.message
    assert check(PassTrace((Stage("input", SIGNED), Stage("minus", SIGNED.replace("+ T.f", "- T.f"))))).broken
    kept = SIGNED.replace("A[i] + T.float32(0)", "T.float32(0) + A[i]")
    assert check(PassTrace((Stage("input", SIGNED), Stage("swap", kept)))).broken is None
