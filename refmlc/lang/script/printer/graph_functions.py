"""Relax functions as text: signature, shape variables, blocks of bindings.

| part           | text                                                                           |
|----------------|--------------------------------------------------------------------------------|
| binding        | `x: T = e`; without type `x = e`; a call whose value nobody names stands alone |
| match cast     | `x: T = R.match_cast(e, T)`                                                    |
| dataflow block | `with R.dataflow():` … `R.output(x)`; 2022 counts blocks: `# block 0`          |
| branch         | `if c:` … `else:` …, the variable bound last in both                           |
| local function | `@R.function` and `def`                                                        |
"""

from collections.abc import Sequence

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.printer.buffers import variable_text
from refmlc.lang.script.printer.expressions import attribute_text
from refmlc.lang.script.printer.functions import define_type_vars, defines, is_type_var
from refmlc.lang.script.printer.graph_expressions import bound_text, value_text
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.printer.types import Types, is_own


def write_function(page: Page, func: relax.Function, name: str) -> None:
    """A global function."""
    with page.names.frame(), page.speaking("relax"):
        variables = shape_variables(func)
        typed = [var for var in type_variables(func) if is_type_var(page, var)]
        define_type_vars(page, typed)
        waiting = [var for var in variables if not any(var is item for item in typed)]
        if not page.oldest:
            waiting.sort(key=lambda var: var.name)
        _write(page, func, name, waiting)


def shape_variables(func: relax.Function) -> list[tir.Var]:
    """The shape variables of `func` in the order they are met; the own ones of primitive variables are not."""
    own: set[int] = set()
    result: dict[int, tir.Var] = {}
    for node in walk(func):
        own.update(id(var) for var in defines(node))
        match node:
            case tir.Var():
                result[id(node)] = node
            case relax.Var(ty=PrimType(value=tir.Var() as value)) if is_own(node.ty, node.name):
                own.add(id(value))
    return [var for key, var in result.items() if key not in own]


def type_variables(func: relax.Function) -> list[tir.Var]:
    """The shape variables that a signature names, of `func` or of a local function."""
    functions = [node for node in walk(func) if isinstance(node, relax.Function)]
    parts = [part for item in functions for part in (*item.params, item.ret_ty) if part is not None]
    named = {id(node) for part in parts for node in walk(part) if isinstance(node, tir.Var)}
    return [var for var in shape_variables(func) if id(var) in named]


def _write(page: Page, func: relax.Function, name: str, waiting: list[tir.Var]) -> None:
    options = [] if func.pure else ["pure=False"]
    if func.private:
        options.append("private=True")
    page.line(f"@R.function({', '.join(options)})" if options else "@R.function")
    declared = (node for node in walk(func) if isinstance(node, tir.Var) and page.names.get(node) is not None)
    types = Types(page, frozenset(id(node) for node in declared))
    names = [define_var(page, var) for var in func.params]
    texts = [
        name if var.ty is None else f"{name}: {type_of_var(types, var)}"
        for name, var in zip(names, func.params, strict=True)
    ]
    result = "" if func.ret_ty is None else f" -> {types.text(func.ret_ty)}"
    page.line(f"def {name}({', '.join(texts)}){result}:")
    with page.block(scoped=False):
        for var in waiting:
            page.names.define(var, var.name, avoid=page.outside)
            page.line(variable_text(page, var))
        if func.attrs:
            attrs = {page.spelled(key): value for key, value in sorted(func.attrs.items())}
            page.line(f"R.func_attr({attribute_text(page, attrs)})")
        if not page.oldest and page.functions is not None and page.module and _names_functions(func):
            page.line(f"cls = {page.module}")
        write_blocks(page, func.body.blocks)
        page.line(f"return {bound_text(page, func.body.body, None)}")


def _names_functions(func: relax.Function) -> bool:
    return any(isinstance(node, tir.GlobalVar) for node in walk(func))


def define_var(page: Page, var: relax.Var) -> str:
    """The name of a variable that is bound here; the dimension of a primitive variable has the same."""
    name = page.names.define(var, var.name)
    if isinstance(var.ty, PrimType) and isinstance(var.ty.value, tir.Var) and is_own(var.ty, var.name):
        page.names.give(var.ty.value, name)
    return name


def type_of_var(types: Types, var: relax.Var) -> str:
    """The type of a variable as an annotation."""
    ty: Type | None = var.ty
    if isinstance(ty, PrimType) and is_own(ty, var.name):
        ty = PrimType(ty.dtype)
    return "" if ty is None else types.text(ty)


# ------------------------------------------------------------------------------------------------- blocks


def write_blocks(page: Page, blocks: Sequence[relax.Block]) -> None:
    """Blocks of bindings."""
    for number, block in enumerate(blocks):
        if page.oldest:
            page.line(f"# block {number}")
        if isinstance(block, relax.BindingBlock):
            for binding in block.bindings:
                write_binding(page, binding)
            continue
        page.line("with R.dataflow():")
        with page.block(scoped=False):
            for binding in block.bindings:
                write_binding(page, binding)
            outputs = [page.names.get(item.var) or "_" for item in block.bindings if not item.var.dataflow]
            page.line(f"R.output({', '.join(outputs)})")


def write_binding(page: Page, binding: relax.Binding) -> None:
    """A binding."""
    if isinstance(binding, relax.MatchCast):
        _match_cast(page, binding)
        return
    value = binding.value
    if isinstance(value, relax.Function):
        name = page.names.define(binding.var, binding.var.name)
        with page.names.frame():
            _write(page, value, name, [])
    elif isinstance(value, relax.If):
        _if(page, binding.var, value)
    else:
        _bind(page, binding.var, value)


def _bind(page: Page, var: relax.Var, value: relax.Expr) -> None:
    text = bound_text(page, value, var.ty, bare=True)
    if var.name == "_" and var.ty is None and isinstance(value, relax.Call):
        page.names.define(var, var.name)
        page.line(text)
        return
    name = define_var(page, var)
    if var.ty is not None:
        page.line(f"{name}: {type_of_var(Types(page), var)} = {text}")
    else:
        page.line(f"{name} = {text}")


def _match_cast(page: Page, binding: relax.MatchCast) -> None:
    value = value_text(page, binding.value)
    cast = Types(page, argument=True).text(binding.ty)
    name = define_var(page, binding.var)
    annotation = "" if binding.var.ty is None else f": {type_of_var(Types(page), binding.var)}"
    page.line(f"{name}{annotation} = R.match_cast({value}, {cast})")


# ----------------------------------------------------------------------------------------------- branches


def _if(page: Page, var: relax.Var, value: relax.If) -> None:
    page.line(f"if {value_text(page, value.condition)}:")
    name = page.names.define(var, var.name)
    _branch(page, value.true_branch, var, f"{name}_then")
    page.line("else:")
    _branch(page, value.false_branch, var, f"{name}_else")
    define_var(page, var)


def _branch(page: Page, seq: relax.SeqExpr, var: relax.Var, inner: str) -> None:
    """A branch: its blocks, then the variable of the `if` bound to its value."""
    body = seq.body
    with page.block():
        if isinstance(body, relax.Var) and page.names.get(body) is None and body.name == var.name:
            page.names.define(body, inner)
        write_blocks(page, seq.blocks)
        annotation = "" if var.ty is None else f": {type_of_var(Types(page), var)}"
        page.line(f"{page.names.get(var) or var.name}{annotation} = {bound_text(page, body, var.ty, bare=True)}")
