"""Live Python classes and functions as TVMScript: their source is read, their bodies are never executed.

| name in the source that the text does not define | stands for                                              |
|--------------------------------------------------|---------------------------------------------------------|
| a number, a string, `None`, tuples, lists, dictionaries of them | itself                                   |
| a NumPy array, or what NumPy reads as one         | a constant where one is wanted                           |
| a NumPy dtype or scalar class                     | the dtype                                                |
| `T`, `R`, `I`, a module of the language           | the namespace                                            |
| `TypeVar("n")`, `n = T.int64()`                   | a shape variable of each function that names it          |
| a `PrimFunc`, a Relax `Function`, an `ExternFunc` | a function of the module, which gets it under this name  |
| a type, a dtype of refmlc                         | itself                                                   |
| anything else                                    | nothing: RM104                                           |

Names are looked up as Python does: closure, then the frames around the decorator, then globals.
Fails: as `read`; RM109 where there is no source (code from `exec`, from the bare prompt); RM112 for other objects.
"""

import ast
import linecache
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType, FunctionType, ModuleType

import numpy as np

from refmlc.diag import Diagnostic, Source, error, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE, NOT_TVMSCRIPT
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.storage import dtype_of
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.module import IRModule
from refmlc.lang.script.inert import Inert, as_shape_variable
from refmlc.lang.script.reader.syntax import Spans, parsed
from refmlc.lang.script.reader.text import program_of, single
from refmlc.lang.script.reader.types import TYPES
from refmlc.lang.script.reader.values import Construct, Meta, ShapeVar
from refmlc.lang.script.spellings import NAMESPACES, canonical

_MISSING = object()
_FUNCTIONS = (tir.PrimFunc, relax.Function, relax.ExternFunc)
_OURS = {"refmlc": "tvm", "refmlc.lang.script": "tvm.script"}


def read_live(obj: object, frame: FrameType | None = None) -> IRModule:
    """The module that a class is, or that holds the one function that a function is.

    `frame` is where names are looked up besides the closure and the globals of the functions.
    """
    functions = [obj] if isinstance(obj, FunctionType) else _functions_of(obj)
    name = str(getattr(obj, "__name__", ""))
    if not isinstance(obj, (type, FunctionType)):
        raise fail(BAD_USAGE, f"an object of type `{type(obj).__name__}` is no class and no function")
    source = _source(name, functions, frame)
    node = _definition(source, name, functions, frame)
    if not node.decorator_list:
        raise fail(NOT_TVMSCRIPT, f"`{name}` is not decorated as TVMScript is", Spans(source).of(node))
    wanted = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    result = _around(wanted, functions, frame)
    added = {key: value for key, value in result.items() if isinstance(value, _FUNCTIONS)}
    names = {key: meta for key, value in result.items() if (meta := _meta_of(value, key)) is not _MISSING}
    module = single(program_of(source, names, tree=ast.Module([node], [])))
    more = {key: value for key, value in added.items() if key not in module.functions}
    return IRModule({**module.functions, **more}, module.attrs, module.global_infos, module.name, source)


# ------------------------------------------------------------------------------------------------- the source


def _functions_of(obj: object) -> list[FunctionType]:
    return [value for value in vars(obj).values() if isinstance(value, FunctionType)] if isinstance(obj, type) else []


def _code(functions: list[FunctionType], frame: FrameType | None) -> CodeType | None:
    """The code whose file holds the definition."""
    return functions[0].__code__ if functions else None if frame is None else frame.f_code


def _source(name: str, functions: list[FunctionType], frame: FrameType | None) -> Source:
    code = _code(functions, frame)
    around = functions[0].__globals__ if functions else {} if frame is None else frame.f_globals
    lines = linecache.getlines(code.co_filename, around) if code is not None else []
    if code is None or not lines:
        where = "" if code is None else f" in `{code.co_filename}`"
        helps = ("put the definition in a file, or give its text to `refmlc.read`",)
        raise error(Diagnostic(BAD_FILE, f"there is no source of `{name}`{where}", helps=helps))
    return Source(code.co_filename, "".join(lines))


def _definition(
    source: Source, name: str, functions: list[FunctionType], frame: FrameType | None
) -> ast.ClassDef | ast.FunctionDef:
    """The definition in the source that the live object came from: the one of its name around its first line."""
    line = functions[0].__code__.co_firstlineno if functions else 0 if frame is None else frame.f_lineno
    best: ast.ClassDef | ast.FunctionDef | None = None
    for node in ast.walk(parsed(source)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            first = min((part.lineno for part in node.decorator_list), default=node.lineno)
            if first <= line <= (node.end_lineno or first):
                best = node
    if best is None:
        raise fail(BAD_FILE, f"`{source.name}` does not hold the definition of `{name}` at line {line}")
    return best


# -------------------------------------------------------------------------------------------------- the names


def _around(wanted: set[str], functions: list[FunctionType], frame: FrameType | None) -> dict[str, object]:
    """The live objects called by the names in `wanted`."""
    result: dict[str, object] = {}
    for space in reversed(list(_spaces(functions, frame))):
        result.update((key, space[key]) for key in wanted if key in space)
    return result


def _spaces(functions: list[FunctionType], frame: FrameType | None) -> Iterator[Mapping[str, object]]:
    for function in functions:
        cells = function.__closure__ or ()
        yield {
            name: cell.cell_contents
            for name, cell in zip(function.__code__.co_freevars, cells, strict=True)
            if _is_filled(cell)
        }
    if frame is not None:
        yield frame.f_locals
        yield frame.f_globals
    for function in functions:
        yield function.__globals__


def _is_filled(cell: object) -> bool:
    try:
        cell.cell_contents  # type: ignore[attr-defined]  # noqa: B018 - the access is the question
    except ValueError:
        return False
    return True


def _meta_of(value: object, name: str) -> Meta:
    """What a live object stands for in the text; `_MISSING` for nothing."""
    if as_shape_variable(value):
        return ShapeVar(name)
    match value:
        case None | bool() | int() | float() | str() | DType() | np.ndarray():
            return value
        case np.generic():
            return np.asarray(value)[()].item() if value.dtype.kind in "biuf" else np.asarray(value)
        case Inert():
            return Construct(canonical(value.path), name) if value.path else _MISSING
        case ModuleType():
            return _namespace(value, name)
        case tuple() | list() | dict():
            return _container(value, name)
        case np.dtype():
            return dtype_of(value)
        case type() if issubclass(value, np.generic):
            return dtype_of(np.dtype(value))
        case tir.PrimFunc() | relax.Function() | relax.ExternFunc():
            return tir.GlobalVar(name)
    if isinstance(value, TYPES):
        return value
    return np.asarray(value) if hasattr(value, "__array__") else _MISSING


def _namespace(module: ModuleType, name: str) -> Meta:
    first, *rest = module.__name__.split(".")
    ours = ".".join(rest) if first == "refmlc" and rest[:1] == ["tvm"] else module.__name__
    path = _OURS.get(ours, ours)
    known = path in NAMESPACES or path.partition(".")[0] == "tvm"
    return Construct(canonical(path), name) if known else _MISSING


def _container(value: "tuple[object, ...] | list[object] | dict[object, object]", name: str) -> Meta:
    if isinstance(value, dict):
        items = {key: _meta_of(item, name) for key, item in value.items()}
        return _MISSING if any(item is _MISSING for item in items.values()) else items
    inner = [_meta_of(item, name) for item in value]
    if any(item is _MISSING for item in inner):
        return _MISSING
    return inner if isinstance(value, list) else tuple(inner)
