"""What TVM's runtime ships, by name and by what it does: compared with the registry of a real TVM.

`REFMLC_TVM_PYTHON=PYTHON python -m pytest tests/e2e/test_shipped_names.py` says which names another version has.
"""

import json
import os
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest

import refmlc
from refmlc.run.interp.graph.calls import BY_NAME
from refmlc.run.memory import shipped
from refmlc.run.memory.tensor import Tensor

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
RUN_PACKED = Path(__file__).parent / "tvm_side" / "run_packed.py"
TABLE = tomllib.loads((Path(shipped.__file__).parent / "names.toml").read_text(encoding="utf-8"))
RANDOM = np.random.default_rng(7)
DTYPES = ("float16", "float32", "float64", "int32", "int64")
PLACES = ("int32", "int64", "float32", "float64")


def tensor(array):
    return {"tensor": [str(array.dtype), list(array.shape), np.ascontiguousarray(array).tobytes().hex()]}


def values(kind, shape):
    """Elements with many ties; both zeros among floats."""
    found = RANDOM.integers(-2, 3, shape).astype(kind)
    return np.where(RANDOM.random(shape) < 0.2, np.array(-0.0, kind), found) if "float" in kind else found


def positive(kind, shape):
    """The same without -0: which zero stands for both is left to NumPy's sort, and to LIB-971 here."""
    return (values(kind, shape) + np.zeros((), kind)).astype(kind)


def orders():
    """Requests for each function that sorts: dtypes, ranks, axes of both signs, both directions."""
    for kind in DTYPES:
        for shape in ((7,), (3, 4), (2, 3, 4), (1, 1), (0,), (2, 0)):
            axis = int(RANDOM.integers(-len(shape), len(shape)))
            data, ascending = values(kind, shape), int(RANDOM.integers(2))
            yield ["tvm.contrib.sort.sort", [tensor(data), tensor(np.zeros(shape, kind)), axis, ascending]]
            places = np.zeros(shape, RANDOM.choice(PLACES))
            yield ["tvm.contrib.sort.argsort", [tensor(data), tensor(places), axis, ascending]]
            yield from nms(data, axis, ascending)
            yield from best(data, axis, ascending)


def nms(data, axis, ascending):
    rows = [extent for at, extent in enumerate(data.shape) if at != axis % data.ndim]
    places = np.zeros(data.shape, "int32")
    counts = RANDOM.integers(0, data.shape[axis] + 1, rows).astype("int32")
    yield ["tvm.contrib.sort.argsort_nms", [tensor(data), tensor(counts), tensor(places), axis, ascending]]


def best(data, axis, ascending):
    count = int(RANDOM.integers(-1, data.shape[axis] + 1))
    shape = list(data.shape)
    shape[axis] = count if count > 0 else shape[axis]
    outputs = {"values": np.zeros(shape, data.dtype), "indices": np.zeros(shape, RANDOM.choice(PLACES))}
    for which in ("both", "values", "indices"):
        given = [tensor(array) for name, array in outputs.items() if which in ("both", name)]
        yield ["tvm.contrib.sort.topk", [tensor(data), *given, count, axis, which, ascending]]


def sets():
    """Requests for `nonzero` and `unique`; without the inverse of several axes, whose shape is of NumPy's version."""
    for kind in (*DTYPES, "uint8", "bool"):
        for shape in ((), (6,), (3, 4), (0,)):
            yield ["relax.run.nonzero", [tensor(values(kind, shape))]]
        for number in range(16):
            flags = [number >> bit & 1 for bit in range(4)]
            yield ["relax.run.unique", [tensor(positive(kind, (8,))), *flags]]
            axis = int(RANDOM.integers(-2, 2))
            if flags[2] == 0 and kind != "bool":
                yield ["relax.run.unique", [tensor(positive(kind, (3, 4))), *flags, axis]]
    holed = np.array([3, np.nan, 1, np.nan, 3], "float32")
    yield from (["relax.run.unique", [tensor(holed), *flags]] for flags in ([1, 1, 1, 1], [0, 1, 0, 1]))


REQUESTS = [*orders(), *sets()]


@pytest.fixture(scope="module")
def told():
    """Names and answers of TVM."""
    done = subprocess.run(
        [PYTHON, str(RUN_PACKED)], input=json.dumps(REQUESTS), capture_output=True, text=True, check=True, timeout=300
    )
    return json.loads(done.stdout)


def meaning_of(name):
    """Whether a name is ours: with a meaning, or refused with a reason."""
    return name in shipped.FUNCTIONS or name in BY_NAME or name in shipped.reasons()


@pytest.mark.needs("tvm")
def test_every_name_that_tvm_registers_is_here_or_its_compiler_s(told):
    compiler = tuple(TABLE["compiler"])
    assert sorted(n for n in told["names"] if not meaning_of(n) and not n.startswith(compiler)) == []
    apart = {n for n in told["names"] if n.startswith(("vm.", "relax.run.", "tvm.contrib.", "runtime."))}
    assert sorted(n for n in apart if not meaning_of(n)) == []


@pytest.mark.needs("tvm")
def test_every_name_that_is_here_is_registered_by_tvm(told):
    assert sorted({*shipped.FUNCTIONS, *BY_NAME, *shipped.reasons()} - set(told["names"])) == []


def taken(value):
    """An argument of a request for refmlc."""
    if isinstance(value, dict):
        name, shape, raw = value["tensor"]
        return Tensor.from_numpy(np.frombuffer(bytes.fromhex(raw), name).reshape(shape).copy())
    return value


def plain(value):
    """A result as TVM's side writes it."""
    if isinstance(value, Tensor):
        return tensor(value.numpy())["tensor"]
    return [plain(part) for part in value] if isinstance(value, tuple) else value


@pytest.mark.needs("tvm")
def test_they_do_what_tvm_s_do(told):
    wrong, refused = [], 0
    for (name, given), answer in zip(REQUESTS, told["answers"], strict=True):
        if "error" in answer:
            assert "only supports" in answer["error"], (name, given, answer)
            refused += 1
            continue
        args = [taken(value) for value in given]
        result = refmlc.get_func(name)(args, None)
        mine = {"tensors": [plain(arg) for arg in args if isinstance(arg, Tensor)], "result": plain(result)}
        if mine != answer:
            wrong.append((name, given, mine, answer))
    assert len(REQUESTS) - refused > 300
    assert wrong == []
