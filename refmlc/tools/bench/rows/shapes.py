"""Row 10: reordered kernels on random odd shapes, compared with the interpreter, bit by bit.

| kernel                          | dtypes                                                    |
|---------------------------------|-----------------------------------------------------------|
| matmul, nt-matmul               | float64, float32, float16, bfloat16; int8 summed in int32 |
| conv2d, softmax, layernorm      | float32                                                   |
| mul-add-relu-mul                | float32                                                   |

Every kernel and dtype has its own shapes. All of them are one module: one run of the compiler per kernel.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import TypeAlias

import numpy as np

from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.compile import BuildFailed, build as compiled
from refmlc.native.emit import emit_module
from refmlc.native.options import Grade, Isa, Options
from refmlc.native.unit import Source, Status
from refmlc.tools.bench.bare_call import bare_call
from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.rows.kernels import transposed
from refmlc.tools.bench.session import BenchSession, BenchSizes
from refmlc.tools.bench.witness import differences
from refmlc.tools.bench.workloads import Workload, conv2d, elementwise, layernorm, matmul, matmul_int8, softmax
from refmlc.vm import VirtualMachine, build
from refmlc.vm.tiers import Tier

GOAL = Goal(0, "mismatches", "at most")
FLOATS = ("float64", "float32", "float16", "bfloat16")
Make: TypeAlias = Callable[[Random], Workload]


def odd(random: Random, most: int = 31) -> int:
    return random.randrange(1, most + 1, 2)


def kernels() -> Iterator[tuple[str, Make]]:
    """Every kernel and dtype, and how one of a random shape is made."""
    for dtype in FLOATS:
        yield f"matmul {dtype}", lambda r, d=dtype: matmul(odd(r), odd(r, 79), odd(r), d)  # type: ignore[misc]
        yield f"nt-matmul {dtype}", lambda r, d=dtype: transposed(matmul(odd(r), odd(r, 79), odd(r), d))  # type: ignore[misc]
    yield "matmul int8→int32", lambda r: matmul_int8(odd(r), odd(r, 79), odd(r))
    yield "conv2d float32", lambda r: conv2d(odd(r, 7), odd(r, 9), odd(r, 11), odd(r, 21))
    yield "softmax float32", lambda r: softmax(odd(r, 41), odd(r, 41))
    yield "layernorm float32", lambda r: layernorm(odd(r, 41), odd(r, 41))
    yield "mul-add-relu-mul float32", lambda r: elementwise(odd(r, 999))


def shape_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 10."""
    random = Random(0)  # noqa: S311 - the same shapes in every run
    for name, make in kernels():
        what, against = f"{sizes.shapes} shapes of {name}", "the interpreter"
        session.progress(what)
        workloads = [make(random) for _ in range(sizes.shapes)]
        module = together(workloads)
        source = emit_module(module, Options(isa=session.isa))
        if source.declined:
            yield BenchRow(
                10, what, against, GOAL, failed="; ".join(refusal.reason for refusal in source.declined.values())
            )
            continue
        try:
            wrong = mismatches(module, workloads, source, session.isa)
        except BuildFailed as problem:
            yield BenchRow(10, what, against, GOAL, failed=str(problem))
            continue
        moved = sum(unit.grade is Grade.REORDERED for unit in source.units.values())
        yield BenchRow(10, what, against, GOAL, wrong, note=f"{moved} of {len(workloads)} shapes reordered")


def together(workloads: list[Workload]) -> IRModule:
    """The prim_funcs of all, by their numbers."""
    modules = [read(workload.text, f"{workload.name}.py") for workload in workloads]
    functions = {
        f"f{n}": module.functions[w.func] for n, (module, w) in enumerate(zip(modules, workloads, strict=True))
    }
    return IRModule(functions)


def mismatches(module: IRModule, workloads: list[Workload], source: Source, isa: Isa) -> int:
    """How many elements of all results differ between the interpreter and C; all of one that C does not finish."""
    machine = VirtualMachine(build(module, tier=Tier.INTERP.value))
    library = compiled(source.text, isa, cache=None)
    wrong = 0
    for number, workload in enumerate(workloads):
        expected, actual = np.zeros_like(workload.output), np.zeros_like(workload.output)
        machine[f"f{number}"](*workload.inputs, expected)
        status = bare_call(library, source.units[f"f{number}"], (*workload.inputs, actual))()
        wrong += differences(actual, expected) if status == Status.DONE else expected.size
    return wrong
