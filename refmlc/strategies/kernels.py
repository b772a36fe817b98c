"""TensorIR functions that graphs call: defined for every extent and for every value of their inputs.

| kernel    | computes                                                                                               |
|-----------|--------------------------------------------------------------------------------------------------------|
| `mapped`  | each element of its output from elements of the inputs; dimensions that only inputs have are summed up |
| `paired`  | two outputs, each so                                                                                   |
| `inplace` | its first input anew, each element from that element and from the other inputs                         |
| `filled`  | its output from the indices alone, the extents being numbers that it is given                          |

A dimension is a constant or a symbol. Symbols of the caller are symbols of the kernel, which calls bind by the shapes;
an input is indexed by the axes that have its dimensions, so that it may be transposed or repeated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.lang.dtypes import FLOAT32, HANDLE, INT32, INT64, SCALARS, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.strategies.choices import Choices
from refmlc.strategies.mapped import rows
from refmlc.strategies.nests import Axis, Loop, Nests, true
from refmlc.strategies.ranges import RangedBuffer, RangedExpr, limits, number

DTYPES = (FLOAT32, INT32, *(SCALARS[name] for name in ("int64", "float16", "int8", "bool", "float64", "uint8")))
MANY = 1000  # the extent of a symbol in the computation of ranges
SPATIAL, REDUCE = IterKind.SPATIAL, IterKind.REDUCE


@dataclass(frozen=True)
class Dim:
    """A dimension: its expression in the caller, and its extent in the calls. Equal names: equal dimensions."""

    name: str
    expr: tir.Expr
    value: int

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return isinstance(self.expr, tir.IntImm)


def constant_dim(value: int) -> Dim:
    """The dimension that is a number."""
    return Dim(str(value), tir.IntImm(INT64, value), value)


@dataclass(frozen=True)
class Tensors:
    """A tensor's dtype and dimensions."""

    dtype: DType
    dims: tuple[Dim, ...]


class Kernels(Nests):
    """Makes one kernel."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.word = INT64
        self.regular = choices.chance(50)
        self.tags = []
        self.sizes: dict[str, tir.Expr] = {}
        self.names: dict[tir.Buffer, tuple[str, ...]] = {}
        self.axis_names: list[tuple[str, tir.Expr]] = []
        self.params: list[tuple[tir.Var, tir.Buffer | None]] = []
        self.own: tir.Buffer | None = None
        self.given: Sequence[tuple[Dim, ...]] = ()
        self.reduces = False
        self.palette = (FLOAT32,)

    # ----------------------------------------------------------------------------------------- declarations

    def size(self, dim: Dim) -> tir.Expr:
        """The dimension in the kernel: the number, or a symbol for each name."""
        if dim.is_constant:
            return dim.expr
        if dim.name not in self.sizes:
            taken = {one.name for one in self.sizes.values() if isinstance(one, tir.Var)}
            name = dim.expr.name if isinstance(dim.expr, tir.Var) else "k"
            while name in taken:
                name += "_"
            self.sizes[dim.name] = tir.Var(name, INT64)
        return self.sizes[dim.name]

    def buffer(self, name: str, kind: Tensors) -> RangedBuffer:
        """A buffer of the kernel."""
        buffer = tir.Buffer(name, kind.dtype, tuple(self.size(dim) for dim in kind.dims))
        self.names[buffer] = tuple(dim.name for dim in kind.dims)
        return RangedBuffer(buffer, tuple(self.extent(dim) for dim in kind.dims), *limits(kind.dtype))

    def extent(self, dim: Dim) -> int:
        """The extent in the computation of ranges."""
        return dim.expr.value if isinstance(dim.expr, tir.IntImm) else MANY

    def takes(self, name: str, kind: Tensors) -> RangedBuffer:
        """A parameter that is a buffer."""
        held = self.buffer(name, kind)
        self.params.append((tir.Var(name.lower(), HANDLE), held.buffer))
        return held

    def inputs(self, kinds: Sequence[Tensors]) -> None:
        """Parameters that are read."""
        self.palette = tuple(kind.dtype for kind in kinds) or (FLOAT32,)
        self.held += [self.takes("ABCD"[place], kind) for place, kind in enumerate(kinds)]

    def scalars(self, count: int) -> None:
        """Parameters that are numbers, which may be any."""
        for place in range(count):
            var = tir.Var(f"s{place}", INT64)
            self.params.append((var, None))
            self.numbers.append(RangedExpr(var, *limits(INT64)))

    # ---------------------------------------------------------------------------------------------- indices

    def indices(self, held: RangedBuffer, plain: Sequence[RangedExpr] | None = None) -> tuple[tir.Expr, ...]:
        """Axes that have the dimensions of the buffer; its own where the buffer is written in place."""
        del plain
        if held.buffer is self.own:
            return tuple(var for _, var in self.axis_names[: len(held.shape)])
        found: list[tir.Expr] = []
        for place, name in enumerate(self.names[held.buffer]):
            same = [var for one, var in self.axis_names if one == name]
            right = place < len(self.axis_names) and self.axis_names[place][0] == name
            found.append(
                self.axis_names[place][1] if right and not self.choices.chance(30) else self.choices.pick(same)
            )
        return tuple(found)

    def wrapped(self, loops: Sequence[Loop], body: tir.Stmt) -> tir.Stmt:
        """Loops of spatial axes may be of other kinds; those of sums are serial, as sums are races otherwise."""
        for loop in reversed(loops):
            kind = loop.kind
            if not self.reduces and self.choices.chance(12):
                constant = isinstance(loop.size, tir.IntImm) and loop.size.value > 0
                kinds = (ForKind.PARALLEL, ForKind.UNROLLED, ForKind.VECTORIZED) if constant else (ForKind.PARALLEL,)
                kind = self.choices.pick(kinds)
            body = tir.For(loop.var, loop.first, loop.size, kind, body)
        return body

    # ----------------------------------------------------------------------------------------------- stages

    def nest(self, held: RangedBuffer, dims: Sequence[Dim], further: Sequence[Dim], *, init: bool = True) -> tir.Stmt:
        """The loops that write all of `held`, dimensions in `further` being summed up, from nothing where `init`."""
        kind, rank = held.buffer.dtype, len(dims)
        axes = [Axis(self.extent(dim), self.size(dim), SPATIAL) for dim in dims]
        axes += [Axis(self.extent(dim), self.size(dim), REDUCE) for dim in further]
        self.reduces = bool(further)
        names = [dim.name for dim in (*dims, *further)]

        def body() -> tir.Stmt:
            variables = [one.expr for one in self.numbers[len(self.numbers) - len(axes) :]]
            self.axis_names = list(zip(names, variables, strict=True))
            at = tuple(variables[:rank])
            if not further:
                return tir.BufferStore(held.buffer, self.value(kind, 1 + self.choices.chance(40)).expr, at)
            return tir.BufferStore(held.buffer, self._folded(kind, tir.BufferLoad(held.buffer, at)), at)

        def first() -> tir.Stmt:
            variables = [one.expr for one in self.numbers[len(self.numbers) - len(axes) :]]
            return tir.BufferStore(held.buffer, number(kind, 0), tuple(variables[:rank]))

        found = self.block("sum" if further else "map", axes, body, init=first if further and init else None)
        self.axis_names = []
        return found

    def _operator(self, kind: DType) -> str:
        return "bitwise_or" if kind.kind == "bool" else "add"

    def _folded(self, kind: DType, before: tir.Expr) -> tir.Expr:
        """The sum so far and a term, which is small where sums of wide integers could overflow."""
        term = self.value(kind, 1)
        if kind.is_integer and kind.kind != "bool" and kind.bits >= 32:
            term = self.small(term)
        return tir.Apply(self._operator(kind), (before, term.expr), kind)

    def staged(self, name: str, out: Tensors) -> tuple[RangedBuffer, list[tir.Stmt]]:
        """An output, and what writes it: dimensions of the inputs that it has not are summed up."""
        held = self.takes(name, out)
        own = set(self.names[held.buffer])
        further: list[Dim] = []
        for dims in self.given:
            further += [dim for dim in dims if dim.name not in own and dim.name not in {one.name for one in further}]
        if all(dim.is_constant for dim in further) and not (further and self.choices.chance(20)):
            return held, [self.nest(held, out.dims, further)]
        # A symbol may be 0: then no instance would be the first one, and have the init.
        return held, [self.zeros(held), self.nest(held, out.dims, further, init=False)]

    def zeros(self, held: RangedBuffer) -> tir.Stmt:
        """Loops that make all of `held` 0."""
        self.reduces = False
        zero = number(held.buffer.dtype, 0)
        return self.grid(held, lambda at: tir.BufferStore(held.buffer, zero, tuple(at)))

    # ---------------------------------------------------------------------------------------------- kernels

    def mapped(self, inputs: Sequence[Tensors], outs: Sequence[Tensors], scalars: int = 0) -> tir.PrimFunc:
        """Outputs from inputs and numbers."""
        self.given = [kind.dims for kind in inputs]
        self.inputs(inputs)
        self.scalars(scalars)
        statements: list[tir.Stmt] = []
        allocated: list[tir.Buffer] = []
        if self.choices.chance(20) and not any(self._further(outs[0])):
            held = self.buffer("P", Tensors(self.choices.pick((*self.palette, INT32)), outs[0].dims))
            allocated.append(held.buffer)
            statements.append(self.nest(held, outs[0].dims, ()))
            self.held.append(held)
            self.given = [*self.given, outs[0].dims]
        for place, out in enumerate(outs):
            statements += self.staged("XYZ"[place], out)[1]
        return self.function(statements, allocated)

    def _further(self, out: Tensors) -> list[str]:
        names = {dim.name for dim in out.dims}
        return [dim.name for dims in self.given for dim in dims if dim.name not in names]

    def inplace(self, inputs: Sequence[Tensors]) -> tir.PrimFunc:
        """The first input anew; the others have no dimension that it has not."""
        self.inputs(inputs)
        held = self.held[0]
        self.own = held.buffer
        return self.function([self.nest(held, inputs[0].dims, ())], [])

    def filled(self, out: Tensors, numbers: int) -> tir.PrimFunc:
        """The output from nothing but numbers, which are parameters after it."""
        held = self.takes("X", out)
        self.scalars(numbers)
        return self.function([self.nest(held, out.dims, ())], [])

    def function(self, statements: Sequence[tir.Stmt], allocated: Sequence[tir.Buffer]) -> tir.PrimFunc:
        """The function of these statements."""
        body = rows(statements)
        if allocated:
            body = tir.SBlockRealize((), true(), tir.SBlock("root", (), (), (), body, None, tuple(allocated)))
        buffers = {var: buffer for var, buffer in self.params if buffer is not None}
        return tir.PrimFunc(tuple(var for var, _ in self.params), buffers, body, private=self.choices.chance(50))
