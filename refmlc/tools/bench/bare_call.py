"""Generated C without the virtual machine around it: one prim_func of static shapes, at the best grade allowed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import thread_time_ns

import numpy as np

from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.compile import Library, build, ffi
from refmlc.native.emit import emit_module
from refmlc.native.options import Grade, Isa, Options
from refmlc.native.tier.compiled_module import c_type
from refmlc.native.unit import BufferParam, Status, Unit
from refmlc.tools.bench.witness import Array
from refmlc.tools.bench.workloads import Workload

MOST = 1 << 62


class NotGenerated(Exception):
    """The compiled function is not available. The text says why."""


@dataclass(frozen=True, slots=True)
class Bare:
    """A compiled function with its arguments, as a candidate. `result` is written by each call."""

    name: str
    unit: Unit
    result: Array
    call: Callable[[], int]

    def take(self, calls: int) -> int:
        call = self.call
        start = thread_time_ns()
        for _ in range(calls):
            call()
        return thread_time_ns() - start


def compile_bare(name: str, workload: Workload, best: Grade, isa: Isa) -> Bare:
    """The function of a workload, called once. Raises NotGenerated, BuildFailed."""
    source = emit_module(read(workload.text, f"{workload.name}.py"), Options(best, isa), (workload.func,))
    if workload.func in source.declined:
        raise NotGenerated(source.declined[workload.func].reason)
    unit = source.units[workload.func]
    library = build(source.text, isa, cache=None)
    result = np.zeros_like(workload.output)
    call = bare_call(library, unit, (*workload.inputs, result))
    status = Status(call())
    if status is not Status.DONE:
        raise NotGenerated(f"the call ends with {status.name}")
    return Bare(name, unit, result, call)


def bare_call(library: Library, unit: Unit, arrays: tuple[Array, ...]) -> Callable[[], int]:
    """What calls the function of `unit` with `arrays`; it gives the status."""
    function = library.function(unit.symbol, c_type(unit))
    run = ffi().new("rm_run *")
    arguments = list(_arguments(unit, arrays))

    def call() -> int:
        run.fuel = run.memory = MOST
        return function(run, *arguments)

    return call


def _arguments(unit: Unit, arrays: tuple[Array, ...]) -> Iterator[object]:
    """Pointers to the elements and, where asked for, to a shadow: what is read is written before."""
    for param, array in zip(unit.params, arrays, strict=True):
        yield ffi().from_buffer(array)
        if isinstance(param, BufferParam) and param.tracked:
            shadow = np.zeros(array.size, np.uint8) if param.stored else np.ones(array.size, np.uint8)
            yield ffi().from_buffer(shadow)
