"""Kernels that compute each scalar operator at the edges of each dtype, with what refmlc computes for them.

Points where the value function says `UndefinedValue` are left out. What a job expects is what its text means:
read and run by the interpreter, which must agree with the value function at every point.
"""

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from refmlc import VirtualMachine, build, read
from refmlc.lang.dtypes import dtype
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ops.contract import Accuracy, UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS, converter

TVM_SIDE = Path(__file__).parent / "tvm_side"
INTS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
NARROW = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (1, 2, 4))
FLOATS = ("float16", "bfloat16", "float32", "float64")
FLOAT8 = tuple(
    f"float8_{kind}" for kind in ["e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu"]
)
NAN, INF = math.nan, math.inf
POINTS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1.5, 3.0, 0.1, 7.3, -7.3, 88.7, -103.9, 300.0, 1e10, NAN, INF, -INF)
LEFT_OUT = ("q_multiply_shift", "q_multiply_shift_per_axis", "reinterpret")  # constants, or made apart
SYMBOLS = {"div": "T.Div({0}, {1})", "not": "not {0}", "bitwise_not": "~{0}", "abs": "T.fabs({0})"}

Function = Callable[..., object]


@dataclass(frozen=True)
class Job:
    """A kernel: its name (`operator dtype`), text, inputs, and the result by the interpreter and the value function."""

    name: str
    accuracy: Accuracy
    text: str
    inputs: tuple[np.ndarray, ...]
    dtypes: tuple[str, ...]
    expected: np.ndarray
    values: np.ndarray


def edges(name: str) -> list:
    """Values of a dtype where things change."""
    kind = dtype(name)
    if kind.kind == "bool":
        return [False, True]
    if kind.is_integer:
        near = {0, 1, 2, 3, 5, 7, 8, -1, -2, -3, -7, kind.minimum, kind.minimum + 1, kind.maximum - 1, kind.maximum}
        near |= {1 << k for k in (15, 24, 31, 53, 63)} | {(1 << 24) + 1, (1 << 53) + 1, 300, 40000}
        return sorted(v for v in near if kind.minimum <= v <= kind.maximum)
    shape = kind.format
    normal = shape.smallest * 2.0 ** (shape.precision - 1)
    near = [
        *POINTS,
        *(sign * v for v in (shape.smallest, normal, shape.maximum, shape.maximum / 2) for sign in (1, -1)),
    ]
    near += [127.0, 128.5, -128.0, -129.0, 255.0, 2147483520.0, 9.2e18]
    distinct: dict[str, float] = {}
    for value in map(rounder(kind), near):
        distinct.setdefault(repr(value), value)
    return list(distinct.values())


def array(values: Sequence, name: str) -> np.ndarray:
    """Values of a dtype, stored."""
    return np.array(values, storage_dtype(dtype(name)))


def make(name: str, form: str, operands: Sequence[str], result: str, value: Function, accuracy=Accuracy.EXACT) -> Job:
    """The job for `form`, an expression of {0}, {1} …, at all the defined points of edges × edges."""
    points, values = [], []
    for point in itertools.product(*map(edges, operands)):
        try:
            values.append(value(*point))
        except UndefinedValue:
            continue
        points.append(point)
    count, letters = len(points), "ABCD"[: len(operands)]
    parameters = [
        f'{x}: T.Buffer(({count},), "{d}")' for x, d in zip((*letters, "R"), (*operands, result), strict=True)
    ]
    expression = form.format(*(f"{letter}[i]" for letter in letters))
    text = (
        "# from tvm.script import tirx as T\n@T.prim_func(s_tir=True)\n"
        f"def main({', '.join(parameters)}):\n"
        f"    for i in range({count}):\n        R[i] = {expression}\n"
    )
    inputs = tuple(array([p[k] for p in points], d) for k, d in enumerate(operands))
    out = array([0] * count, result)
    VirtualMachine(build(read(text, f"{name}.py")))["main"](*inputs, out)
    return Job(name, accuracy, text, inputs, (*operands, result), out, array(values, result))


def form_of(op: str) -> str:
    """How TVMScript writes an operator."""
    contract = SCALAR_OPS[op].contract
    if op in SYMBOLS:
        return SYMBOLS[op]
    if contract.notation.symbol and contract.arity == 2:
        return f"{{0}} {contract.notation.symbol} {{1}}"
    return f"T.{contract.text}({', '.join(f'{{{k}}}' for k in range(contract.arity))})"


def operators() -> Iterator[Job]:
    """Every operator on every dtype that it accepts and TVM can store."""
    for op, row in SCALAR_OPS.items():
        contract = row.contract
        for name in ("bool", *INTS, *FLOATS):
            first = dtype(name)
            if op in LEFT_OUT or not contract.accepts_dtype(first) or (op == "likely" and name != "bool"):
                continue
            operands = (first, dtype("int32")) if contract.rest else (first,) * contract.arity
            result = contract.result_dtype(operands)
            value = row.value(operands, result)
            names = [str(d) for d in operands]
            yield make(f"{op} {name}", form_of(op), names, str(result), value, contract.accuracy)


def casts() -> Iterator[Job]:
    """Between all dtypes; and through the integers that memory does not hold."""
    stored = ("bool", *INTS, *FLOATS, *FLOAT8)
    for source, target in itertools.product(stored, stored):
        if source != target:
            value = converter(dtype(source), dtype(target))
            yield make(f"cast {source} {target}", f'T.Cast("{target}", {{0}})', (source,), target, value)
    for narrow, wide in itertools.product(NARROW, ("int8", "uint8", "int32", "int64", "float32")):
        into, out = converter(dtype(wide), dtype(narrow)), converter(dtype(narrow), dtype(wide))
        form = f'T.Cast("{wide}", T.Cast("{narrow}", {{0}}))'
        yield make(f"cast {wide} {narrow} {wide}", form, (wide,), wide, lambda a, f=into, g=out: g(f(a)))


def reinterprets() -> Iterator[Job]:
    """Between an unsigned integer and what is as wide. The code of a NaN is not compared: no NaN goes in."""
    for bits in (8, 16, 32, 64):
        group = [d for d in (*INTS, *FLOATS, *FLOAT8) if dtype(d).bits == bits]
        for source, target in itertools.permutations(group, 2):
            if f"uint{bits}" not in (source, target):
                continue
            operands, result = (dtype(source),), dtype(target)
            value = no_nan(SCALAR_OPS["reinterpret"].value(operands, result))
            yield make(f"reinterpret {source} {target}", f'T.reinterpret("{target}", {{0}})', (source,), target, value)


def no_nan(value: Function) -> Function:
    """`value` where no NaN goes in."""

    def defined(*point: float) -> object:
        if any(x != x for x in point):  # noqa: PLR0124 - NaN
            raise UndefinedValue(SCALAR_OPS["abs"].contract.undefined[0].code, "a NaN")
        return value(*point)

    return defined


def choices() -> Iterator[Job]:
    """Node kinds that choose."""
    for name in ("bool", *INTS, *FLOATS):
        for node in ("Select", "if_then_else"):
            form = f"T.{node}({{0}}, {{1}}, {{2}})"
            yield make(f"{node} {name}", form, ("bool", name, name), name, lambda c, a, b: a if c else b)
    yield make("And bool", "{0} and {1}", ("bool", "bool"), "bool", lambda a, b: a and b)
    yield make("Or bool", "{0} or {1}", ("bool", "bool"), "bool", lambda a, b: a or b)
    for name in (*INTS, *FLOATS):
        form = "{0} < {1} and {1} != {0} or {1} <= {0}"
        value = no_nan(lambda a, b: a == a and b == b)  # noqa: PLR0124 - NaN
        yield make(f"And Or {name}", form, (name, name), "bool", value)


def jobs() -> list[Job]:
    """All of them."""
    return [*operators(), *casts(), *reinterprets(), *choices()]


def run_in_tvm(python: str, directory: Path, made: Sequence[Job], alone: Container[str]) -> list[np.ndarray | str]:
    """For each job what TVM returns, or why it returns nothing. Those named in `alone` do not share a module."""
    table = []
    for number, job in enumerate(made):
        raw = [np.frombuffer(a.tobytes(), np.uint8) for a in job.inputs]
        np.savez(directory / f"{number}.npz", *raw)
        table.append({"text": job.text, "arrays": [[d, len(job.expected)] for d in job.dtypes]})
        table[-1]["alone"] = job.name in alone
    (directory / "jobs.json").write_text(json.dumps(table))
    command = [python, str(TVM_SIDE / "run_kernels.py"), str(directory)]
    shares = [subprocess.Popen([*command, str(n), "2"], stderr=subprocess.DEVNULL) for n in range(2)]
    if [share.wait(300) for share in shares] != [0, 0]:
        sys.exit("TVM's side failed")
    return [outcome(directory, number, job) for number, job in enumerate(made)]


def outcome(directory: Path, number: int, job: Job) -> np.ndarray | str:
    """The result that TVM's side left."""
    found = directory / f"{number}.out"
    if found.exists():
        return np.frombuffer(found.read_bytes(), job.expected.dtype)
    return (directory / f"{number}.no").read_text()


def differing(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays differ in a bit, NaN as one class."""
    if a.dtype.kind in "iub":
        return a != b
    code = f"u{a.dtype.itemsize}"
    with np.errstate(invalid="ignore"):
        nan = np.isnan(a.astype("float64")) & np.isnan(b.astype("float64"))
    return (a.view(code) != b.view(code)) & ~nan
