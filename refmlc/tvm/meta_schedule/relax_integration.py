"""`tvm.s_tir.meta_schedule.relax_integration`: the functions of a module as tasks of a search, and a search over them.

A task is a TensorIR function that functions of Relax call, alone as `main`; its weight is how many calls there are of
it and of functions that equal it. Order: the function that is met last is the first task, as in TVM.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.module import AnyFunction
from refmlc.lang.ir.visit import walk
from refmlc.tvm.devices import Target
from refmlc.tvm.meta_schedule.database import Database, TuningRecord
from refmlc.tvm.meta_schedule.search import Limits, search
from refmlc.tvm.meta_schedule.tir_integration import default_space_of, write_records
from refmlc.tvm.missing_names import refusal
from refmlc.vm import bind_params

__all__ = ["ExtractedTask", "extract_tasks", "tune_relax"]

SECONDS = 60.0
"""How long the searches of one module may take together."""
_SCHEDULED = "tirx.is_scheduled"


@dataclass
class ExtractedTask:
    """A function to be tuned; `mod` has it as `main`, and so has the one module of `dispatched`."""

    task_name: str
    mod: IRModule
    target: Target
    weight: int = 1

    @property
    def dispatched(self) -> list[IRModule]:
        """The programs that are searched."""
        return [self.mod]


def workload(func: tir.PrimFunc) -> IRModule:
    """A function as the module `main` that a database knows it by: without notes of the module that it is from."""
    attrs = {key: value for key, value in func.attrs.items() if key not in ("op_pattern", _SCHEDULED)}
    return IRModule({"main": replace(func, attrs=attrs, private=False)})


def extract_tasks(
    mod: IRModule | relax.Function,
    target: str | Target,
    params: Mapping[str, object] | None = None,
    module_equality: str = "structural",
) -> list[ExtractedTask]:
    """The tasks of a module; `params` are bound in `main` first. Fails: RM504 for another equality, RM112."""
    if module_equality != "structural":
        message = f'`extract_tasks(module_equality="{module_equality}")` is not supported: tasks are equal functions'
        raise fail(UNSUPPORTED_CONSTRUCT, message)
    module = IRModule({"main": mod}) if isinstance(mod, relax.Function) else mod
    module = bind_params(module, "main", params) if params else module
    where = target if isinstance(target, Target) else Target(target)
    tasks: list[ExtractedTask] = []
    for name in _called(module):
        func = module.functions[name]
        assert isinstance(func, tir.PrimFunc)  # noqa: S101 - what `_called` gives
        own = workload(func)
        known = next((task for task in tasks if structural_equal(task.mod, own)), None)
        if known is None:
            tasks.append(ExtractedTask(name, own, where))
        else:
            known.weight += 1
    return tasks[::-1]


def _called(module: IRModule) -> list[str]:
    """The TensorIR functions that calls of functions of Relax name, once for each call."""
    calls = (
        node
        for func in module.functions.values()
        if isinstance(func, relax.Function)
        for node in walk(func)
        if isinstance(node, relax.Call) and isinstance(node.op, relax.Op) and node.op.name.startswith("call_tir")
    )
    names = [call.args[0].name for call in calls if isinstance(call.args[0], tir.GlobalVar)]
    return [name for name in names if isinstance(module.functions.get(name), tir.PrimFunc)]


def tune_relax(  # noqa: PLR0913 - TVM's parameters
    mod: IRModule | relax.Function,
    params: Mapping[str, object] | None,
    target: str | Target,
    work_dir: str | None,
    max_trials_global: int,
    max_trials_per_task: int | None = None,
    *,
    op_names: Sequence[str] | None = None,
    database: Database | None = None,
    seed: int | None = None,
) -> Database:
    """Search for fast schedules of the tasks whose names hold one of `op_names`; all of them without.

    Trials and time are shared: each task has its part of `max_trials_global`, and of a minute. A task of extents that
    are not numbers is left out, with a warning.
    """
    tasks = extract_tasks(mod, target, params)
    if op_names is not None:
        tasks = [task for task in tasks if any(name in task.task_name for name in op_names)]
    result = Database() if database is None else database
    share = max(1, max_trials_global // max(len(tasks), 1))
    trials = share if max_trials_per_task is None else min(share, max_trials_per_task)
    limits = Limits(trials, SECONDS / max(len(tasks), 1))
    for task in tasks:
        try:
            searched = search(task.mod, default_space_of(task.target), limits, seed)
        except RefmlcError as reason:
            warnings.warn(f"`{task.task_name}` is not tuned: {reason.diagnostic.message}", stacklevel=2)
            continue
        for record in searched.records:
            result.commit_tuning_record(TuningRecord(record.schedule, task.mod, task.target, (record.seconds,)))
        if work_dir is not None:
            write_records(Path(work_dir), searched.records, append=True)
    return result


def with_best(mod: IRModule, database: Database, target: Target) -> IRModule:
    """The module with the fastest schedule that a database has in the place of each function."""
    functions: dict[str, AnyFunction] = dict(mod.functions)
    for name, func in mod.functions.items():
        if not isinstance(func, tir.PrimFunc) or func.attrs.get(_SCHEDULED):
            continue
        best = database.query_ir_module(workload(func), target)
        main = None if best is None else best.functions["main"]
        if isinstance(main, tir.PrimFunc):
            functions[name] = replace(main, attrs={**func.attrs, _SCHEDULED: True}, private=func.private)
    return replace(mod, functions=functions)


__getattr__ = refusal(__name__, __all__)
