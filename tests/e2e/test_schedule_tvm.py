"""Real TVM's schedule and ours: the same loops around the same blocks, the same bits; what both refuse."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "property"))
from kernels import blocked, tensorized, window
from step_applications import applied
from tiled_intrinsics import tiled

from refmlc.diag import RefmlcError, Unsupported
from refmlc.lang.dtypes import FLOAT32, INT32
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.script import show
from refmlc.lang.wellformed.reader_checks import read
from refmlc.observe.sanitize import sanitize
from refmlc.rewrite.schedule.places import allocated, places
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

PYTHON = os.environ.get("REFMLC_TVM_PYTHON", "")
SIDE = Path(__file__).parent / "tvm_side" / "apply_steps.py"

pytestmark = pytest.mark.needs("tvm")

TEXT = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((6, 4), "float32"), B: T.Buffer((4, 5), "float32"), X: T.Buffer((6, 5), "float32")):
    P = T.sblock_alloc_buffer((4, 5), "float32")
    for i, j in T.grid(4, 5):
        with T.sblock("scale"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = B[vi, vj] * T.float32(3)
    for i, j, k in T.grid(6, 5, 4):
        with T.sblock("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                X[vi, vj] = T.float32(0)
            X[vi, vj] = X[vi, vj] + A[vi, vk] * P[vk, vj]
"""
STEPS = {
    "split": [["split", "product", 0, [None, 3]]],
    "split with a rest": [["split", "product", 1, [None, 2]]],
    "a drawn tile": [["sample_perfect_tile", "product", 0, [2, 3], 4]],
    "a drawn tile in parts": [["sample_partitioned_tile", "product", 2, [2, 2], 2]],
    "split in three": [["split", "product", 0, [None, 3, 1]]],
    "fuse": [["fuse", "product", [0, 1]]],
    "reorder": [["reorder", "product", [2, 0, 1]]],
    "reorder a part": [["reorder", "product", [2, 1]]],
    "tile": [
        ["split", "product", 0, [None, 2]],
        ["split", "product", 2, [None, 5]],
        ["reorder", "product", [0, 2, 1, 3]],
    ],
    "unroll": [["unroll", "product", 2]],
    "vectorize": [["vectorize", "scale", 1]],
    "parallel": [["parallel", "product", 0]],
    "parallel fused": [["fuse", "product", [0, 1]], ["parallel", "product", 0]],
    "inline": [["compute_inline", "scale"]],
    "cache_read": [["cache_read", "product", "A"]],
    "cache_write": [["cache_write", "product"]],
    "decompose at the sum": [["decompose_reduction", "product", 2]],
    "decompose at the outermost": [["decompose_reduction", "product", 0]],
    "all as a block": [["blockize", "product", 0]],
    "the sum as a block": [["blockize", "product", 2]],
    "a tile as a block": [
        ["split", "product", 0, [None, 3]],
        ["split", "product", 3, [None, 2]],
        ["reorder", "product", [0, 2, 3, 1, 4]],
        ["blockize", "product", 3],
    ],
    "a unit loop": [["add_unit_loop", "scale"]],
    "decompose, then split": [["decompose_reduction", "product", 1], ["split", "product_update", 1, [None, 2]]],
}
MOVED = {
    "producer at the rows": [["compute_at", "scale", "product", 0]],
    "producer at the columns": [["compute_at", "scale", "product", 1]],
    "producer at tiles": [
        ["split", "product", 1, [None, 5]],
        ["reorder", "product", [1, 0]],
        ["compute_at", "scale", "product", 0],
    ],
    "the sum at the rows of what follows": [["compute_at", "product", "shift", 0]],
    "the sum at the elements of what follows": [["compute_at", "product", "shift", 1]],
    "what follows at the rows of the sum": [["reverse_compute_at", "shift", "product", 0]],
    "what follows at the elements of the sum": [["reverse_compute_at", "shift", "product", 1]],
    "what follows at tiles of the sum": [
        ["split", "product", 0, [None, 3]],
        ["split", "product", 2, [None, 5]],
        ["reorder", "product", [0, 2, 1, 3]],
        ["reverse_compute_at", "shift", "product", 1],
    ],
    "unit loops kept": [["reverse_compute_at", "shift", "product", 1, True]],
    "unit loops of a producer kept": [["compute_at", "scale", "product", 2, True]],
    "both": [["reverse_compute_at", "shift", "product", 0], ["compute_at", "scale", "product", 0]],
    "backwards into the map": [["reverse_compute_inline", "again"]],
    "threads": [["bind", "product", 0, "blockIdx.x"], ["bind", "product", 1, "threadIdx.x"]],
    "threads of tiles": [["split", "shift", 0, [None, 2]], ["bind", "shift", 1, "threadIdx.x"]],
    "annotated": [["annotate", "product", 0, "pragma_auto_unroll_max_step", 16]],
    "scope": [["set_scope", "product", 0, "local"]],
    "aligned": [["storage_align", "product", 0, 0, 32, 8]],
}
LONGER = (
    TEXT.replace('X: T.Buffer((6, 5), "float32")', 'Y: T.Buffer((6, 5), "float32")')
    + """    for i, j in T.grid(6, 5):
        with T.sblock("shift"):
            vi, vj = T.axis.remap("SS", [i, j])
            Z[vi, vj] = X[vi, vj] + T.float32(1)
    for i, j in T.grid(6, 5):
        with T.sblock("again"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.max(Z[vi, vj], T.float32(0))
"""
)
LONGER = LONGER.replace(
    '"float32")\n    for i, j in T.grid(4, 5)',
    '"float32")\n'
    '    X = T.sblock_alloc_buffer((6, 5), "float32")\n'
    '    Z = T.sblock_alloc_buffer((6, 5), "float32")\n'
    "    for i, j in T.grid(4, 5)",
)
REFUSED_LONGER = {
    "producer behind its reader": [["compute_at", "shift", "scale", 0]],
    "an output at what it reads": [["compute_at", "again", "shift", 0]],
    "a sum backwards": [["reverse_compute_inline", "product"]],
}
# What TVM takes and we do not: the consumer runs on partial sums, and once more on the whole one; one tag twice.
STRICTER = {
    "what follows inside of the sum": [["reverse_compute_at", "shift", "product", 2]],
    "threads of a thread": [["bind", "product", 0, "threadIdx.x"], ["bind", "product", 1, "threadIdx.x"]],
}
REFUSED = {
    "a rest as a block": [
        ["split", "product", 0, [None, 4]],
        ["reorder", "product", [0, 2, 1]],
        ["blockize", "product", 2],
    ],
    "parallel sum": [["parallel", "product", 2]],
    "vectorized sum": [["vectorize", "product", 2]],
    "inlined output": [["compute_inline", "product"]],
    "fused across": [["fuse", "product", [0, 2]]],
    "decomposed inside": [["reorder", "product", [2, 0]], ["decompose_reduction", "product", 2]],
}

# What TVM makes wrong: the function after the step is ill-formed, undefined, or means something else.
SHARED = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), X: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "int32")):
    P = T.sblock_alloc_buffer((4,), "int32")
    for i in range(4):
        with T.sblock("make"):
            v = T.axis.spatial(4, i)
            P[v] = A[v] * 2
    for i in range(4):
        with T.sblock("use"):
            v = T.axis.spatial(4, i)
            X[v] = P[v] + 1
    for i in range(4):
        with T.sblock("again"):
            v = T.axis.spatial(4, i)
            Y[v] = P[v]
"""
FIRST_ROW = """# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((2, 3), "int32"), X: T.Buffer((3,), "int32")):
    P = T.sblock_alloc_buffer((2, 3), "int32")
    for i, j in T.grid(2, 3):
        with T.sblock("make"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = A[vi, vj] * 2
    for j in range(3):
        with T.sblock("use"):
            v = T.axis.spatial(3, j)
            X[v] = P[0, v] + 1
"""
WRONG = {
    "a buffer that is still read is dropped": (SHARED, [["reverse_compute_inline", "use"]]),
    "a block goes behind its reader": (SHARED, [["reverse_compute_at", "make", "again", 0]]),
    "rows that nobody reads are stored": (FIRST_ROW, [["reverse_compute_inline", "use"]]),
}

KERNELS = {
    "window": window(32, 8),
    "window with a rest": window(30, 8),
    "blocked": blocked(16, 2, 2, 4, 2),
    "tensorized": tensorized(16, 4),
}
# After each step: what the step does is compared, not only what comes of all of them.
TAKEN = {
    f"{name}, {count} steps": (text, steps[:count])
    for name, (text, steps) in KERNELS.items()
    for count in range(1, len(steps) + 1)
}


def stepped(steps, text=TEXT):
    func = read(text, "s.py")["main"]
    for step in steps:
        func = applied(func, *step)
    return func


@pytest.fixture(scope="module")
def theirs():
    cases = {name: {"text": TEXT, "steps": steps} for name, steps in (STEPS | REFUSED).items()}
    cases |= {name: {"text": LONGER, "steps": steps} for name, steps in (MOVED | REFUSED_LONGER | STRICTER).items()}
    cases |= {name: {"text": text, "steps": steps} for name, (text, steps) in (WRONG | TAKEN).items()}
    done = subprocess.run(
        [PYTHON, str(SIDE)],
        input=json.dumps([*cases.values()]),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(cases, json.loads(done.stdout), strict=True))


def nests(func):
    """The loops around each block: extents and kinds."""
    return [
        [(one.extent.value, one.kind.value) for one in place.around if isinstance(one, tir.For)]
        for place in places(func.body)
        if isinstance(place.stmt, tir.SBlockRealize) and place.stmt.block.name != "root"
    ]


def blocks(func):
    """Each block with its axes and the loops around it; the buffers that are allocated with their scopes."""
    blocks = [
        (
            place.stmt.block.name,
            [(axis.kind, axis.dom.extent.value) for axis in place.stmt.block.iter_vars],
            [(one.extent.value, one.kind, one.tag) for one in place.around if isinstance(one, tir.For)],
        )
        for place in places(func.body)
        if isinstance(place.stmt, tir.SBlockRealize) and place.stmt.block.name != "root"
    ]
    return blocks, sorted((one.name, one.scope, one.shape[0].value) for one in allocated(func))


def bits(func, seed=3):
    """What a call writes into the last parameter; the others are random."""
    *given, last = func.buffer_map.values()
    random = np.random.default_rng(seed)
    args = [random.standard_normal([size.value for size in one.shape], np.float32) for one in given]
    target = Tensor.empty(tuple(size.value for size in last.shape), FLOAT32)
    VirtualMachine(build(IRModule({"main": func}), tier="interp"))["main"](*args, target)
    return target.numpy().tobytes()


def result(func):
    random = np.random.default_rng(3)
    a, b = random.standard_normal((6, 4), np.float32), random.standard_normal((4, 5), np.float32)
    target = Tensor.empty((6, 5), FLOAT32)
    VirtualMachine(build(IRModule({"main": func}), tier="interp"))["main"](a, b, target)
    return target.numpy().tobytes()


@pytest.mark.parametrize("name", STEPS)
def test_both_make_the_same_nests_and_bits(theirs, name):
    found = theirs[name]
    assert "text" in found, found
    other, ours = read(found["text"], "tvm.py")["main"], stepped(STEPS[name])
    assert nests(ours) == nests(other), found["text"]
    assert result(ours) == result(other) == result(read(TEXT, "s.py")["main"])


@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse(theirs, name):
    assert "refused" in theirs[name], theirs[name]
    with pytest.raises(Unsupported):
        stepped(REFUSED[name])


@pytest.mark.parametrize("name", MOVED)
def test_both_move_blocks_alike(theirs, name):
    found = theirs[name]
    assert "text" in found, found
    other, ours = read(found["text"], "tvm.py")["main"], stepped(MOVED[name], LONGER)
    assert nests(ours) == nests(other), f"{found['text']}\n{ours.script()}"
    assert result(ours) == result(other) == result(read(LONGER, "s.py")["main"])


@pytest.mark.parametrize("name", TAKEN)
def test_both_take_the_steps_of_the_course_alike(theirs, name):
    found, (text, steps) = theirs[name], TAKEN[name]
    assert "text" in found, found
    other, ours = read(found["text"], "tvm.py")["main"], stepped(steps, text)
    assert blocks(ours) == blocks(other), f"{found['text']}\n{ours.script()}"
    assert bits(ours) == bits(other) == bits(read(text, "s.py")["main"])


@pytest.mark.parametrize("name", REFUSED_LONGER)
def test_both_refuse_to_move(theirs, name):
    assert "refused" in theirs[name], theirs[name]
    with pytest.raises(Unsupported):
        stepped(REFUSED_LONGER[name], LONGER)


@pytest.mark.parametrize("name", STRICTER)
def test_we_refuse_what_is_not_shown_to_be_legal(theirs, name):
    assert "text" in theirs[name], theirs[name]
    with pytest.raises(Unsupported):
        stepped(STRICTER[name], LONGER)


def verdict(text, args):
    """What the sanitizer says of a call, or the reader of the text; and what is in the last argument."""
    try:
        module = read(text, "tvm.py")
    except RefmlcError as failure:
        return failure.code.id, None
    report = sanitize(module, "main", args)
    codes = {one.diagnostic.code.id for one in report.findings}
    return (report.verdict, args[-1].numpy().tolist()) if report.verdict == "defined" else (*sorted(codes), None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a buffer that is still read is dropped", ("RM203", None)),  # TIR-901
        ("a block goes behind its reader", ("RM305", None)),
        ("rows that nobody reads are stored", ("RM319", None)),
    ],
)
def test_what_tvm_makes_wrong(theirs, name, expected):
    text, steps = WRONG[name]
    square = name.startswith("rows")
    first = np.arange(1, 7, dtype=np.int32).reshape(2, 3) if square else np.arange(1, 5, dtype=np.int32)
    empty = [Tensor.empty((3,), INT32)] if square else [Tensor.empty((4,), INT32) for _ in range(2)]
    assert verdict(theirs[name]["text"], [first, *empty]) == expected
    with pytest.raises(Unsupported):
        stepped(steps, text)


def test_the_row_that_is_stored_last_stays(theirs):
    """Row 0 is 3, 5, 7: what the function meant before the step."""
    first, target = np.arange(1, 7, dtype=np.int32).reshape(2, 3), Tensor.empty((3,), INT32)
    module = read(theirs["rows that nobody reads are stored"]["text"], "tvm.py")
    VirtualMachine(build(module, tier="interp"))["main"](first, target)
    assert target.numpy().tolist() == [9, 11, 13]


def test_tvm_ends_when_it_tensorizes():
    """Its own example ends its process too; where it does not any more, `schedule_soak.py` compares."""
    func, words = tiled(0)
    case = {"text": show(func), "steps": [words]}
    done = subprocess.run([PYTHON, str(SIDE)], input=json.dumps([case]), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "s_tir::Tensorize" in done.stderr
    assert applied(func, *words)
