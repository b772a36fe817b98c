"""`fuse_ops`: calls of TensorIR functions in a dataflow block become calls of functions of Relax that hold several.

    lv = R.call_tir(cls.matmul, (x, w), …)                     gv = cls.fused_matmul_add(x, w, b)
    gv = R.call_tir(cls.add, (lv, b), …)               →       and a private function of both, `Primitive`

Which calls go together follows from their kinds (`grouping`), or is said: `patterns` are chains of names, tried in
their order (`("matmul", "add", "relu")`; `add2` counts as `add`), each value but the last used by the next call only.

Left alone: calls with several outputs, calls with `tir_vars`, groups whose sizes no tensor among their arguments
binds. Constants become arguments. The meaning is kept to the bit: the same functions run on the same values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType, Type
from refmlc.lang.ir.visit import substitute, walk
from refmlc.lang.wellformed.infer import type_of
from refmlc.rewrite.transform.grouping import Grouping, Step
from refmlc.rewrite.transform.legalize import add_function
from refmlc.rewrite.transform.pattern import BROADCAST, ELEMWISE, OPAQUE, pattern_of

PRIMITIVE: Mapping[str, tir.Attr] = {"Primitive": True}
Patterns = Sequence[Sequence[str]]


@entry_point
def fuse_ops(module: IRModule, patterns: Patterns | None = None) -> IRModule:
    """`module` with groups of calls as functions; itself where there are none."""
    work = _Fuser(module, patterns)
    functions = {
        name: work.function(func) if isinstance(func, relax.Function) and "Primitive" not in func.attrs else func
        for name, func in module.functions.items()
    }
    return replace(module, functions={**functions, **work.added}) if work.added else module


@dataclass(frozen=True)
class _Call:
    """A call that may be fused: its binding, the function, the tensors it is called on, its result."""

    binding: relax.VarBinding
    callee: str
    args: tuple[relax.Expr, ...]
    result: TensorType


class _Fuser:
    """Fuses function by function; `added` are the functions of groups."""

    def __init__(self, module: IRModule, patterns: Patterns | None) -> None:
        self.module = module
        self.patterns = patterns
        self.added: dict[str, relax.Function] = {}
        self.types: dict[relax.Var, Type | None] = {}

    def function(self, func: relax.Function) -> relax.Function:
        self.types = {}
        bindings = [binding for block in func.body.blocks for binding in block.bindings]
        for binding in bindings:
            cast = isinstance(binding, relax.MatchCast)
            ty = binding.ty if isinstance(binding, relax.MatchCast) else None
            self.types[binding.var] = ty if cast else type_of(binding.value, self.module, self.types) or binding.var.ty
        blocks = tuple(
            self.block(block) if isinstance(block, relax.DataflowBlock) else block for block in func.body.blocks
        )
        return replace(func, body=replace(func.body, blocks=blocks))

    def block(self, block: relax.DataflowBlock) -> relax.DataflowBlock:
        calls = {at: call for at, binding in enumerate(block.bindings) if (call := self.call(binding)) is not None}
        groups = self.by_kind(block, calls) if self.patterns is None else self.by_pattern(block, calls)
        bindings: dict[int, relax.Binding] = dict(enumerate(block.bindings))
        for group in groups:
            fused_call = self.fuse([calls[at] for at in group]) if len(group) > 1 else None
            if fused_call is not None:
                for at in group[:-1]:
                    del bindings[at]
                bindings[group[-1]] = replace(calls[group[-1]].binding, value=fused_call)
        return replace(block, bindings=tuple(bindings.values()))

    def call(self, binding: relax.Binding) -> _Call | None:
        """The call of a binding, where it may be fused."""
        match binding:
            case relax.VarBinding(
                value=relax.Call(
                    op=relax.Op("call_tir"),
                    args=(tir.GlobalVar(name), relax.Tuple(fields)),
                    ty_args=(TensorType() as ty,),
                )
            ) if isinstance(self.module.functions.get(name), tir.PrimFunc):
                simple = all(isinstance(arg, relax.Var | relax.Constant) for arg in fields)
                typed = all(self.tensor(arg) is not None for arg in fields)
                return _Call(binding, name, fields, ty) if simple and typed and ty.shape is not None else None
            case _:
                return None

    def tensor(self, expr: relax.Expr) -> TensorType | None:
        """The type of a tensor of known shape."""
        ty = type_of(expr, self.module, self.types)
        return ty if isinstance(ty, TensorType) and ty.shape is not None and ty.dtype is not None else None

    # ---------------------------------------------------------------------------------------------- groups

    def by_kind(self, block: relax.DataflowBlock, calls: Mapping[int, _Call]) -> list[list[int]]:
        """Groups by the kinds of functions, each in the order of execution."""
        steps = [Step(self.kind(calls.get(at))) for at in range(len(block.bindings))]
        places = {binding.var: at for at, binding in enumerate(block.bindings)}
        for at, binding in enumerate(block.bindings):
            steps[at].leaves = not binding.var.dataflow
            for var in dict.fromkeys(node for node in walk(binding.value) if isinstance(node, relax.Var)):
                if var in places:
                    steps[places[var]].users.append((at, self.edge(calls.get(at), var, steps[at].kind)))
        grouping = Grouping(steps)
        groups: dict[int, list[int]] = {}
        for at in calls:
            groups.setdefault(grouping.group(at), []).append(at)
        return list(groups.values())

    def kind(self, call: _Call | None) -> int:
        func = None if call is None else self.module.functions[call.callee]
        return pattern_of(func) if isinstance(func, tir.PrimFunc) else OPAQUE

    def edge(self, call: _Call | None, var: relax.Var, kind: int) -> int:
        """How a call uses a value: element by element where it is so of equal shapes."""
        if call is None or kind > BROADCAST:
            return kind
        ty = self.tensor(var)
        equal = ty is not None and ty.shape is not None and _is_same_shape(ty.shape, call.result.shape or ())
        return ELEMWISE if equal else kind

    def by_pattern(self, block: relax.DataflowBlock, calls: Mapping[int, _Call]) -> list[list[int]]:
        """Groups by chains of names; a call belongs to the first chain that takes it."""
        uses: dict[relax.Var, list[int]] = {}
        for at, binding in enumerate(block.bindings):
            for var in {node for node in walk(binding.value) if isinstance(node, relax.Var)}:
                uses.setdefault(var, []).append(at)
        grouped: set[int] = set()
        groups: list[list[int]] = []
        for pattern in self.patterns or ():
            for first in calls:
                chain = _chain(first, pattern, calls, uses)
                if chain and not grouped & {*chain}:
                    grouped |= {*chain}
                    groups.append(chain)
        return groups

    # --------------------------------------------------------------------------------------------- functions

    def fuse(self, calls: Sequence[_Call]) -> relax.Call | None:
        """The call of the function that holds a group; None where sizes would not be known in it."""
        results = {call.binding.var for call in calls}
        outer_args = list(dict.fromkeys(arg for call in calls for arg in call.args if arg not in results))
        params: dict[Node, Node] = {}
        bound: set[tir.Expr] = set()
        for number, arg in enumerate(outer_args):
            ty = self.tensor(arg)
            bound |= {dim for dim in (ty.shape or () if ty else ()) if isinstance(dim, tir.Var)}
            params[arg] = relax.Var(arg.name if isinstance(arg, relax.Var) else f"param_{number}", ty)
        types = [ty for value in (*outer_args, *results) if (ty := self.tensor(value)) is not None]
        sizes = {part for ty in types for part in walk(ty) if isinstance(part, tir.Var)}
        if sizes - bound or len(types) != len(outer_args) + len(results):
            return None
        table: dict[Node, Node] = {size: tir.Var(size.name, size.dtype) for size in sizes if isinstance(size, tir.Var)}
        param_vars = {arg: substitute(var, table) for arg, var in params.items()}
        func = _group_function(calls, param_vars, table)
        stem = "fused_" + "_".join(call.callee for call in calls)
        name = add_function(self.module, self.added, stem, func)
        return relax.Call(tir.GlobalVar(name), tuple(outer_args), span=calls[-1].binding.value.span)


def _group_function(
    calls: Sequence[_Call], param_vars: Mapping[Node, Node], sizes: Mapping[Node, Node]
) -> relax.Function:
    """The function that makes a group's calls."""
    table: dict[Node, Node] = {**sizes, **param_vars}
    bindings: list[relax.Binding] = []
    for call in calls:
        last = call is calls[-1]
        var = relax.Var("gv" if last else call.binding.var.name, None, dataflow=not last)
        value = substitute(call.binding.value, table)
        bindings.append(relax.VarBinding(var, value))
        table[call.binding.var] = var
    params = tuple(var for var in param_vars.values() if isinstance(var, relax.Var))
    ret = substitute(calls[-1].result, table)
    body = relax.SeqExpr((relax.DataflowBlock(tuple(bindings)),), bindings[-1].var)
    return relax.Function(params, body, ret, private=True, attrs=PRIMITIVE)


def _is_same_shape(a: Sequence[tir.Expr], b: Sequence[tir.Expr]) -> bool:
    return len(a) == len(b) and all(x is y or structural_equal(x, y) for x, y in zip(a, b, strict=True))


def _chain(
    first: int, pattern: Sequence[str], calls: Mapping[int, _Call], uses: Mapping[relax.Var, list[int]]
) -> list[int]:
    """The calls from `first` on that a chain of names describes, or none."""
    chain: list[int] = []
    at = first
    for name in pattern:
        if at not in calls or calls[at].callee.rstrip("0123456789") != name.rstrip("0123456789"):
            return []
        chain.append(at)
        var = calls[at].binding.var
        users = uses.get(var, [])
        if len(chain) < len(pattern) and (len(users) != 1 or not var.dataflow):
            return []
        at = users[0] if users else -1
    return chain
