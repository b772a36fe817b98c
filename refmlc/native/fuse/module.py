"""All runs of a module's blocks, in the order of the text."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.types import Type
from refmlc.lang.ir.visit import walk
from refmlc.native.fuse.plan import Fused, Operand, Plan, UnfusedBinding
from refmlc.native.fuse.runs import Block, Run, leaving_variables, linked_units, types_of
from refmlc.native.fuse.step import Piece
from refmlc.native.fuse.text import Entry, Writer
from refmlc.native.text import identifier
from refmlc.native.unit import Source

Types: TypeAlias = Mapping[relax.Var, Type | None]


def fuse_module(module: IRModule, source: Source, prefix: str = "") -> Plan:
    """The runs of bindings of `module` whose callees are in `source`; their text is to follow that of `source`.

    Their symbols begin with `prefix`.
    """
    linked = linked_units(module, source.units)
    texts: list[str] = []
    runs: list[Fused] = []
    apart: list[UnfusedBinding] = []
    for name, bindings, types, leaving in _blocks(module):
        block = Block(bindings, source.units, linked, types, leaving, functions_of(module), [name])
        for run, outputs in _runs_of(block):
            symbol = f"{prefix}g{len(runs)}_{identifier(name)}"
            entry = Writer(run, outputs).write(symbol)
            texts.append(entry.text)
            runs.append(fused_run(name, bindings, run, outputs, entry, symbol))
        apart += [UnfusedBinding(name, bindings.bindings[at], why.reason) for at, why in sorted(block.reasons.items())]
    return Plan("\n".join(texts), tuple(runs), tuple(apart))


def _runs_of(block: Block) -> list[tuple[Run, dict[Piece, relax.Var]]]:
    """The runs of a block; none where its expressions nest too deep to be looked at."""
    try:
        return list(block.runs())
    except RecursionError:
        return []


def run_again(module: IRModule, source: Source, earlier: Fused) -> tuple[Run, dict[Piece, relax.Var]]:
    """The run that became `earlier`, looked up anew, and its outputs."""
    linked = linked_units(module, source.units)
    for name, bindings, types, leaving in _blocks(module):
        if bindings is earlier.block:
            block = Block(bindings, source.units, linked, types, leaving, functions_of(module), [name])
            return block.run_from(earlier.start)
    raise KeyError(earlier.symbol)


def functions_of(module: IRModule) -> Mapping[str, relax.Function]:
    """The functions of Relax, by name."""
    return {name: function for name, function in module.functions.items() if isinstance(function, relax.Function)}


def _blocks(module: IRModule) -> Iterator[tuple[str, relax.Block, Types, set[relax.Var]]]:
    """Every block: the name of the function around it, what is known of variables there, those used outside of it."""
    for name, function in functions_of(module).items():
        types, leaving = types_of(function, module), leaving_variables(function)
        for node in walk(function):
            if isinstance(node, relax.Block):
                yield name, node, types, leaving.get(id(node), set())


def fused_run(
    name: str, block: relax.Block, run: Run, outputs: dict[Piece, relax.Var], entry: Entry, symbol: str
) -> Fused:
    """What the caller of the C function must know."""
    numbers = {piece: number for number, piece in enumerate(outputs)}
    tuples = tuple((var, tuple([numbers[piece] for piece in pieces])) for var, pieces in run.tuples.items())
    equal = {id(pair): pair for binding_entry in run.entries for pair in binding_entry.equal}
    return Fused(
        function=name,
        block=block,
        start=run.start,
        stop=run.stop,
        symbol=symbol,
        inputs=tuple(Operand(piece.operand, piece.dtype, piece.shape) for piece in entry.inputs if piece.operand),
        outputs=tuple(Operand(var, piece.dtype, piece.shape) for piece, var in outputs.items()),
        numbers=entry.numbers,
        equal=tuple(equal.values()),
        workspace=entry.workspace,
        allocated=entry.allocated,
        calls=tuple(step.unit.name for step in run.steps),
        tuples=tuples,
        charged=sum(entry.charged for entry in run.entries),
        levels=max(entry.levels for entry in run.entries),
    )
