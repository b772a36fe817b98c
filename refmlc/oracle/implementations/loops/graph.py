"""Functions of Relax, walked: each expression is what Python would have in its place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

import numpy as np

from refmlc.diag.catalogue import PACKED_RESULT
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import PrimType, TupleType
from refmlc.lang.library import OPERATORS as LIBRARY
from refmlc.oracle.implementations.loops.function import Functions
from refmlc.oracle.implementations.loops.graph_calls import OPERATORS, Closure, Library, call_library, condition
from refmlc.oracle.implementations.loops.memory import Array, Meaningless, Meter, Pointer, Trapped
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.loops.type_match import Dims, Match, bound, dim, extents
from refmlc.run.memory.values import Shape


@dataclass
class Frame:
    """What variables and dimensions are in one call."""

    values: dict[relax.Var, object] = field(default_factory=dict)
    dims: Dims = field(default_factory=dict)

    def inner(self) -> "Frame":
        """A copy to continue independently."""
        return replace(self, values=dict(self.values), dims=dict(self.dims))


class Graph:
    """A module. `meter`: the remaining limits of the current call."""

    def __init__(self, module: IRModule) -> None:
        self.meter = Meter(0, 0)
        self.functions: Mapping[str, tir.PrimFunc | relax.Function | relax.ExternFunc] = module.functions
        prim = {name: func for name, func in module.functions.items() if isinstance(func, tir.PrimFunc)}
        self._loops = Functions(prim)
        self._library = Library()
        self._constants: dict[relax.Constant, Array] = {}

    def call(self, name: str, args: Sequence[object]) -> object:
        """Function `name` of the module. Fails: `NotTaken`, `Meaningless`, `Trapped`, `Spent`."""
        match self.functions.get(name):
            case tir.PrimFunc() as func:
                if len(args) != len(func.params):  # a function of the C interface takes all of them as one
                    raise NotTaken(f"{len(args)} arguments for {len(func.params)} parameters")
                return self._loops.get(name)(self.meter, *args)
            case relax.Function() as func:
                return self._enter(func, args, Frame())
            case _:
                raise NotTaken(f"function `{name}`, which has no body here")

    def operator(self, name: str, call: relax.Call, args: Sequence[object]) -> object:
        """An operator of the library on values."""
        return call_library(self._library, name, call, args, self.meter)

    def eval(self, node: relax.Expr, frame: Frame) -> object:
        """The value of an expression."""
        match node:
            case relax.Var():
                return frame.values[node]
            case tir.GlobalVar(name=name):
                return Closure(lambda args: self.call(name, args))
            case relax.Constant(data=data, dtype=kind):
                return self._constant(node, data, kind)
            case relax.PrimValue(value=value):
                return dim(value, frame.dims)
            case relax.StringImm(value=text):
                return text
            case relax.DataTypeImm(value=kind):
                return kind
            case relax.ShapeExpr(values=values):
                return Shape(extents(values, frame.dims))
            case relax.Tuple(fields=fields):
                return tuple(self.eval(item, frame) for item in fields)
            case relax.TupleGetItem(tuple_value=expr_of_tuple, index=index):
                tuple_value = self.eval(expr_of_tuple, frame)
                if isinstance(tuple_value, Shape) or not isinstance(tuple_value, tuple) or index >= len(tuple_value):
                    raise Meaningless(f"field {index} of a value of type {type(tuple_value).__name__}")
                return tuple_value[index]
            case relax.Call():
                return self._call(node, frame)
            case relax.If(condition=test, true_branch=yes, false_branch=no):
                return self.eval(yes if condition(self.eval(test, frame)) else no, frame)
            case relax.SeqExpr():
                return self._sequence(node, frame)
            case relax.Function():
                return self._closure(node, frame)
            case relax.MetadataRef() | relax.ExternFunc() | relax.Op():
                raise NotTaken(f"a value of kind {type(node).__name__}")
            case _:
                assert_never(node)

    def _constant(self, node: relax.Constant, data: np.ndarray, kind: DType) -> Array:
        if node not in self._constants:
            raw = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8).copy()
            shape = data.shape[:-1] if kind.is_vector else data.shape
            self._constants[node] = Array(Pointer(raw), kind, shape)
        return self._constants[node]

    def _call(self, node: relax.Call, frame: Frame) -> object:
        match node.op:
            case tir.GlobalVar(name=name):
                return self.call(name, [self.eval(arg, frame) for arg in node.args])
            case relax.Op(name=name) if name in OPERATORS:
                return OPERATORS[name](self, node, frame)
            case relax.Op(name=name) if name in LIBRARY:
                return self.operator(name, node, [self.eval(arg, frame) for arg in node.args])
            case relax.Op(name=name):
                raise NotTaken(f"operator `{name}`")
            case relax.ExternFunc(symbol=symbol):
                return self.by_name(symbol, node, node.args, frame)
            case callee:
                closure = self.eval(callee, frame)
                if not isinstance(closure, Closure):
                    raise Meaningless(f"a value of type {type(closure).__name__} is called")
                return closure.call([self.eval(arg, frame) for arg in node.args])

    def by_name(self, symbol: str, node: relax.Call, args: Sequence[relax.Expr], frame: Frame) -> object:
        """A function by name. Fails: `NotTaken`, `Trapped` (its result is of another type)."""
        name = self.linked(symbol)
        result = self.call(name, [self.eval(arg, frame) for arg in args])
        declared = node.ty_args[0] if len(node.ty_args) == 1 else TupleType(node.ty_args)
        if isinstance(declared, TupleType) and not declared.fields:
            return result
        try:
            bound(result, declared, dict(frame.dims))
        except Meaningless as problem:
            raise Trapped(f"`{symbol}` gives {problem}", PACKED_RESULT) from None
        return result

    def linked(self, symbol: str) -> str:
        """The function of the module that has this name, or is linked by it. Fails: `NotTaken`."""
        if symbol in self.functions:
            return symbol
        for name, func in self.functions.items():
            if not isinstance(func, relax.ExternFunc) and func.attrs.get("global_symbol") == symbol:
                return name
        raise NotTaken(f"the packed function `{symbol}`")

    def _sequence(self, node: relax.SeqExpr, frame: Frame) -> object:
        for block in node.blocks:
            for binding in block.bindings:
                self._bind(binding, frame)
        return self.eval(node.body, frame)

    def _bind(self, binding: relax.Binding, frame: Frame) -> None:
        self.meter.tick()
        match binding:
            case relax.VarBinding(var=var, value=relax.Function() as local):
                value: object = self._closure(local, frame, var)
            case relax.VarBinding(var=var, value=node) | relax.MatchCast(var=var, value=node):
                value = self.eval(node, frame)
        if isinstance(binding, relax.MatchCast):
            bound(value, binding.ty, frame.dims)
        elif isinstance(binding.var.ty, PrimType):
            bound(value, binding.var.ty, frame.dims)
        frame.values[binding.var] = value

    def _closure(self, func: relax.Function, frame: Frame, var: relax.Var | None = None) -> Closure:
        inner = frame.inner()
        closure = Closure(lambda args: self._enter(func, args, inner.inner()))
        if var is not None:
            inner.values[var] = closure
        return closure

    def _enter(self, func: relax.Function, args: Sequence[object], frame: Frame) -> object:
        self.meter.tick()
        if len(args) != len(func.params):
            raise Meaningless(f"{len(args)} arguments for {len(func.params)} parameters")
        match = Match(frame.dims)
        for param, arg in zip(func.params, args, strict=True):
            match.add(arg, param.ty)
            frame.values[param] = arg
        match.close()
        return self.eval(func.body, frame)
