"""A scalar operator as Python source, by its name and the dtypes of its operands.

| operands                  | the source                                              |
|---------------------------|---------------------------------------------------------|
| integers                  | Python's operator; wrapped where up to 16 bits may wrap |
| float16, float32, float64 | NumPy's operator on its scalars                         |
| narrower floats           | the same of binary64, put into the dtype                |
| functions of floats       | of binary64, put into the dtype                         |

Decision: integers of 32 and 64 bits are not wrapped. Where they would have to be, the program is undefined (RM306); and
an array refuses the number.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.oracle.implementations.loops import arithmetic
from refmlc.oracle.implementations.loops.arithmetic import BINARY, NATIVE, UNARY, put

Bind: TypeAlias = Callable[[str, object], str]

ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
INTEGER = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "floormod": "%"}
BITS = {"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
TRUNCATING = {"div": arithmetic.truncdiv, "truncdiv": arithmetic.truncdiv, "truncmod": arithmetic.truncmod}
FIXED = {"q_multiply_shift": arithmetic.scaled, "q_multiply_shift_per_axis": arithmetic.scaled_per_axis}
CLASSES = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
NARROW = 16


class NotTaken(Exception):
    """The loops do not do this. The message names it."""


def operator_source(name: str, operands: Sequence[DType], result: DType, args: Sequence[str], bind: Bind) -> str:
    """The source of operator `name` on `args`, which are sources too; all dtypes are of one lane. Fails: `NotTaken`."""
    kind = operands[0]
    if name == "likely":
        return args[0]
    if name in ("max", "min"):
        return f"{bind(name, arithmetic.greater if name == 'max' else arithmetic.lesser)}({args[0]}, {args[1]})"
    if name in COMPARISONS:
        return f"{bind('truth', bool)}({args[0]} {COMPARISONS[name]} {args[1]})"
    if name == "reinterpret":
        return f"{bind('reinterpreted', reinterpreter(kind, result))}({args[0]})"
    if kind.is_float:
        text = _of_floats(name, kind, args, bind)
    elif kind.kind == "bool":
        text = _of_bools(name, args)
    else:
        text = _of_integers(name, kind, args, bind)
    if text is None:
        raise NotTaken(f"operator `{name}` on {', '.join(map(str, operands))}")
    return text


def fitted(source: str, kind: DType, bind: Bind) -> str:
    """`source` put into `kind`."""
    return f"{bind(f'put_{kind.element}', put(kind))}({source})"


def wide(source: str, kind: DType, bind: Bind) -> str:
    """A value of `kind` in binary64."""
    return source if kind.element == "float64" else f"{bind('wide', np.float64)}({source})"


def _of_bools(name: str, args: Sequence[str]) -> str | None:
    if name in ("not", "bitwise_not"):
        return f"(not {args[0]})"
    return f"({args[0]} {BITS[name]} {args[1]})" if name in BITS else None


def _of_integers(name: str, kind: DType, args: Sequence[str], bind: Bind) -> str | None:
    a, *rest = args
    if name in INTEGER:
        whole = f"({a} {INTEGER[name]} {rest[0]})"
        return fitted(whole, kind, bind) if kind.bits <= NARROW else whole
    if name in BITS:
        return f"({a} {BITS[name]} {rest[0]})"
    if name in TRUNCATING:
        return f"{bind(name, TRUNCATING[name])}({a}, {rest[0]})"
    match name:
        case "ceildiv":
            steps = f"({a} + {rest[0]} - 1)"
            return f"({fitted(steps, kind, bind) if kind.bits <= NARROW else steps} // {rest[0]})"
        case "bitwise_not":
            return fitted(f"(~{a})", kind, bind)
        case "shift_left":
            shifted = f"{bind('shifted_left', arithmetic.shifted_left)}({a}, {rest[0]}, {kind.bits})"
            return fitted(shifted, kind, bind)
        case "shift_right":
            return f"{bind('shifted_right', arithmetic.shifted_right)}({a}, {rest[0]}, {kind.bits})"
        case "abs":
            return fitted(f"{bind('absolute', abs)}({a})", kind, bind)
        case "popcount":
            return fitted(f"{bind('ones', arithmetic.ones)}({a}, {kind.bits})", kind, bind)
        case "clz":
            return f"{bind('zeros', arithmetic.leading_zeros)}({a}, {kind.bits})"
        case _ if name in FIXED:
            return f"{bind('scaled', FIXED[name])}({', '.join(args)})"
        case _:
            return None


def _of_floats(name: str, kind: DType, args: Sequence[str], bind: Bind) -> str | None:
    native = kind.element in NATIVE
    if name in ARITHMETIC and native:
        return f"({args[0]} {ARITHMETIC[name]} {args[1]})"
    if name in CLASSES:
        return f"{bind('truth', bool)}({bind(name, CLASSES[name])}({wide(args[0], kind, bind)}))"
    if name == "nextafter":
        return f"{bind('neighbour', arithmetic.neighbour)}({args[0]}, {args[1]})"
    wides = [wide(arg, kind, bind) for arg in args]
    if name in ARITHMETIC:
        return fitted(f"({wides[0]} {ARITHMETIC[name]} {wides[1]})", kind, bind)
    if name in UNARY:
        return fitted(f"{bind(name, UNARY[name])}({wides[0]})", kind, bind)
    if name in BINARY:
        return fitted(f"{bind(name, BINARY[name])}({wides[0]}, {wides[1]})", kind, bind)
    match name:
        case "abs":
            return fitted(f"{bind('absolute', abs)}({wides[0]})", kind, bind)
        case "copysign":
            return fitted(f"{bind('signed', arithmetic.signed_as)}({wides[0]}, {wides[1]})", kind, bind)
        case "hypot":
            return fitted(f"{bind('hypotenuse', arithmetic.hypotenuse)}({wides[0]}, {wides[1]})", kind, bind)
        case "ldexp":
            scaled = arithmetic.scaled_by if kind.element == "float64" else arithmetic.scaled_odd
            return fitted(f"{bind('scaled', scaled)}({wides[0]}, {args[1]})", kind, bind)
        case _:
            return None


def cast_source(source: str, before: DType, after: DType, bind: Bind) -> str:
    """`source`, of the scalar dtype `before`, converted to `after`. Fails: `NotTaken`."""
    if before == after:
        return source
    if "handle" in (before.kind, after.kind) or "void" in (before.kind, after.kind):
        raise NotTaken(f"a cast of {before} to {after}")
    if before.is_float and after.is_integer:
        return f"{bind('integer', whole)}({source})"
    return fitted(source, after, bind)


def whole(value: object) -> int:
    """A float without its fraction."""
    return int(float(value))  # type: ignore[arg-type]  # one of NumPy's scalars


def reinterpreter(before: DType, after: DType) -> Callable[[object], object]:
    """What gives the value of `after` with the bits of a value of `before`; NaN has one code (NUM-006).

    Fails: `NotTaken`.
    """
    if before.bits != after.bits or "handle" in (before.kind, after.kind):
        raise NotTaken(f"a reinterpretation of {before} as {after}")
    source, target = storage_dtype(before), storage_dtype(after)
    codes, mask = np.dtype(f"u{source.itemsize}"), (1 << before.bits) - 1
    quiet_nan = np.array(np.nan).astype(source) if before.is_float and has_nan(before) else None

    def reinterpreted(value: object) -> object:
        array = np.array(value).astype(source)
        if quiet_nan is not None and array != array:  # noqa: PLR0124 - NaN
            array = quiet_nan
        code = int(array.view(codes)[()]) & mask
        return np.array(code, codes).view(target)[()] if after.is_float else put(after)(code)

    return reinterpreted


def has_nan(kind: DType) -> bool:
    """Whether the format has NaN."""
    return kind.format.special != "finite"


def loaded(kind: DType) -> Callable[[object], object]:
    """What makes a scalar of an array of `kind` a value: an int, a bool; a float stays."""
    if kind.is_float:
        return lambda value: value
    return bool if kind.kind == "bool" else int  # type: ignore[return-value]  # of one of NumPy's scalars
