"""All runs of a module's dataflow blocks, in the order of the text."""

from collections.abc import Iterator, Mapping

from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.types import Type
from refmlc.lang.ir.visit import walk
from refmlc.native.fuse.plan import Fused, Operand, Plan, UnfusedBinding
from refmlc.native.fuse.runs import Block, Run, linked_units, types_of
from refmlc.native.fuse.step import Piece
from refmlc.native.fuse.text import Entry, Writer
from refmlc.native.text import identifier
from refmlc.native.unit import Source


def fuse_module(module: IRModule, source: Source, prefix: str = "") -> Plan:
    """The runs of bindings of `module` whose callees are in `source`; their text is to follow that of `source`.

    Their symbols begin with `prefix`.
    """
    linked = linked_units(module, source.units)
    texts: list[str] = []
    runs: list[Fused] = []
    apart: list[UnfusedBinding] = []
    for name, dataflow, types in _blocks(module):
        block = Block(dataflow, source.units, linked, types)
        for run, outputs in _runs_of(block):
            symbol = f"{prefix}g{len(runs)}_{identifier(name)}"
            entry = Writer(run, outputs).write(symbol)
            texts.append(entry.text)
            runs.append(fused_run(name, dataflow, run, outputs, entry, symbol))
        apart += [UnfusedBinding(name, dataflow.bindings[at], why.reason) for at, why in sorted(block.reasons.items())]
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
    for _, dataflow, types in _blocks(module):
        if dataflow is earlier.block:
            return Block(dataflow, source.units, linked, types).run_from(earlier.start)
    raise KeyError(earlier.symbol)


def _blocks(module: IRModule) -> Iterator[tuple[str, relax.DataflowBlock, Mapping[relax.Var, Type | None]]]:
    """Every dataflow block, with the name of the function around it and what is known of variables there."""
    for name, function in module.functions.items():
        if isinstance(function, relax.Function):
            types = types_of(function, module)
            yield from ((name, node, types) for node in walk(function) if isinstance(node, relax.DataflowBlock))


def fused_run(
    name: str, block: relax.DataflowBlock, run: Run, outputs: dict[Piece, relax.Var], entry: Entry, symbol: str
) -> Fused:
    """What the caller of the C function must know."""
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
    )
