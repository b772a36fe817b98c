"""Expressions as closures that give values which may be sets; cases in the order of `refmlc.lang.ir.tir`.

If a condition is uncertain, both arms are evaluated and united. Vectors are their lanes (`lanes`). Calls other than
hints and `T.fma` are not certified (RM504).
"""

from collections.abc import Callable
from typing import TypeAlias, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import UNINITIALISED
from refmlc.lang.ir import tir
from refmlc.observe.bounds.arithmetic import multiply_add
from refmlc.observe.bounds.choice import UNKNOWN, Choice, Value, Whole, can, members, truth
from refmlc.observe.bounds.enclosure import ANYTHING, point
from refmlc.observe.bounds.instructions import result_of
from refmlc.observe.bounds.operators import conversion, not_certified, operator
from refmlc.observe.bounds.places import View, as_float, as_whole, unite
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.run import Run
from refmlc.run.interp.ptx.stores import VALUE

Eval: TypeAlias = Callable[[], Value]


def prepare_expr(run: Run, node: tir.Expr) -> Eval:
    """`node` as a closure on the state of `run`."""
    if node.dtype.is_vector:
        raise not_certified(f"a vector ({node.dtype}) where a number is needed", node.span)
    match node:
        case tir.Var():
            values = run.values
            return lambda: values[node]
        case tir.IntImm():
            number = bool(node.value) if node.dtype.kind == "bool" else node.value
            return lambda: number
        case tir.FloatImm():
            constant = point(node.value)
            return lambda: constant
        case tir.Apply():
            return _apply(run, node)
        case tir.Cast():
            convert = conversion(node.value.dtype, node.dtype, run.freedom, node.span)
            value = prepare_expr(run, node.value)
            return lambda: convert(value())
        case tir.And():
            return _and(prepare_expr(run, node.a), prepare_expr(run, node.b))
        case tir.Or():
            return _or(prepare_expr(run, node.a), prepare_expr(run, node.b))
        case tir.Select() | tir.IfThenElseExpr():
            return _select(run, node)
        case tir.Let(var=var, body=body) if var.dtype.is_vector:
            return prepare_expr(run, run.lanes.let(node, body))
        case tir.Let():
            return _let(run, node)
        case tir.Shuffle():
            return prepare_expr(run, run.lanes.shuffled(node, 0))
        case tir.BufferLoad():
            return _load(run, node)
        case tir.Call():
            return _call(run, node)
        case _:
            raise not_certified(f"a {type(node).__name__}", node.span)


def whole(run: Run, node: tir.Expr) -> Callable[[], int]:
    """An expression whose value must be certain: an extent, a bound."""
    value = prepare_expr(run, node)

    def certain_value() -> int:
        result = value()
        if isinstance(result, int):
            return result
        raise not_certified("an extent that depends on a rounding", node.span)

    return certain_value


def _apply(run: Run, node: tir.Apply) -> Eval:
    apply = operator(node.op, [arg.dtype for arg in node.args], node.dtype, run.freedom, node.span)
    args = [prepare_expr(run, arg) for arg in node.args]
    match args:
        case [a]:
            return lambda: apply(a())
        case [a, b]:
            return lambda: apply(a(), b())
        case _:
            return lambda: apply(*[arg() for arg in args])


def _and(a: Eval, b: Eval) -> Eval:
    def conjunction() -> Whole:
        left = as_whole(a())
        if not can(left, True):
            return False
        right = as_whole(b())
        return truth(can(right, True), can(left, False) or can(right, False))

    return conjunction


def _or(a: Eval, b: Eval) -> Eval:
    def disjunction() -> Whole:
        left = as_whole(a())
        if not can(left, False):
            return True
        right = as_whole(b())
        return truth(can(left, True) or can(right, True), can(right, False))

    return disjunction


def _select(run: Run, node: tir.Select | tir.IfThenElseExpr) -> Eval:
    condition = prepare_expr(run, node.condition)
    yes, no = prepare_expr(run, node.true_value), prepare_expr(run, node.false_value)

    def choose() -> Value:
        holds = as_whole(condition())
        if not can(holds, False):
            return yes()
        if not can(holds, True):
            return no()
        run.unsure += 1
        try:
            return unite(yes(), no())
        finally:
            run.unsure -= 1

    return choose


def _let(run: Run, node: tir.Let) -> Eval:
    value, body = prepare_expr(run, node.value), prepare_expr(run, node.body)

    def let() -> Value:
        run.values[node.var] = value()
        return body()

    return let


def indices_of(run: Run, node: tir.BufferLoad | tir.BufferStore) -> Callable[[], list[tuple[int, ...]]]:
    """Every tuple of indices that an access may have."""
    if node.predicate is not None:
        raise not_certified("a predicate", node.span)
    parts = [prepare_expr(run, index) for index in node.indices]

    def indices() -> list[tuple[int, ...]]:
        values = [part() for part in parts]
        certain = tuple([value for value in values if isinstance(value, int)])
        return [certain] if len(certain) == len(values) else uncertain([as_whole(value) for value in values])

    def uncertain(values: list[Whole]) -> list[tuple[int, ...]]:
        tuples: list[tuple[int, ...]] = [()]
        for value in values:
            if isinstance(value, Choice):
                options = members(value)
                if options is None:
                    raise not_certified("an index that depends on a rounding", node.span)
                tuples = [(*prefix, option) for prefix in tuples for option in options]
            else:
                tuples = [(*prefix, value) for prefix in tuples]
        return tuples

    return indices


def _load(run: Run, node: tir.BufferLoad) -> Eval:
    run.require_declared(node.buffer, node.span)
    indices = indices_of(run, node)
    views, buffer = run.views, node.buffer

    def load() -> Value:
        view = views[buffer]
        places = indices()
        value = _element(run, view, node, places[0])
        for place in places[1:]:
            value = unite(value, _element(run, view, node, place))
        return value

    return load


def _element(run: Run, view: View, node: tir.BufferLoad, at: tuple[int, ...]) -> Value:
    where = view.place(at)
    value = None if where is None else view.read(where)
    if value is not None:
        return value
    if run.unsure:  # an arm that a defined program does not take
        return ANYTHING if node.dtype.is_float else UNKNOWN
    raise fail(UNINITIALISED, f"element {at} of `{node.buffer.name}` has no value", node.span)


def _call(run: Run, node: tir.Call) -> Eval:
    args = [arg for arg in node.args if isinstance(arg, tir.Expr)]
    match node.callee:
        case "tvm_thread_invariant" | "ignore_loop_partition":
            return prepare_expr(run, cast("tir.Expr", node.args[0]))  # a hint: the signature has one expression
        case "fma" if node.dtype.is_float and len(args) == len(node.args):
            grid = Grid(node.dtype, run.freedom)
            a, b, c = (prepare_expr(run, arg) for arg in args)
            return lambda: grid.fit(multiply_add(as_float(a()), as_float(b()), as_float(c()), grid))
        case callee if callee == VALUE:  # PTX-019
            result, operands = result_of(node), [prepare_expr(run, operand) for operand in args[2:]]
            return lambda: result(*(operand() for operand in operands))
        case _:
            name = node.callee.name if isinstance(node.callee, tir.GlobalVar) else node.callee
            raise not_certified(f"a call of `{name}`", node.span)
