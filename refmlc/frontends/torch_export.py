"""`torch.export` programs as modules: each node of the ATen graph by its rule (`aten`).

| input of the program            | becomes                                                         |
|---------------------------------|-----------------------------------------------------------------|
| what the model is called with   | a parameter of `main`; dynamic sizes are symbolic dimensions    |
| parameter, buffer, constant     | a constant, or a parameter after those (`keep_params_as_input`) |

The graph is taken as `torch.export.export` gives it. Where an operator has no rule, PyTorch takes such operators apart
first (`run_decompositions`, with all decompositions that it has), and only what it cannot take apart is unsupported.

| graph in the graph           | becomes                                                                             |
|------------------------------|-------------------------------------------------------------------------------------|
| an operator in place         | PyTorch writes the graph without them first: a change shows in every view of a tensor |
| `cond`                       | the branch that a known condition takes; of one computed from data both, then `where` |
| `no_grad`, `set_grad_enabled`| its nodes                                                                           |
| `autocast`                   | its nodes, with the conversions that PyTorch adds                                   |

Decision: both branches of `cond` are computed. A branch that is undefined where it is not taken (an index outside, a
division of integers by zero) is refused where PyTorch has a value; no wrong value follows.
"""

import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, fx
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.export import ExportedProgram, default_decompositions
from torch.export.graph_signature import InputKind, InputSpec, OutputKind

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.diag.entry import entry_point
from refmlc.frontends.arrays import TorchTensor, array_of, constant_of, dtype_name
from refmlc.frontends.aten import rule_of
from refmlc.frontends.binding import applied, declared
from refmlc.frontends.emitter import Emitter, Operand
from refmlc.frontends.fx_rules import taken
from refmlc.frontends.malformed_input import RAISED
from refmlc.frontends.rule import Rule
from refmlc.frontends.sizes import Sizes
from refmlc.frontends.unknown_operator import told, unknown
from refmlc.lang.builder import BlockBuilder
from refmlc.lang.dtypes import INT64, SCALARS
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import PrimType, TensorType
from refmlc.lang.te import Value

UNCHANGING = frozenset({"aten::detach_", "aten::lift_fresh_copy", "aten::requires_grad_"})
"""Operators in place that change no element."""

OTHERWISE = frozenset({"aten::multi_margin_loss", "aten::multilabel_margin_loss"})
"""Operators whose decompositions give other values than they do, at NaN and infinities."""

WITHIN = frozenset({torch.ops.higher_order.cond, torch.ops.higher_order.wrap_with_set_grad_enabled})
"""Operators whose graphs are translated here."""

PARAMETERS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


@entry_point
def from_exported_program(
    exported_program: ExportedProgram,
    *,
    keep_params_as_input: bool = False,
    unwrap_unit_return_tuple: bool = False,
    no_bind_return_tuple: bool = False,
    run_ep_decomposition: bool | None = None,
) -> IRModule:
    """The module whose `main` computes what the program does; its result is a tuple, as the program's is.

    `keep_params_as_input`: parameters of the model become parameters of `main` (`params_of` has their values; the
    attribute `num_input` says how many inputs come before them). `unwrap_unit_return_tuple`: a result of one tensor is
    that tensor. `no_bind_return_tuple`: the tuple of the result has no variable. `run_ep_decomposition`: PyTorch takes
    every operator apart first (True), none (False), or those without a rule (None).
    Fails: RM501 for an operator without a rule, or what a model does besides its result.
    """
    program = _decomposed(exported_program, run_ep_decomposition)
    work = _Translation(program, keep=keep_params_as_input, origin=exported_program)
    return work.module(unwrap=unwrap_unit_return_tuple, bind=not no_bind_return_tuple)


def params_of(exported_program: ExportedProgram) -> dict[str, np.ndarray]:
    """The values of what `keep_params_as_input` makes parameters of `main`, by their names, in their order."""
    work = _Translation(exported_program, keep=True)
    return {spec.arg.name: array_of(tensor) for spec in work.signature if (tensor := work.tensor(spec)) is not None}


def _decomposed(program: ExportedProgram, target: bool | None) -> ExportedProgram:
    """The program with operators taken apart."""
    if target is None:
        calls = {node.target for graph in _graphs(program) for node in graph.nodes if node.op == "call_function"}
        for item in calls:
            if _schema_name(item) in OTHERWISE:
                raise fail(UNSUPPORTED_OP, f"the operator `{_name(item)}` of PyTorch is not supported")
        apart = any(call not in WITHIN and (_rule(call) is None or _is_in_place(call)) for call in calls)
        return _apart(program, _without_rule()) if apart else program
    return _apart(program, None) if target else program


def _apart(program: ExportedProgram, table: Mapping[OpOverload, Callable[..., object]] | None) -> ExportedProgram:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        try:
            return program.run_decompositions(None if table is None else dict(table))
        except (*RAISED, AssertionError, RuntimeError) as bad:
            what = f"PyTorch cannot take the operators of the program apart ({type(bad).__name__})"
            raise fail(UNSUPPORTED_OP, what) from bad


def _graphs(program: ExportedProgram) -> Iterator[fx.Graph]:
    """The graph of a program, and those of its branches."""
    for module in program.graph_module.modules():
        if isinstance(module, fx.GraphModule):
            yield module.graph


def _without_rule() -> dict[OpOverload, Callable[..., object]]:
    """PyTorch's decompositions of operators that have no rule; those that it prefers before others."""
    result = {**decomposition_table, **default_decompositions()}
    return {value: how for value, how in result.items() if isinstance(value, OpOverload) and _rule(value) is None}


def _schema_name(target: object) -> str:
    return str(getattr(getattr(target, "_schema", None), "name", ""))


def _is_in_place(target: object) -> bool:
    """Whether an operator changes its arguments."""
    schema = getattr(target, "_schema", None)
    return bool(schema is not None and schema.is_mutable and schema.name not in UNCHANGING)


def _name(target: object) -> str:
    """The name of an operator: `aten.add.Tensor`, `mul`."""
    result = str(target)
    return result if result.count(".") and "<" not in result else str(getattr(target, "__name__", result))


def _rule(target: object) -> Rule | None:
    if target is operator.getitem:
        return rule_of("getitem")
    return rule_of(_name(target).removeprefix("aten."))


@dataclass
class _Translation:
    """One program on its way."""

    program: ExportedProgram
    keep: bool
    origin: ExportedProgram | None = None
    sizes: Sizes = field(default_factory=Sizes)
    values: dict[object, object] = field(default_factory=dict)
    inputs: list[relax.Var] = field(default_factory=list)
    params: list[relax.Var] = field(default_factory=list)

    @property
    def signature(self) -> Sequence[InputSpec]:
        """The roles of the placeholders of the graph."""
        return list(self.program.graph_signature.input_specs)

    def tensor(self, spec: InputSpec) -> TorchTensor | None:
        """The value of a placeholder that is not an input of the model."""
        if spec.kind not in PARAMETERS:
            return None
        tables: Sequence[Mapping[str, TorchTensor]] = (self.program.state_dict, self.program.constants)
        return next((table[spec.target] for table in tables if spec.target in table), None)

    def module(self, *, unwrap: bool, bind: bool) -> IRModule:
        """The module that the program is."""
        builder = BlockBuilder()
        kinds = {spec.arg.name: spec for spec in self.signature}
        holders = [node for node in self.program.graph.nodes if node.op == "placeholder"]
        for node in holders:
            self.placeholder(node, kinds[node.name])
        attrs: dict[str, tir.Attr] = {"num_input": len(self.inputs)} if self.keep else {}
        with builder.function("main", [*self.inputs, *self.params], attrs):
            with builder.dataflow():
                for node in self.program.graph.nodes:
                    if node.op == "output":
                        result = self.result(node)
                    elif node.op != "placeholder" and (node.users or node.target is not operator.getitem):
                        self.values[node] = self.translated(builder, node)
                alone = result[0] if unwrap and len(result) == 1 else None
                output = self.bound(builder, result, alone, bind=bind)
            builder.emit_func_output(output)
        return builder.get()

    def placeholder(self, node: fx.Node, spec: InputSpec) -> None:
        """A parameter of the function, or a constant."""
        tensor = self.tensor(spec)
        if tensor is not None and not self.keep:
            if node.users:
                self.values[node] = constant_of(tensor)
            return
        example = node.meta.get("val")
        if example is None:
            raise fail(UNSUPPORTED_OP, f"the input `{node.name}` of the program is not a tensor")
        var = relax.Var(node.name, self.type_of(example))
        self.values[node] = Value(var.ty.value) if isinstance(var.ty, PrimType) and var.ty.value is not None else var
        (self.inputs if tensor is None else self.params).append(var)

    def type_of(self, example: object) -> TensorType | PrimType:
        """The type of what PyTorch exported with."""
        shape, dtype = getattr(example, "shape", None), getattr(example, "dtype", None)
        if shape is None or dtype is None:
            return PrimType(INT64, self.sizes.expr(example))
        return TensorType(tuple(self.sizes.expr(extent) for extent in shape), SCALARS[dtype_name(dtype)])

    def translated(self, builder: BlockBuilder, node: fx.Node) -> object:
        """The value of a node."""
        if node.op == "get_attr":
            field = getattr(node.graph.owning_module, str(node.target), None)
            return constant_of(field) if isinstance(field, Tensor) else field  # a graph for `cond` and its like
        if node.target in WITHIN:
            return self.of_graphs(builder, node)
        name, trace = _name(node.target), node.meta.get("stack_trace")
        rule = _rule(node.target) if node.op == "call_function" else None
        if rule is None:
            whole = self.before(node)
            raise unknown(f"the operator `{_name(whole.target)}` of PyTorch", whole.name, trace)
        with told(f"the operator `{name}` of PyTorch", node.name, trace):
            args, named = taken(node.args, self.values), taken(node.kwargs, self.values)
            return applied(rule, Emitter(builder), _list(args), _dict(named), declared(node.target))

    def before(self, node: fx.Node) -> fx.Node:
        """The node of the program as it was given, of which PyTorch has made this one; itself where there is none."""
        if self.origin is None or "original_aten" not in node.meta:
            return node
        first = node.meta.get("original_aten")
        graphs = _graphs(self.origin)
        return next((item for graph in graphs for item in graph.nodes if str(item.target) == str(first)), node)

    def of_graphs(self, builder: BlockBuilder, node: fx.Node) -> object:
        """The results of a node that holds graphs."""
        args = _list(taken(node.args, self.values))
        if node.target is not torch.ops.higher_order.cond:
            return self.inlined(builder, args[1], args[2:])
        condition, *graphs, values = args
        if isinstance(condition, bool):
            return self.inlined(builder, graphs[0 if condition else 1], _list(values))
        e, choose = Emitter(builder), rule_of("where")
        if not e.is_tensor(condition) or choose is None:
            raise unknown("a condition that is not a tensor", node.name, node.meta.get("stack_trace"))
        branches = [self.inlined(builder, graph, _list(values)) for graph in graphs]
        truth = e.reshape(condition, [])  # type: ignore[arg-type]  # it is a tensor
        return [choose(e, truth, *each) for each in zip(*branches, strict=True)]

    def inlined(self, builder: BlockBuilder, graph: object, values: Sequence[object]) -> list[object]:
        """The results of a graph for its arguments."""
        if not isinstance(graph, fx.GraphModule):
            raise fail(UNSUPPORTED_OP, f"a graph is {type(graph).__name__}")
        free = iter(values)
        for node in graph.graph.nodes:
            if node.op == "placeholder":
                self.values[node] = next(free)
            elif node.op == "output":
                return _list(taken(node.args[0], self.values))
            else:
                self.values[node] = self.translated(builder, node)
        return []

    def result(self, node: fx.Node) -> list[object]:
        """The result of the model. Fails: RM501 if the model also changes state."""
        values = _list(taken(node.args[0], self.values))
        specs = self.program.graph_signature.output_specs
        for spec in specs:
            if spec.kind is not OutputKind.USER_OUTPUT:
                what = f"the model changes `{spec.target}` while it runs ({spec.kind.name})"
                raise fail(UNSUPPORTED_OP, what, None, "call `model.eval()` before the export")
        return values

    def bound(self, builder: BlockBuilder, result: list[object], alone: object, *, bind: bool) -> object:
        """The result as a variable that is seen after the block, or as a tuple of such."""
        e = Emitter(builder)
        values = [item if isinstance(item, relax.Expr) else e.expr(item) for item in result]
        if alone is not None:
            return builder.emit_output(e.expr(alone))
        if bind:
            return builder.emit_output(relax.Tuple(tuple(values)))
        return [builder.emit_output(item) for item in values]


def _list(value: object) -> list[Operand]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _dict(value: object) -> dict[str, Operand]:
    return value if isinstance(value, dict) else {}
