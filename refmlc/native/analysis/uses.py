"""Which buffers a function reads and writes, which share storage, and what forbids to say more.

| construct                                            | consequence                                              |
|------------------------------------------------------|----------------------------------------------------------|
| the only view of all of a buffer that is used through it only | shares storage; they are one buffer by two names |
| any other view: `decl_buffer` on data, `match_buffer` in a block | shares storage; of neither anything is proved |
| a pointer to a buffer in a call or an expression      | its holder may read and write; nothing is proved         |
| break, continue, return; loops over threads; `T.undef` stored | nothing is proved of any buffer of the function  |
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from refmlc.lang.arith.polynomial import Poly, constant
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.subtree import nodes_in, nodes_of
from refmlc.lang.ir.visit import walk
from refmlc.native.analysis.facts import Facts

PLAIN = frozenset(
    (
        "type_annotation",
        "prefetch",
        "start_profile_intrinsic",
        "end_profile_intrinsic",
        "tvm_thread_invariant",
        "ignore_loop_partition",
        "vscale",
        "vectorlow",
        "vectorhigh",
        "vectorcombine",
        "get_active_lane_mask",
        "assume",
        "fma",
    )
)


@dataclass(slots=True)
class Uses:
    """What a function does with its buffers.

    `unproved` says of a buffer why nothing is proved, `obstacle` of all of them. `names` are other names of a buffer.
    `nodes` are all nodes of the body, `loads` the loads among them, those in declared regions too.
    """

    params: tuple[tir.Buffer, ...] = ()
    loaded: set[tir.Buffer] = field(default_factory=set)
    stored: set[tir.Buffer] = field(default_factory=set)
    unproved: dict[tir.Buffer, str] = field(default_factory=dict)
    shared: dict[tir.Buffer, set[tir.Buffer]] = field(default_factory=dict)
    names: set[tir.Buffer] = field(default_factory=set)
    obstacle: str = ""
    nodes: tuple[Node, ...] = ()
    loads: tuple[tir.BufferLoad, ...] = ()

    def is_given(self, buffer: tir.Buffer) -> bool:
        """Whether `buffer` is a parameter, or a view of one."""
        return buffer in self.params or not self.shared.get(buffer, set()).isdisjoint(self.params)

    def share(self, a: tir.Buffer, b: tir.Buffer) -> None:
        """`a`, a view, has storage in common with `b`."""
        group = self.shared.get(a, {a}) | self.shared.get(b, {b})
        for each in group:
            self.shared[each] = group
        if a not in self.names:
            self.unproved.setdefault(a, f"`{a.name}` and `{b.name}` share storage")


def find_uses(func: tir.PrimFunc) -> Uses:
    """The uses of the buffers of `func`."""
    nodes, loads = nodes_in(func.body), nodes_of(func.body, tir.BufferLoad)
    uses = Uses(tuple(func.buffer_map.values()), nodes=nodes, loads=loads)
    pointers = _pointers(nodes)
    views = {node.data for node in nodes if isinstance(node, tir.DeclBuffer)}
    uses.names.update(_names(Facts.entry(func), nodes))
    for node in nodes:
        if node not in views:
            _node(uses, node, func.buffer_map, pointers)
    for group in uses.shared.values():
        for kind in (uses.loaded, uses.stored):
            if not kind.isdisjoint(group):
                kind.update(group)
        reason = next((uses.unproved[each] for each in group if each in uses.unproved), None)
        if reason is not None:
            uses.unproved.update(dict.fromkeys(group, reason))
    return uses


def _names(facts: Facts, nodes: tuple[Node, ...]) -> Iterator[tir.Buffer]:
    """The views of all of a buffer that is used through them only, one view each."""
    views = [node for node in nodes if isinstance(node, tir.DeclBuffer)]
    sources = [node.data.buffer for node in views if isinstance(node.data, tir.BufferData)]
    direct = {node.buffer for node in nodes if isinstance(node, (tir.BufferLoad, tir.BufferStore))}
    matched = {node.source.buffer for node in nodes if isinstance(node, tir.MatchBufferRegion)}
    for view in views:
        source = view.data.buffer if isinstance(view.data, tir.BufferData) else None
        if source is None or source in direct or source in matched or sources.count(source) != 1:
            continue
        size = _size(facts, source)
        if size is not None and size == _size(facts, view.buffer) and source.dtype == view.buffer.dtype:
            yield view.buffer


def _size(facts: Facts, buffer: tir.Buffer) -> Poly | None:
    """How many elements a compact buffer has; None: not known, or it is not compact."""
    total: Poly | None = constant(1)
    for extent in buffer.shape:
        form = facts.form(extent)
        total = None if form is None or total is None else total * form
    return None if buffer.strides or buffer.elem_offset is not None else total


def _pointers(nodes: Iterable[Node]) -> Mapping[tir.Var, tir.Buffer]:
    """Variables that are bound to the pointer of a buffer."""
    pointers = {}
    for node in nodes:
        match node:
            case tir.Bind(var, tir.BufferData(buffer)) | tir.Let(var, tir.BufferData(buffer), _):
                pointers[var] = buffer
            case _:
                continue
    return pointers


def _node(uses: Uses, node: Node, params: Mapping[tir.Var, tir.Buffer], pointers: Mapping[tir.Var, tir.Buffer]) -> None:
    match node:
        case tir.BufferLoad(buffer):
            uses.loaded.add(buffer)
        case tir.BufferStore(buffer, value):
            uses.stored.add(buffer)
            if _is_undef(value):
                uses.obstacle = "`T.undef()` is stored"
        case tir.BufferData(buffer):
            _escape(uses, buffer, f"the pointer `{buffer.name}.data` is used")
        case tir.Var() if node in params:
            _escape(uses, params[node], f"the pointer to `{params[node].name}` is used")
        case tir.DeclBuffer(buffer, data) if data is not None:
            _view(uses, buffer, data, params, pointers)
        case tir.MatchBufferRegion(buffer, source):
            uses.share(buffer, source.buffer)
        case tir.Call():
            _call(uses, node)
        case tir.Break() | tir.Continue():
            uses.obstacle = "a loop may be left early"
        case tir.Return():
            uses.obstacle = "the function may be left early"
        case tir.For(kind=ForKind.THREAD_BINDING) | tir.AttrStmt(key="thread_extent" | "virtual_thread"):
            uses.obstacle = "it is written for threads"
        case _:
            return


def _view(
    uses: Uses,
    buffer: tir.Buffer,
    data: tir.Expr,
    params: Mapping[tir.Var, tir.Buffer],
    pointers: Mapping[tir.Var, tir.Buffer],
) -> None:
    source = data.buffer if isinstance(data, tir.BufferData) else None
    if isinstance(data, tir.Var):
        source = pointers.get(data) or params.get(data)
    if source is None:
        uses.unproved[buffer] = f"the storage of `{buffer.name}` is given by a pointer"
    else:
        uses.share(buffer, source)


def _call(uses: Uses, node: tir.Call) -> None:
    if node.callee in PLAIN:
        return
    if node.callee == "ret":
        uses.obstacle = "the function may be left early"
    name = node.callee.name if isinstance(node.callee, tir.GlobalVar) else node.callee
    for buffer in _buffers(node):
        _escape(uses, buffer, f"`{buffer.name}` is given to `{name}`")


def _buffers(node: tir.Call) -> Iterator[tir.Buffer]:
    """The buffers that a call names in any way."""
    return (each for each in walk(node) if isinstance(each, tir.Buffer))


def _escape(uses: Uses, buffer: tir.Buffer, reason: str) -> None:
    """A pointer to `buffer` is passed on, so that it may be read and written anywhere."""
    uses.loaded.add(buffer)
    uses.stored.add(buffer)
    uses.unproved.setdefault(buffer, reason)


def _is_undef(value: tir.Expr) -> bool:
    return _is_undef(value.value) if isinstance(value, tir.Cast) else getattr(value, "callee", None) == "undef"
