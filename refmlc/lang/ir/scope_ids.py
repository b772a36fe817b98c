"""The launch that the scope ids of a kernel fix: how many blocks, of how many threads.

| rule        | from                                        | follows                                          |
|-------------|---------------------------------------------|--------------------------------------------------|
| composition | m of b in each a, n of c in each b          | m * n of c in each a                             |
| complement  | m of c in each a, n of b in each a          | m / n of c in each b; b is larger than c          |
| complement  | m of c in each a, n of c in each b          | m / n of b in each a; a is larger than b          |

Both are applied until nothing new follows. Extents of several ids of one kind are multiplied; where one kind is defined
twice, the first definition says how the axes are. Source: the rules of TVM 0.27, measured by its lowering for CUDA.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import prod

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_LAUNCH, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.tirx import SCOPE_IDS, ScopeIdDef

WARP, WARPGROUP = 32, 128
"""The number of threads of a warp and of a warpgroup."""

ORDER = ("kernel", "cluster", "cta", "warpgroup", "warp", "thread")
PAIR = "cta_id_in_pair"
KINDS = {pair: kind for kind, pair in SCOPE_IDS.items() if kind != PAIR}
SIZES = {"warp_id": WARP, "warpgroup_id": WARPGROUP}
PARTS = {"lane_id": (WARP, 1), "thread_id_in_wg": (WARPGROUP, 1), "warp_id_in_wg": (4, WARP)}


@dataclass(frozen=True, slots=True)
class Count:
    """A product: a constant, and the factors that are none."""

    constant: int
    factors: tuple[tir.Expr, ...] = ()

    def times(self, other: "Count") -> "Count":
        """The product."""
        return Count(self.constant * other.constant, (*self.factors, *other.factors))

    def over(self, other: "Count") -> "Count | None":
        """The quotient; None where it is not known to be whole."""
        rest = list(self.factors)
        for factor in other.factors:
            place = next((at for at, own in enumerate(rest) if _same(own, factor)), None)
            if place is None:
                return None
            del rest[place]
        if not other.constant or self.constant % other.constant:
            return None
        return Count(self.constant // other.constant, tuple(rest))

    def equals(self, other: "Count") -> bool:
        """Whether both are known to be the same."""
        same_factors = len(self.factors) == len(other.factors) and self.over(replace(other, constant=1)) is not None
        return self.constant == other.constant and same_factors

    @property
    def is_constant(self) -> bool:
        """Whether it has no other factors."""
        return not self.factors

    def expr(self, span: Span | None) -> tir.Expr:
        """The product as an expression."""
        factors = (
            self.factors if self.constant == 1 and self.factors else (tir.IntImm(INT32, self.constant), *self.factors)
        )
        whole = factors[0]
        for factor in factors[1:]:
            dtype = factor.dtype if factor.dtype.bits > whole.dtype.bits else whole.dtype
            whole = tir.Apply("mul", (as_dtype(whole, dtype), as_dtype(factor, dtype)), dtype, span=span)
        return whole


@dataclass(frozen=True, slots=True)
class Launch:
    """The extents of the axes x, y, z; none: there is no such axis."""

    grid: tuple[tir.Expr, ...]
    cluster: tuple[tir.Expr, ...]
    block: tuple[tir.Expr, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a kind: its extents, and where they come from."""

    kind: str
    extents: tuple[tir.Expr, ...]
    count: Count
    node: ScopeIdDef


def launch_of(defs: Sequence[ScopeIdDef]) -> Launch:
    """The launch. Fails: RM214 where the extents contradict each other or do not fix it; RM504."""
    known = _closure(defs)
    for item in defs:
        if item.extents is None and item.kind not in known:
            raise fail(BAD_LAUNCH, f"the extent of `T.{item.kind}` follows from no other scope ids", item.span)
        if item.preferred is not None:
            raise fail(UNSUPPORTED_CONSTRUCT, "preferred sizes of clusters are not executed", item.span)
        if item.kind == PAIR and "cta_id_in_cluster" not in known:
            raise fail(BAD_LAUNCH, "`T.cta_id_in_pair` needs `T.cta_id_in_cluster`", item.span)
    if defs and "thread_id" not in known:
        raise fail(BAD_LAUNCH, "no scope ids say how many threads a block has", defs[0].span)
    grid, cluster, block = (_extents(known, kind) for kind in ("cta_id", "cta_id_in_cluster", "thread_id"))
    if not grid and {"cluster_id", "cta_id_in_cluster"} & set(known):
        raise fail(BAD_LAUNCH, "no scope ids say how many blocks there are", defs[0].span)
    _check_axes(defs, Launch(grid, cluster, block))
    _check_hardware(defs, known)
    return Launch(grid, cluster, block)


def _extents(known: dict[str, _Known], kind: str) -> tuple[tir.Expr, ...]:
    return known[kind].extents if kind in known else ()


def count_of(extents: Sequence[tir.Expr]) -> Count:
    """The product of extents."""
    constants = [extent.value for extent in extents if isinstance(extent, tir.IntImm)]
    return Count(prod(constants), tuple(extent for extent in extents if not isinstance(extent, tir.IntImm)))


def _closure(defs: Sequence[ScopeIdDef]) -> dict[str, _Known]:
    known: dict[str, _Known] = {}
    queue: list[_Known] = []

    def insert(item: _Known) -> None:
        other = known.get(item.kind)
        if other is None:
            known[item.kind] = item
            queue.append(item)
        elif not other.count.equals(item.count):
            raise _contradiction(other, item)

    for node in defs:
        if node.extents is not None and node.kind != PAIR:
            insert(_Known(node.kind, node.extents, count_of(node.extents), node))
    while queue:
        head = queue.pop(0)
        for other in list(known.values()):
            for first, second in ((head, other), (other, head)):
                for result in (_composed(first, second), _complement(first, second)):
                    if result is not None:
                        insert(result)
    return known


def _contradiction(first: _Known, second: _Known) -> Exception:
    if first.count.is_constant and second.count.is_constant:
        message = f"there are {first.count.constant} values of `T.{first.kind}`, and {second.count.constant}"
        return fail(BAD_LAUNCH, message, second.node.span)
    message = f"two extents of `T.{first.kind}` are not known to be the same"
    return fail(UNSUPPORTED_CONSTRUCT, message, second.node.span)


def _composed(first: _Known, second: _Known) -> _Known | None:
    outer, inner = SCOPE_IDS[first.kind], SCOPE_IDS[second.kind]
    kind = KINDS.get((outer[0], inner[1])) if outer[1] == inner[0] else None
    return None if kind is None else _derived(kind, first.count.times(second.count), second.node)


def _complement(whole: _Known, part: _Known) -> _Known | None:
    (around, inside), (other_around, other_inside) = SCOPE_IDS[whole.kind], SCOPE_IDS[part.kind]
    kind = None
    if around == other_around and ORDER.index(other_inside) < ORDER.index(inside):
        kind = KINDS.get((other_inside, inside))
    elif inside == other_inside and ORDER.index(around) < ORDER.index(other_around):
        kind = KINDS.get((around, other_around))
    if kind is None or not part.count.constant:
        return None
    count = whole.count.over(part.count)
    if count is None and whole.count.is_constant and part.count.is_constant:
        numbers = f"{whole.count.constant} values of `T.{whole.kind}`", f"{part.count.constant} of `T.{part.kind}`"
        message = f"{numbers[0]} are no multiple of {numbers[1]}"
        raise fail(BAD_LAUNCH, message, part.node.span)
    return None if count is None else _derived(kind, count, part.node)


def _derived(kind: str, count: Count, node: ScopeIdDef) -> _Known:
    return _Known(kind, (count.expr(node.span),), count, node)


def _check_axes(defs: Sequence[ScopeIdDef], launch: Launch) -> None:
    """Each id needs its axis. Fails: RM214."""
    axes = {"cta_id": launch.grid, "cta_id_in_cluster": launch.cluster, "thread_id": launch.block}
    for item in defs:
        if item.extents is None or item.kind == PAIR:
            continue
        most = len(axes[item.kind]) if item.kind in axes else 3 if item.kind == "cluster_id" else 1
        if len(item.ids) > min(most, 3):
            message = f"`T.{item.kind}` has {len(item.ids)} ids; the launch has {min(most, 3)} such axes"
            raise fail(BAD_LAUNCH, message, item.span)
    one = tir.IntImm(INT32, 1)  # an axis that the grid does not have
    for size, extent in zip_longest(launch.cluster, launch.grid, fillvalue=one):
        if isinstance(size, tir.IntImm) and isinstance(extent, tir.IntImm):
            if not size.value or extent.value % size.value:
                message = f"an axis of {_counted(extent.value)} has no clusters of {size.value}"
                raise fail(BAD_LAUNCH, message, defs[0].span)
        elif not (isinstance(size, tir.IntImm) and size.value == 1):
            raise fail(UNSUPPORTED_CONSTRUCT, "clusters of a size that is not constant are not executed", defs[0].span)


def _counted(blocks: int) -> str:
    return "1 block" if blocks == 1 else f"{blocks} blocks"


def _check_hardware(defs: Sequence[ScopeIdDef], known: dict[str, _Known]) -> None:
    """Decision: an extent that is no extent of the id is refused; TVM computes ids by 32 and 128 whatever it says."""
    if not defs:
        return
    if not known["thread_id"].count.is_constant:
        _check_parts(defs)
        return
    threads = known["thread_id"].count.constant
    for item in defs:
        if item.extents is None or not isinstance(item.extents[0], tir.IntImm):
            continue
        extent = item.extents[0].value
        if item.kind in SIZES:
            admitted = {-(-threads // SIZES[item.kind])}
        elif item.kind in PARTS:
            most, size = PARTS[item.kind]
            admitted = {most, min(most, -(-threads // size))}
        else:
            continue
        if extent not in admitted:
            message = f"`T.{item.kind}` has {min(admitted)} values in a block of {threads} threads, not {extent}"
            raise fail(BAD_LAUNCH, message, item.span)


def _check_parts(defs: Sequence[ScopeIdDef]) -> None:
    """Extents in a block of any size: those of a part are its size, else they are not known to be right."""
    for item in defs:
        if item.kind in PARTS and item.extents is not None:
            most, (extent, *_) = PARTS[item.kind][0], item.extents
            if not (isinstance(extent, tir.IntImm) and extent.value == most):
                message = (
                    f"an extent of `T.{item.kind}` other than {most} is not executed where that of the block varies"
                )
                raise fail(UNSUPPORTED_CONSTRUCT, message, item.span)


def as_dtype(value: tir.Expr, dtype: DType) -> tir.Expr:
    """The value in another dtype."""
    if value.dtype == dtype:
        return value
    return replace(value, dtype=dtype) if isinstance(value, tir.IntImm) else tir.Cast(dtype, value, span=value.span)


def _same(a: tir.Expr, b: tir.Expr) -> bool:
    return structural_equal(a, b, map_free_vars=False)
