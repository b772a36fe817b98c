"""Graphs with aliases, views and branches: what must not be overwritten."""

from collections.abc import Mapping

X = 'R.Tensor((2, 3), "int32")'

ALIASES: Mapping[str, str] = {
    "aliases": f"""
    @R.function
    def main(x: {X}, y: {X}):
        with R.dataflow():
            a = R.add(x, y)
            t = (a, x)
            b = t[0]
            c = R.multiply(b, y)
            d = R.subtract(a, c)
            e = R.add(d, d)
            R.output(c, e)
        return (c, e)
""",
    "aliases_nested": f"""
    @R.function
    def main(x: {X}, y: {X}):
        with R.dataflow():
            a = R.add(x, y)
            b = R.multiply(x, y)
            t = ((a, b), a)
            u = t[0]
            v = u[0]
            w = R.add(v, b)
            z = t[1]
            p = R.subtract(z, w)
            R.output(p, t)
        return (p, t)
""",
    "aliases_cast": """
    @R.function
    def main(x: R.Tensor(("n", 3), "int32"), y: R.Tensor((2, 3), "int32")):
        m = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            b = R.match_cast(a, R.Tensor((m, 3), "int32"))
            c = R.multiply(b, R.const(3, "int32"))
            d = R.add(a, c)
            e = R.add(y, y)
            R.output(d, e)
        return (d, e)
""",
    "aliases_outside": f"""
    @R.function
    def main(x: {X}, y: {X}):
        a = R.add(x, y)
        with R.dataflow():
            b = R.multiply(a, y)
            c = R.add(b, a)
            d = R.negative(c)
            R.output(c, d)
        e = R.add(a, d)
        f = R.add(c, e)
        return (c, f)
""",
    "aliases_of_call": f"""
    @R.function(private=True)
    def same(x: {X}) -> {X}:
        return x

    @R.function
    def main(x: {X}, y: {X}):
        cls = Module
        with R.dataflow():
            a = R.add(x, y)
            b = cls.same(a)
            c = R.multiply(b, y)
            d = R.add(a, c)
            R.output(d)
        return d
""",
    "views": """
    @R.function
    def main(x: R.Tensor((2, 3), "int32"), y: R.Tensor((6,), "int32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.reshape(a, R.shape([6]))
            c = R.add(b, y)
            d = R.reshape(c, R.shape([3, 2]))
            e = R.permute_dims(d)
            f = R.add(e, a)
            g = R.reshape(f, R.shape([2, 3]))
            R.output(c, f, g)
        return (c, f, g)
""",
    "views_of_argument": """
    @R.function
    def main(x: R.Tensor((2, 3), "int32")):
        with R.dataflow():
            a = R.reshape(x, R.shape([3, 2]))
            b = R.expand_dims(a, axis=[0])
            c = R.squeeze(b, axis=[0])
            d = R.add(c, c)
            e = R.flatten(d)
            f = R.negative(e)
            R.output(c, e, f)
        return (c, e, f)
""",
    "broadcast_in_place": """
    @R.function
    def main(x: R.Tensor((3,), "int32"), y: R.Tensor((2, 3), "int32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.add(a, y)
            c = R.multiply(b, a)
            d = R.subtract(a, R.const(2, "int32"))
            e = R.add(c, d)
            f = R.less(e, c)
            R.output(e, f)
        return (e, f)
""",
    "same_operand": f"""
    @R.function
    def main(x: {X}):
        with R.dataflow():
            a = R.add(x, R.const(1, "int32"))
            b = R.add(a, a)
            c = R.subtract(b, b)
            d = R.where(R.less(b, c), b, c)
            e = R.maximum(d, b)
            R.output(e)
        return e
""",
    "in_place_kernels": """
    @T.prim_func(private=True, s_tir=True)
    def more(A: T.Buffer((T.int64(2), T.int64(3)), "int32"), B: T.Buffer((T.int64(2), T.int64(3)), "int32")):
        for i, j in T.grid(T.int64(2), T.int64(3)):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 3 + B[vi, vj]

    @R.function
    def main(x: R.Tensor((2, 3), "int32"), y: R.Tensor((2, 3), "int32")):
        cls = Module
        with R.dataflow():
            a = R.add(x, y)
            b = R.multiply(x, y)
            c = R.call_tir_inplace(cls.more, (a, b), inplace_indices=[1], out_ty=R.Tensor((2, 3), "int32"))
            d = R.add(c, a)
            e = R.add(d, x)
            R.output(c, e)
        return (c, e)
""",
    "branches": f"""
    @R.function
    def main(c: R.Tensor((), "bool"), x: {X}, y: {X}) -> {X}:
        a = R.add(x, y)
        if c:
            b = R.multiply(a, y)
            r = R.add(b, x)
        else:
            d = R.subtract(a, y)
            r = R.multiply(d, d)
        e = R.add(r, a)
        return e
""",
    "branches_alias": f"""
    @R.function
    def main(c: R.Tensor((), "bool"), x: {X}, y: {X}) -> R.Tuple({X}, {X}):
        a = R.add(x, y)
        b = R.multiply(x, y)
        if c:
            r = a
        else:
            r = b
        d = R.subtract(x, y)
        e = R.add(d, d)
        f = R.multiply(e, r)
        return (r, f)
""",
    "branches_tuple": f"""
    @R.function
    def main(c: R.Tensor((), "bool"), x: {X}, y: {X}) -> R.Tuple({X}, {X}):
        a = R.add(x, y)
        if c:
            b = R.negative(a)
            r = (a, b)
        else:
            d = R.multiply(x, x)
            r = (d, a)
        u = r[0]
        v = r[1]
        w = R.add(u, v)
        z = R.multiply(w, w)
        q = R.add(z, u)
        return (q, v)
""",
    "branches_nested": f"""
    @R.function
    def main(c: R.Tensor((), "bool"), d: R.Tensor((), "bool"), x: {X}) -> {X}:
        a = R.add(x, x)
        if c:
            e = R.multiply(a, x)
            if d:
                f = R.add(e, a)
                s = R.negative(f)
            else:
                s = R.subtract(e, a)
            r = R.add(s, e)
        else:
            r = R.multiply(a, a)
        g = R.add(r, a)
        return g
""",
}
