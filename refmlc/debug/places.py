"""Places: every statement and binding of a module, the statements around it, and the names visible there.

A run can continue from a place (`restartable`) if it can continue within every statement around it:

| around                                     | possible                                      |
|--------------------------------------------|-----------------------------------------------|
| `SeqStmt`, `IfThenElse`, `AttrStmt`, block | yes                                           |
| `For`, `While`, a launch of threads        | yes, where bounds and conditions call nothing |
| threads that wait for each other (barriers) | no: going back goes to before their block    |
| `reduce_scope`                             | no                                            |
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from refmlc.diag import RefmlcError, Span
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, walk
from refmlc.run.interp.tensorir.loops import LAUNCHED
from refmlc.run.interp.tirx.kernels import as_loops


@dataclass(slots=True, eq=False)
class StmtPlace:
    """A statement of TensorIR. `number` is its position among the parts of `above`; `init`: it is the init of a block.

    `depth` counts the statements around it without sequences; the program never stops at a sequence.
    """

    node: tir.Stmt
    func: tir.PrimFunc
    function: str
    above: "StmtPlace | None"
    number: int
    depth: int
    restartable: bool
    init: bool = False
    calls: bool = False

    @property
    def counted(self) -> bool:
        """True if the statement is a step."""
        return not isinstance(self.node, tir.SeqStmt)

    @property
    def span(self) -> Span | None:
        """Its place in the text."""
        return self.node.span

    def around(self) -> list["StmtPlace"]:
        """The places around it, innermost first."""
        places, place = [], self.above
        while place is not None:
            places.append(place)
            place = place.above
        return places

    def is_in(self, outer: "StmtPlace") -> bool:
        """True if the place is `outer`, or inside it."""
        return self is outer or outer in self.around()


@dataclass(slots=True, eq=False)
class BindingPlace:
    """A binding of the Relax function `function`, or of a function within it."""

    node: relax.Binding
    function: str

    @property
    def span(self) -> Span | None:
        """Its place in the text."""
        return self.node.span or self.node.var.span

    @property
    def name(self) -> str:
        """The name of the bound variable."""
        return self.node.var.name


ProgramPlace = StmtPlace | BindingPlace


@dataclass(slots=True)
class PlaceIndex:
    """The places of a module, and of the functions that Relax operators become during execution."""

    module: IRModule
    prim_funcs: dict[int, tuple[tir.PrimFunc, list[StmtPlace]]] = field(default_factory=dict)
    bindings: dict[int, BindingPlace] = field(default_factory=dict)
    _loops: dict[int, tuple[tir.PrimFunc, tir.PrimFunc]] = field(default_factory=dict)
    _by_stmt: dict[int, StmtPlace] = field(default_factory=dict)
    _by_load: dict[int, StmtPlace] | None = None

    def __post_init__(self) -> None:
        for name, func in self.module.functions.items():
            if isinstance(func, tir.PrimFunc):
                self.of(func, name)
            elif isinstance(func, relax.Function):
                for node in walk(func):
                    if isinstance(node, relax.VarBinding | relax.MatchCast):
                        self.bindings[id(node)] = BindingPlace(node, name)

    def of(self, func: tir.PrimFunc, name: str) -> list[StmtPlace]:
        """The places of a function, in the order of the text; of a kernel those of the loops that are executed."""
        func = self._executed(func)
        entry = self.prim_funcs.get(id(func))
        if entry is None:
            places = list(_places(func, name))
            if len({id(place.node) for place in places}) < len(places):  # a statement that stands in two places
                for place in places:
                    place.restartable = False
            entry = self.prim_funcs[id(func)] = (func, places)
            self._by_stmt.update((id(place.node), place) for place in places)
            self._by_load = None
        return entry[1]

    def _executed(self, func: tir.PrimFunc) -> tir.PrimFunc:
        """What is executed in place of a function: itself where it has no kernels, or none that can be."""
        known = self._loops.get(id(func))
        if known is None:
            try:
                known = func, as_loops(func)
            except RefmlcError:
                known = func, func
            self._loops[id(func)] = known
        return known[1]

    def at(self, func: tir.PrimFunc, name: str, stmt: tir.Stmt) -> StmtPlace | None:
        """The place of `stmt`; None for statements that are not in the text (the loop of a thread launch)."""
        self.of(func, name)
        return self._by_stmt.get(id(stmt))

    def binding(self, node: relax.Binding) -> BindingPlace:
        """The place of a binding."""
        return self.bindings.setdefault(id(node), BindingPlace(node, ""))

    def of_access(self, access: tir.BufferLoad | tir.BufferStore) -> StmtPlace | None:
        """The place of the statement that is `access`, or contains it."""
        if isinstance(access, tir.BufferStore):
            return self._by_stmt.get(id(access))
        if self._by_load is None:
            self._by_load = {
                id(node): place
                for _, places in self.prim_funcs.values()
                for place in places
                for node in _expressions(place.node)
                if isinstance(node, tir.BufferLoad)
            }
        return self._by_load.get(id(access))

    def of_node(self, node: Node) -> StmtPlace | None:
        """The place of a statement, or of the statement whose own expressions contain `node`."""
        place = self._by_stmt.get(id(node))
        if place is None:
            places = (place for _, places in self.prim_funcs.values() for place in places)
            place = next((place for place in places if any(part is node for part in _expressions(place.node))), None)
        return place

    def steps(self) -> Iterator[ProgramPlace]:
        """All places that are steps or bindings."""
        for _, places in self.prim_funcs.values():
            yield from (place for place in places if place.counted)
        yield from self.bindings.values()

    def first(self, function: str) -> ProgramPlace | None:
        """The first place of a function."""
        func = self.module.functions.get(function)
        if isinstance(func, tir.PrimFunc):
            return next((place for place in self.of(func, function) if place.counted), None)
        if isinstance(func, relax.Function):
            blocks = [block for block in func.body.blocks if block.bindings]
            return self.binding(blocks[0].bindings[0]) if blocks else None
        return None


def _places(func: tir.PrimFunc, name: str) -> Iterator[StmtPlace]:
    stack = [StmtPlace(func.body, func, name, None, 0, 0, restartable=True)]
    while stack:
        place = stack.pop()
        node = place.node
        place.calls = any(
            isinstance(part, tir.Call) and isinstance(part.callee, tir.GlobalVar) for part in _expressions(node)
        )
        yield place
        inner = place.restartable and _is_open(node)
        depth = place.depth + place.counted
        parts: list[tuple[int, tir.Stmt, bool]] = []
        match node:
            case tir.SeqStmt():
                parts = [(number, part, False) for number, part in enumerate(node.seq)]
            case tir.For() | tir.While() | tir.AttrStmt():
                parts = [(0, node.body, False)]
            case tir.IfThenElse():
                parts = [(0, node.then_case, False), *([(1, node.else_case, False)] if node.else_case else [])]
            case tir.SBlockRealize():
                init = [] if node.block.init is None else [(0, node.block.init, True)]
                parts = [*init, (1, node.block.body, False)]
            case _:
                pass
        stack.extend(
            StmtPlace(part, func, name, place, number, depth, inner, init) for number, part, init in reversed(parts)
        )


def _is_open(node: tir.Stmt) -> bool:
    match node:
        case tir.For():
            return not _calls(node.min, node.extent, *(() if node.step is None else (node.step,)))
        case tir.While():
            return not _calls(node.condition)
        case tir.AttrStmt(node=tir.ThreadVar(var=var)) if node.key in LAUNCHED:
            return var is not None and not (isinstance(node.value, tir.Expr) and _calls(node.value))
        case tir.AttrStmt():
            return node.key != "reduce_scope"
        case _:
            return True


def _calls(*parts: tir.Expr) -> bool:
    """True if a function or intrinsic is called: a second call could have an effect."""
    return any(isinstance(node, tir.Call) for part in parts for node in walk(part))


def _expressions(stmt: tir.Stmt) -> Iterator[Node]:
    """The expressions of `stmt` itself, without those of the statements within it."""
    below: tuple[Node, ...]
    match stmt:
        case tir.SeqStmt():
            below = ()
        case tir.For():
            below = (stmt.min, stmt.extent, *(() if stmt.step is None else (stmt.step,)))
        case tir.While() | tir.IfThenElse():
            below = (stmt.condition,)
        case tir.AttrStmt():
            below = ()
        case tir.SBlockRealize():
            below = (*stmt.iter_values, stmt.predicate)
        case _:
            below = tuple(child for child in children(stmt) if not isinstance(child, tir.Buffer))
    for part in below:
        yield from walk(part)


# ------------------------------------------------------------------------------------------------ names


def names_at(place: StmtPlace) -> Mapping[str, tir.Var | tir.Buffer]:
    """The variables and buffers visible at a place; of equal names the innermost."""
    names: dict[str, tir.Var | tir.Buffer] = {node.name: node for node in declared_by_function(place.func)}
    path = [place, *place.around()]
    for outer in reversed(path):
        names.update((node.name, node) for node in declared_before(outer))
        if outer is not place:
            names.update((node.name, node) for node in declared_by(outer))
    return names


def declared_by(place: StmtPlace) -> dict[tir.Var | tir.Buffer, str]:
    """The names that a loop or a block declares for its body."""
    node = place.node
    match node:
        case tir.For():
            thread = () if node.thread is None or node.thread.var is None else (node.thread.var,)
            return dict.fromkeys((node.loop_var, *thread), "loop")
        case tir.AttrStmt(node=tir.ThreadVar(var=tir.Var() as var)):
            return {var: "loop"}
        case tir.SBlockRealize(block=block):
            names: dict[tir.Var | tir.Buffer, str] = {axis.var: "axis" for axis in block.iter_vars}
            names.update(dict.fromkeys(block.alloc_buffers, "buffer"))
            names.update(dict.fromkeys((match.buffer for match in block.match_buffers), "buffer"))
            return names
        case _:
            return {}


def declared_before(place: StmtPlace) -> dict[tir.Var | tir.Buffer, str]:
    """The names declared before `place` by statements of the same sequence."""
    names: dict[tir.Var | tir.Buffer, str] = {}
    if place.above is not None and isinstance(place.above.node, tir.SeqStmt):
        for earlier in place.above.node.seq[: place.number]:
            match earlier:
                case tir.Bind(var=var):
                    names[var] = "let"
                case tir.AllocBuffer(buffer=buffer) | tir.DeclBuffer(buffer=buffer):
                    names[buffer] = "buffer"
                case _:
                    pass
    return names


def declared_by_function(func: tir.PrimFunc) -> dict[tir.Var | tir.Buffer, str]:
    """Parameters, their buffers, and the variables in the shapes of these."""
    names: dict[tir.Var | tir.Buffer, str] = {}
    for buffer in func.buffer_map.values():
        for part in (*buffer.shape, *buffer.strides, *(() if buffer.elem_offset is None else (buffer.elem_offset,))):
            names.update((node, "size") for node in walk(part) if isinstance(node, tir.Var))
    for param in func.params:
        if param in func.buffer_map:
            names[func.buffer_map[param]] = "parameter"
        else:
            names[param] = "parameter"
    return names
