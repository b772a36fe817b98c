"""Operators and conversions on lanes, as C. None: there is no form for all lanes at once.

| operator                  | dtypes                    | C                                            |
|---------------------------|---------------------------|----------------------------------------------|
| add sub mul               | integers, native floats   | `(a + b)`                                    |
| div                       | native floats             | `(a / b)`                                    |
| add sub mul div           | float16, bfloat16         | `rm_narrow_DxW(a + b)`, in float32           |
| max min abs               | every                     | `rm_max_DxW(a, b)`                           |
| eq ne lt le gt ge         | every but bool            | `(a < b)`, a mask                            |
| not                       | bool                      | `~a`                                         |
| exp (mode `cr`)           | float32                   | `rm_exp_float32xW(a)`                        |
| isnan                     | native floats             | `rm_isnan_DxW(a)`, a mask                    |

Native floats are float32 and float64. float32 rounded to 16 bits is the exact result rounded once: 24 >= 2p + 2.

| from                       | to                | C                                               |
|----------------------------|-------------------|-------------------------------------------------|
| integer                    | integer           | `RM_TO`: modulo 2**bits                         |
| integer                    | float32, float64  | `RM_TO`, rounded once; not of uint64            |
| 8 or 16 bits               | float16, bfloat16 | through float32, exactly                        |
| bool                       | any               | 0 or 1                                          |
| any                        | bool              | `x != 0`                                        |
| float32, float16, bfloat16 | int8 … int32      | toward zero, through int32                      |
| float64                    | int32, int64      | toward zero                                     |
| float                      | float             | `RM_TO` or rounded once; not float64 to 16 bits |
"""

from collections.abc import Sequence

from refmlc.lang.dtypes import BOOL, DType
from refmlc.native.kernels import ARITHMETIC, COMPARISONS
from refmlc.native.options import Math
from refmlc.native.tile.headers import Needs
from refmlc.native.tile.terms import NATIVE_FLOATS, SMALL_FLOATS, Term, broadcast, lane_bits, lane_dtype, mask_of


def apply(needs: Needs, op: str, args: Sequence[Term], math: Math, vector_bytes: int) -> Term | None:
    """The operator on operands of which one has lanes at least."""
    lanes = max(arg.lanes for arg in args)
    first = args[0].dtype
    if op == "likely":
        return args[0]
    if first.kind == "bool":
        return _on_masks(needs, op, [broadcast(needs, arg, lanes) for arg in args])
    if op in ARITHMETIC:
        return _infix(needs, op, args, lanes)
    if op in COMPARISONS:
        a, b = (broadcast(needs, arg, lanes).text for arg in args)
        return Term(f"({a} {COMPARISONS[op]} {b})", BOOL, lanes, lane_bits(first))
    vector = needs.vector(lane_dtype(first), lanes)
    if op in ("max", "min"):
        a, b = (broadcast(needs, arg, lanes).text for arg in args)
        return Term(f"rm_{op}_{vector}({a}, {b})", first, lanes)
    if op == "abs":
        return Term(f"rm_abs_{vector}({args[0].text})", first, lanes)
    if op == "isnan" and first.element in NATIVE_FLOATS:
        return Term(f"rm_isnan_{vector}({args[0].text})", BOOL, lanes, lane_bits(first))
    if op == "exp" and first.element == "float32" and math == "cr":
        return Term(f"{needs.exp(lanes, vector_bytes)}({args[0].text})", first, lanes)
    return None


def _infix(needs: Needs, op: str, args: Sequence[Term], lanes: int) -> Term | None:
    a, b = args
    dtype = a.dtype
    if op == "div" and not dtype.is_float:
        return None
    if op == "mul" and dtype.element in NATIVE_FLOATS and (a.cell or b.cell):
        cell, vector = (a, b) if a.cell else (b, a)
        return Term(f"RM_TIMES_CELL({needs.lanes(dtype.element, lanes)}, {vector.text}, {cell.cell})", dtype, lanes)
    if not dtype.is_float or not (a.exact and b.exact):
        a, b = broadcast(needs, a, lanes), broadcast(needs, b, lanes)
    if dtype.element in SMALL_FLOATS:
        text = f"rm_narrow_{needs.vector(dtype.element, lanes)}({a.text} {ARITHMETIC[op]} {b.text})"
        return Term(text, dtype, lanes)
    return Term(f"({a.text} {ARITHMETIC[op]} {b.text})", dtype, lanes)


def _on_masks(needs: Needs, op: str, args: Sequence[Term]) -> Term | None:
    bits = max(arg.bits for arg in args)
    texts = [mask_of(needs, arg, bits).text for arg in args]
    match op:
        case "not":
            text = f"~{texts[0]}"
        case "eq":
            text = f"~({texts[0]} ^ {texts[1]})"
        case "ne":
            text = f"({texts[0]} ^ {texts[1]})"
        case _:
            return None
    return Term(text, BOOL, args[0].lanes, bits)


def both(needs: Needs, op: str, a: Term, b: Term) -> Term:
    """`a & b` or `a | b` of bools, one of which has lanes."""
    lanes = max(a.lanes, b.lanes)
    a, b = broadcast(needs, a, lanes), broadcast(needs, b, lanes)
    bits = max(a.bits, b.bits)
    return Term(f"({mask_of(needs, a, bits).text} {op} {mask_of(needs, b, bits).text})", BOOL, lanes, bits)


def select(needs: Needs, condition: Term, a: Term, b: Term) -> Term:
    """`a` where the mask is set, else `b`."""
    lanes = condition.lanes
    a, b = broadcast(needs, a, lanes), broadcast(needs, b, lanes)
    if a.dtype.kind == "bool":
        bits = max(condition.bits, a.bits, b.bits)
        mask, x, y = (mask_of(needs, term, bits).text for term in (condition, a, b))
        return Term(f"({mask} & {x} | ~{mask} & {y})", BOOL, lanes, bits)
    mask = mask_of(needs, condition, lane_bits(a.dtype)).text
    return Term(f"rm_select_{needs.vector(lane_dtype(a.dtype), lanes)}({mask}, {a.text}, {b.text})", a.dtype, lanes)


def cast(needs: Needs, arg: Term, target: DType) -> Term | None:
    """`arg`, which has lanes, as one of `target`; None: there is no form for all lanes at once."""
    source = arg.dtype
    if source.element == target.element:
        return arg
    if target.kind == "bool":
        return Term(f"({arg.text} != 0)", BOOL, arg.lanes, lane_bits(source))
    if source.kind == "bool":
        return _from_numbers(needs, f"({arg.text} & 1)", target, arg.lanes)
    if source.is_float:
        return _from_float(needs, arg, target)
    if target.element in NATIVE_FLOATS and source.element == "uint64":
        return None
    if target.element in SMALL_FLOATS and source.bits > 16:
        return None
    return _from_numbers(needs, arg.text, target, arg.lanes)


def _from_numbers(needs: Needs, text: str, target: DType, lanes: int) -> Term:
    """Integers to integers, or to floats that go through float32 without loss."""
    converted = f"RM_TO({needs.lanes(lane_dtype(target), lanes)}, {text})"
    if target.element in SMALL_FLOATS:
        converted = f"rm_cast_float32_{needs.vector(target.element, lanes)}({converted})"
    return Term(converted, target, lanes)


def _from_float(needs: Needs, arg: Term, target: DType) -> Term | None:
    lanes, is_double = arg.lanes, arg.dtype.element == "float64"
    if target.element in NATIVE_FLOATS:
        same_bits = lane_dtype(arg.dtype) == target.element
        text = arg.text if same_bits else f"RM_TO({needs.lanes(target.element, lanes)}, {arg.text})"
        return Term(text, target, lanes)
    if target.element in SMALL_FLOATS and not is_double:
        return Term(f"rm_cast_float32_{needs.vector(target.element, lanes)}({arg.text})", target, lanes)
    if target.element in ("int32", "int64") if is_double else target.element == "int32":
        return Term(f"RM_TO({needs.lanes(target.element, lanes)}, {arg.text})", target, lanes)
    if not is_double and target.is_integer and target.bits < 32:
        through = f"RM_TO({needs.lanes('int32', lanes)}, {arg.text})"
        return Term(f"RM_TO({needs.lanes(target.element, lanes)}, {through})", target, lanes)
    return None
