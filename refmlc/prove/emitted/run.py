"""An emitted unit executed on fingerprints: compiled as C++ (g++), called once on the elements of its arguments.

Each buffer that is passed has an element of the caller in each place, and is initialised. What C leaves to the
interpreter (a check of data that fails) is no part of the outcome.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refmlc.diag import RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.visit import walk
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
    1: "an operator that has numbers for operands is not computed on fingerprints",
    2: "a mask holds no conditions",
    3: "a number beside data is none of its dtype",
}
WIDEST = 160


@dataclass(frozen=True)
class Outcome:
    """What one form of a function leaves: for each buffer its name, dtype and shape, and a fingerprint per element."""

    text: str
    buffers: Sequence[tir.Buffer]
    shapes: Sequence[tuple[int, ...]]
    cells: Sequence[np.ndarray[Any, np.dtype[np.uint64]]]


def emitted(module: IRModule, func: str, options: Options) -> Source:
    """The C of one function. Fails: Undecided where there is none."""
    source = emit_module(module, options, [func])
    declined = source.declined.get(func)
    if declined is not None:
        raise Undecided(f"it is interpreted because {declined.reason}", declined.span)
    if func not in source.units:
        raise Undecided(f"`{func}` is no PrimFunc")
    return source


def outcome_of(
    source: Source, func: str, dims: Mapping[str, int], secret: Sequence[int], swapped: Commutes = commutes
) -> Outcome:
    """What the C of `func` leaves, under `secret`. Sizes and scalars are those of `dims`, else as in `SymbolicCall`.

    Fails: Undecided where the C does not compile (control, an index or a size depends on data), or stops.
    """
    unit = source.units[func]
    buffers = [param.buffer for param in unit.params if isinstance(param, BufferParam)]
    values: dict[tir.Expr, int] = {}
    shapes = [_shape(buffer, dims, values) for buffer in buffers]
    library = _compiled(source.text, swapped)
    try:
        return _called(library, source.text, unit, buffers, shapes, values, dims, secret)
    except BuildFailed as problem:
        raise Undecided(str(problem)) from None


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


def _compiled(text: str, swapped: Commutes) -> Library:
    """The unit as C++, loaded. Fails: Undecided with the first thing that the compiler has against it."""
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
            raise Undecided(f"on terms the C does not compile: {_plain(first)}")
        try:
            return Library(str(folder / "unit.so"))
        except BuildFailed as problem:
            raise Undecided(str(problem)) from None


def _plain(line: str) -> str:
    """What the compiler says, without the place and what types are made of."""
    message = line.partition("error:")[2].strip()
    message = re.sub(r"\{aka [^}]*\}", "", message)
    return message[:WIDEST]


def _called(
    library: Library,
    text: str,
    unit: Unit,
    buffers: Sequence[tir.Buffer],
    shapes: Sequence[tuple[int, ...]],
    values: Mapping[tir.Expr, int],
    dims: Mapping[str, int],
    secret: Sequence[int],
) -> Outcome:
    interface = ffi()
    fill = library.function("rm_fill", "void (*)(uint64_t *, int64_t, int64_t)")
    library.function("rm_begin", "void (*)(uint64_t *)")(interface.new("uint64_t[4]", list(secret)))
    cells: list[np.ndarray[Any, np.dtype[np.uint64]]] = []
    kept: list[object] = []
    passed: list[object] = []
    for param in unit.params:
        if isinstance(param, ScalarParam):
            value = values.get(param.var, dims.get(param.var.name, SCALAR))
            passed.append(float(value) if param.var.dtype.is_float else int(value))
            continue
        count = int(np.prod(shapes[len(cells)], dtype=np.int64))
        array = np.zeros((count, 2), np.uint64)
        pointer = interface.from_buffer("uint64_t[]", array) if count else interface.NULL
        if count:
            fill(pointer, count, len(cells))
        kept.append(pointer)
        cells.append(array)
        passed.append(interface.cast("void *", pointer))
        if param.tracked:
            shadow = interface.new("uint8_t[]", b"\1" * max(1, count))
            kept.append(shadow)
            passed.append(interface.cast("void *", shadow))
    passed += [values[var] for var in unit.dims]
    state = interface.new("rm_run *", {"fuel": GREATEST, "turns": GREATEST, "memory": GREATEST})
    status = library.function(unit.symbol, c_type(unit))(state, *passed)
    trouble = library.function("rm_end", "int64_t (*)(void)")()
    if status != Status.DONE:
        raise Undecided(f"the C stops: {Status(status).name.lower().replace('_', ' ')}")
    if trouble:
        raise Undecided(TROUBLE[trouble])
    return Outcome(text, tuple(buffers), tuple(shapes), tuple(cells))
