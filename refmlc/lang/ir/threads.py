"""Which threads need each other (TIR-227, TIR-229): where they cannot be run one after the other.

A *group* is a loop over a `threadIdx` axis with no other around it, with all threads of a block below it. Its threads
meet where all of them wait for each other (TIR-227):

| meeting                                              | written as                                          |
|------------------------------------------------------|-----------------------------------------------------|
| barrier                                              | `T.tvm_storage_sync("shared")`                      |
| reduction over threads                               | `T.tvm_thread_allreduce`                            |
| what the threads of a part of a block do together    | a call of `IN_PART`, a tile primitive               |
| asynchronous copies, barriers in memory              | a call of `refmlc.lang.ir.asynchronous`             |
| before a statement that touches shared memory, where | nothing: TVM's pass ThreadSync puts a barrier there |
| the function is not lowered so far                   |                                                     |

A function is lowered so far when it holds a barrier on shared memory, or is a kernel: one that is launched
(`calling_conv` 2), has a `T.device_entry()`, or holds a meeting of a part of a block. *Exchanged* memory is of scope
`shared`, or what a block with an init and a reduce axis bound to `threadIdx` reduces into. A statement exchanges when
it may write exchanged memory and read the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.asynchronous import is_asynchronous
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.matrix_units import is_of_matrix_unit
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.ptx import PREFIX, operator_of
from refmlc.lang.ir.scopes import is_thread
from refmlc.lang.ir.subtree import nodes_in, nodes_of
from refmlc.lang.ir.unexecuted import name_of
from refmlc.lang.ir.visit import children, walk

MEETINGS = ("tvm_storage_sync", "tvm_thread_allreduce")
IN_PART: Mapping[str, str] = {
    "cuda.cta_sync": "cta",
    "cuda.warpgroup_sync": "warpgroup",
    "cuda.cta_reduce": "cta",
    "cuda.cluster_sync": "cluster",
    "cuda.warp_sync": "warp",
    "cuda.elect_sync": "warp",
    **dict.fromkeys((f"tvm_warp_shuffle{way}" for way in ("", "_up", "_down", "_xor")), "warp"),
    **dict.fromkeys((f"cuda.__shfl{way}_sync" for way in ("", "_up", "_down", "_xor")), "warp"),
    **dict.fromkeys(("tvm_warp_activemask", "cuda.__activemask", "ptx.activemask"), "warp"),
    **dict.fromkeys(("cuda.any_sync", "cuda.ballot_sync", "cuda.warp_reduce"), "warp"),
    **dict.fromkeys(("cuda.reduce_add_sync_u32", "cuda.reduce_min_sync_u32"), "warp"),
    **dict.fromkeys(("ptx.shfl_sync", "ptx.vote_sync", "ptx.match", "ptx.redux_sync", "ptx.elect_sync"), "warp"),
    **dict.fromkeys(("cuda.syncthreads_and", "cuda.syncthreads_or", "ptx.bar", "ptx.barrier"), "cta"),
}
"""What the threads of a part of a block do together: the name of the intrinsic, and the part."""
ATOMIC = ("cuda.atomic_add", "cuda.atomic_cas", "ptx.atom", "ptx.red")
TURN = "ptx:turn"
"""The callee of what lets other threads run before a load with a memory order; no text writes it (PTX-100)."""
SHUFFLES = ("tvm_warp_shuffle", "cuda.__shfl_")
LAUNCHES = ("thread_extent",)
OPEN = (tir.For, tir.While, tir.AttrStmt, tir.SeqStmt, tir.IfThenElse, tir.SBlockRealize)  # statements around a meeting


@dataclass(slots=True)
class Touches:
    """The exchanged memory that a statement reads and writes, and whether threads meet in it."""

    reads: set[tir.Buffer] = field(default_factory=set)
    writes: set[tir.Buffer] = field(default_factory=set)
    meets: bool = False

    def add(self, other: "Touches") -> None:
        """Take in what a part touches."""
        self.reads |= other.reads
        self.writes |= other.writes
        self.meets |= other.meets


class Threads:
    """What the text of one function says about its threads. `events`: they let others run at atomic operations."""

    def __init__(self, func: tir.PrimFunc, *, events: bool = False) -> None:
        self._events = events
        nodes = nodes_in(func.body)
        self.lowered = _convention(func) == 2 or any(_is_barrier(node) or _is_of_kernel(node) for node in nodes)
        self._in_kernel = any(_is_of_kernel(node) for node in nodes)
        self._roots = _roots(nodes)
        threads = _thread_vars(nodes)
        self._folded = {self.root(buffer) for node in nodes for buffer in _across(node, threads)}
        self._touches: dict[int, Touches] = {}
        self._kept: list[Node] = []
        self._varying = _varying(nodes)
        self._exchanged = {self.root(buffer) for buffer in _exchanged(nodes)}

    def root(self, buffer: tir.Buffer) -> tir.Buffer:
        """The buffer that `buffer` is a view of, or itself."""
        while buffer in self._roots:
            buffer = self._roots[buffer]
        return buffer

    def is_folded(self, buffer: tir.Buffer) -> bool:
        """Whether threads reduce into `buffer` together."""
        return self.root(buffer) in self._folded

    def is_exchanged(self, buffer: tir.Buffer) -> bool:
        """Whether `buffer` is memory of one thread that shuffles read or write."""
        return self.root(buffer) in self._exchanged

    def touches(self, node: Node) -> Touches:
        """What `node` and everything below it touches."""
        cached = self._touches.get(id(node))
        if cached is None:
            cached = Touches()
            match node:
                case tir.BufferLoad(buffer=buffer):
                    self._note(buffer, cached.reads)
                case tir.BufferStore(buffer=buffer):
                    self._note(buffer, cached.writes)
                case tir.BufferData(buffer=buffer):
                    self._note(buffer, cached.reads)
                    self._note(buffer, cached.writes)
                case tir.Call(callee=str() as callee):
                    cached.meets = (
                        callee in MEETINGS
                        or callee == TURN
                        or is_in_part(node)
                        or is_asynchronous(node)
                        or is_of_matrix_unit(callee)
                    ) or (self._events and is_atomic(node))
                case tir.Call():
                    cached.meets = True
                case tirx.TilePrimitiveCall(scope=scope):
                    cached.meets = scope != "thread"
                case tir.AllocBuffer(buffer=buffer):
                    cached.meets = self._in_kernel and buffer.scope.startswith("shared")
            for child in _executed(node):
                cached.add(self.touches(child))
            if isinstance(node, tir.SBlock) and self._folds(node):
                cached.reads |= cached.writes
            self._touches[id(node)] = cached
            self._kept.append(node)
        return cached

    def meets(self, node: Node) -> bool:
        """Whether threads wait for each other within `node`."""
        touches = self.touches(node)
        return touches.meets or (not self.lowered and bool(touches.reads & touches.writes))

    def is_touching(self, node: Node) -> bool:
        """Whether a compiler may have to let threads meet before `node`."""
        touches = self.touches(node)
        return not self.lowered and bool(touches.reads or touches.writes)

    def is_open(self, node: tir.Stmt) -> bool:
        """Whether threads meet within `node`, and not only before it.

        Decision: a compiler puts barriers only where all threads pass. So a statement that some threads skip, or
        repeat more often than others, is one piece where it holds no meeting of its own.
        """
        if self.touches(node).meets:
            return isinstance(node, OPEN) or is_collective(node) or meets_in_part(node) or is_turn(node)
        match node:
            case tir.For(min=first, extent=extent):
                return self.is_uniform(first) and self.is_uniform(extent)
            case tir.IfThenElse(condition=condition):
                return self.is_uniform(condition)
            case tir.SBlockRealize(predicate=predicate, block=block):
                return self.is_uniform(predicate) and block.init is None
            case tir.SeqStmt() | tir.AttrStmt():
                return True
            case _:
                return False

    def folds(self, node: Node) -> bool:
        """Whether `node` touches what threads reduce into together."""
        touches = self.touches(node)
        return not self._folded.isdisjoint(touches.reads | touches.writes)

    def is_uniform(self, node: Node) -> bool:
        """Whether an expression certainly has the same value in all threads of a block."""
        return not any(part in self._varying or isinstance(part, (tir.BufferLoad, tir.Call)) for part in walk(node))

    def _note(self, buffer: tir.Buffer, into: set[tir.Buffer]) -> None:
        root = self.root(buffer)
        if buffer.scope.startswith("shared") or root.scope.startswith("shared") or root in self._folded:
            into.add(root)

    def _folds(self, block: tir.SBlock) -> bool:
        return any(isinstance(node, tir.BufferStore) and self.is_folded(node.buffer) for node in walk(block.body))


def is_collective(node: tir.Stmt) -> bool:
    """Whether the statement is a barrier or a reduction over threads."""
    return isinstance(node, tir.Evaluate) and isinstance(node.value, tir.Call) and node.value.callee in MEETINGS


def is_turn(node: Node) -> bool:
    """Whether the statement lets other threads run before a load with a memory order."""
    return isinstance(node, tir.Evaluate) and isinstance(node.value, tir.Call) and node.value.callee == TURN


def is_atomic(node: Node) -> bool:
    """Whether a node is a call of an atomic operation."""
    return isinstance(node, tir.Call) and operator_of(node.callee) in ATOMIC


def is_in_part(node: Node) -> bool:
    """Whether a node is a call that the threads of a part of a block execute together."""
    return isinstance(node, tir.Call) and (operator_of(node.callee) in IN_PART or is_warp_barrier(node))


def is_warp_barrier(call: tir.Call) -> bool:
    """Whether a call is `T.tvm_storage_sync("warp")`."""
    scope = call.args[0] if call.callee == "tvm_storage_sync" and call.args else None
    return (scope.value if isinstance(scope, tir.StringImm) else scope) == "warp"


def meets_in_part(node: Node) -> bool:
    """Whether the threads of a part of a block do something together within `node`."""
    return bool(meeting_in_part(node))


def meeting_in_part(node: Node) -> str:
    """The first thing within `node` that the threads of a part of a block do together; empty: none."""
    for part in nodes_of(node, tir.Call, tirx.TilePrimitiveCall):
        if is_in_part(part) or is_asynchronous(part):
            return f"`T.{cast('tir.Call', part).callee}`"
        if isinstance(part, tir.Call) and is_of_matrix_unit(part.callee):
            return f"`T.{operator_of(part.callee)}`"
        if isinstance(part, tirx.TilePrimitiveCall) and part.scope != "thread":
            return f"`{name_of(part)}`"
    return ""


def return_of_a_thread(node: Node) -> tir.Return | tir.Call | None:
    """The first return within a loop over threads; None: there is none."""
    for loop in nodes_of(node, tir.For):
        if is_thread(loop.tag):
            for inner in nodes_of(loop.body, tir.Return, tir.Call):
                if isinstance(inner, tir.Return) or inner.callee == "ret":
                    return inner
    return None


def has_threads(func: tir.PrimFunc) -> bool:
    """Whether any loop of the function is over a thread axis."""
    return any(tag_of(node) for node in nodes_of(func.body, tir.For, tir.AttrStmt))


def implies_barriers(func: tir.PrimFunc) -> bool:
    """Whether threads share memory without a barrier in the text, so that barriers are implied (TIR-229)."""
    threads = Threads(func)
    if threads.lowered:
        return False
    touched = [threads.touches(body) for body in _groups(func.body)]
    return any(
        buffer for touches in touched for buffer in touches.reads & touches.writes if not threads.is_folded(buffer)
    )


def exchanges(func: tir.PrimFunc) -> bool:
    """Whether threads of the function wait for each other anywhere."""
    threads = Threads(func)
    return any(threads.meets(body) for body in _groups(func.body))


def tag_of(node: Node) -> str:
    """The tag of the thread axis that a statement iterates over; empty where it is no such loop."""
    match node:
        case tir.For(thread=tir.ThreadVar(tag=tag)):
            return tag
        case tir.AttrStmt(node=tir.ThreadVar(tag=tag), key=key) if key in LAUNCHES:
            return tag
        case _:
            return ""


def _groups(body: Node) -> Iterator[Node]:
    stack = [body]
    while stack:
        node = stack.pop()
        if tag_of(node).startswith("threadIdx"):
            yield node
        else:
            stack.extend(children(node))


def _executed(node: Node) -> Iterator[Node]:
    """The parts of `node` that are executed: not buffers, nor what blocks declare."""
    match node:
        case tir.DeclBuffer():
            return
        case tir.SBlock():
            left_out: tuple[Node, ...] = (*(node.reads or ()), *(node.writes or ()), *node.match_buffers)
        case _:
            left_out = ()
    for child in children(node):
        if not isinstance(child, tir.Buffer) and child not in left_out:
            yield child


def _convention(func: tir.PrimFunc) -> object:
    value = func.attrs.get("calling_conv")
    return value.value if isinstance(value, tir.IntImm) else value


def _is_barrier(node: Node) -> bool:
    match node:
        case tir.Call(callee="tvm_storage_sync", args=(tir.StringImm(value=scope), *_)):
            return scope.startswith("shared")
        case tir.Call(callee="tvm_storage_sync", args=(str() as scope, *_)):
            return scope.startswith("shared")
        case _:
            return False


def _is_of_kernel(node: Node) -> bool:
    """Whether a node is found in kernels only, whose barriers are all in the text."""
    match node:
        case tir.AttrStmt(key=tirx.DEVICE_ENTRY | tirx.KERNEL) | tirx.TilePrimitiveCall():
            return True
        case tir.Call(callee=str() as callee):
            return is_in_part(node) or is_asynchronous(node) or callee.startswith(PREFIX)
        case _:
            return False


def _roots(nodes: Sequence[Node]) -> dict[tir.Buffer, tir.Buffer]:
    roots = {}
    for node in nodes:
        match node:
            case tir.MatchBufferRegion():
                roots[node.buffer] = node.source.buffer
            case tir.DeclBuffer(buffer=buffer, data=tir.BufferData(buffer=source)):
                roots[buffer] = source
    return roots


def _exchanged(nodes: Sequence[Node]) -> Iterator[tir.Buffer]:
    """The memory of one thread that is an operand of a shuffle, or gets what it gives."""
    for node in nodes:
        if isinstance(node, tir.BufferStore) and _is_shuffle(node.value) and node.buffer.scope == "local":
            yield node.buffer
        if isinstance(node, tir.Call) and _is_shuffle(node):
            yield from (
                arg.buffer for arg in node.args if isinstance(arg, tir.BufferLoad) and arg.buffer.scope == "local"
            )


def _is_shuffle(node: Node) -> bool:
    return isinstance(node, tir.Call) and isinstance(node.callee, str) and node.callee.startswith(SHUFFLES)


def _thread_vars(nodes: Sequence[Node]) -> frozenset[tir.Var]:
    """The variables of `threadIdx` axes."""
    variables = set()
    for node in nodes:
        if tag_of(node).startswith("threadIdx"):
            match node:
                case tir.For(loop_var=var, thread=thread):
                    variables.add(var)
                    if thread is not None and thread.var is not None:
                        variables.add(thread.var)
                case tir.AttrStmt(node=tir.ThreadVar(var=tir.Var() as var)):
                    variables.add(var)
    return frozenset(variables)


def _across(node: Node, threads: frozenset[tir.Var]) -> Iterator[tir.Buffer]:
    """The buffers that a block reduces into across threads."""
    if isinstance(node, tir.SBlockRealize) and node.block.init is not None:
        pairs = zip(node.block.iter_vars, node.iter_values, strict=False)
        values = [value for axis, value in pairs if axis.kind is IterKind.REDUCE]
        if any(part in threads for value in values for part in walk(value)):
            yield from (part.buffer for part in walk(node.block.body) if isinstance(part, tir.BufferStore))


def _varying(nodes: Sequence[Node]) -> set[Node]:
    """The variables that may differ from thread to thread: those of the axes, and what is computed from them."""
    varying: set[Node] = set(_thread_vars(nodes))
    before = -1
    while before < len(varying):
        before = len(varying)
        for node in nodes:
            match node:
                case tir.Bind(var=var, value=value) | tir.Let(var=var, value=value):
                    pairs = [(var, value)]
                case tir.For(loop_var=var, min=first, extent=extent) if not tag_of(node):
                    pairs = [(var, first), (var, extent)]
                case tir.SBlockRealize():
                    axes = zip(node.block.iter_vars, node.iter_values, strict=False)
                    pairs = [(axis.var, value) for axis, value in axes]
                case _:
                    continue
            for var, value in pairs:
                if var not in varying and any(
                    part in varying or isinstance(part, (tir.BufferLoad, tir.Call)) for part in walk(value)
                ):
                    varying.add(var)
    return varying
