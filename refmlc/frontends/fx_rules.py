"""The built-in maps of `from_fx`: functions, methods and modules of PyTorch by the rules of `aten`.

| call              | becomes                                                                     |
|-------------------|-----------------------------------------------------------------------------|
| a function        | the rule of its name (`torch.relu`, `operator.add`, `functional.linear`)    |
| a method          | the rule of its name (`x.view(…)`)                                          |
| a module          | the rule in `MODULES`, called with the module's own settings                |
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from torch import nn

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.frontends.aten import RULES, rule_of
from refmlc.frontends.binding import IDLE, Argument, applied, declared, is_default, understood
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.rule import Rule
from refmlc.lang.builder import BlockBuilder
from refmlc.lang.ir import relax

Values: TypeAlias = Mapping[object, object]
Weights: TypeAlias = Callable[[str], relax.Expr | None]
FxRule: TypeAlias = Callable[..., object]
ModuleRule: TypeAlias = Callable[[Emitter, "Settings", Weights, Operand], Operand]

DISPATCHED: Mapping[object, str] = {
    nn.functional.max_pool1d: "max_pool1d",
    nn.functional.max_pool2d: "max_pool2d",
    nn.functional.max_pool3d: "max_pool3d",
}
"""Functions of PyTorch that do not say their own names."""

RENAMED: Mapping[str, str] = {"concatenate": "cat", "_assert": "assert"}


def built_in_function(target: object) -> FxRule | None:
    """The rule for a function that a graph calls; None where there is none."""
    name = DISPATCHED.get(target) or str(getattr(target, "__name__", ""))
    rule = rule_of(RENAMED.get(name, name))
    return None if rule is None else _on_nodes(rule, declared(target))


def built_in_method(name: str) -> FxRule | None:
    """The rule for a method of a tensor; None where there is none."""
    rule = rule_of(name)
    return None if rule is None else _on_nodes(rule)


def _on_nodes(rule: Rule, arguments: Sequence[Argument] | None = None) -> FxRule:
    """A rule as a function of the builder, the values of the nodes and the node."""

    def translate(builder: BlockBuilder, node_map: Values, node: "object") -> object:
        args, named = (taken(getattr(node, part), node_map) for part in ("args", "kwargs"))
        values = args if isinstance(args, tuple | list) else ()
        return applied(rule, Emitter(builder), values, named if isinstance(named, dict) else {}, arguments)

    return translate


def taken(argument: object, node_map: Values) -> object:
    """An argument of a node with the values of the nodes in it."""
    match argument:
        case tuple():
            return tuple(taken(item, node_map) for item in argument)
        case list():
            return [taken(item, node_map) for item in argument]
        case dict():
            return {key: taken(value, node_map) for key, value in argument.items()}
        case slice():
            return slice(*(taken(item, node_map) for item in (argument.start, argument.stop, argument.step)))
    try:
        return node_map.get(argument, argument)
    except TypeError:  # what cannot be a key is no node
        return argument


class Settings:
    """A module as a rule sees it: what the rule reads of it is remembered."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._read: set[str] = set()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a setting is of any type
        """A setting, which counts as understood from now on."""
        self._read.add(name)
        return getattr(self._module, name)

    def check_all_taken(self) -> None:
        """Refuse what the rule did not read. Fails: RM501 that names it."""
        kind = type(self._module)
        defaults = {name: item.default for name, item in inspect.signature(kind).parameters.items()}
        for name in dict.fromkeys((*defaults, *getattr(kind, "__constants__", ()))):
            value = getattr(self._module, name, None)
            idle = name in self._read or name in DESCRIBED or name in IDLE
            if not idle and not is_default(value, defaults.get(name, 0)):
                raise fail(UNSUPPORTED_OP, f"its setting `{name}` is not supported: it is {value}")


DESCRIBED = frozenset(
    {
        *("in_features", "out_features", "in_channels", "out_channels", "num_features", "num_channels", "kernel_size"),
        *("num_embeddings", "embedding_dim", "input_size", "mode", "normalized_shape", "output_padding"),
        *("bias", "affine", "elementwise_affine", "track_running_stats", "momentum"),
    }
)
"""Settings that the weights of a module show as well, or that mean something in training alone."""


def built_in_module(module: nn.Module, weights: Weights) -> FxRule | None:
    """The rule for a module that a graph calls; None where there is none."""
    rule = MODULES.get(type(module))
    if rule is None:
        return None

    def translate(builder: BlockBuilder, node_map: Values, node: object, nn_mod: nn.Module) -> object:
        args, named = (taken(getattr(node, part), node_map) for part in ("args", "kwargs"))
        values = [*(args if isinstance(args, tuple) else ()), *(named.values() if isinstance(named, dict) else ())]
        if len(values) != 1:
            raise fail(
                UNSUPPORTED_OP, f"a module is called with one tensor here; this is called with {len(values)} arguments"
            )
        visited = Settings(nn_mod)
        with understood():
            result = rule(Emitter(builder), visited, weights, values[0])
        visited.check_all_taken()
        return result

    return translate


def _settings(name: str, *attributes: str) -> ModuleRule:
    """The rule `name` of the input and the module's attributes, in this order."""
    return lambda e, m, _weights, x: RULES[name](e, x, *(getattr(m, attribute) for attribute in attributes))


def _conv(name: str) -> ModuleRule:
    def rule(e: Emitter, m: Settings, weights: Weights, x: Operand) -> Operand:
        if getattr(m, "padding_mode", "zeros") != "zeros":
            raise fail(UNSUPPORTED_OP, f'a convolution with the padding "{m.padding_mode}" is not supported')
        return RULES[name](e, x, weights("weight"), weights("bias"), m.stride, m.padding, m.dilation, m.groups)

    return rule


def _linear(e: Emitter, _m: Settings, weights: Weights, x: Operand) -> Operand:
    return RULES["linear"](e, x, weights("weight"), weights("bias"))


def _batch_norm(e: Emitter, m: Settings, weights: Weights, x: Operand) -> Operand:
    moments = weights("running_mean"), weights("running_var")
    return RULES["batch_norm"](e, x, weights("weight"), weights("bias"), *moments, m.training, 0.1, m.eps)


def _layer_norm(e: Emitter, m: Settings, weights: Weights, x: Operand) -> Operand:
    return RULES["layer_norm"](e, x, list(m.normalized_shape), weights("weight"), weights("bias"), m.eps)


def _group_norm(e: Emitter, m: Settings, weights: Weights, x: Operand) -> Operand:
    return RULES["group_norm"](e, x, m.num_groups, weights("weight"), weights("bias"), m.eps)


def _embedding(e: Emitter, _m: Settings, weights: Weights, x: Operand) -> Operand:
    return RULES["embedding"](e, weights("weight"), x)


def _recurrent(name: str, *, several: bool) -> ModuleRule:
    """A recurrent layer from a state of zeros; its outputs, then its last state."""

    def rule(e: Emitter, m: Settings, weights: Weights, x: Operand) -> Operand:
        if m.proj_size:
            raise fail(UNSUPPORTED_OP, f"its setting `proj_size` is not supported: it is {m.proj_size}")
        kinds = ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if m.bias else ()))
        ways = ("", "_reverse") if m.bidirectional else ("",)
        params = [weights(f"{k}_l{at}{way}") for at in range(m.num_layers) for way in ways for k in kinds]
        batch = e.shape(x)[0 if m.batch_first else 1]
        zeros = RULES["zeros"](e, [m.num_layers * len(ways), batch, m.hidden_size])
        start = (zeros, zeros) if several else zeros
        out = RULES[name](
            e, x, start, params, m.bias, m.num_layers, m.dropout, m.training, m.bidirectional, m.batch_first
        )
        if not isinstance(out, relax.Tuple):
            raise fail(UNSUPPORTED_OP, f"`{name}` does not return a tuple")
        return (out.fields[0], tuple(out.fields[1:]) if several else out.fields[1])

    return rule


MODULES: Mapping[type, ModuleRule] = {
    nn.Linear: _linear,
    nn.Conv1d: _conv("conv1d"),
    nn.Conv2d: _conv("conv2d"),
    nn.Conv3d: _conv("conv3d"),
    nn.BatchNorm1d: _batch_norm,
    nn.BatchNorm2d: _batch_norm,
    nn.BatchNorm3d: _batch_norm,
    nn.LayerNorm: _layer_norm,
    nn.GroupNorm: _group_norm,
    nn.Embedding: _embedding,
    nn.ReLU: _settings("relu"),
    nn.ReLU6: _settings("hardtanh", "min_val", "max_val"),
    nn.GELU: _settings("gelu", "approximate"),
    nn.SiLU: _settings("silu"),
    nn.Sigmoid: _settings("sigmoid"),
    nn.Tanh: _settings("tanh"),
    nn.LeakyReLU: _settings("leaky_relu", "negative_slope"),
    nn.ELU: _settings("elu", "alpha"),
    nn.Hardswish: _settings("hardswish"),
    nn.Hardsigmoid: _settings("hardsigmoid"),
    nn.Softplus: _settings("softplus", "beta", "threshold"),
    nn.Softmax: _settings("softmax", "dim"),
    nn.LogSoftmax: _settings("log_softmax", "dim"),
    nn.Flatten: _settings("flatten", "start_dim", "end_dim"),
    nn.Unflatten: _settings("unflatten", "dim", "unflattened_size"),
    nn.Identity: _settings("alias"),
    nn.Dropout: _settings("dropout", "p", "training"),
    nn.Dropout2d: _settings("dropout", "p", "training"),
    nn.MaxPool2d: _settings("max_pool2d", "kernel_size", "stride", "padding", "dilation", "ceil_mode"),
    nn.MaxPool1d: _settings("max_pool1d", "kernel_size", "stride", "padding", "dilation", "ceil_mode"),
    nn.AvgPool2d: _settings(
        "avg_pool2d", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"
    ),
    nn.AdaptiveAvgPool1d: _settings("adaptive_avg_pool1d", "output_size"),
    nn.AdaptiveAvgPool2d: _settings("adaptive_avg_pool2d", "output_size"),
    nn.LSTM: _recurrent("lstm", several=True),
    nn.GRU: _recurrent("gru", several=False),
}
