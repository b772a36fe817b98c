from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def k(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i]

    @R.function
    def other(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        return cls.third(x)

    @R.function
    def third(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        return cls.other(x)

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        m = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            b = R.call_tir(cls.k, (a,), out_ty=R.Tensor((2,), "float32"))
            e = R.multiply(a, b)
            R.output(e)
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        if c:
            q = R.add(e, e)
            w = R.multiply(q, q)
        else:
            w = cls.other(e)
        t = (w, z)
        return t
