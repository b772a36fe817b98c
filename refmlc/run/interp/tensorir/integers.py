"""Integer operators written out: operands as closures, or read straight from the slots of variables and constants.

A result in the range of the dtype is the exact one; any other, and a divisor that is not positive, is left to the
row (`slow`): it wraps, or is undefined.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from refmlc.run.interp.tensorir.frame import Frame, IntEval, Slot

Slow: TypeAlias = Callable[[Frame, int, int], int]

# --------------------------------------------------------------------------------------- operands as closures


def _add(a: IntEval, b: IntEval, least: int, greatest: int, slow: Slow) -> IntEval:
    def add(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        result = x + y
        return result if least <= result <= greatest else slow(frame, x, y)

    return add


def _sub(a: IntEval, b: IntEval, least: int, greatest: int, slow: Slow) -> IntEval:
    def sub(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        result = x - y
        return result if least <= result <= greatest else slow(frame, x, y)

    return sub


def _mul(a: IntEval, b: IntEval, least: int, greatest: int, slow: Slow) -> IntEval:
    def mul(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        result = x * y
        return result if least <= result <= greatest else slow(frame, x, y)

    return mul


def _floordiv(a: IntEval, b: IntEval, _least: int, _greatest: int, slow: Slow) -> IntEval:
    def floordiv(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        return x // y if y > 0 else slow(frame, x, y)

    return floordiv


def _floormod(a: IntEval, b: IntEval, _least: int, _greatest: int, slow: Slow) -> IntEval:
    def floormod(frame: Frame) -> int:
        x = a(frame)
        y = b(frame)
        return x % y if y > 0 else slow(frame, x, y)

    return floormod


# ------------------------------------------------------------------------------------------ operands in slots


def _add_slots(a: Slot[int], b: Slot[int], least: int, greatest: int, slow: Slow) -> IntEval:
    def add_slots(frame: Frame) -> int:
        result = frame[a] + frame[b]
        return result if least <= result <= greatest else slow(frame, frame[a], frame[b])

    return add_slots


def _sub_slots(a: Slot[int], b: Slot[int], least: int, greatest: int, slow: Slow) -> IntEval:
    def sub_slots(frame: Frame) -> int:
        result = frame[a] - frame[b]
        return result if least <= result <= greatest else slow(frame, frame[a], frame[b])

    return sub_slots


def _mul_slots(a: Slot[int], b: Slot[int], least: int, greatest: int, slow: Slow) -> IntEval:
    def mul_slots(frame: Frame) -> int:
        result = frame[a] * frame[b]
        return result if least <= result <= greatest else slow(frame, frame[a], frame[b])

    return mul_slots


def _floordiv_slots(a: Slot[int], b: Slot[int], _least: int, _greatest: int, slow: Slow) -> IntEval:
    def floordiv_slots(frame: Frame) -> int:
        y = frame[b]
        return frame[a] // y if y > 0 else slow(frame, frame[a], y)

    return floordiv_slots


def _floormod_slots(a: Slot[int], b: Slot[int], _least: int, _greatest: int, slow: Slow) -> IntEval:
    def floormod_slots(frame: Frame) -> int:
        y = frame[b]
        return frame[a] % y if y > 0 else slow(frame, frame[a], y)

    return floormod_slots


ON_VALUES: Mapping[str, Callable[[IntEval, IntEval, int, int, Slow], IntEval]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "floordiv": _floordiv,
    "floormod": _floormod,
}
ON_SLOTS: Mapping[str, Callable[[Slot[int], Slot[int], int, int, Slow], IntEval]] = {
    "add": _add_slots,
    "sub": _sub_slots,
    "mul": _mul_slots,
    "floordiv": _floordiv_slots,
    "floormod": _floormod_slots,
}
