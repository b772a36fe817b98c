"""The tensor intrinsics of real TVM: description and implementation, executed on the same operands and compared.

`python tests/e2e/intrinsic_table.py --tvm PYTHON [--texts DIR] [--names REGEX]`, where PYTHON has apache-tvm. No device
is needed. The operands are small whole numbers, so that sums are exact.

| verdict       | meaning                                                                                        |
|---------------|------------------------------------------------------------------------------------------------|
| `equal`       | both leave the same in every argument                                                          |
| `layout`      | a finding: the description has elements in other registers of the warp than the instruction;   |
|               | the same permutation of registers, taken from the description of the load, makes loads and     |
|               | products equal, so that what is computed of them together is right                             |
| `unsupported` | one of the two is unsupported by name, or calls a packed function of the device                |
| `undefined`   | one of the two has no meaning by a clause: dot products of vectors load 64 elements along an   |
|               | axis of 4 (TIR-006), where TVM's code loads the rows that follow                               |
| `unread`      | refmlc does not read one of the texts                                                          |
| `different`   | a finding                                                                                      |
| `traceback`   | refmlc ends by a bug of its own                                                                |

The memory of whole matrices (`wmma.*`, `metal.simdgroup`) is opaque: the implementation gets and gives the matrix by
rows. So a matrix that the description holds by columns is transposed before and after (`by_columns`).

Exit status 1: a pair is different, or there is a traceback.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from refmlc.diag import Internal, Malformed, RefmlcError, Trap, Undefined, Unsupported
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import tir
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

SIDE = Path(__file__).parent / "tvm_side" / "tensor_intrinsics.py"
VERDICTS = ("equal", "layout", "unsupported", "undefined", "unread", "different", "traceback")
CONSOLE = Console(width=160, highlight=False)
LIMIT = 3


@dataclass
class Outcome:
    """What became of one pair, and why."""

    name: str
    family: str
    verdict: str = "equal"
    reason: str = ""


def printed(python, folder):
    """Print the pairs of a TVM into a folder."""
    subprocess.run([python, str(SIDE), str(folder)], check=True, capture_output=True, timeout=300)


def families(folder):
    """The family of each pair."""
    return dict(line.split() for line in (folder / "families.txt").read_text("utf-8").splitlines())


def main_of(path):
    """The module of a text, and its function."""
    module = read(path.read_text("utf-8"), path.name)
    return module, module.functions["main"]


def extent_of(expr):
    """An extent; the length of a scalable vector is 1."""
    match expr:
        case tir.IntImm(value=value):
            return value
        case tir.Apply(op="mul", args=(left, right)):
            return extent_of(left) * extent_of(right)
        case tir.Call(callee="vscale"):
            return 1
        case _:
            return LIMIT


def drawn(func, seed=1):
    """Small whole numbers for each parameter."""
    rng = np.random.default_rng(seed)
    arguments = []
    for parameter in func.params:
        buffer = func.buffer_map[parameter]
        shape = [extent_of(extent) for extent in buffer.shape]
        arguments.append(rng.integers(0, LIMIT, shape).astype(storage_dtype(buffer.dtype)))
    return arguments


def executed(module, func, arguments):
    """What a function leaves in its arguments: they are changed."""
    dtypes = [func.buffer_map[parameter].dtype for parameter in func.params]
    tensors = [Tensor.from_numpy(array, dtype) for array, dtype in zip(arguments, dtypes, strict=True)]
    Machine(module).call("main", tensors)


def by_columns(name, func):
    """Whether a description holds the matrix of a parameter by columns, for each parameter."""
    scopes = [func.buffer_map[parameter].scope for parameter in func.params]
    turned = "wmma.matrix_a" if "_a_trans" in name else "wmma.matrix_b" if "_trans" in name else ""
    return [scope == turned for scope in scopes]


def turned(array, turn):
    """A matrix by columns as memory of the same shape that holds it by rows."""
    return np.ascontiguousarray(array.T).reshape(array.shape) if turn else array.copy()


def turned_back(array, turn):
    """The other way."""
    return np.ascontiguousarray(array.reshape(array.shape[::-1]).T) if turn else array


def registers(folder, name):
    """Where the implementation of a load leaves what its description leaves at each place; None: other elements."""
    places = []
    for part in ("desc", "impl"):
        module, func = main_of(folder / f"{name}.{part}.py")
        seen = []
        for divisor in (1, 16):
            arguments = drawn(func)
            for array in arguments:
                codes = array.view(f"u{array.itemsize}")
                codes[...] = (np.arange(array.size) // divisor % (16 if divisor == 1 else 64)).reshape(array.shape)
            executed(module, func, arguments)
            seen.append(arguments[0].view(f"u{arguments[0].itemsize}").ravel().astype(int))
        places.append(seen[0] + 16 * seen[1])
    described, loaded = places
    if sorted(described) != sorted(loaded) or len(set(described)) != len(described):
        return None
    where = {label: place for place, label in enumerate(described)}
    return np.array([where[label] for label in loaded])


def loads_of(name):
    """The loads of A and B that belong to a product of registers."""
    match = re.fullmatch(r"mma_(f16|i8|e4m3|e5m2)\1(?:f16|f32|i32)(_trans_a)?(_trans_b)?", name)
    if match is None:
        return ()
    kind, a, b = match.groups()
    return tuple(f"mma_ldmatrix_{kind}_{side}{'_trans' if trans else ''}" for side, trans in (("a", a), ("b", b)))


def up_to_registers(folder, name):
    """Whether a pair is equal where registers lie as the description of the loads says."""
    if name.startswith("mma_ldmatrix"):
        return registers(folder, name) is not None
    permutations = [registers(folder, load) for load in loads_of(name)]
    if not permutations or any(permutation is None for permutation in permutations):
        return False
    (first, desc), (second, impl) = (main_of(folder / f"{name}.{part}.py") for part in ("desc", "impl"))
    expected = drawn(desc)
    given = [array.copy() for array in expected]
    for number, permutation in enumerate(permutations):
        given[number] = given[number].ravel()[permutation].reshape(given[number].shape)
    executed(first, desc, expected)
    executed(second, impl, given)
    return expected[2].tobytes() == given[2].tobytes()


def tried(folder, outcome):
    """The outcome of a pair."""
    name = outcome.name
    try:
        (first, desc), (second, impl) = (main_of(folder / f"{name}.{part}.py") for part in ("desc", "impl"))
        before, columns = drawn(desc), by_columns(name, desc)
        expected = [array.copy() for array in before]
        given = [turned(array, turn) for array, turn in zip(before, columns, strict=True)]
        executed(first, desc, expected)
        executed(second, impl, given)
        for number, (left, right, turn) in enumerate(zip(expected, given, columns, strict=True)):
            actual = turned_back(right, turn)
            if left.tobytes() != actual.tobytes():
                place = tuple(map(int, np.argwhere(left != actual)[0]))
                outcome.verdict = "layout" if up_to_registers(folder, name) else "different"
                outcome.reason = f"argument {number} at {place}: {left[place]} described, {actual[place]} implemented"
                break
    except Exception as failure:  # noqa: BLE001 - a traceback is a bug to be listed, not the end of the table
        return failed(outcome, failure)
    return outcome


def failed(outcome, failure):
    """The outcome after a failure."""
    outcome.verdict, outcome.reason = "traceback", f"{type(failure).__name__}: {failure}"
    if isinstance(failure, RefmlcError) and not isinstance(failure, Internal):
        outcome.reason = f"{failure.code.id} {failure.diagnostic.message}"
        kinds = {Unsupported: "unsupported", Trap: "unsupported", Undefined: "undefined", Malformed: "unread"}
        outcome.verdict = next((verdict for kind, verdict in kinds.items() if isinstance(failure, kind)), "different")
    return outcome


def table(outcomes):
    """Counts for each family."""
    result = Table(title="tensor intrinsics: description and implementation")
    for column in ("family", "pairs", *VERDICTS):
        result.add_column(column, justify="left" if column == "family" else "right")
    groups = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.family].append(outcome)
    for family, members in (*sorted(groups.items()), ("all", outcomes)):
        counts = Counter(outcome.verdict for outcome in members)
        result.add_row(family, str(len(members)), *(str(counts[verdict]) for verdict in VERDICTS))
    return result


def outcomes_of(folder, names=""):
    """The outcome of each pair in a folder."""
    chosen = [(name, family) for name, family in families(folder).items() if re.search(names, name)]
    return [tried(folder, Outcome(name, family)) for name, family in chosen]


def main():
    """Print the table and the reasons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tvm", required=True, help="a Python that has apache-tvm")
    parser.add_argument("--texts", type=Path, help="where the texts are kept")
    parser.add_argument("--names", default="", help="a regular expression: of these pairs alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.texts or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "families.txt").exists():
            printed(options.tvm, folder)
        outcomes = outcomes_of(folder, options.names)
    CONSOLE.print(table(outcomes))
    for outcome in outcomes:
        if outcome.reason:
            CONSOLE.print(f"{outcome.verdict:12} {outcome.name}: {outcome.reason}"[:300], markup=False, soft_wrap=True)
    return int(any(outcome.verdict in ("different", "traceback") for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
