"""What is certainly written at each place of a function: the statements are gone through once, in order.

| statement         | boxes after it                                                                         |
|-------------------|----------------------------------------------------------------------------------------|
| store             | the element is added                                                                   |
| sequence          | one statement after the other                                                          |
| loop              | those before, and what its iterations write together (`boxes.after_loop`)              |
| if                | those of both arms; of the one arm that is certainly taken; of the only arm those that |
|                   | are beyond the buffer where it is not taken, or were written at the first iteration    |
| while             | those before                                                                           |
| block             | those of its body; where its predicate may not hold, as an if                          |
| init of a block   | at the start of the body: its boxes, where it certainly comes first (`starts`)         |
| allocation        | of that buffer none                                                                    |

A load is proved where one box holds its element. A box of all elements holds whatever is in bounds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from refmlc.lang.arith.polynomial import Poly, constant, variables
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.lang.ops.short_text import access_text
from refmlc.native.analysis.boxes import Box, Loop, Span, after_loop, covers, entire, is_beyond, names
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.starts import Fresh, Guard, Local, Path, find_first, find_start
from refmlc.native.analysis.uses import Uses

MOST = 32  # boxes that are kept of a buffer at a place
ALL: Literal["all"] = "all"  # every element
Boxes: TypeAlias = tuple[Box, ...] | Literal["all"]
State: TypeAlias = Mapping[tir.Buffer, Boxes]
EXPRS = get_args(tir.Expr)


@dataclass(slots=True)
class Flow:
    """Goes through the statements. `unproved` collects the loads that no box holds, each with the reason.

    `visited` are the loads that were looked at.
    """

    uses: Uses
    unproved: dict[tir.BufferLoad, str] = field(default_factory=dict)
    visited: set[tir.BufferLoad] = field(default_factory=set)

    # ------------------------------------------------------------------------------------ statements

    def stmt(self, node: tir.Stmt, state: State, path: Path) -> State:
        """The boxes after `node`."""
        match node:
            case tir.SeqStmt(seq):
                return self._sequence(seq, state, path)
            case tir.For():
                return self._loop(node, state, path)
            case tir.SBlockRealize():
                return self._block(node, state, path)
            case tir.BufferStore():
                return self._store(node, state, path.facts)
            case tir.IfThenElse():
                return self._choice(node, state, path)
            case tir.While(condition, body):
                self.expr(condition, state, path.facts)
                self.stmt(body, state, path.guarded(condition).with_facts(path.facts.assume(condition)))
                return state
            case tir.AttrStmt(body=body):
                return self.stmt(body, state, path)
            case _:
                self._parts(node, state, path.facts)
                return state

    def _sequence(self, seq: tuple[tir.Stmt, ...], state: State, path: Path) -> State:
        variables = []
        for part in seq:
            state = self.stmt(part, state, path)
            match part:
                case tir.Bind(var, value):
                    state = _without(state, var)
                    path = path.bind(var, path.facts.bind_value(var, value))
                    variables.append(var)
                case tir.AssertStmt(condition):
                    path = path.with_facts(path.facts.assume(condition))
                case tir.Evaluate(tir.Call(callee="assume", args=(tir.Apply() | tir.And() as condition, *_))):
                    path = path.with_facts(path.facts.assume(condition))
                case tir.AllocBuffer(buffer) | tir.DeclBuffer(buffer):
                    state, path = self._fresh(buffer, state, path)
                case _:
                    continue
        return self._leaving(state, path.facts, variables)

    def _fresh(self, buffer: tir.Buffer, state: State, path: Path) -> tuple[State, Path]:
        group = self.uses.shared.get(buffer, {buffer})
        state = {**state, **dict.fromkeys(group, ())}
        return state, path.to(*map(Fresh, group)).with_facts(path.facts.assume_extents(buffer))

    def _leaving(self, state: State, facts: Facts, variables: Iterable[tir.Var]) -> State:
        """The boxes where variables are out of scope: those that name one are dropped."""
        for var in variables:
            form = facts.form(var)
            if form is None or form.atom is var:
                state = _without(state, var)
        return state

    def _loop(self, node: tir.For, state: State, path: Path) -> State:
        for part in (node.min, node.extent, *(() if node.step is None else (node.step,))):
            self.expr(part, state, path.facts)
        facts = path.facts
        low, extent = facts.form(node.min), facts.form(node.extent)
        state = _without(state, node.loop_var)
        body_facts = facts.bind_range(node.loop_var, node.min, node.extent)
        if low is None or extent is None:
            self.stmt(node.body, state, Path(body_facts, (*path.steps, Guard(None), Local(node.loop_var))))
            return state
        loop = Loop(node.loop_var, low, extent, runs=(facts.interval(extent).low or 0) > 0)
        end = self.stmt(node.body, state, Path(body_facts, (*path.steps, loop)))
        after = dict(state)
        for buffer, boxes in end.items():
            before = after.get(buffer, ())
            if boxes == ALL:
                after[buffer] = ALL if loop.runs else before
            elif before != ALL:
                for box in boxes:
                    larger = None if box in before else self._box_after(node, box, loop, body_facts)
                    after[buffer] = self._with(facts, buffer, after.get(buffer, ()), larger)
        return after

    def _box_after(self, node: tir.For, box: Box, loop: Loop, body_facts: Facts) -> Box | None:
        return None if node.step is not None and names(box, loop.var) else after_loop(body_facts, box, loop)

    def _choice(self, node: tir.IfThenElse, state: State, path: Path) -> State:
        condition = node.condition
        self.expr(condition, state, path.facts)
        decided = path.facts.holds(condition)
        inner = path if decided is not None else path.guarded(condition)
        then = self.stmt(node.then_case, state, inner.with_facts(path.facts.assume(condition)))
        otherwise = state
        if node.else_case is not None:
            otherwise = self.stmt(node.else_case, state, inner.with_facts(path.facts.assume_not(condition)))
        if decided is not None:
            return then if decided else otherwise
        return self._clipped(state, then, condition, path) if node.else_case is None else _in_both(then, otherwise)

    def _block(self, node: tir.SBlockRealize, state: State, path: Path) -> State:
        block, state_before, path_outside = node.block, state, path
        self.expr(node.predicate, state, path.facts)
        always = path.facts.holds(node.predicate) is True
        if not always:
            path = path.guarded(node.predicate).with_facts(path.facts.assume(node.predicate))
        for axis, value in zip(block.iter_vars, node.iter_values, strict=True):
            for part in (value, axis.dom.min, axis.dom.extent):
                self.expr(part, state, path.facts)
            state = _without(state, axis.var)
            facts = path.facts.bind_axis(axis.var, axis.dom.min, axis.dom.extent, value)
            path = path.bind(axis.var, facts)
        for buffer in block.alloc_buffers:
            state, path = self._fresh(buffer, state, path)
        for match in block.match_buffers:
            for part in (each for axis in match.source.region for each in (axis.min, axis.extent)):
                self.expr(part, state, path.facts)
        end = self.stmt(block.body, self._init(block, state, path), path)
        end = self._leaving(end, path.facts, (axis.var for axis in block.iter_vars))
        return end if always else self._clipped(state_before, end, node.predicate, path_outside)

    def _clipped(self, before: State, end: State, condition: tir.Expr, path: Path) -> State:
        """The boxes after what is done under a condition: those that are written whether it holds or not."""
        parts = path.facts.in_full(condition)
        if parts is None:
            return before
        boxes_after = dict(before)
        for buffer, boxes in end.items():
            domain = entire(path.facts, buffer.shape)
            if domain is not None and not isinstance(boxes, str):
                for box in boxes:
                    if _is_sure(path, parts, buffer, box, domain):
                        boxes_after[buffer] = self._with(path.facts, buffer, boxes_after.get(buffer, ()), box)
        return boxes_after

    def _init(self, block: tir.SBlock, state: State, path: Path) -> State:
        """The boxes where the body begins."""
        if block.init is None:
            return state
        end = self.stmt(block.init, state, path)
        start = find_start(path, block)
        if start is None:
            return state
        boxes_after = dict(state)
        for buffer, boxes in end.items():
            domain = entire(path.facts, buffer.shape) if boxes == ALL else None
            for box in (domain,) if isinstance(boxes, str) else boxes:
                if box is not None and start.keeps(buffer, box):
                    boxes_after[buffer] = self._with(path.facts, buffer, boxes_after.get(buffer, ()), box)
        return boxes_after

    def _store(self, node: tir.BufferStore, state: State, facts: Facts) -> State:
        self._parts(node, state, facts)
        buffer = node.buffer
        box = None if node.predicate is not None or buffer in self.uses.unproved else _accessed(facts, node)
        return {**state, buffer: self._with(facts, buffer, state.get(buffer, ()), box)}

    def _with(self, facts: Facts, buffer: tir.Buffer, boxes: Boxes, box: Box | None) -> Boxes:
        """`boxes` and one more; all, where it covers the buffer."""
        if box is None or isinstance(boxes, str) or box in boxes:
            return boxes
        domain = entire(facts, buffer.shape)
        return ALL if domain is not None and covers(facts, box, domain) else (*boxes, box)[-MOST:]

    # ----------------------------------------------------------------------------------- expressions

    def expr(self, node: tir.Expr, state: State, facts: Facts) -> None:
        """Look at the loads in `node`, each where its conditions hold."""
        match node:
            case tir.BufferLoad():
                self._parts(node, state, facts)
                self._load(node, state, facts)
            case tir.IfThenElseExpr(condition, true_value, false_value):
                self.expr(condition, state, facts)
                self.expr(true_value, state, facts.assume(condition))
                self.expr(false_value, state, facts.assume_not(condition))
            case tir.And(a, b):
                self.expr(a, state, facts)
                self.expr(b, state, facts.assume(a))
            case tir.Or(a, b):
                self.expr(a, state, facts)
                self.expr(b, state, facts.assume_not(a))
            case tir.Let(var, value, body):
                self.expr(value, state, facts)
                self.expr(body, _without(state, var), facts.bind_value(var, value))
            case tir.Var() | tir.IntImm() | tir.FloatImm() | tir.StringImm():
                return
            case _:
                self._parts(node, state, facts)

    def _parts(self, node: Node, state: State, facts: Facts) -> None:
        for part in children(node):
            if isinstance(part, EXPRS):
                self.expr(part, state, facts)

    def _load(self, node: tir.BufferLoad, state: State, facts: Facts) -> None:
        buffer = node.buffer
        self.visited.add(node)
        if buffer not in self.uses.stored and self.uses.is_given(buffer):
            return
        boxes = state.get(buffer, ())
        if buffer in self.uses.unproved:
            self.unproved[node] = self.uses.unproved[buffer]
        elif boxes != ALL:
            element = _accessed(facts, node)
            if element is None or not any(covers(facts, box, element) for box in boxes):
                self.unproved[node] = f"`{access_text(node)}` may be read before it is written"


def _is_sure(path: Path, parts: tuple[Poly, ...], buffer: tir.Buffer, box: Box, domain: Box) -> bool:
    """Whether what is written where all `parts` are 0 or more is written anyway, as far as the buffer has it.

    The loops that the parts name and the box does not are at their first point: there each part is 0 or more, or the
    box is beyond the buffer.
    """
    beyond = [is_beyond(path.facts, box, domain, part) for part in parts]
    if all(beyond):
        return True
    part_variables = {var for part in parts for var in variables(part)}
    first_point = find_first(path, frozenset(var for var in part_variables if not names(box, var)))
    if first_point is None or not first_point[0].keeps(buffer, box):
        return False
    start, first = first_point
    for part, is_out in zip(parts, beyond, strict=True):
        first_part = path.facts.with_value(part, first)
        unvisited = start.changing - set(first)
        if not is_out and (
            first_part is None or not unvisited.isdisjoint(variables(part)) or not path.facts.not_negative(first_part)
        ):
            return False
    return True


def _accessed(facts: Facts, node: tir.BufferLoad | tir.BufferStore) -> Box | None:
    """The elements that an access reaches; None: they are no box that is known."""
    spans = []
    if len(node.indices) != len(node.buffer.shape):
        return None
    for index in node.indices:
        low, lanes = index, 1
        if isinstance(index, tir.Ramp) and isinstance(index.lanes, tir.IntImm) and _is_one(index.stride):
            low, lanes = index.base, index.lanes.value
        form = facts.form(low)
        if form is None:
            return None
        spans.append(Span(form, constant(lanes)))
    return tuple(spans)


def _is_one(expr: tir.Expr) -> bool:
    return isinstance(expr, tir.IntImm) and expr.value == 1


def _without(state: State, var: tir.Var) -> State:
    """The boxes that do not name `var`."""
    if not any(names(box, var) for boxes in state.values() if not isinstance(boxes, str) for box in boxes):
        return state
    return {
        buffer: boxes if isinstance(boxes, str) else tuple(box for box in boxes if not names(box, var))
        for buffer, boxes in state.items()
    }


def _in_both(a: State, b: State) -> State:
    """The boxes that both have."""
    common: dict[tir.Buffer, Boxes] = {}
    for buffer, boxes in a.items():
        other = b.get(buffer, ())
        if isinstance(boxes, str) or isinstance(other, str):
            common[buffer] = other if isinstance(boxes, str) else boxes
        else:
            common[buffer] = tuple(box for box in boxes if box in other)
    return common
