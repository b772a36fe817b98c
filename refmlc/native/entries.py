"""Entries: C functions that Python calls with arrays, for cached calls: each is the function of a built-in method.

| entry of                            | takes                                             |
|-------------------------------------|---------------------------------------------------|
| a unit whose parameters are buffers | the arguments (`has_entry` says of which buffers) |
| a Relax function that is one run    | the arguments, then a fresh array for each output |

The method's object is a capsule with an `rm_entry`. It has the arguments that depend on shapes alone: `fixed` holds
shadows (of constants that are all written), constants and the workspace, in the order in which they are passed;
`numbers` the variables of shapes. An entry checks the arrays (`rm_arrays`) and calls the function; it is not applicable
to any other arguments.
"""

from collections.abc import Sequence
from itertools import count

from refmlc.lang.ir import relax
from refmlc.lang.ir.types import TensorType
from refmlc.native.fuse.plan import Fused
from refmlc.native.text import Text
from refmlc.native.unit import BufferParam, Unit

USE = "entry_functions"
"""The C function that takes the functions of Python which entries call."""


def emit_entries(text: str, entries: Sequence[str]) -> str:
    """The translation unit `text` with `entries` of its functions after them."""
    head = Text()
    head.include("rm_python.h")
    head.line("")
    with head.block(f"void *{USE}(const rm_python *const functions)"):
        head.line("rm_use(functions);")
        head.line("return NULL;")
    head.line("")
    return "\n".join([text, *head.lines, *entries])


def entry_symbol(symbol: str) -> str:
    """The name of the entry of the C function `symbol`."""
    return f"entry_{symbol}"


def has_entry(unit: Unit) -> bool:
    """Whether there is an entry: the parameters are buffers, nothing is returned.

    Declared strides and offsets are no part of a shape: arrays of one shape have different ones.
    """
    return unit.result is None and all(
        isinstance(param, BufferParam) and not param.buffer.strides and param.buffer.elem_offset is None
        for param in unit.params
    )


def emit_entry(unit: Unit) -> str:
    """The entry of a unit that has one."""
    numbers, fixed = count(), count()
    passed: list[str] = []
    for number, param in enumerate(unit.params):
        passed.append(f"cells[{number}]")
        if isinstance(param, BufferParam) and param.tracked:
            passed.append(f"entry->fixed[{next(fixed)}]")
    passed += [f"entry->numbers[{next(numbers)}]" for _ in unit.dims]
    return _text(unit.symbol, len(unit.params), passed)


def whole_function(run: Fused, function: relax.Function) -> tuple[int, ...] | None:
    """The outputs of `run` that `function` returns, if `run` is its whole body; else None.

    A function that returns one tensor (`returns_tuple` is false) has one number; one that returns a tuple has its
    fields'.
    """
    blocks = [block for block in function.body.blocks if block.bindings]
    if blocks != [run.block] or (run.start, run.stop) != (0, len(run.block.bindings)):
        return None
    if not all(isinstance(param.ty, TensorType) for param in function.params):
        return None
    params = {*function.params}
    if not all(isinstance(operand.value, relax.Constant) or operand.value in params for operand in run.inputs):
        return None
    outputs = [operand.value for operand in run.outputs]
    body = function.body.body
    for var, numbers in run.tuples:
        if var is body:
            return numbers
    returned = body.fields if isinstance(body, relax.Tuple) else (body,)
    if not returned or not all(value in outputs for value in returned):
        return None
    return tuple(outputs.index(value) for value in returned if isinstance(value, relax.Var))


def returns_tuple(run: Fused, function: relax.Function) -> bool:
    """Whether `function`, of which `run` is the whole, returns a tuple."""
    body = function.body.body
    return isinstance(body, relax.Tuple) or any(var is body for var, _ in run.tuples)


def emit_entry_of_run(run: Fused, function: relax.Function) -> str:
    """The entry of a Relax function that `run` is the whole of."""
    fixed = count()
    passed: list[str] = []
    for operand in run.inputs:
        if isinstance(operand.value, relax.Var):
            passed.append(f"cells[{function.params.index(operand.value)}]")
        else:
            passed.append(f"entry->fixed[{next(fixed)}]")
    params = len(function.params)
    passed += [f"rm_fresh(cells[{params + number}])" for number in range(len(run.outputs))]
    passed.append(f"entry->fixed[{next(fixed)}]")
    passed += [f"entry->numbers[{number}]" for number in range(len(run.numbers))]
    return _text(run.symbol, params + len(run.outputs), passed)


def _text(symbol: str, arrays: int, passed: list[str]) -> str:
    text = Text()
    params = "void *const capsule, const rm_args args, const int64_t count"
    with text.block(f"void *{entry_symbol(symbol)}({params})"):
        text.line("const rm_entry *const entry = rm_entry_of(capsule);")
        text.line(f"void *cells[{max(1, arrays)}];")
        text.line("if (!rm_arrays(entry, args, count, cells)) return rm_refusal();")
        text.line("rm_run run = RM_RUN_OF(entry);")
        text.line("void *const thread = rm_unlock(entry);")
        text.line(f"const int64_t status = {symbol}({', '.join(['&run', *passed])});")
        text.line("rm_lock(entry, thread);")
        text.line("return rm_steps(entry, &run, status);")
    text.line("")
    return "\n".join(text.lines)
