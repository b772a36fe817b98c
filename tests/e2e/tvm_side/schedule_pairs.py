"""Runs where TVM is: 27 operators as tensor expressions, and each after random traces of TVM's own schedule.

`schedule_pairs.py [--traces 8] [--seed 0]` writes a line of JSON per trace: `operator`, `trace` (the primitives that
TVM took), `before` and `after` (texts with their metadata). What TVM refuses is drawn anew. Each trace has a process of
its own: where TVM's process ends by a signal, a line with `signal` stands in its place.
"""

import argparse
import json
import os
import random
import sys

import tvm
import tvm_ffi
from tvm import te, tirx, topi
from tvm.s_tir import Schedule

MOST_PRIMITIVES = 6
DRAWS = 60  # for a trace, after which it stays as long as it is
THREADS = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread.x")
SCOPES = ("global", "shared", "local")


# ------------------------------------------------------------------------------------------------ operators


def tensor(name, *shape, dtype="float32"):
    return te.placeholder(shape, name=name, dtype=dtype)


def axis(extent, name="k"):
    return te.reduce_axis((0, extent), name=name)


def matmul():
    a, b, k = tensor("A", 6, 8), tensor("B", 8, 4), axis(8)
    return a, b, te.compute((6, 4), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def matmul_transposed():
    a, b, k = tensor("A", 6, 8), tensor("B", 4, 8), axis(8)
    return a, b, te.compute((6, 4), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), name="C")


def matmul_of_bytes():
    a, b, k = tensor("A", 4, 8, dtype="int8"), tensor("B", 8, 4, dtype="int8"), axis(8)
    product = te.compute(
        (4, 4), lambda i, j: te.sum(a[i, k].astype("int32") * b[k, j].astype("int32"), axis=k), name="C"
    )
    return a, b, product


def dense_with_bias():
    a, b, bias, k = tensor("A", 4, 8), tensor("B", 6, 8), tensor("bias", 6), axis(8)
    product = te.compute((4, 6), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), name="product")
    shifted = te.compute((4, 6), lambda i, j: product[i, j] + bias[j], name="shifted")
    return a, b, bias, te.compute((4, 6), lambda i, j: te.max(shifted[i, j], tirx.const(0.0, "float32")), name="relu")


def batch_matmul():
    a, b = tensor("A", 2, 4, 6), tensor("B", 2, 3, 6)
    return a, b, topi.nn.batch_matmul(a, b)


def matrix_vector():
    a, x, k = tensor("A", 8, 6), tensor("x", 6), axis(6)
    return a, x, te.compute((8,), lambda i: te.sum(a[i, k] * x[k], axis=k), name="y")


def conv1d():
    x, w = tensor("X", 1, 3, 8), tensor("W", 2, 3, 3)
    return x, w, topi.nn.conv1d(x, w, 1, 1, 1)


def conv2d():
    x, w = tensor("X", 1, 2, 5, 5), tensor("W", 2, 2, 3, 3)
    return x, w, topi.nn.conv2d(x, w, 1, 1, 1, "NCHW")


def depthwise_conv2d():
    x, w = tensor("X", 1, 3, 5, 5), tensor("W", 3, 1, 3, 3)
    return x, w, topi.nn.depthwise_conv2d_nchw(x, w, (1, 1), (1, 1), (1, 1))


def conv2d_transpose():
    x, w = tensor("X", 1, 2, 3, 3), tensor("W", 2, 2, 2, 2)
    return x, w, topi.nn.conv2d_transpose_nchw(x, w, (2, 2), (0, 0), "float32", (0, 0))


def max_pool():
    x = tensor("X", 1, 2, 6, 6)
    return x, topi.nn.pool2d(x, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "max")


def average_pool():
    x = tensor("X", 1, 2, 6, 6)
    return x, topi.nn.pool2d(x, (3, 3), (2, 2), (1, 1), (1, 1, 1, 1), "avg")


def softmax():
    x = tensor("X", 4, 6)
    return x, topi.nn.softmax(x, axis=1)


def layer_norm():
    x, gamma, beta = tensor("X", 4, 6), tensor("gamma", 6), tensor("beta", 6)
    return x, gamma, beta, topi.nn.layer_norm(x, gamma, beta, [1])


def rms_norm():
    x, gamma = tensor("X", 4, 6), tensor("gamma", 6)
    return x, gamma, topi.nn.rms_norm(x, gamma, [1])


def row_sum():
    x = tensor("X", 6, 8)
    return x, topi.sum(x, axis=1)


def column_max():
    x = tensor("X", 6, 8)
    return x, topi.max(x, axis=0)


def argmax():
    x = tensor("X", 4, 6)
    return x, topi.argmax(x, axis=1)


def transpose():
    x = tensor("X", 6, 8)
    return x, topi.transpose(x)


def concatenate():
    x, y = tensor("X", 4, 6), tensor("Y", 3, 6)
    return x, y, topi.concatenate((x, y), axis=0)


def take():
    x, rows = tensor("X", 6, 8), tensor("rows", 4, dtype="int32")
    return x, rows, topi.take(x, rows, axis=0, mode="clip")


def gelu():
    x = tensor("X", 6, 8)
    half = te.compute((6, 8), lambda i, j: x[i, j] * tirx.const(0.5, "float32"), name="half")
    curve = te.compute((6, 8), lambda i, j: tirx.erf(x[i, j] * tirx.const(0.70710677, "float32")), name="curve")
    return x, te.compute((6, 8), lambda i, j: half[i, j] + half[i, j] * curve[i, j], name="gelu")


def pad():
    x = tensor("X", 5, 6)
    return x, topi.nn.pad(x, (1, 2), (0, 1))


def strided_slice():
    x = tensor("X", 8, 6)
    return x, topi.strided_slice(x, [1, 0], [7, 6], [2, 1])


def clipped_difference():
    x, y = tensor("X", 6, 4, dtype="int32"), tensor("Y", 4, dtype="int32")
    return x, y, topi.clip(topi.subtract(x, y), -100, 100)


def half_precision():
    x, y = tensor("X", 6, 8, dtype="float16"), tensor("Y", 6, 8, dtype="float16")
    return x, y, topi.cast(topi.multiply(topi.cast(x, "float32"), topi.cast(y, "float32")), "float16")


def upsampling():
    x = tensor("X", 1, 2, 3, 3)
    return x, te.compute((1, 2, 6, 6), lambda n, c, h, w: x[n, c, h // 2, w // 2], name="upsampled")


OPERATORS = (
    *(matmul, matmul_transposed, matmul_of_bytes, dense_with_bias, batch_matmul, matrix_vector, conv1d, conv2d),
    *(depthwise_conv2d, conv2d_transpose, max_pool, average_pool, softmax, layer_norm, rms_norm, row_sum, column_max),
    *(argmax, transpose, concatenate, take, gelu, pad, strided_slice, clipped_difference, half_precision, upsampling),
)


# ------------------------------------------------------------------------------------------------ primitives


def split(schedule, rng, block):
    loop = rng.choice(schedule.get_loops(block))
    schedule.split(loop, rng.choice(([None, 2], [None, 3], [2, None], [None, 2, 2], [None, 4])))


def fuse(schedule, rng, block):
    loops = schedule.get_loops(block)
    first = rng.randrange(len(loops) - 1)
    schedule.fuse(*loops[first : first + 2])


def reorder(schedule, rng, block):
    loops = schedule.get_loops(block)
    schedule.reorder(*rng.sample(loops, rng.randint(2, len(loops))))


def tile(schedule, rng, block):
    loop = rng.choice(schedule.get_loops(block))
    schedule.split(loop, schedule.sample_perfect_tile(loop, 2, 4))


def parallel(schedule, rng, block):
    schedule.parallel(rng.choice(schedule.get_loops(block)))


def vectorize(schedule, rng, block):
    schedule.vectorize(rng.choice(schedule.get_loops(block)))


def unroll(schedule, rng, block):
    schedule.unroll(rng.choice(schedule.get_loops(block)))


def bind(schedule, rng, block):
    schedule.bind(rng.choice(schedule.get_loops(block)), rng.choice(THREADS))


def cache_read(schedule, rng, block):
    schedule.cache_read(block, rng.randrange(len(schedule.get(block).reads)), rng.choice(SCOPES))


def cache_write(schedule, rng, block):
    schedule.cache_write(block, 0, rng.choice(SCOPES))


def reindex(schedule, rng, block):
    kind = rng.choice(("read", "write"))
    schedule.reindex(block, (kind, rng.randrange(len(schedule.get(block).reads)) if kind == "read" else 0))


def compute_inline(schedule, _rng, block):
    schedule.compute_inline(block)


def reverse_compute_inline(schedule, _rng, block):
    schedule.reverse_compute_inline(block)


def compute_at(schedule, rng, block):
    consumer = rng.choice(schedule.get_consumers(block))
    schedule.compute_at(block, rng.choice(schedule.get_loops(consumer)), rng.random() < 0.3)


def reverse_compute_at(schedule, rng, block):
    producer = rng.choice(schedule.get_producers(block))
    schedule.reverse_compute_at(block, rng.choice(schedule.get_loops(producer)), rng.random() < 0.3)


def decompose_reduction(schedule, rng, block):
    schedule.decompose_reduction(block, rng.choice(schedule.get_loops(block)))


def decompose_padding(schedule, rng, block):
    schedule.decompose_padding(block, rng.choice(schedule.get_loops(block)))


def rfactor(schedule, rng, block):
    schedule.rfactor(rng.choice(schedule.get_loops(block)), 0)


def pad_einsum(schedule, rng, block):
    schedule.pad_einsum(block, [rng.choice((1, 4, 5)) for _ in schedule.get(block).iter_vars])


def storage_align(schedule, rng, block):
    schedule.storage_align(block, 0, rng.choice((0, -2, -1)), rng.choice((4, 8)), rng.choice((0, 1)))


def set_scope(schedule, rng, block):
    schedule.set_scope(block, 0, rng.choice(SCOPES))


def transform_layout(schedule, rng, block):
    maps = {
        1: [lambda i: (i // 2, i % 2)],
        2: [lambda i, j: (j, i), lambda i, j: (i // 2, j, i % 2), lambda i, j: (i, j // 4, j % 4)],
        3: [lambda i, j, k: (k, i, j), lambda i, j, k: (i, j * k, k)],
        4: [lambda n, c, h, w: (n, h, w, c), lambda n, c, h, w: (n, c // 2, h, w, c % 2)],
    }
    rank = len(schedule.get(block).writes[0].buffer.shape)
    schedule.transform_layout(block, ("write", 0), rng.choice(maps[rank]))


def transform_block_layout(schedule, rng, block):
    maps = {2: [lambda i, j: (i * 16 + j,), lambda i, j: (j, i)], 3: [lambda i, j, k: (j, i, k)]}
    schedule.transform_block_layout(block, rng.choice(maps[len(schedule.get(block).iter_vars)]))


def reorder_block_iter_var(schedule, rng, block):
    order = list(range(len(schedule.get(block).iter_vars)))
    rng.shuffle(order)
    schedule.reorder_block_iter_var(block, order)


def blockize(schedule, rng, block):
    schedule.blockize(rng.choice(schedule.get_loops(block)))


def add_unit_loop(schedule, _rng, block):
    schedule.add_unit_loop(block)


def annotate(schedule, rng, block):
    schedule.annotate(rng.choice(schedule.get_loops(block)), "pragma_auto_unroll_max_step", 16)


def loop_partition(schedule, rng, block):
    schedule.loop_partition(rng.choice(schedule.get_loops(block)), [2, None])


PRIMITIVES = (
    *(split, fuse, reorder, tile, parallel, vectorize, unroll, bind, cache_read, cache_write, reindex, compute_inline),
    *(reverse_compute_inline, compute_at, reverse_compute_at, decompose_reduction, decompose_padding, rfactor),
    *(pad_einsum, storage_align, set_scope, transform_layout, transform_block_layout, reorder_block_iter_var, blockize),
    *(add_unit_loop, annotate, loop_partition),
)


def blocks(schedule):
    """The blocks that compute something."""
    return schedule.get_child_blocks(schedule.get_sblock("root"))


def traced(module, rng):
    """A schedule of up to `MOST_PRIMITIVES` primitives, and their names."""
    schedule, names, count = Schedule(module, seed=rng.randrange(1, 2**30)), [], rng.randint(1, MOST_PRIMITIVES)
    for _ in range(DRAWS):
        if len(names) == count:
            break
        trial, primitive = schedule.copy(), rng.choice(PRIMITIVES)
        try:
            primitive(trial, rng, rng.choice(blocks(trial)))
        except Exception:  # noqa: S112 - TVM refuses in many ways
            continue
        if not tvm_ffi.structural_equal(trial.mod, schedule.mod):
            schedule, names = trial, [*names, primitive.__name__]
    return schedule, names


def pair(operator, rng):
    """An operator before and after a trace, as a line; empty where TVM takes no primitive."""
    func = te.create_prim_func(list(operator())).with_attr("global_symbol", "main")
    module = tvm.IRModule({"main": func})
    schedule, names = traced(module, rng)
    texts = {"before": module.script(show_meta=True), "after": schedule.mod.script(show_meta=True)}
    return json.dumps({"operator": operator.__name__, "trace": names, **texts}) + "\n" if names else ""


def write_apart(operator, rng):
    """Write the line of a pair from a process of its own."""
    child = os.fork()
    if child == 0:
        sys.stdout.write(pair(operator, rng))
        sys.stdout.flush()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        sys.stdout.write(json.dumps({"operator": operator.__name__, "signal": os.WTERMSIG(status)}) + "\n")
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=8, help="of each operator")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for number in range(options.traces):
        for operator in OPERATORS:
            write_apart(operator, random.Random(f"{options.seed}/{operator.__name__}/{number}"))


if __name__ == "__main__":
    main()
