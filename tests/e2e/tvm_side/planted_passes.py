"""Runs under TVM's Python: kernels lowered pass by pass, with a fault put into what one of the passes gives.

The fault is put into the text of the module, which TVM reads again. Prints one JSON object a line: `program`, `fault`,
`planted` (the pass), `lines` (the snapshots as `refmlc passes` takes them). A fault that finds no place in a stage is
left out.

| fault             | does                                                                |
|-------------------|---------------------------------------------------------------------|
| `drop predicate`  | a condition of an `if` or of a block becomes true                   |
| `swap operands`   | a - b becomes b - a, a // b becomes b // a                          |
| `skip cast`       | a value that is cast to another dtype and back is left as it is     |
| `wrong operator`  | a + b becomes a - b, where a value is stored                        |
| `shorter loop`    | the first loop loses its last iteration                             |
"""

import json
import re
import sys

import tvm
from tvm import s_tir, te, tirx
from tvm.script import from_source

PASSES = (
    "s_tir.CanonicalizeLoop",
    "s_tir.LowerInitBlock",
    "s_tir.PlanAndUpdateBufferAllocationLocation",
    "s_tir.ConvertBlocksToOpaque",
    "s_tir.CompactBufferAllocation",
    "s_tir.LowerMatchBuffer",
    "s_tir.StmtSimplify",
    "s_tir.LowerOpaqueBlock",
    "tirx.FlattenBuffer",
    "tirx.NarrowDataType",
    "s_tir.LoopPartition",
    "tirx.VectorizeLoop",
    "tirx.StorageRewrite",
    "tirx.UnrollLoop",
    "s_tir.RenormalizeSplitPattern",
    "tirx.RemoveNoOp",
    "tirx.CommonSubexprElim",
)


def programs():
    """Small kernels whose faults show: a tail, a difference, a cast, a reduction, two blocks."""
    a = te.placeholder((10,), "int32", name="A")
    b = te.placeholder((10,), "int32", name="B")
    difference = te.compute((10,), lambda i: a[i] - b[i] * 3 + 7, name="D")
    m, n = (te.placeholder((5, 6), "int32", name=name) for name in "MN")
    k = te.reduce_axis((0, 6), name="k")
    product = te.compute((5, 5), lambda i, j: te.sum(m[i, k] * n[j, k] - m[i, k], axis=k), name="P")
    narrow = te.compute((10,), lambda i: a[i].astype("int8").astype("int32") + b[i], name="W")
    first = te.compute((10,), lambda i: a[i] + b[i], name="F")
    second = te.compute((10,), lambda i: first[i] * first[i] - a[i], name="S")
    made = {
        "difference": ([a, b, difference], "D", 4),
        "product": ([m, n, product], "P", 3),
        "narrow": ([a, b, narrow], "W", 4),
        "two": ([a, b, second], "S", 3),
    }
    for name, (tensors, block, factor) in made.items():
        schedule = s_tir.Schedule(tvm.IRModule({"main": te.create_prim_func(tensors)}))
        loop = schedule.get_loops(schedule.get_sblock(block))[0]
        schedule.split(loop, [None, factor])  # 10 and 5 leave a tail: a predicate
        yield name, schedule.mod


ELEMENT = r"\w+\[[^\]]*\]"
FAULTS = {
    "drop predicate": ((r"\n *T\.where\([^\n]*", ""), (r"\bif [^\n]*:", "if 0 < 1:")),
    "swap operands": ((rf"({ELEMENT}) - ({ELEMENT}( \* {ELEMENT}| \* \d+)?)", r"\2 - \1"),),
    "skip cast": ((rf'T\.Cast\("int32", T\.Cast\("int8", ({ELEMENT})\)\)', r"\1"),),
    "wrong operator": ((rf"({ELEMENT} = [^\n]*?) \+ ", r"\1 - "),),
    "shorter loop": ((r"in range\((\d+)\)", lambda found: f"in range({int(found[1]) - 1})"),),
}


def planted(module, fault):
    """The module with the fault, or None where it has no place."""
    text = module.script()
    for pattern, new in FAULTS[fault]:
        wrong = re.sub(pattern, new, text, count=1)
        if wrong != text:
            return from_source(wrong, check_well_formed=False)
    return None


def made(name):
    """The pass called `name`."""
    family, _, rest = name.partition(".")
    home = s_tir if family == "s_tir" else tirx
    return getattr(home.transform, rest)(*([32] if rest == "NarrowDataType" else []))


def lowered(module, at, fault):
    """The snapshots, with the fault in what pass number `at` gives; None where it has no place."""
    lines = [{"name": "input", "text": module.script()}]
    for number, name in enumerate(PASSES):
        module = made(name)(module)
        if number == at:
            module = planted(module, fault)
            if module is None:
                return None
        if module.script() != lines[-1]["text"]:
            lines.append({"name": name, "text": module.script()})
    return [*lines, {"done": True}]


def main():
    """Every program, fault and pass."""
    target = tvm.target.Target("llvm")
    with target:
        for program, module in programs():
            bound = tirx.transform.BindTarget(target)(module)
            for fault in FAULTS:
                for at, name in enumerate(PASSES):
                    lines = lowered(bound, at, fault)
                    if lines is not None:
                        row = {"program": program, "fault": fault, "planted": name, "lines": lines}
                        sys.stdout.write(json.dumps(row) + "\n")


main()
