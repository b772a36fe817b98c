"""Row 13: kernels whose threads wait for each other, in C against the interpreter.

| kernel                                                         | goal     |
|----------------------------------------------------------------|----------|
| softmax, a stage of TVM's lowering for CUDA (`StorageRewrite`) | ≤ 500 ms |
| decode over a paged cache of keys and values, for CUDA         | ≤ 5 s    |

In C the loops of threads are split where the threads wait. The time is that of the longest call, after a first one. The
arguments are those of `refmlc check`, and checks that are not proved are made. A row fails where the tiers leave
different bits.
"""

from collections.abc import Iterator
from time import perf_counter_ns

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import IRModule
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.arguments import CallLimits
from refmlc.oracle.check.program import CallRequest, CheckedProgram, checked_program
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.implementations.interp import Interp
from refmlc.run.memory.tensor import Tensor
from refmlc.tools.bench.row import BenchRow, Goal
from refmlc.tools.bench.session import BenchSession, BenchSizes
from refmlc.tools.bench.texts import program
from refmlc.tools.bench.witness import differences
from refmlc.vm import VirtualMachine, build
from refmlc.vm.tiers import Tier

AGAINST = "the interpreter"
GOALS = {"softmax_cuda": Goal(500, "ms", "at most"), "paged_decode_cuda": Goal(5000, "ms", "at most")}
CALLS = 2
SECONDS = 60.0  # of a call that finds out which arguments are fit
FUNC = "main"


def barrier_rows(session: BenchSession, sizes: BenchSizes) -> Iterator[BenchRow]:
    """Row 13."""
    for name in sizes.barriers:
        session.progress(name)
        module = read(program(name), f"{name}.py")
        request = CallRequest(limits=CallLimits(CALLS, 0, SECONDS))
        try:
            checked, _ = checked_program(module, FUNC, request, Interp(Limits(seconds=SECONDS)))
        except RefmlcError as failure:
            yield BenchRow(13, name, AGAINST, GOALS[name], failed=failure.diagnostic.message)
        else:
            yield _row(name, module, checked)


def _row(name: str, module: IRModule, checked: CheckedProgram) -> BenchRow:
    machines = {tier: VirtualMachine(build(module, tier=tier.value)) for tier in (Tier.INTERP, Tier.NATIVE)}
    reason = machines[Tier.NATIVE].executable.report[FUNC].reason
    longest = dict.fromkeys(machines, 0)
    failed = f"it is interpreted: {reason}" if reason else ""
    for machine in machines.values():
        machine[FUNC](*checked.arguments())
    for number in range(len(checked.calls)):
        results = []
        for tier, machine in machines.items():
            arguments = checked.arguments(number)
            begin = perf_counter_ns()
            machine[FUNC](*arguments)
            longest[tier] = max(longest[tier], perf_counter_ns() - begin)
            results.append([argument.array for argument in arguments if isinstance(argument, Tensor)])
        count = sum(differences(actual, expected) for expected, actual in zip(*results, strict=True))
        failed = failed or (f"{count} elements differ from the interpreter's" if count else "")
    times = {tier.value: float(nanoseconds) for tier, nanoseconds in longest.items()}
    faster = longest[Tier.INTERP] / max(1, longest[Tier.NATIVE])
    note = f"{faster:.0f} times as fast as the interpreter, {longest[Tier.INTERP] / 1e6:.0f} ms"
    measured = None if failed else longest[Tier.NATIVE] / 1e6
    return BenchRow(13, name, AGAINST, GOALS[name], measured, failed=failed, note=note, times=times)
