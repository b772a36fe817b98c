"""Stages of generated programs: each writes one buffer, from those that were written before.

| stage      | writes                                                                          |
|------------|---------------------------------------------------------------------------------|
| `mapped`   | every element from an expression, in a block                                    |
| `reduced`  | a sum, product, minimum, maximum or bits over further axes, with or without init |
| `product`  | a matrix product, a product with a vector, a convolution                        |
| `plain`    | the same as mapped, in loops without a block                                    |
| `scanned`  | each element from the one before                                                |
| `counted`  | in a `while` loop                                                               |
| `broken`   | in a loop with break and continue                                               |
| `windowed` | through a `match_buffer` view of a row                                          |
| `viewed`   | through a `decl_buffer` view of all its storage                                 |
| `scattered` | at places that another buffer holds                                            |
| `vectors`  | some lanes at a time                                                            |
| `tiled`    | in an opaque block around another one                                           |

A program that aims at RM305 leaves something out: an init, a row, the first element.
"""

from program_nests import Axis, Loop, Nests
from program_values import Held, Sized, fits, limits, number, operators

from refmlc.dtypes import BOOL, INT32, SCALARS
from refmlc.ir import tir
from refmlc.ir.kinds import IterKind

REDUCE, SPATIAL, OPAQUE = IterKind.REDUCE, IterKind.SPATIAL, IterKind.OPAQUE
MOST = 1200  # instances of a stage
BITS = ("bitwise_or", "bitwise_and", "bitwise_xor")


def volume(shape):
    found = 1
    for extent in shape:
        found *= extent
    return found


def rows(statements):
    """Statements in order."""
    return statements[0] if len(statements) == 1 else tir.SeqStmt(tuple(statements))


class Stages(Nests):
    """Makes stages. `depth` is how deep their expressions are; `regular` programs have loops that may be reordered."""

    depth = 2
    regular = False

    def stage(self, held):
        """Statements that write all of `held`, which is ready then (or not, where the program aims at that)."""
        forms = [self.mapped] * 4 + [self.reduced] * 4 + [self.plain] * 2 + [self.tiled, self.conditional]
        if len(held.shape) == 1:
            forms += [self.scanned, self.counted, self.broken]
        if len(held.shape) >= 1:
            forms += [self.windowed, self.scattered]
        if held.shape and isinstance(held.buffer.shape[-1], tir.IntImm) and held.buffer.dtype.kind != "bool":
            forms += [self.vectors]
        if len(held.shape) in (1, 2) and held.buffer.dtype.kind != "bool":
            forms += [self.product] * 3
        if self.regular:
            plain = [self.mapped] * 4 + [self.reduced] * 3 + [self.plain]
            forms = plain + [self.product] * 4 if self.product in forms else plain
        if self.aim == "RM314" and held.shape:
            forms += [self.windowed] * 30
        found = self.choices.pick(forms)(held)
        held.ready = True
        if self.spoil("RM305", 30):
            return []
        return found

    def stored(self, held, value, indices):
        """The store; the buffer's range grows by the value's."""
        held.low, held.high = min(held.low, value.low), max(held.high, value.high)
        if self.spoil("RM304", 15) and indices:
            indices = [*indices[:-1], self._outside(indices[-1], held.shape[-1])]
        return tir.BufferStore(held.buffer, value.expr, tuple(indices))

    def axis_vars(self, count):
        return [one.expr for one in self.numbers[len(self.numbers) - count :]]

    # ---------------------------------------------------------------------------------------- elementwise

    def mapped(self, held):
        axes = self.axes_of(held)
        if axes and self.spoil("RM305", 30):
            last = axes[-1]
            axes[-1] = Axis(max(last.extent - 1, 0), number(last.size.dtype, max(last.extent - 1, 0)))

        def body():
            value = self.value(held.buffer.dtype, self.depth)
            return self.stored(held, value, self.axis_vars(len(axes)))

        return [self.block("map", axes, body)]

    def plain(self, held):
        def body(indices):
            if not self.choices.chance(30):
                return self.stored(held, self.value(held.buffer.dtype, self.depth), indices)
            value = self.value(self.choices.pick(self.palette), self.depth - 1)
            var = tir.Var("y", value.dtype)
            with self.scope(Sized(var, value.low, value.high)):
                store = self.stored(held, self.value(held.buffer.dtype, self.depth), indices)
            return tir.SeqStmt((tir.Bind(var, value.expr), store))

        return [self.grid(held, body)]

    def conditional(self, held):
        """One value or another, by an `if` around the store; without an else where the buffer was written before."""

        def body():
            indices = self.axis_vars(len(held.shape))
            condition = self.condition(BOOL, 1).expr
            first = self.stored(held, self.value(held.buffer.dtype, self.depth), indices)
            if self.spoil("RM305", 50):
                return tir.IfThenElse(condition, first)
            second = self.stored(held, self.value(held.buffer.dtype, self.depth - 1), indices)
            return tir.IfThenElse(condition, first, second)

        return [self.block("choose", self.axes_of(held), body)]

    def tiled(self, held):
        """An opaque block over the first axis, around a block over the others."""
        if not held.shape:
            return self.mapped(held)
        first, *others = self.axes_of(held)

        def body():
            outer = self.axis_vars(1)

            def inner():
                value = self.value(held.buffer.dtype, self.depth)
                return self.stored(held, value, [*outer, *self.axis_vars(len(others))])

            return self.block("inner", others, inner)

        return [self.block("outer", [Axis(first.extent, first.size, OPAQUE)], body)]

    # ----------------------------------------------------------------------------------------- reductions

    def reduced(self, held):
        """Elements accumulate a term over one or two further axes."""
        kind, room = held.buffer.dtype, max(MOST // max(volume(held.shape), 1), 1)
        extents = [min(self.extent(), room) for _ in range(1 + self.choices.chance(20))]
        further = [Axis(extent, number(self.word, extent), REDUCE) for extent in extents]
        op = self.accumulator(kind)
        start = Sized(self.neutral(op, kind))
        start = Sized(start.expr, start.expr.value, start.expr.value) if kind.kind != "float" else start
        if self.choices.chance(15):
            start = self.value(kind, 0)
        rank, steps = len(held.shape), volume(extents)
        spoiled = self.spoil("RM305", 40)
        inside = not spoiled and self.choices.chance(80)

        def init():
            return self.stored(held, start, self.axis_vars(rank + len(further))[:rank])

        def body():
            indices = self.axis_vars(rank + len(further))[:rank]
            term = self.kept(op, kind, self.term(kind), start, steps)
            place = tir.BufferLoad(held.buffer, tuple(indices))
            operands = (place, term.expr) if op[0] == "m" or self.choices.chance(80) else (term.expr, place)
            low, high = self.accumulated(op, kind, start, term, steps)
            return self.stored(held, Sized(tir.Apply(op, operands, kind), low, high), indices)

        axes = [*self.axes_of(held), *further]
        nest = self.block("reduce", axes, body, init=init if inside else None)
        if inside or spoiled:
            return [nest]
        return [self.grid(held, lambda indices: self.stored(held, start, indices)), nest]

    def accumulator(self, kind):
        if kind.kind == "bool":
            return self.choices.pick(BITS)
        names = ["add", "add", "max", "min", "mul", *(BITS if kind.is_integer else ())]
        if kind.is_integer and kind.bits >= 32:
            names.remove("mul")
        return self.choices.pick([name for name in names if name in operators(kind)])

    def neutral(self, op, kind):
        least, most = limits(kind)
        if kind.is_float:
            ends = {"max": float("-inf"), "min": float("inf"), "mul": 1.0}
            found = number(kind, ends.get(op, self.choices.pick((0.0, -0.0))))
            return found if found.value == found.value or kind.format.has_nan else number(kind, 1)
        return number(kind, {"max": least, "min": most, "mul": min(1, most), "bitwise_and": most}.get(op, 0))

    def term(self, kind):
        """What is accumulated: often a product of two elements."""
        if kind.kind == "bool" or not self.held or self.choices.chance(45):
            return self.value(kind, self.depth - 1)
        a, b = (self.converted(self.element(self.choices.pick(self.held)), kind) for _ in range(2))
        if kind.is_integer:
            return self.integer("mul", kind, a, b)
        return Sized(tir.Apply("mul", (a.expr, b.expr), kind))

    def kept(self, op, kind, term, start, steps):
        """The term, made small where a sum of so many could overflow."""
        if op != "add" or not kind.is_integer or kind.bits < 32:
            return term
        if fits(kind, *self.accumulated(op, kind, start, term, steps)) or self.spoil("RM306"):
            return term
        return self.small(term)

    def accumulated(self, op, kind, start, term, steps):
        """The range of all partial results; a start that may be anything makes it everything."""
        match op:
            case "add":
                return start.low + min(term.low, 0) * steps, start.high + max(term.high, 0) * steps
            case "max" | "min":
                return min(start.low, term.low), max(start.high, term.high)
            case _:
                return limits(kind)

    def product(self, held):
        """Sums of products along the axes of two buffers: the nests that are worth tiles."""
        kind, word = held.buffer.dtype, self.word
        last = held.shape[-1]
        room = max(8 * MOST // max(volume(held.shape), 1), 1)
        depth = max(min(self.extent(), room), 1)
        left, right = (self.operand(kind) for _ in range(2))
        window = self.choices.chance(30)
        shapes = {1: ((depth,), (last, depth)), 2: ((held.shape[0], depth), (depth, last))}[len(held.shape)]
        if window:
            shapes = ((*held.shape[:-1], last + depth - 1), (depth,))
        a, b = (self.fresh(dtype, shape) for dtype, shape in zip((left, right), shapes, strict=True))
        made = [part for one in (a, b) for part in self.mapped(one)]
        axes = [*self.axes_of(held), Axis(depth, number(word, depth), REDUCE)]
        rank = len(held.shape)

        def operand(one, indices):
            return self.converted(Sized(tir.BufferLoad(one.buffer, indices), one.low, one.high), kind)

        def init():
            return self.stored(held, Sized(number(kind, 0)), self.axis_vars(rank + 1)[:rank])

        def body():
            *outer, inner, k = self.axis_vars(rank + 1)
            if window:
                at = (tir.Apply("add", (inner, k), inner.dtype),) if inner.dtype == k.dtype else (inner,)
                pair = operand(a, (*outer, *at)), operand(b, (k,))
            elif rank == 1:
                pair = operand(a, (k,)), operand(b, (inner, k))
            else:
                pair = operand(a, (*outer, k)), operand(b, (k, inner))
            term = self.integer("mul", kind, *pair) if kind.is_integer else self._times_float(kind, *pair)
            start = Sized(number(kind, 0))
            term = self.kept("add", kind, term, start, depth)
            place = tir.BufferLoad(held.buffer, (*outer, inner))
            low, high = self.accumulated("add", kind, start, term, depth)
            value = Sized(tir.Apply("add", (place, term.expr), kind), low, high)
            return self.stored(held, value, (*outer, inner))

        return [*made, self.block("product", axes, body, init=init)]

    def _times_float(self, kind, a, b):
        return Sized(tir.Apply("mul", (a.expr, b.expr), kind))

    def operand(self, kind):
        """The dtype of a factor: as that of the sum, or narrower."""
        narrower = {"int32": "int8", "float32": "float16", "float64": "float32", "float16": "bfloat16"}
        if self.choices.chance(40) and kind.element in narrower:
            return SCALARS[narrower[kind.element]]
        return kind

    # ------------------------------------------------------------------------------------ loops of all kinds

    def scanned(self, held):
        """The first element, then each from the one before."""
        kind = held.buffer.dtype
        size, zero = held.buffer.shape[0], number(held.buffer.shape[0].dtype, 0)
        var = tir.Var("i", size.dtype)
        first = self.stored(held, self.value(kind, 1), [zero])
        begin = 0 if self.spoil("RM304", 40) else 1
        back = tir.Apply("sub", (var, number(size.dtype, 1)), size.dtype)
        before = Sized(tir.BufferLoad(held.buffer, (back,)), *limits(kind))
        with self.scope(Sized(var, begin, max(held.shape[0] - 1, begin))):
            if kind.is_integer:
                value = self.integer(
                    self.choices.pick(("max", "bitwise_xor", "add")), kind, before, self.value(kind, 1)
                )
            else:
                op = self.choices.pick(("bitwise_or",) if kind.kind == "bool" else ("add", "mul", "max"))
                value = Sized(tir.Apply(op, (before.expr, self.value(kind, 1).expr), kind), *limits(kind))
            store = self.stored(held, value, [var])
        count = tir.Apply("sub", (size, number(size.dtype, begin)), size.dtype)
        loop = self.wrapped([Loop(var, number(size.dtype, begin), count)], store)
        return [loop] if self.spoil("RM305", 40) else [first, loop]

    def counted(self, held):
        """A counter in memory, and a `while` loop that it controls."""
        size = held.shape[0]
        counter = self.fresh(INT32, (1,), ready=False)
        place = (number(INT32, 0),)
        index = Sized(tir.BufferLoad(counter.buffer, place), 0, size - 1)
        condition = tir.Apply("lt", (index.expr, number(INT32, size)), BOOL)
        with self.scope(Sized(index.expr, 0, size - 1)):
            store = self.stored(held, self.value(held.buffer.dtype, self.depth), [index.expr])
        after = tir.Apply("add", (index.expr, number(INT32, 1)), INT32)
        body = tir.SeqStmt((store, tir.BufferStore(counter.buffer, after, place)))
        start = tir.BufferStore(counter.buffer, number(INT32, 0), place)
        return [*([] if self.spoil("RM305", 40) else [start]), tir.While(condition, body)]

    def broken(self, held):
        """Every element, then some of them again, until a condition."""
        size = held.buffer.shape[0]
        var = tir.Var("i", size.dtype)
        with self.scope(Sized(var, 0, held.shape[0] - 1)):
            first = self.stored(held, self.value(held.buffer.dtype, 1), [var])
            one = tir.IfThenElse(self.condition(BOOL, 1).expr, self.choices.pick((tir.Break(), tir.Continue())))
            again = self.stored(held, self.value(held.buffer.dtype, 1), [var])
        zero = number(size.dtype, 0)
        step = number(size.dtype, 2) if self.choices.chance(30) else None
        return [
            self.wrapped([Loop(var, zero, size)], first),
            self.wrapped([Loop(var, zero, size, step=step)], tir.SeqStmt((one, again))),
        ]

    # ----------------------------------------------------------------------------------------------- views

    def windowed(self, held):
        """Rows of what is written are matched as a buffer of rank one."""
        *outer, last = self.axes_of(held)
        extent = last.extent + 1 if self.spoil("RM304", 40) else last.extent
        size = number(last.size.dtype, extent) if extent != last.extent else last.size
        declared = number(last.size.dtype, extent + 1) if self.spoil("RM314", 60) else size
        view = tir.Buffer("V", held.buffer.dtype, (declared,), offset_factor=1)

        def matches():
            single = [tir.Range(var, number(var.dtype, 1)) for var in self.axis_vars(len(outer))]
            whole = tir.Range(number(last.size.dtype, 0), size)
            return [tir.MatchBufferRegion(view, tir.BufferRegion(held.buffer, (*single, whole)))]

        def body():
            row = Held(view, (last.extent,))
            store = self.grid(row, lambda at: self.stored(row, self.value(view.dtype, self.depth), at))
            held.low, held.high = min(held.low, row.low), max(held.high, row.high)
            return store

        return [self.block("window", outer, body, matches=matches)]

    def viewed(self, held):
        """The storage of `held` as a buffer of rank one, declared in the rest of the sequence."""
        kind = self.word
        flat = tir.Buffer("F", held.buffer.dtype, (number(kind, volume(held.shape)),))
        view = Held(flat, (volume(held.shape),))
        parts = self.stage(view)
        held.low, held.high = min(held.low, view.low), max(held.high, view.high)
        return [tir.SeqStmt((tir.DeclBuffer(flat, tir.BufferData(held.buffer)), *parts))]

    def scattered(self, held):
        """All elements, then some at places that come from values."""
        parts = self.mapped(held)
        count = self.extent()
        var = tir.Var("i", self.word)
        with self.scope(Sized(var, 0, count - 1)):
            at = [self._clamp(self.value(self.word, 0), extent).expr for extent in held.shape]
            old = Sized(tir.BufferLoad(held.buffer, tuple(at)), held.low, held.high)
            with self.scope(old):
                store = self.stored(held, self.value(held.buffer.dtype, 1), at)
        return [*parts, self.wrapped([Loop(var, number(self.word, 0), number(self.word, count))], store)]

    # --------------------------------------------------------------------------------------------- vectors

    def vectors(self, held):
        """Some lanes at a time; what is left over one by one."""
        *outer, last = self.axes_of(held)
        lanes = self.choices.pick([count for count in (2, 4, 8) if count <= last.extent] or (1,))
        if lanes == 1:
            return self.mapped(held)
        word = last.size.dtype
        groups = last.extent // lanes

        def ramp(at):
            kind = at.dtype
            base = tir.Apply("mul", (at, number(kind, lanes)), kind)
            return tir.Ramp(base, number(kind, 1), tir.IntImm(INT32, lanes), kind.with_lanes(lanes))

        def body():
            *before, at = self.axis_vars(len(outer) + 1)
            value = self.lanes_of(held.buffer.dtype, lanes, self.depth)
            held.low, held.high = limits(held.buffer.dtype)
            return tir.BufferStore(held.buffer, value, (*before, ramp(at)))

        nest = self.block("vector", [*outer, Axis(groups, number(word, groups))], body)
        rest = Axis(last.extent - groups * lanes, number(word, last.extent - groups * lanes))
        if rest.extent == 0:
            return [nest]

        def tail():
            *before, at = self.axis_vars(len(outer) + 1)
            place = tir.Apply("add", (at, number(at.dtype, groups * lanes)), at.dtype)
            return self.stored(held, self.value(held.buffer.dtype, 1), (*before, place))

        return [nest, self.block("rest", [*outer, rest], tail)]

    def lanes_of(self, kind, lanes, depth):
        """An expression of `lanes` lanes. Only what cannot be undefined: floats, narrow integers, bits."""
        wide, count = kind.with_lanes(lanes), tir.IntImm(INT32, lanes)
        loads = [one for one in self.held if one.buffer.dtype == kind and one.shape and one.shape[-1] >= lanes]
        forms = [
            "broadcast",
            *["load"] * 3 * bool(loads),
            *["apply", "apply", "select", "shuffle", "cast"] * (depth > 0),
        ]
        match self.choices.pick(forms):
            case "load":
                held = self.choices.pick(loads)
                *first, _ = self.indices(held)
                start = self.choices.below(held.shape[-1] - lanes + 1)
                ramp = tir.Ramp(number(self.word, start), number(self.word, 1), count, self.word.with_lanes(lanes))
                return tir.BufferLoad(held.buffer, (*first, ramp))
            case "apply":
                safe = ("max", "min", "bitwise_xor", "bitwise_and") if kind.is_integer else ("add", "mul", "max", "sub")
                narrow = ("add", "mul", "sub") if kind.is_integer and kind.bits < 32 else ()
                op = self.choices.pick((*safe, *narrow))
                return tir.Apply(op, tuple(self.lanes_of(kind, lanes, depth - 1) for _ in range(2)), wide)
            case "select":
                condition = tir.Broadcast(self.condition(BOOL, 1).expr, count, BOOL.with_lanes(lanes))
                return tir.Select(condition, *(self.lanes_of(kind, lanes, depth - 1) for _ in range(2)))
            case "shuffle":
                order = tuple(tir.IntImm(INT32, self.choices.below(lanes)) for _ in range(lanes))
                return tir.Shuffle((self.lanes_of(kind, lanes, depth - 1),), order, wide)
            case "cast":
                other = self.choices.pick([one for one in self.palette if one.is_integer and one.bits < 32] or (kind,))
                value = self.lanes_of(other, lanes, depth - 1)
                return value if other == kind else tir.Cast(wide, value)
            case _:
                return tir.Broadcast(self.value(kind, 1).expr, count, wide)

    # --------------------------------------------------------------------------------------------- buffers

    def extent(self):
        """An extent that is a constant."""
        raise NotImplementedError

    def fresh(self, kind, shape, *, ready=True):
        """A buffer of the program's own, to be allocated at its root."""
        raise NotImplementedError
