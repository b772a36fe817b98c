"""What the text of a function says about a place in it: the loops and blocks around it, and where buffers are used.

| fact     | is                                                                                                   |
|----------|------------------------------------------------------------------------------------------------------|
| `around` | of a statement or load: the loops, launches of threads and blocks around it, outermost first         |
| `root`   | of a buffer: the one it is a view of, through `match_buffer` of regions and `decl_buffer` of `.data` |
| `within` | of a buffer that a block allocates: what stands around all of its uses                               |
| `stores` | of a buffer: the statements that write to it or to a view of it                                      |

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
        """Whether a block allocates `buffer`, and it is used inside of the loop or block `place` only."""
        return place in self.within.get(self.root(buffer), ())


def facts_of(func: tir.PrimFunc) -> Facts:
    """Read the facts off the text of `func`."""
    facts = Facts(func)
    allocated: set[tir.Buffer] = set()
    uses: list[tuple[tir.Buffer, Around]] = []
    for node, around in _places(func.body):
        if isinstance(node, USES):
            uses.append((node.buffer, around))
        match node:
            case tir.SBlock():
                allocated.update(node.alloc_buffers)
            case tir.MatchBufferRegion():
                facts.roots[node.buffer] = node.source.buffer
            case tir.DeclBuffer(buffer=buffer, data=tir.BufferData(buffer=source)):
                facts.roots[buffer] = source
        facts.around[node] = around
    for buffer, around in uses:
        root = facts.root(buffer)
        if root in allocated:
            facts.within[root] = _shared(facts.within.get(root, around), around)
    for node in facts.around:
        if isinstance(node, tir.BufferStore):
            facts.stores.setdefault(facts.root(node.buffer), []).append(node)
    return facts


def _places(body: tir.Stmt) -> Iterator[tuple[Node, Around]]:
    """Every node below `body` but buffers and what blocks declare, with what is around it."""
    stack: list[tuple[Node, Around]] = [(body, ())]
    while stack:
        node, around = stack.pop()
        yield node, around
        inner: Around = (*around, node) if isinstance(node, (tir.For, tir.While, tir.SBlockRealize)) else around
        if isinstance(node, tir.AttrStmt) and isinstance(node.node, tir.ThreadVar):
            inner = (*around, node)
        declared = (*(node.reads or ()), *(node.writes or ())) if isinstance(node, tir.SBlock) else ()
        below = [child for child in children(node) if not isinstance(child, tir.Buffer) and child not in declared]
        stack.extend((child, inner) for child in reversed(below))


def _shared(one: Around, other: Around) -> Around:
    """The beginning that both have."""
    same = 0
    while same < min(len(one), len(other)) and one[same] is other[same]:
        same += 1
    return one[:same]


class FactTable:
    """The facts of functions, each read when it is first asked for: those of a module, and what operators stand for."""

    def __init__(self, module: IRModule) -> None:
        """No function is read yet."""
        self.module = module
        self._known: dict[tir.PrimFunc, Facts] = {}

    def at(self, frame: Frame) -> Facts:
        """The facts of the function that `frame` is of."""
        func = frame[ACTIVATION].layout.func
        assert func is not None  # noqa: S101 - only functions of TensorIR have frames
        known = self._known.get(func)
        if known is None:
            known = self._known[func] = facts_of(func)
        return known

    def loops(self, node: Node, frame: Frame) -> Loops:
        """The loops around `node`, as a failure there names them."""
        layout = frame[ACTIVATION].layout
        around = self.at(frame).around.get(node, ())
        variables = [place.loop_var for place in around if isinstance(place, tir.For)]
        return tuple((var.name, layout.slot(var)) for var in variables if layout.knows(var))
