"""Values of two programs matched for all sizes: expressions by their structure, places and integers by z3.

| what is matched                      | is equal if                                                              |
|--------------------------------------|--------------------------------------------------------------------------|
| integers of sizes and loop variables | z3 shows it                                                              |
| elements of two parameters           | they stand at the same position, and the places are equal                |
| an element of a mapped buffer        | what a store writes there is, for each store that may; together they may |
|                                      | write the whole place                                                    |
| elements of two folds                | the folds are equal (`equality`), and the places are equal               |
| a conditional on places              | each side is, under its condition                                        |
| anything else                        | it is the same operator on matching operands, in either order where it   |
|                                      | commutes                                                                 |

Nothing is assumed about what an instance of a store is: it is guessed by `inverse`, and z3 shows that it is executed
and writes the place. Whatever is not shown ends in `NotMatched`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeAlias

import z3

from refmlc.diag.source import Span
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.prove.sizes.accesses import renaming, shared
from refmlc.prove.sizes.definitions import DefinitionWalk, SizedStore
from refmlc.prove.sizes.integers import Integers, Variables
from refmlc.prove.sizes.reach import Pairs, at_instance, solved
from refmlc.prove.terms import Undecided, commutes

Facts: TypeAlias = "tuple[z3.BoolRef, ...]"
DEEPEST = 60
PURE_CALLS = frozenset(("fma",))


class NotMatched(Exception):
    """Two values that are not shown to be equal. `reason` says what is open, `span` where."""

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


@dataclass(frozen=True, eq=False)
class StoreInstance:
    """A store in one of its iterations: what the constants of its function are there."""

    program: DefinitionWalk
    store: SizedStore
    pairs: tuple[tuple["z3.ExprRef", "z3.ExprRef"], ...] = ()

    def of(self, expression: "z3.ExprRef") -> "z3.ExprRef":
        """The value of an expression in this iteration."""
        return z3.substitute(expression, *self.pairs) if self.pairs else expression

    def place(self) -> tuple["z3.ArithRef", ...]:
        """Where the store writes."""
        return tuple(self.of(index) for index in self.store.access.indices)

    def facts(self) -> Facts:
        """What is known where the store is executed."""
        return tuple(self.of(each) for each in self.store.access.conditions)

    def moved(self, pairs: Pairs) -> "StoreInstance":
        """The instance in another iteration: `pairs` in terms of its own constants."""
        return StoreInstance(self.program, self.store, tuple(pairs))


@dataclass(frozen=True, eq=False)
class SizedValue:
    """An expression in an instance of a store. `bound`: variables of floats that a `Let` binds."""

    node: tir.Expr
    instance: StoreInstance
    bound: Mapping[tir.Var, "SizedValue"] = field(default_factory=dict)

    def part(self, node: tir.Expr) -> "SizedValue":
        """An operand."""
        return SizedValue(node, self.instance, self.bound)


@dataclass(frozen=True, eq=False)
class Read:
    """The element of a buffer at a place. `reader`: who reads it, with its own indices; None: at the end."""

    program: DefinitionWalk
    buffer: tir.Buffer
    place: tuple["z3.ArithRef", ...]
    reader: StoreInstance | None = None
    indices: tuple["z3.ArithRef", ...] = ()

    def parameter(self) -> int | None:
        """The number of a parameter that is only read; None: the program writes it, or it is memory of its own."""
        if self.buffer in self.program.stores:
            return None
        numbers = [number for number, each in enumerate(self.program.parameters) if each is self.buffer]
        return numbers[0] if numbers else None


def another(instance: StoreInstance, suffix: str) -> StoreInstance:
    """The same store in another iteration."""
    loops = instance.store.access.loops
    since = loops[0].made if loops else len(instance.program.made)
    return instance.moved(list(renaming(instance.program.made, since, suffix)))


class Matcher:
    """Matches values. Each method fails: NotMatched.

    `milliseconds`: for each question to z3; `seconds`: for all of them; `known`: what holds anyway. `fold_match`
    decides about two folds.
    """

    def __init__(self, milliseconds: int, seconds: float, known: Facts = ()) -> None:
        self.questions = 0
        self.fold_match: Callable[[Read, Read], None] = _never
        self._milliseconds = milliseconds
        self._known = known
        self._deadline = monotonic() + seconds
        self._answers: dict[tuple[int, ...], bool] = {}
        self._kept: list[z3.ExprRef] = []

    # ------------------------------------------------------------------------------------------- questions

    def holds(self, facts: Facts, goal: "z3.BoolRef") -> bool:
        """Whether z3 shows that facts imply a goal."""
        return self.is_impossible((*facts, z3.Not(goal)))

    def require_possible(self, facts: Facts) -> None:
        """Require that z3 shows that facts may hold, with all that is known."""
        solver = z3.Solver()
        solver.set("timeout", self._milliseconds)
        solver.add(*self._known, *facts)
        if solver.check() != z3.sat:
            raise NotMatched("the first program is not shown to be defined for some sizes")

    def is_impossible(self, facts: Facts) -> bool:
        """Whether z3 shows that not all of the facts hold."""
        key = tuple(sorted({each.get_id() for each in facts}))
        if key not in self._answers:
            if monotonic() > self._deadline:
                raise NotMatched("no answer in time")
            self._kept += facts
            solver = z3.Solver()
            solver.set("timeout", self._milliseconds)
            solver.add(*self._known, *facts)
            self.questions += 1
            self._answers[key] = solver.check() == z3.unsat
        return self._answers[key]

    # ---------------------------------------------------------------------------------------------- values

    def match(self, a: SizedValue | Read, b: SizedValue | Read, facts: Facts, depth: int = 0) -> None:
        """Show that two values are equal wherever the facts hold."""
        if depth > DEEPEST:
            raise NotMatched("the values nest too deep")
        a, b = self._plain(a), self._plain(b)
        if isinstance(a, SizedValue) and isinstance(b, SizedValue) and self._equal_numbers(a, b, facts):
            return
        for value, match in ((a, lambda part, more: self.match(part, b, more, depth + 1)),
                             (b, lambda part, more: self.match(a, part, more, depth + 1))):  # fmt: skip
            parts = self._cases(value)
            if parts is not None:
                self.each(parts, facts, match)
                return
        if isinstance(a, Read) and isinstance(b, Read):
            self._reads(a, b, facts)
        elif isinstance(a, SizedValue) and isinstance(b, SizedValue):
            self._structure(a, b, facts, depth)
        else:
            raise NotMatched("an element is matched with an expression", _span(a))

    def _plain(self, value: SizedValue | Read) -> SizedValue | Read:
        """The value without `Let`; a load as a `Read`."""
        while isinstance(value, SizedValue):
            node = value.node
            if isinstance(node, tir.Let):
                value = self._let(node, value)
            elif isinstance(node, tir.Var) and node in value.bound:
                value = value.bound[node]
            elif isinstance(node, tir.Apply) and node.op == "likely":
                value = value.part(node.args[0])
            elif isinstance(node, tir.BufferLoad):
                return self._read(node, value)
            else:
                return value
        return value

    def _let(self, node: tir.Let, value: SizedValue) -> SizedValue:
        return SizedValue(node.body, value.instance, {**value.bound, node.var: value.part(node.value)})

    def _read(self, node: tir.BufferLoad, value: SizedValue) -> SizedValue | Read:
        """A load as what it reads; that of an update's own buffer stays a load: the element before."""
        instance = value.instance
        if node.buffer is instance.store.node.buffer:
            return value
        indices = tuple(self._raw_number(index, value, node.span) for index in node.indices)
        return Read(instance.program, node.buffer, tuple(map(instance.of, indices)), instance, indices)

    def _raw_number(self, node: tir.Expr, value: SizedValue, span: Span | None) -> "z3.ArithRef":
        number = _encoded(node, value)
        if number is None:
            raise NotMatched("an index depends on the values of an argument", span)
        return number

    def _equal_numbers(self, a: SizedValue, b: SizedValue, facts: Facts) -> bool:
        """Whether both are integers or conditions of sizes and loop variables that z3 shows to be equal."""
        if a.node.dtype != b.node.dtype:
            raise NotMatched("the values have other dtypes", _span(a))
        first, second = _encoded(a.node, a), _encoded(b.node, b)
        if first is None or second is None:
            return False
        return self.holds(facts, a.instance.of(first) == b.instance.of(second))

    # ----------------------------------------------------------------------------------------------- cases

    def each(
        self,
        parts: "Iterator[tuple[z3.BoolRef, SizedValue | Read]]",
        facts: Facts,
        match: "Callable[[SizedValue | Read, Facts], None]",
    ) -> None:
        """Match each case under its condition, where no earlier one applies; the cases are all there are."""
        for condition, part in parts:
            if not self.is_impossible((*facts, condition)):
                match(part, (*facts, condition))
            facts = (*facts, z3.Not(condition))
            if self.is_impossible(facts):
                return
        raise NotMatched("it is not shown which store writes an element")

    def _cases(self, value: SizedValue | Read) -> "Iterator[tuple[z3.BoolRef, SizedValue | Read]] | None":
        """The cases of a conditional on places, or of an element of a mapped buffer; None: there are no cases."""
        if isinstance(value, Read):
            stores = value.program.stores.get(value.buffer, [])
            if value.parameter() is not None or any(store.loads_itself() for store in stores):
                return None
            return self.writes(value, stores)
        node = value.node
        if isinstance(node, tir.IfThenElseExpr | tir.Select):
            condition = _encoded(node.condition, value)
            if condition is not None:
                return self._sides(value.instance.of(condition), value, node)
        return None

    def _sides(
        self, condition: "z3.BoolRef", value: SizedValue, node: tir.IfThenElseExpr | tir.Select
    ) -> "Iterator[tuple[z3.BoolRef, SizedValue | Read]]":
        yes, no = (node.true_value, node.false_value)
        yield condition, value.part(yes)
        yield z3.Not(condition), value.part(no)

    def writes(self, read: Read, stores: Sequence[SizedStore]) -> "Iterator[tuple[z3.BoolRef, SizedValue | Read]]":
        """What each store writes at the place of a read, with a condition that is enough for it to do so."""
        for store in stores:
            for instance, condition in instances(read, store):
                yield condition, SizedValue(store.node.value, instance)

    # ------------------------------------------------------------------------------------------- structure

    def _reads(self, a: Read, b: Read, facts: Facts) -> None:
        numbers = a.parameter(), b.parameter()
        if numbers != (None, None):
            if numbers[0] != numbers[1]:
                raise NotMatched(f"`{a.buffer.name}` is matched with `{b.buffer.name}`", _span(a))
        else:
            self.fold_match(a, b)
        same = z3.And(*(i == j for i, j in zip(a.place, b.place, strict=True)))
        if not self.holds(facts, same):
            raise NotMatched(f"places of `{a.buffer.name}` and `{b.buffer.name}` are not shown to be equal", _span(a))

    def _structure(self, a: SizedValue, b: SizedValue, facts: Facts, depth: int) -> None:
        first, second = a.node, b.node
        if type(first) is not type(second):
            raise NotMatched("the expressions have another structure", _span(a))
        match first, second:
            case (tir.BufferLoad(), tir.BufferLoad()):
                return  # the element of the fold before this update, on both sides: `folds` compares the rest
            case (tir.FloatImm(), tir.FloatImm()) | (tir.IntImm(), tir.IntImm()) if structural_equal(first, second):
                return
            case (tir.Var(), tir.Var()):
                self._scalars(a, b)
            case (tir.Apply(), tir.Apply()) if first.op == second.op and len(first.args) == len(second.args):
                self._operands(a, b, first, second, facts, depth)
            case (tir.Call(), tir.Call()) if first.callee == second.callee and first.callee in PURE_CALLS:
                own, others = ([part for part in each.args if isinstance(part, tir.Expr)] for each in (first, second))
                if not len(first.args) == len(second.args) == len(own) == len(others):
                    raise NotMatched("the calls have other arguments", _span(a))
                self._all(a, b, list(zip(own, others, strict=True)), facts, depth)
            case (tir.Cast(), tir.Cast()):
                self._all(a, b, [(first.value, second.value)], facts, depth)
            case (tir.And() | tir.Or(), tir.And() | tir.Or()):
                self._all(a, b, [(first.a, second.a), (first.b, second.b)], facts, depth)
            case (tir.Select() | tir.IfThenElseExpr(), tir.Select() | tir.IfThenElseExpr()):
                own, others = ([each.condition, each.true_value, each.false_value] for each in (first, second))
                self._all(a, b, list(zip(own, others, strict=True)), facts, depth)
            case _:
                raise NotMatched("the expressions have another structure", _span(a))

    def _all(
        self, a: SizedValue, b: SizedValue, pairs: Sequence[tuple[tir.Expr, tir.Expr]], facts: Facts, depth: int
    ) -> None:
        for first, second in pairs:
            self.match(a.part(first), b.part(second), facts, depth + 1)

    def _operands(
        self, a: SizedValue, b: SizedValue, first: tir.Apply, second: tir.Apply, facts: Facts, depth: int
    ) -> None:
        """Operands in order; of a commutative operator also in the other one."""
        try:
            self._all(a, b, list(zip(first.args, second.args, strict=True)), facts, depth)
        except NotMatched:
            row = SCALAR_OPS.get(first.op)
            if row is None or len(first.args) != 2 or not commutes(row.contract, first.args[0].dtype):
                raise
            self._all(a, b, list(zip(first.args, reversed(second.args), strict=True)), facts, depth)

    def _scalars(self, a: SizedValue, b: SizedValue) -> None:
        """Scalar arguments at the same position."""
        positions = [
            next((number for number, each in enumerate(value.instance.program.parameters) if each is value.node), None)
            for value in (a, b)
        ]
        if positions[0] is None or positions[0] != positions[1]:
            raise NotMatched("two variables are not shown to be equal", _span(a))


def instances(read: Read, store: SizedStore) -> "Iterator[tuple[StoreInstance, z3.BoolRef]]":
    """The instance that writes the place of a read, as guessed, with a condition that is enough for it to do so.

    The first guess is one in the same iteration of the loops that reader and store share.
    """
    program, reader = read.program, read.reader
    outer = len(shared(store.access, reader.store.access)[0]) if reader is not None else 0
    for level in dict.fromkeys((outer, 0)):
        indices = read.place if reader is None else read.indices
        equations = list(zip(store.access.indices, indices, strict=True))
        pairs = solved(store.access, level, equations, program.made)
        ahead = StoreInstance(program, store, tuple(pairs))
        condition = at_instance(store.access, pairs, indices)
        if reader is None:
            yield ahead, condition
            continue
        placed = {each.get_id(): (each, value) for each, value in reader.pairs}
        placed |= {each.get_id(): (each, reader.of(value)) for each, value in pairs}
        yield StoreInstance(program, store, tuple(placed.values())), reader.of(condition)


def _encoded(node: tir.Expr, value: SizedValue) -> "z3.ExprRef | None":
    """An integer or a condition over sizes and loop variables, in the store's own constants; None: it is another."""
    if node.dtype.is_vector or not (node.dtype.is_integer or node.dtype.kind == "bool"):
        return None
    variables = Variables(dict(value.instance.store.values))
    for var, bound in value.bound.items():
        number = _encoded(bound.node, bound) if bound.instance is value.instance else None
        if number is not None:
            variables.values[var] = number
    try:
        number = Integers(variables, lambda *_: None).value(node)
    except Undecided:
        return None
    is_known = isinstance(number, z3.ExprRef) and not variables.made and value.instance.program.is_known(number)
    return number if is_known else None


def _never(a: Read, b: Read) -> None:
    raise NotMatched(f"`{a.buffer.name}` and `{b.buffer.name}` are folds", _span(a))


def _span(value: SizedValue | Read) -> Span | None:
    if isinstance(value, SizedValue):
        return value.node.span
    return value.reader.store.span if value.reader is not None else value.buffer.span
