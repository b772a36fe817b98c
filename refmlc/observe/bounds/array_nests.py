"""Plain functions executed on arrays: each nest at once, or in a few pieces.

Without reduce axes a nest evaluates its value. A fold evaluates its terms and combines them:

| fold          | result                                                                                             |
|---------------|----------------------------------------------------------------------------------------------------|
| max, min      | between the extremes of the ends; anything where a term may be NaN (its order decides, NUM-106)    |
| add           | the sum of the centres, by the theorem below                                                       |
| of integers   | the exact sum, greatest or least                                                                   |

**Sums.** Let t_1 … t_n be terms with |t_i - m_i| <= r_i, s_i = |m_i| + r_i, and let them be summed along any binary
tree, each node rounded to nearest with |fl(y) - y| <= u |y| + a (of two formats where it may go by way of the wider
one: u and a are the sums). A path to the root has at most n - 1 nodes, so each term and each absolute error is
multiplied by at most (1 + u)**(n - 1): the result is off the exact sum of the t_i by at most

    ((1 + u)**(n - 1) - 1) * sum s_i + (n - 1) * a * (1 + u)**(n - 1),

and off the sum of the m_i by sum r_i more. That is the textbook bound, which `summation` halves for short sums.

Products of two factors are never made. With F = |f| + r_f and G = |g| + r_g the sums are matrix products,

    m = sum f g,    r = sum (|f| r_g + r_f G) + u * sum F G + n * a,    s <= (1 + u) * sum F G + n * a,

which BLAS computes in any order in binary64; its own error is at most (n + 2) * 2**-52 * sum F G.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import known as known_number
from refmlc.observe.bounds.array_expressions import ArrayEvaluator, ArrayValue, CountedLoop, known, wrapped
from refmlc.observe.bounds.ball_functions import NotPlain
from refmlc.observe.bounds.balls import TINY, UNIT, Balls, between, exactly, raised
from refmlc.observe.bounds.cell_arrays import CellArrays, Wholes, require_supported
from refmlc.observe.bounds.choice import Value
from refmlc.observe.bounds.enclosure import Enclosure
from refmlc.observe.bounds.nests import NestFunction, PlainNest
from refmlc.observe.bounds.places import View, fresh
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.run import Run
from refmlc.observe.bounds.summation import gamma

AT_ONCE = 1 << 21
"""The elements of an array that is made at once: 16 MiB."""
MOST_AT_ONCE = 1 << 25


def execute_on_arrays(run: Run, plain: NestFunction) -> None:
    """Execute a function whose parameters have their values and views. Fails: `NotPlain`; no memory is changed then."""
    written: dict[int, tuple[View, CellArrays]] = {}
    for buffer in plain.allocated:
        require_supported(buffer.dtype)
        run.views[buffer] = fresh(buffer.dtype, tuple([_number(extent, run.values) for extent in buffer.shape]))
    try:
        for nest in plain.nests:
            view = run.views[nest.store.buffer]
            written.setdefault(id(view.region), (view, view.region.arrays()))
            _execute(run, nest, view)
    except NotPlain:
        for view, before in written.values():
            view.region.put(before)
        raise


def iterations(run: Run, plain: NestFunction) -> int:
    """How often the stores of a function are executed. Fails: `NotPlain`."""
    return sum(math.prod(max(0, _number(loop.extent, run.values)) for loop in nest.loops) for nest in plain.nests)


def _number(node: tir.Expr, values: Mapping[tir.Var, Value]) -> int:
    """A bound of a loop, an extent of a buffer. Fails: `NotPlain` where it is none yet."""
    value = known_number(node, {var: number for var, number in values.items() if isinstance(number, int)})
    if value is None:
        raise NotPlain("an extent that is not known before the nest")
    return value


@dataclass(frozen=True)
class _Domain:
    """The iterations that are executed at once: the first number and the extent of each loop."""

    starts: tuple[int, ...]
    extents: tuple[int, ...]
    folded: tuple[bool, ...]

    @property
    def places(self) -> tuple[int, ...]:
        """The axes of the result."""
        return tuple(axis for axis, folded in enumerate(self.folded) if not folded)

    @property
    def kept(self) -> tuple[int, ...]:
        """The extents, with 1 for loops that are folded."""
        return tuple([1 if folded else extent for extent, folded in zip(self.extents, self.folded, strict=True)])

    @property
    def terms(self) -> int:
        """How many iterations are folded into one element."""
        return math.prod(extent for extent, folded in zip(self.extents, self.folded, strict=True) if folded)

    def pieces(self, at_once: int) -> Iterator["_Domain"]:
        """Parts along the longest loop that is not folded, in which it takes at most `at_once` iterations."""
        axis = max(self.places, key=lambda each: self.extents[each], default=None)
        if axis is None or self.extents[axis] <= at_once:
            yield self
            return
        for first in range(0, self.extents[axis], at_once):
            starts, extents = list(self.starts), list(self.extents)
            starts[axis], extents[axis] = starts[axis] + first, min(at_once, extents[axis] - first)
            yield _Domain(tuple(starts), tuple(extents), self.folded)


def _execute(run: Run, nest: PlainNest, view: View) -> None:
    if any(run.views[buffer].region is view.region for buffer in nest.reads):
        raise NotPlain("a nest that reads what it writes")
    starts = tuple([_number(loop.min, run.values) for loop in nest.loops])
    extents = tuple([max(0, _number(loop.extent, run.values)) for loop in nest.loops])
    domain = _Domain(starts, extents, tuple([loop.loop_var in nest.reduced for loop in nest.loops]))
    if 0 in domain.kept:
        return
    if 0 in extents:
        raise NotPlain("a reduction of nothing")  # nothing is stored then, not even the init
    work = _work(nest, domain)
    longest = max([extents[axis] for axis in domain.places], default=1)
    at_once = max(1, longest * AT_ONCE // max(work, 1))
    if work // longest * min(at_once, longest) > MOST_AT_ONCE:
        raise NotPlain("a nest that is too large to be executed at once")
    for piece in domain.pieces(at_once):
        with np.errstate(all="ignore"):
            evaluator = _evaluator(run, nest, piece)
            value = _folded(run, nest, piece, evaluator) if nest.fold else evaluator(nest.store.value)
            _store(view, evaluator.places(nest.store, view), value, piece)


def _evaluator(run: Run, nest: PlainNest, piece: _Domain) -> ArrayEvaluator:
    """Expressions in the iterations of a piece."""
    values: dict[tir.Var, ArrayValue] = {}
    for var, value in run.values.items():
        if isinstance(value, int):
            values[var] = known(np.asarray(value))
        elif isinstance(value, Enclosure) and value.radius == 0.0:
            members = value.special_members() or [float(value.centre)]
            values[var] = exactly(np.asarray(members[0]))
    count, counted = len(nest.loops), dict[tir.Var, CountedLoop]()
    for axis, (loop, start, extent) in enumerate(zip(nest.loops, piece.starts, piece.extents, strict=True)):
        shape = tuple([extent if each == axis else 1 for each in range(count)])
        values[loop.loop_var] = known(np.arange(start, start + extent).reshape(shape))
        counted[loop.loop_var] = CountedLoop(axis, start, extent)
    counted |= {var: counted[value] for var, value in nest.axes if isinstance(value, tir.Var) and value in counted}
    evaluator = ArrayEvaluator(values, counted, count, run.views, run.freedom)
    for var, axis_value in nest.axes:
        evaluator.values[var] = evaluator(axis_value)
    return evaluator


def _store(view: View, numbers: np.ndarray, value: ArrayValue, piece: _Domain) -> None:
    """New elements in place of those before: arrays are never changed."""
    cells, kept = view.region.arrays(), piece.kept
    numbers = np.broadcast_to(numbers, kept).reshape(-1)
    known_mask = cells.known.copy()
    known_mask[numbers] = True
    before = cells.values
    if isinstance(value, Balls) and isinstance(before, Balls):
        mid, rad = before.mid.copy(), before.rad.copy()
        mid[numbers] = np.broadcast_to(value.mid, kept).reshape(-1)
        rad[numbers] = np.broadcast_to(value.rad, kept).reshape(-1)
        view.region.put(CellArrays(Balls(mid, rad), known_mask), written=True)
        return
    assert isinstance(value, Wholes) and isinstance(before, Wholes)  # noqa: PT018, S101 - one dtype
    values, certain = before.values.copy(), before.certain.copy()
    values[numbers] = np.broadcast_to(value.values, kept).reshape(-1)
    certain[numbers] = np.broadcast_to(value.certain, kept).reshape(-1)
    view.region.put(CellArrays(Wholes(values, certain), known_mask), written=True)


# ---------------------------------------------------------------------------------------------------------- folds


def _factors(nest: PlainNest) -> tuple[tir.Expr, tir.Expr, bool] | None:
    """The two factors of a sum of products, and whether the product is subtracted."""
    if nest.fold != "add" or len(nest.terms) != 1:
        return None
    term, minus = nest.terms[0]
    if isinstance(term, tir.Apply) and term.op == "mul" and term.dtype.is_float:
        return term.args[0], term.args[1], minus
    return None


def _work(nest: PlainNest, domain: _Domain) -> int:
    """The elements of the largest array that the nest makes."""
    factors = _factors(nest)
    if factors is None:
        return math.prod(domain.extents)
    axes = dict(nest.axes)
    sizes = [math.prod(domain.kept)]
    for factor in factors[:2]:
        used = {axes.get(node, node) for node in walk(factor) if isinstance(node, tir.Var)}
        sizes.append(math.prod(e for loop, e in zip(nest.loops, domain.extents, strict=True) if loop.loop_var in used))
    return max(sizes)


def _folded(run: Run, nest: PlainNest, piece: _Domain, evaluator: ArrayEvaluator) -> ArrayValue:
    assert nest.init is not None  # noqa: S101 - of every fold
    init, dtype = evaluator(nest.init), nest.store.buffer.dtype
    factors = _factors(nest)
    if isinstance(init, Balls) and factors is not None:
        left, right, minus = factors
        parts = _products(evaluator.balls(left), evaluator.balls(right), piece, Grid(dtype, run.freedom))
        signed = Partial(-parts.mid, parts.spread, parts.size, parts.nan, parts.lost) if minus else parts
        return _closed([signed, _partial_of(init)], piece.terms + 1, Grid(dtype, run.freedom))
    terms = [(evaluator(term), minus) for term, minus in nest.terms]
    if isinstance(init, Wholes):
        wholes = [(term, minus) for term, minus in terms if isinstance(term, Wholes)]
        result = _fold_wholes(nest.fold, init, wholes, piece)
        return Wholes(wrapped(result.values, dtype), result.certain)
    floats = [Balls(-term.mid, term.rad) if minus else term for term, minus in terms if isinstance(term, Balls)]
    if nest.fold == "add":
        sums = [*[_partial_of(term, piece) for term in floats], _partial_of(init)]
        return _closed(sums, piece.terms * len(floats) + 1, Grid(dtype, run.freedom))
    return _extreme_of([*floats, init], piece, greatest=nest.fold == "max")


def _axes(piece: _Domain) -> tuple[int, ...]:
    return tuple(axis for axis, folded in enumerate(piece.folded) if folded)


def _full(array: np.ndarray, piece: _Domain) -> np.ndarray:
    """An array with all iterations of the loops that are folded."""
    array = array.reshape((1,) * (len(piece.extents) - array.ndim) + array.shape)
    shape = [e if folded else have for e, folded, have in zip(piece.extents, piece.folded, array.shape, strict=True)]
    return np.broadcast_to(array, shape)


def _fold_wholes(op: str, init: Wholes, terms: Sequence[tuple[Wholes, bool]], piece: _Domain) -> Wholes:
    values, certain = init.values, init.certain
    fold = {"add": np.add, "max": np.maximum, "min": np.minimum}[op]
    for term, minus in terms:
        part = fold.reduce(_full(term.values, piece), axis=_axes(piece), keepdims=True)
        values = fold(values, -part if minus else part)
        certain = certain & np.logical_and.reduce(_full(term.certain, piece), axis=_axes(piece), keepdims=True)
    return Wholes(values, certain)


def _extreme_of(terms: Sequence[Balls], piece: _Domain, *, greatest: bool) -> Balls:
    """The greatest or least of all terms."""
    fold = np.maximum if greatest else np.minimum
    low = high = np.asarray(-np.inf if greatest else np.inf)
    lost = np.zeros((), bool)
    for number, term in enumerate(terms):
        ends = term.ends()
        axes = _axes(piece) if number < len(terms) - 1 else ()  # the last one is the init
        parts = [fold.reduce(_full(end, piece), axis=axes, keepdims=True) if axes else end for end in ends]
        low, high = fold(low, parts[0]), fold(high, parts[1])
        unknown = np.isnan(term.mid) | np.isinf(term.rad)
        lost = lost | (np.logical_or.reduce(_full(unknown, piece), axis=axes, keepdims=True) if axes else unknown)
    result = between(low, high)
    return Balls(np.where(lost, 0.0, result.mid), np.where(lost, np.inf, result.rad))


@dataclass(frozen=True)
class Partial:
    """Sums over terms: of centres, of radii, of sizes; where a term is NaN, and where one is no ball."""

    mid: np.ndarray
    spread: np.ndarray
    size: np.ndarray
    nan: np.ndarray
    lost: np.ndarray


def _partial_of(term: Balls, piece: _Domain | None = None) -> Partial:
    """The sums of a term over the loops that are folded; without them the term alone."""
    special = term.special
    mid, rad = np.where(special, 0.0, term.mid), np.where(special, 0.0, term.rad)

    def summed(array: np.ndarray) -> np.ndarray:
        if piece is None:
            return array
        return np.asarray(np.add.reduce(_full(array, piece), axis=_axes(piece), keepdims=True, dtype=np.float64))

    nan = summed(np.isnan(term.mid).astype(float)) > 0.0
    return Partial(summed(mid), summed(rad), summed(np.abs(mid) + rad), nan, summed(special.astype(float)) > 0.0)


def _closed(parts: Sequence[Partial], count: int, grid: Grid) -> Balls:
    """The sum of `count` terms along any tree."""
    mid, spread, size = parts[0].mid, parts[0].spread, parts[0].size
    nan, lost = parts[0].nan, parts[0].lost
    for part in parts[1:]:
        mid, spread, size = mid + part.mid, spread + part.spread, size + part.size
        nan, lost = nan | part.nan, lost | part.lost
    unit, least = units(grid)
    growth = gamma(count, unit)
    size = raised(size, 2 * count + 8)
    rounding = np.where(size > 0.0, growth * size + count * least * (1.0 + growth), 0.0)
    centre = np.where(size > 0.0, (2 * count + 8) * UNIT * size + count * TINY, 0.0)
    rad = raised(spread + rounding + centre, 2 * count + 16)
    lost = (lost | ~(raised(size + rad, 2) < grid.threshold)) & ~nan
    mid = np.where(nan, np.nan, np.where(lost, 0.0, mid))
    return Balls(mid, np.where(nan, 0.0, np.where(lost, np.inf, rad)))


def units(grid: Grid) -> tuple[float, float]:
    """The relative and the absolute error of a rounding, perhaps by way of the wider format."""
    rows = [grid.format] if grid.wide is None else [grid.format, grid.wide]
    unit = sum(math.ldexp(1.0, -row.precision) for row in rows)
    least = sum(max(math.ldexp(1.0, row.minimum_exponent - row.precision), 2.0**-1074) for row in rows)
    return math.nextafter(unit, 1.0), math.nextafter(least, 1.0)


# ------------------------------------------------------------------------------------------------ sums of products


def _products(f: Balls, g: Balls, piece: _Domain, grid: Grid) -> Partial:
    """The sums of f * g over the loops that are folded."""
    unit, least = units(grid)
    count = piece.terms
    contract = _Contraction.of(f.mid, g.mid, piece)
    bad_f, bad_g = f.special, g.special
    special = bool(bad_f.any() or bad_g.any())
    f_mid, f_rad = (np.where(bad_f, 0.0, f.mid), np.where(bad_f, 0.0, f.rad)) if special else (f.mid, f.rad)
    g_mid, g_rad = (np.where(bad_g, 0.0, g.mid), np.where(bad_g, 0.0, g.rad)) if special else (g.mid, g.rad)
    f_size, g_size = np.abs(f_mid) + f_rad, np.abs(g_mid) + g_rad
    mid, size = contract(f_mid, g_mid), contract(f_size, g_size)
    spread = np.zeros(np.shape(size))
    if g_rad.any():
        spread = spread + contract(np.abs(f_mid), g_rad)
    if f_rad.any():
        spread = spread + contract(f_rad, g_size)
    underflow = np.where(size > 0.0, count * (least + TINY), 0.0)
    size = raised(size, 2 * count + 8)
    spread = raised(spread + unit * size + underflow, 2 * count + 16)
    size = raised(size * (1.0 + unit) + underflow, 4)
    if not special:
        nothing = np.zeros((1,) * len(piece.extents), bool)
        return Partial(mid, spread, size, nothing, nothing)
    ones_f, ones_g = np.ones(np.shape(f.mid)), np.ones(np.shape(g.mid))
    nan = contract(np.isnan(f.mid).astype(float), ones_g) + contract(ones_f, np.isnan(g.mid).astype(float))
    lost = contract(bad_f.astype(float), ones_g) + contract(ones_f, bad_g.astype(float))
    return Partial(mid, spread, size, nan > 0.0, lost > 0.0)


@dataclass(frozen=True)
class _Contraction:
    """Products of two arrays summed over the loops that are folded, as matrix products.

    `batch`: the loops that both depend on, `rows` those of the first alone, `columns` those of the second alone.
    """

    piece: _Domain
    batch: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @classmethod
    def of(cls, f: np.ndarray, g: np.ndarray, piece: _Domain) -> "_Contraction":
        """By the shapes of the arrays."""
        shapes = [_full(each, piece).shape for each in (f, g)]
        batch, rows, columns = list[int](), list[int](), list[int]()
        for axis in piece.places:
            (batch if shapes[0][axis] == shapes[1][axis] else rows if shapes[0][axis] > 1 else columns).append(axis)
        return cls(piece, tuple(batch), tuple(rows), tuple(columns))

    def __call__(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """The sums; each axis has the length of the longer of the two, a folded one 1."""
        f, g, folded = _full(f, self.piece), _full(g, self.piece), _axes(self.piece)
        left = f.transpose(*self.batch, *self.rows, *folded, *self.columns)
        right = g.transpose(*self.batch, *folded, *self.columns, *self.rows)
        sizes = [math.prod(array.shape[axis] for axis in axes) for array, axes in self._parts(f, g)]
        batch, rows, columns, terms = sizes
        product = np.matmul(left.reshape(batch, rows, terms), right.reshape(batch, terms, columns))
        order = (*self.batch, *self.rows, *self.columns)
        shape = [max(f.shape[axis], g.shape[axis]) for axis in order]
        result = product.reshape(*shape, *([1] * len(folded)))
        return np.asarray(result.transpose(np.argsort((*order, *folded))))

    def _parts(self, f: np.ndarray, g: np.ndarray) -> list[tuple[np.ndarray, tuple[int, ...]]]:
        return [(f, self.batch), (f, self.rows), (g, self.columns), (f, _axes(self.piece))]
