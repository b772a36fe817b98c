"""What a function writes, for all sizes: each store with the loops around it, and how the values of a buffer arise.

| buffer       | its stores                                                                                      |
|--------------|-------------------------------------------------------------------------------------------------|
| mapped       | whatever two instances write to one place is the same value, so that order does not matter      |
| fold         | the same, and after them one store that updates the element from itself: the order is that of   |
|              | its iterations, and nothing else reads an element before its last update                        |

Which buffer a value reads orders the buffers, without a circle; only an update reads its own. What a function has
beyond that (loops on data, indices from memory, assertions, memory that is allocated in a loop) is not decided.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import z3

from refmlc.diag.source import Span
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.prove.sizes.accesses import LoopFrame, SizedAccess
from refmlc.prove.sizes.integers import names_of
from refmlc.prove.sizes.walk import ObligationWalk, SizedObligation, element_text
from refmlc.prove.terms import Undecided

GLOBAL = "global"
DEEPEST = 12
NECESSARY = ("bounds", "axis", "division", "overflow", "defined", "extent")
"""The kinds of obligations that hold if and only if the operation is defined."""


@dataclass(frozen=True, eq=False)
class SizedStore:
    """A store: its access, the values of variables there, and those of the axes of the block around it."""

    access: SizedAccess
    values: Mapping[tir.Var, object]
    axes: tuple["z3.ArithRef", ...]

    @property
    def node(self) -> tir.BufferStore:
        """The statement."""
        node = self.access.node
        if not isinstance(node, tir.BufferStore):
            raise TypeError("the access is no store")
        return node

    @property
    def span(self) -> Span | None:
        """Its place."""
        return self.node.span

    def loads_itself(self) -> bool:
        """Whether its value is made of what its own buffer holds."""
        return any(
            isinstance(node, tir.BufferLoad) and node.buffer is self.node.buffer for node in walk(self.node.value)
        )


class DefinitionWalk(ObligationWalk):
    """The walk that also keeps every store with its context.

    `like`: the walk through the other program, whose sizes are those of this one.
    """

    def __init__(self, func: tir.PrimFunc, limit: int, like: "DefinitionWalk | None" = None) -> None:
        self.func = func
        self.parameters = tuple(func.buffer_map.get(param, param) for param in func.params)
        self.stores: dict[tir.Buffer, list[SizedStore]] = {}
        self._like = like
        self._of_sizes: list[z3.BoolRef] = []
        _require_simple(func)
        super().__init__(func, limit, prefix="" if like is None else "after.")
        self._unknown_names = {str(each) for each in self._variables.unknown}
        for access in self.accesses:
            self._require_known(access)

    @property
    def made(self) -> Sequence["z3.ExprRef"]:
        """The constants of the function, in order."""
        return self._variables.made

    def is_known(self, expression: "z3.ExprRef") -> bool:
        """Whether an expression is one of sizes and loop variables alone."""
        return not any(name.rstrip("*'") in self._unknown_names for name in names_of(expression))

    def _require_known(self, access: SizedAccess) -> None:
        if not all(map(self.is_known, (*access.indices, *access.path))):
            raise Undecided("an index or a condition depends on the values of an argument", access.node.span)

    @property
    def sizes_of_parameters(self) -> "tuple[z3.BoolRef, ...]":
        """What holds of the sizes."""
        return tuple(self._of_sizes)

    def number(self, node: tir.Expr) -> "z3.ArithRef":
        """The value of an extent, or of a scalar parameter."""
        return self._integers.number(node)

    def _parameters(self, func: tir.PrimFunc, limit: int) -> None:
        if self._like is None:
            super()._parameters(func, limit)
        else:
            self._parameters_like(self._like)
        self._of_sizes = list(self._variables.conditions)

    def _parameters_like(self, before: "DefinitionWalk") -> None:
        """Let each parameter be that of the other program. Fails: Undecided where a call may be refused."""
        if len(self.parameters) != len(before.parameters):
            raise Undecided("the parameters of the two functions do not match")
        self._variables.conditions += before.sizes_of_parameters
        pairs = list(zip(self.parameters, before.parameters, strict=True))
        for own, other in pairs:
            match own, other:
                case tir.Buffer(), tir.Buffer() if own.dtype == other.dtype and len(own.shape) == len(other.shape):
                    continue
                case tir.Var(), tir.Var() if own.dtype == other.dtype:
                    if own.dtype.is_integer:
                        self._variables.values[own] = before.number(other)
                case _:
                    raise Undecided("the parameters of the two functions do not match")
        for own, other in pairs:
            if isinstance(own, tir.Buffer) and isinstance(other, tir.Buffer):
                self._same_shape(own, other, before)

    def _same_shape(self, own: tir.Buffer, other: tir.Buffer, before: "DefinitionWalk") -> None:
        """Let the sizes of a tensor be those of the other program. Fails: Undecided where it may be refused."""
        for extent, size in zip(own.shape, other.shape, strict=True):
            expected = before.number(size)
            if isinstance(extent, tir.Var) and extent not in self._variables.values:
                if extent.dtype != size.dtype:
                    raise Undecided("the sizes of the two functions have other dtypes")
                self._variables.values[extent] = expected
            elif not z3.is_true(z3.simplify(self._integers.number(extent) == expected)):
                raise Undecided(f"the shapes of `{own.name}` do not match", own.span)

    def _noted(self, node: tir.BufferLoad | tir.BufferStore, indices: Sequence["z3.ArithRef"]) -> SizedAccess:
        access = super()._noted(node, indices)
        if isinstance(node, tir.BufferStore):
            axes = self._open[-1].axes if self._open else ()
            store = SizedStore(access, dict(self._variables.values), axes)
            self.stores.setdefault(node.buffer, []).append(store)
        return access

    def _allocate(self, buffer: tir.Buffer) -> None:
        if any(isinstance(part, LoopFrame) for part in self._position):
            raise Undecided(f"`{buffer.name}` is allocated in a loop", buffer.span)
        super()._allocate(buffer)

    def consequences(self) -> "Iterator[z3.BoolRef]":
        """What holds of the sizes if the function is defined: each obligation in the first iteration of its loops.

        Those that are only enough (`order`, `element`) say nothing. Where one store makes all elements of a buffer, a
        load of it is executed only if the store is.
        """
        first = [
            (variable, value)
            for access in self.accesses
            for frame in access.loops
            for variable, value in zip(frame.variables, frame.first, strict=True)
        ]
        for obligation in self.obligations:
            if obligation.kind in NECESSARY and obligation.goal is not None:
                yield self._begun(z3.Implies(z3.And(*obligation.conditions), obligation.goal), first)
        for load in self.accesses:
            stores = [each for each in self.stores.get(load.buffer, []) if not each.loads_itself()]
            if isinstance(load.node, tir.BufferLoad) and load.buffer not in self.parameters and len(stores) == 1:
                runs = z3.And(*(each >= 1 for each in self._extents(stores[0])))
                yield self._begun(z3.Implies(z3.And(*load.conditions), runs), first)

    def _extents(self, store: SizedStore) -> "Iterator[z3.ArithRef]":
        """The extents of the loops around a store that depend on sizes alone."""
        names = set(map(str, self.sizes.values()))
        for frame in store.access.loops:
            extent = self._integers.number(frame.node.extent) if isinstance(frame.node, tir.For) else z3.IntVal(1)
            if set(names_of(extent)) <= names:
                yield extent

    def _begun(self, fact: "z3.BoolRef", first: "Sequence[tuple[z3.ExprRef, z3.ExprRef]]") -> "z3.BoolRef":
        for _ in range(DEEPEST):
            fact = z3.substitute(fact, *first) if first else fact
        names = set(map(str, self.sizes.values()))
        return fact if self.is_known(fact) and set(names_of(fact)) <= names else z3.BoolVal(True)

    def shows_written(self, buffer: tir.Buffer) -> Iterator[SizedObligation]:
        """The obligations that a parameter is written where it is read."""
        text = element_text(buffer)
        return (each for each in self.obligations if each.kind == "element" and each.text == text)

    def reads_of_caller(self, buffer: tir.Buffer) -> bool:
        """Whether a parameter may be read before it is written."""
        return self._coverage.is_input(buffer)


def _require_simple(func: tir.PrimFunc) -> None:
    """Require that nothing but loops on sizes, conditions on places and stores happens. Fails: Undecided."""
    has_threads = any(isinstance(node, tir.For) and node.thread is not None for node in walk(func.body))
    buffers = {node.buffer for node in walk(func.body) if isinstance(node, tir.BufferLoad | tir.BufferStore)}
    for buffer in (*buffers, *func.buffer_map.values()):
        if buffer.strides or buffer.elem_offset is not None or buffer.dtype.is_vector:
            raise Undecided(f"`{buffer.name}` has strides, an offset or lanes", buffer.span)
        if has_threads and buffer.scope != GLOBAL:
            raise Undecided(f"threads have a `{buffer.name}` of their own", buffer.span)
    for node in walk(func.body):
        if isinstance(node, tir.AssertStmt | tir.While) or (isinstance(node, tir.Call) and node.callee == "assume"):
            raise Undecided(f"a {type(node).__name__} is not known for two programs of all sizes", node.span)
