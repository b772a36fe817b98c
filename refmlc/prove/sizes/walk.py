"""The obligations of a TensorIR function for all sizes: loops are not unrolled, a loop variable is a bounded integer.

| obligation   | must hold at every execution                                                   | otherwise   |
|--------------|--------------------------------------------------------------------------------|-------------|
| `bounds`     | each index of an access is within the extent of its axis                       | RM304       |
| `axis`       | each axis of a block is bound to a value of its domain                         | RM301       |
| `division`   | a divisor of integers is not 0                                                 | RM307       |
| `overflow`   | a result of 32 or 64 bits fits                                                 | RM306       |
| `defined`    | another operator has a value for its operands, a float one as an integer       | RM308, RM309|
| `extent`     | an extent is not negative                                                      | RM315       |
| `element`    | an element of the function's own memory was written before it is read          | RM305       |
| `order`      | iterations that may run at the same time do not touch one element              | RM321       |
| `declared`, `spatial`, `repeated` | what a block promises (`blocks`)                          | RM318 …     |

`element` and `order` are shown by `coverage` or, where it does not show them, by `reach`.
"""

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import z3

from refmlc.diag.source import Span
from refmlc.lang.ir import tir, tirx
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.visit import walk
from refmlc.prove.sizes.accesses import LoopFrame, SizedAccess, refuse_unexecuted
from refmlc.prove.sizes.blocks import Region, SizedBlock, promises
from refmlc.prove.sizes.coverage import StructuralFacts
from refmlc.prove.sizes.hypotheses import Assumption, FloatBounds, Hypothesis
from refmlc.prove.sizes.integers import Integers, Variables
from refmlc.prove.sizes.ranges import FloatRange, ValueRanges
from refmlc.prove.sizes.reach import conflicts, written_before
from refmlc.prove.terms import Undecided

LAUNCHES = ("thread_extent", "virtual_thread")
IN_ORDER = (ForKind.SERIAL, ForKind.UNROLLED)


@dataclass(frozen=True)
class SizedObligation:
    """What must hold for all sizes: under `conditions`, `goal` (None: nothing shows it).

    `unknown` are the numbers that memory holds.
    """

    kind: str
    goal: "z3.BoolRef | None"
    conditions: tuple["z3.BoolRef", ...]
    text: str
    span: Span | None
    unknown: tuple["z3.ExprRef", ...]


@dataclass
class SizedFacts:
    """Hypotheses as conditions of z3: those that are written, and those that are inferred."""

    written: list["z3.BoolRef"] = field(default_factory=list)
    inferred: list["z3.BoolRef"] = field(default_factory=list)


class ObligationWalk:
    """Walks through a function once and collects its obligations. Fails: Undecided for what it does not know."""

    def __init__(
        self, func: tir.PrimFunc, limit: int, hypotheses: Sequence[Assumption] = (), *, prefix: str = ""
    ) -> None:
        self.obligations: list[SizedObligation] = []
        self.sizes: dict[str, z3.ArithRef] = {}
        self.facts = SizedFacts()
        self.accesses: list[SizedAccess] = []
        self._variables = Variables(prefix=prefix)
        self._integers = _Reader(self._variables, self._oblige, self, _only_read_integers(func))
        self._coverage = StructuralFacts(func)
        bounds = _bounds(hypotheses, _only_read(func))
        self.ranges = ValueRanges(func, limit, lambda buffer: not self._coverage.is_input(buffer), bounds)
        self._tags: list[str] = []
        self._position: list[int | LoopFrame] = []
        self._path: list[z3.BoolRef] = []
        self._unshown: list[SizedAccess] = []
        self._parallel: list[LoopFrame] = []
        self._blocks: list[SizedBlock] = []
        self._open: list[SizedBlock] = []
        self._loops_around: dict[tir.Buffer, int] = {}
        self._read_alone = _only_read_integers(func)
        self._parameters(func, limit)
        for hypothesis in hypotheses:
            if isinstance(hypothesis, Hypothesis):
                self._assume(hypothesis)
        self._statement(func.body)
        self._order()
        self._initialisation()
        for block in self._blocks:
            for kind, conditions, goal, text in promises(block, self._variables.made):
                unknown = tuple(self._variables.unknown)
                self.obligations.append(SizedObligation(kind, goal, conditions, text, block.block.span, unknown))

    @property
    def functions(self) -> tuple["z3.FuncDeclRef", ...]:
        """What the tensors hold that are only read."""
        return tuple(self._variables.functions.values())

    def _parameters(self, func: tir.PrimFunc, limit: int) -> None:
        for buffer in func.buffer_map.values():
            refuse_unexecuted(buffer)
        extents = [extent for buffer in func.buffer_map.values() for extent in buffer.shape]
        for var in [*(each for each in extents if isinstance(each, tir.Var)), *func.params]:
            if var.dtype.is_integer and var not in func.buffer_map and var not in self._variables.values:
                size = self._variables.fresh(var.name, var.dtype)
                self._variables.values[var] = size
                self.sizes[var.name] = size
                if var in extents:
                    self._variables.conditions += [size >= 0, size <= limit]
        for extent in extents:
            if not isinstance(extent, tir.Var | tir.IntImm):
                self._variables.conditions.append(self._integers.number(extent) >= 0)

    def _assume(self, hypothesis: Hypothesis) -> None:
        """Note a hypothesis; its arithmetic has no obligations, and what it loads is not an access."""
        reader = _HypothesisReader(self._variables, lambda *_: None, self._integers)
        names = [z3.Int(f"any.{var.name}") for var in hypothesis.variables]
        self._variables.values.update(zip(hypothesis.variables, names, strict=True))
        before = len(self._variables.conditions)
        domain = [reader.truth(each) for each in hypothesis.domain]
        condition = z3.Implies(z3.And(*domain), reader.truth(hypothesis.condition))
        del self._variables.conditions[before:]
        fact = z3.ForAll(names, condition) if names else condition
        (self.facts.inferred if hypothesis.is_inferred else self.facts.written).append(fact)

    # ------------------------------------------------------------------------------------ obligations

    def _oblige(self, kind: str, goal: object, text: str, span: Span | None) -> None:
        if goal is not None and z3.is_true(z3.simplify(goal)):
            return
        conditions, unknown = tuple(self._variables.conditions), tuple(self._variables.unknown)
        self.obligations.append(SizedObligation(kind, goal, conditions, text, span, unknown))

    @contextmanager
    def _if(self, *conditions: "z3.BoolRef") -> Iterator[None]:
        before, steps = len(self._variables.conditions), len(self._path)
        self._variables.conditions += conditions
        self._path += conditions
        yield
        del self._variables.conditions[before:]
        del self._path[steps:]

    @contextmanager
    def _in(self, part: "int | LoopFrame") -> Iterator[None]:
        self._position.append(part)
        yield
        self._position.pop()

    def access(self, node: tir.BufferLoad | tir.BufferStore) -> Sequence["z3.ArithRef"]:
        """The obligations of an access to memory, and its indices."""
        if node.predicate is not None or any(index.dtype.is_vector for index in node.indices):
            raise Undecided("an access has lanes or a predicate", node.span)
        indices = []
        for axis, (index, extent) in enumerate(zip(node.indices, node.buffer.shape, strict=True)):
            at, size = self._integers.number(index), self._integers.number(extent)
            text = f"index {axis} of `{node.buffer.name}` is in bounds"
            self._oblige("bounds", z3.And(at >= 0, at < size), text, node.span)
            indices.append(at)
        access = self._noted(node, indices)
        if isinstance(node, tir.BufferLoad):
            extents = self._coverage.needs(node)
            if extents is None:
                self._unshown.append(access)
            else:
                goal = z3.And([self._integers.number(extent) >= 1 for extent in extents])
                self._oblige("element", goal, element_text(node.buffer), node.span)
        return indices

    def _noted(self, node: tir.BufferLoad | tir.BufferStore, indices: Sequence["z3.ArithRef"]) -> SizedAccess:
        access = SizedAccess(
            node,
            tuple(indices),
            (*self._position, int(isinstance(node, tir.BufferStore))),
            (*self._path, *self._integers.path),
            tuple(self._variables.conditions),
            tuple(self._variables.unknown),
        )
        self.accesses.append(access)
        for block in self._open:
            if node.buffer not in block.block.alloc_buffers:
                block.accesses.append(access)
        return access

    def _initialisation(self) -> None:
        """That each element is written before it is read, where the structure does not show it."""
        for load in self._unshown:
            stores = [
                each for each in self.accesses if each.buffer is load.buffer and isinstance(each.node, tir.BufferStore)
            ]
            text = element_text(load.buffer)
            around = self._loops_around.get(load.buffer, 0)
            goal = written_before(load, stores, self._variables.made, around)
            self.obligations.append(
                SizedObligation("element", goal, load.conditions, text, load.node.span, load.unknown)
            )

    def _order(self) -> None:
        """That iterations that may run at the same time do not meet, where the structure does not show it."""
        for frame in self._parallel:
            for goal, conditions, text, access in conflicts(frame, self.accesses, self._variables.made):
                self.obligations.append(
                    SizedObligation("order", goal, conditions, text, access.node.span, access.unknown)
                )

    # ------------------------------------------------------------------------------------ statements

    def _statement(self, node: tir.Stmt) -> None:
        self._integers.begin()
        match node:
            case tir.SeqStmt(seq):
                for number, part in enumerate(seq):
                    with self._in(number):
                        self._statement(part)
            case tir.For():
                self._loop(node)
            case tir.AttrStmt(key=tirx.DEVICE_ENTRY) | tirx.ScopeIdDef() | tirx.TilePrimitiveCall():
                refuse_unexecuted(node)
            case tir.AttrStmt(node=tir.ThreadVar()) if node.key in LAUNCHES:
                raise Undecided("threads are launched by an attribute", node.span)
            case tir.AttrStmt(body=body):
                self._statement(body)
            case tir.SBlockRealize():
                self._block(node)
            case tir.BufferStore(value=value):
                self._integers.value(value)
                self.access(node)
            case tir.IfThenElse(condition, then_case, else_case):
                holds = self._integers.truth(condition)
                with self._if(holds), self._in(0):
                    self._statement(then_case)
                if else_case is not None:
                    with self._if(z3.Not(holds)), self._in(1):
                        self._statement(else_case)
            case tir.Bind(var, value):
                self._variables.values[var] = self._integers.value(value)
            case tir.AllocBuffer(buffer) | tir.DeclBuffer(buffer=buffer, data=None):
                self._allocate(buffer)
            case tir.AssertStmt(condition=condition):
                self._variables.conditions.append(self._integers.truth(condition))
            case tir.Evaluate(value=tir.IntImm()):
                pass
            case tir.Evaluate(value=tir.Call(callee="assume", args=(assumed,))) if isinstance(assumed, tir.Expr):
                self._variables.conditions.append(self._integers.truth(assumed))
            case tir.While(condition=condition, body=body):
                frame = LoopFrame(node, (), (), len(self._variables.made))
                with self._in(frame), self._if(self._integers.truth(condition)):
                    self._statement(body)
            case _:
                raise Undecided(f"a {type(node).__name__} is not known for all sizes", node.span)

    def _loop(self, node: tir.For) -> None:
        if node.step is not None:
            raise Undecided("a loop has a step", node.span)
        first, extent = self._integers.number(node.min), self._integers.number(node.extent)
        self._oblige("extent", extent >= 0, f"the extent of loop `{node.loop_var.name}` is not negative", node.span)
        made = len(self._variables.made)
        variable = self._variables.fresh(node.loop_var.name, node.loop_var.dtype)
        self._variables.values[node.loop_var] = variable
        if node.thread is not None and node.thread.var is not None:
            self._variables.values[node.thread.var] = variable
        if node.tag in self._tags:
            raise Undecided(f"the axis `{node.tag}` is bound twice", node.span)
        frame = LoopFrame(node, (variable,), (first,), made)
        if node.kind not in IN_ORDER and self._coverage.order_reason(node):
            self._parallel.append(frame)
        self._tags += [node.tag] if node.tag else []
        with self._if(variable >= first, variable < first + extent), self._in(frame):
            self._statement(node.body)
        self._tags = self._tags[:-1] if node.tag else self._tags

    def _block(self, node: tir.SBlockRealize) -> None:
        block = node.block
        with self._if(self._integers.truth(node.predicate)):
            for axis, value in zip(block.iter_vars, node.iter_values, strict=True):
                bound = self._integers.number(value)
                least, extent = self._integers.number(axis.dom.min), self._integers.number(axis.dom.extent)
                text = f"axis `{axis.var.name}` is bound to a value of its domain"
                self._oblige("axis", z3.And(bound >= least, bound < least + extent), text, value.span or node.span)
                self._variables.values[axis.var] = bound
            with self._integers.block():
                self._enter(node)
                self._inside(node)

    def _inside(self, node: tir.SBlockRealize) -> None:
        block = node.block
        for buffer in block.alloc_buffers:
            self._allocate(buffer)
        if block.match_buffers:
            raise Undecided("a block matches a region", node.span)
        if block.init is not None:
            with self._in(0), self._if(*self._begins(block)):
                self._statement(block.init)
        with self._in(1):
            self._statement(block.body)
        self._open.pop()

    def _enter(self, node: tir.SBlockRealize) -> None:
        """Note the block with the values of its axes, and the regions that it declares."""
        block = node.block
        axes = tuple(self._integers.number(axis.var) for axis in block.iter_vars)
        declared = (block.reads, block.writes)
        reads, writes = (None if each is None else tuple(self._regions(block, each)) for each in declared)
        self._integers.keep()
        noted = SizedBlock(block, self._loops(), axes, tuple(self._variables.conditions), reads, writes)
        self._blocks.append(noted)
        self._open.append(noted)

    def _regions(self, block: tir.SBlock, regions: Sequence[tir.BufferRegion]) -> Iterator[Region]:
        """The regions whose bounds depend on nothing that the block writes."""
        reader = _RegionReader(self._variables, lambda *_: None, self._integers)
        written = {node.buffer for node in walk(block) if isinstance(node, tir.BufferStore)}
        for region in regions:
            parts = [node for each in region.region for node in walk(each)]
            if not any(
                (isinstance(part, tir.BufferLoad) and part.buffer in written)
                or (isinstance(part, tir.Call) and part.callee not in PURE)
                for part in parts
            ):
                box = [(reader.number(each.min), reader.number(each.extent)) for each in region.region]
                yield region.buffer, tuple(box)

    def _loops(self) -> tuple[LoopFrame, ...]:
        return tuple(part for part in self._position if isinstance(part, LoopFrame))

    def _begins(self, block: tir.SBlock) -> Iterator["z3.BoolRef"]:
        """When the init is executed: each axis that is not spatial has its first value."""
        for axis in block.iter_vars:
            if axis.kind is not IterKind.SPATIAL:
                yield self._integers.number(axis.var) == self._integers.number(axis.dom.min)

    def _allocate(self, buffer: tir.Buffer) -> None:
        refuse_unexecuted(buffer)
        self._loops_around[buffer] = len(self._loops())
        for extent in buffer.shape:
            self._oblige("extent", self._integers.number(extent) >= 0, f"the shape of `{buffer.name}`", buffer.span)


def element_text(buffer: tir.Buffer) -> str:
    """The text of the obligation that an element is written before it is read."""
    return f"`{buffer.name}` is written where it is read"


class _Reader(Integers):
    """The encoder that reports every load it meets to the walk.

    `only_read`: tensors of the caller that the function does not write, of which equal places hold equal numbers.
    """

    def __init__(
        self, variables: Variables, oblige: object, walk: ObligationWalk, only_read: frozenset[tir.Buffer]
    ) -> None:
        super().__init__(variables, oblige)  # type: ignore[arg-type]
        self._walk = walk
        self._only_read = only_read
        self.path: list[z3.BoolRef] = []
        self._computed: list[tuple[tir.Expr, z3.ArithRef]] = []
        self._kept = 0

    def number(self, node: tir.Expr) -> "z3.ArithRef":
        """The value of an integer; one that the caller's tensor holds is a function of its place."""
        if not isinstance(node, tir.BufferLoad) or node.buffer not in self._only_read:
            return super().number(node)
        return self.element(node.buffer, self._walk.access(node))

    def is_only_read(self, buffer: tir.Buffer) -> bool:
        """Whether it is a tensor of integers that the function does not write."""
        return buffer in self._only_read

    def element(self, buffer: tir.Buffer, indices: Sequence["z3.ArithRef"]) -> "z3.ArithRef":
        """The number at a place of a tensor that is only read."""
        if not indices:
            indices = [z3.IntVal(0)]
        of_place = self._variables.function(buffer.name, len(indices))
        value = of_place(*indices)
        self._variables.unknown.append(of_place)
        self._variables.conditions.append(z3.And(value >= buffer.dtype.minimum, value <= buffer.dtype.maximum))
        return value

    def converts(self, node: tir.Cast) -> bool:
        """Whether the range of a float is within that of the dtype."""
        return self._walk.ranges.converts(node)

    def computed(self, node: tir.Expr) -> "z3.ArithRef":
        """A number that the function computed before, within its range; equal expressions of a statement are one."""
        same = next((value for known, value in self._computed if structural_equal(known, node)), None)
        if same is not None:
            return same
        value = super().computed(node)
        low, high = self._walk.ranges.integer(node)
        self._variables.conditions += [] if low is None or high is None else [value >= low, value <= high]
        self._computed.append((node, value))
        return value

    def begin(self) -> None:
        """Begin a statement: memory may have changed, except what a block around it depends on."""
        del self._computed[self._kept :]

    def keep(self) -> None:
        """Keep what is known now to the end of the block, which writes nothing that it depends on."""
        self._kept = len(self._computed)

    @contextmanager
    def block(self) -> Iterator[None]:
        """Begin a block, and forget at its end what it kept."""
        before = self._kept
        self.begin()
        yield
        self._kept = before
        self.begin()

    def under(self, condition: "z3.BoolRef", node: tir.Expr) -> object:
        """The value of an operand that is evaluated only if a condition holds."""
        self.path.append(condition)
        value = super().under(condition, node)
        self.path.pop()
        return value

    def visit(self, node: tir.Expr) -> None:
        """Visit an expression; a load has obligations."""
        match node:
            case tir.BufferLoad():
                self._walk.access(node)
            case tir.BufferData():
                raise Undecided("a pointer is used", node.span)
            case tir.Call(callee=callee) if callee not in PURE:
                raise Undecided(f"`T.{callee}` is called", node.span)
            case _:
                super().visit(node)


class _HypothesisReader(Integers):
    """The encoder of hypotheses."""

    def __init__(self, variables: Variables, oblige: object, reader: _Reader) -> None:
        super().__init__(variables, oblige)  # type: ignore[arg-type]
        self._reader = reader

    def number(self, node: tir.Expr) -> "z3.ArithRef":
        """The value of an integer; an element is that of the function's own accesses."""
        if isinstance(node, tir.BufferLoad):
            return self._reader.element(node.buffer, [self.number(index) for index in node.indices])
        return super().number(node)


class _RegionReader(_HypothesisReader):
    """The encoder of declared regions: what they load is no access, and memory holds what the block finds there."""

    def number(self, node: tir.Expr) -> "z3.ArithRef":
        """The value of an integer."""
        if isinstance(node, tir.BufferLoad) and not self._reader.is_only_read(node.buffer):
            return self.computed(node)
        return super().number(node)

    def visit(self, node: tir.Expr) -> None:
        """Visit an expression; a load has no obligations."""
        if isinstance(node, tir.BufferLoad):
            for index in node.indices:
                self.value(index)
        else:
            super().visit(node)

    def computed(self, node: tir.Expr) -> "z3.ArithRef":
        """The number that the function's own accesses find."""
        return self._reader.computed(node)


def _bounds(assumptions: Sequence[Assumption], read_alone: Container[tir.Buffer]) -> dict[tir.Buffer, FloatRange]:
    """What written contracts say of the floats of tensors that are only read; what is inferred stays out of a proof."""
    bounds: dict[tir.Buffer, FloatRange] = {}
    for each in assumptions:
        if isinstance(each, FloatBounds) and each.buffer in read_alone and not each.is_inferred:
            known = bounds.get(each.buffer, FloatRange())
            bounds[each.buffer] = FloatRange(max(known.low, each.low), min(known.high, each.high), nan=False)
    return bounds


def _only_read(func: tir.PrimFunc) -> frozenset[tir.Buffer]:
    """The tensors of the caller that the function does not write."""
    written = {node.buffer for node in walk(func.body) if isinstance(node, tir.BufferStore)}
    return frozenset(
        buffer for buffer in func.buffer_map.values() if buffer not in written and not buffer.dtype.is_vector
    )


def _only_read_integers(func: tir.PrimFunc) -> frozenset[tir.Buffer]:
    return frozenset(buffer for buffer in _only_read(func) if buffer.dtype.is_integer)


PURE = frozenset(("fma", "tvm_thread_invariant", "ignore_loop_partition", "call_pure_extern", "call_llvm_pure_intrin"))
