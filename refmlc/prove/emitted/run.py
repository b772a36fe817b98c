"""An emitted unit executed on fingerprints: compiled as C++ (g++), called once on the elements of its arguments.

Each buffer that is passed has an element of the caller in each place, and is initialised. What C leaves to the
interpreter (a check of data that fails) is no part of the outcome.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, walk
from refmlc.lang.ops.evaluate import evaluate
from refmlc.native.compile import BuildFailed, Library, ffi
from refmlc.native.compile.compiler import HEADERS
from refmlc.native.compile.wall import check_unit
from refmlc.native.emit.module import emit_module
from refmlc.native.options import Options
from refmlc.native.tier.compiled_module import c_type
from refmlc.native.unit import BufferParam, ScalarParam, Source, Status, Unit
from refmlc.prove.emitted.fingerprints import held
from refmlc.prove.emitted.text import WHOLE, Commutes, wrapper
from refmlc.prove.execute import SCALAR, SIZE
from refmlc.prove.terms import Undecided, commutes
from refmlc.system.command import run
from refmlc.system.folders import Folder

OWN = Path(__file__).parent / "headers"
FLAGS = ("-std=gnu++20", "-O2", "-shared", "-fPIC", "-fpermissive", "-w", "-fwrapv", "-fno-strict-aliasing")
# -fpermissive: C may jump over the initialisation of a number, and give memory a type without a cast
POISON = "-ftrivial-auto-var-init=pattern"  # memory that nobody wrote has one content, which no argument has
UNWRITTEN = 0xFEFEFEFEFEFEFEFE
LIMIT = 120.0  # seconds of compilation
GREATEST = (1 << 62) - 1
TROUBLE = {
    1: "a mask holds no conditions",
    2: "a number beside data is none of its dtype",
}
WIDEST = 160
SIGNS = (
    (r"to ‘bool’|operand types are ‘(bool|rm_term<1>)’ and ‘(bool|rm_term<1>)’", "a condition depends on data"),
    (r"operator\[\]", "an index depends on data"),
    (r"to (type )?‘(const )?(int64_t|long int|int|double)’", "an index or a size depends on data"),
    (r"operator\?:|operands to ‘\?:’", "a choice has data and a number for sides"),
)
"""What the compiler says of units whose control, indices or sizes depend on data."""


@dataclass(frozen=True)
class Outcome:
    """What one form of a function leaves: each buffer with its shape, and a fingerprint per element.

    `unfolded`: an operator on numbers alone is an expression here, and a number in the interpreter.
    """

    buffers: Sequence[tir.Buffer]
    shapes: Sequence[tuple[int, ...]]
    cells: Sequence[np.ndarray[Any, np.dtype[np.uint64]]]
    unfolded: bool


def emitted(module: IRModule, func: str, options: Options) -> Source:
    """The C of one function. Fails: Undecided where there is none."""
    function = module.functions.get(func)
    if isinstance(function, tir.PrimFunc):
        _refuse_protected(function)
    source = emit_module(module, options, [func])
    declined = source.declined.get(func)
    if declined is not None:
        raise Undecided(f"it is interpreted because {declined.reason}", declined.span)
    if func not in source.units:
        raise Undecided(f"`{func}` is no PrimFunc")
    return source


def _refuse_protected(func: tir.PrimFunc) -> None:
    """Require that no condition on data keeps an index in bounds: both sides are evaluated. Fails: Undecided."""
    for node in walk(func):
        match node:
            case tir.And(condition, second) | tir.Or(condition, second):
                sides: tuple[tir.Expr, ...] = (second,)
            case tir.IfThenElseExpr(condition, yes, no):
                sides = (yes, no)
            case _:
                continue
        loads = [part for side in sides for part in walk(side) if isinstance(part, tir.BufferLoad)]
        indices = {
            part for load in loads for index in load.indices for part in walk(index) if isinstance(part, tir.Var)
        }
        if any(isinstance(part, tir.BufferLoad) for part in walk(condition)) and indices & _compared(condition):
            raise Undecided("an index is in bounds under a condition on data only", condition.span)


def _compared(node: Node) -> set[tir.Var]:
    """The variables in an expression that are no part of an index."""
    if isinstance(node, tir.BufferLoad):
        return set()
    own = {node} if isinstance(node, tir.Var) else set()
    return own.union(*(_compared(child) for child in children(node)))


def outcome_of(
    source: Source, func: str, dims: Mapping[str, int], secret: Sequence[int], swapped: Commutes = commutes
) -> Outcome:
    """What the C of `func` leaves, under `secret`. Sizes and scalars are those of `dims`, else as in `SymbolicCall`.

    Fails: Undecided where the C does not compile (control, an index or a size depends on data), or stops.
    """
    return executed(compiled(source, swapped), source.units[func], dims, secret)


def _shape(buffer: tir.Buffer, dims: Mapping[str, int], values: dict[tir.Expr, int]) -> tuple[int, ...]:
    held(buffer.dtype)
    if buffer.strides or buffer.elem_offset is not None:
        raise Undecided(f"`{buffer.name}` has strides or an offset", buffer.span)
    for extent in buffer.shape:
        for var in walk(extent):
            if isinstance(var, tir.Var):
                values.setdefault(var, dims.get(var.name, SIZE))
    try:
        return tuple(int(evaluate(extent, values)) for extent in buffer.shape)  # type: ignore[arg-type]
    except RefmlcError as problem:
        raise Undecided(problem.diagnostic.message, buffer.span) from None


def compiled(source: Source, swapped: Commutes = commutes) -> Library:
    """The unit as C++, loaded. Fails: Undecided with the first thing that the compiler has against it."""
    text = source.text
    compiler = shutil.which("g++")
    if compiler is None:
        raise Undecided("there is no g++")
    check_unit(text)
    with Folder("fingerprints") as folder:
        (folder / WHOLE).write_text(text, encoding="utf-8")
        (folder / "unit.cpp").write_text(wrapper(text, swapped), encoding="utf-8")
        command = [compiler, *FLAGS, POISON, f"-I{OWN}", f"-I{HEADERS}", "unit.cpp", "-o", "unit.so"]
        ended = run(command, LIMIT, folder=folder)
        if ended.status is None:
            raise Undecided(f"g++ was ended after {LIMIT:g} s")
        if ended.status:
            first = next((line for line in ended.printed.splitlines() if "error:" in line), ended.printed[:WIDEST])
            raise Undecided(_plain(first))
        try:
            return Library(str(folder / "unit.so"))
        except BuildFailed as problem:
            raise Undecided(str(problem)) from None


def _plain(line: str) -> str:
    """Why the unit does not compile, from what the compiler says first."""
    message = line.partition("error:")[2].strip()
    undeclared = re.search(r"‘(\w+)’ was not declared", message)
    if undeclared is not None:
        return f"`{undeclared[1]}` has no form on fingerprints"
    reason = next((reason for sign, reason in SIGNS if re.search(sign, message)), None)
    return f"on fingerprints the C does not compile: {message[:WIDEST]}" if reason is None else reason


def executed(library: Library, unit: Unit, dims: Mapping[str, int], secret: Sequence[int]) -> Outcome:
    """What one call of a unit of `library` leaves. Fails: Undecided."""
    arguments = _Arguments(unit, dims)
    try:
        return _called(library, unit, arguments, secret)
    except BuildFailed as problem:
        raise Undecided(str(problem)) from None


class _Arguments:
    """What is passed: cells of fingerprints for each buffer, its shadow, numbers; `kept` owns the memory."""

    def __init__(self, unit: Unit, dims: Mapping[str, int]) -> None:
        self.buffers = [param.buffer for param in unit.params if isinstance(param, BufferParam)]
        self.values: dict[tir.Expr, int] = {}
        self.shapes = [_shape(buffer, dims, self.values) for buffer in self.buffers]
        self.cells: list[np.ndarray[Any, np.dtype[np.uint64]]] = []
        self.kept: list[object] = []
        self.passed: list[object] = []
        for param in unit.params:
            if isinstance(param, ScalarParam):
                value = self.values.get(param.var, dims.get(param.var.name, SCALAR))
                self.passed.append(float(value) if param.var.dtype.is_float else int(value))
            else:
                self._pass_buffer(param)
        self.passed += [self.values[var] for var in unit.dims]

    def _pass_buffer(self, param: BufferParam) -> None:
        count = prod(self.shapes[len(self.cells)])
        self.cells.append(np.zeros((max(1, count), 2), np.uint64)[:count])
        self._pass_memory(self.cells[-1].base)
        if param.tracked:
            self._pass_memory(np.ones(max(1, count), np.uint8))

    def _pass_memory(self, array: Any) -> None:  # noqa: ANN401 - what owns an array has no type
        pointer = ffi().from_buffer(array)
        self.kept.append(pointer)
        self.passed.append(ffi().cast("void *", pointer))


def _called(library: Library, unit: Unit, arguments: _Arguments, secret: Sequence[int]) -> Outcome:
    interface = ffi()
    library.function("rm_begin", "void (*)(uint64_t *)")(interface.new("uint64_t[4]", list(secret)))
    fill = library.function("rm_fill", "void (*)(void *, int64_t, int64_t)")
    for number, cells in enumerate(arguments.cells):
        fill(interface.cast("void *", interface.from_buffer(cells.base)), len(cells), number)
    state = interface.new("rm_run *", {"fuel": GREATEST, "turns": GREATEST, "memory": GREATEST})
    status = library.function(unit.symbol, c_type(unit))(state, *arguments.passed)
    trouble = library.function("rm_end", "int64_t (*)(void)")()
    unfolded = library.function("rm_has_unfolded", "int64_t (*)(void)")()
    if status != Status.DONE:
        raise Undecided(f"the C stops: {Status(status).name.lower().replace('_', ' ')}")
    if trouble:
        raise Undecided(TROUBLE[trouble])
    return Outcome(tuple(arguments.buffers), tuple(arguments.shapes), tuple(arguments.cells), bool(unfolded))
