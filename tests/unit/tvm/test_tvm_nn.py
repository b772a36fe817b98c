"""`relax.frontend.nn`: shapes, dtypes, results and refusals of modules that are exported."""

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.ir.equal import structural_equal
from refmlc.tvm import cpu, relax, te
from refmlc.tvm.relax.frontend import nn
from refmlc.tvm.relax.transform import Pass
from refmlc.tvm.runtime import tensor

op = nn.op
ONE = nn.spec.Tensor((1,), "float32")


def model(body, **weights):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            for name, weight in weights.items():
                setattr(self, name, weight)

        def forward(self, x):
            return body(self, x)

    return Model()


def exported(body, shape=(2, 3), dtype="float32", **weights):
    return model(body, **weights).export_tvm({"forward": {"x": nn.spec.Tensor(shape, dtype)}})


def run(module, *values):
    machine = relax.VirtualMachine(relax.build(module), cpu())
    return machine["forward"](*(tensor(value) for value in values)).numpy()


def seen(body, shape=(2, 3), dtype="float32"):
    shapes = []

    def recorded(_, x):
        out = body(x)
        shapes.append((out.shape, out.dtype))
        return out

    exported(recorded, shape, dtype)
    return shapes[0]


def test_a_linear_layer_is_x_times_the_transposed_weight_plus_the_bias():
    module, params = exported(lambda self, x: self.fc(x), (2, 3), fc=nn.Linear(3, 4))
    x, w, b = (np.random.default_rng(0).normal(size=size).astype("float32") for size in ((2, 3), (4, 3), (4,)))
    np.testing.assert_allclose(run(module, x, w, b), x @ w.T + b, rtol=1e-5)
    assert [(name, weight.shape, weight.dtype) for name, weight in params] == [
        ("fc.weight", [4, 3], "float32"),
        ("fc.bias", [4], "float32"),
    ]


def test_an_embedding_takes_rows():
    module, _ = exported(lambda self, x: self.table(x), (2, 2), "int32", table=nn.Embedding(5, 3))
    table = np.arange(15, dtype="float32").reshape(5, 3)
    ids = np.array([[4, 0], [1, 1]], "int32")
    np.testing.assert_array_equal(run(module, ids, table), table[ids])


@pytest.mark.parametrize(
    ("body", "shape", "dtype"),
    [
        (lambda x: x < 1, [2, 3], "bool"),
        (lambda x: op.sum(x, 0), [3], "float32"),
        (lambda x: op.max(x, 1, keepdims=True), [2, 1], "float32"),
        (lambda x: op.unsqueeze(x, 0), [1, 2, 3], "float32"),
        (lambda x: x.reshape(3, -1), [3, 2], "float32"),
        (lambda x: x.astype("int8"), [2, 3], "int8"),
        (lambda x: op.concat([x, x], 1), [2, 6], "float32"),
        (lambda x: op.argsort(x, dtype="int64"), [2, 3], "int64"),
        (lambda x: op.topk(x, 2)[1], [2, 2], "int32"),
        (lambda x: op.pad(x, [1, 0, 0, 2]), [3, 5], "float32"),
        (lambda x: op.matmul(x, op.permute_dims(x)), [2, 2], "float32"),
        (lambda x: op.full((4,), 1, "int32"), [4], "int32"),
    ],
)
def test_operators_know_the_shape_and_the_dtype_of_their_results(body, shape, dtype):
    assert seen(body) == (shape, dtype)


def test_extents_of_one_name_are_one_extent_and_can_be_computed_with():
    module, _ = exported(lambda _, x: op.reshape(x, (x.shape[0] * 3,)), ("n", 3))
    x = np.arange(12, dtype="float32").reshape(4, 3)
    np.testing.assert_array_equal(run(module, x), x.reshape(-1))


def test_functions_of_tensor_expressions_are_called():
    def last(x):
        b, s, d = x.shape
        return te.compute((b, 1, d), lambda i, _, k: x[i, s - 1, k], name="last")

    module, _ = exported(lambda _, x: op.tensor_expr_op(last, "last", [x]), (2, 5, 3))
    x = np.arange(30, dtype="float32").reshape(2, 5, 3)
    np.testing.assert_array_equal(run(module, x), x[:, -1:])


def test_weights_may_be_one_tuple():
    part = model(lambda self, x: x * self.gain, gain=nn.Parameter((3,)))
    spec = {"forward": {"x": nn.spec.Tensor((2, 3), "float32"), "$": {"param_mode": "packed"}}}
    module, _ = part.export_tvm(spec)
    assert [param.name for param in module["forward"].params] == ["x", "packed_params"]
    assert module["forward"].attrs["num_input"] == 1


def test_the_exported_text_reads_back():
    module, _ = exported(lambda self, x: nn.op.relu(self.fc(x)), ("n", 3), fc=nn.Linear(3, 4))
    assert structural_equal(refmlc.read(module.script()), module)


def test_parameters_take_values_of_their_shape_and_dtype():
    weight = nn.Parameter((2, 2))
    weight.data = np.ones((2, 2), "float32")
    assert weight.data.numpy().sum() == 4
    for values in (np.ones((2, 3), "float32"), np.ones((2, 2), "float64")):
        with pytest.raises(RefmlcError):
            weight.data = values
    with pytest.raises(RefmlcError, match="keeps its dtype"):
        weight.to("float16")


def test_state_is_loaded_by_path_and_what_is_missing_is_said():
    part, other = model(None, fc=nn.Linear(2, 2)), model(None, fc=nn.Linear(2, 2, bias=False))
    for weight in part.parameters():
        weight.data = np.zeros(weight.shape, "float32")
    assert list(part.state_dict()) == ["fc.weight", "fc.bias"]
    with pytest.raises(RefmlcError, match=r"\['fc\.bias'\] are not expected"):
        other.load_state_dict(part.state_dict())
    assert other.load_state_dict(part.state_dict(), strict=False) == ([], ["fc.bias"])
    assert next(other.parameters()).data is not None


def test_a_mutator_changes_members_in_place():
    class Wider(nn.Mutator):
        def visit_module(self, name, node):
            names.append(name)
            return nn.Linear(3, 7, bias=False) if isinstance(node, nn.Linear) else self.visit(name, node)

    names = []
    part = model(lambda self, x: self.layers(x), layers=nn.ModuleList([nn.Linear(3, 4), nn.ReLU()]))
    Wider().visit("", part)
    module, _ = part.export_tvm({"forward": {"x": nn.spec.Tensor((1, 3), "float32")}})
    assert names == ["layers.0", "layers.1"]
    assert module["forward"].ret_ty.shape[1].value == 7


@pytest.mark.parametrize(
    ("attempt", "says"),
    [
        (lambda: op.relu(nn.Tensor.placeholder((2,), "float32")), "while `export_tvm` or `jit` traces"),
        (lambda: nn.Parameter((-1,)), "not negative"),
        (lambda: exported(lambda _, x: 3), "returns tensors"),
        (lambda: exported(lambda _, x: x + "a"), "a tensor or a number"),
        (lambda: exported(lambda _, x: x + op.zeros((4,))), "RM202"),
        (lambda: model(None).export_tvm({"back": {}}), "no method `back`"),
        (lambda: model(lambda s, x: x).export_tvm({"forward": {"y": int}}), r"names \['y'\]"),
        (lambda: model(lambda s, x: x).export_tvm({"forward": {"x": 3}}), "is not understood"),
        (lambda: model(lambda s, x: x).export_tvm({"forward": {"x": int}}, debug=True), "debug"),
        (lambda: model(lambda s, x: x, cache=nn.Effect()).export_tvm({"forward": {"x": int}}), "effects"),
        (lambda: model(lambda s, x: x, w=nn.Parameter((1,))).jit({"forward": {"x": ONE}}), "no values: w"),
    ],
)
def test_misuse_is_refused_by_name(attempt, says):
    with pytest.raises(RefmlcError, match=says):
        attempt()


@pytest.mark.parametrize("name", ["KVCache", "SourceModule", "print_", "ccl_allreduce"])
def test_what_is_none_of_ours_is_refused_with_its_reason(name):
    with pytest.raises(AttributeError, match="is not covered: "):
        getattr(nn, name)


def test_subroutines_are_refused():
    part = model(lambda _, x: x)
    part.define_subroutine = True
    with pytest.raises(RefmlcError, match="define_subroutine"):
        part.export_tvm({"forward": {"x": nn.spec.Tensor((1,), "float32")}})


@pytest.mark.needs("torch")
def test_a_module_is_compiled_for_tensors_of_pytorch():
    import torch  # noqa: PLC0415 - an extra

    part = model(lambda self, x: self.fc(x), fc=nn.Linear(3, 2, bias=False))
    part.fc.weight.data = np.arange(6, dtype="float32").reshape(2, 3)
    forward = part.jit({"forward": {"x": nn.spec.Tensor((1, 3), "float32")}})["forward"]
    assert forward(torch.ones(1, 3)).tolist() == [[3.0, 12.0]]
    with pytest.raises(RefmlcError, match="takes 1 arguments"):
        forward()


@pytest.mark.needs("torch")
def test_the_pipeline_of_a_compilation_is_applied_or_refused():
    import torch  # noqa: PLC0415 - an extra

    spec = {"forward": {"x": nn.spec.Tensor((2,), "float32")}}
    difference, _ = model(lambda _, x: x - x).export_tvm(spec)
    part = model(lambda _, x: x + x)
    x = torch.tensor([1.0, 2.0])
    assert part.jit(spec, pipeline=Pass("other", lambda _: difference))["forward"](x).tolist() == [0, 0]
    for pipeline in (None, "zero", "default_build"):
        assert part.jit(spec, pipeline=pipeline)["forward"](x).tolist() == [2, 4]
    with pytest.raises(AttributeError, match="opt_everything"):
        part.jit(spec, pipeline="opt_everything")
    with pytest.raises(RefmlcError, match="a name or a pass; this is int"):
        part.jit(spec, pipeline=3)


def test_a_cache_is_exported_and_not_made():
    cache = nn.llm.kv_cache

    def exported_with(body):
        class Model(nn.Module):
            def forward(self, qkv, kept):
                return body(kept, qkv)

        spec = {"qkv": nn.spec.Tensor((1, "s", 6, 8), "float16"), "kept": nn.spec.Object(cache.PagedKVCache)}
        return Model().export_tvm({"forward": {**spec, "$": {"param_mode": "none", "effect_mode": "none"}}})[0]

    module = exported_with(lambda kept, qkv: kept.attention_with_fused_qkv(2, qkv, 4, 0.5))
    assert module["forward"].ret_ty.shape[2].value == 4
    with pytest.raises(RefmlcError, match=r"RM504.*cross_attention"):
        exported_with(lambda kept, _: kept.cross_attention())
    with pytest.raises(RefmlcError, match=r"RM504.*FlashInferPagedKVCache"):
        cache.FlashInferPagedKVCache(page_size=16)
    with pytest.raises(RefmlcError, match="RM112"):
        nn.ExternModule()
    with pytest.raises(AttributeError, match="kernels of TVM"):
        _ = nn.llm.tree_attn
