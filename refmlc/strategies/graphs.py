"""Graphs of Relax that are well-typed and run: bindings over calls of generated kernels.

| binding    | is                                                                                       |
|------------|------------------------------------------------------------------------------------------|
| `computed` | `call_tir` of a kernel: one output or several, numbers among the arguments               |
| `filled`   | `call_tir` without tensors, the symbols of the output being numbers after it             |
| `inplace`  | `call_tir_inplace` on a tensor that nothing else holds, and that nothing uses afterwards |
| `packed`   | a tuple of values                                                                        |
| `field`    | a field of a tuple                                                                       |
| `cast`     | `match_cast`: a tensor whose dimensions are symbols of their own from here on            |
| `shaped`   | `shape_of` a tensor, or a shape made of dimensions                                       |
| `number`   | a primitive value                                                                        |
| `constant` | a scalar                                                                                 |
| `chosen`   | `if` on a scalar bool, outside of dataflow blocks                                        |
| `called`   | a call of another function of the module, made for it                                    |
| `counted`  | a call of a function that calls itself until a counter ends it                           |
| `asserted` | an assertion that holds; the function is not pure then                                   |
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
from refmlc.strategies.scope import Ints, Kind, Scope, ScopeValue, Shapes, Tuples, dims_of, renamed, scalar, type_of

Functions: TypeAlias = "dict[str, tir.PrimFunc | relax.Function | relax.ExternFunc]"
Made: TypeAlias = "list[relax.Binding]"
DEPTH = 2  # of branches and of functions in each other
INSTANCES = 300  # of a kernel, about


class Graphs(Scope):
    """Makes the body of one function; kernels and other functions go to `functions`, which all graphs share."""

    def __init__(self, choices: Choices, functions: Functions, counter: list[int], depth: int = DEPTH) -> None:
        """Nothing is in scope; `depth` levels of branches and of other functions are left."""
        super().__init__(choices, counter)
        self.functions = functions
        self.depth = depth
        self.pure = True
        self.quiet = False  # whether it must stay pure

    # ------------------------------------------------------------------------------------------- sequences

    def blocks(self, most: int) -> tuple[relax.Block, ...]:
        """Up to `most` blocks of bindings; adjacent blocks without dataflow are merged."""
        found: list[relax.Block] = []

        def block() -> None:
            dataflow = self.choices.chance(60)
            bindings: Made = []
            self.choices.repeat(70, 4, lambda: bindings.extend(self.binding(dataflow=dataflow)))
            if dataflow:
                self.values = [one for one in self.values if not one.expr.dataflow]
            if bindings and not dataflow and found and isinstance(found[-1], relax.BindingBlock):
                found[-1] = relax.BindingBlock((*found[-1].bindings, *bindings))
            elif bindings:
                found.append((relax.DataflowBlock if dataflow else relax.BindingBlock)(tuple(bindings)))

        self.choices.repeat(80, most, block)
        return tuple(found)

    def binding(self, *, dataflow: bool) -> Made:
        """One binding with the bindings that it needs; none if it is not possible."""
        forms: list[Callable[[bool], Made]] = [self.again, self.field, self.cast, self.constant, self.field]
        forms += [self.computed] * 6 + [self.packed, self.shaped, self.number]
        forms += [self.filled, self.inplace, self.inplace]
        if self.depth > 0:
            forms += [self.chosen] * (0 if dataflow else 3) + [self.called, self.counted]
        if not dataflow:
            forms += [self.asserted]
        return self.choices.pick(forms)(dataflow)

    def bound(self, value: relax.Expr, kind: Kind, dataflow: bool, *, fresh: bool = False) -> relax.VarBinding:
        """A variable of this value, in scope from here on."""
        written: Type | None = type_of(kind) if self.choices.chance(20) else None
        if isinstance(kind, Ints):
            return self._bound_int(value, dataflow)
        var = relax.Var(self.name("lv"), written, dataflow and self.choices.chance(60))
        self.values.append(ScopeValue(var, kind, fresh))
        return relax.VarBinding(var, value)

    def _bound_int(self, value: relax.Expr, dataflow: bool) -> relax.VarBinding:
        """A primitive variable with a fresh symbol, which shapes may use."""
        name = self.name("p")
        own = tir.Var(name, INT64)
        var = relax.Var(name, PrimType(INT64, own), dataflow and self.choices.chance(60))
        assert isinstance(value, relax.PrimValue)  # noqa: S101 - what a number is made of
        self.values.append(ScopeValue(var, Ints()))
        return relax.VarBinding(var, value)

    # --------------------------------------------------------------------------------------------- kernels

    def kernel(self, func: tir.PrimFunc, stem: str = "k") -> tir.GlobalVar:
        """The kernel as a function of the module."""
        name = self.name(stem)
        self.functions[name] = func
        return tir.GlobalVar(name)

    def sources(self, out: Tensors) -> list[ScopeValue]:
        """Some tensors that a kernel of this output may read, such that it has not too many instances."""
        found = self.picked(self.tensors(), 2)
        while found:
            dims = {dim.name: dim.value for one in found for dim in dims_of(one.kind)}
            dims |= {dim.name: dim.value for dim in out.dims}
            if int(np.prod([max(value, 1) for value in dims.values()])) <= INSTANCES:
                break
            found.pop()
        return found

    def call(self, sources: list[ScopeValue], outs: list[Tensors]) -> relax.Call:
        """`call_tir` of a new kernel from these sources, and maybe from numbers."""
        kinds = [one.kind for one in sources if isinstance(one.kind, Tensors)]
        scalars = int(self.choices.chance(15))
        kernel = self.kernel(Kernels(self.choices).mapped(kinds, outs, scalars))
        numbers = tuple(relax.PrimValue(self.whole()) for _ in range(scalars))
        args = relax.Tuple((*(one.expr for one in sources), *numbers))
        types = [type_of(out) for out in outs]
        ty = types[0] if len(types) == 1 else TupleType(tuple(types))
        return relax.Call(relax.Op("call_tir"), (kernel, args), {}, (ty,))

    def whole(self) -> tir.Expr:
        """A whole number: a constant or a symbol."""
        if self.symbols and self.choices.chance(50):
            return self.choices.pick(self.symbols).expr
        return tir.IntImm(INT64, self.choices.pick((1, 0, 7, -3)))

    def computed(self, dataflow: bool) -> Made:
        """One tensor or a tuple of two, from tensors."""
        out = Tensors(self.choices.pick(DTYPES), self.dims())
        sources = self.sources(out)
        if not self.choices.chance(20):
            return [self.bound(self.call(sources, [out]), out, dataflow, fresh=True)]
        outs = [out, Tensors(self.choices.pick(DTYPES), out.dims)]
        return [self.bound(self.call(sources, outs), Tuples(tuple(outs)), dataflow)]

    def filled(self, dataflow: bool) -> Made:
        """A tensor from indices, the symbols of its shape being numbers that the kernel is given."""
        out = Tensors(self.choices.pick(DTYPES), self.dims())
        symbols = list({dim.name: dim for dim in out.dims if not dim.is_constant}.values())
        if not symbols:
            return []
        kernel = self.kernel(Kernels(self.choices).filled(out, len(symbols)), "fill")
        shape = relax.ShapeExpr(tuple(dim.expr for dim in symbols))
        call = relax.Call(relax.Op("call_tir"), (kernel, relax.Tuple(()), shape), {}, (type_of(out),))
        return [self.bound(call, out, dataflow, fresh=True)]

    def inplace(self, dataflow: bool) -> Made:
        """A fresh tensor, overwritten; it is out of scope afterwards."""
        found = self.tensors(fresh=True)
        if not found:
            return []
        first = self.choices.pick(found)
        names = {dim.name for dim in dims_of(first.kind)}
        others = [
            one for one in self.tensors() if one is not first and {dim.name for dim in dims_of(one.kind)} <= names
        ]
        sources = [first, *self.picked(others, 1)] if others else [first]
        kinds = [one.kind for one in sources if isinstance(one.kind, Tensors)]
        kernel = self.kernel(Kernels(self.choices).inplace(kinds), "inplace")
        args = (kernel, relax.Tuple(tuple(one.expr for one in sources)))
        call = relax.Call(relax.Op("call_tir_inplace"), args, {"inplace_indices": (0,)}, (type_of(first.kind),))
        self.values.remove(first)
        return [self.bound(call, first.kind, dataflow, fresh=True)]

    # ---------------------------------------------------------------------------------------------- values

    def held(self, one: ScopeValue) -> relax.Var:
        """A value that something else holds from here on."""
        one.fresh = False
        return one.expr

    def packed(self, dataflow: bool) -> Made:
        """A tuple of values, tuples among them."""
        found = self.picked([one for one in self.values if not isinstance(one.kind, Ints)], 3)
        if not found:
            return []
        fields = tuple(self.held(one) for one in found)
        return [self.bound(relax.Tuple(fields), Tuples(tuple(one.kind for one in found)), dataflow)]

    def field(self, dataflow: bool) -> Made:
        """A field of a tuple."""
        found = [one for one in self.values if isinstance(one.kind, Tuples)]
        if not found:
            return []
        one = self.choices.pick(found)
        assert isinstance(one.kind, Tuples)  # noqa: S101 - those that were found
        index = self.choices.below(len(one.kind.fields))
        return [self.bound(relax.TupleGetItem(one.expr, index), one.kind.fields[index], dataflow)]

    def again(self, dataflow: bool) -> Made:
        """A value by another name."""
        found = self.tensors()
        if not found:
            return []
        one = self.choices.pick(found)
        return [self.bound(self.held(one), one.kind, dataflow)]

    def cast(self, dataflow: bool) -> Made:
        """A tensor some of whose dimensions become fresh symbols."""
        found = [one for one in self.tensors() if dims_of(one.kind)]
        if not found:
            return []
        one = self.choices.pick(found)
        assert isinstance(one.kind, Tensors)  # noqa: S101 - those that were found
        new = tuple(dim if self.choices.chance(40) else self.symbol("m", dim.value) for dim in one.kind.dims)
        self.symbols += [dim for dim in new if dim not in one.kind.dims]
        kind = Tensors(one.kind.dtype, new)
        var = relax.Var(self.name("lv"), None, dataflow and self.choices.chance(60))
        self.values.append(ScopeValue(var, kind))
        return [relax.MatchCast(var, self.held(one), type_of(kind))]

    def shaped(self, dataflow: bool) -> Made:
        """A shape."""
        found = self.tensors()
        if found and self.choices.chance(50):
            one = self.choices.pick(found)
            return [self.bound(relax.Call(relax.Op("shape_of"), (one.expr,)), Shapes(dims_of(one.kind)), dataflow)]
        dims = self.dims()
        return [self.bound(relax.ShapeExpr(tuple(dim.expr for dim in dims)), Shapes(dims), dataflow)]

    def number(self, dataflow: bool) -> Made:
        """A primitive value."""
        value = self.whole()
        sum_ = tir.Apply("add", (value, tir.IntImm(INT64, 2)), INT64) if isinstance(value, tir.Var) else value
        return [self.bound(relax.PrimValue(sum_), Ints(), dataflow)]

    def constant(self, dataflow: bool) -> Made:
        """A scalar tensor."""
        dtype = self.choices.pick((FLOAT32, INT64, BOOL))
        value = self.choices.pick((1, 0, 5, -2)) if dtype != BOOL else self.choices.below(2)
        data = np.array(value, storage_dtype(dtype))
        return [self.bound(relax.Constant(data, dtype), scalar(dtype), dataflow)]

    # ----------------------------------------------------------------------------- branches and functions

    def chosen(self, dataflow: bool) -> Made:
        """One of two values of a type, by a scalar bool."""
        found = self.tensors()
        if not found:
            return []
        like = self.choices.pick(found)
        condition, bindings = self.condition(dataflow)
        branches = [self.branch(like) for _ in range(2)]
        self.held(like)
        value = relax.If(condition, branches[0], branches[1])
        return [*bindings, self.bound(value, like.kind, dataflow)]

    def condition(self, dataflow: bool) -> tuple[relax.Var, Made]:
        """A scalar bool, and what computes it where there is none."""
        found = [one for one in self.tensors() if one.kind == scalar(BOOL)]
        if found and self.choices.chance(50):
            return self.choices.pick(found).expr, []
        binding = self.bound(self.call(self.sources(scalar(BOOL)), [scalar(BOOL)]), scalar(BOOL), dataflow)
        return binding.var, [binding]

    def branch(self, like: ScopeValue) -> relax.SeqExpr:
        """A sequence whose value is of the kind of `like`: that itself, or another one."""
        values, symbols = self.values, list(self.symbols)
        self.values = [replace(one, fresh=False) for one in values]
        self.depth -= 1
        blocks = self.blocks(1)
        result = like.expr
        if self.choices.chance(70) and isinstance(like.kind, Tensors):
            last = self.bound(self.call(self.sources(like.kind), [like.kind]), like.kind, dataflow=False)
            result = last.var
            if blocks and isinstance(blocks[-1], relax.BindingBlock):
                blocks = (*blocks[:-1], relax.BindingBlock((*blocks[-1].bindings, last)))
            else:
                blocks = (*blocks, relax.BindingBlock((last,)))
        self.depth += 1
        self.values, self.symbols = values, symbols
        return relax.SeqExpr(blocks, result)

    def called(self, dataflow: bool) -> Made:
        """A call of a new function with fresh symbols."""
        args = self.picked([one for one in self.values if not isinstance(one.kind, Ints)], 2)
        if not args:
            return []
        inner = Graphs(self.choices, self.functions, self.counter, self.depth - 1)
        inner.quiet = self.quiet or dataflow
        table = inner.taking([one.kind for one in args])
        params = tuple(one.expr for one in inner.values)
        kinds = [one.kind for one in inner.values]
        blocks = inner.blocks(2)
        names = {dim.name for dim in table.values()}
        results = [one for one in reversed(inner.values) if _symbols(one.kind) <= names and one.kind != Ints()]
        result = self.choices.pick(results) if results else ScopeValue(params[0], kinds[0])
        name = self.name("sub")
        body = relax.SeqExpr(blocks, result.expr)
        self.functions[name] = relax.Function(
            params, body, type_of(result.kind), inner.pure, private=self.choices.chance(50)
        )
        self.pure = self.pure and inner.pure
        mine = {dim.name: dim for one in args for dim in dims_of(one.kind)}
        back = {new.name: mine[old] for old, new in table.items()}
        call = relax.Call(tir.GlobalVar(name), tuple(self.held(one) for one in args))
        return [self.bound(call, renamed(result.kind, back), dataflow)]

    def taking(self, kinds: Sequence[Kind]) -> dict[str, Dim]:
        """Parameters of these kinds, each symbolic dimension of the caller being a symbol; that table."""
        table: dict[str, Dim] = {}
        for kind in kinds:
            for dim in dims_of(kind):
                if not dim.is_constant and dim.name not in table:
                    table[dim.name] = self.symbol("d", dim.value)
                    self.symbols.append(table[dim.name])
            own = renamed(kind, table)
            self.values.append(ScopeValue(relax.Var(self.name("x"), type_of(own)), own))
        return table

    def counted(self, dataflow: bool) -> Made:
        """A call of a function that changes a tensor and calls itself, until a counter reaches its bound."""
        found = self.tensors()
        if not found:
            return []
        one = self.choices.pick(found)
        inner = Graphs(self.choices, self.functions, self.counter, 0)
        inner.quiet = True
        inner.taking([one.kind])
        name = self.name("loop")
        self.functions[name] = inner.recursion(name, 1 + self.choices.below(3))
        start = relax.Constant(np.array(0, np.int64), INT64)
        return [self.bound(relax.Call(tir.GlobalVar(name), (self.held(one), start)), one.kind, dataflow)]

    def recursion(self, name: str, bound: int) -> relax.Function:
        """The function `name` of the one value in scope and a counter."""
        (x,), i = self.values, relax.Var(self.name("i"), type_of(scalar(INT64)))
        assert isinstance(x.kind, Tensors)  # noqa: S101 - it is called with a tensor
        less = self.kernel(_counter("lt", bound, BOOL), "less")
        more = self.kernel(_counter("add", 1, INT64), "more")
        goes = relax.Var(self.name("goes"), None)
        test = relax.VarBinding(goes, _call_tir(less, i, scalar(BOOL)))
        step = self.bound(self.call([x], [x.kind]), x.kind, dataflow=False)
        after = relax.Var(self.name("i"), None)
        result, last = relax.Var(self.name("r"), None), relax.Var(self.name("r"), None)
        inner = (
            step,
            relax.VarBinding(after, _call_tir(more, i, scalar(INT64))),
            relax.VarBinding(last, relax.Call(tir.GlobalVar(name), (step.var, after))),
        )
        value = relax.If(goes, relax.SeqExpr((relax.BindingBlock(inner),), last), relax.SeqExpr((), x.expr))
        body = relax.SeqExpr((relax.BindingBlock((test, relax.VarBinding(result, value))),), result)
        return relax.Function((x.expr, i), body, type_of(x.kind))

    def asserted(self, _dataflow: bool) -> Made:
        """An assertion that holds, where effects may be."""
        if self.quiet:
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
