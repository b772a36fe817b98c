"""Running what is fused by hand: the C function gets arrays, fresh outputs and a workspace of exactly its size."""

from dataclasses import dataclass

import numpy as np

from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import known
from refmlc.lang.script import read
from refmlc.native.compile import build, ffi
from refmlc.native.emit import emit_module
from refmlc.native.fuse import fuse_module, fuse_static
from refmlc.native.options import Options
from refmlc.native.unit import Status

PRELUDE = """
from tvm.script import ir as I, tirx as T, relax as R

@I.ir_module
class Module:
"""

ADD = """
    @T.prim_func(private=True)
    def add(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("add"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + B[v]
"""
TWICE = """
    @T.prim_func(private=True)
    def twice(a: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("twice"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] * T.float32(2)
"""
SCATTER = """
    @T.prim_func(private=True)
    def scatter(a: T.handle, p: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        P = T.match_buffer(p, (n,), "int64")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("scatter"):
                v = T.axis.spatial(n, i)
                C[P[v]] = A[v]
"""
SPLIT = """
    @T.prim_func(private=True)
    def split(a: T.handle, c: T.handle, d: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        D = T.match_buffer(d, (n,), "float32")
        for i in range(n):
            with T.sblock("split"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + T.float32(1)
                D[v] = A[v] - T.float32(1)
"""
INCREASE = """
    @T.prim_func(private=True)
    def increase(a: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        for i in range(n):
            with T.sblock("increase"):
                v = T.axis.spatial(n, i)
                A[v] = A[v] + T.float32(1)
"""
F = 'R.Tensor((n,), "float32")'


def module(functions, params, body, result, returns=None):
    """A module with `functions` and `main(params)`, whose dataflow block holds the lines of `body`."""
    lines = "".join(f"            {line}\n" for line in body)
    declared = ", ".join(f"{name}: {ty}" for name, ty in params.items())
    dims = [name for name in ("n", "m") if f"({name},)" in declared]
    for name in dims:
        declared = declared.replace(f"({name},)", f'("{name}",)')
    lines = "".join(f"            {name} = T.int64()\n" for name in dims) + lines
    text = (
        f"{PRELUDE}{functions}\n"
        f"    @R.function\n    def main({declared}):\n"
        f"        cls = Module\n        with R.dataflow():\n{lines}"
        f"            R.output({result})\n        return {returns or result}\n"
    )
    return read(text, "fused.py")


def plan(mod):
    """What is fused in `mod`, and the text of all of it."""
    source = emit_module(mod, Options())
    assert not source.declined, source.declined
    fused = fuse_module(mod, source)
    return fused, source.text + fused.text


@dataclass
class Ran:
    """How a run ended: the status, the call and check that it ended in, the outputs by name, memory that is left."""

    status: Status
    call: int
    outputs: dict
    memory: int


def values_of(run, dims):
    """The dimensions of a run by their variables, of `dims` by their names."""
    nodes = (node for expr in every_expr(run) for node in walk(expr))
    return {node: dims[node.name] for node in nodes if getattr(node, "name", None) in dims}


def execute(mod, arrays, number=0, memory=1 << 30, fuel=1 << 40, *, static=False, **dims):
    """Run number `number` of `mod` on `arrays` by the names of variables, `dims` by the names of dimensions.

    `static`: the C that is made for these very dimensions.
    """
    fused, text = plan(mod)
    run = fused.runs[number]
    values = values_of(run, dims)
    assert all(known(one, values) == known(other, values) for one, other in run.equal)
    if static:
        made = fuse_static(mod, emit_module(mod, Options()), run, lambda expr: known(expr, values), Options())
        text, run, values = made.text, made.runs[0], {}
    pointer = "void *"
    types = [pointer] * (len(run.inputs) + len(run.outputs) + 1) + ["int64_t"] * len(run.numbers)
    function = build(text, Options().isa, cache=None).function(
        run.symbol, f"int64_t (*)({', '.join(['rm_run *', *types])})"
    )
    given = []
    for operand in run.inputs:
        constant = isinstance(operand.value, relax.Constant)
        array = operand.value.data if constant else arrays[operand.value.name]
        assert array.shape == tuple(known(extent, values) for extent in operand.shape)
        given.append(np.array(array))
    before = [array.copy() for array in given]
    outputs = {
        operand.value.name: np.full([known(part, values) for part in operand.shape], 99, storage_dtype(operand.dtype))
        for operand in run.outputs
    }
    size = known(run.workspace, values)
    room = np.full(size + 64, 0xA5, np.uint8)
    start = -room.ctypes.data % 64
    state = ffi().new("rm_run *")
    state.memory, state.fuel = memory, fuel
    passed = [ffi().cast(pointer, array.ctypes.data) for array in (*given, *outputs.values(), room[start:])]
    status = function(state, *passed, *(known(expr, values) for expr in run.numbers))
    assert all(np.array_equal(array, kept) for array, kept in zip(given, before, strict=True))
    assert (room[start + size :] == 0xA5).all()
    return Ran(Status(status), state.site >> 32, outputs, state.memory)


def every_expr(run):
    """All expressions of a run."""
    for operand in (*run.inputs, *run.outputs):
        yield from operand.shape
    yield from run.numbers
    for pair in run.equal:
        yield from pair
    yield run.workspace
    yield run.allocated
