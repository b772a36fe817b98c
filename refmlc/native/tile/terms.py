"""A value in C: its text, its dtype, and whether it is one number or one per lane.

| dtype             | a number | W lanes                                               |
|-------------------|----------|-------------------------------------------------------|
| bool              | `bool`   | a mask of `bits` per lane: `rm_int8xW` … `rm_int64xW` |
| float16, bfloat16 | `float`  | `rm_float32xW`                                        |
| any other         | `rm_D`   | `rm_DxW`                                              |
"""

import math
from dataclasses import dataclass

from refmlc.lang.dtypes import DType
from refmlc.native.tile.headers import Needs

SMALL_FLOATS = ("float16", "bfloat16")
NATIVE_FLOATS = ("float32", "float64")


@dataclass(frozen=True, slots=True)
class Term:
    """A C expression without effects. `lanes` 1: a number.

    `bits`: of a lane of a mask. `cell`: the address, where the value is an element of a native float dtype just as it
    is in memory. `exact`: what C computed, whose NaN may have any payload, is not in it.
    """

    text: str
    dtype: DType
    lanes: int = 1
    bits: int = 0
    cell: str = ""
    exact: bool = True


def lane_bits(dtype: DType) -> int:
    """Bits of a lane that holds values of `dtype`, not bool."""
    return 32 if dtype.element in SMALL_FLOATS else dtype.bits


def lane_dtype(dtype: DType) -> str:
    """The dtype as which lanes hold `dtype`, not bool."""
    return "float32" if dtype.element in SMALL_FLOATS else dtype.element


def is_plain(dtype: DType) -> bool:
    """Whether memory holds values of `dtype` as lanes do."""
    return dtype.kind != "bool" and lane_dtype(dtype) == dtype.element


def c_type(needs: Needs, term: Term) -> str:
    """The C type of a term."""
    if term.lanes == 1:
        return needs.value(term.dtype.element)
    if term.dtype.kind == "bool":
        return f"rm_{needs.lanes(f'int{term.bits}', term.lanes)}"
    return f"rm_{needs.lanes(lane_dtype(term.dtype), term.lanes)}"


def broadcast(needs: Needs, term: Term, lanes: int) -> Term:
    """The number in each lane."""
    if term.lanes != 1 or lanes == 1:
        return term
    if term.dtype.kind == "bool":
        vector = needs.vector("int32", lanes)
        return Term(f"rm_splat_{vector}({term.text} ? -1 : 0)", term.dtype, lanes, 32)
    if term.text in ("0", "0.0f", "0.0"):
        return Term(f"(rm_{needs.lanes(lane_dtype(term.dtype), lanes)}){{0}}", term.dtype, lanes)
    vector = needs.vector(lane_dtype(term.dtype), lanes)
    text = f"rm_splat_{vector}({term.text})"
    if not term.exact and term.dtype.element == "bfloat16":
        text = f"rm_cast_float32_{needs.vector('bfloat16', lanes)}({text})"
    return Term(text, term.dtype, lanes)


def mask_of(needs: Needs, term: Term, bits: int) -> Term:
    """A mask with lanes of `bits`."""
    if term.bits == bits:
        return term
    return Term(f"RM_TO({needs.lanes(f'int{bits}', term.lanes)}, {term.text})", term.dtype, term.lanes, bits)


def integer(dtype: DType, number: int) -> Term:
    """An integer or bool constant."""
    if dtype.kind == "bool":
        return Term("true" if number else "false", dtype)
    match dtype.element:
        case "int64" if number == dtype.minimum:
            return Term("INT64_MIN", dtype)
        case "int64" | "uint64" | "uint32":
            return Term(f"{dtype.element.upper()}_C({number})", dtype)
        case "int32" if number == dtype.minimum:
            return Term("INT32_MIN", dtype)
        case _:
            return Term(str(number), dtype)


def floating(dtype: DType, number: float) -> Term:
    """A floating-point constant, exactly."""
    suffix = "" if dtype.element == "float64" else "f"
    if math.isnan(number):
        return Term("NAN" if suffix else "(double)NAN", dtype)
    if math.isinf(number):
        return Term(
            f"{'-' if number < 0 else ''}INFINITY" if suffix else f"({'-' if number < 0 else ''}(double)INFINITY)",
            dtype,
        )
    short = repr(number)
    return Term(f"{short if len(short) <= 6 else number.hex()}{suffix}", dtype)
