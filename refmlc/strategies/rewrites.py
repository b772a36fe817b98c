"""Rewrites of a function that are no steps of a schedule, and change nothing that it means.

| rewrite          | what it does                                                                  | same bits because          |
|------------------|-------------------------------------------------------------------------------|----------------------------|
| `renamed`        | other names for variables, buffers and blocks                                 | names mean nothing         |
| `plus_nothing`   | `x` is `x + 0`, `x * 1`, `max(x, x)` for an integer that is stored             | exact, and never overflows |
| `loaded`         | a constant that is stored is loaded from memory that holds it                 | loads give what was stored |
| `guarded_twice`  | `if c: s else: t` is `if c: s` and `if not c: t`, `c` being of variables      | `c` is the same twice      |
| `partitioned`    | a loop without blocks in it is two, over its first part and the rest          | the same order             |
| `one_lane_less`  | `And(a, b)` around a store is an `if` in an `if`                              | both are lazy              |
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from refmlc.dtypes import BOOL
from refmlc.ir import tir
from refmlc.ir.node import Node
from refmlc.ir.visit import rewrite, substitute, walk
from refmlc.schedule.places import fresh_name, places, top, with_stmt, with_top
from refmlc.strategies.choices import Choices

Rewrite = Callable[[tir.PrimFunc, Choices], "tir.PrimFunc | None"]
FIRST = tir.IntImm(BOOL, 1)


def renamed(func: tir.PrimFunc, choices: Choices) -> tir.PrimFunc | None:
    """The function with other names in its body."""
    suffix = choices.pick(("_a", "_renamed", "1"))
    kept = {*func.params, *func.buffer_map.values()}
    kept |= {part for one in func.buffer_map.values() for part in walk(one)}
    table: dict[Node, Node] = {}
    for node in walk(func.body):
        if isinstance(node, tir.Var | tir.Buffer) and node not in kept:
            table[node] = replace(node, name=node.name + suffix)
    own = {id(node) for node in table}
    # The shape of a buffer may be made of variables: they are renamed in the new buffer too.
    table = {
        node: substitute(new, {key: value for key, value in table.items() if isinstance(key, tir.Var)})
        if isinstance(new, tir.Buffer)
        else new
        for node, new in table.items()
        if id(node) in own
    }
    return replace(func, body=substitute(func.body, table)) if table else None


def _stores(func: tir.PrimFunc) -> list[tir.BufferStore]:
    """The stores of single elements."""
    found = [node for node in walk(func.body) if isinstance(node, tir.BufferStore)]
    return [one for one in found if not one.value.dtype.is_vector]


def plus_nothing(func: tir.PrimFunc, choices: Choices) -> tir.PrimFunc | None:
    """An integer that is stored goes through an operator that changes nothing."""
    found = [one for one in _stores(func) if one.value.dtype.is_integer]
    if not found:
        return None
    store = choices.pick(found)
    kind = store.value.dtype
    match choices.below(3):
        case 0:
            value = tir.Apply("add", (store.value, tir.IntImm(kind, 0)), kind)
        case 1:
            value = tir.Apply("mul", (store.value, tir.IntImm(kind, 1)), kind)
        case _:
            value = tir.Apply("max", (store.value, store.value), kind)
    return with_stmt(func, store, replace(store, value=value))


def loaded(func: tir.PrimFunc, choices: Choices) -> tir.PrimFunc | None:
    """A constant operand of what is stored becomes an element of a buffer of one element."""
    found = [
        (store, node)
        for store in _stores(func)
        for node in walk(store.value)
        if isinstance(node, tir.Apply)
        and not node.dtype.is_vector
        and node.op in ("add", "sub", "mul", "max", "min")
        and any(isinstance(arg, tir.IntImm | tir.FloatImm) for arg in node.args)
    ]
    if not found:
        return None
    store, node = choices.pick(found)
    at = next(number for number, arg in enumerate(node.args) if isinstance(arg, tir.IntImm | tir.FloatImm))
    constant = node.args[at]
    buffer = tir.Buffer(fresh_name(func, "one"), constant.dtype, (tir.IntImm(node_word(), 1),))
    place = (tir.IntImm(node_word(), 0),)
    args = (*node.args[:at], tir.BufferLoad(buffer, place), *node.args[at + 1 :])
    changed = substitute(func, {store: substitute(store, {node: replace(node, args=args)})})
    first = tir.BufferStore(buffer, constant, place)
    return with_top(changed, [first, *top(changed)], added=(buffer,))
