"""How many of the operators that TVM registers for PTX refmlc executes: a table by family, and the count.

`python tests/e2e/ptx_table.py --tvm PYTHON [--calls 8] [--names REGEX] [--reasons]`. Each operator is called, as TVM
prints it, in a kernel of 32 threads, with modifiers that TVM accepts; no GPU is needed. `T.ptx.addr` is an operand of
such calls.

Instructions of a warpgroup are called in one of 128, with descriptors of shared memory that holds zeros. Those on
tensor memory are called after all of its columns were allocated and those of the warp written; they have to end: that
they are undefined for these operands is no proof that they are executed.

| verdict       | one of its calls                                                            |
|---------------|-----------------------------------------------------------------------------|
| `executed`    | ends, or is undefined for these operands                                    |
| `unsupported` | all of them are unsupported by name                                         |
| `refused`     | all of them are unsupported, unread or ill-formed: refmlc and TVM disagree  |
| `traceback`   | ends by a bug of refmlc's own                                               |

Exit status 1: an operator is refused, or there is a traceback.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from refmlc.diag import IllFormed, Malformed, RefmlcError, Unsupported
from refmlc.lang.ops.ptx.registry import registered
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.budget import Budget

SIDE = Path(__file__).parent / "tvm_side" / "ptx_specimens.py"
VERDICTS = ("executed", "unsupported", "refused", "traceback")
LOCALS = re.compile(r"\br_(\w+)\[(\d+)\]")
WORDS = 256
OF_WARPGROUPS = "T.ptx.wgmma"
TENSOR = "T.ptx.tcgen05"
COLUMNS, LEAST, REGISTERS, TENSOR_WORDS = 512, 32, 128, 2048
ALLOCATION = re.compile("'(alloc|dealloc|relinquish_alloc_permit)'")
OF_A_THREAD = re.compile("'(cp|commit|mma)'")
VALUES = ((1,), (32,), (1, 32), (1, 1, 32), (0x3C003C00,), (0x3F800000,))
"""What the registers hold, in turn: numbers, a barrier and its count, also behind a result, two halves, a float."""
STEPS, SECONDS = 200_000, 20


def kernel(call: str, values: tuple[int, ...]) -> str:
    """A kernel of one warp, or of a warpgroup, with this call; the registers hold the values in turn."""
    warps = 4 if OF_WARPGROUPS in call else 1
    lines = ["T.device_entry()", "T.cta_id([1])", f"T.warp_id([{warps}])", "lane = T.lane_id([32])"]
    lines += [f"S = T.alloc_shared(({WORDS},), 'uint32')", f"for k in range({WORDS // 32}):"]
    lines += ["    S[32 * k + lane] = T.uint32(0)", "T.cuda.cta_sync()"]
    places: dict[str, int] = defaultdict(int)
    for dtype, place in LOCALS.findall(call):
        places[dtype] = max(places[dtype], int(place) + 1)
    for dtype, count in places.items():
        lines.append(f"r_{dtype} = T.alloc_local(({count},), '{dtype}')")
        lines += [f"r_{dtype}[{k}] = T.{dtype}({fitting(dtype, values[k % len(values)])})" for k in range(count)]
    if OF_WARPGROUPS in call:
        lines += ["T.ptx.fence.proxy.async_.shared__cta()", "T.cuda.cta_sync()", "T.ptx.wgmma.fence.sync.aligned()"]
        lines += [
            f"T.cuda.wgmma.encode_matrix_descriptor(T.address_of(r_uint64[{k}]), S.data, 1, 1, 0)"
            for k in range(places["uint64"])
        ]
    body = "".join(f"    {line}\n" for line in [*lines, call])
    return f"@T.prim_func\ndef main(A: T.Buffer((256,), 'uint32')):\n{body}"


def tensor_kernel(call: str, values: tuple[int, ...]) -> str:
    """A kernel of one warp with a call on tensor memory: columns are allocated and written before, and freed behind."""
    allocation = ALLOCATION.search(call)
    kind = allocation[1] if allocation else ""
    values = (0, LEAST) if kind == "dealloc" else values
    warps = 4 if "'mma'" in call else 1  # the scales of a product are in all lanes
    lines = ["T.device_entry()", "T.cta_id([1])", f"w = T.warp_id([{warps}])", "lane = T.lane_id([32])"]
    lines += [f"t = T.thread_id([{32 * warps}])"]
    lines += [f"S = T.alloc_buffer(({TENSOR_WORDS},), 'uint32', scope='shared', align=1024)"]
    lines += ["at = T.alloc_shared((1,), 'uint32')", "bar = T.alloc_shared((1,), 'uint64')"]
    lines += [f"for k in range({TENSOR_WORDS // 32}):", "    S[32 * k + lane] = T.uint32(0)"]
    lines += ["if t == 0:", "    T.ptx.mbarrier.init.shared.b64(T.address_of(bar[0]), T.uint32(1))"]
    lines += ["T.ptx.fence.proxy.async_.shared__cta()", "T.cuda.cta_sync()"]
    sizes: dict[str, int] = defaultdict(int)
    for dtype, place in LOCALS.findall(call):
        sizes[dtype] = max(sizes[dtype], int(place) + 1)
    for dtype, count in sizes.items():
        lines.append(f"r_{dtype} = T.alloc_local(({count},), '{dtype}')")
        lines += [f"r_{dtype}[{k}] = T.{dtype}({fitting(dtype, values[k % len(values)])})" for k in range(count)]
    lines += [
        f"T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(r_uint64[{k}]), S.data, 8, 16, 0)"
        for k in range(sizes["uint64"])
    ]
    columns = LEAST if kind == "dealloc" else COLUMNS
    own = f"'{kind}', 'cta_group::1'" in call
    if kind not in ("alloc", "relinquish_alloc_permit"):
        address = f"T.address_of(at[0]), T.uint32({columns})"
        lines += ["if w == 0:", f"    T.ptx['tcgen05.alloc.cta_group::1.sync.aligned.b32']({address})"]
        lines.append("T.cuda.cta_sync()")
    if not kind:
        filling = ", ".join(f"fill[{k}]" for k in range(REGISTERS))
        lines += [f"fill = T.alloc_local(({REGISTERS},), 'uint32')", f"for k in range({REGISTERS}):"]
        lines += ["    fill[k] = T.uint32(0)"]
        lines += [
            f"T.ptx['tcgen05.st.sync.aligned.32x32b.x{REGISTERS}.b32'](T.uint32({first}), {filling})"
            for first in range(0, COLUMNS, REGISTERS)
        ]
        lines += ["T.ptx['tcgen05.wait::st.sync.aligned']()", "T.cuda.cta_sync()"]
    call = call.replace("S.ptr_to([0])", "T.address_of(bar[0])") if "'commit'" in call else call
    lines += ["if t == 0:", f"    {call}"] if OF_A_THREAD.search(call) else [call]
    if OF_A_THREAD.search(call) and "'commit'" not in call:
        commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64"
        lines += ["if t == 0:", f"    T.ptx['{commit}'](T.address_of(bar[0]))"]
    if OF_A_THREAD.search(call):
        lines.append("T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)")
    lines += ["T.ptx['tcgen05.wait::ld.sync.aligned']()", "T.ptx['tcgen05.wait::st.sync.aligned']()"]
    if kind not in ("dealloc", "relinquish_alloc_permit"):
        place, freed = ("S", values[0]) if own else ("at", COLUMNS)
        free = f"T.ptx['tcgen05.dealloc.cta_group::1.sync.aligned.b32']({place}[0], T.uint32({freed}))"
        lines += ["T.cuda.cta_sync()", "if w == 0:", f"    {free}"]
    body = "".join(f"    {line}\n" for line in lines)
    return f"@T.prim_func\ndef main(A: T.Buffer((256,), 'uint32')):\n{body}"


def fitting(dtype: str, value: int) -> int:
    """The low bits of a value that are one of the dtype."""
    return value & ((1 << (int(re.sub(r"\D", "", dtype)) - 1)) - 1)


def verdict(call: str, values: tuple[int, ...]) -> tuple[str, str]:
    """What comes of a call, and why."""
    try:
        module = read((tensor_kernel if TENSOR in call else kernel)(call, values), "f.py")
        problems = check_module(module)
        if problems:
            return "refused", problems[0].message
        Machine(module, budget=Budget(STEPS, max_seconds=SECONDS)).call("main", [np.zeros(256, "uint32")])
    except Unsupported as failure:
        return "unsupported", failure.diagnostic.message
    except (IllFormed, Malformed) as failure:
        return "refused", failure.diagnostic.message
    except RefmlcError as failure:
        if TENSOR in call:
            return "unsupported", f"not shown to be executed: {failure.diagnostic.message}"
        return "executed", ""
    except Exception as failure:  # noqa: BLE001 - a bug of refmlc is a verdict
        return "traceback", repr(failure)
    return "executed", ""


def judged(calls: list[str]) -> tuple[str, str]:
    """The verdict on an operator: the best of its calls; what ends by a bug is told."""
    verdicts = []
    for call, values in product(calls, VALUES):
        verdicts.append(verdict(call, values))
        if verdicts[-1][0] in ("executed", "traceback"):
            return verdicts[-1]
    return next((each for each in verdicts if each[0] == "unsupported"), verdicts[0])


def specimens(tvm: str, count: int) -> dict[str, list[str]]:
    """A few calls of each operator."""
    command = [tvm, str(SIDE), str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout)


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description="How many operators of PTX are executed.")
    parser.add_argument("--tvm", required=True, help="a Python with apache-tvm")
    parser.add_argument("--calls", type=int, default=8, help="calls of each operator")
    parser.add_argument("--names", default="", help="only operators of these names")
    parser.add_argument("--reasons", action="store_true", help="why each operator is not executed")
    options = parser.parse_args()
    families: dict[str, Counter[str]] = defaultdict(Counter)
    console = Console()
    for name, calls in specimens(options.tvm, options.calls).items():
        if re.search(options.names, name):
            result, why = judged(calls)
            families[registered()[name]][result] += 1
            if why and (options.reasons or result in VERDICTS[2:]):
                console.print(f"{name}: {result}: {why}", markup=False)
    table = Table("family", *VERDICTS)
    for family, counts in sorted(families.items()):
        table.add_row(family, *(str(counts[each] or "") for each in VERDICTS))
    total = sum(families.values(), Counter())
    table.add_row("all", *(str(total[each]) for each in VERDICTS))
    console.print(table)
    console.print(f"{total['executed'] + 1} of {total.total() + 1} operators are executed, T.ptx.addr among them")
    return int(bool(total["refused"] or total["traceback"]))


if __name__ == "__main__":
    sys.exit(main())
