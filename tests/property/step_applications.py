"""Applications of steps of schedules: a generated function, and the words of a step, for our schedule and for TVM's.

| words                                          | mean                                                            |
|------------------------------------------------|-----------------------------------------------------------------|
| `["split", "second", 0, [null, 3]]`            | the loop 0 of those around `second`, outermost first            |
| `["fuse", "second", [0, 1]]`, `reorder`        | these loops, in this order                                      |
| `["compute_at", "first", "second", 1, true]`   | into loop 1 around `second`, loops of one iteration kept        |
| `["cache_read", "second", "A", "shared"]`      | the buffer of this name, and the scope: global where it is none |
| `["sample_perfect_tile", "first", 1, [2, 3], 8]` | split by a drawn tile, the decision being these factors         |
| `["tensorize", "first", 2, DESC, IMPL]`        | texts of a description and an implementation                    |

`draw(name, seed)` gives one that may be legal or not; `applied` is ours.
"""

import random
from dataclasses import dataclass

from pipelines import pipeline
from tiled_intrinsics import tiled

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.reader_checks import read
from refmlc.rewrite import schedule
from refmlc.rewrite.schedule.places import places

BLOCKS = ("first", "second", "third")
PREPARING = ("split", "fuse", "reorder", "parallel", "unroll")
OURS_ONLY = ("serial", "drop_unit_loop")  # TVM's schedule has no such step
FORCIBLE = ("reorder", "parallel", "vectorize", "bind", "compute_at", "reverse_compute_at")  # have `checked=False`
STEPS = (
    "split", "fuse", "reorder", "parallel", "vectorize", "unroll", "serial", "bind", "add_unit_loop", "drop_unit_loop",
    "compute_inline", "reverse_compute_inline", "compute_at", "reverse_compute_at", "cache_read", "cache_write",
    "decompose_reduction", "rfactor", "blockize", "tensorize", "annotate", "set_scope", "storage_align",
    "sample_perfect_tile", "sample_partitioned_tile",
)  # fmt: skip


@dataclass(frozen=True)
class Application:
    """A step, and the function that it is taken on."""

    seed: int
    func: tir.PrimFunc
    words: list


def draw(name, seed, make=pipeline):
    """An application of the step to a function that `make` makes; None where the function has no such place."""
    if name == "tensorize":
        func, words = tiled(seed)
        return Application(seed, func, words)
    rng = random.Random(f"{name}/{seed}")  # noqa: S311 - a seed, no secret
    func = prepared(make(seed), rng)
    words = _words(name, func, rng)
    return None if words is None else Application(seed, func, [name, *words])


def _words(name, func, rng):
    """What the step is applied to; None: nothing in this function."""
    block = rng.choice(BLOCKS)
    if name in ("decompose_reduction", "rfactor"):
        block = next((one for one in BLOCKS if schedule.get_block(func, one).block.init is not None), None)
        if block is None:
            return None
    depth = len(schedule.get_loops(func, block))
    loop = rng.randrange(depth)
    match name:
        case "split":
            return [block, loop, [None, rng.choice((1, 2, 3, 4))]]
        case "fuse":
            return [block, [loop, loop + 1]] if loop + 1 < depth else None
        case "reorder":
            order = rng.sample(range(depth), rng.randint(min(depth, 2), depth))
            return [block, order] if order != sorted(order) else None
        case "bind":
            return [block, loop, rng.choice(("threadIdx.x", "blockIdx.x"))]
        case "sample_perfect_tile" | "sample_partitioned_tile":
            extent = schedule.get_loop(func, schedule.get_loops(func, block)[loop]).extent.value
            inner = rng.choice([factor for factor in range(1, extent + 1) if extent % factor == 0])
            return [block, loop, [extent // inner, inner], rng.choice((inner, inner, max(1, inner - 1)))]
        case "annotate":
            return [block, loop, "pragma_auto_unroll_max_step", 16]
        case "compute_at" | "reverse_compute_at":
            other = rng.choice([one for one in BLOCKS if one != block])
            return [block, other, rng.randrange(len(schedule.get_loops(func, other))), rng.random() < 0.3]
        case "cache_read":
            found = schedule.get_block(func, block)
            return [
                block,
                rng.choice(sorted({one.buffer.name for one in walk(found) if isinstance(one, tir.BufferLoad)})),
            ]
        case "rfactor":
            return [block, loop, rng.choice((0, 1, -1))]
        case "set_scope":
            return [block, 0, rng.choice(("shared", "local"))]
        case "storage_align":
            return [block, 0, rng.choice((0, 1)), 32, 8]
        case "parallel" | "vectorize" | "unroll" | "serial" | "decompose_reduction" | "blockize":
            return [block, loop]
        case _:
            return [block]


def prepared(func, rng):
    """The function after up to two steps that change its loops."""
    for _ in range(rng.choice((0, 0, 1, 2))):
        found = [place.stmt for place in places(func.body) if isinstance(place.stmt, tir.For)]
        name, loop = rng.choice(PREPARING), rng.choice(found)
        try:
            if name == "split":
                func = schedule.split(func, loop.loop_var, [None, rng.choice((2, 3, 4))])[0]
            elif name in ("fuse", "reorder") and isinstance(loop.body, tir.For):
                outer, inner = loop.loop_var, loop.body.loop_var
                fused = name == "fuse"
                func = schedule.fuse(func, outer, inner)[0] if fused else schedule.reorder(func, [inner, outer])
            elif name in ("parallel", "unroll"):
                func = getattr(schedule, name)(func, loop.loop_var)
        except RefmlcError:
            continue
    return func


def applied(func, name, block, *args, checked=True):
    """Our step for these words. Fails: RM112, RM504."""
    loops = schedule.get_loops(func, block)
    options = {} if checked else {"checked": False}
    match name:
        case "split":
            return schedule.split(func, loops[args[0]], args[1])[0]
        case "fuse":
            return schedule.fuse(func, *(loops[place] for place in args[0]))[0]
        case "reorder":
            return schedule.reorder(func, [loops[place] for place in args[0]], **options)
        case "sample_perfect_tile" | "sample_partitioned_tile":
            return _tiled(func, name, block, *args)
        case "unroll" | "serial":
            return getattr(schedule, name)(func, loops[args[0]])
        case "vectorize" | "parallel":
            return getattr(schedule, name)(func, loops[args[0]], **options)
        case "compute_at" | "reverse_compute_at":
            target, unit = schedule.get_loops(func, args[0])[args[1]], [*args[2:]] == [True]
            return getattr(schedule, name)(func, block, target, preserve_unit_loops=unit, **options)
        case "bind":
            return schedule.bind(func, loops[args[0]], args[1], **options)
        case "annotate":
            return schedule.annotate(func, loops[args[0]], *args[1:])
        case "set_scope" | "storage_align":
            return getattr(schedule, name)(func, block, *args)
        case "rfactor":
            if len(loops) <= args[0]:
                raise fail(BAD_USAGE, f"`{block}` has no loop {args[0]}")
            return schedule.rfactor(func, block, loops[args[0]], args[1])[0]
        case "cache_read":
            loads = [one for one in walk(schedule.get_block(func, block)) if isinstance(one, tir.BufferLoad)]
            buffer = next(one.buffer for one in loads if one.buffer.name == args[0])
            return schedule.cache_read(func, block, buffer, *args[1:])
        case "cache_write":
            return schedule.cache_write(func, block, *args)
        case "decompose_reduction":
            return schedule.decompose_reduction(func, block, loops[args[0]])
        case "blockize":
            return schedule.blockize(func, loops[args[0]])[0]
        case "tensorize":
            desc, impl = (read(text, "intrin.py")["main"] for text in args[1:])
            return schedule.tensorize(func, loops[args[0]], schedule.TensorIntrin(desc, impl))[0]
        case "add_unit_loop":
            return schedule.add_unit_loop(func, block)[0]
        case "drop_unit_loop":
            return schedule.drop_unit_loop(*schedule.add_unit_loop(func, block))
        case _:
            return getattr(schedule, name)(func, block)


def _tiled(func, name, block, loop, factors, most):
    """Split by what is drawn; of a partitioned tile, `most` divides the inner factor."""
    drawing = schedule.Schedule(IRModule({"main": func}))
    target = drawing.get_loops(block)[loop]
    options = (1, most) if name == "sample_partitioned_tile" else (most,)
    drawing.split(target, getattr(drawing, name)(target, 2, *options, decision=factors))
    return drawing.mod["main"]
