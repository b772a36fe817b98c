"""Which bindings of a dataflow block are executed together.

| binding                                                         | in a run                                        |
|-----------------------------------------------------------------|-------------------------------------------------|
| `call_tir`, `call_tir_with_grad` of a function that is in C     | a call                                          |
| `call_dps_packed` of such a function, by its name               | a call                                          |
| `call_tir_inplace`, where the written argument was made in the run | a call                                       |
| a field of a tuple that a call of the run returned              | another name                                    |
| a variable bound in the run                                     | another name                                    |
| anything else (library calls, casts, other operators)           | ends it                                         |

A run is as long as it can be, but ends before what would make it hand out a tuple, one tensor under two names, or one
of its inputs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.infer import type_of
from refmlc.native.fuse.sizes import number
from refmlc.native.fuse.step import Actual, Pair, Piece, Step, Unfused, Value, declared_pairs, match_step
from refmlc.native.unit import Unit

CALLS = ("call_tir", "call_tir_with_grad", "call_dps_packed", "call_tir_inplace")
MOST_TENSORS = 200  # that come from outside: each is a parameter in C


@dataclass(frozen=True, slots=True)
class Entry:
    """One binding of a run. `step` None: another name only."""

    var: relax.Var
    value: Value
    step: Step | None
    equal: tuple[Pair, ...]


@dataclass(slots=True)
class Run:
    """Bindings from `start` on, one entry each."""

    start: int
    entries: list[Entry] = field(default_factory=list)

    @property
    def stop(self) -> int:
        """The number of the first binding after it."""
        return self.start + len(self.entries)

    @property
    def steps(self) -> list[Step]:
        """The calls, in order."""
        return [entry.step for entry in self.entries if entry.step is not None]

    @property
    def inputs(self) -> list[Piece]:
        """The tensors from outside, in the order of their first use."""
        actuals = (actual for step in self.steps for actual in step.actuals)
        return list(dict.fromkeys(piece for piece in actuals if isinstance(piece, Piece) and piece.operand is not None))


@dataclass(slots=True)
class Block:
    """A dataflow block that is looked through.

    `units`: the functions in C; `linked`: by exported names too; `types`: what is known of variables.
    """

    block: relax.DataflowBlock
    units: Mapping[str, Unit]
    linked: Mapping[str, Unit]
    types: Mapping[relax.Var, Type | None]
    names: dict[relax.Var, Value] = field(default_factory=dict)
    outside: dict[relax.Var | relax.Constant, Piece] = field(default_factory=dict)
    last_use: dict[relax.Var, int] = field(default_factory=dict)
    reasons: dict[int, Unfused] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find where each variable is used last."""
        for place, binding in enumerate(self.block.bindings):
            for node in walk(binding.value):
                if isinstance(node, relax.Var):
                    self.last_use[node] = place

    def runs(self) -> Iterator[tuple[Run, dict[Piece, relax.Var]]]:
        """The runs, as long as they can be, each with what it hands out; `reasons` says why bindings are in none."""
        start = 0
        while start < len(self.block.bindings):
            run, outputs = self.run_from(start)
            for place in range(run.start, run.stop):
                self.reasons.pop(place, None)
            if run.entries:
                yield run, outputs
            start = max(run.stop, start + 1)

    def run_from(self, start: int) -> tuple[Run, dict[Piece, relax.Var]]:
        """The longest run from `start` on; without entries where there is none."""
        run = Run(start)
        self.names.clear()
        self.outside.clear()
        for place in range(start, len(self.block.bindings)):
            try:
                run.entries.append(self._entry(self.block.bindings[place]))
            except Unfused as reason:
                self.reasons[place] = reason
                break
        while run.entries:
            try:
                return run, self._outputs(run)
            except Unfused as reason:
                self.reasons[run.stop - 1] = reason
                run.entries.pop()
        return run, {}

    def _outputs(self, run: Run) -> dict[Piece, relax.Var]:
        """The tensors that are used after the run, with the variables they are known by there. Raises `Unfused`."""
        outputs: dict[Piece, relax.Var] = {}
        for entry in run.entries:
            var = entry.var
            if var.dataflow and self.last_use.get(var, 0) < run.stop:
                continue
            if not isinstance(entry.value, Piece) or entry.value.operand is not None or entry.value in outputs:
                raise Unfused(f"`{var.name}` is not a tensor of its own", var.span)
            outputs[entry.value] = var
        return outputs

    def _entry(self, binding: relax.Binding) -> Entry:
        """What `binding` does in a run. Raises `Unfused`."""
        var, span = binding.var, binding.span or binding.var.span
        if not isinstance(binding, relax.VarBinding):
            raise Unfused("it is a match_cast", span)
        step, value = None, self._alias(binding.value, span)
        if value is None:
            step, value = self._call(binding.value, var, span)
        equal = declared_pairs(var.ty, value, span)
        self.names[var] = value
        return Entry(var, value, step, (*(step.equal if step is not None else ()), *equal))

    def _alias(self, node: relax.Expr, span: Span | None) -> Value | None:
        """What `node` is another name of; None: it is a call."""
        match node:
            case relax.Var() if node in self.names:
                return self.names[node]
            case relax.TupleGetItem(relax.Var() as var, index) if var in self.names:
                fields = self.names[var]
                if isinstance(fields, tuple) and 0 <= index < len(fields):
                    return fields[index]
            case relax.Call(relax.Op(name)) if name in CALLS:
                return None
            case _:
                pass
        raise Unfused("it calls no function of the module", span)

    def _call(self, node: relax.Expr, var: relax.Var, span: Span | None) -> tuple[Step, Value]:
        """A call, and what it returns. Raises `Unfused`."""
        if not (isinstance(node, relax.Call) and isinstance(node.op, relax.Op) and len(node.args) in (2, 3)):
            raise Unfused("it is not a call that allocates its outputs", span)
        unit = self._unit(node.args[0], span)
        if not isinstance(node.args[1], relax.Tuple):
            raise Unfused("its arguments are not written as a tuple", span)
        args = [self._argument(arg, span) for arg in node.args[1].fields]
        types, several = _output_types(node, span)
        places = _inplace(node, len(types), span)
        outputs, fresh = [], []
        equal: list[Pair] = []
        for number_, (ty, place) in enumerate(zip(types, places, strict=True)):
            if place == -1:
                fresh.append(_fresh_piece(f"{var.name}_{number_}" if several else var.name, ty, span))
                outputs.append(fresh[-1])
                continue
            argument = args[place] if place < len(args) else None
            if not isinstance(argument, Piece):
                raise Unfused("an output is no argument", span)
            equal += declared_pairs(ty, argument, span)
            outputs.append(argument)
        step = match_step(unit, [*args, *fresh, *_ints(node, span)], fresh, span)
        if len(self.outside) > MOST_TENSORS:
            raise Unfused("too many tensors come from outside", span)
        full_step = Step(unit, step.actuals, step.made, step.dims, (*step.equal, *equal), span)
        return full_step, tuple(outputs) if several else outputs[0]

    def _unit(self, callee: relax.Expr, span: Span | None) -> Unit:
        """The function called. Raises `Unfused`."""
        match callee:
            case tir.GlobalVar(name):
                unit = self.units.get(name)
            case relax.ExternFunc(name):
                unit = self.linked.get(name)
            case _:
                raise Unfused("it calls no function by name", span)
        if unit is None:
            raise Unfused(f"`{name}` is not compiled", span)
        return unit

    def _argument(self, node: relax.Expr, span: Span | None) -> Actual:
        """An argument of a call. Raises `Unfused`."""
        match node:
            case relax.Var() if node in self.names:
                value = self.names[node]
                if isinstance(value, Piece):
                    return value
            case relax.Var():
                ty = self.types.get(node, node.ty)
                if isinstance(ty, TensorType) and ty.shape is not None and ty.dtype is not None:
                    return self.outside.setdefault(node, Piece(node.name, ty.dtype, ty.shape, node))
            case relax.Constant(data, dtype):
                shape = tuple(number(extent) for extent in data.shape)
                return self.outside.setdefault(node, Piece("constant", dtype, shape, node))
            case relax.PrimValue(value):
                return value
            case _:
                pass
        raise Unfused("an argument is not a tensor of known shape", span)


def _output_types(node: relax.Call, span: Span | None) -> tuple[tuple[Type, ...], bool]:
    """The types of the outputs, and whether they are returned as a tuple."""
    match node.ty_args:
        case (TupleType(fields),):
            return fields, True
        case (single,):
            return (single,), False
        case _:
            raise Unfused("it does not say what it returns", span)


def _fresh_piece(name: str, ty: Type, span: Span | None) -> Piece:
    match ty:
        case TensorType(shape=tuple() as shape, dtype=dtype) if dtype is not None and not dtype.is_vector:
            return Piece(name, dtype, shape)
        case _:
            raise Unfused("an output has no known shape", span)


def _inplace(node: relax.Call, outputs: int, span: Span | None) -> Sequence[int]:
    """For each output the argument that it is, or -1."""
    if not isinstance(node.op, relax.Op) or node.op.name != "call_tir_inplace":
        return (-1,) * outputs
    attribute = node.attrs.get("inplace_indices", ())
    items = attribute if isinstance(attribute, tuple | list) else (attribute,)
    numbers = [item.value if isinstance(item, tir.IntImm) else item for item in items]
    indices = [item for item in numbers if isinstance(item, int) and item >= -1]
    if len(indices) != len(numbers) or len(indices) != outputs:
        raise Unfused("its in-place indices do not fit its outputs", span)
    return indices


def _ints(node: relax.Call, span: Span | None) -> Sequence[tir.Expr]:
    """The numbers that follow the outputs."""
    if len(node.args) == 2:
        return ()
    if not isinstance(node.args[2], relax.ShapeExpr):
        raise Unfused("its further arguments are not a list of dimensions", span)
    return node.args[2].values


def types_of(function: relax.Function, module: IRModule) -> Mapping[relax.Var, Type | None]:
    """What is known of the variables that are bound in `function`: as declared, else what follows for their values."""
    types: dict[relax.Var, Type | None] = {}
    for node in walk(function):
        match node:
            case relax.VarBinding(var, value):
                types[var] = type_of(value, module, types) if var.ty is None else var.ty
            case relax.MatchCast(var, _, ty):
                types[var] = ty if var.ty is None else var.ty
            case _:
                pass
    return types


def linked_units(module: IRModule, units: Mapping[str, Unit]) -> Mapping[str, Unit]:
    """The functions in C by the names that packed calls use: those of the module first, then what they export.

    A name means the first function that has it (RLX-132), which may be one that is not in C.
    """
    by_name: dict[str, Unit | None] = {name: units.get(name) for name in module.functions}
    for name, function in module.functions.items():
        exported = None if isinstance(function, relax.ExternFunc) else function.attrs.get("global_symbol")
        if isinstance(exported, str):
            by_name.setdefault(exported, units.get(name))
    return {name: unit for name, unit in by_name.items() if unit is not None}
