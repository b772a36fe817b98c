"""Graphs of Relax that are well-typed and run: bindings over calls of generated kernels.

| binding    | is                                                                                       |
|------------|------------------------------------------------------------------------------------------|
| `compute`  | `call_tir` of a kernel: one output or two, numbers among the arguments                   |
| `fill`     | `call_tir` without tensors; the symbols of the output are numbers after it               |
| `inplace`  | `call_tir_inplace` on a tensor that no other value shares; it is out of scope afterwards |
| `pack`     | a tuple of values, tuples among them                                                     |
| `field`    | a field of a tuple                                                                       |
| `alias`    | a value by another name                                                                  |
| `cast`     | `match_cast`: a tensor some of whose dimensions become fresh symbols                     |
| `shape_value` | `shape_of` a tensor, or a shape of dimensions                                         |
| `number`   | a primitive value                                                                        |
| `constant` | a scalar                                                                                 |
| `conditional` | `if` on a scalar bool, outside of dataflow blocks                                     |
| `function_call` | a call of a new function of the module, with fresh symbols                          |
| `recursive_call` | a call of a new function that calls itself until a counter reaches its bound       |
| `assertion` | an assertion that holds; the function is not pure then                                  |
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from refmlc.lang.dtypes import BOOL, FLOAT32, HANDLE, INT64, DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType, TupleType, Type
from refmlc.strategies.choices import Choices
from refmlc.strategies.kernels import DTYPES, Dim, Kernels, Tensors
from refmlc.strategies.scope import Ints, Kind, Scope, ScopeValue, Shapes, Tuples, dims_of, rename_dims, scalar, type_of

Functions: TypeAlias = "dict[str, tir.PrimFunc | relax.Function | relax.ExternFunc]"
Bindings: TypeAlias = "list[relax.Binding]"
DEPTH = 2  # of branches and of functions in each other
INSTANCES = 300  # of a kernel, about


class Graphs(Scope):
    """Makes the body of one function; kernels and other functions go to `functions`, which all graphs share."""

    def __init__(self, choices: Choices, functions: Functions, counter: list[int], depth: int = DEPTH) -> None:
        """An empty scope; `depth`: how many further branches and functions may nest."""
        super().__init__(choices, counter)
        self.functions = functions
        self.depth = depth
        self.pure = True
        self.must_be_pure = False

    # ------------------------------------------------------------------------------------------- sequences

    def blocks(self, most: int) -> tuple[relax.Block, ...]:
        """Up to `most` blocks of bindings; adjacent blocks without dataflow are merged."""
        merged: list[relax.Block] = []

        def block() -> None:
            dataflow = self.choices.chance(60)
            bindings: Bindings = []
            self.choices.repeat(70, 4, lambda: bindings.extend(self.binding(dataflow=dataflow)))
            if dataflow:
                self.values = [value for value in self.values if not value.expr.dataflow]
            if bindings and not dataflow and merged and isinstance(merged[-1], relax.BindingBlock):
                merged[-1] = relax.BindingBlock((*merged[-1].bindings, *bindings))
            elif bindings:
                merged.append((relax.DataflowBlock if dataflow else relax.BindingBlock)(tuple(bindings)))

        self.choices.repeat(80, most, block)
        return tuple(merged)

    def binding(self, *, dataflow: bool) -> Bindings:
        """A binding of the table, with the bindings that it needs; none if the drawn one is not possible."""
        forms: list[Callable[[bool], Bindings]] = [self.alias, self.field, self.cast, self.constant, self.field]
        forms += [self.compute] * 6 + [self.pack, self.shape_value, self.number]
        forms += [self.fill, self.inplace, self.inplace]
        if self.depth > 0:
            forms += [self.conditional] * (0 if dataflow else 3) + [self.function_call, self.recursive_call]
        if not dataflow:
            forms += [self.assertion]
        return self.choices.pick(forms)(dataflow)

    def bind(self, value: relax.Expr, kind: Kind, dataflow: bool, *, fresh: bool = False) -> relax.VarBinding:
        """Bind a new variable, which is in scope afterwards."""
        written: Type | None = type_of(kind) if self.choices.chance(20) else None
        if isinstance(kind, Ints):
            return self._bind_int(value, dataflow)
        var = relax.Var(self.name("lv"), written, dataflow and self.choices.chance(60))
        self.values.append(ScopeValue(var, kind, fresh))
        return relax.VarBinding(var, value)

    def _bind_int(self, value: relax.Expr, dataflow: bool) -> relax.VarBinding:
        """Bind a primitive variable with a fresh symbol, which shapes may use."""
        name = self.name("p")
        symbol = tir.Var(name, INT64)
        var = relax.Var(name, PrimType(INT64, symbol), dataflow and self.choices.chance(60))
        assert isinstance(value, relax.PrimValue)  # noqa: S101 - the kind is `Ints`
        self.values.append(ScopeValue(var, Ints()))
        return relax.VarBinding(var, value)

    # --------------------------------------------------------------------------------------------- kernels

    def kernel(self, func: tir.PrimFunc, stem: str = "k") -> tir.GlobalVar:
        """Add a kernel to the module."""
        name = self.name(stem)
        self.functions[name] = func
        return tir.GlobalVar(name)

    def sources(self, out: Tensors) -> list[ScopeValue]:
        """Up to two tensors for a kernel of this output, such that it has about `INSTANCES` instances at most."""
        sources = self.pick_values(self.tensors(), 2)
        while sources:
            dims = {dim.name: dim.value for source in sources for dim in dims_of(source.kind)}
            dims |= {dim.name: dim.value for dim in out.dims}
            if int(np.prod([max(value, 1) for value in dims.values()])) <= INSTANCES:
                break
            sources.pop()
        return sources

    def call(self, sources: list[ScopeValue], outs: list[Tensors]) -> relax.Call:
        """`call_tir` of a new kernel from these sources, and maybe from numbers."""
        kinds = [source.kind for source in sources if isinstance(source.kind, Tensors)]
        scalars = int(self.choices.chance(15))
        kernel = self.kernel(Kernels(self.choices).map_kernel(kinds, outs, scalars))
        numbers = tuple(relax.PrimValue(self.whole()) for _ in range(scalars))
        args = relax.Tuple((*(source.expr for source in sources), *numbers))
        types = [type_of(out) for out in outs]
        ty = types[0] if len(types) == 1 else TupleType(tuple(types))
        return relax.Call(relax.Op("call_tir"), (kernel, args), {}, (ty,))

    def whole(self) -> tir.Expr:
        """A whole number: a constant or a symbol."""
        if self.symbols and self.choices.chance(50):
            return self.choices.pick(self.symbols).expr
        return tir.IntImm(INT64, self.choices.pick((1, 0, 7, -3)))

    def compute(self, dataflow: bool) -> Bindings:
        out = Tensors(self.choices.pick(DTYPES), self.dims())
        sources = self.sources(out)
        if not self.choices.chance(20):
            return [self.bind(self.call(sources, [out]), out, dataflow, fresh=True)]
        outs = [out, Tensors(self.choices.pick(DTYPES), out.dims)]
        return [self.bind(self.call(sources, outs), Tuples(tuple(outs)), dataflow)]

    def fill(self, dataflow: bool) -> Bindings:
        out = Tensors(self.choices.pick(DTYPES), self.dims())
        symbols = list({dim.name: dim for dim in out.dims if not dim.is_constant}.values())
        if not symbols:
            return []
        kernel = self.kernel(Kernels(self.choices).fill(out, len(symbols)), "fill")
        shape = relax.ShapeExpr(tuple(dim.expr for dim in symbols))
        call = relax.Call(relax.Op("call_tir"), (kernel, relax.Tuple(()), shape), {}, (type_of(out),))
        return [self.bind(call, out, dataflow, fresh=True)]

    def inplace(self, dataflow: bool) -> Bindings:
        fresh = self.tensors(fresh=True)
        if not fresh:
            return []
        target = self.choices.pick(fresh)
        names = {dim.name for dim in dims_of(target.kind)}
        others = [
            tensor
            for tensor in self.tensors()
            if tensor is not target and {dim.name for dim in dims_of(tensor.kind)} <= names
        ]
        sources = [target, *self.pick_values(others, 1)] if others else [target]
        kinds = [tensor.kind for tensor in sources if isinstance(tensor.kind, Tensors)]
        kernel = self.kernel(Kernels(self.choices).inplace_kernel(kinds), "inplace")
        args = (kernel, relax.Tuple(tuple(tensor.expr for tensor in sources)))
        call = relax.Call(relax.Op("call_tir_inplace"), args, {"inplace_indices": (0,)}, (type_of(target.kind),))
        self.values.remove(target)
        return [self.bind(call, target.kind, dataflow, fresh=True)]

    # ---------------------------------------------------------------------------------------------- values

    def share(self, value: ScopeValue) -> relax.Var:
        """The variable of a value that another value shares from here on."""
        value.fresh = False
        return value.expr

    def pack(self, dataflow: bool) -> Bindings:
        values = self.pick_values([value for value in self.values if not isinstance(value.kind, Ints)], 3)
        if not values:
            return []
        fields = tuple(self.share(value) for value in values)
        return [self.bind(relax.Tuple(fields), Tuples(tuple(value.kind for value in values)), dataflow)]

    def field(self, dataflow: bool) -> Bindings:
        tuples = [value for value in self.values if isinstance(value.kind, Tuples)]
        if not tuples:
            return []
        value = self.choices.pick(tuples)
        assert isinstance(value.kind, Tuples)  # noqa: S101 - see `tuples`
        index = self.choices.below(len(value.kind.fields))
        return [self.bind(relax.TupleGetItem(value.expr, index), value.kind.fields[index], dataflow)]

    def alias(self, dataflow: bool) -> Bindings:
        tensors = self.tensors()
        if not tensors:
            return []
        value = self.choices.pick(tensors)
        return [self.bind(self.share(value), value.kind, dataflow)]

    def cast(self, dataflow: bool) -> Bindings:
        tensors = [value for value in self.tensors() if dims_of(value.kind)]
        if not tensors:
            return []
        value = self.choices.pick(tensors)
        assert isinstance(value.kind, Tensors)  # noqa: S101 - see `tensors`
        dims = tuple(dim if self.choices.chance(40) else self.symbol("m", dim.value) for dim in value.kind.dims)
        self.symbols += [dim for dim in dims if dim not in value.kind.dims]
        kind = Tensors(value.kind.dtype, dims)
        var = relax.Var(self.name("lv"), None, dataflow and self.choices.chance(60))
        self.values.append(ScopeValue(var, kind))
        return [relax.MatchCast(var, self.share(value), type_of(kind))]

    def shape_value(self, dataflow: bool) -> Bindings:
        tensors = self.tensors()
        if tensors and self.choices.chance(50):
            value = self.choices.pick(tensors)
            return [self.bind(relax.Call(relax.Op("shape_of"), (value.expr,)), Shapes(dims_of(value.kind)), dataflow)]
        dims = self.dims()
        return [self.bind(relax.ShapeExpr(tuple(dim.expr for dim in dims)), Shapes(dims), dataflow)]

    def number(self, dataflow: bool) -> Bindings:
        value = self.whole()
        sum_ = tir.Apply("add", (value, tir.IntImm(INT64, 2)), INT64) if isinstance(value, tir.Var) else value
        return [self.bind(relax.PrimValue(sum_), Ints(), dataflow)]

    def constant(self, dataflow: bool) -> Bindings:
        dtype = self.choices.pick((FLOAT32, INT64, BOOL))
        value = self.choices.pick((1, 0, 5, -2)) if dtype != BOOL else self.choices.below(2)
        data = np.array(value, storage_dtype(dtype))
        return [self.bind(relax.Constant(data, dtype), scalar(dtype), dataflow)]

    # ----------------------------------------------------------------------------- branches and functions

    def conditional(self, dataflow: bool) -> Bindings:
        tensors = self.tensors()
        if not tensors:
            return []
        like = self.choices.pick(tensors)
        condition, bindings = self.condition(dataflow)
        branches = [self.branch(like) for _ in range(2)]
        self.share(like)
        value = relax.If(condition, branches[0], branches[1])
        return [*bindings, self.bind(value, like.kind, dataflow)]

    def condition(self, dataflow: bool) -> tuple[relax.Var, Bindings]:
        """A scalar bool, and the binding that computes it if it is new."""
        conditions = [value for value in self.tensors() if value.kind == scalar(BOOL)]
        if conditions and self.choices.chance(50):
            return self.choices.pick(conditions).expr, []
        binding = self.bind(self.call(self.sources(scalar(BOOL)), [scalar(BOOL)]), scalar(BOOL), dataflow)
        return binding.var, [binding]

    def branch(self, like: ScopeValue) -> relax.SeqExpr:
        """A sequence with a value of the kind of `like`: `like` itself, or another value."""
        values, symbols = self.values, list(self.symbols)
        self.values = [replace(value, fresh=False) for value in values]
        self.depth -= 1
        blocks = self.blocks(1)
        result = like.expr
        if self.choices.chance(70) and isinstance(like.kind, Tensors):
            last = self.bind(self.call(self.sources(like.kind), [like.kind]), like.kind, dataflow=False)
            result = last.var
            if blocks and isinstance(blocks[-1], relax.BindingBlock):
                blocks = (*blocks[:-1], relax.BindingBlock((*blocks[-1].bindings, last)))
            else:
                blocks = (*blocks, relax.BindingBlock((last,)))
        self.depth += 1
        self.values, self.symbols = values, symbols
        return relax.SeqExpr(blocks, result)

    def function_call(self, dataflow: bool) -> Bindings:
        args = self.pick_values([value for value in self.values if not isinstance(value.kind, Ints)], 2)
        if not args:
            return []
        inner = Graphs(self.choices, self.functions, self.counter, self.depth - 1)
        inner.must_be_pure = self.must_be_pure or dataflow
        table = inner.add_parameters([value.kind for value in args])
        params = tuple(value.expr for value in inner.values)
        kinds = [value.kind for value in inner.values]
        blocks = inner.blocks(2)
        names = {dim.name for dim in table.values()}
        results = [value for value in reversed(inner.values) if _symbols(value.kind) <= names and value.kind != Ints()]
        result = self.choices.pick(results) if results else ScopeValue(params[0], kinds[0])
        name = self.name("sub")
        body = relax.SeqExpr(blocks, result.expr)
        self.functions[name] = relax.Function(
            params, body, type_of(result.kind), inner.pure, private=self.choices.chance(50)
        )
        self.pure = self.pure and inner.pure
        caller_dims = {dim.name: dim for value in args for dim in dims_of(value.kind)}
        back = {new.name: caller_dims[old] for old, new in table.items()}
        call = relax.Call(tir.GlobalVar(name), tuple(self.share(value) for value in args))
        return [self.bind(call, rename_dims(result.kind, back), dataflow)]

    def add_parameters(self, kinds: Sequence[Kind]) -> dict[str, Dim]:
        """Add parameters of these kinds; the fresh symbol of each symbolic dimension of the caller."""
        table: dict[str, Dim] = {}
        for kind in kinds:
            for dim in dims_of(kind):
                if not dim.is_constant and dim.name not in table:
                    table[dim.name] = self.symbol("d", dim.value)
                    self.symbols.append(table[dim.name])
            inner_kind = rename_dims(kind, table)
            self.values.append(ScopeValue(relax.Var(self.name("x"), type_of(inner_kind)), inner_kind))
        return table

    def recursive_call(self, dataflow: bool) -> Bindings:
        tensors = self.tensors()
        if not tensors:
            return []
        value = self.choices.pick(tensors)
        inner = Graphs(self.choices, self.functions, self.counter, 0)
        inner.must_be_pure = True
        inner.add_parameters([value.kind])
        name = self.name("loop")
        self.functions[name] = inner.recursion(name, 1 + self.choices.below(3))
        start = relax.Constant(np.array(0, np.int64), INT64)
        return [self.bind(relax.Call(tir.GlobalVar(name), (self.share(value), start)), value.kind, dataflow)]

    def recursion(self, name: str, bound: int) -> relax.Function:
        """The function `name`, whose parameters are the value in scope and a counter."""
        (x,), i = self.values, relax.Var(self.name("i"), type_of(scalar(INT64)))
        assert isinstance(x.kind, Tensors)  # noqa: S101 - it is called with a tensor
        less_kernel = self.kernel(_counter("lt", bound, BOOL), "less")
        add_kernel = self.kernel(_counter("add", 1, INT64), "more")
        continues = relax.Var(self.name("goes"), None)
        test = relax.VarBinding(continues, _call_tir(less_kernel, i, scalar(BOOL)))
        step = self.bind(self.call([x], [x.kind]), x.kind, dataflow=False)
        next_i = relax.Var(self.name("i"), None)
        result, last = relax.Var(self.name("r"), None), relax.Var(self.name("r"), None)
        inner = (
            step,
            relax.VarBinding(next_i, _call_tir(add_kernel, i, scalar(INT64))),
            relax.VarBinding(last, relax.Call(tir.GlobalVar(name), (step.var, next_i))),
        )
        value = relax.If(continues, relax.SeqExpr((relax.BindingBlock(inner),), last), relax.SeqExpr((), x.expr))
        body = relax.SeqExpr((relax.BindingBlock((test, relax.VarBinding(result, value))),), result)
        return relax.Function((x.expr, i), body, type_of(x.kind))

    def assertion(self, _dataflow: bool) -> Bindings:
        if self.must_be_pure:
            return []
        self.pure = False
        condition = relax.Constant(np.array(1, bool), BOOL)
        call = relax.Call(relax.Op("assert_op"), (condition, relax.StringImm("it holds")))
        return [relax.VarBinding(relax.Var(self.name("_"), None), call)]


def _symbols(kind: Kind) -> set[str]:
    """The names of the dimensions that are not constants."""
    return {dim.name for dim in dims_of(kind) if not dim.is_constant}


def _call_tir(kernel: tir.GlobalVar, arg: relax.Var, out: Tensors) -> relax.Call:
    return relax.Call(relax.Op("call_tir"), (kernel, relax.Tuple((arg,))), {}, (type_of(out),))


def _counter(op: str, value: int, dtype: DType) -> tir.PrimFunc:
    """A kernel that applies an operator to a counter and a constant."""
    source, target = tir.Buffer("A", INT64, ()), tir.Buffer("X", dtype, ())
    a, x = tir.Var("a", HANDLE), tir.Var("x", HANDLE)
    result = tir.Apply(op, (tir.BufferLoad(source, ()), tir.IntImm(INT64, value)), dtype)
    block = tir.SBlock("count", (), None, None, tir.BufferStore(target, result, ()))
    body = tir.SBlockRealize((), tir.IntImm(BOOL, 1), block)
    return tir.PrimFunc((a, x), {a: source, x: target}, body, private=True)
