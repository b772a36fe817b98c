"""Functions for other compilers: `Codegen` says whose, `Composite` what its parts are, which it holds as local ones.

    def fused_relax_nn_relu_npu(x):                       attributes: Codegen = "npu"
        def local_func(x_1): …                            attributes: Composite = "npu.relu"
        output = local_func(x)
        return output

Source: `CompositeFunctionAnnotator` of TVM 0.27, `src/relax/transform/fuse_ops.cc`.
"""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.module import AnyFunction
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk

CODEGEN, COMPOSITE, PRIMITIVE = "Codegen", "Composite", "Primitive"


def compiler_of(func: object) -> str:
    """The compiler that a composite function is for: what its name has before the first dot; empty for any other."""
    name = func.attrs.get(COMPOSITE, "") if isinstance(func, relax.Function) else ""
    return str(name).partition(".")[0]


def with_compilers(module: IRModule) -> IRModule:
    """`module` with each composite function that is called in a function for its compiler."""
    names: dict[str, str] = {}
    added: dict[str, AnyFunction] = {}

    def change(node: Node) -> Node:
        if not (isinstance(node, relax.Call) and isinstance(node.op, tir.GlobalVar)):
            return node
        name, func = node.op.name, module.functions.get(node.op.name)
        if isinstance(func, relax.Function) and (compiler := compiler_of(func)):
            if name not in names:
                names[name] = f"{name}_{compiler}"
                added[names[name]] = _wrapped(func, compiler)
            return replace(node, op=tir.GlobalVar(names[name]))
        return node

    functions: dict[str, AnyFunction] = {
        name: func if _is_part(func) else rewrite(func, change) for name, func in module.functions.items()
    }
    rest = {name: func for name, func in functions.items() if name not in names}
    return replace(module, functions={**rest, **added})


def _is_part(func: AnyFunction) -> bool:
    return not isinstance(func, relax.Function) or bool({CODEGEN, COMPOSITE} & {*func.attrs})


def _wrapped(func: relax.Function, compiler: str) -> relax.Function:
    """A function for a compiler that calls a local one."""
    local = local_copy(func)
    params = tuple(relax.Var(param.name, param.ty) for param in func.params)
    name = relax.Var("local_func", None)
    output = relax.Var("output", func.ret_ty)
    body = relax.SeqExpr(
        (relax.BindingBlock((relax.VarBinding(name, local), relax.VarBinding(output, relax.Call(name, params)))),),
        output,
    )
    return relax.Function(params, body, func.ret_ty, func.pure, attrs={CODEGEN: compiler})


def local_copy(func: relax.Function) -> relax.Function:
    """A function with variables of its own, to be a local one: no longer a `Primitive` of the module."""
    attrs: Mapping[str, tir.Attr] = {key: value for key, value in func.attrs.items() if key != PRIMITIVE}
    own: dict[Node, Node] = {param: replace(param) for param in func.params}
    for node in walk(func):
        if isinstance(node, relax.VarBinding | relax.MatchCast):
            own[node.var] = replace(node.var)
    return substitute(replace(func, attrs=attrs, private=False), own)
