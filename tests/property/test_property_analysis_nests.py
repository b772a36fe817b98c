"""What is said of initialisation and of moving iterations, against the interpreter on random small functions.

* Where a buffer needs no shadow, no run reports that it was read before it was written; where all of it is said to be
  written, it is when the run ends.
* A nest that may move gives the same bits, and ends as well, when its spatial iterations run in another order.
"""

from itertools import product

import numpy as np
from hypothesis import given, strategies as st
from nest_texts import NestText

from refmlc.diag import RefmlcError
from refmlc.diag.catalogue import UNINITIALISED
from refmlc.lang.dtypes import BOOL, INT32, dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.module import IRModule
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.script import read
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.initialisation import find_initialisation
from refmlc.native.analysis.legality import find_nest
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

PROBLEMS = {"float32": (0.1, -0.0, 1e8, 3.0, -1e8, 0.7), "int32": (0, 1, -7, 2**31 - 1, -(2**31), 46341), "int8": None}


def filled(shape, kind, generator):
    """Random numbers, some of them large."""
    if kind == "int8":
        return generator.integers(-128, 128, shape).astype(kind)
    if generator.integers(0, 3) == 0:
        return generator.integers(-9, 9, shape).astype(kind)
    return generator.choice(np.array(PROBLEMS[kind], kind), shape)


def arguments(program, seed, n, *, empty):
    """A, B filled; C without any value, or filled."""
    generator, kind = np.random.default_rng(seed), program.kind
    a, b, c = (filled(program.actual(name, n), kind, generator) for name in "ABC")
    return (a, b, Tensor.empty(c.shape, dtype(kind)) if empty else Tensor.from_numpy(c))


def run(module, args):
    """How the run ends: None, or the diagnostic."""
    try:
        Machine(module).call("main", args)
    except RefmlcError as failure:
        return failure.diagnostic
    return None


def nests(func, written):
    """The outermost loops of `func`, with what `find_nest` says of them."""
    root = func.body.block.body
    for stmt in root.seq if isinstance(root, tir.SeqStmt) else (root,):
        if isinstance(stmt, tir.For):
            yield stmt, find_nest(stmt, Facts.entry(func), written)


# ------------------------------------------------------------------------------------------- initialisation


def check_written(pick):
    program = NestText(pick, nests=1 + pick(3), symbolic=pick(2) == 1)
    module = read(program.text)
    func = module["main"]
    written = find_initialisation(func)
    end_buffer = list(func.buffer_map.values())[2]
    for n in (program.n, 0, 1, 5) if program.symbolic else (program.n,):
        args = arguments(program, pick(1000), n, empty=True)
        found = run(module, args)
        if found is None:
            assert not written.use_of(end_buffer).covered or args[2].initialised, (n, program.text)
        elif found.code is UNINITIALISED:
            (load,) = [node for node in walk(func.body) if isinstance(node, tir.BufferLoad) and node.span == found.span]
            assert not written.initialised(load), (n, program.text)
            assert written.use_of(load.buffer).tracked, (n, program.text)


@given(st.data())
def test_what_is_not_tracked_is_written_before_it_is_read(data):
    check_written(lambda n: data.draw(st.integers(0, n - 1)))


# ---------------------------------------------------------------------------------------------------- order


def moved(stmt, nest, pick):
    """The nest with its axes as loops in any order, backwards or not, the reductions among them in their order."""
    realize = next(node for node in walk(stmt) if isinstance(node, tir.SBlockRealize))
    axes = list(nest.spatial)
    order = [axes.pop(pick(len(axes))) for _ in range(len(axes))]
    for at, axis in enumerate(nest.reduce):
        least = max((order.index(each) + 1 for each in nest.reduce[:at]), default=0)
        order.insert(least + pick(len(order) - least + 1), axis)
    values, loops = {}, []
    for axis in order:
        var = tir.Var(f"m_{axis.var.name}", INT32)
        back = axis in nest.spatial and pick(2)
        last = tir.IntImm(INT32, axis.extent - 1)
        values[axis.var] = tir.Apply("sub", (last, var), INT32) if back else var
        loops.append((var, axis.extent))
    binds = tuple(values[axis.var] for axis in realize.block.iter_vars)
    body = tir.SBlockRealize(binds, tir.IntImm(BOOL, 1), realize.block)
    for var, extent in reversed(loops):
        body = tir.For(var, tir.IntImm(INT32, 0), tir.IntImm(INT32, extent), ForKind.SERIAL, body)
    return body


def check_offsets(nest):
    """The offsets are those of the indices, and in bounds, at every point of the axes."""
    axes = (*nest.spatial, *nest.reduce)
    places = [(load, offset, load in nest.guarded) for load, offset in nest.offsets.items()]
    places += [(store.node, store.offset, False) for store in (*nest.init, *nest.stores)]
    for point in product(*(range(axis.extent) for axis in axes)):
        env = {axis.var: value for axis, value in zip(axes, point, strict=True)}
        for node, offset, guarded in places:
            at = [evaluate(index, env) for index in node.indices]
            shape = [extent.value for extent in node.buffer.shape]
            inside = all(0 <= index < extent for index, extent in zip(at, shape, strict=True))
            assert inside or guarded, (node, env)
            flat = 0
            for index, extent in zip(at, shape, strict=True):
                flat = flat * extent + index
            assert flat == offset.constant + sum(factor * env[var] for var, factor in offset.terms.items())


def evaluate(expr, env):
    """The value of an index that is affine in the axes, once its remainders and minima are."""
    match expr:
        case tir.Var():
            return env[expr]
        case tir.IntImm():
            return expr.value
        case tir.Apply(op, (a, b)):
            x, y = evaluate(a, env), evaluate(b, env)
            table = {
                "add": x + y,
                "sub": x - y,
                "mul": x * y,
                "min": min(x, y),
                "floordiv": y and x // y,
                "floormod": y and x % y,
            }
            return table[op]
    raise TypeError(expr)


def check_order(pick):
    program = NestText(pick, nests=1 + pick(2))
    module = read(program.text)
    func = module["main"]
    found = [(stmt, nest) for stmt, nest in nests(func, find_initialisation(func)) if not isinstance(nest, str)]
    if not found:
        return False
    table = {}
    for stmt, nest in found:
        check_offsets(nest)
        table[stmt] = moved(stmt, nest, pick)
    other = rewrite(func, lambda node: table.get(node, node))
    seed = pick(1000)
    results = []
    for version in (module, IRModule({"main": other})):
        args = arguments(program, seed, program.n, empty=False)
        results.append((run(version, args), args[2].numpy()))
    (end, bits), (other_end, other_bits) = results
    assert (end is None) == (other_end is None), program.text
    if end is None:
        assert np.array_equal(bits.view("u1"), other_bits.view("u1")) or equal_but_nan(bits, other_bits), program.text
    elif len(found) == len(list(nests(func, find_initialisation(func)))):
        raise AssertionError(program.text)  # all nests may move, so nothing is undefined in any
    return True


def equal_but_nan(a, b):
    """NaN is one class."""
    return a.dtype.kind == "f" and bool(((a.view("u4") == b.view("u4")) | (np.isnan(a) & np.isnan(b))).all())


@given(st.data())
def test_iterations_that_may_move_give_the_same_bits_in_another_order(data):
    check_order(lambda n: data.draw(st.integers(0, n - 1)))
