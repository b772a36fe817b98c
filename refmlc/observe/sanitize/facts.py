"""Facts from the text of a function: the loops and blocks around each place, and the uses of buffers.

| fact     | of                               | value                                                            |
|----------|----------------------------------|------------------------------------------------------------------|
| `around` | a statement or load              | the loops, thread launches and blocks around it, outermost first |
| `root`   | a buffer                         | the buffer that it is a view of (`match_buffer`, `decl_buffer`)  |
| `within` | a buffer that a block allocates  | the loops, launches and blocks around all of its uses            |
| `stores` | a buffer                         | the statements that write to it or to a view of it               |

`within` is where a compiler puts the allocation (TVM's PlanAndUpdateBufferAllocationLocation): a buffer that a block
allocates for all iterations of a loop, and that is used inside of the loop only, belongs to each iteration (TIR-226).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.run.interp.tensorir.frame import ACTIVATION, Frame, Loops

Around: TypeAlias = "tuple[tir.For | tir.While | tir.AttrStmt | tir.SBlockRealize, ...]"
USES = (tir.BufferLoad, tir.BufferStore, tir.BufferData, tir.BufferRegion)


@dataclass(slots=True)
class Facts:
    """The facts of one function."""

    func: tir.PrimFunc
    around: dict[Node, Around] = field(default_factory=dict)
    roots: dict[tir.Buffer, tir.Buffer] = field(default_factory=dict)
    within: dict[tir.Buffer, Around] = field(default_factory=dict)
    stores: dict[tir.Buffer, list[tir.BufferStore]] = field(default_factory=dict)

    def root(self, buffer: tir.Buffer) -> tir.Buffer:
        """The buffer that `buffer` is a view of, or itself."""
        while buffer in self.roots:
            buffer = self.roots[buffer]
        return buffer

    def is_private(self, buffer: tir.Buffer, place: Node) -> bool:
        """True if a block allocates `buffer`, and only the loop or block `place` uses it."""
        return place in self.within.get(self.root(buffer), ())


def facts_of(func: tir.PrimFunc) -> Facts:
    """The facts of `func`."""
    facts = Facts(func)
    allocations: set[tir.Buffer] = set()
    uses: list[tuple[tir.Buffer, Around]] = []
    for node, around in _places(func.body):
        if isinstance(node, USES):
            uses.append((node.buffer, around))
        match node:
            case tir.SBlock():
                allocations.update(node.alloc_buffers)
            case tir.MatchBufferRegion():
                facts.roots[node.buffer] = node.source.buffer
            case tir.DeclBuffer(buffer=buffer, data=tir.BufferData(buffer=source)):
                facts.roots[buffer] = source
        facts.around[node] = around
    for buffer, around in uses:
        root = facts.root(buffer)
        if root in allocations:
            facts.within[root] = _common_prefix(facts.within.get(root, around), around)
    for node in facts.around:
        if isinstance(node, tir.BufferStore):
            facts.stores.setdefault(facts.root(node.buffer), []).append(node)
    return facts


def _places(body: tir.Stmt) -> Iterator[tuple[Node, Around]]:
    """Every node below `body`, without buffers and declared regions, with the statements around it."""
    stack: list[tuple[Node, Around]] = [(body, ())]
    while stack:
        node, around = stack.pop()
        yield node, around
        inner: Around = (*around, node) if isinstance(node, (tir.For, tir.While, tir.SBlockRealize)) else around
        if isinstance(node, tir.AttrStmt) and isinstance(node.node, tir.ThreadVar):
            inner = (*around, node)
        regions = (*(node.reads or ()), *(node.writes or ())) if isinstance(node, tir.SBlock) else ()
        below = [child for child in children(node) if not isinstance(child, tir.Buffer) and child not in regions]
        stack.extend((child, inner) for child in reversed(below))


def _common_prefix(first: Around, second: Around) -> Around:
    """The longest common beginning."""
    length = 0
    while length < min(len(first), len(second)) and first[length] is second[length]:
        length += 1
    return first[:length]


class FactTable:
    """The facts of the functions of a module and of the expansions of operators, computed at the first use."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self._known: dict[tir.PrimFunc, Facts] = {}

    def at(self, frame: Frame) -> Facts:
        """The facts of the function of `frame`."""
        func = frame[ACTIVATION].layout.func
        assert func is not None  # noqa: S101 - only functions of TensorIR have frames
        facts = self._known.get(func)
        if facts is None:
            facts = self._known[func] = facts_of(func)
        return facts

    def loops(self, node: Node, frame: Frame) -> Loops:
        """The loops around `node`, for the message of a failure there."""
        layout = frame[ACTIVATION].layout
        around = self.at(frame).around.get(node, ())
        variables = [place.loop_var for place in around if isinstance(place, tir.For)]
        return tuple((var.name, layout.slot(var)) for var in variables if layout.knows(var))
