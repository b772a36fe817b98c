"""`torch.fx` graphs as modules: each node by a function of a map, the caller's or the built-in one.

| node            | translated by                                                                      |
|-----------------|------------------------------------------------------------------------------------|
| `placeholder`   | a parameter of the next of `input_info`                                            |
| `get_attr`      | a constant, or a parameter where parameters are kept                               |
| `call_function` | `call_function_map[target](builder, node_map, node)`                               |
| `call_module`   | `call_module_map[type(module)](builder, node_map, node, module)`                   |
| `call_method`   | `call_method_map[name](builder, node_map, node)`                                   |
| `output`        | the result of `main`                                                               |

The caller's maps take precedence over the built-in ones (`fx_rules`).

Decision: the course's own `from_fx` returns the variable of the dataflow block, which nothing outside of it sees;
`main` here returns the output of the block, which has the same value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
from torch import Tensor, fx, nn

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.frontends.arrays import array_of, constant_of, dtype_name
from refmlc.frontends.emitter import Size
from refmlc.frontends.fx_aliases import check_in_place
from refmlc.frontends.fx_rules import Weights, built_in_function, built_in_method, built_in_module
from refmlc.frontends.unknown_operator import told, unknown
from refmlc.lang.builder import BlockBuilder
from refmlc.lang.dtypes import INT64, SCALARS, dtype as dtype_named
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import TensorType
from refmlc.lang.te import Value

Rule: TypeAlias = Callable[..., object]
InputInfo: TypeAlias = "tuple[Sequence[Size], str] | Sequence[Size]"


@entry_point
def from_fx(
    model: fx.GraphModule,
    input_info: Sequence[InputInfo] | None = None,
    call_function_map: Mapping[object, Rule] | None = None,
    call_module_map: Mapping[type, Rule] | None = None,
    call_method_map: Mapping[str, Rule] | None = None,
    *,
    input_shapes: Sequence[Sequence[Size]] | None = None,
    keep_params_as_input: bool = False,
    unwrap_unit_return_tuple: bool = False,
) -> IRModule:
    """The module whose `main` computes what the graph does.

    `input_info`: for each input its shape, or its shape and dtype; `input_shapes` is the same by the course's name.
    Parameters are constants, or parameters of `main` after the inputs (`params_of` has their values; the attribute
    `num_input` says where they begin). Fails: RM501 for a node that no rule translates, RM112.
    """
    target = input_info if input_info is not None else input_shapes
    if target is None:
        raise fail(BAD_USAGE, "the shapes of the inputs are not given: `input_info` is needed")
    maps = _Maps(call_function_map or {}, call_module_map or {}, call_method_map or {})
    work = _Translation(model, maps, list(target), keep=keep_params_as_input, unwrap=unwrap_unit_return_tuple)
    return work.module()


def params_of(model: fx.GraphModule) -> dict[str, np.ndarray]:
    """The values of the parameters that `from_fx(…, keep_params_as_input=True)` gives `main`, by their names."""
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return {_param_name(name): array_of(tensor) for name, tensor in tensors.items()}


def _param_name(target: str) -> str:
    """A name that the text can have: `_0_weight` of the first module of a `Sequential`."""
    name = target.replace(".", "_")
    return name if name.isidentifier() else f"_{name}"


@dataclass(frozen=True)
class _Maps:
    """The caller's arguments."""

    functions: Mapping[object, Rule]
    modules: Mapping[type, Rule]
    methods: Mapping[str, Rule]


@dataclass
class _Translation:
    """One graph on its way."""

    model: fx.GraphModule
    maps: _Maps
    wanted: list[InputInfo]
    keep: bool
    unwrap: bool
    inputs: list[relax.Var] = field(default_factory=list)
    params: dict[str, relax.Var] = field(default_factory=dict)
    values: dict[object, object] = field(default_factory=dict)

    def module(self) -> IRModule:
        """The module that the graph is."""
        builder, output = BlockBuilder(), None
        count = sum(node.op == "placeholder" for node in self.model.graph.nodes)
        attrs: dict[str, tir.Attr] = {"num_input": count} if self.keep else {}
        with builder.function("main", attrs=attrs):
            with builder.dataflow():
                for node in self.model.graph.nodes:
                    if node.op == "output":
                        output = builder.emit_output(self.result(node.args[0]))
                    else:
                        self.values[node] = self.translated(builder, node)
            builder.emit_func_output(output, [*self.inputs, *self.params.values()])
        return builder.get()

    def result(self, values: object) -> object:
        """What `main` returns."""
        if isinstance(values, tuple | list):
            fields = [self.result(item) for item in values]
            return fields[0] if self.unwrap and len(fields) == 1 else fields
        return self.values[values]

    def translated(self, builder: BlockBuilder, node: fx.Node) -> object:
        """The value of a node."""
        match node.op:
            case "placeholder":
                return self.input(str(node.target))
            case "get_attr":
                return self.attribute(str(node.target))
        rule, what = self.rule(node)
        if rule is None:
            raise unknown(what, node.name, node.stack_trace)
        with told(what, node.name, node.stack_trace):
            check_in_place(self.model, node)
            return rule(builder, self.values, node)

    def rule(self, node: fx.Node) -> tuple[Rule | None, str]:
        """How a call is translated, and what is called in words."""
        match node.op:
            case "call_module":
                module = self.model.get_submodule(str(node.target))
                result = self.maps.modules.get(type(module)) or built_in_module(module, self.weights(node, module))
                return result and partial(result, nn_mod=module), f"the module `{type(module).__name__}`"
            case "call_method":
                name = str(node.target)
                return self.maps.methods.get(name) or built_in_method(name), f"the method `{name}`"
            case _:
                name = getattr(node.target, "__name__", str(node.target))
                return self.maps.functions.get(node.target) or built_in_function(node.target), f"the function `{name}`"

    def input(self, name: str) -> relax.Var:
        """The next parameter of `main`."""
        if len(self.inputs) >= len(self.wanted):
            raise fail(BAD_USAGE, f"the input `{name}` has no shape: {len(self.wanted)} are given")
        shape, dtype = _info(self.wanted[len(self.inputs)])
        extents = tuple(extent.expr if isinstance(extent, Value) else tir.IntImm(INT64, extent) for extent in shape)
        var = relax.Var(name, TensorType(extents, dtype_named(dtype)))
        self.inputs.append(var)
        return var

    def attribute(self, target: str) -> relax.Expr:
        """A tensor of the model."""
        value: object = self.model
        for atom in target.split("."):
            value = getattr(value, atom)
        if not isinstance(value, Tensor):
            raise fail(BAD_USAGE, f"`{target}` of the model is {type(value).__name__}: a tensor is needed")
        return self.weight(target, value)

    def weights(self, node: fx.Node, module: nn.Module) -> Weights:
        """How a module's own tensors are had, by their names there; None for one that it does not have."""

        def weight(name: str) -> relax.Expr | None:
            value = getattr(module, name, None)
            return self.weight(f"{node.target}.{name}", value) if isinstance(value, Tensor) else None

        return weight

    def weight(self, target: str, value: Tensor) -> relax.Expr:
        """A tensor of the model as a constant, or as a parameter of `main`."""
        if not self.keep:
            return constant_of(value)
        if target not in self.params:
            shape = tuple(tir.IntImm(INT64, int(extent)) for extent in value.shape)
            ty = TensorType(shape, SCALARS[dtype_name(value.dtype)])
            self.params[target] = relax.Var(_param_name(target), ty)
        return self.params[target]


def _info(values: InputInfo) -> tuple[Sequence[Size], str]:
    match values:
        case (tuple() | list() as shape, str() as dtype):
            return shape, dtype
        case _:
            return values, "float32"  # type: ignore[return-value]  # a shape alone
