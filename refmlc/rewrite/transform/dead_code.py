"""`dead_code_elimination`: bindings that nothing needs, and functions that nothing calls, are dropped.

| dropped                                              | kept                                                       |
|------------------------------------------------------|------------------------------------------------------------|
| a binding whose variable is not used, of a pure value | what may have an effect: packed functions, `print`, calls |
|                                                      | in place, of functions that are not pure                   |
| … in a dataflow block, whatever is called            | what leaves the block, where it is used                    |
| a private function that no entry reaches             | the entries, and functions that are not private            |
| a block that is left without bindings                | `match_cast`, which checks and binds sizes                 |

A call that is dropped no longer is undefined, nor traps: the module may be more defined than it was, never less.

Source: what TVM's pass of this name drops; its entry is `main` unless others are named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.visit import walk

IMPURE = frozenset(
    {
        "print",
        "assert_op",
        "call_tir_inplace",
        "call_inplace_packed",
        "call_builtin_with_ctx",
        "call_py_func",
        "invoke_closure",
        "memory.kill_storage",
        "memory.kill_tensor",
        "vm.kill_object",
    }
)
PURE = frozenset({"call_tir", "call_dps_packed", "call_pure_packed", "invoke_pure_closure", "make_closure"})
AnyFunction = tir.PrimFunc | relax.Function | relax.ExternFunc


@entry_point
def dead_code_elimination(module: IRModule, entry_functions: Sequence[str] = ("main",)) -> IRModule:
    """`module` without what nothing needs; itself where all of it is needed."""
    functions = dict(module.functions)
    for name, func in functions.items():
        if isinstance(func, relax.Function):
            functions[name] = without_unused(func, module)
    reached = _reached(functions, entry_functions)
    remaining = {name: func for name, func in functions.items() if name in reached}
    unchanged = len(remaining) == len(module.functions) and all(
        module.functions[name] is func for name, func in remaining.items()
    )
    return module if unchanged else replace(module, functions=remaining)


def _reached(functions: Mapping[str, AnyFunction], entries: Sequence[str]) -> set[str]:
    stack = [name for name, func in functions.items() if name in entries or not getattr(func, "private", False)]
    names: set[str] = set()
    while stack:
        name = stack.pop()
        if name not in names and name in functions:
            names.add(name)
            stack += [node.name for node in walk(functions[name]) if isinstance(node, tir.GlobalVar)]
    return names


def without_unused(func: relax.Function, module: IRModule) -> relax.Function:
    """A function of `module` without the bindings that nothing needs; itself where all of them are needed."""
    body = _sequence(func.body, module)
    return func if body is func.body else replace(func, body=body)


def _sequence(seq: relax.SeqExpr, module: IRModule) -> relax.SeqExpr:
    """The sequence with what is needed for its value, from its end on."""
    used_vars = {node for node in walk(seq.body) if isinstance(node, relax.Var)}
    blocks: list[relax.Block] = []
    for block in reversed(seq.blocks):
        needed: list[relax.Binding] = []
        for binding in reversed(block.bindings):
            if _is_needed(binding, used_vars, module, dataflow=isinstance(block, relax.DataflowBlock)):
                inner = _cleaned(binding, module)
                needed.append(inner)
                used_vars |= {node for node in walk(inner.value) if isinstance(node, relax.Var)}
        needed.reverse()
        unchanged = len(needed) == len(block.bindings) and all(
            a is b for a, b in zip(needed, block.bindings, strict=True)
        )
        blocks += [] if not needed else [block if unchanged else replace(block, bindings=tuple(needed))]
    blocks.reverse()
    unchanged = len(blocks) == len(seq.blocks) and all(a is b for a, b in zip(blocks, seq.blocks, strict=True))
    return seq if unchanged else replace(seq, blocks=tuple(blocks))


def _is_needed(binding: relax.Binding, used_vars: set[relax.Var], module: IRModule, *, dataflow: bool) -> bool:
    if binding.var in used_vars or isinstance(binding, relax.MatchCast):
        return True
    return not dataflow and not _is_pure(binding.value, module)


def _cleaned(binding: relax.Binding, module: IRModule) -> relax.Binding:
    """The binding, with the branches of an `if` and local functions rid of what they do not need."""
    value: relax.Expr = binding.value
    match value:
        case relax.If(_, yes, no):
            first, second = _sequence(yes, module), _sequence(no, module)
            if first is not yes or second is not no:
                value = replace(value, true_branch=first, false_branch=second)
        case relax.Function():
            value = without_unused(value, module)
    return binding if value is binding.value else replace(binding, value=value)


def _is_pure(value: relax.Expr, module: IRModule) -> bool:
    """Whether evaluating has no effect: every call in it is of something pure."""
    return all(_pure_call(node.op, module) for node in walk(value) if isinstance(node, relax.Call))


def _pure_call(op: relax.Expr, module: IRModule) -> bool:
    match op:
        case relax.Op(name):
            return name in PURE or (name not in IMPURE and not name.startswith(("vm.", "memory.", "builtin.", "ccl.")))
        case tir.GlobalVar(name):
            func = module.functions.get(name)
            return isinstance(func, relax.Function) and func.pure
        case _:
            return False
