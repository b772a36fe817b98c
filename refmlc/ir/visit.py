"""Walking and rewriting, generic over the fields of the nodes.

| function     | meaning                                                                                     |
|--------------|---------------------------------------------------------------------------------------------|
| `children`   | the nodes directly below, in field order; mappings give their keys (where nodes) and values |
| `walk`       | every node reachable, parents first, each object once                                       |
| `rewrite`    | the tree rebuilt from the leaves up; an object met twice is rewritten once, so sharing and    |
|              | the identity of variables and buffers survive; what does not change stays the same object   |
| `substitute` | `rewrite` by a table of variables, buffers or other nodes                                   |

All of them keep their own stack: the depth of a tree is limited by memory only.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, replace
from operator import is_
from typing import ClassVar, Protocol, TypeVar, cast

from refmlc.ir.node import Node

N = TypeVar("N", bound=Node)


class _Dataclass(Protocol):
    __match_args__: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]


def field_names(node: Node) -> tuple[str, ...]:
    """The names of the fields of `node` without `span`, in their order: its positional ones."""
    return cast("_Dataclass", node).__match_args__


def _parts(value: object) -> tuple[object, ...]:
    """What may hold nodes directly below a node, tuple or mapping."""
    if isinstance(value, Node):
        found: tuple[object, ...] = tuple(getattr(value, name) for name in field_names(value))
    elif isinstance(value, tuple):
        found = value
    else:
        mapping = cast("Mapping[object, object]", value)
        found = tuple(part for pair in mapping.items() for part in pair)
    return tuple(part for part in found if isinstance(part, (Node, tuple, Mapping)))


def children(node: Node) -> Iterator[Node]:
    """The nodes that the fields of `node` hold, in tuples and mappings too. Order: of the fields."""
    stack = list(reversed(_parts(node)))
    while stack:
        part = stack.pop()
        if isinstance(part, Node):
            yield part
        else:
            stack.extend(reversed(_parts(part)))


def walk(node: Node) -> Iterator[Node]:
    """`node` and every node below it. Order: parents first, left to right; each object once."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        here = stack.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        stack.extend(reversed(tuple(children(here))))


def _rebuilt(value: object, done: Mapping[int, object]) -> object:
    """`value` with its parts replaced by what `done` says; the same object where nothing changes."""

    def new(part: object) -> object:
        return done[id(part)] if isinstance(part, (Node, tuple, Mapping)) else part

    if isinstance(value, Node):
        old = {name: getattr(value, name) for name in field_names(value)}
        changes = {name: new(part) for name, part in old.items() if new(part) is not part}
        return replace(cast("_Dataclass", value), **changes) if changes else value
    if isinstance(value, tuple):
        items = tuple(map(new, value))
        return value if all(map(is_, items, value)) else items
    mapping = cast("Mapping[object, object]", value)
    pairs = [(new(key), new(item)) for key, item in mapping.items()]
    same = all(k is key and v is item for (k, v), (key, item) in zip(pairs, mapping.items(), strict=True))
    return mapping if same else dict(pairs)


def _postorder(node: Node, done: dict[int, object], change: Callable[[Node], Node]) -> None:
    """Fill `done`: the id of every node, tuple and mapping at or below `node`, and what becomes of it."""
    stack: list[tuple[object, bool]] = [(node, False)]
    while stack:
        here, ready = stack.pop()
        if id(here) in done:
            continue
        if ready:
            rebuilt = _rebuilt(here, done)
            done[id(here)] = change(rebuilt) if isinstance(rebuilt, Node) else rebuilt
            continue
        stack.append((here, True))
        stack.extend((part, False) for part in reversed(_parts(here)) if id(part) not in done)


def rewrite(node: N, change: Callable[[Node], Node]) -> N:
    """`node` with `change` applied to every node below it and to itself. Order: children first.

    `change` gets a node whose children are already rewritten and returns it or its replacement, which must fit
    the field that holds it. It is called once per object.
    """
    done: dict[int, object] = {}
    _postorder(node, done, change)
    return cast("N", done[id(node)])


def substitute(node: N, table: Mapping[Node, Node]) -> N:
    """`node` with each key of `table` replaced by its value, wherever it occurs.

    A variable that is defined inside `node` may be replaced by a variable only; nothing is captured, because
    variables are identities. Values of `table` are not rewritten.
    """
    done: dict[int, object] = {id(key): value for key, value in table.items()}
    _postorder(node, done, lambda same: same)
    return cast("N", done[id(node)])
