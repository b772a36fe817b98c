"""A rule at a dtype: its texts read as expressions, evaluated at points, executed by the interpreter.

Vectors: an expression over lanes is its element at a lane, a variable of its own: `Ramp(b, s)` is `b + s * lane`.
Constants: an expression over constants alone on the right is computed when TVM rewrites, so it wraps to the dtype.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from refmlc.diag import Undefined
from refmlc.lang.dtypes import DType, dtype as dtype_of
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.lang.ops.contract import Scalar
from refmlc.lang.ops.evaluate import evaluate
from refmlc.lang.script import read
from refmlc.prove.rules.table import Rule
from refmlc.prove.terms import Undecided
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

LANES = 4
LITERAL = re.compile(r"(?<![\w.])\d+\b")
LANE = "lane"
RING: Mapping[str, Callable[[int, int], int]] = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}
EXACT = "int64"
Point = Mapping[str, Scalar]
Lanes = tuple[Scalar, ...]


def written(text: str, dtype: str) -> str:
    """The text of a row with its literals in a dtype."""
    return LITERAL.sub(lambda number: f"T.{dtype}({number[0]})", text).replace("lanes", str(LANES))


@dataclass(frozen=True)
class RuleInstance:
    """An alternative of a rule at a dtype. Fails: RM2xx, RM501 … where the dtype does not take the operators."""

    rule: Rule
    left_text: str
    dtype: DType

    @cached_property
    def left(self) -> tir.Expr:
        """The left side; of a vector its element at any lane."""
        return self._element(self._parts[0])

    @cached_property
    def right(self) -> tir.Expr:
        """The right side, so too."""
        return self._element(self._parts[1])

    @cached_property
    def left_lanes(self) -> tuple[tir.Expr, ...]:
        """The elements of the left side, lane by lane; of a scalar the one."""
        return self._lanes(self._parts[0])

    @cached_property
    def right_lanes(self) -> tuple[tir.Expr, ...]:
        """The elements of the right side."""
        return self._lanes(self._parts[1])

    @cached_property
    def when(self) -> tir.Expr | None:
        """TVM's condition: in exact integers, of floats in the dtype."""
        return self._condition(self.rule.when)

    @cached_property
    def needs(self) -> tir.Expr | None:
        """The further condition of the row."""
        return self._condition(self.rule.needs)

    @property
    def variables(self) -> tuple[str, ...]:
        """What is no constant."""
        return tuple(name for name in self.rule.names if name not in self.rule.constants)

    def type_of(self, name: str) -> DType:
        """The dtype of a variable, of its element if it is a vector."""
        return dtype_of("bool") if name in self.rule.bools else self.dtype

    @cached_property
    def is_boolean(self) -> bool:
        """Whether both sides are conditions."""
        return self.left.dtype.scalar.kind == "bool"

    # ---------------------------------------------------------------------------------------- values at a point

    def holds(self, condition: tir.Expr | None, point: Point) -> bool:
        """Whether a condition holds, in exact integers; one that is undefined does not."""
        try:
            return condition is None or bool(evaluate(condition, _bound(condition, point)))
        except Undefined:
            return False

    def value(self, lanes: Sequence[tir.Expr], point: Point, *, wraps: bool = False) -> Lanes | str:
        """The values of a side, or the code of its undefinedness. `wraps`: overflow is no undefinedness."""
        sides = (reduced(lane, point) if wraps else lane for lane in lanes)
        try:
            return tuple(evaluate(side, _bound(side, point)) for side in sides)
        except Undefined as undefined:
            return undefined.code.id

    def rewritten(self, point: Point) -> tuple[tir.Expr, ...]:
        """The right side as TVM has it at a point: what is over constants alone is computed, and wraps."""
        constants = {name: point[name] for name in self.rule.constants}
        return tuple(reduced(lane, constants) for lane in self.right_lanes) if constants else self.right_lanes

    # ---------------------------------------------------------------------------------------- execution

    def left_program(self, point: Point) -> str:
        """A function that stores the left side, with the constants of a point as literals."""
        return self._program(self.left_text, point)

    def right_program(self, point: Point) -> str:
        """A function that stores the right side, as TVM has it at a point."""
        if self.rule.is_vector:  # nothing is over constants alone
            return self._program(self.rule.right, point)
        return self.storing(str(self.rewritten(point)[0]))

    def _program(self, text: str, point: Point) -> str:
        shown = written(text, str(self.dtype))
        for name in self.rule.constants:
            shown = re.sub(rf"\b{name}\b", _literal(point[name], self.dtype), shown)
        for name in self.rule.vectors:
            shown = re.sub(rf"(?<![\w.]){name}\b", f"T.Broadcast({name}, {LANES})", shown)
        return self.storing(shown)

    def storing(self, shown: str) -> str:
        """A function of the variables that stores an expression."""
        parameters = [f"{name}: T.{self.type_of(name)}" for name in self.variables]
        size, place = (LANES, f"T.Ramp(0, 1, {LANES})") if self.rule.is_vector else (1, "0")
        parameters.append(f'R: T.Buffer(({size},), "{self.left.dtype.scalar}")')
        return (
            "# from tvm.script import tirx as T\n@T.prim_func(s_tir=True)\n"
            f"def main({', '.join(parameters)}):\n    R[{place}] = {shown}\n"
        )

    def executed(self, program: str, point: Point, *, wraps: bool = False) -> Lanes | str:
        """What a program stores by the interpreter, lane by lane, or the code of its undefinedness.

        `wraps`: integers wrap at every width, as hardware does.
        """
        result = Tensor.empty((LANES if self.rule.is_vector else 1,), self.left.dtype.scalar)
        arguments = [point[name] for name in self.variables]
        module = read(program)
        try:
            machine = VirtualMachine(build(module, "interp", allow=frozenset({"RM306"} if wraps else ())))
            machine["main"](*arguments, result)
        except Undefined as undefined:
            return undefined.code.id
        return tuple(result.numpy().tolist())

    # ---------------------------------------------------------------------------------------- parts

    @cached_property
    def _parts(self) -> tuple[tir.Expr, ...]:
        return self._read([self.left_text, self.rule.right], str(self.dtype))

    def _spelled(self, name: str, dtype: str) -> str:
        lanes = f"x{LANES}" if name in self.rule.vectors else ""
        return f"{'bool' if name in self.rule.bools else dtype}{lanes}"

    def condition_in_dtype(self, text: str) -> tir.Expr:
        """A condition as a program has it."""
        return self._read([text], str(self.dtype))[0]

    def _condition(self, text: str) -> tir.Expr | None:
        if not text:
            return None
        dtype = str(self.dtype) if self.dtype.is_float else EXACT
        return self._read([text], dtype)[0]

    def _read(self, texts: Sequence[str], dtype: str) -> tuple[tir.Expr, ...]:
        parameters = ", ".join(f"{name}: T.{self._spelled(name, dtype)}" for name in self.rule.names)
        lines = "".join(f"    T.evaluate({written(text, dtype)})\n" for text in texts)
        module = read(f"@T.prim_func\ndef main({parameters}):\n{lines}")
        return tuple(node.value for node in walk(module.functions["main"]) if isinstance(node, tir.Evaluate))

    def _element(self, side: tir.Expr) -> tir.Expr:
        return _at_lane(side, tir.Var(LANE, self.dtype)) if side.dtype.is_vector else side

    def _lanes(self, side: tir.Expr) -> tuple[tir.Expr, ...]:
        return tuple(_at_lane(side, lane) for lane in range(LANES)) if side.dtype.is_vector else (side,)


def wrapped(value: int, dtype: DType) -> int:
    """The number of a dtype that is congruent to `value`."""
    return int((value - dtype.minimum) % (1 << dtype.bits) + dtype.minimum)


def same(a: Lanes | str, b: Lanes | str) -> bool:
    """Whether two sides have the same values: NaN is one number, and zeros have a sign. Codes are no values."""
    return not isinstance(a, str) and not isinstance(b, str) and all(map(_same, a, b))


def _same(a: Scalar, b: Scalar) -> bool:
    if isinstance(a, float) and isinstance(b, float) and a == b:
        return math.copysign(1, a) == math.copysign(1, b)
    return a == b or (a != a and b != b)  # noqa: PLR0124 - NaN


def _bound(side: tir.Expr, point: Point) -> dict[tir.Var, Scalar]:
    return {node: point[node.name] for node in walk(side) if isinstance(node, tir.Var)}


def _literal(value: Scalar, dtype: DType) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'T.{dtype}("{value}")'
    return f"T.{dtype}({value})"


def _imm(value: Scalar, dtype: DType) -> tir.Expr:
    return tir.FloatImm(dtype, float(value)) if dtype.is_float else tir.IntImm(dtype, int(value))


def reduced(side: tir.Expr, point: Point) -> tir.Expr:
    """A side with the variables of a point as literals; operators on integer literals are computed, and wrap."""

    def step(node: Node) -> Node:
        match node:
            case tir.Var(name, dtype) if name in point:
                return _imm(point[name], dtype)
            case tir.Apply(op, (tir.IntImm(value=a), tir.IntImm(value=b)), dtype) if op in RING and dtype.is_integer:
                return tir.IntImm(dtype, wrapped(RING[op](a, b), dtype))
            case tir.Apply(args=args, dtype=dtype) if all(isinstance(arg, tir.IntImm) for arg in args):
                try:
                    return _imm(evaluate(node, {}), dtype)
                except Undefined:
                    return node
        return node

    return rewrite(side, step)


def _at_lane(side: tir.Expr, lane: tir.Var | int) -> tir.Expr:
    """The element of a vector at a lane; a scalar operand is itself.

    At a known lane a ramp is a chain of sums, which overflows only where the first or the last does (TIR-114).
    """
    match side:
        case tir.Ramp(base, stride) if isinstance(lane, int):
            return reduce(lambda total, _: tir.Apply("add", (total, stride), base.dtype), range(lane), base)
        case tir.Ramp(base, stride) if not isinstance(lane, int):
            return tir.Apply("add", (base, tir.Apply("mul", (stride, lane), base.dtype)), base.dtype)
        case tir.Broadcast(value):
            return value
        case tir.Var(name, dtype):
            return tir.Var(name, dtype.scalar)
        case tir.Apply(op, args, dtype):
            return tir.Apply(op, tuple(_at_lane(arg, lane) for arg in args), dtype.scalar)
        case tir.And(a, b):
            return tir.And(_at_lane(a, lane), _at_lane(b, lane))
        case tir.Or(a, b):
            return tir.Or(_at_lane(a, lane), _at_lane(b, lane))
        case _:
            raise Undecided(f"a {type(side).__name__} over lanes has no element here", side.span)
