"""Groups of calls become functions: which go together, what comes of them, the same bits on generated graphs."""

import numpy as np
import pytest

import refmlc
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import walk
from refmlc.lang.script import show
from refmlc.lang.wellformed.module import check_module
from refmlc.rewrite.transform import annotate_tir_op_pattern, dead_code_elimination, fuse_ops, fuse_tir, legalize_ops
from refmlc.strategies import rolled_module
from refmlc.testing import assert_equivalent
from refmlc.tools.demo.runner import VARIANTS, library, read_images, read_params, read_variant

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 6), "float32"), w: R.Tensor((6, 5), "float32"), b: R.Tensor((5,), "float32")):
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.add(lv, b)
            lv2 = R.nn.relu(lv1)
            lv3 = R.exp(lv2)
            lv4 = R.sum(x, axis=1)
            gv = R.multiply(lv3, lv2)
            R.output(gv)
        return gv
"""
SYMBOLIC = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n", "m"), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.exp(a)
            c = R.permute_dims(b)
            d = R.add(c, R.const(1.0, "float32"))
            gv = R.sum(d, axis=0)
            R.output(gv)
        return gv
"""


def legal(text=TEXT):
    return legalize_ops(refmlc.read(text))


def groups(module):
    """The names of what each fused function calls."""
    return [
        [node.args[0].name for node in walk(func) if isinstance(node, relax.Call)]
        for func in module.functions.values()
        if isinstance(func, relax.Function) and func.attrs.get("Primitive")
    ]


def test_kinds_are_those_of_tvm():
    module = annotate_tir_op_pattern(legal())
    kinds = {name: func.attrs.get("op_pattern") for name, func in module.functions.items() if name != "main"}
    assert kinds == {"matmul": 4, "add": 0, "relu": 0, "exp": 0, "sum": 3, "multiply": 0}


def test_a_product_takes_what_follows_it_element_by_element():
    module = fuse_ops(legal())
    assert groups(module) == [["matmul", "add", "relu", "exp", "multiply"]]
    assert check_module(module) == ()
    assert structural_equal(refmlc.read(show(module)), module)


def test_a_chain_of_names_says_what_goes_together():
    assert groups(fuse_ops(legal(), [("matmul", "add"), ("add", "relu")])) == [["matmul", "add"]]
    assert groups(fuse_ops(legal(), [("add", "relu"), ("matmul", "add")])) == [["add", "relu"]]
    assert groups(fuse_ops(legal(), [("relu", "exp")])) == []  # relu is used again


def test_a_fused_function_allocates_what_was_a_tensor():
    module = fuse_tir(fuse_ops(legal()))
    assert [name for name, func in module.functions.items() if isinstance(func, tir.PrimFunc)] == [
        "fused_matmul_add_relu_exp_multiply"
    ]
    func = module["fused_matmul_add_relu_exp_multiply"]
    assert len(func.params) == 4
    assert len(func.body.block.alloc_buffers) == 4
    assert structural_equal(refmlc.read(show(module)), module)
    assert_equivalent(legal(), module, calls=5, exact=True)


def test_symbolic_sizes_are_those_of_the_arguments():
    module = fuse_ops(legal(SYMBOLIC))
    assert groups(module) == [["add", "exp", "permute_dims"], ["add1", "sum"]]
    after = fuse_tir(module)
    assert check_module(after) == ()
    assert_equivalent(legal(SYMBOLIC), after, calls=8, exact=True)


def every_step(module):
    for transform in (legalize_ops, fuse_ops, fuse_tir, dead_code_elimination):
        module = transform(module)
        assert check_module(module) == (), transform.__name__
        yield module


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_generated_graphs_keep_their_bits(first):
    for seed in range(first, first + 10):
        case = rolled_module(seed)
        for after in every_step(case.module):
            assert_equivalent(case.module, after, func=case.func, inputs=case.calls, exact=True)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.name)
def test_models_of_the_demo_keep_their_bits(variant):
    params, pixels = read_params(), read_images(None, None, 2).pixels.reshape(2, 1, 784)
    module = read_variant(variant, params)
    weights = () if variant.bound else tuple(params[name] for name in ("w0", "b0", "w1", "b1"))
    results = []
    for one in (module, *every_step(module)):
        main = refmlc.VirtualMachine(refmlc.build(one, registry=library()))["main"]
        results.append([main(image, *weights).numpy().tobytes() for image in pixels])
    assert results == [results[0]] * 5


DEAD = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def unused(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i]

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.unused, (x,), out_ty=R.Tensor((4,), "float32"))
            b = R.exp(a)
            c = R.add(x, x)
            R.output(b, c)
        d = R.negative(b)
        e = R.print(c, format="{}")
        f = R.call_packed("some.effect", x, ty_args=R.Tensor((4,), "float32"))
        return c
"""


def test_what_nothing_needs_is_dropped():
    module = dead_code_elimination(refmlc.read(DEAD))
    assert [*module.functions] == ["main"]
    bindings = [binding.var.name for block in module["main"].body.blocks for binding in block.bindings]
    assert bindings == ["c", "e", "f"]
    assert dead_code_elimination(module) is module


def test_public_functions_and_entries_stay():
    public = refmlc.read(DEAD.replace("private=True, ", ""))
    assert [*dead_code_elimination(public).functions] == ["unused", "main"]
    private = refmlc.read(DEAD)
    assert [*dead_code_elimination(private, ("unused",)).functions] == ["unused", "main"]


def test_an_error_of_a_dropped_call_is_no_more():
    text = """
@R.function
def main(x: R.Tensor((4,), "int32"), y: R.Tensor((4,), "int32")):
    with R.dataflow():
        a = R.floor_divide(x, y)
        b = R.add(x, x)
        R.output(b)
    return b
"""
    module = refmlc.read(text)
    machine = refmlc.VirtualMachine(refmlc.build(dead_code_elimination(module)))
    result = machine["main"](np.ones(4, "int32"), np.zeros(4, "int32"))
    assert result.numpy().tolist() == [2, 2, 2, 2]
