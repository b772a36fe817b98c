"""Expressions as terms: a number where no operand has lanes, else all lanes at once, else lane by lane.

| node                        | numbers            | lanes                                                   |
|-----------------------------|--------------------|---------------------------------------------------------|
| load, or cast of a load     | what the plan says | what the plan says                                      |
| axis, binding, constant     | its value          | its value, put in each lane where an operator needs it  |
| operator, cast              | `scalars`          | `vectors`; else the helper, once per lane               |
| `Select`, `if_then_else`    | `?:`               | both arms, one chosen: nothing here is ever undefined   |
| `And`, `Or`                 | `&&`, `||`         | `&`, `|` of masks                                       |
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from refmlc.lang.dtypes import BOOL, DType
from refmlc.lang.ir import tir
from refmlc.native.options import Options
from refmlc.native.text import Text, bare
from refmlc.native.tile import scalars, vectors
from refmlc.native.tile.headers import VECTOR_DTYPES, Needs, NoForm
from refmlc.native.tile.terms import Term, broadcast, c_type, floating, integer, lane_bits, mask_of

Leaf = Callable[[tir.Expr], Term | None]


@dataclass(slots=True)
class Values:
    """Expressions of one place.

    `leaf` gives loads and casts of loads, `bound` what variables are. Declarations go to `out`; those of numbers that
    lanes are combined with go to `before`, if there is one, each once (`hoisted`).
    """

    options: Options
    needs: Needs
    out: Text
    fresh: Callable[[str], str]
    leaf: Leaf
    bound: dict[tir.Var, Term] = field(default_factory=dict)
    before: Text | None = None
    hoisted: dict[str, Term] = field(default_factory=dict)

    def emit(self, node: tir.Expr) -> Term:
        """`node` as a term."""
        if node.dtype.is_vector or node.dtype.kind in ("handle", "void"):
            raise NoForm(f"a value is of dtype {node.dtype}")
        if (leaf_term := self.leaf(node)) is not None:
            return leaf_term
        match node:
            case tir.IntImm():
                return integer(node.dtype, node.value)
            case tir.FloatImm():
                return floating(node.dtype, node.value)
            case tir.Var() if node in self.bound:
                return self.bound[node]
            case tir.Cast():
                return self.cast(self.emit(node.value), node.dtype)
            case tir.Apply():
                return self._apply(node.op, [self.emit(arg) for arg in node.args], node.dtype)
            case tir.And() | tir.Or():
                return self._both(node, self.emit(node.a), self.emit(node.b))
            case tir.Select() | tir.IfThenElseExpr():
                arms = self.emit(node.condition), self.emit(node.true_value), self.emit(node.false_value)
                return self._choice(*arms)
            case tir.Let():
                self.bound[node.var] = self.as_variable(self.emit(node.value), node.var.name)
                return self.emit(node.body)
            case _:
                raise NoForm(f"`{type(node).__name__}` has no form in a tile")

    def as_variable(self, term: Term, hint: str) -> Term:
        """The term as a variable."""
        if term.text.isidentifier() and not term.cell:
            return term
        name = self.fresh(hint)
        self.out.line(f"const {c_type(self.needs, term)} {name} = {bare(term.text)};")
        return replace(term, text=name, cell="")

    def _apply(self, op: str, args: Sequence[Term], result: DType) -> Term:
        if all(arg.lanes == 1 for arg in args):
            return scalars.apply(self.needs, op, args, result)
        for arg in args:
            in_lanes(arg.dtype)
        args = [self._early(arg) for arg in args]
        vector_term = vectors.apply(self.needs, op, args, self.options.math, self.options.isa.vector_bytes)
        if vector_term is not None:
            return vector_term
        return self._by_lane(scalars.helper(self.needs, op, [arg.dtype for arg in args]), args, result)

    def cast(self, arg: Term, target: DType) -> Term:
        """`arg`, a number or lanes, as one of `target`."""
        if arg.lanes == 1:
            return scalars.cast(self.needs, arg, target)
        in_lanes(target)
        vector_term = vectors.cast(self.needs, arg, target)
        return (
            vector_term if vector_term is not None else self._by_lane(self.needs.cast(arg.dtype, target), [arg], target)
        )

    def _by_lane(self, function: str, args: Sequence[Term], result: DType) -> Term:
        """`function` called for each lane."""
        lanes = max(arg.lanes for arg in args)
        terms = [self.as_variable(arg, "lane") for arg in args]
        calls = []
        for lane in range(lanes):
            texts = [_lane(term, lane) for term in terms]
            calls.append(f"{function}({', '.join(texts)})")
        if result.kind == "bool":
            vector = self.needs.vector("int32", lanes)
            return Term(f"(rm_{vector}){{{', '.join(f'{call} ? -1 : 0' for call in calls)}}}", BOOL, lanes, 32)
        in_lanes(result)
        vector = self.needs.vector(result.element, lanes)
        text = f"(rm_{vector}){{{', '.join(calls)}}}"
        if result.element == "bfloat16":
            text = f"rm_cast_float32_{vector}({text})"
        return Term(text, result, lanes)

    def _early(self, term: Term) -> Term:
        """A number that is the same in all iterations, computed before them."""
        if self.before is None or term.lanes > 1 or term.text.replace("_", "").replace(".", "").isalnum():
            return term
        if term.text not in self.hoisted:
            name = self.fresh("same")
            self.before.line(f"const {c_type(self.needs, term)} {name} = {bare(term.text)};")
            self.hoisted[term.text] = replace(term, text=name, cell="")
        return self.hoisted[term.text]

    def _both(self, node: tir.And | tir.Or, a: Term, b: Term) -> Term:
        conjunction = isinstance(node, tir.And)
        if a.lanes == 1 and b.lanes == 1:
            return Term(f"({a.text} {'&&' if conjunction else '||'} {b.text})", BOOL)
        return vectors.both(self.needs, "&" if conjunction else "|", a, b)

    def _choice(self, condition: Term, a: Term, b: Term) -> Term:
        if condition.lanes > 1:
            a, b = self._early(a), self._early(b)
            if a.dtype.kind == "bool":
                condition = self.as_variable(condition, "chosen")
            return vectors.select(self.needs, condition, a, b)
        lanes = max(a.lanes, b.lanes)
        a, b = broadcast(self.needs, a, lanes), broadcast(self.needs, b, lanes)
        if a.bits != b.bits:
            bits = max(a.bits, b.bits)
            a, b = mask_of(self.needs, a, bits), mask_of(self.needs, b, bits)
        return scalars.choice(condition, a, b)


def in_lanes(dtype: DType) -> None:
    """Fails: `NoForm` where lanes cannot hold `dtype`."""
    if dtype.element not in VECTOR_DTYPES:
        raise NoForm(f"there are no vectors of {dtype}")


def lanes_of(dtype: DType, vector_bytes: int) -> int:
    """How many lanes of a dtype fill a register."""
    return vector_bytes * 8 // (8 if dtype.kind == "bool" else lane_bits(dtype))


def _lane(term: Term, lane: int) -> str:
    if term.lanes == 1:
        return term.text
    return f"{term.text}[{lane}]" if term.dtype.kind != "bool" else f"{term.text}[{lane}] != 0"
