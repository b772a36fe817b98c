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
from typing import ClassVar, Protocol, TypeVar, cast

from refmlc.ir.node import Node

N = TypeVar("N", bound=Node)


class _Dataclass(Protocol):
    __match_args__: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]


def field_names(node: Node) -> tuple[str, ...]:
    """The names of the fields of `node` without `span`, in their order: its positional ones."""
    return cast("_Dataclass", node).__match_args__


def _nodes_in(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes_in(item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _nodes_in(key)
            yield from _nodes_in(item)


def children(node: Node) -> Iterator[Node]:
    """The nodes that the fields of `node` hold. Order: of the fields."""
    for name in field_names(node):
        yield from _nodes_in(getattr(node, name))


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


def _mapped(value: object, done: Mapping[int, Node]) -> object:
    """`value` with the nodes in it replaced by what `done` says; the same object where nothing changes."""
    if isinstance(value, Node):
        return done[id(value)]
    if isinstance(value, tuple):
        items = tuple(_mapped(item, done) for item in value)
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, Mapping):
        pairs = [(_mapped(key, done), _mapped(item, done)) for key, item in value.items()]
        same = all(k is key and v is item for (k, v), (key, item) in zip(pairs, value.items(), strict=True))
        return value if same else dict(pairs)
    return value


def _rebuilt(node: Node, done: Mapping[int, Node]) -> Node:
    changes: dict[str, object] = {}
    for name in field_names(node):
        old: object = getattr(node, name)
        new = _mapped(old, done)
        if new is not old:
            changes[name] = new
    return cast("Node", replace(cast("_Dataclass", node), **changes)) if changes else node


def _postorder(node: Node, done: dict[int, Node], change: Callable[[Node], Node]) -> None:
    stack: list[tuple[Node, bool]] = [(node, False)]
    while stack:
        here, ready = stack.pop()
        if id(here) in done:
            continue
        if ready:
            done[id(here)] = change(_rebuilt(here, done))
            continue
        stack.append((here, True))
        stack.extend((child, False) for child in reversed(tuple(children(here))) if id(child) not in done)


def rewrite(node: N, change: Callable[[Node], Node]) -> N:
    """`node` with `change` applied to every node below it and to itself. Order: children first.

    `change` gets a node whose children are already rewritten and returns it or its replacement, which must fit
    the field that holds it. It is called once per object.
    """
    done: dict[int, Node] = {}
    _postorder(node, done, change)
    return cast("N", done[id(node)])


def substitute(node: N, table: Mapping[Node, Node]) -> N:
    """`node` with each key of `table` replaced by its value, wherever it occurs.

    A variable that is defined inside `node` may be replaced by a variable only; nothing is captured, because
    variables are identities. Values of `table` are not rewritten.
    """
    done: dict[int, Node] = {id(key): value for key, value in table.items()}
    _postorder(node, done, lambda same: same)
    return cast("N", done[id(node)])
