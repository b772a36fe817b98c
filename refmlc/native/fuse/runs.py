"""Which bindings of a block are executed together.

| binding                                                         | in a run                                        |
|-----------------------------------------------------------------|-------------------------------------------------|
| `call_tir`, `call_tir_with_grad` of a function that is in C     | a call                                          |
| `call_dps_packed` of such a function, by its name               | a call                                          |
| `call_tir_inplace`, where the written argument was made in the run | a call                                       |
| a variable bound in the run, a field of a tuple of such         | another name                                    |
| a tuple of tensors that are bound in the run                    | a name for these                                |
| a call of a function of Relax that is a run as a whole          | its bindings                                    |
| `reshape` to a shape that has no negative extent                | the same memory                                 |
| anything else (library calls, casts, other operators)           | ends it                                         |

A run is as long as it can be, but ends before what would make it hand out one tensor under two names or in two shapes,
one of its inputs, or a tuple with a tensor that has no name.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType, TupleType, Type
from refmlc.lang.ir.visit import children, substitute, walk
from refmlc.lang.wellformed.infer import type_of
from refmlc.native.fuse.sizes import count, number
from refmlc.native.fuse.step import Actual, Pair, Piece, Step, Unfused, Value, declared_pairs, match_step, pairs
from refmlc.native.unit import Unit

CALLS = ("call_tir", "call_tir_with_grad", "call_dps_packed", "call_tir_inplace")
MOST_TENSORS = 200  # that come from outside: each is a parameter in C
MOST_STEPS = 2000  # of functions that are called, all together: they may call others twice, and these others twice


@dataclass(frozen=True, slots=True)
class Entry:
    """One binding of a run: its calls (none: another name only).

    `arguments` are passed to a function of Relax, whose bindings the calls are; it charges `charged` steps besides
    those of the calls, and nests `levels` calls.
    """

    var: relax.Var
    value: Value
    steps: tuple[Step, ...] = ()
    equal: tuple[Pair, ...] = ()
    arguments: tuple[Piece, ...] = ()
    charged: int = 0
    levels: int = 0


@dataclass(slots=True)
class Run:
    """Bindings from `start` on, one entry each. `tuples` are handed out."""

    start: int
    entries: list[Entry] = field(default_factory=list)
    tuples: dict[relax.Var, tuple[Piece, ...]] = field(default_factory=dict)

    @property
    def stop(self) -> int:
        """The number of the first binding after it."""
        return self.start + len(self.entries)

    @property
    def steps(self) -> list[Step]:
        """The calls, in order."""
        return [step for entry in self.entries for step in entry.steps]

    @property
    def inputs(self) -> list[Piece]:
        """The tensors from outside, in the order of their first use."""
        return list(dict.fromkeys(piece.memory for piece in self.pieces if piece.memory.operand is not None))

    @property
    def pieces(self) -> list[Piece]:
        """Every tensor, in the order of the first use."""
        pieces: dict[Piece, None] = {}
        for entry in self.entries:
            actuals = [actual for step in entry.steps for actual in step.actuals]
            values = entry.value if isinstance(entry.value, tuple) else (entry.value,)
            parts = (*entry.arguments, *actuals, *values)
            pieces |= dict.fromkeys(piece for piece in parts if isinstance(piece, Piece))
        return list(pieces)


@dataclass(slots=True)
class Block:
    """A block that is looked through.

    `units`: the functions in C; `linked`: by exported names too; `types`: what is known of variables; `leaving`: the
    variables that are used outside of the block; `functions`: those of Relax; `callers`: those that are being called.
    """

    block: relax.Block
    units: Mapping[str, Unit]
    linked: Mapping[str, Unit]
    types: Mapping[relax.Var, Type | None]
    leaving: Collection[relax.Var]
    functions: Mapping[str, relax.Function]
    callers: list[str]
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
                run.entries.append(self.entry(self.block.bindings[place]))
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
        names = {entry.value: entry.var for entry in reversed(run.entries) if isinstance(entry.value, Piece)}
        run.tuples.clear()
        for entry in run.entries:
            var = entry.var
            if var not in self.leaving and self.last_use.get(var, 0) < run.stop:
                continue
            if isinstance(entry.value, tuple):
                run.tuples[var] = entry.value
                pieces = {piece: outputs.get(piece) or names.get(piece) for piece in entry.value}
            else:
                pieces = {entry.value: None if entry.value in outputs else var}
            for piece, name in pieces.items():
                if name is None or piece.memory.operand is not None:
                    raise Unfused(f"`{var.name}` is not a tensor of its own", var.span)
                outputs[piece] = name
        if not run.steps:
            raise Unfused("it calls no function of the module", run.entries[-1].var.span)
        if len({piece.memory for piece in outputs}) < len(outputs):
            raise Unfused("a tensor leaves in two shapes", run.entries[-1].var.span)
        return outputs

    def entry(self, binding: relax.Binding) -> Entry:
        """What `binding` does in a run. Raises `Unfused`."""
        var, span = binding.var, binding.span or binding.var.span
        if not isinstance(binding, relax.VarBinding):
            raise Unfused("it is a match_cast", span)
        entry = self._bound(var, binding.value, span)
        self.names[var] = entry.value
        return replace(entry, equal=(*entry.equal, *declared_pairs(var.ty, entry.value, span)))

    def _bound(self, var: relax.Var, node: relax.Expr, span: Span | None) -> Entry:
        """What binding `var` to `node` does. Raises `Unfused`."""
        match node:
            case relax.Call(relax.Op(name)) if name in CALLS:
                step, value = self._call(node, var, span)
                return Entry(var, value, (step,), step.equal)
            case relax.Call(relax.Op("reshape"), (_, _)):
                return self._reshaped(node, var, span)
            case relax.Call(tir.GlobalVar(name)) if name in self.functions:
                return self._inside(node, name, var, span)
            case _:
                return Entry(var, self._alias(node, span))

    def _inside(self, node: relax.Call, name: str, var: relax.Var, span: Span | None) -> Entry:
        """The bindings of the function of Relax that is called. Raises `Unfused`."""
        arguments = tuple([piece for arg in node.args if isinstance(piece := self._argument(arg, span), Piece)])
        if name in self.callers or len(arguments) != len(self.functions[name].params):
            raise Unfused(f"`{name}` calls itself, or its arguments are not its tensors", span)
        function, equal = _with_arguments(self.functions[name], arguments, span)
        outer, self.names = self.names, dict(zip(function.params, arguments, strict=True))
        self.callers.append(name)
        try:
            entries = [entry for block in function.body.blocks for entry in self._entries(block)]
            result = self._bound(relax.Var("result", None), function.body.body, span)
        finally:
            self.names = outer
            self.callers.pop()
        inner = (*entries, result)
        steps = tuple([step for entry in inner for step in entry.steps])
        if len(steps) > MOST_STEPS:
            raise Unfused("too many functions are called", span)
        returned = declared_pairs(function.result_ty, result.value, span)
        return Entry(
            var,
            result.value,
            steps,
            (*equal, *(pair for entry in inner for pair in entry.equal), *returned),
            (*arguments, *(argument for entry in inner for argument in entry.arguments)),
            1 + len(entries) + sum(entry.charged for entry in inner),
            1 + max(entry.levels for entry in inner),
        )

    def _entries(self, block: relax.Block) -> list[Entry]:
        """What the bindings of a block of a function that is called do; its dataflow variables end with it."""
        entries = [self.entry(binding) for binding in block.bindings]
        if isinstance(block, relax.DataflowBlock):
            self.names = {var: value for var, value in self.names.items() if not var.dataflow}
        return entries

    def _alias(self, node: relax.Expr, span: Span | None) -> Value:
        """What `node` is another name of. Raises `Unfused`."""
        match node:
            case relax.Var() if node in self.names:
                return self.names[node]
            case relax.TupleGetItem(relax.Var() as var, index) if var in self.names:
                fields = self.names[var]
                if isinstance(fields, tuple) and 0 <= index < len(fields):
                    return fields[index]
            case relax.Tuple(fields) if fields:
                pieces = [self.names.get(part) if isinstance(part, relax.Var) else None for part in fields]
                if all(isinstance(piece, Piece) for piece in pieces):
                    return tuple([piece for piece in pieces if isinstance(piece, Piece)])
            case _:
                pass
        raise Unfused("it calls no function of the module", span)

    def _reshaped(self, node: relax.Call, var: relax.Var, span: Span | None) -> Entry:
        """The memory of the tensor in another shape. Raises `Unfused`."""
        whole, shape = self._argument(node.args[0], span), node.args[1]
        if not isinstance(whole, Piece) or not isinstance(shape, relax.ShapeExpr):
            raise Unfused("its shape is not written as a list of extents", span)
        if not all(_is_extent(extent) for extent in shape.values):
            raise Unfused("an extent of its shape may be kept, inferred or negative", span)
        equal = pairs([(count(whole.shape), count(shape.values))])
        return Entry(var, Piece(var.name, whole.dtype, shape.values, None, whole), (), equal)

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
            case relax.TupleGetItem():
                value = self._alias(node, span)
                if isinstance(value, Piece):
                    return value
            case relax.Constant(data, dtype):
                shape = tuple(number(extent) for extent in data.shape)
                return self.outside.setdefault(node, Piece("constant", dtype, shape, node))
            case relax.PrimValue(expr):
                return expr
            case _:
                pass
        raise Unfused("an argument is not a tensor of known shape", span)


def _with_arguments(
    function: relax.Function, arguments: Sequence[Piece], span: Span | None
) -> tuple[relax.Function, tuple[Pair, ...]]:
    """`function` over the dimensions of `arguments`, and what must be equal for them to fit. Raises `Unfused`."""
    table: dict[Node, Node] = {}
    for param, piece in zip(function.params, arguments, strict=True):
        extents = param.ty.shape if isinstance(param.ty, TensorType) else None
        for extent, size in zip(extents or (), piece.shape, strict=False):
            if isinstance(extent, tir.Var) and extent.dtype == size.dtype:
                table.setdefault(extent, size)
    if any(isinstance(node, tir.Var) and node not in table for node in walk(function)):
        raise Unfused("a dimension of the function is not one of an argument", span)
    bound = substitute(function, table)
    equal = [declared_pairs(param.ty, piece, span) for param, piece in zip(bound.params, arguments, strict=True)]
    return bound, tuple([pair for part in equal for pair in part])


def _is_extent(expr: tir.Expr) -> bool:
    """Whether an expression over sizes is written so that it is no negative number, and 0 only where a size is."""
    match expr:
        case tir.IntImm(value=value):
            return value > 0
        case tir.Var():
            return True
        case tir.Apply("add" | "mul", args):
            return all(_is_extent(arg) for arg in args)
        case _:
            return False


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


def leaving_variables(function: relax.Function) -> dict[int, set[relax.Var]]:
    """By the id of each block in `function`, the variables bound there that are used outside of it."""
    homes: dict[relax.Var, int] = {}
    users: dict[relax.Var, set[int]] = {}
    for sequence in (node for node in walk(function) if isinstance(node, relax.SeqExpr)):
        for block in sequence.blocks:
            for binding in block.bindings:
                homes[binding.var] = id(block)
                for var in _used_variables(binding.value):
                    users.setdefault(var, set()).add(id(block))
    for var in _used_variables(function.body.body):
        users.setdefault(var, set()).add(0)
    leaving: dict[int, set[relax.Var]] = {}
    for var, home in homes.items():
        if users.get(var, set()) - {home}:
            leaving.setdefault(home, set()).add(var)
    return leaving


def _used_variables(expr: relax.Expr) -> set[relax.Var]:
    """The variables in `expr`, without what blocks in it use."""
    variables: set[relax.Var] = set()
    stack: list[Node] = [expr]
    while stack:
        match stack.pop():
            case relax.Var() as var:
                variables.add(var)
            case relax.SeqExpr(body=body):
                stack.append(body)
            case node:
                stack.extend(children(node))
    return variables


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
