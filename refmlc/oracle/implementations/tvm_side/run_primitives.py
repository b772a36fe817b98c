"""A module through primitives of TVM's schedule, and what each leaves: the protocol of `run_passes`, in the same way.

| key of the request | is                                                                                     |
|--------------------|----------------------------------------------------------------------------------------|
| `module`           | the text; empty: a program of `library_programs`, drawn from `seed`                    |
| `passes`           | primitives to apply, as texts; null: up to `most` are drawn from `seed`                |
| `seed`, `most`     | of what is drawn                                                                       |

A primitive is a text such as `split('C', 0, (None, 3))`: its name, the block, and its arguments; a loop is its place
among those around the block. Arguments are drawn without regard to what is legal: TVM says yes or no, in its process,
and a primitive that it refuses, or that changes nothing, is drawn anew.
"""

import json
import os
import random
from ast import literal_eval

import tvm
import tvm_ffi
from library_programs import library_program
from line_server import Child, alarm, module_of, name, one_line, read_once, serve
from run_passes import Writer

TRIES = 40  # for a trace, after which it stays as long as it is
BLOCKS_IN_PLACE_OF_A_LOOP = 0.3  # of the times that blockize is drawn
THREADS = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread.x")
SCOPES = ("global", "global", "shared", "local")
FACTORS = ((None, 2), (None, 3), (2, None), (3, None), (None, 2, 2), (None, 4), (5, None), (None, 7), (2, None, 3))
MAPS = {
    "swap": (2, lambda i, j: (j, i)),
    "halves": (1, lambda i: (i // 2, i % 2)),
    "thirds": (1, lambda i: (i // 3, i % 3)),
    "column halves": (2, lambda i, j: (i, j // 2, j % 2)),
    "row quarters": (2, lambda i, j: (i // 4, j, i % 4)),
    "flat": (2, lambda i, j: (i * 16 + j,)),
    "turn": (3, lambda i, j, k: (k, i, j)),
}
INDICES = {
    "same": lambda *values: values,
    "swap": lambda *values: values[::-1],
    "half": lambda i: (i // 2,),
    "backwards": lambda i: (1 - i,),
}
"""Of caches that are indexed anew; the first two are drawn."""


def loops_of(schedule, block):
    """The loops around the block."""
    return schedule.get_loops(schedule.get_sblock(block))


def names_of(schedule):
    """The names of the blocks in the root block."""
    return [schedule.get(block).name_hint for block in schedule.get_child_blocks(schedule.get_sblock("root"))]


def buffer_of(region):
    """The buffer of a region that a block declares: `buffer` before TVM 0.27, `source` since then."""
    return region.source if hasattr(region, "source") else region.buffer


def node_of(schedule, block):
    """The block as a statement."""
    return schedule.get(schedule.get_sblock(block))


# ------------------------------------------------------------------------------- drawn arguments


def a_loop(schedule, rng, block):
    return (rng.randrange(len(loops_of(schedule, block))),)


def a_loop_split(schedule, rng, block):
    return (*a_loop(schedule, rng, block), rng.choice(FACTORS))


def a_partition(schedule, rng, block):
    return (*a_loop(schedule, rng, block), rng.choice(((2, None), (None, 2), (3, None), (1, None), (2, 2, None))))


def two_loops(schedule, rng, block):
    count = len(loops_of(schedule, block))
    first = rng.randrange(count - 1)
    return (tuple(range(first, rng.randint(first + 2, count))),)


def some_loops(schedule, rng, block):
    count = len(loops_of(schedule, block))
    return (tuple(rng.sample(range(count), rng.randint(2, count))),)


def a_thread(schedule, rng, block):
    return (*a_loop(schedule, rng, block), rng.choice(THREADS))


def a_loop_or_blocks(schedule, rng, block):
    if rng.random() < BLOCKS_IN_PLACE_OF_A_LOOP:
        return (tuple(rng.sample((block, rng.choice(names_of(schedule))), 2)),)
    return a_loop(schedule, rng, block)


def a_loop_of_another(schedule, rng, block):
    (loop,) = a_loop(schedule, rng, block)
    return loop, rng.choice(names_of(schedule)), loop


def a_loop_and_read(schedule, rng, block):
    return (*a_loop(schedule, rng, block), *a_read(schedule, rng, block))


def a_loop_and_write(schedule, rng, block):
    return (*a_loop(schedule, rng, block), *a_write(schedule, rng, block))


def a_read(schedule, rng, block):
    return rng.randrange(len(node_of(schedule, block).reads)), rng.choice(SCOPES)


def a_write(_schedule, rng, _block):
    return 0, rng.choice(SCOPES)


def a_side(schedule, rng, block):
    kind = rng.choice(("read", "write"))
    return ((kind, rng.randrange(len(node_of(schedule, block).reads)) if kind == "read" else 0),)


def nothing(_schedule, _rng, _block):
    return ()


def a_place(schedule, rng, others):
    other = schedule.get(rng.choice(others)).name_hint
    return other, rng.randrange(len(loops_of(schedule, other))), rng.random() < 0.2, rng.choice((-1, -1, -2))


def at_consumer(schedule, rng, block):
    return a_place(schedule, rng, schedule.get_consumers(schedule.get_sblock(block)))


def at_producer(schedule, rng, block):
    return a_place(schedule, rng, schedule.get_producers(schedule.get_sblock(block)))


def a_loop_and_axis(schedule, rng, block):
    return (*a_loop(schedule, rng, block), rng.choice((0, 0, 1)))


def paddings(schedule, rng, block):
    return (tuple(rng.choice((1, 1, 2, 4, 5)) for _ in node_of(schedule, block).iter_vars),)


def alignment(_schedule, rng, _block):
    return 0, rng.choice((0, -2, -1)), rng.choice((4, 8)), rng.choice((0, 1))


def a_layout(schedule, rng, block):
    node = node_of(schedule, block)
    side = rng.choice(("write", "read"))
    index = 0 if side == "write" else rng.randrange(len(node.reads))
    buffer = buffer_of((node.writes if side == "write" else node.reads)[index])
    if not any(buffer.same_as(each) for each in schedule.get(schedule.get_sblock("root")).alloc_buffers):
        raise ValueError("the layout of a parameter is for its caller to know")
    rank = len(buffer.shape)
    pad = rng.choice((None, None, 0, 1))
    return side, index, rng.choice([key for key, (of, _) in MAPS.items() if of == rank]), pad


def a_block_layout(schedule, rng, block):
    rank = len(node_of(schedule, block).iter_vars)
    return (rng.choice([key for key, (of, _) in MAPS.items() if of == rank]),)


def an_order(schedule, rng, block):
    order = list(range(len(node_of(schedule, block).iter_vars)))
    rng.shuffle(order)
    return (tuple(order),)


def a_read_index(schedule, rng, block):
    return rng.randrange(len(node_of(schedule, block).reads)), rng.choice(SCOPES), rng.choice(("same", "swap"))


def a_write_index(_schedule, rng, _block):
    return 0, rng.choice(SCOPES), rng.choice(("same", "swap"))


def a_scope_and_threshold(_schedule, rng, _block):
    return rng.choice(SCOPES), rng.choice((0, 0, 1, 3))


def first_write(_schedule, _rng, _block):
    return (0,)


def a_producer(schedule, rng, block):
    return (schedule.get(rng.choice(schedule.get_producers(schedule.get_sblock(block)))).name_hint,)


# --------------------------------------------------------------------------------------------------- applied


def with_loop(method):
    return lambda schedule, block, loop, *rest: getattr(schedule, method)(loops_of(schedule, block)[loop], *rest)


def with_loops(method):
    def apply(schedule, block, places):
        loops = loops_of(schedule, block)
        getattr(schedule, method)(*(loops[place] for place in places))

    return apply


def with_block(method):
    return lambda schedule, block, *rest: getattr(schedule, method)(schedule.get_sblock(block), *rest)


def with_factors(method):
    return lambda schedule, block, loop, factors: getattr(schedule, method)(
        loops_of(schedule, block)[loop], list(factors)
    )


def with_place(method):
    def apply(schedule, block, other, loop, preserve, index):
        getattr(schedule, method)(schedule.get_sblock(block), loops_of(schedule, other)[loop], preserve, index)

    return apply


def blockized(schedule, block, target):
    blocks = [schedule.get_sblock(name) for name in target] if isinstance(target, tuple) else None
    schedule.blockize(blocks or loops_of(schedule, block)[target])


def merged(schedule, block, loop, other, other_loop):
    schedule.merge(loops_of(schedule, block)[loop], loops_of(schedule, other)[other_loop])


def at_loop(method):
    def apply(schedule, block, loop, index, scope):
        getattr(schedule, method)(loops_of(schedule, block)[loop], schedule.get_sblock(block), index, scope)

    return apply


def annotated(schedule, block, loop):
    schedule.annotate(loops_of(schedule, block)[loop], "pragma_auto_unroll_max_step", 16)


def with_layout(schedule, block, side, index, key, pad=None):
    map_ = MAPS[key][1]
    node = node_of(schedule, block)
    dtype = buffer_of((node.writes if side == "write" else node.reads)[index]).dtype
    value = None if pad is None else tvm.tirx.const(pad, str(dtype))
    schedule.transform_layout(schedule.get_sblock(block), (side, index), map_, value)


def with_block_layout(schedule, block, key):
    schedule.transform_block_layout(schedule.get_sblock(block), MAPS[key][1])


def reindexed(method):
    def apply(schedule, block, index, scope, how):
        axes = len(node_of(schedule, block).iter_vars)
        map_ = tvm.tirx.IndexMap.from_func(INDICES[how], ndim=axes)
        getattr(schedule, method)(schedule.get_sblock(block), index, scope, map_)

    return apply


def decomposed(method):
    return lambda schedule, block, loop: getattr(schedule, method)(
        schedule.get_sblock(block), loops_of(schedule, block)[loop]
    )


def padded(schedule, block, padding):
    schedule.pad_einsum(schedule.get_sblock(block), list(padding))


def ordered(schedule, block, order):
    schedule.reorder_block_iter_var(schedule.get_sblock(block), list(order))


def fused_epilogue(schedule, block, producer):
    schedule.fuse_reduction_epilogue(schedule.get_sblock(producer), schedule.get_sblock(block))


PRIMITIVES = {
    "split": (a_loop_split, with_factors("split")),
    "loop_partition": (a_partition, with_factors("loop_partition")),
    "fuse": (two_loops, with_loops("fuse")),
    "merge": (a_loop_of_another, merged),
    "reorder": (some_loops, with_loops("reorder")),
    "parallel": (a_loop, with_loop("parallel")),
    "vectorize": (a_loop, with_loop("vectorize")),
    "unroll": (a_loop, with_loop("unroll")),
    "bind": (a_thread, with_loop("bind")),
    "cache_read": (a_read, with_block("cache_read")),
    "cache_write": (a_write, with_block("cache_write")),
    "read_at": (a_loop_and_read, at_loop("read_at")),
    "write_at": (a_loop_and_write, at_loop("write_at")),
    "cache_inplace": (a_read, with_block("cache_inplace")),
    "cache_index": (a_scope_and_threshold, with_block("cache_index")),
    "reindex": (a_side, with_block("reindex")),
    "reindex_cache_read": (a_read_index, reindexed("reindex_cache_read")),
    "reindex_cache_write": (
        a_write_index,
        reindexed("reindex_cache_write"),
    ),
    "compute_inline": (nothing, with_block("compute_inline")),
    "reverse_compute_inline": (nothing, with_block("reverse_compute_inline")),
    "compute_at": (at_consumer, with_place("compute_at")),
    "reverse_compute_at": (at_producer, with_place("reverse_compute_at")),
    "decompose_reduction": (a_loop, decomposed("decompose_reduction")),
    "decompose_padding": (a_loop, decomposed("decompose_padding")),
    "rfactor": (a_loop_and_axis, with_loop("rfactor")),
    "pad_einsum": (paddings, padded),
    "storage_align": (alignment, with_block("storage_align")),
    "set_scope": (a_write, with_block("set_scope")),
    "rolling_buffer": (first_write, with_block("rolling_buffer")),
    "transform_layout": (a_layout, with_layout),
    "transform_block_layout": (a_block_layout, with_block_layout),
    "reorder_block_iter_var": (an_order, ordered),
    "blockize": (a_loop_or_blocks, blockized),
    "add_unit_loop": (nothing, with_block("add_unit_loop")),
    "annotate": (a_loop, annotated),
    "fuse_reduction_epilogue": (a_producer, fused_epilogue),
}


def applied(schedule, step):
    """A copy of `schedule` after the primitive that the text `step` spells. Raises what TVM raises."""
    primitive, _, arguments = step.partition("(")
    block, *rest = literal_eval(f"({arguments.removesuffix(')')},)")
    trial = schedule.copy()
    PRIMITIVES[primitive][1](trial, block, *rest)
    return trial


def drawn(schedule, rng, without):
    """The text of a primitive with arguments. Raises what TVM raises for a block that has no such arguments."""
    primitive = rng.choice([name for name in PRIMITIVES if name not in without])
    block = rng.choice(names_of(schedule))
    arguments = (block, *PRIMITIVES[primitive][0](schedule, rng, block))
    return f"{primitive}({', '.join(map(repr, arguments))})"


def through(request, writer):
    """Take the module through its primitives."""
    rng = random.Random(request["seed"])  # noqa: S311 - nothing is secret
    module = module_of(request["module"]) if request["module"] else library_program(rng)
    schedule = tvm.s_tir.Schedule(module, seed=1 + request["seed"] % (1 << 20))
    writer.snapshot("input", schedule.mod)
    if request["passes"] is not None:
        for step in request["passes"]:
            writer.line(within=step)
            schedule = applied(schedule, step)
            writer.snapshot(step, schedule.mod)
        return
    count, most = 0, rng.randint(1, request["most"])
    for _ in range(TRIES):
        if count == most:
            return
        try:
            step = drawn(schedule, rng, request.get("without", ()))
            writer.line(within=step)
            trial = applied(schedule, step)
        except Exception:  # noqa: S112 - TVM refuses in many ways
            continue
        if not tvm_ffi.structural_equal(trial.mod, schedule.mod):
            schedule, count = trial, count + 1
            writer.snapshot(step, schedule.mod)


def written(request):
    """In a child: write the file; the answer."""
    with open(request["file"], "w", encoding="utf-8") as lines, alarm(request["seconds"]):
        writer = Writer(lines)
        try:
            through(request, writer)
        except Exception as problem:
            writer.line(refused=one_line(problem))
        else:
            writer.line(done=True)
    return {"ok": True}


def answer(request):
    """The answer to one request; files lie in the folder that the first one names."""
    if request["do"] == "hello":
        os.chdir(request["folder"])
        return {"name": name(), "passes": True}
    child = Child(lambda _requests, replies: replies.write(json.dumps(written(request)) + "\n"))
    reply = child.answer()
    if child.alive:
        child.close()
    return reply


if __name__ == "__main__":
    read_once()
    serve(answer)
