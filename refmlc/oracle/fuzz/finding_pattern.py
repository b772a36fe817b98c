"""The pattern of a finding: what two findings of one cause share, and two of different causes do not.

| part        | of another result                                                  | of a failure                    |
|-------------|--------------------------------------------------------------------|---------------------------------|
| `row`       | the known rows that explain it; then nothing else counts           | the same                        |
| `words`     | how values differ; what it looks like, where no operator is named  | its message: `failure_words`    |
| `part`      | empty for an argument, else what differs: `the result`             | empty                           |
| `operators` | see below                                                          | none: the message names a place |

How values differ: a group of dtypes; floats are `nan`, `inf`, `zero` or `finite`, and two finite ones differ in sign or
not.

The operators of a prim_func are those in the dynamic slice of the first wrong element: what computed it, not what else
the program has. Those of operators of Relax are the ones that are wrong alone, on the values that they had; all of them
where none is. Operators that nearly every loop nest has (`PLAIN`) do not count, and exact ones only where there is none
that is not: what is rounded in another way is rarely an `abs`.

Beside it stands what was applied to which dtypes (`uses`), casts and `PLAIN` operators too: no part of the cause, but
what a row may have (`likeness`).

Decision: a distance is no part of it, and a guess (`refmlc.oracle.difference`) only without an operator: other
arguments make one fault look like another.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.contract import Accuracy
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.observe.why import Slice, why
from refmlc.observe.why.values import Kind as NodeKind, Value
from refmlc.oracle.agreement import OTHERS
from refmlc.oracle.explained import wrong_operators
from refmlc.oracle.finding import Finding
from refmlc.oracle.fuzz.c_errors import c_error
from refmlc.oracle.implementations.implementation import Ended, Implementation
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.outcome import Kind
from refmlc.oracle.reasons import normalised
from refmlc.oracle.record import EVERYWHERE
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies.operators.program import operator_names

CAST = "cast"
PLAIN = EVERYWHERE | {CAST, "div", "mul"}
COINCIDENCES = ("only ", "scaled", "stale", "a rounding is missing", "rounded too early")
NEAR = 64  # ulp
DTYPES = re.compile(r"\b(?:T\.)?(?:bool\b|(?:bfloat|float|uint|int)\d+\w*)")
LANES = re.compile(r"(?<=\bboolx)\d+\b")
RAISED = re.compile(r"^(?:\w+Error: )?(?:error:(?: |$))?")
LLVM_TYPES = re.compile(r"\b(?:half|bfloat|float|double|i\d+)\b")
MADE = re.compile(r"[gl]v\d*")  # names that TVM makes
WORDS = re.compile(r"\b[A-Za-z_]\w*")
NARROW, HALF = 8, 16
OF_C_COMPILER = "the C compiler: "
ANY = "*"  # whatever an operator is applied to
BOUNDED = frozenset(("floordiv", "floormod", "truncdiv", "truncmod", "min", "max", "lt", "le", "gt", "ge", "eq", "ne"))
OF_CAST = " of a cast that wraps"

Uses: TypeAlias = frozenset[tuple[str, str]]
"""Operators, each with a dtype that it is applied to; a cast with both: `cast`, `float32 bool`."""


@dataclass(frozen=True)
class Pattern:
    """What findings of one cause share. `uses` tell none apart."""

    words: str
    part: str = ""
    row: str = ""
    operators: frozenset[str] = frozenset()
    uses: Uses = field(default=frozenset(), compare=False)

    @property
    def text(self) -> str:
        """The pattern for people."""
        operators, words = ", ".join(sorted(self.operators)), self.words.strip()
        return self.row or (f"{operators}: {words}" if operators else words)

    @property
    def names(self) -> tuple[str, ...]:
        """The pattern as words of a signature."""
        return (self.row,) if self.row else (self.part, *sorted(self.operators))

    def is_kept_by(self, smaller: "Pattern") -> bool:
        """Whether the finding of a smaller program may have the same cause: it may have fewer operators, not none."""
        if self.row or smaller.row:
            return self.row == smaller.row
        has_operators = bool(smaller.operators) == bool(self.operators)
        return self.words == smaller.words and smaller.operators <= self.operators and has_operators


def pattern_of(finding: Finding, implementation: Implementation | None, interp: Interp) -> Pattern:
    """The pattern of a finding; `implementation` is the one that it is of, None where operators are not asked alone."""
    difference = finding.verdict.difference
    words = finding.signature[2]
    part = "" if finding.part.startswith("`") else finding.part
    if finding.verdict.row:
        return Pattern(words, part, finding.verdict.row)
    if difference is None and finding.verdict.kind is not Kind.WRONG:
        return Pattern(failure_words(words, names_in_program(finding.case.module)), part)
    uses = frozenset(_uses(finding, implementation, interp))
    operators = frozenset(name for name, _ in uses if name != CAST and not name.endswith(OF_CAST)) - PLAIN
    operators = frozenset(name for name in operators if _is_inexact(name)) or operators
    if difference is None:  # of another shape or dtype
        return Pattern(failure_words(words), part, operators=operators, uses=uses)
    how = _how(difference.actual, difference.expected, finding.actual)
    if operators:
        return Pattern(how, part, operators=operators, uses=uses)
    guess = "" if difference.guess.startswith(COINCIDENCES) else difference.guess.partition("; only ")[0]
    near = "" if difference.ulps is None else "near" if difference.ulps <= NEAR else "far"
    return Pattern(f"{how} {near} {guess}", part, uses=uses)


def failure_words(message: str, names: Collection[str] = ()) -> str:
    """A message without what differs from program to program: numbers, dtypes, and names of the program.

    The class of the exception is left out: TVM raises one check in several. The condition of a check stays as it is: it
    names a place in the implementation. Of a C compiler its first error is left.
    """
    if error := c_error(message, names):
        return f"{OF_C_COMPILER}{error}"
    text = DTYPES.sub("dtype", LANES.sub("#", RAISED.sub("", normalised(message))))
    if "LLVM" in text:
        head, errors, tail = LLVM_TYPES.sub("type", text).partition(": ")
        text = head + errors + once(tail)
    head, mark, tail = text.partition(" is false")
    if not mark:
        head, tail = "", text
    names = frozenset(names)
    return head + mark + WORDS.sub(lambda word: "_" if _is_name(word, names) else word[0], tail)


def _is_name(word: re.Match[str], names: frozenset[str]) -> bool:
    """Whether a word is a name of the program, or one that TVM made; an A that begins a sentence is an article."""
    begins = word.string[: word.start()].rstrip() in ("", ":")
    if word[0] == "A" and begins and re.match(r" [a-z]{3}", word.string[word.end() :]):
        return False
    return word[0] in names or MADE.fullmatch(word[0]) is not None


def once(errors: str) -> str:
    """Errors of several places without those that repeat the first ones."""
    words = errors.split(" ")
    periods = (size for size in range(1, len(words) // 2 + 1) if len(words) % size == 0)
    size = next((size for size in periods if words == words[:size] * (len(words) // size)), len(words))
    return " ".join(words[:size])


def names_in_program(module: IRModule) -> frozenset[str]:
    """The names that a program gives to its parts."""
    nodes = [node for function in module.functions.values() for node in walk(function)]
    parts = [*nodes, *(getattr(node, "var", None) for node in nodes)]  # a binding names its variable
    return frozenset(part.name for part in parts if isinstance(part, tir.Var | tir.Buffer | relax.Var))


def _uses(finding: Finding, implementation: Implementation | None, interp: Interp) -> Iterator[tuple[str, str]]:
    names = operator_names(finding.case.module)
    if names:
        wrong = (
            ()
            if implementation is None
            else wrong_operators(implementation, finding.case, finding.call, interp, OTHERS)
        )
        dtypes = dtypes_of_tensors(finding.case.module)
        yield from ((name, dtype) for name in wrong or names for dtype in dtypes or {""})
        return
    slice_ = _slice(finding)
    if slice_ is not None:
        for write in slice_.writes.values():
            yield from _uses_in(write.value)


def dtypes_of_tensors(module: IRModule) -> frozenset[str]:
    """The dtypes of the tensors of a program of Relax."""
    nodes = [node for function in module.functions.values() for node in walk(function)]
    types = [node.dtype for node in nodes if isinstance(node, TensorType)]
    return frozenset(dtype.element for dtype in types if isinstance(dtype, DType))


def _is_inexact(name: str) -> bool:
    """Whether more than one result of an operator is right."""
    return name in SCALAR_OPS and SCALAR_OPS[name].contract.accuracy in (Accuracy.ULP, Accuracy.ONE_OF)


def _slice(finding: Finding) -> Slice | None:
    """Why the first wrong element has its value; None where it has none."""
    difference = finding.verdict.difference
    if difference is None or not isinstance(finding.reference.answer, Ended):
        return None
    name = finding.part.strip("`").replace("the result", "result").replace(", field ", ".")
    case = finding.case
    try:
        return why(case.module, case.func, case.arguments(finding.call), name, difference.index)
    except RefmlcError:
        return None


def _uses_in(value: Value) -> Iterator[tuple[str, str]]:
    stack = [value]
    while stack:
        node = stack.pop()
        if node.kind is NodeKind.CAST:
            yield from ((CAST, f"{part.dtype.element} {node.dtype.element}") for part in node.parts)
        if node.kind in (NodeKind.OPERATOR, NodeKind.CALL):
            yield node.text, node.dtype.element
            yield from ((node.text, part.dtype.element) for part in node.parts)
            yield from bounds_of_casts(node.text, map(_casts, node.parts))
        stack.extend(node.parts)


def _casts(value: Value) -> Iterator[tuple[DType, DType]]:
    """The casts that stand one in the other at the top of a value: from which dtype to which."""
    while value.kind is NodeKind.CAST:
        (part,) = value.parts
        yield part.dtype, value.dtype
        value = part


def bounds_of_casts(operator: str, operands: Iterable[Iterable[tuple[DType, DType]]]) -> Iterator[tuple[str, str]]:
    """That an operator asks for the bounds of a cast that wraps, as a use. `operands`: the casts of each."""
    if operator in BOUNDED and any(_wraps(*cast) for casts in operands for cast in casts):
        yield f"{operator}{OF_CAST}", ANY
        yield f"an operator{OF_CAST}", ANY


def _wraps(source: DType, target: DType) -> bool:
    """Whether a cast of integers may change a value."""
    if {source.kind, target.kind} - {"int", "uint"}:
        return False
    spared = source.kind == "uint" and target.kind == "int"
    return source.scalar.bits + spared > target.scalar.bits or (source.kind, target.kind) == ("int", "uint")


def _how(actual: object, expected: object, part: object) -> str:
    """How two values differ, in words."""
    kinds = kind_of(actual), kind_of(expected)
    group = group_of(part.dtype) if isinstance(part, Tensor) else ""
    if isinstance(part, Tensor) and not part.dtype.is_float:
        return f"{group} value"
    if kinds == ("finite", "finite") and isinstance(actual, int | float) and isinstance(expected, int | float):
        return f"{group} {'sign' if (actual < 0) != (expected < 0) else 'value'}"
    return f"{group} {kinds[0]} for {kinds[1]}"


def kind_of(value: object) -> str:
    """What a value is, of what tells causes apart: `nan`, `inf`, `zero`, `finite`; of another one `value`."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "value"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf"
    return "finite" if value else "zero"


def group_of(dtype: DType) -> str:
    """The group of a dtype: the floats of 32 and 64 bits are one, and so are the integers."""
    if not dtype.is_float:
        return dtype.kind
    bits = dtype.scalar.bits
    return "narrow float" if bits <= NARROW else "half float" if bits == HALF else "float"
