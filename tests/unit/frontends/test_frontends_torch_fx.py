"""`from_fx`: the course's own map functions, and the built-in ones."""

import numpy as np
import pytest
from needs import imported

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang import te
from refmlc.lang.ir import relax

torch = imported("torch")

from torch import fx, nn  # noqa: E402 - PyTorch may be missing

from refmlc.frontends.arrays import constant_of  # noqa: E402
from refmlc.frontends.torch_fx import from_fx, params_of  # noqa: E402


class MyModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        return torch.relu(torch.matmul(x, self.weight))


def te_matmul(a, b):
    k = te.reduce_axis((0, 8), name="k")
    return te.compute((a.shape[0], b.shape[1]), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="matmul")


def te_relu(a):
    return te.compute(a.shape, lambda *i: te.maximum(a(*i), te.const(0, "float32")), name="relu")


def map_matmul(bb, node_map, node):
    return bb.emit_te(te_matmul, node_map[node.args[0]], node_map[node.args[1]])


def map_relu(bb, node_map, node):
    return bb.emit_te(te_relu, node_map[node.args[0]])


def run(module, *args, tier="interp"):
    return refmlc.VirtualMachine(refmlc.build(module, tier))["main"](*args)


def test_the_maps_of_the_caller_translate_the_chapter_s_model() -> None:
    model = MyModel()
    module = from_fx(
        fx.symbolic_trace(model),
        input_shapes=[(1, 8)],
        call_function_map={torch.matmul: map_matmul, torch.relu: map_relu},
        call_module_map={},
    )
    assert list(module.functions) == ["te_matmul", "te_relu", "main"]
    x = torch.randn(1, 8)
    want = model(x).detach().numpy()
    np.testing.assert_allclose(run(module, x.numpy()).numpy(), want, rtol=1e-5, atol=1e-6)


def test_a_module_map_gets_the_module() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU())

    def map_linear(bb, node_map, node, nn_mod):
        turned = relax.Call(relax.Op("permute_dims"), (constant_of(nn_mod.weight),))
        y = bb.emit(relax.Call(relax.Op("matmul"), (node_map[node.args[0]], turned)))
        return bb.emit(relax.Call(relax.Op("add"), (y, constant_of(nn_mod.bias))))

    def map_nn_relu(bb, node_map, node, nn_mod):
        assert isinstance(nn_mod, nn.ReLU)
        return map_relu(bb, node_map, node)

    maps = {nn.Linear: map_linear, nn.ReLU: map_nn_relu}
    module = from_fx(fx.symbolic_trace(model), [(2, 4)], call_module_map=maps)
    x = torch.randn(2, 4)
    np.testing.assert_allclose(run(module, x.numpy()).numpy(), model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


class Several(nn.Module):
    """Functions, methods, operators of Python and modules."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.pool, self.last = nn.MaxPool2d(2), nn.Linear(16, 3)

    def forward(self, x):
        y = self.pool(torch.relu(self.norm(self.conv(x))))
        y = y.view(y.size(0), -1) * 0.5 + 1
        return nn.functional.softmax(self.last(y), dim=-1)[:, 1:], y.mean(dim=1)


def test_the_built_in_maps_translate_functions_methods_and_modules() -> None:
    torch.manual_seed(1)
    model = Several().eval()
    module = from_fx(fx.symbolic_trace(model), [((2, 2, 4, 4), "float32")])
    x = torch.randn(2, 2, 4, 4)
    for found, want in zip(run(module, x.numpy()), model(x), strict=True):
        np.testing.assert_allclose(found.numpy(), want.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_parameters_are_inputs_where_asked_for() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU()).eval()
    traced = fx.symbolic_trace(model)
    module = from_fx(traced, [(2, 4)], keep_params_as_input=True)
    main, params = module.functions["main"], params_of(traced)
    assert main.attrs["num_input"] == 1
    assert [one.name for one in main.params] == ["input", "_0_weight", "_0_bias"]
    x = torch.randn(2, 4)
    found = run(module, x.numpy(), *(params[one.name] for one in main.params[1:]))
    np.testing.assert_allclose(found.numpy(), model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_a_function_without_a_rule_is_named_with_its_node() -> None:
    class Odd(nn.Module):
        def forward(self, x):
            return torch.special.bessel_j0(x)

    with pytest.raises(RefmlcError) as refused:
        from_fx(fx.symbolic_trace(Odd()), [(2, 4)])
    assert refused.value.code.id == "RM501"
    assert "special_bessel_j0" in str(refused.value)
    assert "the node `special_bessel_j0`" in refused.value.diagnostic.notes[0]


def test_an_input_without_a_shape_is_told() -> None:
    with pytest.raises(RefmlcError) as refused:
        from_fx(fx.symbolic_trace(nn.ReLU()), [])
    assert refused.value.code.id == "RM112"


class InPlace(nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.function, self.relu = function, nn.ReLU(inplace=True)

    def forward(self, x):
        return self.function(self, x)


def changed_then_seen(_m, x):
    y = x + 1
    y.add_(1)
    return y


def seen_through_a_view(_m, x):
    y = x + 1
    z = y.view(-1)
    z.mul_(2)
    return y


def a_module_in_place(m, x):
    y = x + 1
    return m.relu(y) + y


def an_older_view(_m, x):
    y = x + 1
    z = y.t()
    y.add_(1)
    return z


@pytest.mark.parametrize("function", [changed_then_seen, seen_through_a_view, a_module_in_place, an_older_view])
def test_a_change_in_place_that_another_node_sees_is_refused(function) -> None:
    with pytest.raises(RefmlcError, match="in place") as raised:
        from_fx(fx.symbolic_trace(InPlace(function)), [((2, 3), "float32")])
    assert raised.value.code.id == "RM501"


def test_a_change_in_place_that_only_its_own_node_sees_is_one_of_values() -> None:
    model = InPlace(lambda m, x: m.relu((x + 1).mul_(2)))
    x = np.arange(6, dtype=np.float32).reshape(2, 3) - 3
    module = from_fx(fx.symbolic_trace(model), [((2, 3), "float32")])
    found = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"](x)
    np.testing.assert_array_equal(found.numpy(), model(torch.from_numpy(x)).numpy())
