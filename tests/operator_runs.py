"""The rows of `operator_calls` as modules, and what their type rules and the C tier take."""

from dataclasses import dataclass, replace
from functools import cache

from operator_calls import EXTENTS, Param, Row

from refmlc.diag import RefmlcError
from refmlc.lang import script
from refmlc.lang.dtypes import INT64, dtype as dtype_of
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import walk
from refmlc.lang.library import OPERATORS
from refmlc.lang.wellformed.infer import type_of
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.native.emit import emit_module
from refmlc.native.options import Options
from refmlc.rewrite.transform import legalize_ops

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")
DTYPES = ("bool", *INTEGERS, *FLOATS)


def extents(param: Param, sizes: dict[str, int]) -> tuple[int, ...]:
    """The shape of an argument."""
    return tuple(sizes[one] if one in sizes else int(one) for one in param.extents)


def text(row: Row, dtype: str, sizes: dict[str, int], name: str = "main") -> str:
    """A function that makes the call of a row."""
    params = ", ".join(f'{one.name}: R.Tensor({extents(one, sizes)}, "{one.dtype or dtype}")' for one in row.params)
    return f"@R.function\ndef {name}({params}):\n    r = R.{row.call.replace('{D}', dtype)}\n    return r\n"


def together(calls: list[tuple[Row, str, dict[str, int]]]) -> IRModule:
    """One module with a function `f0`, `f1` … for each call, checked."""
    parts = [script.read(text(*call, name=f"f{place}")) for place, call in enumerate(calls)]
    functions = {name: func for one in parts for name, func in one.functions.items()}
    return checked(replace(parts[0], functions=functions), check=True)


@dataclass(frozen=True)
class Parsed:
    """The call of a row with the arguments it has where the dtype is `dtype`."""

    row: Row
    module: IRModule
    call: relax.Call
    params: tuple[relax.Var, ...]


@cache
def parsed(row: Row, dtype: str) -> Parsed:
    """The call of a row, not checked."""
    module = script.read(text(row, dtype, EXTENTS))
    func = module.functions["main"]
    assert isinstance(func, relax.Function)
    calls = [one for one in walk(func) if isinstance(one, relax.Call) and getattr(one.op, "name", "") == row.operator]
    return Parsed(row, module, calls[0], func.params)


def accepted(row: Row, dtype: str, sizes: dict[str, int] = EXTENTS) -> bool:
    """Whether the type rule of the operator takes this dtype, and these extents."""
    one = parsed(row, dtype if "{D}" in row.call else "float32")
    types = {
        var: TensorType(tuple(tir.IntImm(INT64, n) for n in extents(param, sizes)), dtype_of(param.dtype or dtype))
        for var, param in zip(one.params, row.params, strict=True)
    }
    try:
        return type_of(one.call, one.module, types) is not None
    except RefmlcError:
        return False


def in_c(row: Row, dtype: str) -> str:
    """Why the C tier does not take the call of a row; empty: it does."""
    module = legalize_ops(together([(row, dtype, EXTENTS)]))
    return "; ".join(str(one) for one in emit_module(module, Options()).declined.values())


def symbolic(row: Row, dtype: str) -> bool:
    """Whether the type of the call follows where the extents that may vary are not known."""
    one = parsed(row, dtype)
    known = {letter: tir.Var(letter, INT64) for letter in EXTENTS}
    types = {
        var: TensorType(
            tuple(known.get(extent) or tir.IntImm(INT64, int(extent)) for extent in param.extents),
            dtype_of(param.dtype or dtype),
        )
        for var, param in zip(one.params, row.params, strict=True)
    }
    try:
        return bool(row.letters) and type_of(one.call, one.module, types) is not None
    except RefmlcError:
        return False


def lowered(row: Row, dtype: str) -> bool:
    """Whether the call becomes calls of TensorIR functions."""
    module = legalize_ops(together([(row, dtype, EXTENTS)]))
    names = [one.name for one in walk(module.functions["f0"]) if isinstance(one, relax.Op)]
    return "call_tir" in names and not any(name in OPERATORS for name in names)
