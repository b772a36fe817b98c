# A block of a transformer: attention with a softmax that forgets to subtract the maximum, then two layers.
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Block:
    @T.prim_func(private=True, s_tir=True)
    def softmax(scores: T.Buffer((4, 4), "float32"), weights: T.Buffer((4, 4), "float32")):
        exp = T.sblock_alloc_buffer((4, 4))
        total = T.sblock_alloc_buffer((4,))
        for i, j in T.grid(4, 4):
            with T.sblock("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                exp[vi, vj] = T.exp(scores[vi, vj])
        for i, j in T.grid(4, 4):
            with T.sblock("total"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    total[vi] = T.float32(0)
                total[vi] += exp[vi, vj]
        for i, j in T.grid(4, 4):
            with T.sblock("divide"):
                vi, vj = T.axis.remap("SS", [i, j])
                weights[vi, vj] = exp[vi, vj] / total[vi]

    @R.function
    def main(
        x: R.Tensor((4, 16), "float32"),
        wq: R.Tensor((16, 16), "float32"),
        wk: R.Tensor((16, 16), "float32"),
        wv: R.Tensor((16, 16), "float32"),
        w1: R.Tensor((16, 8), "float32"),
        w2: R.Tensor((8, 16), "float32"),
    ) -> R.Tensor((4, 16), "float32"):
        cls = Block
        with R.dataflow():
            q = R.matmul(x, wq)
            k = R.matmul(x, wk)
            v = R.matmul(x, wv)
            scores = R.matmul(q, R.permute_dims(k, axes=[1, 0]))
            weights = R.call_tir(cls.softmax, (scores,), out_ty=R.Tensor((4, 4), "float32"))
            attended = R.add(x, R.matmul(weights, v))
            hidden = R.nn.relu(R.matmul(attended, w1))
            y = R.add(attended, R.matmul(hidden, w2))
            R.output(y)
        return y
