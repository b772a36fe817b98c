"""TensorIR functions that graphs call: defined for every extent and for every value of their inputs.

| kernel    | computes                                                                                               |
|-----------|--------------------------------------------------------------------------------------------------------|
| `map_kernel` | each element of each output from elements of the inputs; dimensions of inputs only are summed up    |
| `inplace_kernel` | its first input again, each element from that element and from the other inputs                 |
| `fill`    | its output from the indices alone; the extents are parameters                                          |

A dimension is a constant or a symbol. Symbols of the caller are symbols of the kernel, which calls bind by the shapes.
The indices of an input are the axes with its dimensions, so that it may be transposed or repeated.
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
        """True for a number."""
        return isinstance(self.expr, tir.IntImm)


def constant_dim(value: int) -> Dim:
    """The dimension of the constant `value`."""
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
        self.in_place: tir.Buffer | None = None
        self.input_dims: Sequence[tuple[Dim, ...]] = ()
        self.reduces = False
        self.palette = (FLOAT32,)

    # ----------------------------------------------------------------------------------------- declarations

    def size(self, dim: Dim) -> tir.Expr:
        """The dimension in the kernel: its constant, or the symbol of its name."""
        if dim.is_constant:
            return dim.expr
        if dim.name not in self.sizes:
            names = {symbol.name for symbol in self.sizes.values() if isinstance(symbol, tir.Var)}
            name = dim.expr.name if isinstance(dim.expr, tir.Var) else "k"
            while name in names:
                name += "_"
            self.sizes[dim.name] = tir.Var(name, INT64)
        return self.sizes[dim.name]

    def buffer(self, name: str, kind: Tensors) -> RangedBuffer:
        buffer = tir.Buffer(name, kind.dtype, tuple(self.size(dim) for dim in kind.dims))
        self.names[buffer] = tuple(dim.name for dim in kind.dims)
        return RangedBuffer(buffer, tuple(self.extent(dim) for dim in kind.dims), *limits(kind.dtype))

    def extent(self, dim: Dim) -> int:
        """The extent in the computation of ranges."""
        return dim.expr.value if isinstance(dim.expr, tir.IntImm) else MANY

    def add_buffer(self, name: str, kind: Tensors) -> RangedBuffer:
        buffer = self.buffer(name, kind)
        self.params.append((tir.Var(name.lower(), HANDLE), buffer.buffer))
        return buffer

    def inputs(self, kinds: Sequence[Tensors]) -> None:
        self.palette = tuple(kind.dtype for kind in kinds) or (FLOAT32,)
        self.readable += [self.add_buffer("ABCD"[place], kind) for place, kind in enumerate(kinds)]

    def scalars(self, count: int) -> None:
        """Add number parameters of any value."""
        for place in range(count):
            var = tir.Var(f"s{place}", INT64)
            self.params.append((var, None))
            self.numbers.append(RangedExpr(var, *limits(INT64)))

    # ---------------------------------------------------------------------------------------------- indices

    def indices(self, buffer: RangedBuffer, plain: Sequence[RangedExpr] | None = None) -> tuple[tir.Expr, ...]:
        """Axes with the dimensions of the buffer; for a buffer written in place, the axes of the element."""
        del plain
        if buffer.buffer is self.in_place:
            return tuple(var for _, var in self.axis_names[: len(buffer.shape)])
        indices: list[tir.Expr] = []
        for place, name in enumerate(self.names[buffer.buffer]):
            candidates = [var for axis_name, var in self.axis_names if axis_name == name]
            is_in_place = place < len(self.axis_names) and self.axis_names[place][0] == name
            indices.append(
                self.axis_names[place][1]
                if is_in_place and not self.choices.chance(30)
                else self.choices.pick(candidates)
            )
        return tuple(indices)

    def wrap(self, loops: Sequence[Loop], body: tir.Stmt) -> tir.Stmt:
        """Loops of spatial axes may be of other kinds; loops of sums are serial, to avoid races."""
        for loop in reversed(loops):
            kind = loop.kind
            if not self.reduces and self.choices.chance(12):
                constant = isinstance(loop.size, tir.IntImm) and loop.size.value > 0
                kinds = (ForKind.PARALLEL, ForKind.UNROLLED, ForKind.VECTORIZED) if constant else (ForKind.PARALLEL,)
                kind = self.choices.pick(kinds)
            body = tir.For(loop.var, loop.first, loop.size, kind, body)
        return body

    # ----------------------------------------------------------------------------------------------- stages

    def nest(self, target: RangedBuffer, dims: Sequence[Dim], further: Sequence[Dim], *, init: bool = True) -> tir.Stmt:
        """The loops that write all of `target` and sum over the dimensions `further`, from 0 if `init`."""
        kind, rank = target.buffer.dtype, len(dims)
        axes = [Axis(self.extent(dim), self.size(dim), SPATIAL) for dim in dims]
        axes += [Axis(self.extent(dim), self.size(dim), REDUCE) for dim in further]
        self.reduces = bool(further)
        names = [dim.name for dim in (*dims, *further)]

        def body() -> tir.Stmt:
            variables = [expr.expr for expr in self.numbers[len(self.numbers) - len(axes) :]]
            self.axis_names = list(zip(names, variables, strict=True))
            at = tuple(variables[:rank])
            if not further:
                return tir.BufferStore(target.buffer, self.value(kind, 1 + self.choices.chance(40)).expr, at)
            return tir.BufferStore(target.buffer, self._accumulate(kind, tir.BufferLoad(target.buffer, at)), at)

        def first() -> tir.Stmt:
            variables = [expr.expr for expr in self.numbers[len(self.numbers) - len(axes) :]]
            return tir.BufferStore(target.buffer, number(kind, 0), tuple(variables[:rank]))

        block = self.block("sum" if further else "map", axes, body, init=first if further and init else None)
        self.axis_names = []
        return block

    def _operator(self, kind: DType) -> str:
        return "bitwise_or" if kind.kind == "bool" else "add"

    def _accumulate(self, kind: DType, before: tir.Expr) -> tir.Expr:
        """The sum so far plus a term, which is small if a sum of wide integers could overflow."""
        term = self.value(kind, 1)
        if kind.is_integer and kind.kind != "bool" and kind.bits >= 32:
            term = self.small(term)
        return tir.Apply(self._operator(kind), (before, term.expr), kind)

    def output_stage(self, name: str, out: Tensors) -> tuple[RangedBuffer, list[tir.Stmt]]:
        """An output, and the statements that write it: further dimensions of the inputs are summed up."""
        target = self.add_buffer(name, out)
        own_dims = set(self.names[target.buffer])
        further: list[Dim] = []
        for dims in self.input_dims:
            further += [
                dim for dim in dims if dim.name not in own_dims and dim.name not in {other.name for other in further}
            ]
        if all(dim.is_constant for dim in further) and not (further and self.choices.chance(20)):
            return target, [self.nest(target, out.dims, further)]
        # A symbol may be 0: then there is no first instance, and no init.
        return target, [self.zeros(target), self.nest(target, out.dims, further, init=False)]

    def zeros(self, target: RangedBuffer) -> tir.Stmt:
        """Loops that set all of `target` to 0."""
        self.reduces = False
        zero = number(target.buffer.dtype, 0)
        return self.grid(target, lambda at: tir.BufferStore(target.buffer, zero, tuple(at)))

    # ---------------------------------------------------------------------------------------------- kernels

    def map_kernel(self, inputs: Sequence[Tensors], outs: Sequence[Tensors], scalars: int = 0) -> tir.PrimFunc:
        self.input_dims = [kind.dims for kind in inputs]
        self.inputs(inputs)
        self.scalars(scalars)
        statements: list[tir.Stmt] = []
        temporaries: list[tir.Buffer] = []
        if self.choices.chance(20) and not any(self._summed_dims(outs[0])):
            intermediate = self.buffer("P", Tensors(self.choices.pick((*self.palette, INT32)), outs[0].dims))
            temporaries.append(intermediate.buffer)
            statements.append(self.nest(intermediate, outs[0].dims, ()))
            self.readable.append(intermediate)
            self.input_dims = [*self.input_dims, outs[0].dims]
        for place, out in enumerate(outs):
            statements += self.output_stage("XYZ"[place], out)[1]
        return self.function(statements, temporaries)

    def _summed_dims(self, out: Tensors) -> list[str]:
        names = {dim.name for dim in out.dims}
        return [dim.name for dims in self.input_dims for dim in dims if dim.name not in names]

    def inplace_kernel(self, inputs: Sequence[Tensors]) -> tir.PrimFunc:
        """The other inputs have dimensions of the first only."""
        self.inputs(inputs)
        target = self.readable[0]
        self.in_place = target.buffer
        return self.function([self.nest(target, inputs[0].dims, ())], [])

    def fill(self, out: Tensors, numbers: int) -> tir.PrimFunc:
        target = self.add_buffer("X", out)
        self.scalars(numbers)
        return self.function([self.nest(target, out.dims, ())], [])

    def function(self, statements: Sequence[tir.Stmt], temporaries: Sequence[tir.Buffer]) -> tir.PrimFunc:
        """The function of these statements."""
        body = rows(statements)
        if temporaries:
            body = tir.SBlockRealize((), true(), tir.SBlock("root", (), (), (), body, None, tuple(temporaries)))
        buffers = {var: buffer for var, buffer in self.params if buffer is not None}
        return tir.PrimFunc(tuple(var for var, _ in self.params), buffers, body, private=self.choices.chance(50))
