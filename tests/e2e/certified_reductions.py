"""Random reductions, certified, then computed in many ways: correct results are not called wrong, planted errors are.

`python tests/e2e/certified_reductions.py [--count 10000] [--seed 0] [--tvm PYTHON]` prints the figures; exit 1 when a
goal is missed.

| figure          | is                                                                                       |
|-----------------|------------------------------------------------------------------------------------------|
| correct results | by NumPy, PyTorch and TVM where they are, and in orders chosen against the bound;        |
|                 | none may be called wrong                                                                 |
| planted errors  | the nearest numbers of the dtype that are 4 bounds or more off; all must be called wrong |
| ratio           | bound / the worst error among the correct results of that reduction; median <= 30        |

Exact results are sums of fractions. The adversary sums term by term and takes the one, of those left, whose rounding
goes farthest in one direction: no more than a lower bound of what some order can do, so the ratio is not flattered.
"""

import argparse
import ctypes
import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from biting import prove

from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.bounds.certify import certify
from refmlc.oracle.compare import judge
from refmlc.oracle.outcome import Kind

HERE = Path(__file__).parent
TORCH = importlib.import_module("torch") if find_spec("torch") else None
GOAL = 30.0
TIMES = 4
LEAST = Fraction(1, 1 << 1100)  # more than 0, less than any number of the dtypes
LIBM = ctypes.CDLL(None)
LIBM.fmaf.restype = ctypes.c_float
LIBM.fmaf.argtypes = [ctypes.c_float] * 3
DTYPES = ("float16", "float32")
TERMS = {"sum": "A[v_k]", "dot": "A[v_k] * B[v_k]", "square": "A[v_k] * A[v_k]", "difference": "(A[v_k] - B[v_k])"}
TEXT = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer(("n",), "DTYPE"), B: T.Buffer(("n",), "DTYPE"), C: T.Buffer((1,), "DTYPE")):
    n = T.int32()
    for i, k in T.grid(1, n):
        with T.sblock("C"):
            v_i, v_k = T.axis.remap("SR", [i, k])
            T.reads(A[v_k], B[v_k])
            T.writes(C[v_i])
            with T.init():
                C[v_i] = T.DTYPE(0)
            C[v_i] = C[v_i] + TERM
"""


def text(kind, dtype):
    """The program: one reduction over n."""
    return TEXT.replace("DTYPE", dtype).replace("TERM", TERMS[kind])


@dataclass
class Case:
    """One reduction and its inputs. `results` holds every correct result by the way it was computed."""

    kind: str
    dtype: str
    style: str
    a: np.ndarray
    b: np.ndarray
    results: dict = field(default_factory=dict)

    def exact_terms(self):
        """The terms without rounding; a difference is rounded as an element, so its spread is counted as error."""
        x, y = ([Fraction(v) for v in array.astype(np.float64).tolist()] for array in (self.a, self.b))
        match self.kind:
            case "sum":
                return x
            case "dot":
                return [p * q for p, q in zip(x, y, strict=True)]
            case "square":
                return [p * p for p in x]
            case _:
                return [p - q for p, q in zip(x, y, strict=True)]

    def terms(self):
        """The terms, each rounded to the dtype."""
        with np.errstate(over="ignore"):
            match self.kind:
                case "sum":
                    return self.a
                case "dot":
                    return self.a * self.b
                case "square":
                    return self.a * self.a
                case _:
                    return self.a - self.b


# --------------------------------------------------------------------------------------------------------- inputs


def draw(rng):
    """A random reduction; its length is log-uniform from 2 to 1000."""
    kind, dtype = rng.choice(list(TERMS)), rng.choice(DTYPES)
    style = rng.choice(["normal", "positive", "magnitudes", "cancelling", "whole", "tiny"])
    n = int(np.exp(rng.uniform(np.log(2), np.log(1000))))
    a, b = (vector(rng, style, n, dtype) for _ in range(2))
    return Case(str(kind), str(dtype), str(style), a, b)


def vector(rng, style, n, dtype):
    """Numbers of one style."""
    normal = rng.standard_normal(n)
    match style:
        case "normal":
            values = normal
        case "positive":
            values = rng.uniform(0, 1, n)
        case "magnitudes":
            values = normal * np.exp(rng.uniform(-4, 2 if dtype == "float16" else 9, n))
        case "cancelling":
            half = normal[: (n + 1) // 2]
            values = rng.permutation(np.concatenate([half, -half])[:n]) + rng.standard_normal(n) * 1e-3
        case "whole":
            values = rng.integers(-100, 100, n).astype(np.float64)
        case _:
            values = normal * (2.0**-13 if dtype == "float16" else 2.0**-70)
    return values.astype(dtype)


# ------------------------------------------------------------------------------------------------ correct results


def compute(case):
    """Every way there is here."""
    with np.errstate(over="ignore", invalid="ignore"):
        numpy_ways(case)
        if TORCH:
            torch_ways(case)
        orders(case)
        adversaries(case)


def numpy_ways(case):
    """NumPy: pairwise, in order, by BLAS, by einsum, in a wider format."""
    t, out = case.terms(), case.results
    out["numpy sum"] = np.sum(t)
    out["numpy sum reversed"] = np.sum(t[::-1])
    out["numpy accumulate"] = np.add.accumulate(t)[-1]
    out["numpy wide"] = np.sum(t, dtype=np.float64).astype(case.dtype)
    out["numpy strided"] = np.sum(np.stack([t, t], 1)[:, 0])
    if case.kind in ("dot", "square"):
        b = case.b if case.kind == "dot" else case.a
        out["numpy dot"] = np.dot(case.a, b)
        out["numpy matmul"] = (case.a[None, :] @ b[:, None])[0, 0]
        out["numpy einsum"] = np.einsum("i,i->", case.a, b)
        out["numpy wide dot"] = np.dot(case.a.astype(np.float64), b.astype(np.float64)).astype(case.dtype)
        if case.dtype == "float32":
            out["fma in order"] = fused(case.a, b)


def fused(a, b):
    """Each product added unrounded, by libm's fmaf."""
    total = 0.0
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        total = LIBM.fmaf(x, y, total)
    return np.float32(total)


def torch_ways(case):
    """Torch: its sum, running sum, and product of matrices."""
    t, out = TORCH.from_numpy(case.terms().copy()), case.results
    out["torch sum"] = t.sum().numpy()[()]
    out["torch cumsum"] = t.cumsum(0)[-1].numpy()[()]
    if case.kind in ("dot", "square"):
        a = TORCH.from_numpy(case.a)
        b = TORCH.from_numpy(case.b) if case.kind == "dot" else a
        out["torch dot"] = TORCH.dot(a, b).numpy()[()]
        out["torch matmul"] = (a[None, :] @ b[:, None]).numpy()[0, 0]


def orders(case):
    """Orders of the rounded terms: by value, by size, blocked, shuffled."""
    t, out = case.terms(), case.results
    rng = np.random.default_rng(len(t))
    for name, order in (
        ("ascending", np.argsort(t)),
        ("descending", np.argsort(-t)),
        ("small first", np.argsort(np.abs(t))),
        ("large first", np.argsort(-np.abs(t))),
        ("shuffled", rng.permutation(len(t))),
    ):
        out[name] = np.add.accumulate(t[order])[-1]
    for width in (4, 16):
        padded = np.concatenate([t, np.zeros(-len(t) % width, t.dtype)]).reshape(-1, width)
        lanes = np.add.accumulate(padded, axis=0)[-1]
        out[f"{width} lanes"] = np.add.accumulate(lanes)[-1]


def adversaries(case):
    """Term by term, always the term whose rounding goes farthest up, or down."""
    t = case.terms()
    if not np.isfinite(t).all():
        return
    for name, sign in (("adversary up", 1.0), ("adversary down", -1.0)):
        left, total = t.copy(), t.dtype.type(0)
        for count in range(len(t), 0, -1):
            sums = left[:count] + total
            moved = sums.astype(np.float64) - (left[:count].astype(np.float64) + np.float64(total))
            best = int(np.argmax(moved * sign + np.abs(sums.astype(np.float64)) * 1e-30))
            total = sums[best]
            left[best] = left[count - 1]
        case.results[name] = total


def tvm_ways(cases, python):
    """TVM: as written, with the processor's own instructions (FMA), unrolled, with partial sums (`tvm_side`)."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        jobs = [{"kind": case.kind, "dtype": case.dtype} for case in cases]
        (directory / "jobs.json").write_text(json.dumps({"texts": texts(), "jobs": jobs}))
        arrays = {
            f"{letter}{n}": array for n, case in enumerate(cases) for letter, array in (("a", case.a), ("b", case.b))
        }
        np.savez(directory / "in.npz", **arrays)
        side = str(HERE / "tvm_side" / "run_reductions.py")
        subprocess.run([python, side, folder], check=True, stderr=subprocess.DEVNULL)
        with np.load(directory / "out.npz") as archive:
            for key, values in archive.items():
                number, way = key.split(" ", 1)
                cases[int(number)].results[way] = values[0]


def texts():
    """The programs by kind and dtype."""
    return {f"{kind} {dtype}": text(kind, dtype) for kind in TERMS for dtype in DTYPES}


# ---------------------------------------------------------------------------------------------------------- figures


@dataclass
class Figures:
    """What was counted; `ratios` by dtype and length."""

    reductions: int = 0
    correct: int = 0
    wrong: list = field(default_factory=list)
    planted: int = 0
    missed: list = field(default_factory=list)
    ratios: list = field(default_factory=list)
    exact: int = 0
    ill: int = 0
    ways: set = field(default_factory=set)

    @property
    def median(self):
        """The median ratio of bound and worst error."""
        return statistics.median(ratio for ratio, *_ in self.ratios)


def examine(case, modules, figures):
    """Certify one reduction, judge its results and the planted errors, and note the ratio."""
    with np.errstate(over="ignore"):
        args = [case.a, case.b, np.zeros(1, case.dtype)]
        tensor = certify(modules[case.kind, case.dtype], "main", args).outputs[0]
    exact = sum(case.exact_terms(), Fraction(0))
    worst = 0.0
    figures.reductions += 1
    for way, value in case.results.items():
        figures.correct += 1
        figures.ways.add(way)
        if judge(np.array([value], case.dtype), tensor).kind is Kind.WRONG:
            figures.wrong.append((way, case.kind, case.dtype, case.style, len(case.a), float(value), float(exact)))
        if math.isfinite(value):
            worst = max(worst, float(abs(Fraction(float(value)) - exact)))
    bound = tensor.elements[0].radius
    for value in planted(exact, bound, case.dtype):
        figures.planted += 1
        if judge(np.array([value]), tensor).kind is not Kind.WRONG:
            figures.missed.append((case.kind, case.dtype, case.style, len(case.a), float(value), float(exact)))
    if worst and math.isfinite(bound):
        figures.ratios.append((bound / worst, case.dtype, len(case.a), case.style))
    figures.exact += not bound
    figures.ill += bound > abs(exact) / 100


def planted(exact, bound, dtype):
    """On each side the nearest number of the dtype that is at least four bounds from the exact result, and not it."""
    if not math.isfinite(bound):
        return
    for sign in (1, -1):
        with np.errstate(over="ignore"):
            value = np.float64(float(exact + sign * TIMES * Fraction(bound))).astype(dtype)
            while np.isfinite(value) and (Fraction(float(value)) - exact) * sign < max(TIMES * Fraction(bound), LEAST):
                value = np.nextafter(value, value.dtype.type(sign * np.inf))
        if np.isfinite(value):
            yield value


def campaign(count, seed, tvm=""):
    """Examine `count` reductions."""
    rng = np.random.default_rng(seed)
    modules = {(kind, dtype): read(text(kind, dtype)) for kind in TERMS for dtype in DTYPES}
    cases = [draw(rng) for _ in range(count)]
    for case in cases:
        compute(case)
    if tvm:
        tvm_ways(cases, tvm)
    figures = Figures()
    for case in cases:
        examine(case, modules, figures)
    return figures


def prove_itself():
    """A result that is far off is called wrong, the nearest one is not."""
    found = []
    for by in (1, 0):
        case = Case("sum", "float32", "whole", np.float32([1, 2, 3]), np.float32([0, 0, 0]))
        case.results["told"] = np.float32(6 + by)
        figures = Figures()
        examine(case, {("sum", "float32"): read(text("sum", "float32"))}, figures)
        found.append(len(figures.wrong))
    why = f"1 + 2 + 3 is 7: called wrong {found[0]} times; is 6: {found[1]} times"
    prove("the judge of bounds", notices=found[0] == 1, passes=found[1] == 0, why=why)


def show(figures, console):
    """The figures as a table."""
    table = Table("figure", "value", title=f"{figures.reductions} random reductions, {len(figures.ways)} ways")
    table.add_row("correct results, called wrong", f"{figures.correct}, {len(figures.wrong)}")
    table.add_row(f"errors of {TIMES} bounds, not called wrong", f"{figures.planted}, {len(figures.missed)}")
    table.add_row("median of bound / worst error", f"{figures.median:.2f}")
    table.add_row("greatest worst error / bound", f"{1 / min(ratio for ratio, *_ in figures.ratios):.4f}")
    for dtype in DTYPES:
        for low, high in ((2, 10), (10, 100), (100, 1001)):
            ratios = [ratio for ratio, name, n, _ in figures.ratios if name == dtype and low <= n < high]
            if ratios:
                table.add_row(
                    f"  {dtype}, {low} … {high - 1} terms", f"{statistics.median(ratios):.2f} of {len(ratios)}"
                )
    table.add_row("certified exact (bound 0)", str(figures.exact))
    table.add_row("ill-conditioned (bound > 1 %)", str(figures.ill))
    console.print(table)
    for row in (*figures.wrong[:10], *figures.missed[:10]):
        console.print(row)


def main():
    """Run the campaign and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tvm", default=os.environ.get("REFMLC_TVM_PYTHON", ""))
    options = parser.parse_args()
    prove_itself()
    figures = campaign(options.count, options.seed, options.tvm)
    show(figures, Console(width=110))
    return int(bool(figures.wrong or figures.missed) or figures.median > GOAL)


if __name__ == "__main__":
    sys.exit(main())
