"""Dtypes replaced by simpler ones wherever they occur, in the module and in the arguments; vectors made scalar.

| dtype                | becomes                        |
|----------------------|--------------------------------|
| floats but float32   | float32                        |
| integers but int32   | int32                          |
| bool, sizes of Relax | stay                           |
| a vector             | its first lane                 |
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from refmlc.lang.dtypes import FLOAT32, INT32, INT64, DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax, tir, types
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, walk
from refmlc.oracle.reduce.passes.expressions import number
from refmlc.oracle.reduce.subject import Edit, Function, Subject
from refmlc.strategies.arguments import Argument, Array, Number, TupleOf


def simpler_dtypes(subject: Subject) -> Iterator[Edit]:
    """One dtype is another one everywhere."""
    dtypes = dict.fromkeys(
        dtype.scalar for node in walk(subject.module) if isinstance(dtype := getattr(node, "dtype", None), DType)
    )
    simplest = {dtype: FLOAT32 if dtype.is_float else INT32 for dtype in dtypes if dtype.is_float or dtype.is_integer}
    table = {old: new for old, new in simplest.items() if old != new}
    if len(table) > 1:
        yield partial(_converted, subject, table)
    for old, new in table.items():
        yield partial(_converted, subject, {old: new})
    if any(
        dtype.is_vector for node in walk(subject.module) if isinstance(dtype := getattr(node, "dtype", None), DType)
    ):
        yield partial(_one_lane, subject)


def _converted(subject: Subject, table: Mapping[DType, DType]) -> Subject:
    def new(dtype: DType) -> DType:
        other = table.get(dtype.scalar)
        if other is None:
            return dtype
        return other.with_lanes(dtype.lanes, scalable=dtype.scalable) if dtype.is_vector else other

    def in_graph(dtype: DType) -> DType:
        return dtype if dtype == INT64 else new(dtype)

    functions: dict[str, Function] = {}
    for name, function in subject.module.functions.items():
        change = in_graph if isinstance(function, relax.Function) else new
        functions[name] = rewrite(function, partial(_with_dtype, new=change))
    calls = tuple(tuple(_argument(argument, new) for argument in call) for call in subject.calls)
    return replace(subject, module=replace(subject.module, functions=functions), calls=calls)


def _with_dtype(node: Node, new: Callable[[DType], DType]) -> Node:
    """The node with the dtype that it holds (not one that follows from its parts) replaced."""
    match node:
        case tir.IntImm(dtype, value) | tir.FloatImm(dtype, value):
            return node if new(dtype) == dtype else number(new(dtype), value)
        case relax.Constant(data, dtype):
            return node if new(dtype) == dtype else relax.Constant(_cast(data, new(dtype)), new(dtype))
        case tir.PrimFunc(ret_dtype=DType() as dtype):
            return node if new(dtype) == dtype else replace(node, ret_dtype=new(dtype))
        case types.TensorType(_, DType() as dtype):
            return node if new(dtype) == dtype else replace(node, dtype=new(dtype))
        case (
            tir.Var()
            | tir.Apply()
            | tir.Cast()
            | tir.Ramp()
            | tir.Broadcast()
            | tir.Shuffle()
            | tir.Call()
            | tir.Buffer()
        ):
            return node if new(node.dtype) == node.dtype else replace(node, dtype=new(node.dtype))
        case types.PrimType(dtype):
            return node if new(dtype) == dtype else replace(node, dtype=new(dtype))
        case _:
            return node


def _cast(data: np.ndarray, dtype: DType) -> np.ndarray:
    """Constant data in another dtype: small, so that every dtype holds it."""
    return np.clip(np.nan_to_num(data.astype(np.float64)), -8, 7).astype(storage_dtype(dtype))


def _argument(argument: Argument, new: Callable[[DType], DType]) -> Argument:
    match argument:
        case Array(dtype):
            low, high = _within(new(dtype), argument.low), _within(new(dtype), argument.high)
            return argument if new(dtype) == dtype else replace(argument, dtype=new(dtype), low=low, high=high)
        case Number(dtype, value) if new(dtype) != dtype:
            return Number(new(dtype), float(value) if new(dtype).is_float else _within(new(dtype), int(value)))
        case TupleOf(items):
            return TupleOf(tuple(_argument(item, new) for item in items))
        case _:
            return argument


def _within(dtype: DType, value: int) -> int:
    """The nearest value of an integer dtype."""
    return min(max(value, dtype.minimum), dtype.maximum) if dtype.is_integer else value


def _one_lane(subject: Subject) -> Subject:
    """Every vector is its first lane."""

    def change(node: Node) -> Node:
        match node:
            case tir.Ramp(base, _, _, _):
                return base
            case tir.Broadcast(value, _, _):
                return value
            case tir.Shuffle(vectors, _, _):
                return vectors[0]
            case _:
                return _with_dtype(node, lambda dtype: dtype.scalar)

    return subject.with_module(rewrite(subject.module, change))
