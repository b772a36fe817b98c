# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(input: R.Tensor((1, 784), dtype="float32"), p_0_weight: R.Tensor((128, 784), dtype="float32"), p_0_bias:
    R.Tensor((128,), dtype="float32"), p_2_weight: R.Tensor((10, 128), dtype="float32"), p_2_bias: R.Tensor((10,),
    dtype="float32")) -> R.Tensor((1, 10), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv: R.Tensor((784, 128), dtype="float32") = R.permute_dims(p_0_weight)
            lv1: R.Tensor((1, 128), dtype="float32") = R.matmul(input, lv)
            lv2: R.Tensor((1, 128), dtype="float32") = R.add(lv1, p_0_bias)
            lv3: R.Tensor((1, 128), dtype="float32") = R.nn.relu(lv2)
            lv4: R.Tensor((1, 128), dtype="bool") = R.isnan(lv2)
            lv5: R.Tensor((1, 128), dtype="float32") = R.where(lv4, lv2, lv3)
            lv6: R.Tensor((128, 10), dtype="float32") = R.permute_dims(p_2_weight)
            lv7: R.Tensor((1, 10), dtype="float32") = R.matmul(lv5, lv6)
            lv8: R.Tensor((1, 10), dtype="float32") = R.add(lv7, p_2_bias)
            gv: R.Tensor((1, 10), dtype="float32") = lv8
            R.output(gv)
        return gv
