"""Rewrites that keep the meaning of a function and are not schedule steps.

| rewrite        | what it does                                                   | the same bits because         |
|----------------|----------------------------------------------------------------|-------------------------------|
| `renamed`      | other names for the variables and buffers of the body          | names have no meaning         |
| `plus_nothing` | an integer `x` that is stored is `x + 0`, `x * 1`, `max(x, x)` | exact, never overflows        |
| `loaded`       | a constant operand is stored to memory and loaded              | a load gives the stored value |
| `divided_if`   | `if c: s else: t` is `if c: s` and `if not c: t`               | s does not write operands of c |
| `partitioned`  | a loop with no block in it is two, one after the other         | the order is the same         |

The names are those of traces. A rewrite returns None if it cannot change the function.
"""

from collections.abc import Callable
from dataclasses import replace

from refmlc.lang.dtypes import BOOL, INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.rewrite.schedule.accesses import problem
from refmlc.rewrite.schedule.places import Place, fresh_name, is_root, places, top, with_stmt, with_top
from refmlc.strategies.choices import Choices

Rewrite = Callable[[tir.PrimFunc, Choices], "tir.PrimFunc | None"]
ARITHMETIC = ("add", "sub", "mul", "max", "min")


def rename(func: tir.PrimFunc, choices: Choices) -> tir.PrimFunc | None:
    """The function with other names in its body."""
    suffix = choices.pick(("_a", "_renamed", "1"))
    interface: set[Node] = {*func.params, *func.buffer_map.values()}
    interface |= {part for buffer in func.buffer_map.values() for part in walk(buffer)}
    nodes = [node for node in walk(func.body) if node not in interface]
    table: dict[Node, Node] = {
        node: replace(node, name=node.name + suffix) for node in nodes if isinstance(node, tir.Var)
    }
    for node in nodes:
        if isinstance(node, tir.Buffer):
            # The shape of a buffer may have variables, which have new names too.
            table[node] = substitute(replace(node, name=node.name + suffix), table)
    return replace(func, body=substitute(func.body, table)) if table else None


def _stores(func: tir.PrimFunc) -> list[Place]:
    """The stores of single elements."""
    return [
        place
        for place in places(func.body)
        if isinstance(place.stmt, tir.BufferStore) and not place.stmt.value.dtype.is_vector
    ]


def plus_nothing(func: tir.PrimFunc, choices: Choices) -> tir.PrimFunc | None:
    """An operator that keeps the value around a stored integer."""
    statements = [place.stmt for place in _stores(func)]
    stores = [
        statement
        for statement in statements
        if isinstance(statement, tir.BufferStore) and statement.value.dtype.is_integer
    ]
    if not stores:
        return None
    store = choices.pick(stores)
    kind = store.value.dtype
    rows: list[tuple[str, tir.Expr]] = [("add", tir.IntImm(kind, 0)), ("max", store.value)]
    if kind.maximum > 0:  # int1 has no 1
        rows.append(("mul", tir.IntImm(kind, 1)))
    op, other = choices.pick(rows)
    return with_stmt(func, store, replace(store, value=tir.Apply(op, (store.value, other), kind)))


def load_constant(func: tir.PrimFunc, choices: Choices) -> tir.PrimFunc | None:
    """A constant operand in a stored value becomes the element of a buffer of one element."""
    operations = [
        (place, node)
        for place in _stores(func)
        if isinstance(place.stmt, tir.BufferStore)
        for node in walk(place.stmt.value)
        if isinstance(node, tir.Apply) and not node.dtype.is_vector and node.op in ARITHMETIC and _constant(node) >= 0
    ]
    if not operations:
        return None
    where, node = choices.pick(operations)
    at = _constant(node)
    constant, place = node.args[at], (tir.IntImm(INT32, 0),)
    buffer = tir.Buffer(fresh_name(func, "one"), constant.dtype, (tir.IntImm(INT32, 1),))
    args = (*node.args[:at], tir.BufferLoad(buffer, place), *node.args[at + 1 :])
    undeclared = _without_regions(func, where)
    changed = replace(undeclared, body=substitute(undeclared.body, {node: replace(node, args=args)}))
    first = tir.BufferStore(buffer, constant, place)
    return with_top(changed, [first, *top(changed)], added=(buffer,))


def _without_regions(func: tir.PrimFunc, where: Place) -> tir.PrimFunc:
    """The function, with no declared regions on the blocks around a place, which are then deduced."""
    realizes = [stmt for stmt in where.around if isinstance(stmt, tir.SBlockRealize)]
    blocks = [realize.block for number, realize in enumerate(realizes) if number or not is_root(realize)]
    table: dict[Node, Node] = {block: replace(block, reads=None, writes=None) for block in blocks[-1:]}
    for block in reversed(blocks[:-1]):
        table[block] = substitute(replace(block, reads=None, writes=None), table)
    return replace(func, body=substitute(func.body, table))


def _constant(node: tir.Apply) -> int:
    """The index of the first constant operand; -1 without one."""
    return next((at for at, arg in enumerate(node.args) if isinstance(arg, tir.IntImm | tir.FloatImm)), -1)


def divide_if(func: tir.PrimFunc, choices: Choices) -> tir.PrimFunc | None:
    """An `if` with two cases becomes two statements with one case each."""
    statements = [place.stmt for place in places(func.body)]
    ifs = [
        statement
        for statement in statements
        if isinstance(statement, tir.IfThenElse) and statement.else_case is not None
    ]
    ifs = [statement for statement in ifs if _repeats(func, statement)]
    if not ifs:
        return None
    statement = choices.pick(ifs)
    opposite = tir.Apply("not", (statement.condition,), BOOL)
    parts = [tir.IfThenElse(statement.condition, statement.then_case)]
    if statement.else_case is not None:
        parts.append(tir.IfThenElse(opposite, statement.else_case))
    return with_stmt(func, statement, tir.SeqStmt(tuple(parts)))


def _repeats(func: tir.PrimFunc, branch: tir.IfThenElse) -> bool:
    """True if the condition is the same after the first case, which writes none of its operands."""
    if problem(func, branch.then_case) is not None or any(
        isinstance(part, tir.Call) for part in walk(branch.condition)
    ):
        return False
    buffers = {part.buffer for part in walk(branch.condition) if isinstance(part, tir.BufferLoad)}
    return not any(isinstance(part, tir.BufferStore) and part.buffer in buffers for part in walk(branch.then_case))


def partition(func: tir.PrimFunc, choices: Choices) -> tir.PrimFunc | None:
    """A serial loop of a constant extent becomes two; the second defines new variables."""
    loops = [place.stmt for place in places(func.body) if isinstance(place.stmt, tir.For) and _divides(place.stmt)]
    if not loops:
        return None
    loop = choices.pick(loops)
    if not isinstance(loop, tir.For) or not isinstance(loop.extent, tir.IntImm):
        return None
    kind = loop.extent.dtype
    size = 1 + choices.below(loop.extent.value - 1)
    begin = tir.Apply("add", (loop.min, tir.IntImm(kind, size)), kind)
    table: dict[Node, Node] = {var: replace(var) for var in _defined_vars(loop)}
    second = substitute(loop, table)
    parts = (
        replace(loop, extent=tir.IntImm(kind, size)),
        replace(second, min=begin, extent=tir.IntImm(kind, loop.extent.value - size)),
    )
    return with_stmt(func, loop, tir.SeqStmt(parts))


def _divides(loop: tir.For) -> bool:
    """True if a loop may be divided: serial, step 1, a constant extent, no block in it, no early exit."""
    if loop.kind is not ForKind.SERIAL or loop.step is not None or loop.extent.dtype != loop.min.dtype:
        return False
    if not isinstance(loop.extent, tir.IntImm) or loop.extent.value < 2:
        return False
    kinds = (tir.SBlockRealize, tir.Break, tir.Continue, tir.AllocBuffer, tir.DeclBuffer, tir.ThreadVar)
    return not any(isinstance(node, kinds) for node in walk(loop))


def _defined_vars(loop: tir.For) -> set[tir.Var]:
    """The variables that the loop and its body define."""
    nodes = [node for node in walk(loop) if isinstance(node, tir.For | tir.Bind | tir.Let)]
    return {node.loop_var if isinstance(node, tir.For) else node.var for node in nodes}


REWRITES: tuple[tuple[str, Rewrite], ...] = (
    ("renamed", rename),
    ("plus_nothing", plus_nothing),
    ("loaded", load_constant),
    ("divided_if", divide_if),
    ("partitioned", partition),
)
