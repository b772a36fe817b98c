"""What a TensorIR function does with its parameters: their flow, the uses of what they flow into, its outputs.

A value flows through bindings, views and local buffers: what it flows into counts as a use of it.
"""

from collections.abc import Iterator, Sequence

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, walk
from refmlc.oracle.arguments.conditions import COMPARISONS, Solver
from refmlc.oracle.arguments.uses import ParameterUse, ProgramUses, note_value, note_values, size_variables
from refmlc.strategies.requirements import Need, needs_of, view_sources
from refmlc.vm.parameters import parameters_of

DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod", "ceildiv")
ROUNDING = ("round", "nearbyint", "floor", "ceil", "trunc")
LARGEST_DIVISOR = 4096
MOST_ROUNDS = 8


class KernelUses:
    """A TensorIR function: the flow of its parameters, and their uses."""

    def __init__(self, func: tir.PrimFunc, program: ProgramUses) -> None:
        self._program = program
        self._views = view_sources(func)
        parameters = dict(zip(func.params, parameters_of(func), strict=True))
        self._dims = {var.name for parameter in parameters.values() for var in size_variables(parameter.ty)}
        self._names: dict[tir.Var | tir.Buffer, str] = {var: each.name for var, each in parameters.items()}
        self._names |= {buffer: buffer.name for buffer in func.buffer_map.values()}
        self._flows: dict[tir.Var | tir.Buffer, frozenset[str]] = {
            key: frozenset((name,)) for key, name in self._names.items()
        }
        self._definitions: dict[tir.Var, tir.Expr] = {}
        nodes = list(walk(func.body))
        self._flow(nodes)
        needs = needs_of(func)
        self.uses = {each.name: ParameterUse() for each in parameters.values()}
        for buffer, need in needs.items():
            if buffer.name in self.uses:
                self._limit(self.uses[buffer.name], need)
        dims = {var: var.name for each in parameters.values() for var in size_variables(each.ty)}
        names = dict(self._names)
        names.update((var, name) for var, name in dims.items() if var not in names)
        self._solver = Solver(names, self._definitions, self._root)
        for node in nodes:
            self._note(node)

    def _limit(self, use: ParameterUse, need: Need) -> None:
        use.low, use.high, use.below = need.low, need.high, tuple(need.below)
        if need.high == 0:  # part of an index, or an extent: its limits are unknown, and 0 alone would hide a fault
            use.low = use.high = None
            use.indexes = True

    def _root(self, buffer: tir.Buffer) -> tir.Buffer:
        while buffer in self._views:
            buffer = self._views[buffer]
        return buffer

    def _flow(self, nodes: Sequence[Node]) -> None:
        """Which parameters reach each variable and each local buffer."""
        for _ in range(MOST_ROUNDS):
            changed = False
            for node in nodes:
                target: tir.Var | tir.Buffer
                match node:
                    case tir.Bind(var=target, value=value) | tir.Let(var=target, value=value):
                        self._definitions[target] = value
                        parts = [value]
                    case tir.BufferStore(buffer=buffer, value=value):
                        target, parts = self._root(buffer), [value]
                    case tir.For(loop_var=target, min=first, extent=extent):
                        parts = [first, extent]
                    case tir.SBlockRealize(iter_values=values, block=block):
                        for axis, value in zip(block.iter_vars, values, strict=True):
                            changed |= self._reach(axis.var, [value])
                        continue
                    case _:
                        continue
                changed |= self._reach(target, parts)
            if not changed:
                return

    def _reach(self, target: tir.Var | tir.Buffer, parts: Sequence[tir.Expr]) -> bool:
        old = self._flows.get(target, frozenset())
        new = old.union(*map(self._sources, parts))
        self._flows[target] = new
        return new != old

    def _sources(self, expr: Node) -> frozenset[str]:
        """The parameters whose values reach an expression."""
        parts = [
            self._flows.get(node if isinstance(node, tir.Var) else self._root(node.buffer), frozenset())
            for node in walk(expr)
            if isinstance(node, tir.Var | tir.BufferLoad)
        ]
        return frozenset().union(*parts)

    def _note(self, node: Node) -> None:
        """What one node does with parameters."""
        match node:
            case tir.BufferLoad(indices=indices):
                self._index(indices)
            case tir.BufferStore(buffer=buffer, value=value, indices=indices):
                self._index(indices)
                self._store(self._root(buffer), value)
            case tir.For(min=first, extent=extent):
                self._index((first, extent))
            case tir.AllocBuffer(buffer=buffer):
                self._index(buffer.shape)
            case tir.IfThenElse(condition=condition) | tir.While(condition=condition):
                self._decide(condition)
            case tir.AssertStmt(condition=condition):
                self._decide(condition)
            case tir.Select(condition=condition) | tir.IfThenElseExpr(condition=condition):
                self._decide(condition)
            case tir.SBlockRealize(predicate=predicate):
                self._decide(predicate)
            case tir.Cast(dtype=kind, value=value):
                self._cast(kind, value)
            case tir.Apply(op=op, args=args):
                self._apply(op, args)
            case _:
                pass

    def _index(self, exprs: Sequence[tir.Expr]) -> None:
        for expr in exprs:
            for name in self._sources(expr):
                if name in self.uses and name not in self._dims:
                    self.uses[name].indexes = True

    def _store(self, buffer: tir.Buffer, value: tir.Expr) -> None:
        """The constants of a stored value, and whether it is a sum of floats."""
        loads = False
        for node in _elements(value):
            match node:
                case tir.IntImm(dtype=kind, value=number) if kind.kind != "bool":
                    note_value(self._program.integers, number)
                case tir.FloatImm(value=number):
                    note_value(self._program.floats, number)
                case tir.BufferLoad(buffer=read):
                    loads |= self._root(read) is buffer
                case _:
                    pass
        if loads and value.dtype.is_float:
            self._program.sums = True

    def _decide(self, condition: tir.Expr) -> None:
        for name, values in self._solver.decisive(condition).items():
            if name in self._dims:
                note_values(self._program.decisive_sizes.setdefault(name, []), [int(v) for v in values if v == int(v)])
            elif name in self.uses:
                note_values(self.uses[name].decisive, values)
        for node in _elements(condition):
            if isinstance(node, tir.FloatImm):
                note_value(self._program.floats, node.value)

    def _cast(self, kind: DType, value: tir.Expr) -> None:
        if kind.is_float and value.dtype.is_integer:
            for name in self._sources(value):
                if name in self.uses:
                    self.uses[name].casts.add(kind.scalar)
        if value.dtype.is_float and not kind.is_float:
            self._program.rounds = True

    def _apply(self, op: str, args: Sequence[tir.Expr]) -> None:
        if op in COMPARISONS and any(self._reads(arg) for arg in args):
            self._program.compares = True
        if op in ("add", "sub") and args[0].dtype.is_float:
            self._program.adds = True
        if op in ROUNDING:
            self._program.rounds = True
        if op in DIVISIONS and isinstance(args[1], tir.IntImm) and 1 < args[1].value <= LARGEST_DIVISOR:
            for var in walk(args[0]):
                if isinstance(var, tir.Var) and var.name in self._dims:
                    note_value(self._program.divisors.setdefault(var.name, []), args[1].value)

    def _reads(self, expr: tir.Expr) -> bool:
        return any(isinstance(node, tir.BufferLoad) for node in walk(expr)) or bool(self._sources(expr) - self._dims)


def _elements(expr: Node) -> Iterator[Node]:
    """The nodes of a value, without the indices of what it loads."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, tir.BufferLoad | tir.Buffer):
            stack += children(node)


def outputs(func: tir.PrimFunc) -> frozenset[str]:
    """The names of the buffers given that are written before they are read, or that a reduction folds into."""
    first: dict[tir.Buffer, bool] = {}
    for store, in_reduction in _stores(func.body, in_reduction=False):
        loads = {node.buffer for node in walk(store) if isinstance(node, tir.BufferLoad)}
        for buffer in loads:
            if not (buffer is store.buffer and in_reduction):
                first.setdefault(buffer, False)
        first.setdefault(store.buffer, True)
    parameters = set(func.buffer_map.values())
    return frozenset(buffer.name for buffer, stored in first.items() if stored and buffer in parameters)


def _stores(stmt: tir.Stmt, *, in_reduction: bool) -> Iterator[tuple[tir.BufferStore, bool]]:
    """Every store in program order, and whether it stands in a block that reduces."""
    match stmt:
        case tir.BufferStore():
            yield stmt, in_reduction
        case tir.For(body=body) | tir.While(body=body) | tir.AttrStmt(body=body):
            yield from _stores(body, in_reduction=in_reduction)
        case tir.SeqStmt(seq):
            for part in seq:
                yield from _stores(part, in_reduction=in_reduction)
        case tir.IfThenElse(_, then_case, else_case):
            yield from _stores(then_case, in_reduction=in_reduction)
            if else_case is not None:
                yield from _stores(else_case, in_reduction=in_reduction)
        case tir.SBlockRealize(block=block):
            reduces = block.init is not None or any(axis.kind.value == "reduce" for axis in block.iter_vars)
            if block.init is not None:
                yield from _stores(block.init, in_reduction=in_reduction)
            yield from _stores(block.body, in_reduction=in_reduction or reduces)
        case _:
            return
