"""Bindings of dataflow blocks that belong together become functions of Relax, and calls of them.

    lv = R.nn.conv2d(x, w)                            gv = cls.fused_relax_nn_conv2d_relax_nn_relu(x, w)
    gv = R.nn.relu(lv)                        →       and a private function of both, with the attributes of the group

| in the function                     | is                                                                             |
|-------------------------------------|--------------------------------------------------------------------------------|
| a parameter                         | what a binding of the group reads and none binds, in the order of reading      |
| … for each field that is read       | a tuple of which nothing else is read                                          |
| a constant                          | a parameter too, if `lift_constants`                                           |
| numbers, shapes without variables   | where they stand                                                               |
| the last parameter, a shape         | extents that no other parameter binds                                          |
| the result                          | what is read outside of the group; several values are a tuple                  |

The call stands where the last binding of the group stood; a group that needs the result of another comes after it.

Source: `OperatorFusor` of TVM 0.27, `src/relax/transform/fuse_ops.cc`. Decision: names of packed functions, strings and
dtypes stay where they stand too; there they become parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.module import AnyFunction
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.lang.wellformed.infer import type_of
from refmlc.rewrite.transform.legalize import add_function

Values = Mapping[relax.Var, relax.Expr]


@dataclass(eq=False)
class BindingGroup:
    """A group of bindings, a node of a forest: that of its root is what counts. `size`: of its bindings."""

    attrs: dict[str, tir.Attr] = field(default_factory=dict)
    size: int = 1
    parent: "BindingGroup | None" = None

    @property
    def root(self) -> "BindingGroup":
        """The group that this one has become part of."""
        group = self
        while group.parent is not None:
            group = group.parent
        return group

    @property
    def alone(self) -> bool:
        """Whether its only binding stays where it is."""
        return self.size == 1 and not self.attrs


Groups = Mapping[relax.Var, BindingGroup]


def entries_of(module: IRModule, names: Sequence[str] = ()) -> dict[str, relax.Function]:
    """The functions of Relax that may be changed, or those of `names`: none that is a part for a compiler already."""
    return {
        name: func
        for name, func in module.functions.items()
        if isinstance(func, relax.Function)
        and (name in names if names else not {"Primitive", "Codegen"} & {*func.attrs})
    }


def grouped_functions(
    module: IRModule, groups: Groups, *, lift_constants: bool, entries: Sequence[str] = ()
) -> IRModule:
    """`module` with a function for each group that is not alone. Variables have their types."""
    added: dict[str, relax.Function] = {}
    functions: dict[str, AnyFunction] = dict(module.functions)
    for name, func in entries_of(module, entries).items():
        values = {binding.var: binding.value for binding in bindings_of(func)}

        def change(node: Node, values: Values = values) -> Node:
            if not isinstance(node, relax.DataflowBlock):
                return node
            return _Block(module, groups, values, lift_constants=lift_constants).changed(node, added)

        functions[name] = rewrite(func, change)
    return replace(module, functions={**functions, **added}) if added else module


def bindings_of(func: relax.Function) -> Iterator[relax.Binding]:
    """The bindings of a function, those of inner sequences too."""
    for node in walk(func):
        if isinstance(node, relax.VarBinding | relax.MatchCast):
            yield node


class _Block:
    """The groups of one dataflow block."""

    def __init__(self, module: IRModule, groups: Groups, values: Values, *, lift_constants: bool) -> None:
        self.module = module
        self.groups = dict(groups)
        self.outer = _Outer(module, values, lift_constants=lift_constants)
        self.members: dict[BindingGroup, _Members] = {}
        self.needs: dict[BindingGroup, list[BindingGroup]] = {}

    def group(self, binding: relax.Binding) -> BindingGroup:
        return self.groups.setdefault(binding.var, BindingGroup()).root

    def changed(self, block: relax.DataflowBlock, added: dict[str, relax.Function]) -> relax.DataflowBlock:
        """The block with calls in the place of groups; `added` gets their functions."""
        for binding in block.bindings:
            if not (group := self.group(binding)).alone:
                self.members.setdefault(group, _Members(self.outer)).append(binding)
        if not self.members:
            return block
        for binding in block.bindings:
            self.read(binding)
        bindings: list[relax.Binding] = []
        for binding in self.ordered(block.bindings):
            members = self.members.get(self.group(binding))
            if members is None:
                bindings.append(binding)
            elif binding is members.bindings[-1] and members.outputs:
                bindings += self.called(members, self.group(binding), added)
        return replace(block, bindings=tuple(bindings))

    def read(self, binding: relax.Binding) -> None:
        """Note what the value of a binding needs of other groups."""
        here = self.group(binding)
        for var in (node for node in walk(binding.value) if isinstance(node, relax.Var) and node in self.groups):
            producer = self.groups[var].root
            if producer is not here:
                self.needs.setdefault(here, []).append(producer)
                if producer in self.members:
                    self.members[producer].output(var)

    def ordered(self, bindings: Sequence[relax.Binding]) -> list[relax.Binding]:
        """The bindings by groups, each after those that it needs, else as they were."""
        by_group: dict[BindingGroup, list[relax.Binding]] = {}
        for binding in bindings:
            by_group.setdefault(self.group(binding), []).append(binding)
        visited: set[BindingGroup] = set()
        order: list[BindingGroup] = []
        stack = [(group, False) for group in reversed(by_group)]
        while stack:
            group, ready = stack.pop()
            if ready:
                order.append(group)
            elif group not in visited:
                visited.add(group)
                stack.append((group, True))
                stack += [(need, False) for need in reversed(self.needs.get(group, []))]
        return [binding for group in order for binding in by_group.get(group, ())]

    def called(self, members: "_Members", group: BindingGroup, added: dict[str, relax.Function]) -> list[relax.Binding]:
        """The call of the function of a group, and a binding for each of its results."""
        func, args = members.function({**group.attrs, "Primitive": True})
        last, name = members.bindings[-1], add_function(self.module, added, members.name, func)
        call = relax.Call(tir.GlobalVar(name), args, span=last.value.span)
        if len(members.outputs) == 1:
            return [relax.VarBinding(members.outputs[0], call, span=last.span)]
        var = relax.Var("lv", func.ret_ty, dataflow=True)
        fields = [
            relax.VarBinding(output, relax.TupleGetItem(var, place)) for place, output in enumerate(members.outputs)
        ]
        order = {binding.var: place for place, binding in enumerate(members.bindings)}
        fields.sort(key=lambda binding: order[binding.var])
        return [relax.VarBinding(var, call, span=last.span), *fields]


class _Outer:
    """What is known around a block: values of variables, types, whether constants become parameters."""

    def __init__(self, module: IRModule, values: Values, *, lift_constants: bool) -> None:
        self.module = module
        self.values = values
        self.lift_constants = lift_constants

    def type_of(self, expr: relax.Expr) -> Type | None:
        return type_of(expr, self.module, {})

    def stays(self, expr: relax.Expr) -> bool:
        """Whether an argument stands in the function as it is."""
        if isinstance(expr, relax.Constant):
            return not self.lift_constants
        return not isinstance(expr, relax.Var) and is_fixed(expr)

    def fixed_value(self, var: relax.Var) -> relax.Expr | None:
        """The number or shape that a variable is, where it has no variables."""
        value: relax.Expr | None = self.values.get(var)
        while isinstance(value, relax.Var):
            value = self.values.get(value)
        return value if value is not None and isinstance(value, _PLAIN) and is_fixed(value) else None


_PLAIN = (relax.Tuple, relax.PrimValue, relax.ShapeExpr)


def is_fixed(expr: relax.Expr) -> bool:
    """Whether an expression is the same in every function: without tensors and without anything that is bound."""
    match expr:
        case relax.Tuple(fields):
            return all(map(is_fixed, fields))
        case relax.PrimValue() | relax.ShapeExpr():
            return not any(isinstance(node, tir.Var) for node in walk(expr))
        case relax.StringImm() | relax.DataTypeImm() | relax.ExternFunc() | relax.Op() | tir.GlobalVar():
            return True
        case _:
            return False


class _Members:
    """The bindings of a group, what they read of others, and what others read of them."""

    def __init__(self, outer: _Outer) -> None:
        self.outer = outer
        self.name = "fused"
        self.bindings: list[relax.Binding] = []
        self.args: dict[relax.Expr, relax.Var] = {}
        self.inlined: dict[Node, Node] = {}
        self.fields: dict[relax.Expr, list[int]] = {}
        self.outputs: list[relax.Var] = []
        self.bound: set[relax.Var] = set()
        self.constants = 0

    def append(self, binding: relax.Binding) -> None:
        """Take a binding: the name of the function continues, what the binding reads is an argument."""
        value = binding.value
        if isinstance(value, relax.Call):
            self.name += f"_{_stem(value)}"
            for arg in _arguments(value):
                self.argument(arg)
                self.fields.pop(arg, None)
        elif isinstance(value, relax.TupleGetItem):
            self.argument(value.tuple_value)
            if value.tuple_value in self.fields:
                self.fields[value.tuple_value].append(value.index)
        self.bound.add(binding.var)
        if not binding.var.dataflow:
            self.output(binding.var)
        self.bindings.append(binding)

    def output(self, var: relax.Var) -> None:
        """Make a variable a result."""
        if var not in self.outputs:
            self.outputs.append(var)

    def argument(self, expr: relax.Expr) -> None:
        """Make an expression an argument, if it has to be one."""
        if expr in self.args or expr in self.bound or expr in self.inlined or self.outer.stays(expr):
            return
        if isinstance(expr, relax.Var) and (value := self.outer.fixed_value(expr)) is not None:
            self.inlined[expr] = value
            return
        ty = self.outer.type_of(expr)
        if isinstance(expr, relax.Var):
            name = expr.name
        else:
            name, self.constants = f"param_{self.constants}", self.constants + 1
        self.args[expr] = relax.Var(name, ty)
        if isinstance(ty, TupleType):
            self.fields[expr] = []

    # ---------------------------------------------------------------------------------------------- the function

    def function(self, attrs: Mapping[str, tir.Attr]) -> tuple[relax.Function, tuple[relax.Expr, ...]]:
        """The function, and what it is called on."""
        params, args, items = self.parameters()
        table: dict[Node, Node] = {**self.inlined}
        table.update(self.args.items())
        bindings: list[relax.Binding] = []
        for binding in self.bindings:
            value = binding.value
            item = items.get((value.tuple_value, value.index)) if isinstance(value, relax.TupleGetItem) else None
            if item is not None:
                table[binding.var] = item
                continue
            inside = binding.var not in self.outputs
            var = relax.Var(binding.var.name if inside else "gv", binding.var.ty, dataflow=inside)
            bindings.append(replace(binding, var=var, value=substitute(value, table)))
            table[binding.var] = var
        results = [cast("relax.Var", table[var]) for var in self.outputs]
        body: relax.Expr = results[0] if len(results) == 1 else relax.Tuple(tuple(results))
        blocks = (relax.DataflowBlock(tuple(bindings)),) if bindings else ()
        func = relax.Function(
            tuple(params), relax.SeqExpr(blocks, body), self.outer.type_of(body), private=True, attrs=attrs
        )
        return with_sizes(func, args)

    def parameters(
        self,
    ) -> tuple[list[relax.Var], list[relax.Expr], dict[tuple[relax.Expr, int], relax.Var]]:
        """Parameters, arguments, and the parameters that are fields of tuples."""
        params: list[relax.Var] = []
        args: list[relax.Expr] = []
        items: dict[tuple[relax.Expr, int], relax.Var] = {}
        for arg, param in self.args.items():
            indices = self.fields.get(arg)
            if indices is None:
                params.append(param)
                args.append(arg)
            for index in indices or ():
                fields = param.ty.fields if isinstance(param.ty, TupleType) else ()
                item = relax.Var(f"{param.name}_{index}", fields[index])
                params.append(item)
                args.append(relax.TupleGetItem(arg, index))
                items[arg, index] = item
        return params, args, items


def with_sizes(func: relax.Function, args: Sequence[relax.Expr]) -> tuple[relax.Function, tuple[relax.Expr, ...]]:
    """The function with extents of its own; those that no parameter binds come as a shape at the end of `args`."""
    sizes = dict.fromkeys(node for node in walk(func) if isinstance(node, tir.Var))
    bound = {size for param in func.params for size in _bound_sizes(param.ty)}
    free = tuple(size for size in sizes if size not in bound)
    if free:
        shape = relax.Var("tir_vars", ShapeType(free))
        func, args = replace(func, params=(*func.params, shape)), (*args, relax.ShapeExpr(free))
    table: dict[Node, Node] = {size: tir.Var(size.name, size.dtype) for size in sizes}
    return substitute(func, table), tuple(args)


def _bound_sizes(ty: Type | None) -> Iterator[tir.Var]:
    """The variables that a value of a type determines: whole extents."""
    match ty:
        case TensorType(shape=values) | ShapeType(values=values):
            yield from (value for value in values or () if isinstance(value, tir.Var))
        case PrimType(value=tir.Var() as value):
            yield value
        case TupleType(fields=fields):
            for inner in fields:
                yield from _bound_sizes(inner)


def _stem(call: relax.Call) -> str:
    """The part of the name of a function that a call is."""
    match call:
        case relax.Call(op=relax.Op("call_tir" | "call_tir_inplace"), args=(tir.GlobalVar(name), *_)):
            return name
        case relax.Call(op=relax.Op(name)):
            return f"relax.{name}".replace(".", "_")
        case relax.Call(op=tir.GlobalVar(name)):
            return name.removeprefix("fused_")
        case _:
            return "call"


def _arguments(call: relax.Call) -> Iterator[relax.Expr]:
    """What a call reads: its arguments, of tuples the fields; what it calls, where that is a variable."""
    if isinstance(call.op, relax.Var):
        yield call.op
    for arg in call.args:
        if isinstance(arg, relax.Tuple):
            yield from arg.fields
        else:
            yield arg
