"""The same with numbers for symbolic dimensions: what is only legal, or only fast, where extents are known.

A program meets few shapes, each many times. For one of them its functions and runs are translated once more, the
variables of their shapes being that many; the caller checks that arguments have these shapes before it takes them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute
from refmlc.native.emit import emit_module
from refmlc.native.fuse.module import fused_run, run_again
from refmlc.native.fuse.plan import Fused, Plan
from refmlc.native.fuse.runs import Run
from refmlc.native.fuse.sizes import fold, number
from refmlc.native.fuse.step import Actual, Piece, Step, Unfused, Value, match_step
from refmlc.native.fuse.text import Writer
from refmlc.native.options import Options
from refmlc.native.text import identifier
from refmlc.native.unit import Source, Unit

Known: TypeAlias = Callable[[tir.Expr], int | None]
"""The value of an expression over symbolic dimensions; None: it has none."""


def with_dims(func: tir.PrimFunc, dims: Mapping[tir.Var, int]) -> tir.PrimFunc:
    """`func` for shapes in which the variables are `dims`."""
    table: dict[Node, Node] = {var: tir.IntImm(var.dtype, value) for var, value in dims.items()}
    return rewrite(substitute(func, table), fold)


def fuse_static(module: IRModule, source: Source, run: Fused, value_of: Known, options: Options) -> Plan | None:
    """`run` of `module`, whose functions are in `source`, for the dimensions that `value_of` knows.

    The plan has one run, with the inputs and outputs of `run`, and its text stands alone. None: a size has no value,
    or a function cannot be translated so.
    """
    symbolic, outputs = run_again(module, source, run)
    pieces: dict[Piece, Piece] = {}
    used = dict.fromkeys(part for piece in (*symbolic.inputs, *symbolic.pieces) for part in _shapes_of(piece))
    for piece in sorted(used, key=_depth):
        shape = [value_of(extent) for extent in piece.shape]
        sizes = tuple(number(extent) for extent in shape if extent is not None)
        if len(sizes) != len(shape):
            return None
        pieces[piece] = replace(piece, shape=sizes, whole=None if piece.whole is None else pieces[piece.whole])
    functions: dict[str, tir.PrimFunc] = {}
    names: dict[Step, str] = {}
    for step in symbolic.steps:
        values = [value_of(dim) for dim in step.dims]
        func = module.functions[step.unit.name]
        dims = {var: value for var, value in zip(step.unit.dims, values, strict=True) if value is not None}
        if len(dims) != len(values) or not isinstance(func, tir.PrimFunc):
            return None
        names[step] = name = "_".join([step.unit.name, *map(str, values)])
        if name not in functions:
            functions[name] = with_dims(func, dims)
    source_for_dims = emit_module(IRModule(functions), options)
    if source_for_dims.declined:
        return None
    try:
        static = _static(
            symbolic, {step: source_for_dims.units[name] for step, name in names.items()}, pieces, value_of
        )
    except Unfused:
        return None
    kept_outputs = {pieces[piece]: var for piece, var in outputs.items()}
    symbol = f"g0_{identifier(run.function)}"
    entry = Writer(static, kept_outputs).write(symbol)
    return Plan(
        source_for_dims.text + entry.text, (fused_run(run.function, run.block, static, kept_outputs, entry, symbol),)
    )


def _shapes_of(piece: Piece) -> list[Piece]:
    """The tensor, and those that it is another shape of."""
    return [piece] if piece.whole is None else [piece, *_shapes_of(piece.whole)]


def _depth(piece: Piece) -> int:
    """How many times the tensor was reshaped."""
    return 0 if piece.whole is None else 1 + _depth(piece.whole)


def _static(run: Run, units: Mapping[Step, Unit], pieces: Mapping[Piece, Piece], value_of: Known) -> Run:
    """`run` with tensors of known shapes and the functions for them. Raises `Unfused`."""

    def actual(argument: Actual) -> Actual:
        if isinstance(argument, Piece):
            return pieces[argument]
        value = None if isinstance(argument, tir.FloatImm) else value_of(argument)
        return argument if value is None else tir.IntImm(argument.dtype, value)

    def of(value: Value) -> Value:
        return tuple(pieces[part] for part in value) if isinstance(value, tuple) else pieces[value]

    entries = []
    for entry in run.entries:
        steps = []
        for step in entry.steps:
            fresh = [pieces[piece] for piece in step.made]
            steps.append(match_step(units[step], [actual(given) for given in step.actuals], fresh, step.span))
        arguments = tuple([pieces[piece] for piece in entry.arguments])
        entries.append(replace(entry, value=of(entry.value), steps=tuple(steps), equal=(), arguments=arguments))
    tuples = {var: tuple([pieces[piece] for piece in fields]) for var, fields in run.tuples.items()}
    return Run(run.start, entries, tuples)
