"""Conditions on dims, decided: where a condition compares a sum of one dim with a number, it changes in a few places.

    if_then_else(1 <= y and y < 57, A[y - 1], 0), y from 0 to 57: three intervals, in each of which one arm is left.

Between its `cuts` a dim decides all conditions on it alone; `decided` is the value there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from refmlc.lang.dtypes import BOOL
from refmlc.lang.ir import tir
from refmlc.native.tile.dims import Dim, computed

_TRUTH: Mapping[str, Callable[[int], bool]] = {
    "eq": lambda d: d == 0,
    "ne": lambda d: d != 0,
    "lt": lambda d: d < 0,
    "le": lambda d: d <= 0,
    "gt": lambda d: d > 0,
    "ge": lambda d: d >= 0,
}
Index = Mapping[tir.Var, Dim | None]


def cuts(values: Iterable[tir.Expr], index: Index, dim: Dim) -> list[int]:
    """Where conditions of `values` on `dim` change, its ends included; ascending."""
    places = {0, dim.extent}
    for value in values:
        for node in computed(value):
            line = _line(node, index) if isinstance(node, tir.Apply) else None
            if isinstance(node, tir.Apply) and line is not None and line[0] is dim:
                _, slope, start = line
                holds = _TRUTH[node.op]
                root = -start // slope
                near = [at for at in (root, root + 1, root + 2) if 0 < at < dim.extent]
                places.update(at for at in near if holds(slope * at + start) != holds(slope * (at - 1) + start))
    return sorted(places)


def decided(value: tir.Expr, index: Index, dim: Dim, place: int) -> tir.Expr:
    """`value` with the conditions on `dim` as they are at `place`; the same objects where nothing changes."""

    def go(node: tir.Expr) -> tir.Expr:
        return decided(node, index, dim, place)

    match node := value:
        case tir.Apply():
            line = _line(node, index)
            if line is not None and line[0] is dim:
                return tir.IntImm(BOOL, int(_TRUTH[node.op](line[1] * place + line[2])))
            args = tuple(map(go, node.args))
            if node.op == "not" and (truth := _truth_of(args[0])) is not None:
                return tir.IntImm(BOOL, int(not truth))
            return node if _are_identical(args, node.args) else replace(node, args=args)
        case tir.And() | tir.Or():
            return _logic(node, go(node.a), go(node.b))
        case tir.Select() | tir.IfThenElseExpr():
            return _choice(node, go(node.condition), go)
        case tir.Cast():
            new_inner = go(node.value)
            return node if new_inner is node.value else replace(node, value=new_inner)
        case tir.Let():
            new_value, new_body = go(node.value), go(node.body)
            return (
                node
                if new_value is node.value and new_body is node.body
                else replace(node, value=new_value, body=new_body)
            )
        case _:
            return node


def is_open(value: tir.Expr, guarded: frozenset[tir.BufferLoad]) -> bool:
    """Whether a guarded load is still under a condition."""
    choices = [node for node in computed(value) if isinstance(node, tir.IfThenElseExpr)]
    return any(node in guarded for choice in choices for node in computed(choice) if isinstance(node, tir.BufferLoad))


def _logic(node: tir.And | tir.Or, a: tir.Expr, b: tir.Expr) -> tir.Expr:
    deciding = isinstance(node, tir.Or)
    for operand, other in ((a, b), (b, a)):
        truth = _truth_of(operand)
        if truth is not None:
            return tir.IntImm(BOOL, int(deciding)) if truth == deciding else other
    return node if a is node.a and b is node.b else replace(node, a=a, b=b)


def _choice(node: tir.Select | tir.IfThenElseExpr, condition: tir.Expr, go: Callable[[tir.Expr], tir.Expr]) -> tir.Expr:
    truth = _truth_of(condition)
    if truth is not None:
        return go(node.true_value if truth else node.false_value)
    arms = go(node.true_value), go(node.false_value)
    if condition is node.condition and _are_identical(arms, (node.true_value, node.false_value)):
        return node
    return replace(node, condition=condition, true_value=arms[0], false_value=arms[1])


def _truth_of(node: tir.Expr) -> bool | None:
    return bool(node.value) if isinstance(node, tir.IntImm) else None


def _are_identical(new: Sequence[tir.Expr], old: Sequence[tir.Expr]) -> bool:
    return all(a is b for a, b in zip(new, old, strict=True))


def _line(node: tir.Apply, index: Index) -> tuple[Dim, int, int] | None:
    """A comparison of integers as `slope * dim + start` against 0, where it is on one dim."""
    if node.op not in _TRUTH or not node.args[0].dtype.is_integer:
        return None
    a, b = (_sum(arg, index) for arg in node.args)
    if a is None or b is None:
        return None
    slopes = {dim: a[0].get(dim, 0) - b[0].get(dim, 0) for dim in {**a[0], **b[0]}}
    moving = [(dim, slope) for dim, slope in slopes.items() if slope]
    return (*moving[0], a[1] - b[1]) if len(moving) == 1 else None


def _sum(node: tir.Expr, index: Index) -> tuple[dict[Dim, int], int] | None:
    """A sum of multiples of dims and a constant. No evaluation overflows: a sum is the sum."""
    match node:
        case tir.IntImm():
            return {}, node.value
        case tir.Var() if node in index:
            dim = index[node]
            return ({} if dim is None else {dim: 1}), 0
        case tir.Cast() if node.dtype.is_integer and node.value.dtype.is_integer and node.dtype.bits >= 32:
            wider = node.dtype.kind == "int" and node.dtype.bits >= node.value.dtype.bits
            return _sum(node.value, index) if wider else None
        case tir.Apply() if node.op in ("add", "sub", "mul") and node.dtype.bits >= 32:
            a, b = (_sum(arg, index) for arg in node.args)
            return None if a is None or b is None else _combined(node.op, a, b)
        case _:
            return None


def _combined(
    op: str, a: tuple[dict[Dim, int], int], b: tuple[dict[Dim, int], int]
) -> tuple[dict[Dim, int], int] | None:
    if op == "mul":
        if a[0] and b[0]:
            return None
        (terms, start), factor = (a, b[1]) if a[0] else (b, a[1])
        return {dim: k * factor for dim, k in terms.items()}, start * factor
    sign = -1 if op == "sub" else 1
    return {dim: a[0].get(dim, 0) + sign * b[0].get(dim, 0) for dim in {**a[0], **b[0]}}, a[1] + sign * b[1]
