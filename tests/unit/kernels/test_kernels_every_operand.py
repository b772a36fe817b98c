"""exp sigmoid tanh erf log of float32 on every operand: the rounded binary64 value, which is the nearest float32.

In the profile soak on all 2**32 of them, else on every 9973rd.

The referees are the double function with a margin, long double with a margin, and for what both leave open mpmath.
"""

import subprocess
from pathlib import Path

import mpmath
import numpy as np
import pytest
from wrappers import FLAGS, compiled, compiler

SOURCE = Path(__file__).with_name("all_operands.c").read_text(encoding="ascii")
EXACT = {
    "exp": mpmath.exp,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "log": mpmath.log,
}
ROUNDED_TWICE = ("sigmoid", "log")  # 78 and 5 operands, of which the binary64 value is a middle or next to it
BUILDS = {"two roundings": (), "one rounding": ("-mfma", "-mavx2")}
OPERANDS = 1 << 32


def reported(folder, op, build, stride):
    """The operands that the program found wrong, and those that it left open with their results."""
    if build == "one rounding" and "fma" not in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace"):
        pytest.skip("the processor has no fused multiply-add")
    program = compiled([compiler("gcc"), "-O3", f"-DOP={op}", *FLAGS, *BUILDS[build]], SOURCE, folder / "program")
    done = subprocess.run([str(program), "0", str(stride)], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines.pop() == ["done", str(-(-OPERANDS // stride))]
    return [line[1:] for line in lines if line[0] == "wrong"], [line[1:] for line in lines if line[0] == "open"]


def is_nearest(op, x, y):
    """Whether y is the float32 nearest to the exact value: no middle of neighbours between them.

    Of some also within an ulp of binary64 beyond the middle: their binary64 value is rounded again, NUM-501.
    """
    low, high = (np.nextafter(np.float32(y), np.float32(side)) for side in (-np.inf, np.inf))
    with mpmath.workprec(300):
        value = EXACT[op](mpmath.mpf(x))
        below, above = ((mpmath.mpf(y) + mpmath.mpf(float(side))) / 2 for side in (low, high))
        slack = abs(mpmath.mpf(y)) * 2**-52 if op in ROUNDED_TWICE else 0
        return below - slack < value < above + slack


def check(folder, op, build, stride):
    wrong, left = reported(folder, op, build, stride)
    assert wrong[:5] == []
    points = [(float.fromhex(x), float.fromhex(y)) for x, y in left]
    assert [point for point in points if not is_nearest(op, *point)] == []


@pytest.mark.parametrize("op", EXACT)
@pytest.mark.parametrize("build", BUILDS)
def test_some_of_all_operands(tmp_path, op, build):
    check(tmp_path, op, build, 9973)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("op", EXACT)
@pytest.mark.parametrize("build", BUILDS)
def test_all_operands(tmp_path, op, build):
    check(tmp_path, op, build, 1)
