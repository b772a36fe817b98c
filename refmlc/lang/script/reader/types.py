"""Types in the text: `R.Tensor(…)` and the like, in every generation's spelling, to `refmlc.lang.ir.types`.

| text                                                         | type                                          |
|--------------------------------------------------------------|-----------------------------------------------|
| `R.Tensor`, `R.Tensor("float32")`, `R.Tensor(ndim=2)`        | `TensorType`, shape unknown                   |
| `R.Tensor((1, n), "float32")`, `Tensor((1, 784), "float32")` | `TensorType`                                  |
| `R.Tensor(s, "float32")`, s a variable                       | `TensorType` with `shape_var`                 |
| `R.DTensor((4, n), "float32", "mesh[0]", "S[0], R")`         | `DTensorType`                                 |
| `R.Shape([n, 4])`, `R.Shape(ndim=2)`                         | `ShapeType`                                   |
| `R.Prim("int64")`, `T.int64`, `R.Prim(value=n)`              | `PrimType`                                    |
| `R.Tuple(T, U)`, `R.Tuple([T, U])`, `None`                   | `TupleType`                                   |
| `R.Any`, `R.Object`, `I.StringType()`                        | `AnyType`                                     |
| `R.Callable((T,), U, True)`, `R.Callable(ret=U)`             | `FuncType`; impure where only `ret=` is given |

A dimension may be written as a string, `"n"`, `"n * 2"`: the expression in it is read like any other. In the
signature of a function such strings name the function's shape variables (`declared_names`).
"""

import ast
from collections.abc import Iterator
from dataclasses import replace

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS, SYNTAX, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import AnyType, DTensorType, FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.attributes import DTYPE_NAMES, TYPE_NAMES
from refmlc.lang.script.reader.devices import device_name
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.meshes import ALONE, dtensor
from refmlc.lang.script.reader.relax_values import dimension_of, dtype_of
from refmlc.lang.script.reader.scope import MISSING
from refmlc.lang.script.reader.table import Table
from refmlc.lang.script.reader.values import Construct, Meta, described

TYPES = (AnyType, TensorType, DTensorType, ShapeType, PrimType, TupleType, FuncType)

_SHAPED = {"R.Tensor": "shape", "R.DTensor": "shape", "R.Shape": "values"}
TEXT_LIMIT = 4096


def type_of(value: Meta, span: Span) -> Type:
    """The type that `value` is. Fails with RM105."""
    if isinstance(value, TYPES):
        return value
    match value:
        case Construct(path, _) if path in TYPE_NAMES:
            return TYPE_NAMES[path]
        case Construct(path, _) if path in DTYPE_NAMES:
            return PrimType(DTYPE_NAMES[path], span=span)
        case None:
            return TupleType((), span=span)
    raise fail(BAD_ARGUMENTS, f"{described(value)} is no type", span)


def types_of(value: Meta, span: Span) -> tuple[Type, ...]:
    """The types that `value` lists; a single type is a list of one."""
    items = value if isinstance(value, (list, tuple)) else (value,)
    return tuple(type_of(item, span) for item in items)


# -------------------------------------------------------------------------------------------- strings in shapes


def _shape_node(ev: Evaluator, node: ast.Call) -> ast.expr | None:
    """The argument of `R.Tensor(…)` or `R.Shape(…)` that lists dimensions."""
    construct = ev.construct_of(node.func)
    key = None if construct is None else _SHAPED.get(construct.path)
    if key is None:
        return None
    named = [keyword.value for keyword in node.keywords if keyword.arg == key]
    return node.args[0] if node.args else named[0] if named else None


def _unquoted(ev: Evaluator, node: ast.expr) -> ast.expr:
    """The expression in a string, at the string's place. Fails with RM101."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return node
    text = node.value
    try:
        if len(text) > TEXT_LIMIT:
            raise ValueError  # noqa: TRY301 - one way out for all that is no expression
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise fail(SYNTAX, f"the dimension {text[:40]!r} is not an expression", ev.spans.of(node)) from None
    for inner in ast.walk(body):
        if isinstance(inner, (ast.expr, ast.keyword)):
            ast.copy_location(inner, node)
    return body


def _lazily(ev: Evaluator, node: ast.Call) -> Meta:
    """`R.Tensor(…)`, `R.Shape(…)`: strings among the dimensions are read as expressions."""
    construct = ev.construct_of(node.func)
    if construct is None:
        raise AssertionError
    dims = _shape_node(ev, node)
    if isinstance(dims, (ast.Tuple, ast.List)) and any(
        isinstance(item, ast.Constant) and isinstance(item.value, str) for item in dims.elts
    ):
        plain = ast.Tuple([_unquoted(ev, item) for item in dims.elts], ast.Load())
        ast.copy_location(plain, dims)
        args = [plain if arg is dims else arg for arg in node.args]
        keywords = [
            ast.copy_location(ast.keyword(word.arg, plain), word) if word.value is dims else word
            for word in node.keywords
        ]
        node = ast.copy_location(ast.Call(node.func, args, keywords), node)
    site = ev.site(node, construct)
    return {"R.Tensor": _tensor, "R.DTensor": _dtensor, "R.Shape": _shape}[construct.path](ev, site)


def declared_names(ev: Evaluator, annotation: ast.expr) -> Iterator[str]:
    """The names that the dimensions in an annotation of a signature introduce.

    Strings do; in the 2022 spelling `Tensor((n, 4), …)`, without `R.`, plain names do as well.
    """
    for node in ast.walk(annotation):
        if isinstance(node, ast.Call):
            yield from _declared_in(ev, node)


def _declared_in(ev: Evaluator, node: ast.Call) -> Iterator[str]:
    dims = _shape_node(ev, node)
    items = dims.elts if isinstance(dims, (ast.Tuple, ast.List)) else []
    construct = ev.construct_of(node.func)
    if construct is not None and construct.path == "R.Prim":
        items = [word.value for word in node.keywords if word.arg == "value"]
    for item in items:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            parts = list(ast.walk(_unquoted(ev, item)))
            owners = {part.value for part in parts if isinstance(part, ast.Attribute)}  # the `T` of `T.max(n, m)`
            yield from (part.id for part in parts if isinstance(part, ast.Name) and part not in owners)
        elif isinstance(item, ast.Name) and isinstance(node.func, ast.Name):
            yield item.id


# ----------------------------------------------------------------------------------------------- constructs


def _dimensions(ev: Evaluator, value: Meta, site: CallSite, key: str) -> tuple[tir.Expr, ...]:
    if not isinstance(value, (tuple, list)):
        raise site.wrong(key, value, "a list of dimensions")
    return tuple(_dimension(ev, item, site.span) for item in value)


def _dimension(ev: Evaluator, value: Meta, span: Span) -> tir.Expr:
    if isinstance(value, str):
        current = ev.scope.lookup(value)
        value = value if current is MISSING else current
    return dimension_of(value, span)


def _ndim(value: Meta, site: CallSite) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value <= 64:
        raise site.wrong("ndim", value, "a number of dimensions")
    return value


def _tensor(ev: Evaluator, site: CallSite) -> TensorType:
    arguments = site.take(shape=None, dtype=None, vdevice=None, ndim=-1)
    shape, named, ndim = arguments["shape"], arguments["dtype"], _ndim(arguments["ndim"], site)
    if isinstance(shape, str):
        if named is not None:
            raise site.wrong("shape", shape, "a list of dimensions")
        shape, named = None, shape
    element = dtype_of(named, site.place("dtype", 0 if arguments["dtype"] is None else 1))
    vdevice = None if arguments["vdevice"] is None else device_name(ev, arguments["vdevice"], site, "vdevice")
    if shape is None:
        return TensorType(None, element, ndim, vdevice, span=site.span)
    if isinstance(shape, relax.Var):
        return TensorType(None, element, ndim, vdevice, shape.name, span=site.span)
    values = shape.values if isinstance(shape, relax.ShapeExpr) else _dimensions(ev, shape, site, "shape")
    if ndim not in (-1, len(values)):
        raise site.misfit(f"has {len(values)} dimensions and says `ndim={ndim}`")
    return TensorType(values, element, -1, vdevice, span=site.span)


def _dtensor(ev: Evaluator, site: CallSite) -> Meta:
    """`R.DTensor(shape, dtype, device_mesh, placement)`."""
    arguments = site.take(shape=None, dtype=None, device_mesh=ALONE, placement="", ndim=-1)
    of_tensor = {key: arguments[key] for key in ("shape", "dtype", "ndim")}
    tensor = _tensor(ev, replace(site, args=(), kwargs=of_tensor))
    return dtensor(ev, site, tensor, arguments["device_mesh"], arguments["placement"])


def _shape(ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(values=None, ndim=-1)
    ndim = _ndim(values["ndim"], site)
    if values["values"] is None:
        return ShapeType(None, ndim, span=site.span)
    return ShapeType(_dimensions(ev, values["values"], site, "values"), -1, span=site.span)


def _tuple(_ev: Evaluator, site: CallSite) -> Meta:
    fields = site.only_positional()
    if len(fields) == 1 and isinstance(fields[0], (list, tuple)):
        fields = tuple(fields[0])
    return TupleType(types_of(fields, site.span), span=site.span)


def _prim(ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(dtype=None, value=None)
    value = values["value"]
    if value is None:
        element = dtype_of(values["dtype"], site.place("dtype", 0))
        if element is None:
            raise site.misfit("names no dtype")
        return PrimType(element, span=site.span)
    if isinstance(value, bool) or not isinstance(value, float):
        known = _dimension(ev, value, site.span)
        return PrimType(known.dtype, known, span=site.span)
    raise site.wrong("value", value, "an integer or a shape variable")


def _any(_ev: Evaluator, site: CallSite) -> Meta:
    site.only_positional(0, 0)
    return AnyType(span=site.span)


def _callable(_ev: Evaluator, site: CallSite) -> Meta:
    values = site.take(params=None, ret=None, purity=None, derive_func=None)
    if values["derive_func"] is not None:
        raise fail(UNSUPPORTED_CONSTRUCT, "`R.Callable` with `derive_func` is not supported", site.place("derive_func"))
    params = None if values["params"] is None else types_of(values["params"], site.place("params", 0))
    ret = None if values["ret"] is None else type_of(values["ret"], site.place("ret", 1))
    purity = values["purity"]
    if purity is None:
        purity = params is not None
    if not isinstance(purity, bool):
        raise site.wrong("purity", purity, "a bool")
    return FuncType(params, ret, purity, span=site.span)


def _bracketed(ev: Evaluator, owner: Construct, index: Meta, span: Span) -> Meta:
    """`R.Tuple[T, U]`, `Tensor[(1, 2), "float32"]`: brackets for parentheses."""
    args = index if isinstance(index, tuple) else (index,)
    site = CallSite(owner.path, owner.spelled, args, {}, span)
    return _tuple(ev, site) if owner.path == "R.Tuple" else _tensor(ev, site)


TYPE_CONSTRUCTS = Table(
    calls={
        "R.Tuple": _tuple,
        "R.Prim": _prim,
        "R.Any": _any,
        "I.StringType": _any,
        "R.Callable": _callable,
    },
    subscripts={"R.Tuple": _bracketed, "R.Tensor": _bracketed},
    lazy=dict.fromkeys(_SHAPED, _lazily),
)
