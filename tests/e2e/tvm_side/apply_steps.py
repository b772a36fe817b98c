"""Runs where TVM is: applies steps of TVM's own schedule; JSON on stdin, JSON on stdout. `--lines`: case by case.

In: `[{"text": …, "steps": [["split", "map", 0, [null, 3]], …]}]`; a loop is its place among those around the block.
Out: for each the text of the function after the steps, or `{"refused": …}`.
"""

import json
import sys

import tvm
from tvm.script import from_source

MAPS = {
    "halves": lambda i: (i // 2, i % 2),
    "column halves": lambda i, j: (i, j // 2, j % 2),
    "swap": lambda i, j: (j, i),
    "half": lambda i: (i // 2,),
    "backwards": lambda i: (1 - i,),
}


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
        case "merge":
            schedule.merge(loops[args[0]], schedule.get_loops(get(args[1]))[args[2]])
        case "unroll" | "vectorize" | "parallel":
            getattr(schedule, name)(loops[args[0]])
        case "add_unit_loop" | "compute_inline" | "reverse_compute_inline":
            getattr(schedule, name)(found)
        case "compute_at" | "reverse_compute_at":
            getattr(schedule, name)(found, schedule.get_loops(get(args[0]))[args[1]], *args[2:])
        case "bind" | "annotate" | "rfactor" | "loop_partition":
            getattr(schedule, name)(loops[args[0]], *args[1:])
        case "blockize":
            schedule.blockize([get(one) for one in args[0]] if isinstance(args[0], list) else loops[args[0]])
        case "tensorize":
            desc, impl = (from_source(text) for text in args[1:])
            tvm.s_tir.TensorIntrin.register("of_this_case", desc, impl, override=True)
            schedule.tensorize(loops[args[0]], "of_this_case")
        case "decompose_reduction" | "decompose_padding":
            getattr(schedule, name)(found, loops[args[0]])
        case "read_at" | "write_at":
            getattr(schedule, name)(loops[args[0]], found, *args[1:])
        case _:
            apply_to_buffers(schedule, found, name, *args)


def apply_to_buffers(schedule, block, name, *args):
    match name:
        case "set_scope" | "storage_align" | "cache_inplace" | "cache_index" | "rolling_buffer" | "pad_einsum":
            getattr(schedule, name)(block, *args)
        case "reindex":
            schedule.reindex(block, tuple(args[0]))
        case "cache_read":
            schedule.cache_read(block, args[0], *(args[1:] or ["global"]))
        case "cache_write":
            schedule.cache_write(block, 0, *(args or ["global"]))
        case "reindex_cache_read" | "reindex_cache_write":
            axes = len(schedule.get(block).iter_vars)
            map_ = MAPS[args[2]] if args[2:] else lambda *values: values
            getattr(schedule, name)(block, args[0], args[1], tvm.tirx.IndexMap.from_func(map_, ndim=axes))
        case "transform_layout":
            side, index, key, *pads = args
            pad = tvm.tirx.const(pads[0], "float32") if pads else None
            schedule.transform_layout(block, (side, index), MAPS[key], pad)
        case "transform_block_layout":
            schedule.transform_block_layout(block, lambda axis: (axis // args[0], axis % args[0]))
        case _:
            raise ValueError(f"no step is named {name}")


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
