"""Every module of the repository in both tiers: the same bits and verdicts, function by function, and what C declines.

Functions are called on generated arguments of the shapes that they declare; variables of shapes are small numbers.
`python tests/e2e/test_tiers_on_modules.py [--sample DIRECTORY]` prints how many functions are compiled, and why not.
"""

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import Array

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "property"))

from tier_runs import INTERP, TINY, Ran, Way, usable  # noqa: E402 - after the path

from refmlc.native.compile import BuildFailed  # noqa: E402 - the same
from refmlc.native.options import ISAS, Grade  # noqa: E402 - the same

pytestmark = pytest.mark.needs("compiler")

BEST = Way(usable()[0], Grade.REORDERED, ISAS[usable()[0]])
PROGRAMS = sorted((ROOT / "tests" / "programs").glob("*.py"))
MODELS = sorted((ROOT / "refmlc" / "tools" / "demo" / "models").glob("*.py"))
GOLDEN = sorted((ROOT / "tests" / "golden" / "diagnostics").glob("*.toml"))
MOST = 60_000  # elements of an argument, and
STEPS = 3_000_000  # of a call: what the interpreter does in seconds; what takes longer is counted, and not compared
LONG = 200_000


@dataclass
class Comparison:
    """What became of the functions of a module."""

    compiled: int = 0
    declined: Counter = field(default_factory=Counter)
    calls: Counter = field(default_factory=Counter)
    differences: list = field(default_factory=list)

    def add(self, other):
        self.compiled += other.compiled
        self.declined += other.declined
        self.calls += other.calls
        self.differences += other.differences


def dims_of(func, number):
    """A small value for each variable of shapes; `number` tells calls apart."""
    found = {}
    for buffer in func.buffer_map.values():
        for part in (*buffer.shape, *buffer.strides, buffer.elem_offset):
            if isinstance(part, tir.Var):
                found.setdefault(part, (3, 5, 2, 4)[(len(found) + number) % 4])
    return found


def extent(part, dims):
    """The value of a dimension; None: it is not one of the simple ones."""
    match part:
        case tir.IntImm(value=value):
            return value
        case tir.Var():
            return dims.get(part)
        case tir.Cast(value=value):
            return extent(value, dims)
        case tir.Apply(op=op, args=(a, b)) if op in ("add", "sub", "mul", "floordiv", "floormod", "max", "min"):
            x, y = extent(a, dims), extent(b, dims)
            known = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__, "max": max, "min": min}
            known |= {"floordiv": int.__floordiv__, "floormod": int.__mod__}
            return None if x is None or y is None or (y == 0 and "floor" in op) else known[op](x, y)
        case _:
            return None


def arguments_of(func, number):
    """Arguments for a call; None where a shape cannot be made, or is large."""
    dims, found = dims_of(func, number), []
    for place, param in enumerate(func.params):
        buffer = func.buffer_map.get(param)
        if buffer is None:
            value = scalar(param.dtype, dims.get(param))
            if value is None:
                return None
            found.append(value)
            continue
        shape = tuple(extent(part, dims) for part in buffer.shape)
        if any(one is None or one < 0 for one in shape) or buffer.dtype.is_vector or buffer.dtype.kind == "handle":
            return None
        last = place == len(func.params) - 1
        made = argument(buffer, shape, dims, place + 7 * number, fresh=last)
        if made is None:
            return None
        found.append(made)
    return found


def scalar(kind: DType, dim):
    if kind.kind in ("handle", "void"):
        return None
    return dim if dim is not None else 2.5 if kind.is_float else 1


def argument(buffer, shape, dims, seed, *, fresh):
    count = 1
    for one in shape:
        count *= one
    if count > MOST:
        return None
    kind, way = buffer.dtype, ("small", "edges", "steps")[seed % 3]
    low, high = (max(kind.minimum, -3), min(kind.maximum, 9)) if kind.is_integer else (0, 0)
    steps = tuple(extent(part, dims) for part in buffer.strides)
    compact = not steps or all(isinstance(part, tir.IntImm) for part in buffer.strides)
    if not compact:
        return None
    del steps
    return Array(kind, shape, way, seed, low, high, "fresh" if fresh else "compact").tensor()


def copied(args):
    return [arg.copy() if isinstance(arg, Tensor) else arg for arg in args]


def compare(module: IRModule, ways: Sequence[Way], name: str, calls: int = 2) -> Comparison:
    """Every PrimFunc of `module`, called once in the interpreter and in C of each way."""
    found, natives = Comparison(), []
    interp = Ran(module, INTERP, steps=STEPS)
    for way in ways:
        try:
            natives.append(Ran(module, way, steps=STEPS))
        except BuildFailed as problem:
            said = [line.strip() for line in str(problem).splitlines() if "error" in line]
            found.differences.append(f"{name} does not compile: {(said or [str(problem)])[0][:200]}")
    for native in natives:
        found.compiled += len(native.units)
        found.declined.update(one.reason for one in native.declined.values())
    for symbol in dict.fromkeys(symbol for native in natives for symbol in native.units):
        compiled = [native for native in natives if symbol in native.units]
        found.add(compare_calls(module, symbol, interp, compiled, name, calls))
    for native in natives:
        found.calls.update({f"C {end}": count for end, count in native.counts.items()})
    return found


def compare_calls(module, symbol, interp, natives, name, calls):
    """One PrimFunc: what becomes of its calls."""
    found = Comparison()
    for number in range(calls):
        args = arguments_of(module.functions[symbol], number)
        if args is None:
            found.calls["no arguments"] += 1
            break
        right = interp.call(symbol, copied(args))
        if right.code == "RM601":
            found.calls["too long"] += 1
            break
        for native in natives:
            given = native.call(symbol, copied(args))
            found.calls["equal" if right == given else "different"] += 1
            if right != given:
                found.differences.append(f"{name} {symbol}: {right.verdict[:3]}, in C {given.verdict[:3]}")
        if right.steps > LONG:
            break
    return found


def modules_in(paths):
    """What can be read and is well-formed of texts, with the names of the files."""
    found = []
    for path in paths:
        text = path.read_text("utf-8")
        if path.suffix == ".toml":
            text = tomllib.loads(text).get("program", "")
        try:
            module = read(text, path.name)
            if not check_module(module):
                found.append((path.name, module))
        except RefmlcError:
            continue
    return found


@pytest.mark.parametrize("path", [*PROGRAMS, *MODELS], ids=lambda path: path.stem)
def test_functions_of_programs_come_to_the_same(path):
    for name, module in modules_in([path]):
        assert compare(module, (TINY, BEST), name).differences == []


def test_functions_of_golden_cases_come_to_the_same():
    whole = Comparison()
    for name, module in modules_in(GOLDEN):
        whole.add(compare(module, [TINY], name, calls=1))
    assert whole.differences == []
    assert whole.calls["equal"] > 10


def test_most_functions_of_programs_are_compiled():
    whole = Comparison()
    for name, module in modules_in([*PROGRAMS, *MODELS]):
        whole.add(compare(module, [TINY], name, calls=0))
    # What is left: the C interface of lowered code, calls to the outside.
    reasons = {
        "parameter `A_ptr` is a bare handle": 1,
        "parameter `self_handle` is a bare handle": 2,
        "it calls `call_extern`": 1,
        "it calls `call_ffi_kernel`": 1,
    }
    assert whole.declined == reasons
    assert whole.compiled >= 22


def sample_modules(directory):
    for entry in json.loads((directory / "index.json").read_text()):
        path = directory / f"{entry['stem']}.py"
        yield from ((f"{entry['group']}/{entry['name']}", module) for _, module in modules_in([path]))


def main() -> None:
    """Print what became of all functions; exit 1 when some differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=Path, help="modules that TVM printed (sample_table.py makes them)")
    parser.add_argument("--tiny", action="store_true", help="by tcc, as written")
    options = parser.parse_args()
    console, whole = Console(width=120), Comparison()
    named = modules_in([*PROGRAMS, *MODELS, *GOLDEN]) if options.sample is None else sample_modules(options.sample)
    for name, module in named:
        whole.add(compare(module, [TINY if options.tiny else BEST], name))
    console.print(f"{whole.compiled} functions are compiled, {sum(whole.declined.values())} are not:")
    for reason, count in whole.declined.most_common():
        console.print(f"{count:5} {reason}", markup=False)
    console.print(dict(whole.calls))
    for line in whole.differences:
        console.print(line, markup=False)
    raise SystemExit(1 if whole.differences else 0)


if __name__ == "__main__":
    main()
