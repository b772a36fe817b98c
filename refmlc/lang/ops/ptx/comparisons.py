"""Comparisons and choices of PTX: `set`, `setp`, `selp`, `slct`.

| operator                    | of floats                             | of integers            |
|-----------------------------|---------------------------------------|------------------------|
| `eq ne lt le gt ge`         | false where one is NaN                | as the type says       |
| `equ neu ltu leu gtu geu`   | true where one is NaN                 |                        |
| `num`, `nan`                | neither is NaN, one is                |                        |
| `lo ls hi hs`               |                                       | lt, le, gt, ge         |
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

from refmlc.lang.ops.ptx.floats import reading
from refmlc.lang.ops.ptx.logic import joined
from refmlc.lang.ops.ptx.numbers import FORMATS, SignedNumber
from refmlc.lang.ops.ptx.registers import Bits, Family, Meaning, join, mask, split, to_number, width

Modifiers = Mapping[str, str]
Order = Fraction | float
Compared = Callable[[int, int], bool]

OPERATORS: Mapping[str, Callable[[Order, Order], bool]] = {
    "eq": eq,
    "ne": ne,
    "lt": lt,
    "le": le,
    "gt": gt,
    "ge": ge,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
TRUE: Mapping[str, int] = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}


def _key(value: SignedNumber | None) -> Order | None:
    return None if value is None else -value.size if value.negative else value.size


def compared(operator: str, kind: str, *, flush: bool) -> Compared:
    """The comparison of two registers of a type."""
    if kind not in FORMATS:
        compare = OPERATORS[UNSIGNED.get(operator, operator)]
        return lambda a, b: compare(to_number(kind, a), to_number(kind, b))
    read = reading(kind, flush=flush)
    unordered = len(operator) == 3 and operator.endswith("u")
    numeric = OPERATORS.get(operator.removesuffix("u") if unordered else operator)

    def compare_floats(a: int, b: int) -> bool:
        first, second = _key(read(a)), _key(read(b))
        if numeric is None:
            return (first is None or second is None) == (operator == "nan")
        return unordered if first is None or second is None else numeric(first, second)

    return compare_floats


def _results(m: Modifiers, kind: str) -> Callable[[Bits], list[int]]:
    """The results of the comparison in each lane of two registers, joined with the predicate where there is one."""
    lane = kind.removesuffix("x2")
    count, operator = (2 if kind.endswith("x2") else 1), m.get("boolop", "")
    compare, bits = compared(m["cmp"], lane, flush=bool(m["ftz"])), width(lane)

    def results(registers: Bits) -> list[int]:
        a, b, *predicate = registers
        pairs = zip(split(a, bits, count), split(b, bits, count), strict=True)
        answers = [int(compare(x, y)) for x, y in pairs]
        return [joined(operator, answer, predicate[0]) for answer in answers] if operator else answers

    return results


def _predicates(m: Modifiers) -> Meaning:
    """`setp` with one destination, and of packed halves with one for each."""
    results = _results(m, m["type"])
    return lambda registers: tuple(results(registers))


def _predicate_and_opposite(m: Modifiers) -> Meaning:
    """`setp` with `p|q`: q is of the opposite comparison, joined with the same predicate."""
    compare, operator = compared(m["cmp"], m["type"], flush=bool(m["ftz"])), m.get("boolop", "")

    def meaning(registers: Bits) -> Bits:
        a, b, *predicate = registers
        answer = compare(a, b)
        pair = (answer, not answer)
        return tuple([joined(operator, each, predicate[0]) if operator else int(each) for each in pair])

    return meaning


def _set(m: Modifiers) -> Meaning:
    target, source = m["dtype"], m["stype"]
    results = _results(m, source)
    lanes = 2 if source.endswith("x2") else 1
    lane = target.removesuffix("x2")
    bits = 32 // lanes if lane in ("u32", "s32") else width(lane)
    true = TRUE.get(lane, mask(bits))
    return lambda registers: (join([true if answer else 0 for answer in results(registers)], bits),)


def _set_lanes(m: Modifiers) -> Meaning:
    """Lanes of all ones, else of zeros (PTX-020)."""
    kind, count = m["type"].split("x")
    compare, bits = compared(m["cmp"], kind, flush=False), width(kind)

    def meaning(registers: Bits) -> Bits:
        pairs = zip(*(split(each, bits, int(count)) for each in registers), strict=True)
        return (join([mask(bits) if compare(a, b) else 0 for a, b in pairs], bits),)

    return meaning


def _selected(_: Modifiers) -> Meaning:
    return lambda registers: (registers[0] if registers[2] else registers[1],)


def _selected_by_sign(m: Modifiers) -> Meaning:
    not_negative = compared("ge", m["ctype"], flush=bool(m["ftz"]))
    return lambda registers: (registers[0] if not_negative(registers[2], 0) else registers[1],)


COMPARISONS: Mapping[str, Family] = {
    **dict.fromkeys(("set", "set_bool", "set_half", "set_half_bool"), _set),
    **dict.fromkeys(("setp", "setp_bool", "setp_half", "setp_half_bool"), _predicates),
    **dict.fromkeys(("setp_half_pq", "setp_half_bool_pq"), _predicates),
    **dict.fromkeys(("setp_pq", "setp_bool_pq"), _predicate_and_opposite),
    "set_packed": _set_lanes,
    "selp": _selected,
    "slct": _selected_by_sign,
}
