"""A program with TVM alone that applies steps of its schedule to a module, and prints the difference.

| the finding                      | the program                                                                       |
|----------------------------------|-----------------------------------------------------------------------------------|
| another result, undefined code   | runs the module before the last step and after it; status 1 if the results differ |
| an ill-formed module             | prints the module after the last step, which TVM then refuses or not              |
| TVM ends in a step               | applies the steps: status of the death                                            |

What is undefined may look right by chance: the program says so, and what refmlc found.
None where no program can be written: an argument is large, or neither a tensor nor a number.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from refmlc.diag.layout import plain
from refmlc.lang.ir import relax
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.fuzz.subjects.primitives.step_pattern import parsed
from refmlc.oracle.passes.report import TvmRequest, expression_of, script_head
from refmlc.oracle.passes.stages import BrokenStage
from refmlc.oracle.refine.calls import fresh
from refmlc.vm.parameters import parameters_of

StepArguments: TypeAlias = "tuple[object, ...]"

MAPS = {
    "swap": "lambda i, j: (j, i)",
    "halves": "lambda i: (i // 2, i % 2)",
    "thirds": "lambda i: (i // 3, i % 3)",
    "column halves": "lambda i, j: (i, j // 2, j % 2)",
    "row quarters": "lambda i, j: (i // 4, j, i % 4)",
    "flat": "lambda i, j: (i * 16 + j,)",
    "turn": "lambda i, j, k: (k, i, j)",
}
INDICES = {
    "same": "lambda *values: values",
    "swap": "lambda *values: values[::-1]",
    "half": "lambda i: (i // 2,)",
    "backwards": "lambda i: (1 - i,)",
}
"""The maps of `tvm_side/run_primitives`, by the names that steps spell."""
SCHEDULE = """
module = module if isinstance(module, tvm.IRModule) else tvm.IRModule({"main": module})
schedule = s_tir.Schedule(module)


def block(name):
    return schedule.get_sblock(name)


def loop(name, at):
    return schedule.get_loops(block(name))[at]


def dtype_of(region):
    return str((region.source if hasattr(region, "source") else region.buffer).dtype)

"""
RUNS = """

def run(module):
    args = made()
    tvm.compile(module, target)[{func!r}](*args)
    return [arg.numpy() for arg in args if hasattr(arg, "numpy")]

"""
COMPARES = """
print(schedule.mod.script())
first, last = run(before), run(schedule.mod)
print(f"TVM {tvm.__version__}, before the last step:", *first, sep="\\n")
print(f"TVM {tvm.__version__}, after it:", *last, sep="\\n")
raise SystemExit(0 if all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(first, last)) else 1)
"""


def _block(step: StepArguments, *arguments: str) -> str:
    return ", ".join([f"block({step[0]!r})", *arguments])


def _loop(step: StepArguments) -> str:
    return f"loop({step[0]!r}, {step[1]!r})"


def _rest(step: StepArguments, first: int) -> list[str]:
    return [repr(list(each) if isinstance(each, tuple) else each) for each in step[first:]]


def _of_loop(step: StepArguments) -> str:
    return ", ".join([_loop(step), *_rest(step, 2)])


def _of_loops(step: StepArguments) -> str:
    return ", ".join(f"loop({step[0]!r}, {place!r})" for place in cast("tuple[int, ...]", step[1]))


def _of_block(step: StepArguments) -> str:
    return _block(step, *_rest(step, 1))


def _of_place(step: StepArguments) -> str:
    return _block(step, f"loop({step[1]!r}, {step[2]!r})", *_rest(step, 3))


def _of_side(step: StepArguments) -> str:
    return _block(step, repr(step[1]))


def _of_block_and_loop(step: StepArguments) -> str:
    return _block(step, _loop(step))


def _of_layout(step: StepArguments) -> str:
    _, side, index, key, *rest = step
    pad = rest[0] if rest else None
    regions = "writes" if side == "write" else "reads"
    dtype = f"dtype_of(schedule.get(block({step[0]!r})).{regions}[{index!r}])"
    value = "None" if pad is None else f"tirx.const({pad!r}, {dtype})"
    return _block(step, repr((side, index)), MAPS[str(key)], value)


def _of_map(step: StepArguments) -> str:
    order = INDICES[str(step[3])]
    axes = f"len(schedule.get(block({step[0]!r})).iter_vars)"
    return _block(step, repr(step[1]), repr(step[2]), f"tirx.IndexMap.from_func({order}, ndim={axes})")


def _of_loop_or_blocks(step: StepArguments) -> str:
    if isinstance(step[1], tuple):
        return f"[{', '.join(f'block({name!r})' for name in step[1])}]"
    return _of_loop(step)


def _of_loop_and_buffer(step: StepArguments) -> str:
    return ", ".join([_loop(step), f"block({step[0]!r})", *_rest(step, 2)])


ARGUMENTS: Mapping[str, Callable[[StepArguments], str]] = {
    **dict.fromkeys(("split", "loop_partition", "parallel", "vectorize", "unroll", "bind", "rfactor"), _of_loop),
    "blockize": _of_loop_or_blocks,
    "merge": lambda step: f"{_loop(step)}, loop({step[2]!r}, {step[3]!r})",
    **dict.fromkeys(("read_at", "write_at"), _of_loop_and_buffer),
    **dict.fromkeys(("fuse", "reorder"), _of_loops),
    **dict.fromkeys(("cache_read", "cache_write", "cache_inplace", "cache_index", "compute_inline"), _of_block),
    **dict.fromkeys(("reverse_compute_inline", "pad_einsum", "storage_align", "set_scope"), _of_block),
    **dict.fromkeys(("rolling_buffer", "reorder_block_iter_var", "add_unit_loop"), _of_block),
    "reindex": _of_side,
    **dict.fromkeys(("compute_at", "reverse_compute_at"), _of_place),
    **dict.fromkeys(("decompose_reduction", "decompose_padding"), _of_block_and_loop),
    "transform_layout": _of_layout,
    "transform_block_layout": lambda step: _block(step, MAPS[str(step[1])]),
    **dict.fromkeys(("reindex_cache_read", "reindex_cache_write"), _of_map),
    "annotate": lambda step: f"{_loop(step)}, 'pragma_auto_unroll_max_step', 16",
    "fuse_reduction_epilogue": lambda step: f"block({step[1]!r}), block({step[0]!r})",
}


def step_line(step: str) -> str:
    """The call of TVM that a step spells. Raises ValueError for a step that is none."""
    primitive, arguments = parsed(step)
    try:
        return f"schedule.{primitive}({ARGUMENTS[primitive](arguments)})"
    except (KeyError, IndexError, TypeError, ValueError):
        raise ValueError(f"{step} is no step") from None


def steps_script(text: str, steps: tuple[str, ...], broken: BrokenStage | None, message: str) -> str | None:
    """The program for the module of `text`; `broken` None: TVM ends in the last step."""
    module = read(text, "the program")
    func = broken.func if broken is not None else ""
    function = module.functions.get(func)
    args: list[str] = []
    if broken is not None and function is not None and not isinstance(function, relax.ExternFunc):
        args = [expression_of(arg) for arg in fresh(broken.call)[: len(parameters_of(function))]]
    try:
        *lines, last = map(step_line, steps)
    except ValueError:
        return None
    if not all(args) or "metadata[" in text:
        return None
    head = [*script_head(text, args, TvmRequest()), SCHEDULE.strip("\n"), "", ""]
    note = [f"# {line}" for line in plain(message).split("\n")]
    if broken is None or function is None:
        ends = [] if broken is None else ["print(schedule.mod.script())", "tvm.compile(schedule.mod, target)"]
        return "\n".join([*head, *lines, *note, last, *ends]) + "\n"
    runs = RUNS.format(func=func).strip("\n")
    return "\n".join([*head, runs, "", "", *lines, "before = schedule.mod", last, *note, COMPARES.strip("\n")]) + "\n"
