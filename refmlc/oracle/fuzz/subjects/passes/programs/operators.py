"""Graphs of operators that passes rewrite: matmul, conv2d, reshape."""

from collections.abc import Mapping

OPERATORS: Mapping[str, str] = {
    "mixed": """
    @R.function
    def main(x: R.Tensor((2, 3), "bool"), w: R.Tensor((3, 4), "bool"), z: R.Tensor((2, 4), "float32")):
        with R.dataflow():
            a = R.astype(x, "float32")
            b = R.astype(w, "float32")
            c = R.matmul(a, b)
            d = R.add(c, R.const(2.0, "float32"))
            e = R.maximum(d, c)
            f = R.sum(e, axis=[1])
            g = R.add(z, z)
            R.output(e, f, g)
        return (e, f, g)
""",
    "mixed_tuples": """
    @R.function
    def main(x: R.Tensor((2, 3), "bool"), w: R.Tensor((3, 4), "bool"), i: R.Tensor((2, 4), "int32")):
        with R.dataflow():
            a = R.astype(x, "float32")
            b = R.astype(w, "float32")
            c = R.matmul(a, b)
            t = (c, i)
            d = t[0]
            p = R.split(d, 2, axis=1)
            e = R.concat((p[1], p[0]), axis=1)
            f = R.astype(e, "int32")
            g = R.add(f, t[1])
            R.output(t, g)
        return (t, g)
""",
    "mixed_integers": """
    @R.function
    def main(x: R.Tensor((2, 3), "int32"), w: R.Tensor((3, 4), "int32"), v: R.Tensor((3, 2), "bool")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.add(a, a)
            c = R.matmul(R.astype(v, "float32"), R.astype(R.minimum(a, R.const(2, "int32")), "float32"))
            d = R.astype(R.greater(c, R.const(1.0, "float32")), "int32")
            R.output(b, d)
        return (b, d)
""",
    "mixed_out_dtype": """
    @R.function
    def main(x: R.Tensor((2, 3), "bool"), w: R.Tensor((3, 4), "bool")):
        with R.dataflow():
            a = R.astype(x, "float32")
            b = R.astype(w, "float32")
            c = R.matmul(a, b, out_dtype="float32")
            d = R.matmul(R.astype(x, "float16"), R.astype(w, "float16"), out_dtype="float32")
            e = R.add(c, d)
            f = R.match_cast(e, R.Tensor((2, 4), "float32"))
            g = R.where(R.greater(f, R.const(1.0, "float32")), f, c)
            R.output(g, d)
        return (g, d)
""",
    "mixed_branch": """
    @R.function
    def main(k: R.Tensor((), "bool"), x: R.Tensor((2, 3), "bool"), w: R.Tensor((3, 2), "bool")):
        with R.dataflow():
            a = R.astype(x, "float32")
            b = R.astype(w, "float32")
            c = R.matmul(a, b)
            R.output(c, a)
        if k:
            r = R.add(c, c)
        else:
            r = R.multiply(c, c)
        with R.dataflow():
            d = R.matmul(r, a)
            R.output(d)
        return (d, r)
""",
    "layouts": """
    @R.function
    def main(
        x: R.Tensor((1, 2, 4, 4), "float32"), w: R.Tensor((3, 2, 3, 3), "float32"),
        b: R.Tensor((3, 1, 1), "float32")
    ):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=(1, 1, 1, 1))
            c = R.add(a, b)
            d = R.nn.relu(c)
            e = R.nn.max_pool2d(d, pool_size=(2, 2), strides=(2, 2))
            f = R.sum(e, axis=[1], keepdims=True)
            g = R.subtract(e, f)
            R.output(g, d)
        return (g, d)
""",
    "layouts_axes": """
    @R.function
    def main(x: R.Tensor((1, 2, 4, 3), "float32"), w: R.Tensor((4, 2, 1, 1), "float32"), v: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            p = R.split(a, 2, axis=1)
            c = R.concat((p[1], p[0]), axis=1)
            d = R.nn.softmax(c, axis=1)
            e = R.add(c, v)
            f = R.reshape(e, R.shape([1, 4, 12]))
            g = R.expand_dims(R.squeeze(a, axis=[0]), axis=[0])
            h = R.flip(g, axis=1)
            k = R.max(h, axis=[1, -1])
            R.output(d, f, h, k)
        return (d, f, h, k)
""",
    "layouts_more": """
    @R.function
    def main(
        x: R.Tensor((1, 2, 3, 4), "float32"), w: R.Tensor((2, 2, 1, 1), "float32"),
        s: R.Tensor((1, 2, 3, 1), "float32")
    ):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            b = R.add(a, s)
            c = R.strided_slice(b, axes=[1, 3], begin=[1, 0], end=[2, 3])
            d = R.permute_dims(a, axes=[0, 3, 1, 2])
            e = R.cumsum(a, axis=2)
            f = R.repeat(a, 2, axis=1)
            g = R.tile(a, [1, 1, 2, 1])
            h = R.nn.pad(a, pad_width=[0, 0, 1, 0, 0, 2, 0, 0])
            R.output(c, d, e, f, g, h)
        return (c, d, e, f, g, h)
""",
    "matmul_chain": """
    @R.function
    def main(x: R.Tensor((2, 8), "int32"), w: R.Tensor((8, 3), "int32"), v: R.Tensor((3, 8), "int32")):
        with R.dataflow():
            a = R.matmul(w, v)
            b = R.matmul(x, a)
            c = R.permute_dims(v)
            d = R.matmul(x, c)
            e = R.permute_dims(R.matmul(w, v), axes=[1, 0])
            f = R.matmul(x, e)
            R.output(b, d, f)
        return (b, d, f)
""",
    "matmul_sum": """
    @R.function
    def main(
        x: R.Tensor((2, 3), "int32"), w: R.Tensor((3, 4), "int32"),
        v: R.Tensor((3, 4), "int32"), b: R.Tensor((4,), "int32")
    ):
        with R.dataflow():
            s = R.add(w, v)
            a = R.matmul(x, s)
            t = R.add(w, b)
            c = R.matmul(x, t)
            R.output(a, c)
        return (a, c)
""",
    "matmul_parallel": """
    @R.function
    def main(
        x: R.Tensor((2, 3), "int32"), w: R.Tensor((3, 4), "int32"), v: R.Tensor((3, 2), "int32"),
        b: R.Tensor((4,), "int32"), c: R.Tensor((2,), "int32")
    ):
        with R.dataflow():
            a = R.matmul(x, w)
            d = R.add(a, b)
            e = R.matmul(x, v)
            f = R.add(e, c)
            g = R.matmul(x, w)
            R.output(d, f, g)
        return (d, f, g)
""",
    "matmul_parallel_batched": """
    @R.function
    def main(
        x: R.Tensor((2, 2, 3), "int32"), w: R.Tensor((2, 3, 4), "int32"),
        v: R.Tensor((2, 3, 2), "int32"), u: R.Tensor((3, 2), "int32")
    ):
        with R.dataflow():
            a = R.matmul(x, w)
            e = R.matmul(x, v)
            g = R.matmul(x, u)
            h = R.matmul(x, u)
            R.output(a, e, g, h)
        return (a, e, g, h)
""",
    "matmul_moved": """
    @R.function
    def main(
        x: R.Tensor((2, 3), "int32"), w: R.Tensor((4, 3), "int32"),
        v: R.Tensor((2, 3), "int32"), i: R.Tensor((2,), "int64")
    ):
        with R.dataflow():
            c = R.concat((w, v), axis=0)
            a = R.matmul(x, R.permute_dims(c, axes=[1, 0]))
            j = R.minimum(R.maximum(i, R.const(0, "int64")), R.const(3, "int64"))
            t = R.take(R.permute_dims(w, axes=[1, 0]), j, axis=1)
            b = R.matmul(x, t)
            R.output(a, b)
        return (a, b)
""",
    "reshapes": """
    @R.function
    def main(x: R.Tensor((2, 3, 4), "int32"), y: R.Tensor(("n", 2), "int32")):
        n = T.int64()
        with R.dataflow():
            a = R.reshape(x, R.shape([6, 4]))
            b = R.reshape(a, R.shape([2, 12]))
            c = R.reshape(x, R.shape([2, 3, 4]))
            d = R.reshape(y, R.shape([n * 2]))
            e = R.reshape(d, R.shape([2, n]))
            f = R.reshape(y, R.shape([n, 2]))
            g = R.permute_dims(R.permute_dims(x, axes=[1, 2, 0]), axes=[2, 0, 1])
            R.output(b, c, e, f, g)
        return (b, c, e, f, g)
""",
    "transforms": """
    @R.function
    def main(x: R.Tensor((14,), "int32"), y: R.Tensor((16,), "int32")):
        with R.dataflow():
            a = R.layout_transform(y, index_map=lambda i: (i // 4, i % 4), pad_value=None)
            b = R.layout_transform(a, index_map=lambda i, j: (i * 4 + j,), pad_value=None)
            c = R.layout_transform(b, index_map=lambda i: (i % 4, i // 4), pad_value=None)
            d = R.layout_transform(x, index_map=lambda i: (i // 4, i % 4), pad_value=2)
            e = R.layout_transform(x, index_map=lambda i: (i // 4, i % 4), pad_value=3)
            f = R.add(d, e)
            R.output(b, c, f)
        return (b, c, f)
""",
    "normalised": """
    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"), g: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32"),
        m: R.Tensor((3,), "float32"), v: R.Tensor((3,), "float32")
    ):
        with R.dataflow():
            q = R.add(R.abs(v), R.const(1.0, "float32"))
            a = R.nn.batch_norm(
                x, g, b, m, q, axis=1,
                epsilon=0.001, center=True, scale=True, momentum=0.1, training=False
            )
            c = a[0]
            d = R.nn.layer_norm(c, g, b, axes=[-1], epsilon=0.001, center=True, scale=True)
            R.output(d, c)
        return (d, c)
""",
    "specialised": """
    @T.prim_func(private=True, s_tir=True)
    def scaled(a: T.handle, b: T.handle):
        n = T.int64()
        m = T.int64()
        A = T.match_buffer(a, (n, m), "int32")
        B = T.match_buffer(b, (m, n), "int32")
        for i, j in T.grid(m, n):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi] * 2 + T.Cast("int32", m)

    @R.function
    def main(x: R.Tensor((2, 3), "int32"), y: R.Tensor((4, 1), "int32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.scaled, (x,), out_ty=R.Tensor((3, 2), "int32"))
            b = R.call_tir(cls.scaled, (y,), out_ty=R.Tensor((1, 4), "int32"))
            R.output(a, b)
        return (a, b)
""",
    "packed": """
    @R.function
    def main(x: R.Tensor(("n", 3), "int32"), s: R.Shape(["m", 2])):
        n = T.int64()
        m = T.int64()
        a = R.add(x, x)
        b = R.shape_of(a)
        c = R.shape_to_tensor(b)
        d = R.zeros(R.shape([m + n, 2]), "int32")
        e = R.full(s, R.const(4, "int32"), "int32")
        f = R.prim_value(m * 2)
        return (a, c, d, e, b)
""",
}
