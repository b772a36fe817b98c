"""`merge_composite_functions`: calls of composite functions for one compiler that follow each other become one call.

Two such calls are merged where one reads the result of the other and nothing between them lies outside: a merge must
not make a group need itself. If `b` and `c` read `a`, `d` reads both, and only `c` is for another compiler, then
`b` goes to `a`, and `d` does not.

The function of a group is for its compiler, `Codegen`, and holds the composite functions as local ones, so that it
says all there is to say. Other functions that carry `Codegen` are called by a name with that of the compiler once more.

Source: TVM 0.27, `src/relax/transform/merge_composite_functions.cc`; as there, `main` alone is looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.module import AnyFunction
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType, TupleType
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.lang.wellformed.infer import type_of
from refmlc.rewrite.partition.groups import BindingGroup, grouped_functions
from refmlc.rewrite.partition.wrapping import CODEGEN, COMPOSITE, PRIMITIVE, compiler_of, local_copy
from refmlc.rewrite.transform.dead_code import dead_code_elimination
from refmlc.rewrite.transform.normal_form import normalize

MAIN = "main"


@entry_point
def merge_composite_functions(module: IRModule) -> IRModule:
    """`module`, in normal form, with functions for compilers. Fails: RM112 where it has no `main` of Relax."""
    module = normalize(module)
    main = module.functions.get(MAIN)
    if not isinstance(main, relax.Function):
        raise fail(BAD_USAGE, f"composite functions are merged in `{MAIN}`, a function of Relax; the module has none")
    groups = _Composites(module, main).run()
    grouped = grouped_functions(module, groups, lift_constants=True, entries=(MAIN,))
    return dead_code_elimination(_for_compilers(grouped, module), (MAIN,))


class _Composites:
    """The group of each variable of `main`."""

    def __init__(self, module: IRModule, main: relax.Function) -> None:
        self.module = module
        self.main = main
        self.groups: dict[relax.Var, BindingGroup] = {param: BindingGroup() for param in main.params}
        self.needs: dict[BindingGroup, set[BindingGroup]] = {}
        self.values: dict[relax.Var, relax.Expr] = {}
        self.users: dict[relax.Var, list[relax.Var]] = {}
        self.outputs = {node for node in walk(main.body.body) if isinstance(node, relax.Var)}

    def run(self) -> dict[relax.Var, BindingGroup]:
        bindings = [binding for block in self.main.body.blocks for binding in block.bindings]
        for binding in bindings:
            self.values[binding.var] = binding.value
            for var in dict.fromkeys(node for node in walk(binding.value) if isinstance(node, relax.Var)):
                self.users.setdefault(var, []).append(binding.var)
        for binding in bindings:
            self.groups[binding.var] = self.group(binding.var, binding.value)
        inner = {node for node in walk(self.main) if isinstance(node, relax.Var)} - {*self.groups}
        return {**self.groups, **{var: BindingGroup() for var in inner}}

    def group(self, var: relax.Var, value: relax.Expr) -> BindingGroup:
        """The group of what a variable is bound to."""
        match value:
            case relax.Var():
                return self.groups[value]
            case relax.Call():
                group = self.call(value)
            case relax.Tuple(fields) if self.is_flat(var) and self.is_taken_apart(var):
                roots = {self.groups[item].root if isinstance(item, relax.Var) else None for item in fields}
                first = next(iter(roots))
                if first is not None and len(roots) == 1 and CODEGEN in first.attrs:
                    first.size += 1
                    return first
                group = BindingGroup()
            case relax.TupleGetItem(relax.Var() as whole, _) if self.is_flat(whole) and self.is_taken_apart(whole):
                group = self.groups[whole].root
                if CODEGEN in group.attrs:
                    group.size += 1
                    return group
                group = BindingGroup()
            case _:
                group = BindingGroup()
        self.depend(group, value)
        return group

    def call(self, call: relax.Call) -> BindingGroup:
        """The group of a call: that of an argument for the same compiler, where this makes no circle."""
        callee = self.module.functions.get(call.op.name) if isinstance(call.op, tir.GlobalVar) else None
        compiler = compiler_of(callee)
        if not compiler:
            return BindingGroup()
        behind = {group for arg in _variables(call.args) for group in self.needs.get(self.groups[arg].root, ())}
        behind |= {
            self.groups[var].root for arg in call.args if isinstance(arg, relax.Tuple) for var in _variables([arg])
        }
        parents = [self.groups[arg].root for arg in call.args if isinstance(arg, relax.Var)]
        joined = [group for group in parents if group.attrs.get(CODEGEN) == compiler and group not in behind]
        if not joined:
            return BindingGroup({CODEGEN: compiler})
        joined[0].size += 1
        for group in joined[1:]:
            self.merge(group.root, joined[0].root)
        return joined[0].root

    def merge(self, group: BindingGroup, into: BindingGroup) -> None:
        if group is into:
            return
        group.parent = into
        into.size += group.size
        self.needs.setdefault(into, set()).update(self.needs.pop(group, set()))
        for others in self.needs.values():
            if group in others:
                others.remove(group)
                others.add(into)

    def depend(self, group: BindingGroup, value: relax.Expr) -> None:
        """Note which groups one needs, directly and through others."""
        needs = self.needs.setdefault(group.root, set())
        for var in {node for node in walk(value) if isinstance(node, relax.Var) and node in self.groups}:
            other = self.groups[var].root
            if other is not group.root:
                needs |= {other, *self.needs.get(other, ())}

    def is_flat(self, var: relax.Var) -> bool:
        """Whether a variable is a tuple of tensors."""
        ty = type_of(var, self.module, {})
        return isinstance(ty, TupleType) and bool(ty.fields) and all(isinstance(f, TensorType) for f in ty.fields)

    def is_taken_apart(self, var: relax.Var) -> bool:
        """Whether a tuple, under all its names, is read for its fields alone."""
        pending, names, taken = [var], set[relax.Var](), False
        while pending:
            current = pending.pop()
            if current in names:
                continue
            names.add(current)
            if current in self.outputs:
                return False
            source = self.values.get(current)
            if isinstance(source, relax.Var):
                pending.append(source)
            for user in self.users.get(current, ()):
                match self.values.get(user):
                    case relax.TupleGetItem():
                        taken = True
                    case relax.Var():
                        pending.append(user)
                    case _:
                        return False
        return taken


def _variables(exprs: Sequence[relax.Expr]) -> Iterator[relax.Var]:
    for expr in exprs:
        if isinstance(expr, relax.Tuple):
            yield from _variables(expr.fields)
        elif isinstance(expr, relax.Var):
            yield expr


def _for_compilers(module: IRModule, before: IRModule) -> IRModule:
    """`module` with each function for a compiler that `main` calls complete in itself, and called for its compiler."""
    names: dict[str, str] = {}
    functions: dict[str, AnyFunction] = dict(module.functions)

    def change(node: Node) -> Node:
        if not (isinstance(node, relax.Call) and isinstance(node.op, tir.GlobalVar)):
            return node
        name, func = node.op.name, module.functions.get(node.op.name)
        if not (isinstance(func, relax.Function) and CODEGEN in func.attrs):
            return node
        if name not in names:
            names[name] = f"{name}_{func.attrs[CODEGEN]}"
            functions[names[name]] = _complete(func, before)
            del functions[name]
        return replace(node, op=tir.GlobalVar(names[name]))

    functions[MAIN] = rewrite(functions[MAIN], change)
    return replace(module, functions=functions)


def _complete(func: relax.Function, module: IRModule) -> relax.Function:
    """A function for a compiler with the composite functions that it calls as local ones, its bindings in one block."""
    func = without_dataflow(func)
    local: dict[str, relax.Var] = {}
    bindings: list[relax.Binding] = []
    for binding in (binding for block in func.body.blocks for binding in block.bindings):
        value = binding.value
        if isinstance(value, relax.Call) and isinstance(value.op, tir.GlobalVar):
            callee = module.functions.get(value.op.name)
            if isinstance(callee, relax.Function) and COMPOSITE in callee.attrs:
                if value.op.name not in local:
                    local[value.op.name] = relax.Var("gv", None)
                    bindings.append(relax.VarBinding(local[value.op.name], local_copy(callee)))
                value = replace(value, op=local[value.op.name])
        bindings.append(replace(binding, value=value))
    blocks = (relax.BindingBlock(tuple(bindings)),) if bindings else ()
    body = relax.SeqExpr(blocks, func.body.body)
    attrs = {key: value for key, value in func.attrs.items() if key != PRIMITIVE}
    return replace(func, body=body, attrs=attrs, private=False)


def without_dataflow(func: relax.Function) -> relax.Function:
    """A function whose blocks, those of local functions too, are no dataflow blocks."""
    table: dict[Node, Node] = {
        node: replace(node, dataflow=False) for node in walk(func) if isinstance(node, relax.Var) and node.dataflow
    }
    return rewrite(
        substitute(func, table),
        lambda node: relax.BindingBlock(node.bindings) if isinstance(node, relax.DataflowBlock) else node,
    )
