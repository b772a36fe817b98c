"""Random small functions of one to three loop nests, as text: most are sound, some are wrong in one place.

They read A and B, fill T (allocated) and C. `pick(n)` chooses one of 0 … n - 1. Where `symbolic`, one extent is `n` in
the shapes of B, T and C and in most loops.
"""

NAMES = "ijklmno"


class NestText:
    """One function. `shapes` are of the buffers A, B, T, C; each has the dtype `kind`."""

    def __init__(self, pick, nests=1, *, symbolic=False):
        self.pick = pick
        self.symbolic = symbolic
        self.kind = self.one(("float32", "float32", "int32", "int8"))
        dims = (1 + pick(4), 1 + pick(4))
        self.n = dims[0]
        self.shapes = {
            "A": (1 + pick(5), 1 + pick(5)) if pick(2) else dims,
            "B": dims,
            "T": dims if pick(4) else (dims[0],),
            "C": dims if pick(3) else dims[::-1],
        }
        self.lines = []
        for number in range(nests):
            target = "C" if number == nests - 1 else self.one("TTTC")
            self.sources = ["A", "B", *("TC" if number else "")]
            self.one((self.block, self.block, self.block, self.plain))(target, f"b{number}")

    def one(self, items):
        return items[self.pick(len(items))]

    def rarely(self, chance=25):
        return self.pick(chance) == 0

    @property
    def text(self):
        if self.symbolic:
            head = f'def main(A: T.Buffer({self.shapes["A"]}, "{self.kind}"), b: T.handle, c: T.handle):\n'
            head += "    n = T.int32()\n"
            head += "".join(
                f'    {name} = T.match_buffer({name.lower()}, {self.shape(name)}, "{self.kind}")\n' for name in "BC"
            )
        else:
            params = ", ".join(f'{name}: T.Buffer({self.shape(name)}, "{self.kind}")' for name in "ABC")
            head = f"def main({params}):\n"
        alloc = f'    T_ = T.sblock_alloc_buffer({self.shape("T")}, "{self.kind}")\n'
        body = "\n".join("    " + line for line in self.lines)
        return f"from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n{head}{alloc}{body}\n"

    def shape(self, name):
        """The shape of a buffer as text."""
        extents = ["n" if self.symbolic and extent == self.n else str(extent) for extent in self.shapes[name]]
        return f"({', '.join(extents)},)"

    def actual(self, name, n):
        """The shape of a buffer where `n` has another value."""
        free = self.symbolic and name != "A"
        return tuple(n if free and extent == self.n else extent for extent in self.shapes[name])

    def size(self, extent):
        """The extent of a loop or axis as text."""
        return "n" if self.symbolic and extent == self.n and not self.rarely(6) else str(extent)

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    # ------------------------------------------------------------------------------------------ blocks

    def block(self, target, name):
        shape = self.shapes[target]
        spatial = [(f"v{axis}", extent) for axis, extent in enumerate(shape)]
        if self.rarely():
            spatial.append(("vx", 1 + self.pick(3)))
        reduce = [(f"r{axis}", 1 + self.pick(4)) for axis in range(self.one((0, 0, 1, 1, 2)))]
        self.sizes = dict((*spatial, *reduce))
        loops, values, where = [], {}, []
        for axis, extent in (*spatial, *reduce):
            values[axis] = self.split(axis, extent, loops, where)
        if len(spatial) > 1 and not self.pick(5):
            self.fuse(spatial[:2], loops, values)
        if self.pick(2):
            loops = [loops.pop(self.pick(len(loops))) for _ in range(len(loops))]
        if self.rarely(20):
            loops.insert(self.pick(len(loops) + 1), ("again", 2))
        if not loops:
            loops = [("once", 1)]
        extents = ", ".join(self.size(extent) for _, extent in loops)
        self.line(0, f"for {', '.join(each for each, _ in loops)} in T.grid({extents}):")
        self.line(1, f'with T.sblock("{name}"):')
        for kind, axes in (("spatial", spatial), ("reduce", reduce)):
            for axis, extent in axes:
                domain = self.size(extent + self.rarely(60))
                self.line(2, f"{axis} = T.axis.{kind}({domain}, {values[axis]})")
        for condition in where:
            self.line(2, f"T.where({condition})")
        self.body(target, spatial, reduce)

    def split(self, axis, extent, loops, where):
        """The loops of one axis, and the axis in terms of them."""
        var = axis.replace("v", "i").replace("r", "k")
        match self.pick(8):
            case 0 | 1:
                factor = 1 + self.pick(3)
                if extent % factor == 0 or (not where and self.pick(2)):
                    loops += [(f"{var}_0", -(-extent // factor)), (f"{var}_1", factor)]
                    value = f"{var}_0 * {factor} + {var}_1"
                    if extent % factor and not self.rarely(4):
                        where.append(f"{value} < {extent}")
                    return value
            case 2 if self.rarely(6):
                loops.append((var, extent))
                return f"{extent - 1} - {var}"
            case 3 if self.rarely(10):
                loops.append((var, max(extent - 1, 1)))
                return var
            case _:
                pass
        loops.append((var, extent))
        return var

    def fuse(self, axes, loops, values):
        (first, n), (second, m) = axes
        names = {first.replace("v", "i"), second.replace("v", "i")}
        if names <= {name for name, _ in loops}:
            loops[:] = [("f", n * m), *(loop for loop in loops if loop[0] not in names)]
            values[first], values[second] = f"f // {m}", f"f % {m}"

    def body(self, target, spatial, reduce):
        axes = [axis for axis, _ in spatial][: len(self.shapes[target])]
        at = [self.shifted(axis, 1 if self.rarely(15) else 0) for axis in axes]
        if self.rarely(20):
            at[-1] = "0"
        if self.rarely(20) and len(at) == 2:
            at.reverse()
        if reduce and self.rarely(60):
            at[0] = reduce[0][0]
        own = f"{'T_' if target == 'T' else target}[{', '.join(at)}]"
        names = [axis for axis, _ in (*spatial, *reduce)]
        if reduce and not self.rarely(8):
            self.line(2, "with T.init():")
            self.line(3, f"{own} = {self.number()}")
        if self.rarely(6):
            self.line(2, f"w: T.let[T.{self.kind}] = {self.value(names)}")
            names.append("w")
        value = self.value(names)
        if reduce or self.rarely(8):
            value = self.one((f"{own} + {value}", f"T.max({own}, {value})", f"{value} + {own}", f"{own} - {value}"))
        if self.rarely(10):
            self.line(2, f"if {axes[0]} < {self.pick(4)}:")
            self.line(3, f"{own} = {value}")
        else:
            self.line(2, f"{own} = {value}")
        if self.rarely(15):
            self.line(2, f"{own} = {own} + {self.value(names)}")

    # ------------------------------------------------------------------------------------------- values

    def number(self):
        value = self.one((0, 0, 1, -3, 100))
        return f"T.{self.kind}({value})"

    def shifted(self, text, by):
        return text if not by else f"{text} + {by}" if self.pick(2) else f"{text} - {by}"

    def index(self, names, extent):
        """An index that is often below `extent`."""
        plain = [name for name in names if name != "w"]
        fitting = [name for name in plain if self.sizes[name] <= extent]
        name = self.one(fitting if fitting and not self.rarely(10) else plain)
        match self.pick(16 if fitting else 6):
            case 0:
                return str(self.pick(extent))
            case 1:
                return f"({name} + {self.one(plain)}) % {extent}"
            case 2:
                return f"T.min({name} + {self.pick(3)}, {extent - 1})"
            case 3:
                return f"{name} // 2"
            case 4 | 5:
                return self.shifted(name, int(self.rarely(4)))
            case _:
                return name

    def load(self, names):
        source = self.one(self.sources)
        indices = [self.index(names, extent) for extent in self.shapes[source]]
        text = f"{'T_' if source == 'T' else source}[{', '.join(indices)}]"
        bounds = zip(indices, self.shapes[source], strict=True)
        if self.rarely(3):
            inside = [f"0 <= {index} and {index} < {extent}" for index, extent in bounds if not index.isdigit()]
            if inside:
                return f"T.if_then_else({' and '.join(inside)}, {text}, {self.number()})"
        return text

    def value(self, names, depth=2):
        if depth == 0 or not self.pick(3):
            return "w" if "w" in names and self.pick(2) else self.load(names) if self.pick(5) else self.number()
        a, b = self.value(names, depth - 1), self.value(names, depth - 1)
        return self.one((f"({a} + {b})", f"({a} * {b})", f"T.min({a}, {b})", f"T.Select({a} < {b}, {a}, {b})"))

    # -------------------------------------------------------------------------------------- plain loops

    def plain(self, target, _name):
        """Loops without blocks: fill, then perhaps accumulate; the extent is sometimes short, the start late."""
        shape = self.shapes[target]
        names = NAMES[: len(shape)]
        self.sizes = {**dict(zip(names, shape, strict=True)), "r": 1 + self.pick(3)}
        own = f"{'T_' if target == 'T' else target}[{', '.join(names)}]"
        first = self.pick(3) == 0  # the reduction outside of some others, its init a statement
        loops = list(names)
        if first:
            loops.insert(self.pick(len(loops) + 1), "r")
        for depth, name in enumerate(loops):
            start = int(self.rarely(15))
            end = self.size(max(self.sizes[name] - self.rarely(15), start + 1))
            self.line(depth, f"for {name} in range({start}, {end}):" if start else f"for {name} in range({end}):")
        self.fill(len(loops), names, own, first=first)

    def fill(self, depth, names, own, *, first):
        """The body of plain loops."""
        if self.rarely(8):
            self.line(depth, f"if {names[0]} {self.one(('> 0', '< 3', '<= 1'))}:")
            depth += 1
        if first:
            self.line(depth, f"if {self.one(('r == 0', 'r < 1', 'r <= 0', f'r == {names[0]}', 'r >= 1', 'r == 1'))}:")
            self.line(depth + 1, f"{own} = {self.number()}")
            self.line(depth, f"{own} = {own} + {self.value([*names, 'r'])}")
            return
        if self.pick(2):
            self.line(depth, f"{own} = {self.value([*names])}")
            return
        if not self.rarely(8):
            self.line(depth, f"{own} = {self.number()}")
        self.line(depth, f"for r in range({self.size(self.sizes['r'])}):")
        self.line(depth + 1, f"{own} = {own} + {self.value([*names, 'r'])}")
