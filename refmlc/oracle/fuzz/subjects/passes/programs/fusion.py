"""Graphs whose memory is planned, whose operators are fused or common."""

from collections.abc import Mapping

X = 'R.Tensor((2, 3), "int32")'
F = 'R.Tensor((2, 3), "float32")'

FUSION: Mapping[str, str] = {
    "memory": """
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((6,), "int32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.multiply(a, x)
            t = (a, b)
            c = R.add(y, y)
            d = R.negative(c)
            e = R.add(c, d)
            u = t[0]
            f = R.subtract(u, x)
            g = R.multiply(f, f)
            h = R.reshape(g, R.shape([6]))
            k = R.add(h, R.const(1.0, "float32"))
            R.output(e, k)
        return (e, k)
""",
    "memory_tuple_alive": f"""
    @R.function
    def main(x: {X}) -> R.Tuple(R.Tuple({X}, {X}), {X}):
        a = R.add(x, x)
        b = R.multiply(a, x)
        t = (a, b)
        c = R.subtract(x, b)
        d = R.negative(c)
        e = R.add(d, c)
        u = (t, e)
        return u
""",
    "memory_symbolic": """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m",), "float32")):
        n = T.int64()
        m = T.int64()
        R.func_attr({"tir_var_upper_bound": {"n": 8, "m": 40}})
        with R.dataflow():
            a = R.add(x, x)
            b = R.reshape(a, R.shape([n * 4]))
            c = R.negative(y)
            d = R.concat([b, c], axis=0)
            e = R.multiply(d, d)
            f = R.match_cast(e, R.Tensor((n * 4 + m,), "float32"))
            g = R.add(f, d)
            R.output(g, c)
        return (g, c)
""",
    "memory_of_call": f"""
    @R.function(private=True)
    def both(x: {X}) -> R.Tuple({X}, {X}):
        a = R.add(x, R.const(1, "int32"))
        return (x, a)

    @R.function
    def main(x: {X}) -> R.Tuple({X}, {X}):
        cls = Module
        a = R.add(x, x)
        t = cls.both(a)
        b = R.negative(x)
        c = R.multiply(b, b)
        u = t[0]
        v = t[1]
        w = R.add(u, c)
        return (w, v)
""",
    "fused": f"""
    @R.function
    def main(x: {F}, y: {F}):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.relu(a)
            c = R.sum(b, axis=[1], keepdims=True)
            d = R.subtract(b, c)
            e = R.negative(d)
            f = R.multiply(e, a)
            g = R.permute_dims(f)
            h = R.add(g, R.permute_dims(x))
            R.output(a, h)
        return (a, h)
""",
    "fused_matmul": """
    @R.function
    def main(x: R.Tensor((2, 3), "int32"), w: R.Tensor((3, 4), "int32"), b: R.Tensor((4,), "int32")):
        with R.dataflow():
            a = R.matmul(x, w)
            c = R.add(a, b)
            d = R.maximum(c, R.const(0, "int32"))
            e = R.add(d, a)
            f = R.sum(e, axis=[0])
            g = R.multiply(f, b)
            R.output(d, g)
        return (d, g)
""",
    "fused_tuples": f"""
    @R.function
    def main(t: R.Tuple({X}, R.Tuple({X}, {X})), y: {X}):
        with R.dataflow():
            a = t[0]
            u = t[1]
            b = u[0]
            c = u[1]
            d = R.add(a, b)
            e = R.multiply(d, c)
            p = R.split(e, 3, axis=1)
            f = R.add(p[0], p[2])
            g = R.concat((f, p[1]), axis=1)
            h = R.add(g, R.const(1, "int32"))
            R.output(h, e)
        return (h, (e, y))
""",
    "fused_symbolic": """
    @R.function
    def main(x: R.Tensor(("n", "m"), "int32"), s: R.Shape(["k"])):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            b = R.reshape(a, R.shape([n * m]))
            c = R.negative(b)
            d = R.full(R.shape([k + 1, n * m]), R.const(2, "int32"), "int32")
            e = R.add(d, c)
            f = R.sum(e, axis=[0])
            g = R.multiply(f, b)
            R.output(e, g)
        return (e, g)
""",
    "fused_match_cast": """
    @R.function
    def main(x: R.Tensor(dtype="int32", ndim=2)):
        p = T.int64()
        q = T.int64()
        with R.dataflow():
            a = R.match_cast(x, R.Tensor((p, q), "int32"))
            b = R.add(a, a)
            c = R.multiply(b, R.const(3, "int32"))
            d = R.sum(c, axis=[1])
            e = R.add(d, d)
            R.output(c, e)
        return (c, e)
""",
    "common": f"""
    @R.function
    def main(x: {X}, y: {X}):
        with R.dataflow():
            a = R.add(x, y)
            b = R.add(x, y)
            t = (a, b)
            u = (a, b)
            c = R.multiply(t[0], u[1])
            d = R.multiply(b, a)
            e = R.subtract(c, d)
            R.output(e, t)
        return (e, t)
""",
    "common_branches": f"""
    @R.function
    def main(c: R.Tensor((), "bool"), x: {X}, y: {X}) -> R.Tuple({X}, {X}):
        if c:
            a = R.add(x, y)
            r = R.multiply(a, x)
        else:
            b = R.add(x, y)
            r = R.negative(b)
        d = R.add(x, y)
        e = R.add(r, d)
        return (e, d)
""",
    "common_impure": f"""
    @R.function(pure=False)
    def main(x: {X}, y: {X}):
        a = R.add(x, y)
        s = R.shape_of(a)
        b = R.assert_op(R.const(True, "bool"), format="a")
        d = R.assert_op(R.const(True, "bool"), format="a")
        e = R.add(x, y)
        f = R.multiply(a, e)
        g = R.builtin.alloc_tensor(R.shape([2, 3]), R.dtype("int32"), R.prim_value(0))
        h = R.builtin.alloc_tensor(R.shape([2, 3]), R.dtype("int32"), R.prim_value(0))
        return (f, s)
""",
    "common_symbols": """
    @R.function
    def main(x: R.Tensor(dtype="int32", ndim=1), y: R.Tensor(dtype="int32", ndim=1)):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        a = R.match_cast(x, R.Tensor((n,), "int32"))
        b = R.match_cast(y, R.Tensor((m,), "int32"))
        c = R.match_cast(x, R.Tensor((k,), "int32"))
        d = R.zeros(R.shape([n]), "int32")
        e = R.zeros(R.shape([m]), "int32")
        f = R.zeros(R.shape([k]), "int32")
        return (a, b, c, d, e, f)
""",
}
