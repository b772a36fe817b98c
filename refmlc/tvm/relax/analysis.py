"""`tvm.relax.analysis`: what functions of Relax say of themselves.

| function                                           | gives                                                        |
|----------------------------------------------------|--------------------------------------------------------------|
| `bound_vars`, `free_vars`, `all_vars`, `used_vars` | variables of Relax, in the order they are met                |
| `all_global_vars`, `called_global_vars`            | the functions that are named, each once                      |
| `post_order_visit(expr, fvisit)`                   | calls `fvisit` with what is below before what is above       |
| `get_var2val`, `name_to_binding`, `udchain`        | values of variables, bindings of names, readers of variables |
| `detect_recursion(mod)`                            | sets of functions that call each other in a circle           |
| `defined_symbolic_vars`, `free_symbolic_vars`      | dimensions with and without a place that binds them          |
| `tir_vars_in_type`, `definable_tir_vars_in_type`   | dimensions of a type, and those that stand alone             |
| `well_formed`, `check_well_formed`                 | the static rules of `refmlc.lang.wellformed`                 |
| `remove_all_unused(func)`                          | the function without what nothing needs                      |

Decision: dimensions are no variables of Relax here, as they were none before 0.27, whose `bound_vars` has them too;
and types are no expressions, so that `post_order_visit` does not go into them.
"""

from collections.abc import Callable, Iterator, Mapping

from refmlc.diag.errors import error
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.module import check_module
from refmlc.rewrite.transform import dead_code_elimination
from refmlc.tvm.missing_names import refusal

_ALONE = "RM207"
"""The finding on a function that the module does not have: of a function alone, nothing is known of others."""


def _visit(expr: relax.Expr) -> Iterator[tuple[str, Node]]:
    """Events of a traversal: ("bound", variable), ("used", variable), ("left", expression) after its children."""
    match expr:
        case relax.Function():
            yield from (("bound", param) for param in expr.params)
            yield from _visit(expr.body)
        case relax.SeqExpr(blocks, body):
            for block in blocks:
                for binding in block.bindings:
                    yield "bound", binding.var
                    yield from _visit(binding.value)
            yield from _visit(body)
        case relax.If(condition, yes, no):
            for part in (condition, yes, no):
                yield from _visit(part)
        case relax.Call(op, args):
            for part in (op, *args):
                yield from _visit(part)
        case relax.Tuple(fields):
            for part in fields:
                yield from _visit(part)
        case relax.TupleGetItem(value):
            yield from _visit(value)
        case relax.Var():
            yield "used", expr
    yield "left", expr


def _variables(expr: relax.Expr, *events: str) -> list[relax.Var]:
    variables = (node for event, node in _visit(expr) if event in events)
    return list(dict.fromkeys(node for node in variables if isinstance(node, relax.Var)))


def bound_vars(expr: relax.Expr) -> list[relax.Var]:
    """The parameters and the variables that are bound."""
    return _variables(expr, "bound")


def free_vars(expr: relax.Expr) -> list[relax.Var]:
    """The variables that are read, and bound nowhere in the expression."""
    bound = set(bound_vars(expr))
    return [var for var in used_vars(expr) if var not in bound]


def all_vars(expr: relax.Expr) -> list[relax.Var]:
    """The variables that are bound or read."""
    return _variables(expr, "bound", "used")


def used_vars(expr: relax.Expr) -> list[relax.Var]:
    """The variables that are read."""
    return _variables(expr, "used")


def all_global_vars(expr: relax.Expr) -> list[tir.GlobalVar]:
    """The functions of the module that are named, each once."""
    named = [node for event, node in _visit(expr) if event == "left" and isinstance(node, tir.GlobalVar)]
    return list({var.name: var for var in reversed(named)}.values())[::-1]


def called_global_vars(expr: relax.Expr) -> list[tir.GlobalVar]:
    """The functions of the module that are called, by themselves or as the first argument of a call form."""
    calls = [node for event, node in _visit(expr) if event == "left" and isinstance(node, relax.Call)]
    heads = [node for call in calls for node in (call.op, *call.args[:1]) if isinstance(node, tir.GlobalVar)]
    return list({var.name: var for var in reversed(heads)}.values())[::-1]


def post_order_visit(expr: relax.Expr, fvisit: Callable[[relax.Expr], object]) -> None:
    """Call `fvisit` with each expression, after those below it; one that stands in two places twice."""
    for event, node in _visit(expr):
        if event == "left":
            fvisit(node)  # type: ignore[arg-type]  # what is left is an expression


def _bindings(func: relax.Function) -> Iterator[relax.Binding]:
    return (node for node in walk(func) if isinstance(node, relax.VarBinding | relax.MatchCast))


def get_var2val(func: relax.Function) -> dict[relax.Var, relax.Expr]:
    """The values that variables are bound to; `match_cast` is none."""
    return {binding.var: binding.value for binding in _bindings(func) if isinstance(binding, relax.VarBinding)}


def name_to_binding(func: relax.Function) -> dict[str, list[relax.Binding]]:
    """The bindings of the function's own blocks by the names of their variables."""
    table: dict[str, list[relax.Binding]] = {}
    for block in func.body.blocks:
        for binding in block.bindings:
            table.setdefault(binding.var.name, []).append(binding)
    return table


def udchain(dfb: relax.DataflowBlock) -> dict[relax.Var, list[relax.Var]]:
    """For each variable that the block reads or binds, the variables whose values read it."""
    chain: dict[relax.Var, list[relax.Var]] = {}
    for binding in dfb.bindings:
        for var in used_vars(binding.value):
            chain.setdefault(var, []).append(binding.var)
        chain.setdefault(binding.var, [])
    return chain


def detect_recursion(mod: IRModule) -> list[list[tir.GlobalVar]]:
    """Sets of functions that reach each other by calls; one alone that calls itself."""
    reached = {name: _reached(mod, name) for name in mod.functions}
    groups: list[list[str]] = []
    for name in mod.functions:
        if name in reached[name] and not any(name in group for group in groups):
            groups.append([other for other in mod.functions if other in reached[name] and name in reached[other]])
    return [[tir.GlobalVar(name) for name in group] for group in groups]


def _reached(mod: IRModule, name: str) -> set[str]:
    """The functions that the function reaches by one call or more."""
    reached: set[str] = set()
    waiting = [name]
    while waiting:
        func = mod.functions.get(waiting.pop())
        named = {node.name for node in walk(func) if isinstance(node, tir.GlobalVar)} if func is not None else set()
        waiting += named - reached
        reached |= named
    return reached


def tir_vars_in_type(ty: Type) -> list[tir.Var]:
    """The dimensions that a type names, each once."""
    return list(dict.fromkeys(node for node in walk(ty) if isinstance(node, tir.Var)))


def definable_tir_vars_in_type(ty: Type) -> list[tir.Var]:
    """Variables that are a whole extent: a value of the type determines them."""
    match ty:
        case TensorType(shape=values) | ShapeType(values=values):
            variables: list[tir.Var] = [value for value in values or () if isinstance(value, tir.Var)]
        case PrimType(value=tir.Var() as value):
            variables = [value]
        case TupleType(fields=fields):
            variables = [var for field in fields for var in definable_tir_vars_in_type(field)]
        case _:
            variables = []
    return list(dict.fromkeys(variables))


def defined_symbolic_vars(func: relax.Function) -> list[tir.Var]:
    """The dimensions that a parameter or a `match_cast` binds."""
    casts = [binding.ty for binding in _bindings(func) if isinstance(binding, relax.MatchCast)]
    inner = [node for node in walk(func) if isinstance(node, relax.Function)]
    types = [*(param.ty for binding in inner for param in binding.params), *casts]
    return list(dict.fromkeys(var for ty in types if ty is not None for var in definable_tir_vars_in_type(ty)))


def free_symbolic_vars(func: relax.Function) -> list[tir.Var]:
    """The dimensions that nothing binds."""
    defined = set(defined_symbolic_vars(func))
    return [var for var in dict.fromkeys(n for n in walk(func) if isinstance(n, tir.Var)) if var not in defined]


def well_formed(obj: IRModule | relax.Function, check_ty: bool = True) -> bool:
    """True. Fails: RM2xx, the first finding, as TVM 0.27 raises there."""
    del check_ty
    alone = not isinstance(obj, IRModule)
    findings = check_module(obj if isinstance(obj, IRModule) else IRModule({"main": obj}))
    for finding in findings:
        if not (alone and finding.code.id == _ALONE):
            raise error(finding)
    return True


def check_well_formed(obj: IRModule | relax.Function, check_ty: bool = True) -> bool:
    """Whether `well_formed` has nothing to say."""
    del check_ty
    alone = not isinstance(obj, IRModule)
    findings = check_module(obj if isinstance(obj, IRModule) else IRModule({"main": obj}))
    return all(alone and finding.code.id == _ALONE for finding in findings)


def remove_all_unused(func: relax.Function) -> relax.Function:
    """The function without bindings that nothing needs."""
    function = dead_code_elimination(IRModule({"main": func})).functions["main"]
    return function if isinstance(function, relax.Function) else func


# As they were called until 0.20.
tir_vars_in_struct_info = tir_vars_in_type
definable_tir_vars_in_struct_info = definable_tir_vars_in_type

MISSING: Mapping[str, str] = {
    "contains_impure_call": "a single function does not tell whether its callees are pure",
    "computable_at_compile_time": "refmlc does not lift parameters",
    "has_reshape_pattern": "it is a heuristic on the form of a loop nest",
    "suggest_layout_transforms": "refmlc does not choose layouts",
    "estimate_memory_usage": "it estimates the memory use of TVM's own planner",
    **dict.fromkeys(
        ("derive_call_ret_type", "erase_to_well_defined", "get_static_type", "type_base_check", "type_lca"),
        "types are deduced by the rules of refmlc.lang.wellformed, which are not TVM's lattice",
    ),
    "collect_non_negative_expressions": "refmlc deduces ranges of dimensions where it needs them",
}

__all__ = [
    "all_global_vars",
    "all_vars",
    "bound_vars",
    "called_global_vars",
    "check_well_formed",
    "definable_tir_vars_in_struct_info",
    "definable_tir_vars_in_type",
    "defined_symbolic_vars",
    "detect_recursion",
    "free_symbolic_vars",
    "free_vars",
    "get_var2val",
    "name_to_binding",
    "post_order_visit",
    "remove_all_unused",
    "tir_vars_in_struct_info",
    "tir_vars_in_type",
    "udchain",
    "used_vars",
    "well_formed",
]

__getattr__ = refusal(__name__, __all__, reasons=MISSING)
