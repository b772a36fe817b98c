"""What a refused step says, whole: the step, the element, both values, the call on which it happens."""

import numpy as np
import pytest

from refmlc.lang.wellformed.reader_checks import read
from refmlc.rewrite.schedule import Schedule
from refmlc.testing import InvalidStep

SUM = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2, 2), "float32"), X: T.Buffer((2,), "float32")):
    for i, k, m in T.grid(2, 2, 2):
        with T.sblock("sum"):
            vi, vk, vm = T.axis.remap("SRR", [i, k, m])
            with T.init():
                X[vi] = T.float32(0)
            X[vi] = X[vi] + A[vk, vm]
"""
REORDERED = """\
error[RM705]: `sch.reorder(l3, l2)` changes what `main` means: the program after gives another `X`: [0] is \
-33554432.0, expected -33554430.0, 1 ulp away; 2 of 2 wrong; \
rounded too early: it is the expected value rounded to bfloat16
 --> sum.py:3:1
  |
3 | / def main(A: T.Buffer((2, 2), "float32"), X: T.Buffer((2,), "float32")):
4 | |     for i, k, m in T.grid(2, 2, 2):
5 | |         with T.sblock("sum"):
... |
8 | |                 X[vi] = T.float32(0)
9 | |             X[vi] = X[vi] + A[vk, vm]
  | |_____________________________________^
  = note: `A` is float32[2, 2] [[ 1.0000000e+00, 1.0000000e+00], [-3.3554432e+07, 0.0000000e+00]]
  = note: `X` is float32[2], not fully initialised
  = help: `refmlc explain RM705`"""
RACE = """\
error[RM705]: `sch.parallel(l3)` changes what `main` means: the program before is defined, the program after is not: \
RM321: race on `X[0]`: iteration m = 1 reads it, iteration m = 0 writes it
 --> sum.py:9:21
  |
9 |             X[vi] = X[vi] + A[vk, vm]
  |                     ^^^^^
  = note: i = 0, k = 0, m = 1 in `main`, step 5
  = note: `A` is float32[2, 2] [[0., 0.], [0., 0.]]
  = note: `X` is float32[2], not fully initialised
note: iteration m = 0 writes it here
 --> sum.py:9:13
  |
9 |             X[vi] = X[vi] + A[vk, vm]
  |             ^^^^^^^^^^^^^^^^^^^^^^^^^
note: the iterations of this loop may run at the same time (parallel)
 --> sum.py:4:5
  |
4 | /     for i, k, m in T.grid(2, 2, 2):
5 | |         with T.sblock("sum"):
6 | |             vi, vk, vm = T.axis.remap("SRR", [i, k, m])
7 | |             with T.init():
8 | |                 X[vi] = T.float32(0)
9 | |             X[vi] = X[vi] + A[vk, vm]
  | |_____________________________________^
  = help: `refmlc explain RM705`"""


def message(step):
    """What the step, taken without a look at its legality, is refused with when it is run."""
    sch = Schedule(read(SUM, "sum.py"), validate=True, check_legality=False)
    loops = sch.get_loops("sum")
    with pytest.raises(InvalidStep) as refusal:
        step(sch, *loops)
    return str(refusal.value)


def test_terms_in_another_order():
    assert message(lambda sch, _, k, m: sch.reorder(m, k)) == REORDERED


def test_the_values_that_are_told():
    """By hand, in float32, one addition after the other: by rows before, by columns after."""
    a = np.float32([[1, 1], [-(2**25), 0]])
    before = ((a[0, 0] + a[0, 1]) + a[1, 0]) + a[1, 1]
    after = ((a[0, 0] + a[1, 0]) + a[0, 1]) + a[1, 1]
    assert f"[0] is {float(after)!r}, expected {float(before)!r}" in REORDERED


def test_iterations_at_the_same_time():
    assert message(lambda sch, _i, _k, m: sch.parallel(m)) == RACE
