"""No argument of a call of PyTorch and no setting of a module is ignored: a rule takes it, or it is refused by name."""

import inspect
import warnings

import numpy as np
import pytest
from needs import imported

import refmlc
from refmlc.diag import RefmlcError

torch = imported("torch")

from torch import fx, nn  # noqa: E402 - PyTorch may be missing
from torch.nn import functional as F  # noqa: E402, N812 - as everybody calls it

from refmlc.frontends.aten import RULES  # noqa: E402
from refmlc.frontends.binding import IDLE, LISTED, MEANT  # noqa: E402
from refmlc.frontends.fx_rules import MODULES  # noqa: E402
from refmlc.frontends.torch_export import from_exported_program  # noqa: E402
from refmlc.frontends.torch_fx import from_fx  # noqa: E402

X = torch.tensor([[0.5, -1.5, 2.0, -3.0], [0.0, 0.25, 4.25, 1.0]])
SCRIPT_ONLY = ("str", "list", "int", "float", "complex", "t", "left_t", "right_", "sublist", "data")
SORTED_LISTS = {("sort", one) for one in ("any", "bool", "Tensor")}
CHECKS = ("_assert", "sym_constrain")


class Model(nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def exported(function, x=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        return from_exported_program(torch.export.export(Model(function).eval(), (x,)))


def traced(model, x=X):
    return from_fx(fx.symbolic_trace(model), [(tuple(x.shape), str(x.dtype).removeprefix("torch."))])


def refused(raised):
    assert raised.value.diagnostic.code.id == "RM501"
    return raised.value.diagnostic.message + str(raised.value.diagnostic.notes)


def overloads():
    """Each rule with each operator of PyTorch that it is for."""
    for name, rule in RULES.items():
        stem, _, wanted = name.partition(".")
        packet = getattr(torch.ops.aten, stem, None)
        for one in packet.overloads() if packet is not None else ():
            script = (stem, one) in SORTED_LISTS or one in SCRIPT_ONLY or one.partition("_")[0] in SCRIPT_ONLY[:5]
            if (not wanted or one == wanted) and not script and not stem.startswith(CHECKS):
                yield rule, getattr(packet, one)


def unread(rule, operator):
    """The arguments of an operator that its rule has no parameter for."""
    parameters = list(inspect.signature(rule).parameters.values())[1:]
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters), operator
    names = {one.name for one in parameters}
    if any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters):
        names |= LISTED
    given = [one.name for one in operator._schema.arguments if one.name not in IDLE and not one.is_out]
    return {f"{operator}: {one}" for one in given if not names.intersection((one, *MEANT.get(one, ())))}


def test_every_argument_of_every_schema_is_read_or_one_of_these() -> None:
    found = {name.replace("_out:", ":") for rule, operator in overloads() for name in unread(rule, operator)}
    matrices = {f"aten.{name}.dtype: out_dtype" for name in ("mm", "bmm", "addmm", "baddbmm")}
    assert found == {*matrices, "aten.view.dtype: dtype", "aten.log.Scalar_Scalar: b"}


def test_one_of_these_is_refused() -> None:
    with pytest.raises(RefmlcError) as raised:
        exported(lambda x: x.view(torch.int32))
    assert "`dtype`" in refused(raised)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: torch.repeat_interleave(x, torch.tensor([1, 2]), dim=0, output_size=3), "`aten.repeat_interleave"),
        (lambda x: F.max_pool2d(x[None], 2, return_indices=True), "`getitem`"),
    ],
)
def test_what_no_rule_knows_is_refused_by_its_name(function, what) -> None:
    with pytest.raises(RefmlcError) as raised:
        exported(function)
    assert what in refused(raised)


class Weighted(nn.Module):
    def forward(self, x, w):
        return F.embedding(x, w, max_norm=1.0)


def test_an_argument_that_no_rule_reads_is_refused_with_operator_and_node() -> None:
    graph = fx.symbolic_trace(Weighted())
    with pytest.raises(RefmlcError) as raised:
        from_fx(graph, [((3,), "int64"), ((5, 4), "float32")])
    text = refused(raised)
    assert "`max_norm`" in text
    assert "`embedding`" in text


@pytest.mark.parametrize(
    ("module", "x", "setting"),
    [
        (nn.Embedding(5, 4, max_norm=1.0), torch.tensor([1, 2]), "max_norm"),
        (nn.MaxPool2d(2, return_indices=True), torch.ones(1, 1, 4, 4), "return_indices"),
        (nn.LSTM(4, 3, proj_size=2), torch.ones(2, 1, 4), "proj_size"),
    ],
)
def test_a_setting_that_no_rule_reads_is_refused(module, x, setting) -> None:
    graph = fx.GraphModule(nn.Sequential(module), called(1))
    with pytest.raises(RefmlcError) as raised:
        from_fx(graph, [(tuple(x.shape), str(x.dtype).removeprefix("torch."))])
    assert f"`{setting}`" in refused(raised)


def called(number):
    """A graph that calls the first module with so many inputs."""
    graph = fx.Graph()
    graph.output(graph.call_module("0", tuple(graph.placeholder(f"x{at}") for at in range(number))))
    return graph


def test_a_module_that_is_called_with_a_state_is_refused() -> None:
    graph = fx.GraphModule(nn.Sequential(nn.GRU(4, 3)), called(2))
    with pytest.raises(RefmlcError) as raised:
        from_fx(graph, [(2, 1, 4), (1, 1, 3)])
    assert "2 arguments" in refused(raised)


class Many(nn.Module):
    """Arguments by names and in orders of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        n = self.norm
        y = F.batch_norm(x, n.running_mean, n.running_var, weight=n.weight, bias=n.bias, eps=1e-3)
        z = F.linear(input=y, weight=torch.ones(3, 4)) + torch.add(input=x[:, :3], other=1, alpha=2)
        return self.relu(torch.cat(tensors=(z, F.softmax(input=y, dim=1)), dim=1)).to(x.dtype)


def test_arguments_by_name_and_in_other_orders_arrive() -> None:
    model = Many().eval()
    nn.init.normal_(model.norm.running_mean, generator=torch.Generator().manual_seed(1))
    module = traced(model)
    found = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"](X.numpy())
    np.testing.assert_allclose(found.numpy(), model(X).detach().numpy(), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("kind", MODULES)
def test_no_module_is_refused_as_it_is_made_without_a_word(kind) -> None:
    """The defaults of PyTorch are understood: what is refused is what somebody set."""
    needed = {
        nn.Linear: (4, 3),
        nn.LayerNorm: (4,),
        nn.GroupNorm: (1, 2),
        nn.Embedding: (5, 4),
        nn.LSTM: (4, 3),
        nn.GRU: (4, 3),
        nn.Unflatten: (1, (2, 2)),
    }
    rank = next((int(one) for one in kind.__name__ if one in "123" and "6" not in kind.__name__), 0)
    sizes = (2,) if "Norm" in kind.__name__ else (2, 3, 1) if "Conv" in kind.__name__ else (1,)
    pools = rank and "Dropout" not in kind.__name__
    module = kind(*needed.get(kind, sizes if pools else (1,) if "Softmax" in kind.__name__ else ())).eval()
    shape = {nn.Embedding: (3,), nn.LSTM: (2, 1, 4), nn.GRU: (2, 1, 4), nn.GroupNorm: (1, 2, 3)}.get(kind, (2, 4))
    x = torch.ones((1, 2, *(3,) * rank) if rank else shape, dtype=torch.int64 if kind is nn.Embedding else None)
    graph = fx.GraphModule(nn.Sequential(module), called(1))
    module_of = from_fx(graph, [(tuple(x.shape), str(x.dtype).removeprefix("torch."))])
    assert "main" in module_of.functions
