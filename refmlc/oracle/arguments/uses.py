"""What a program does with each of its parameters, as far as its text shows.

| fact                    | means                                                                               |
|-------------------------|-------------------------------------------------------------------------------------|
| `output`                | it is written before it is read, or a reduction folds into it: it starts uninitialised |
| `indexes`               | its elements may become an index, an extent or a shape                              |
| `low`, `high`, `below`  | limits of its elements, by the uses of plain loads (`strategies.requirements`)      |
| `domain`                | what an operator of Relax requires of it (`Operator.domains`)                       |
| `casts`                 | the float dtypes that its integers are converted to                                 |
| `decisive`              | values at which a condition of the program changes (`conditions`)                   |

A value flows through bindings, local buffers and calls of TensorIR: what it flows into counts as a use of it.
Operators of Relax are read as the TensorIR functions that they mean.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.reach import reachable
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import children, walk
from refmlc.lang.library import OPERATORS
from refmlc.oracle.arguments.conditions import COMPARISONS, Solver, Value
from refmlc.rewrite.transform import legalize_ops
from refmlc.strategies.requirements import Need, needs_of, view_sources
from refmlc.vm.parameters import parameters_of

DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod", "ceildiv")
ROUNDING = ("round", "nearbyint", "floor", "ceil", "trunc")
LARGEST_DIVISOR = 4096
MOST_ROUNDS = 8
Sources = Callable[[Node], frozenset[str]]


@dataclass
class ParameterUse:
    """What the program does with one parameter."""

    output: bool = False
    indexes: bool = False
    low: int | None = None
    high: int | None = None
    below: tuple[tir.Expr, ...] = ()
    domain: str = ""
    casts: set[DType] = field(default_factory=set)
    decisive: list[Value] = field(default_factory=list)

    @property
    def is_index(self) -> bool:
        """True if arbitrary integers may have no meaning here."""
        return self.indexes or bool(self.below) or self.domain == "index"


@dataclass
class ProgramUses:
    """The uses of all parameters by name, and what the whole program does.

    `integers`, `floats`: its constants. `compares`, `sums`, `adds`, `rounds`, `divides`: whether it compares elements,
    folds floats into a sum, adds or subtracts floats, makes integers of floats. `divisors`, `decisive_sizes`: of
    symbolic dimensions, by name.
    """

    parameters: dict[str, ParameterUse] = field(default_factory=dict)
    integers: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    compares: bool = False
    sums: bool = False
    adds: bool = False
    rounds: bool = False
    divisors: dict[str, list[int]] = field(default_factory=dict)
    decisive_sizes: dict[str, list[int]] = field(default_factory=dict)

    def add(self, other: "ProgramUses", names: Mapping[str, str]) -> None:
        """Add the constants and conditions of another program; `names`: those of its parameters here."""
        _note_values(self.integers, other.integers)
        _note_values(self.floats, other.floats)
        for name, values in other.divisors.items():
            _note_values(self.divisors.setdefault(name, []), values)
        for name, values in other.decisive_sizes.items():
            _note_values(self.decisive_sizes.setdefault(name, []), values)
        for name, use in other.parameters.items():
            if name in names:
                _note_values(self.use(names[name]).decisive, use.decisive)
                self.use(names[name]).casts |= use.casts

    def use(self, name: str) -> ParameterUse:
        """The use of a parameter."""
        return self.parameters.setdefault(name, ParameterUse())


def uses_of(module: IRModule, func: str) -> ProgramUses:
    """What the program does with the parameters of `func`."""
    part = reachable(module, func)
    uses = ProgramUses()
    function = part.functions[func]
    if isinstance(function, relax.Function):
        for name, domain in operator_domains(function).items():
            uses.use(name).domain = domain
    with suppress(RefmlcError):  # an operator without a TensorIR function: less is known
        part = legalize_ops(part)
    functions = {name: each for name, each in part.functions.items() if isinstance(each, tir.PrimFunc)}
    kernels = {name: _Kernel(each, uses) for name, each in functions.items()}
    function = part.functions[func]
    if isinstance(function, tir.PrimFunc):
        _add_kernel(uses, function, kernels[func])
    elif isinstance(function, relax.Function):
        _add_graph(uses, part, function, kernels)
    return uses


def _add_kernel(uses: ProgramUses, func: tir.PrimFunc, kernel: "_Kernel") -> None:
    """The uses of the parameters of a TensorIR function."""
    fresh = outputs(func)
    for name, use in kernel.uses.items():
        use.output = name in fresh
        use.domain = uses.use(name).domain
        uses.parameters[name] = use


def _add_graph(uses: ProgramUses, module: IRModule, function: relax.Function, kernels: Mapping[str, "_Kernel"]) -> None:
    """The uses of the parameters of a graph, by those of the functions that it calls."""
    flows: dict[relax.Var, frozenset[str]] = {param: frozenset((param.name,)) for param in function.params}

    def sources(value: Node) -> frozenset[str]:
        parts = [flows.get(node, frozenset()) for node in walk(value) if isinstance(node, relax.Var)]
        return frozenset().union(*parts)

    for node in walk(function):
        match node:
            case relax.VarBinding(var=var, value=value) | relax.MatchCast(var=var, value=value):
                flows[var] = sources(value)
            case relax.Call(args=args):
                _add_call(uses, module, args, kernels, sources)
            case _:
                pass


def _add_call(
    uses: ProgramUses, module: IRModule, args: Sequence[Node], kernels: Mapping[str, "_Kernel"], sources: Sources
) -> None:
    """The uses of the arguments of a call of a TensorIR function."""
    callee = next((arg.name for arg in args if isinstance(arg, tir.GlobalVar)), "")
    kernel, function = kernels.get(callee), module.functions.get(callee)
    if kernel is None or not isinstance(function, tir.PrimFunc):
        return
    passed = [part for arg in args for part in (arg.fields if isinstance(arg, relax.Tuple) else (arg,))]
    passed = [part for part in passed if not isinstance(part, tir.GlobalVar)]
    for parameter, part in zip(parameters_of(function), passed, strict=False):
        use = kernel.uses.get(parameter.name)
        if use is not None:
            for name in sources(part):
                plain = isinstance(part, relax.Var) and part.name == name
                _add_use(uses.use(name), use, plain=plain)


def _add_use(own: ParameterUse, use: ParameterUse, *, plain: bool) -> None:
    """Add the use of a value that a function is called with; `plain`: it is the parameter itself."""
    own.indexes |= use.is_index or (not plain and use.low is not None)
    own.casts |= use.casts
    own.decisive += [value for value in use.decisive if value not in own.decisive]
    if plain and use.low is not None:
        own.low = use.low if own.low is None else max(own.low, use.low)
    if plain and use.high is not None:
        own.high = use.high if own.high is None else min(own.high, use.high)


class _Kernel:
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
                    _note_value(self._program.integers, number)
                case tir.FloatImm(value=number):
                    _note_value(self._program.floats, number)
                case tir.BufferLoad(buffer=read):
                    loads |= self._root(read) is buffer
                case _:
                    pass
        if loads and value.dtype.is_float:
            self._program.sums = True

    def _decide(self, condition: tir.Expr) -> None:
        for name, values in self._solver.decisive(condition).items():
            if name in self._dims:
                _note_values(self._program.decisive_sizes.setdefault(name, []), [int(v) for v in values if v == int(v)])
            elif name in self.uses:
                _note_values(self.uses[name].decisive, values)
        for node in _elements(condition):
            if isinstance(node, tir.FloatImm):
                _note_value(self._program.floats, node.value)

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
                    _note_value(self._program.divisors.setdefault(var.name, []), args[1].value)

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


MOST_CONSTANTS = 32


def _note_value(values: list[Value] | list[int] | list[float], value: Value) -> None:
    if value not in values and len(values) < MOST_CONSTANTS:
        values.append(value)  # type: ignore[arg-type]  # the list is of the kind of the value


def _note_values(values: list[Value] | list[int], more: Sequence[Value]) -> None:
    for value in more:
        _note_value(values, value)


def size_variables(ty: Type | None) -> Iterator[tir.Var]:
    """The symbolic dimensions of a type."""
    for extent in extents(ty):
        yield from (node for node in walk(extent) if isinstance(node, tir.Var))


def extents(ty: Type | None) -> Iterator[tir.Expr]:
    """The extents in a type."""
    match ty:
        case TensorType(shape=shape) if shape is not None:
            yield from shape
        case ShapeType(values=values) if values is not None:
            yield from values
        case PrimType(value=tir.Var() as value):
            yield value
        case TupleType(fields=fields):
            for part in fields:
                yield from extents(part)
        case _:
            return


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


def operator_domains(function: relax.Function) -> Mapping[str, str]:
    """What operators ask of the values of parameters that they are given as they are, by the parameters' names."""
    names: dict[relax.Var, str] = {param: param.name for param in function.params}
    domains: dict[str, str] = {}
    for node in walk(function):
        match node:
            case (
                relax.VarBinding(var=var, value=relax.Var() as value)
                | relax.MatchCast(var=var, value=relax.Var() as value)
            ):
                if value in names:
                    names[var] = names[value]
            case relax.Call(op=relax.Op(name=name), args=args) if name in OPERATORS:
                operator = OPERATORS[name]
                for parameter, arg in zip(operator.arguments, args, strict=False):
                    parts = arg.fields if isinstance(arg, relax.Tuple) else (arg,)
                    domain = operator.domains.get(parameter)
                    arguments = [part for part in parts if isinstance(part, relax.Var) and part in names]
                    domains |= {names[part]: domain for part in arguments if domain is not None}
            case _:
                pass
    return domains
