"""Wrong results and failures that a recorded deviation explains (`conformance/known`), shown by executing it.

A row of `takes` says how the implementation takes an expression: `x * 0` as `0`. The program is rewritten so and run:

| the program as the row takes it | the answer                  | the row explains it           |
|---------------------------------|-----------------------------|-------------------------------|
| is defined                      | is a permitted result of it | yes                           |
| is defined                      | anything else               | no                            |
| is undefined                    | anything                    | only one that is decided here |

A row of `operator` names an operator of Relax and what its operands hold, `nan` or `inf`. Each operator of the run is
executed alone by the implementation, on the inputs that it has in the interpreter's run:

| the operators that are wrong alone                       | the row explains it |
|----------------------------------------------------------|---------------------|
| some; each is one that rows name, with such operands     | yes                 |
| none, or another one too                                 | no                  |

Decision: names and dtypes alone explain no wrong result: another fault may be in the same program. So a row explains
nothing that was not executed, and a program with a recorded and a new fault is explained by no row.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.lang.script import read
from refmlc.observe.bounds.freedom import Freedom
from refmlc.oracle.agreement import agree
from refmlc.oracle.exact.programs import OperatorCall, OperatorCalls, OperatorProgram
from refmlc.oracle.implementations.implementation import Answer, Ended, Implementation, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp, Interpreted
from refmlc.oracle.outcome import Kind
from refmlc.oracle.record import KnownRow, known_rows
from refmlc.oracle.reference import Program, references
from refmlc.oracle.verdict_rules import judged, without_answer
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.memory.tensor import Tensor

MOST_OPERATORS = 16
PATTERN = """
@T.prim_func
def pattern(x: T.{of}, y: T.{of}, z: T.{of}):
    T.evaluate({expression})
"""
AGREED = (Kind.EQUAL, Kind.PERMITTED)


@dataclass(frozen=True)
class Explanation:
    """The rows that explain an answer. `decided`: each is decided here, so that nobody is wrong."""

    rows: tuple[KnownRow, ...]

    @property
    def decided(self) -> bool:
        return all(row.decided for row in self.rows)

    @property
    def ids(self) -> str:
        """The ids of the rows."""
        return ", ".join(row.id for row in self.rows)

    @property
    def titles(self) -> str:
        """What the rows say, in one line."""
        return "; ".join(row.title for row in self.rows)


def explained(
    implementation: Implementation, case: Program, number: int, answer: Answer, interp: Interp, freedom: Freedom
) -> Explanation | None:
    """The rows that explain why `answer` to call `number` is not what the program means; None: none do."""
    says = getattr(implementation, "says", {})
    rows = known_rows(says) if isinstance(says, Mapping) else ()
    if not rows:
        return None
    call = _OneCall(case.module, case.func, case, number)
    try:
        found = _taken(call, answer, rows, interp, freedom)
        return found or _of_operators(implementation, call, rows, interp, freedom)
    except RefmlcError:
        return None


@dataclass(frozen=True)
class _OneCall:
    """One call of a program, perhaps of another module."""

    module: IRModule
    func: str
    source: Program
    number: int
    name: str = ""
    calls: tuple[int, ...] = (0,)

    def arguments(self, number: int = 0) -> list[object]:
        del number
        return self.source.arguments(self.number)


# ------------------------------------------------------------------------------------------- expressions


def _taken(
    call: _OneCall, answer: Answer, rows: Sequence[KnownRow], interp: Interp, freedom: Freedom
) -> Explanation | None:
    """The row, or all that apply together, with which the program means what was answered."""
    lowered = legalize_ops(call.module)
    applied = [row for row in rows if rewritten(lowered, [row]) is not lowered]
    tries = [*((row,) for row in applied), *([tuple(applied)] if len(applied) > 1 else [])]
    for tried in tries:
        explanation, module = Explanation(tried), rewritten(lowered, tried)
        meaning = references(replace(call, module=module), interp, sanitize=True)[0].answer
        if isinstance(meaning, Stopped):
            if meaning.why is Stop.UNDEFINED and explanation.decided:
                return explanation
        elif isinstance(answer, Ended):
            compared = agree(replace(call, module=module), 0, meaning, answer, promised=False, freedom=freedom)
            if compared.verdict.kind in AGREED:
                return explanation
    return None


def rewritten(module: IRModule, rows: Sequence[KnownRow]) -> IRModule:
    """The module as these rows take it; itself where none applies."""
    patterns = [pattern for row in rows for takes in row.takes for pattern in (_pattern(*takes),)]
    changed = False

    def taken(node: Node) -> Node:
        nonlocal changed
        for pattern in patterns:
            other = pattern.taken(node)
            if other is not None:
                changed = True
                return other
        return node

    functions = {
        name: rewrite(each, taken) if isinstance(each, tir.PrimFunc) else each
        for name, each in module.functions.items()
    }
    return replace(module, functions=functions, source=None) if changed else module


@dataclass(frozen=True)
class _Pattern:
    """An expression in `x`, `y` and `z`, and what it is taken for. A float32 stands for any float dtype."""

    expression: tir.Expr
    other: tir.Expr
    names: frozenset[tir.Var]

    def taken(self, node: Node) -> Node | None:
        """What `node` is taken for; None: it is not such an expression."""
        match = _Match(self.names)
        if not match.fits(self.expression, node):
            return None
        other = rewrite(self.other, match.typed)
        return substitute(other, match.values)


@cache
def _pattern(expression: str, other: str, of: str) -> _Pattern:
    """The pattern of a row."""
    first, second = (_function(text, of) for text in (expression, other))
    names: dict[Node, Node] = dict(zip(second.params, first.params, strict=True))
    value = substitute(_value(second), names)
    return _Pattern(_value(first), value, frozenset(first.params))


def _function(expression: str, of: str) -> tir.PrimFunc:
    function = read(PATTERN.format(expression=expression, of=of)).functions["pattern"]
    assert isinstance(function, tir.PrimFunc)  # noqa: S101 - as the text says
    return function


def _value(function: tir.PrimFunc) -> tir.Expr:
    return next(node.value for node in walk(function.body) if isinstance(node, tir.Evaluate))


@dataclass
class _Match:
    """The values of the names of a pattern, and the float dtype that stands for float32."""

    names: frozenset[tir.Var]
    values: dict[Node, Node] = field(default_factory=dict)
    dtype: DType | None = None

    def fits(self, pattern: object, node: object) -> bool:
        """Whether `node` is the pattern with values in place of its names."""
        if isinstance(pattern, tir.Var) and pattern in self.names:
            if not hasattr(node, "dtype") or not self._same_dtype(pattern.dtype, node.dtype):
                return False
            return _same(self.values.setdefault(pattern, node), node) if isinstance(node, Node) else False
        if type(pattern) is not type(node):
            return False
        match pattern, node:
            case ((tir.FloatImm() | tir.IntImm()), (tir.FloatImm() | tir.IntImm())):
                return pattern.value == node.value and self._same_dtype(pattern.dtype, node.dtype)
            case tir.Apply(), tir.Apply():
                return pattern.op == node.op and self._all(pattern.args, node.args)
            case tir.Cast(), tir.Cast():
                return self._same_dtype(pattern.dtype, node.dtype) and self.fits(pattern.value, node.value)
            case ((tir.And() | tir.Or()), (tir.And() | tir.Or())):
                return self.fits(pattern.a, node.a) and self.fits(pattern.b, node.b)
            case _:
                return False

    def _all(self, patterns: Sequence[object], nodes: Sequence[object]) -> bool:
        return len(patterns) == len(nodes) and all(map(self.fits, patterns, nodes))

    def _same_dtype(self, pattern: DType, actual: DType) -> bool:
        if not pattern.is_float:
            return pattern == actual
        if not actual.is_float or (self.dtype is not None and self.dtype != actual):
            return False
        self.dtype = actual
        return True

    def typed(self, node: Node) -> Node:
        """A node of what the pattern is taken for, in the dtype that was found."""
        if isinstance(node, tir.FloatImm | tir.Cast) and node.dtype.is_float and self.dtype is not None:
            return replace(node, dtype=self.dtype)
        return node


def _same(a: Node, b: Node) -> bool:
    """Whether two expressions are the same one, of the same variables and buffers."""
    if isinstance(a, tir.Var | tir.Buffer | tir.ThreadVar):
        return a is b
    if type(a) is not type(b):
        return False
    match a, b:
        case tir.BufferLoad(), tir.BufferLoad():
            return a.buffer is b.buffer and _all_same(a.indices, b.indices)
        case tir.Apply(), tir.Apply():
            return a.op == b.op and _all_same(a.args, b.args)
        case ((tir.FloatImm() | tir.IntImm()), (tir.FloatImm() | tir.IntImm())):
            return repr(a.value) == repr(b.value) and a.dtype == b.dtype
        case tir.Cast(), tir.Cast():
            return a.dtype == b.dtype and _same(a.value, b.value)
        case _:
            return False


def _all_same(a: Sequence[Node], b: Sequence[Node]) -> bool:
    return len(a) == len(b) and all(map(_same, a, b))


# --------------------------------------------------------------------------------------------- operators


def _of_operators(
    implementation: Implementation, call: _OneCall, rows: Sequence[KnownRow], interp: Interp, freedom: Freedom
) -> Explanation | None:
    """The rows of the operators that are wrong alone, if rows name each of them."""
    if not isinstance(call.module.functions[call.func], relax.Function) or not any(row.operator for row in rows):
        return None
    distinct = _distinct(call, interp)
    named = [_naming(each, rows) for each in distinct]
    if not any(named) or len(distinct) > MOST_OPERATORS:
        return None
    wrong = [
        row for each, row in zip(distinct, named, strict=True) if not _is_right(implementation, each, interp, freedom)
    ]
    if not wrong or None in wrong:
        return None
    return Explanation(tuple(dict.fromkeys(row for row in wrong if row is not None)))


def wrong_operators(
    implementation: Implementation, case: Program, number: int, interp: Interp, freedom: Freedom
) -> tuple[str, ...]:
    """The operators of a program of Relax that are wrong alone, on the values that they have in call `number`."""
    call = _OneCall(case.module, case.func, case, number)
    try:
        distinct = _distinct(call, interp)[:MOST_OPERATORS]
        return tuple(each.op.name for each in distinct if not _is_right(implementation, each, interp, freedom))
    except RefmlcError:
        return ()


def _distinct(call: _OneCall, interp: Interp) -> list[OperatorCall]:
    """The calls of operators in a call of a program, each once."""
    hooks = OperatorCalls()
    Interpreted(call.module, interp, hooks).run(call.func, call.arguments())
    return list({each.key: each for each in hooks.calls}.values())


def _naming(call: OperatorCall, rows: Sequence[KnownRow]) -> KnownRow | None:
    """The row that names the operator with such operands."""
    return next((row for row in rows if row.operator == call.op.name and _holds(call.values, row.operand)), None)


def _holds(values: Sequence[object], what: str) -> bool:
    """Whether a float operand has a NaN, or an infinity."""
    test = {"nan": np.isnan, "inf": np.isinf}[what]
    with np.errstate(all="ignore"):
        return any(bool(test(each.array.astype(np.float64)).any()) for each in _floats(values))


def _floats(values: Sequence[object]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield from (value,) if value.dtype.is_float else ()
        elif isinstance(value, tuple):
            yield from _floats(value)


def _is_right(implementation: Implementation, call: OperatorCall, interp: Interp, freedom: Freedom) -> bool:
    """Whether the implementation gives a permitted result of the operator alone."""
    program = OperatorProgram(call)
    reference = references(program, interp, sanitize=False)[0]
    if without_answer(reference) is not None:
        return False
    prepared = implementation.prepare(program.module)
    if isinstance(prepared, Stopped):
        return False
    try:
        answer = prepared.run(program.func, program.arguments())
    finally:
        prepared.close()
    verdict, _finding = judged(program, 0, reference, answer, name="", promises=False, freedom=freedom)
    return verdict.kind in AGREED
