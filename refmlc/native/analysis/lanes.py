"""What the lanes of a warp give each other, as expressions: the call says which lane's value a thread gets (TIW-002).

| call                                           | a thread gets                                                      |
|------------------------------------------------|--------------------------------------------------------------------|
| `T.tvm_warp_shuffle(m, x, lane, width, 32)`,   | x of the lane that `source` says, out of an array of the values of |
| `T.cuda.__shfl_sync(m, x, lane, width)`, …     | all threads                                                        |
| `T.tvm_warp_activemask()`,                     | a bit for each lane of its warp                                    |
| `T.cuda.__activemask()`                        |                                                                    |
| `T.tvm_storage_sync("warp")`,                  | nothing: the lanes wait for each other                             |
| `T.cuda.warp_sync()`                           |                                                                    |

All threads of the block reach such a call together, so all lanes of each warp are there; or those of the first warp do,
in a `WarpBranch`. What has to hold for that is in `checks`: where a check fails, C stops, and the interpreter decides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from refmlc.lang.dtypes import BOOL, INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.threads import SHUFFLES, is_in_part, is_warp_barrier, meets_in_part
from refmlc.lang.ir.visit import children
from refmlc.native.analysis.thread_loops import Left
from refmlc.rewrite.schedule.places import integer

WARP = 32
WHOLE = (1 << WARP) - 1
WIDTHS = (1, 2, 4, 8, 16, 32)
ACTIVE = ("tvm_warp_activemask", "cuda.__activemask")


def calls_of(stmt: Node) -> list[tir.Call]:
    """The calls in a statement that threads of a part of the block execute together, in the order of evaluation.

    Raises `Left` for one that is evaluated on a condition.
    """
    return list(dict.fromkeys(_calls(stmt)))


def _calls(node: Node) -> Iterator[tir.Call]:
    if isinstance(node, tir.Buffer) or not meets_in_part(node):
        return
    if isinstance(node, tir.And | tir.Or | tir.IfThenElseExpr | tir.Let):
        raise Left("they meet in an expression that is evaluated on a condition, or in a `let`")
    for child in children(node):
        yield from _calls(child)
    if isinstance(node, tir.Call) and is_in_part(node):
        yield node


@dataclass(frozen=True, slots=True)
class LaneShuffle:
    """A shuffle: the mask, the value that a lane brings, the lane or distance, the width."""

    mask: tir.Expr
    value: tir.Expr
    place: tir.Expr
    width: int
    way: str


def is_shuffle(call: tir.Call) -> bool:
    """Whether a call is a shuffle."""
    return str(call.callee).startswith(SHUFFLES)


def is_active_mask(call: tir.Call) -> bool:
    """Whether a call asks which lanes are there."""
    return call.callee in ACTIVE


def is_barrier_of_warp(call: tir.Call) -> bool:
    """Whether a call is a barrier of a warp, and nothing else."""
    return is_warp_barrier(call) or (call.callee == "cuda.warp_sync" and not call.args)


def shuffle(call: tir.Call) -> LaneShuffle:
    """The parts of a shuffle. Raises `Left`."""
    args = [arg for arg in call.args if isinstance(arg, tir.Expr)]
    if len(args) != len(call.args) or len(args) < 4:
        raise Left(f"`{call.callee}` has operands of another kind")
    mask, value, place, width = args[:4]
    if not isinstance(width, tir.IntImm) or width.value not in WIDTHS:
        raise Left(f"the width of `{call.callee}` is not a constant power of two up to {WARP}")
    if call.dtype != value.dtype or value.dtype.is_vector or value.dtype.kind in ("handle", "void"):
        raise Left(f"`{call.callee}` gives {call.dtype} for {value.dtype}")
    if not all(each.dtype.is_integer and not each.dtype.is_vector for each in (mask, place)):
        raise Left(f"a lane or the mask of `{call.callee}` is no integer")
    if mask.dtype.bits != WARP:
        raise Left(f"the mask of `{call.callee}` is of {mask.dtype}")
    ways = [way for way in ("up", "down", "xor") if f"_{way}" in str(call.callee)]
    return LaneShuffle(mask, value, place, width.value, ways[0] if ways else "idx")


@dataclass(frozen=True, slots=True)
class WarpBranch:
    """A branch of the first threads of a block, at most those of a warp; the condition of a thread to take it."""

    condition: tir.Expr
    threads: int


@dataclass(frozen=True, slots=True)
class Lane:
    """A thread among those of its block: its number, x fastest, and the numbers of threads on the axes x, y, z."""

    number: tir.Expr
    extents: tuple[int, ...]

    @property
    def threads(self) -> int:
        """How many threads the block has."""
        return prod(self.extents)

    def place_of(self, number: tir.Expr) -> list[tir.Expr]:
        """The indices on the axes of the thread of this number."""
        found: list[tir.Expr] = []
        for at, extent in enumerate(self.extents):
            step = prod(self.extents[:at])
            found.append(_apply("floormod", number if step == 1 else _apply("floordiv", number, step), extent))
        return found

    @property
    def lane(self) -> tir.Expr:
        """Its number in its warp."""
        return _apply("floormod", self.number, WARP)

    def branch(self, condition: tir.Expr, x: tir.Var) -> WarpBranch | None:
        """The branch that the first threads take, as `x < 16` says; None: the condition is another one."""
        match condition:
            case tir.Apply(op="lt", args=(tir.Var() as var, tir.IntImm(value=bound))) if var is x:
                return WarpBranch(condition, bound) if 0 < bound <= WARP and self.number is x else None
            case _:
                return None

    def active(self, dtype: DType) -> tir.Expr:
        """A bit for each lane of its warp."""
        whole, rest = divmod(self.threads, WARP)
        last = _bits((1 << rest) - 1, dtype)
        if not rest or not whole:
            return last if rest else _bits(WHOLE, dtype)
        return tir.IfThenElseExpr(_compare("lt", self.number, whole * WARP), _bits(WHOLE, dtype), last)

    def source(self, asked: LaneShuffle) -> tir.Expr:
        """The number of the thread whose value it gets; beyond the last one where this lane is not there."""
        lane, width = self.lane, asked.width
        first = _apply("sub", self.number, lane)
        segment = _apply("mul", _apply("floordiv", lane, width), width)
        if asked.way == "idx":
            within = tir.Apply("floormod", (asked.place, integer(width, asked.place.dtype)), asked.place.dtype)
            return tir.Apply("add", (first, tir.Apply("add", (segment, _int(within)), INT32)), INT32)
        place = _int(asked.place)
        own = _apply("floormod", lane, width)
        found: tir.Expr
        stays: tir.Expr
        match asked.way:
            case "up":
                found = tir.Apply("sub", (lane, place), INT32)
                stays = tir.Apply("lt", (own, place), BOOL)
            case "down":
                found = tir.Apply("add", (lane, place), INT32)
                stays = _compare("ge", tir.Apply("add", (own, place), INT32), width)
            case _:
                found = tir.Apply("bitwise_xor", (lane, place), INT32)
                stays = tir.Apply("gt", (_apply("floordiv", found, width), _apply("floordiv", lane, width)), BOOL)
        return tir.Apply("add", (first, tir.IfThenElseExpr(stays, lane, found)), INT32)

    def checks(self, asked: LaneShuffle) -> Sequence[tir.Expr]:
        """What holds where the lanes that meet are those of the warp, and the distance is within it."""
        mask = asked.mask
        every = isinstance(mask, tir.IntImm) and mask.value % (1 << WARP) == WHOLE
        same = () if every else (tir.Apply("eq", (mask, self.active(mask.dtype)), BOOL),)
        if asked.way == "idx":
            return same
        low, high = (integer(bound, asked.place.dtype) for bound in (0, WARP))
        return (*same, tir.Apply("ge", (asked.place, low), BOOL), tir.Apply("lt", (asked.place, high), BOOL))

    def is_there(self, number: tir.Expr) -> tir.Expr:
        """Whether a thread of this number is there."""
        return _compare("lt", number, self.threads)


def lane_of(axes: Sequence[tir.For]) -> Lane:
    """A thread, by the loops over the axes x, y, z."""
    extents = tuple(cast("tir.IntImm", axis.extent).value for axis in axes)
    number: tir.Expr | None = None
    for at, axis in enumerate(axes):
        step = prod(extents[:at])
        if extents[at] > 1:
            part = _int(axis.loop_var) if step == 1 else _apply("mul", _int(axis.loop_var), step)
            number = part if number is None else _apply("add", number, part)
    return Lane(integer(0, INT32) if number is None else number, extents)


def _bits(value: int, dtype: DType) -> tir.Expr:
    """The integer of 32 bits whose bits these are."""
    return tir.IntImm(dtype, value - (1 << WARP) if value > dtype.maximum else value)


def _int(value: tir.Expr) -> tir.Expr:
    return value if value.dtype == INT32 else tir.Cast(INT32, value)


def _apply(op: str, a: tir.Expr, b: tir.Expr | int) -> tir.Expr:
    return tir.Apply(op, (a, integer(b, INT32) if isinstance(b, int) else b), INT32)


def _compare(op: str, a: tir.Expr, b: int) -> tir.Expr:
    return tir.Apply(op, (a, integer(b, INT32)), BOOL)
