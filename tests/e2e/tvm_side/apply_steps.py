"""Runs where TVM is: applies steps of TVM's own schedule; JSON on stdin, JSON on stdout. `--lines`: case by case.

In: `[{"text": …, "steps": [["split", "map", 0, [null, 3]], …]}]`; a loop is its place among those around the block.
Out: for each the text of the function after the steps, or `{"refused": …}`.
"""

import json
import sys

import tvm
from tvm.script import from_source


def schedule_of(text):
    module = tvm.IRModule({"main": from_source(text)})
    try:
        return tvm.s_tir.Schedule(module)
    except AttributeError:
        return tvm.tir.Schedule(module)


def apply(schedule, name, block, *args):
    get = getattr(schedule, "get_sblock", None) or schedule.get_block
    found = get(block)
    loops = schedule.get_loops(found)
    match name:
        case "split":
            schedule.split(loops[args[0]], factors=args[1])
        case "sample_perfect_tile" | "sample_partitioned_tile":
            options = (1, args[2]) if name == "sample_partitioned_tile" else (args[2],)
            loop = loops[args[0]]
            schedule.split(loop, getattr(schedule, name)(loop, 2, *options, decision=args[1]))
        case "fuse" | "reorder":
            getattr(schedule, name)(*(loops[place] for place in args[0]))
        case "unroll" | "vectorize" | "parallel":
            getattr(schedule, name)(loops[args[0]])
        case "add_unit_loop" | "compute_inline" | "reverse_compute_inline":
            getattr(schedule, name)(found)
        case "compute_at" | "reverse_compute_at":
            getattr(schedule, name)(found, schedule.get_loops(get(args[0]))[args[1]], *args[2:])
        case "bind" | "annotate":
            getattr(schedule, name)(loops[args[0]], *args[1:])
        case "set_scope" | "storage_align":
            getattr(schedule, name)(found, *args)
        case "blockize":
            schedule.blockize(loops[args[0]])
        case "tensorize":
            desc, impl = (from_source(text) for text in args[1:])
            tvm.s_tir.TensorIntrin.register("of_this_case", desc, impl, override=True)
            schedule.tensorize(loops[args[0]], "of_this_case")
        case "rfactor":
            schedule.rfactor(loops[args[0]], args[1])
        case "loop_partition":
            schedule.loop_partition(loops[args[0]], args[1])
        case "pad_einsum":
            schedule.pad_einsum(found, args[0])
        case "reindex":
            schedule.reindex(found, tuple(args[0]))
        case "cache_read":
            schedule.cache_read(found, args[0], *(args[1:] or ["global"]))
        case "reindex_cache_read" | "reindex_cache_write":
            axes = len(schedule.get(found).iter_vars)
            same = tvm.tirx.IndexMap.from_func(lambda *values: values, ndim=axes)
            getattr(schedule, name)(found, args[0], args[1], same)
        case "transform_block_layout":
            schedule.transform_block_layout(found, lambda axis: (axis // args[0], axis % args[0]))
        case "cache_inplace" | "cache_index":
            getattr(schedule, name)(found, *args)
        case "cache_write":
            schedule.cache_write(found, 0, *(args or ["global"]))
        case "decompose_reduction":
            schedule.decompose_reduction(found, loops[args[0]])


def result(case):
    schedule = schedule_of(case["text"])
    try:
        for step in case["steps"]:
            apply(schedule, *step)
    except Exception as failure:
        lines = str(failure).splitlines() or [type(failure).__name__]
        said = [line for line in lines if line.startswith("Error message")]
        return {"refused": said[0] if said else lines[0]}
    try:
        return {"text": schedule.mod["main"].script()}
    except Exception as failure:
        return {"unprintable": str(failure).splitlines()[-1]}


def main():
    if "--lines" not in sys.argv:
        json.dump([result(case) for case in json.load(sys.stdin)], sys.stdout)
        return
    for line in sys.stdin:
        sys.stdout.write(json.dumps(result(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
