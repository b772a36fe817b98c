"""A walk through a function: what each access, extent and divisor asks for, and what is known where it stands.

| value                            | read as                                                                     |
|----------------------------------|-----------------------------------------------------------------------------|
| an element of a parameter        | itself, where it is an integer and the function never writes the parameter; |
|                                  | a float that is cast to an integer likewise: rounded toward zero            |
| an element of a scratch buffer   | what was stored last at the same numbers (`len[0]`), outside of loops       |
|                                  | that store to it; or the one store of the buffer, at variables              |
| a number that is an argument     | itself                                                                      |
| a size, a loop variable          | itself; a loop is known to lie in its range                                 |
| anything else                    | unknown                                                                     |
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from refmlc.diag import Span
from refmlc.lang.arith.polynomial import Atom, Opaque, Poly, constant, single
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.statements import statements, stored_buffers
from refmlc.lang.ir.visit import children, walk
from refmlc.oracle.contracts.infer.symbols import (
    DIVISIONS,
    REMAINDERS,
    KnownBound,
    all_atoms,
    atom_of,
    extreme,
    floordiv,
    floormod,
    select,
    unknown,
    ways,
)

PASSING = frozenset(("likely", "tvm_thread_invariant", "ignore_loop_partition"))
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
DEEPEST, MOST_OPENED = 16, 500  # scratch buffers behind one element
PARALLEL = (ForKind.PARALLEL, ForKind.THREAD_BINDING, ForKind.VECTORIZED)


@dataclass(frozen=True)
class AccessNeed:
    """`poly` >= 0 under `facts`, or not 0 where it `differs`. `extent`: the atom of the axis that the access has."""

    poly: Poly
    facts: tuple[KnownBound, ...]
    place: Span | None
    extent: Atom | None = None
    differs: bool = False


@dataclass(frozen=True)
class ScatteredStore:
    """A store in parallel instances: its indices, the variables of the instances, the elements that it loads.

    `facts`: what is known where it stands.
    """

    buffer: tir.Buffer
    indices: tuple[Poly, ...]
    parallel: frozenset[tir.Var]
    loads: tuple[tuple[Poly, ...], ...]
    facts: tuple[KnownBound, ...]
    place: Span | None


@dataclass(frozen=True)
class _Scope:
    """What is known at one place: variables, cells, and the scratch buffers that are stored already."""

    env: dict[tir.Var, Poly]
    cells: dict[tuple[tir.Buffer, tuple[int, ...]], Poly]
    definitions: dict[tir.Buffer, "_Definition"]


@dataclass(frozen=True)
class _Definition:
    """The one store of a scratch buffer: at which variables, which value, with what was known before it.

    What its value loads is what stood there then: itself, before it was stored, is unknown.
    """

    variables: tuple[tir.Var, ...]
    value: tir.Expr
    before: _Scope


@dataclass
class Walked:
    """What a walk found. `extents` has what the atom of an axis stands for, `loaded` each element that is loaded."""

    obligations: list[AccessNeed] = field(default_factory=list)
    stores: list[ScatteredStore] = field(default_factory=list)
    asserted: list[tuple[Poly, Span | None]] = field(default_factory=list)
    extents: dict[Atom, Poly] = field(default_factory=dict)
    loaded: dict[Opaque, None] = field(default_factory=dict)


class Walk:
    """Walks once through a function; `result` has what it found."""

    def __init__(self, func: tir.PrimFunc) -> None:
        self.func = func
        written = stored_buffers(func.body)
        given = dict(func.buffer_map)
        self.data = {
            buffer: tir.BufferData(buffer)
            for buffer in given.values()
            if buffer not in written and (buffer.dtype.is_integer or buffer.dtype.is_float)
        }
        self.parameters = frozenset(given.values())
        self.sizes = frozenset(
            node
            for buffer in given.values()
            for extent in (*buffer.shape, *buffer.strides, *([buffer.elem_offset] if buffer.elem_offset else []))
            for node in walk(extent)
            if isinstance(node, tir.Var)
        )
        self.numbers = frozenset(
            param for param in func.params if param not in given and param not in self.sizes and param.dtype.is_integer
        )
        self.result = Walked()
        self._stores: dict[tir.Buffer, int] = {}
        for node in statements(func.body):
            if isinstance(node, tir.BufferStore):
                self._stores[node.buffer] = self._stores.get(node.buffer, 0) + 1
        self._env: dict[tir.Var, Poly] = {}
        self._cells: dict[tuple[tir.Buffer, tuple[int, ...]], Poly] = {}
        self._definitions: dict[tir.Buffer, _Definition] = {}
        self._depth = self._opened = 0  # definitions that one element opens: one within the other, and in all
        self._facts: list[KnownBound] = []
        self._parallel: list[tir.Var] = []
        self._counts: dict[tir.Var, int] = {}
        self._extents: dict[tir.Expr, Atom] = {}
        self._place: Span | None = func.span
        self._statement(func.body)

    def is_data(self, atom: Atom) -> bool:
        """Whether an atom is a value of an argument."""
        if isinstance(atom, Opaque):
            return atom.op == "load"
        return atom in self.numbers

    def touches(self, poly: Poly) -> bool:
        """Whether a value of an argument occurs in the polynomial."""
        return any(self.is_data(atom) for atom in all_atoms(poly))

    # --------------------------------------------------------------------------------------- statements

    def _statement(self, stmt: tir.Stmt) -> None:
        self._place = stmt.span or self._place
        match stmt:
            case tir.SeqStmt(seq):
                for part in seq:
                    self._statement(part)
            case tir.Bind(var, value):
                self._visit(value)
                self._env[var] = self.value(value)
            case tir.AssertStmt(condition):
                self._visit(condition)
                self._asserted(condition)
            case tir.For():
                self._loop(stmt)
            case tir.While(condition, body):
                self._forget(body)
                self._visit(condition)
                self._under(self.condition(condition), body)
                self._forget(body)
            case tir.IfThenElse(condition, then_case, else_case):
                self._branch(condition, then_case, else_case)
            case tir.BufferStore():
                self._store(stmt)
            case tir.AttrStmt(body=body):
                self._statement(body)
            case tir.SBlockRealize(iter_values, predicate, block):
                for value in (*iter_values, predicate):
                    self._visit(value)
                self._block(stmt, block)
            case tir.Evaluate(tir.Call("assume", (condition, *_))) if isinstance(condition, tir.Apply | tir.And):
                self._asserted(condition)
            case tir.Evaluate(value) | tir.Return(value):
                self._visit(value)
            case _:
                pass

    def _asserted(self, condition: tir.Expr) -> None:
        """A condition that the program itself asks for: known from here on."""
        meaning = self.condition(condition)
        if not self._facts:
            self.result.asserted.append((meaning, self._place))
        found = ways(meaning)
        if len(found) == 1:
            self._facts += found[0]

    def _loop(self, loop: tir.For) -> None:
        self._visit(loop.min)
        self._visit(loop.extent)
        first, extent = self.value(loop.min), self.value(loop.extent)
        if self.touches(extent):
            self._oblige(extent)
        self._forget(loop.body)
        var = single(loop.loop_var)
        self._env.pop(loop.loop_var, None)
        if first.only == 0 and extent.only is not None:
            self._counts[loop.loop_var] = extent.only
        depth = len(self._facts)
        self._facts += [KnownBound(var - first), KnownBound((first + extent - var).plus(-1))]
        parallel = loop.kind in PARALLEL
        self._parallel += [loop.loop_var] * parallel
        self._statement(loop.body)
        del self._facts[depth:]
        if parallel:
            self._parallel.pop()
        self._forget(loop.body)

    def _block(self, realize: tir.SBlockRealize, block: tir.SBlock) -> None:
        spatial: list[tir.Var] = []
        for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
            self._env[axis.var] = self.value(value)
            if axis.kind is not IterKind.REDUCE:
                spatial += [atom for atom in all_atoms(self._env[axis.var]) if isinstance(atom, tir.Var)]
        added = [var for var in spatial if var not in self.sizes and var not in self.numbers]
        depth, width = len(self._facts), len(self._parallel)
        self._parallel += added
        found = ways(self.condition(realize.predicate))
        self._facts += found[0] if len(found) == 1 else []
        if block.init is not None:
            self._statement(block.init)
        self._statement(block.body)
        del self._facts[depth:]
        del self._parallel[width:]

    def _branch(self, condition: tir.Expr, then_case: tir.Stmt, else_case: tir.Stmt | None) -> None:
        self._visit(condition)
        meaning = self.condition(condition)
        before = dict(self._cells)
        self._under(meaning, then_case)
        after_then, self._cells = self._cells, before
        if else_case is not None:
            self._under(meaning, else_case, true=False)
        same = {key: value for key, value in self._cells.items() if after_then.get(key) == value}
        self._cells = same

    def _under(self, condition: Poly, body: tir.Stmt, *, true: bool = True) -> None:
        """Walk through statements that a condition guards, in each way in which it holds the first time only."""
        depth = len(self._facts)
        found = ways(condition, true=true)
        self._facts += found[0] if len(found) == 1 else []
        self._statement(body)
        del self._facts[depth:]

    def _store(self, store: tir.BufferStore) -> None:
        self._visit(store.value)
        for index in store.indices:
            self._visit(index)
        self._access(store.buffer, store.indices)
        indices = tuple(map(self.value, store.indices))
        buffer = store.buffer
        if self._parallel and buffer in self.parameters and any(map(self.touches, indices)):
            loads = tuple(
                tuple(map(self.value, node.indices))
                for node in walk(store.value)
                if isinstance(node, tir.BufferLoad) and node.buffer is buffer
            )
            self.result.stores.append(
                ScatteredStore(
                    buffer,
                    indices,
                    frozenset(self._parallel),
                    loads,
                    tuple(self._facts),
                    store.span or self._place,
                )
            )
        if not buffer.dtype.is_integer or buffer in self.parameters:
            return
        numbers = [index.only for index in indices]
        if None not in numbers:
            self._cells[buffer, tuple(number for number in numbers if number is not None)] = self.value(store.value)
        elif self._stores.get(buffer) == 1 and all(isinstance(index, tir.Var) for index in store.indices):
            variables = tuple(index for index in store.indices if isinstance(index, tir.Var))
            before = _Scope(dict(self._env), dict(self._cells), dict(self._definitions))
            self._definitions[buffer] = _Definition(variables, store.value, before)

    def _forget(self, body: tir.Stmt) -> None:
        """Forget what stands in the cells that `body` stores to."""
        stored = stored_buffers(body)
        self._cells = {key: value for key, value in self._cells.items() if key[0] not in stored}

    # --------------------------------------------------------------------------------------- accesses

    def _visit(self, expr: tir.Expr) -> None:
        """Note the accesses of an expression, each under the conditions in front of it."""
        match expr:
            case tir.BufferLoad(buffer, indices):
                for index in indices:
                    self._visit(index)
                self._access(buffer, indices)
            case tir.IfThenElseExpr(condition, true_value, false_value):
                self._visit(condition)
                meaning = self.condition(condition)
                self._visit_under(meaning, true_value)
                self._visit_under(meaning, false_value, true=False)
            case tir.And(a, b) | tir.Or(a, b):
                self._visit(a)
                self._visit_under(self.condition(a), b, true=isinstance(expr, tir.And))
            case tir.Let(var, value, body):
                self._visit(value)
                self._env[var] = self.value(value)
                self._visit(body)
            case tir.Apply(op, args):
                for arg in args:
                    self._visit(arg)
                if (op in DIVISIONS or op in REMAINDERS) and expr.dtype.is_integer:
                    self._divisor(args[1])
            case _:
                for child in children(expr):
                    if not isinstance(child, tir.Buffer | tir.GlobalVar):
                        self._visit(child)  # type: ignore[arg-type]  # what stands in an expression

    def _visit_under(self, condition: Poly, expr: tir.Expr, *, true: bool = True) -> None:
        depth = len(self._facts)
        found = ways(condition, true=true)
        self._facts += found[0] if len(found) == 1 else []
        self._visit(expr)
        del self._facts[depth:]

    def _divisor(self, divisor: tir.Expr) -> None:
        value = self.value(divisor)
        if self.touches(value):
            self.result.obligations.append(AccessNeed(value, tuple(self._facts), self._place, differs=True))

    def _access(self, buffer: tir.Buffer, indices: tuple[tir.Expr, ...]) -> None:
        relevant = any(self.touches(fact.poly) for fact in self._facts)
        for index, size in zip(indices, buffer.shape, strict=False):
            value = self.value(index.base if isinstance(index, tir.Ramp) else index)
            if not relevant and not self.touches(value):
                continue
            extent = self._extent(size)
            self._oblige(value)
            self._oblige((single(extent) - value).plus(-1), extent)

    def _oblige(self, poly: Poly, extent: Atom | None = None) -> None:
        self.result.obligations.append(AccessNeed(poly, tuple(self._facts), self._place, extent))

    def _extent(self, size: tir.Expr) -> Atom:
        """The atom of an extent: never a number, so that what is short of it is seen."""
        if size not in self._extents:
            atom = tir.Var("extent", size.dtype)
            self._extents[size] = atom
            self.result.extents[atom] = self.value(size)
        return self._extents[size]

    # ----------------------------------------------------------------------------------------- values

    def value(self, expr: tir.Expr) -> Poly:
        """The integer that an expression is."""
        match expr:
            case tir.IntImm(value=number):
                return constant(int(number))
            case tir.Var():
                return self._env.get(expr, single(expr))
            case tir.Cast(value=inner) if inner.dtype.kind == "bool":
                return select(self.condition(inner), constant(1), constant(0))
            case tir.Cast(value=inner) if inner.dtype.is_integer:
                return self.value(inner)
            case tir.Cast(value=tir.BufferLoad(buffer, indices)) if expr.dtype.is_integer and buffer in self.data:
                return self._element(buffer, tuple(map(self.value, indices)))
            case tir.Let(var, value, body):
                self._env[var] = self.value(value)
                return self.value(body)
            case tir.Select(condition, a, b) | tir.IfThenElseExpr(condition, a, b):
                return select(self.condition(condition), self.value(a), self.value(b))
            case tir.Broadcast(value=value):
                return self.value(value)
            case tir.Ramp(base=base):
                return self.value(base)
            case tir.BufferLoad(buffer, indices):
                return self._element(buffer, tuple(map(self.value, indices)))
            case tir.Apply(op, args) if expr.dtype.is_integer:
                return self._applied(op, args)
            case tir.Call(str() as op, (arg, *_)) if op in PASSING and not isinstance(arg, str | int | float):
                return self.value(arg)  # type: ignore[arg-type]  # an expression
            case _:
                return unknown()

    def _applied(self, op: str, args: tuple[tir.Expr, ...]) -> Poly:
        if op in PASSING:
            return self.value(args[0])
        values = [self.value(arg) for arg in args]
        match op, values:
            case "add", [a, b]:
                return a + b
            case "sub", [a, b]:
                return a - b
            case "mul", [a, b]:
                return a * b
            case (("min" | "max"), [a, b]):
                return extreme(op, a, b)
            case _, [a, b] if op in DIVISIONS and b.only != 0:
                return constant(0) if self._is_below(a, b) else floordiv(a, b)
            case _, [a, b] if op in REMAINDERS and b.only != 0:
                return a if self._is_below(a, b) else floormod(a, b)
            case "shift_left", [a, b] if b.only is not None and 0 <= b.only < 64:
                return a.scaled(1 << b.only)
            case "shift_right", [a, b] if b.only is not None and 0 <= b.only < 64:
                return floordiv(a, constant(1 << b.only))
            case "bitwise_and", [a, b] if b.only is not None and b.only >= 0 and b.only & (b.only + 1) == 0:
                return floormod(a, constant(b.only + 1))
            case _:
                return unknown()

    def _is_below(self, value: Poly, limit: Poly) -> bool:
        """Whether a value is a variable of a loop that ends before a number."""
        atom = value.atom
        extent = self._counts.get(atom, 0) if isinstance(atom, tir.Var) else 0
        return limit.only is not None and 0 < extent <= limit.only

    def _element(self, buffer: tir.Buffer, indices: tuple[Poly, ...]) -> Poly:
        if buffer in self.data:
            loaded = Opaque("load", indices, self.data[buffer])
            self.result.loaded[loaded] = None
            return single(loaded)
        numbers = tuple(index.only for index in indices)
        if None not in numbers:
            cell = buffer, tuple(number for number in numbers if number is not None)
            if cell not in self._cells:
                self._cells[cell] = unknown(buffer.name)
            return self._cells[cell]
        if buffer in self._definitions:
            return self._defined(self._definitions[buffer], indices)
        return unknown(buffer.name)

    def _defined(self, definition: _Definition, indices: tuple[Poly, ...]) -> Poly:
        """The value of the one store of a scratch buffer, at other indices; unknown where too many lie behind it."""
        if self._depth == DEEPEST or self._opened >= MOST_OPENED:
            return unknown()
        here, before = _Scope(self._env, self._cells, self._definitions), definition.before
        self._env = {**before.env, **dict(zip(definition.variables, indices, strict=True))}
        self._cells, self._definitions = before.cells, before.definitions
        self._opened = self._opened + 1 if self._depth else 1
        self._depth += 1
        try:
            return self.value(definition.value)
        finally:
            self._depth -= 1
            self._env, self._cells, self._definitions = here.env, here.cells, here.definitions

    def condition(self, expr: tir.Expr) -> Poly:
        """A condition as an atom of conditions, or unknown."""
        match expr:
            case tir.IntImm(value=number):
                return constant(int(bool(number)))
            case tir.And(a, b):
                return atom_of("and", self.condition(a), self.condition(b))
            case tir.Or(a, b):
                return atom_of("or", self.condition(a), self.condition(b))
            case tir.Cast(value=inner):
                return self.condition(inner)
            case tir.IfThenElseExpr(condition, a, b) | tir.Select(condition, a, b):
                chosen = self.condition(condition)
                yes = atom_of("and", chosen, self.condition(a))
                return atom_of("or", yes, atom_of("and", atom_of("not", chosen), self.condition(b)))
            case tir.Apply(op, (inner,)) if op in PASSING:
                return self.condition(inner)
            case tir.Apply("not", (inner,)):
                return atom_of("not", self.condition(inner))
            case tir.Call(str() as op, (arg, *_)) if op in PASSING and not isinstance(arg, str | int | float):
                return self.condition(arg)  # type: ignore[arg-type]  # an expression
            case tir.Apply(op, (a, b)) if op in COMPARISONS and a.dtype.is_integer and b.dtype.is_integer:
                return _compared(op, self.value(a) - self.value(b))
            case _:
                return unknown("condition")


def _compared(op: str, difference: Poly) -> Poly:
    """The condition `difference op 0`."""
    match op:
        case "ge":
            return atom_of("ge", difference)
        case "gt":
            return atom_of("ge", difference.plus(-1))
        case "le":
            return atom_of("ge", -difference)
        case "lt":
            return atom_of("ge", (-difference).plus(-1))
        case "ne":
            return atom_of("ne", difference)
        case _:
            return atom_of("not", atom_of("ne", difference))


def names_of(walked: Walk) -> Mapping[tir.Var, str]:
    """The names of sizes and numbers."""
    return {var: var.name for var in (*walked.sizes, *walked.numbers)}
