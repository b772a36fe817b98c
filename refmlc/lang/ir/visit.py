"""Walking and rewriting, generic over the fields of the nodes.

| function     | meaning                                                                                     |
|--------------|---------------------------------------------------------------------------------------------|
| `children`   | the nodes directly below, in field order; mappings give their keys (where nodes) and values |
| `walk`       | every node reachable, parents first, each object once                                       |
| `rewrite`    | the tree rebuilt from the leaves up; an object met twice is rewritten once, so sharing and    |
|              | the identity of variables and buffers survive; what does not change stays the same object   |
| `substitute` | `rewrite` by a table of variables, buffers or other nodes                                   |
| `tree_size`  | how many nodes the text has                                                                 |

All of them keep their own stack: the depth of a tree is limited by memory only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, replace
from operator import attrgetter, is_
from typing import ClassVar, Protocol, TypeVar, cast

from refmlc.lang.dtypes import DType
from refmlc.lang.ir.kinds import ForKind, IterKind, PointerType
from refmlc.lang.ir.node import Node

N = TypeVar("N", bound=Node)
PLAIN = (str, int, float, bool, DType, ForKind, IterKind, PointerType | None)  # types of fields that hold no nodes


class _Dataclass(Protocol):
    __match_args__: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]


LEAF, NODE, TUPLE, MAPPING = range(4)
Values = Callable[[Node], tuple[object, ...]]


def getter(names: Sequence[str]) -> Values:
    """What gives the values of these fields, in their order."""
    if not names:
        return lambda _node: ()
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda node: (get(node),)


class _Sorts(dict[type, int]):
    """What values of a class are, by the class; a dictionary, because nothing is quicker to ask."""

    def __missing__(self, kind: type) -> int:
        bases = ((Node, NODE), (tuple, TUPLE), (Mapping, MAPPING))
        self[kind] = next((sort for of, sort in bases if issubclass(kind, of)), LEAF)
        return self[kind]


class _Getters(dict[type, Values]):
    """What gives the values of the fields of a node without `span`, by the class of the node."""

    def __missing__(self, kind: type) -> Values:
        self[kind] = getter(kind.__match_args__)  # type: ignore[attr-defined]  # nodes are dataclasses
        return self[kind]


class _Inner(dict[type, Values]):
    """The same of those fields only that may hold nodes, as they are declared: most of the time goes by here."""

    def __missing__(self, kind: type) -> Values:
        fields = cast("_Dataclass", kind).__dataclass_fields__
        self[kind] = getter([name for name in kind.__match_args__ if fields[name].type not in PLAIN])  # type: ignore[attr-defined]
        return self[kind]


SORTS, GETTERS, INNER = _Sorts(), _Getters(), _Inner()


def field_names(node: Node) -> tuple[str, ...]:
    """The names of the fields of `node` without `span`, in their order: its positional ones."""
    return cast("_Dataclass", node).__match_args__


def _values(value: object) -> tuple[object, ...]:
    """What is directly below a node, tuple or mapping, leaves too."""
    sort = SORTS[type(value)]
    if sort == NODE:
        return GETTERS[type(value)](value)  # type: ignore[arg-type]  # the sort says so; a cast takes time here
    if sort == TUPLE:
        return cast("tuple[object, ...]", value)
    return tuple(part for pair in cast("Mapping[object, object]", value).items() for part in pair)


def _parts(value: object) -> list[object]:
    """What may hold nodes directly below a node, tuple or mapping."""
    return [part for part in _values(value) if SORTS[type(part)]]


def _below(node: Node) -> list[Node]:
    """The nodes that the fields of `node` hold, in tuples and mappings too."""
    children: list[Node] = []
    for part in INNER[type(node)](node):
        sort = SORTS[type(part)]
        if sort == NODE:
            children.append(part)  # type: ignore[arg-type]  # the same
        elif sort and part:
            for inner in _values(part):
                sort = SORTS[type(inner)]
                if sort == NODE:
                    children.append(inner)  # type: ignore[arg-type]  # the same
                elif sort:
                    children += _deeper(inner)
    return children


def _deeper(value: object) -> Iterator[Node]:
    """The nodes in a tuple or mapping, in others in it too."""
    stack = [value]
    while stack:
        inner = stack.pop()
        if SORTS[type(inner)] == NODE:
            yield cast("Node", inner)
        else:
            stack.extend(reversed(_parts(inner)))


def children(node: Node) -> Iterator[Node]:
    """The nodes that the fields of `node` hold, in tuples and mappings too. Order: of the fields."""
    return iter(_below(node))


def walk(node: Node) -> Iterator[Node]:
    """`node` and every node below it. Order: parents first, left to right; each object once."""
    visited: set[Node] = set()
    stack = [node]
    while stack:
        here = stack.pop()
        if here in visited:
            continue
        visited.add(here)
        yield here
        below = _below(here)
        if below:
            below.reverse()
            stack += below


def _rebuilt(value: object, results: Mapping[int, object]) -> object:
    """`value` with its parts replaced by what `done` says; the same object where nothing changes."""
    sort = SORTS[type(value)]
    old = _values(value)
    new = tuple([results[id(part)] if SORTS[type(part)] else part for part in old])
    if all(map(is_, new, old)):
        return value
    if sort == NODE:
        node = cast("Node", value)
        changes = zip(field_names(node), old, new, strict=True)
        changed = {name: after for name, before, after in changes if after is not before}
        return replace(cast("_Dataclass", node), **changed)
    return new if sort == TUPLE else dict(zip(new[::2], new[1::2], strict=True))


def _postorder(node: Node, results: dict[int, object], change: Callable[[Node], Node]) -> None:
    """Fill `done`: the id of every node, tuple and mapping at or below `node`, and what becomes of it."""
    stack: list[tuple[object, bool]] = [(node, False)]
    while stack:
        here, ready = stack.pop()
        if id(here) in results:
            continue
        parts = [] if ready else _parts(here)
        if parts:
            stack.append((here, True))
            stack.extend([(part, False) for part in reversed(parts) if id(part) not in results])
            continue
        rebuilt = _rebuilt(here, results) if ready else here
        results[id(here)] = change(cast("Node", rebuilt)) if SORTS[type(rebuilt)] == NODE else rebuilt


def rewrite(node: N, change: Callable[[Node], Node]) -> N:
    """`node` with `change` applied to every node below it and to itself. Order: children first.

    `change` gets a node whose children are already rewritten and returns it or its replacement, which must fit
    the field that holds it. It is called once per object.
    """
    results: dict[int, object] = {}
    _postorder(node, results, change)
    return cast("N", results[id(node)])


def substitute(node: N, table: Mapping[Node, Node]) -> N:
    """`node` with each key of `table` replaced by its value, wherever it occurs.

    A variable that is defined inside `node` may be replaced by a variable only; nothing is captured, because
    variables are identities. Values of `table` are not rewritten.
    """
    results: dict[int, object] = {id(key): value for key, value in table.items()}
    _postorder(node, results, lambda same: same)
    return cast("N", results[id(node)])


def tree_size(node: Node) -> int:
    """How many nodes the text of `node` has, where each stands as often as it is used."""
    sizes: dict[int, int] = {}
    stack = [(node, False)]
    while stack:
        here, done = stack.pop()
        if id(here) in sizes:
            continue
        below = list(children(here))
        if done:
            sizes[id(here)] = 1 + sum(sizes[id(part)] for part in below)
        else:
            stack.append((here, True))
            stack += ((part, False) for part in below)
    return sizes[id(node)]
