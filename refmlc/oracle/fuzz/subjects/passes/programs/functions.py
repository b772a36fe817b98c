"""Graphs of several functions, closures, recursion; constants to fold."""

from collections.abc import Mapping

X = 'R.Tensor((2, 3), "int32")'

FUNCTIONS: Mapping[str, str] = {
    "canonical": f"""
    @R.function
    def main(x: {X}, y: {X}):
        with R.dataflow():
            a = x
            b = (a, y)
            c = b[0]
            d = (c, b[1])
            e = R.add(d[0], d[1])
            f = e
            R.output(f, b)
        g = f
        h = (g, b)
        return h
""",
    "canonical_casts": """
    @R.function
    def main(x: R.Tensor(dtype="int32", ndim=2), y: R.Tensor((2, 3), "int32")):
        n = T.int64()
        m = T.int64()
        p = T.int64()
        a = R.match_cast(x, R.Tensor((n, m), "int32"))
        b = R.match_cast(a, R.Tensor((p, 3), "int32"))
        c = R.match_cast(y, R.Tensor((2, 3), "int32"))
        d = R.add(b, b)
        e = R.full(R.shape([p, n]), R.const(1, "int32"), "int32")
        return (d, e, c)
""",
    "canonical_branch": f"""
    @R.function
    def main(c: R.Tensor((), "bool"), x: {X}) -> R.Tuple({X}, {X}):
        a = x
        t = (a, a)
        if c:
            b = t[0]
            r = R.add(b, a)
        else:
            d = t[1]
            r = d
        e = r
        return (e, a)
""",
    "dead": f"""
    @R.function(private=True)
    def unused(x: {X}) -> {X}:
        return R.add(x, x)

    @R.function(private=True)
    def partly(x: {X}, y: {X}) -> R.Tuple({X}, {X}):
        a = R.add(x, x)
        b = R.multiply(y, y)
        return (a, b)

    @R.function
    def main(x: {X}, y: {X}):
        cls = Module
        with R.dataflow():
            t = cls.partly(x, y)
            a = t[0]
            b = R.negative(a)
            d = R.add(y, y)
            R.output(b)
        return b
""",
    "dead_cast": """
    @R.function
    def main(x: R.Tensor(dtype="int32", ndim=1), y: R.Tensor(("n",), "int32")):
        n = T.int64()
        k = T.int64()
        a = R.match_cast(x, R.Tensor((k,), "int32"))
        b = R.add(y, y)
        c = R.match_cast(R.shape_of(x), R.Shape([k]))
        d = R.arange(R.prim_value(0), R.prim_value(k), R.prim_value(1), "int64")
        return (b, d)
""",
    "private_functions": """
    @R.function(private=True)
    def scaled(x: R.Tensor(("n", 3), "int32"), s: R.Shape(["k"]), unused: R.Tensor((2,), "int32")):
        n = T.int64()
        k = T.int64()
        a = R.add(x, x)
        b = R.full(R.shape([k, n]), R.const(3, "int32"), "int32")
        return (a, b, unused)

    @R.function
    def main(x: R.Tensor((2, 3), "int32"), y: R.Tensor((4, 3), "int32"), z: R.Tensor((2,), "int32")):
        cls = Module
        t = cls.scaled(x, R.shape([5]), z)
        u = cls.scaled(y, R.shape([1]), z)
        a = t[0]
        b = u[1]
        return (a, b)
""",
    "private_tuples": f"""
    @R.function(private=True)
    def first(t: R.Tuple({X}, R.Tuple({X}, {X})), y: {X}) -> {X}:
        a = t[1]
        b = a[1]
        return R.subtract(b, y)

    @R.function
    def main(x: {X}, y: {X}):
        cls = Module
        a = R.add(x, y)
        t = (x, (y, a))
        b = cls.first(t, a)
        c = cls.first((a, (x, y)), b)
        return (b, c)
""",
    "recursion": f"""
    @R.function
    def main(k: R.Tensor((), "int64"), x: {X}, y: {X}) -> {X}:
        cls = Module
        n = R.minimum(k, R.const(3, "int64"))
        c = R.greater(n, R.const(0, "int64"))
        if c:
            a = R.add(x, y)
            b = R.subtract(n, R.const(1, "int64"))
            d = cls.main(b, a, y)
            r = R.add(d, a)
        else:
            r = R.multiply(x, y)
        return r
""",
    "closures": f"""
    @R.function
    def main(x: {X}, y: {X}, c: R.Tensor((), "bool")) -> {X}:
        a = R.add(x, y)

        @R.function
        def inner(z: {X}) -> {X}:
            b: {X} = R.multiply(a, z)
            d: {X} = R.add(b, y)
            return d

        e: {X} = inner(x)
        if c:
            f: {X} = inner(e)
            r: {X} = R.add(f, a)
        else:
            r: {X} = inner(a)
        return r
""",
    "closures_symbolic": """
    @R.function
    def main(x: R.Tensor(("n", 2), "int32"), y: R.Tensor(("n", 2), "int32")) -> R.Tensor(("n", 2), "int32"):
        n = T.int64()

        @R.function
        def inner(z: R.Tensor((n, 2), "int32")) -> R.Tensor((n, 2), "int32"):
            a: R.Tensor((n, 2), "int32") = R.add(z, y)
            return a

        b: R.Tensor((n, 2), "int32") = inner(x)
        c: R.Tensor((n, 2), "int32") = inner(b)
        return c
""",
    "folded": """
    @R.function
    def main(x: R.Tensor((2, 3), "int32")):
        with R.dataflow():
            a = R.full(R.shape([2, 3]), R.const(2147483647, "int32"), "int32")
            b = R.zeros(R.shape([2, 3]), "int32")
            c = R.add(b, R.const(3, "int32"))
            d = R.less(R.const(-1, "int32"), R.const(2, "int32"))
            e = R.where(d, x, c)
            f = R.multiply(R.const(65536, "int32"), R.const(3, "int32"))
            g = R.add(e, f)
            h = R.arange(R.prim_value(0), R.prim_value(3), R.prim_value(1), "int32")
            k = R.add(g, h)
            R.output(k, a)
        return (k, a)
""",
    "folded_types": """
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            a = R.astype(R.const(300, "int32"), "uint8")
            b = R.astype(R.const(-1, "int8"), "uint8")
            c = R.astype(R.const(1.5, "float32"), "bool")
            d = R.astype(R.const(16777217, "int32"), "float32")
            e = R.add(x, d)
            f = R.astype(R.const(True, "bool"), "int64")
            g = R.floor_divide(R.const(-7, "int32"), R.const(2, "int32"))
            h = R.mod(R.const(-7, "int32"), R.const(3, "int32"))
            R.output(a, b, c, e, f, g, h)
        return (a, b, c, e, f, g, h)
""",
}
