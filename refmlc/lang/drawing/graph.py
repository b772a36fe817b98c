"""Boxes and arrows of a Relax function.

| box        | stands for                                                                     |
|------------|--------------------------------------------------------------------------------|
| `param`    | a parameter                                                                    |
| `constant` | a constant                                                                     |
| `call`     | a binding: the operator or function that is called; a tuple, a field, a choice |
| `output`   | the result of the function                                                     |

An arrow goes from a box to each box that uses its value. A variable that equals another has no box. If a value is a
choice, the box stands for both branches, and its arrows come from what they use.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk


@dataclass(frozen=True)
class Box:
    """A box: its kind, title, and further lines."""

    kind: str
    title: str
    lines: tuple[str, ...] = ()


@dataclass
class Graph:
    """Boxes, and arrows between them by their places."""

    name: str
    boxes: list[Box] = field(default_factory=list)
    arrows: list[tuple[int, int]] = field(default_factory=list)

    def add(self, box: Box, sources: "list[int] | tuple[int, ...]" = ()) -> int:
        """Put a box in, with arrows from others; its place."""
        self.boxes.append(box)
        place = len(self.boxes) - 1
        self.arrows.extend((source, place) for source in dict.fromkeys(sources))
        return place


def graph_of(function: relax.Function, name: str = "main") -> Graph:
    """The graph of a function."""
    return _Reader(name).read(function)


class _Reader:
    """Reads a function; `places` are the boxes of its variables."""

    def __init__(self, name: str) -> None:
        self.graph = Graph(name)
        self.places: dict[relax.Var, int] = {}

    def read(self, function: relax.Function) -> Graph:
        for param in function.params:
            self.places[param] = self.graph.add(Box("param", param.name, _type_lines(param.ty)))
        for block in function.body.blocks:
            for binding in block.bindings:
                self._binding(binding)
        result = function.body.body
        self.graph.add(Box("output", "result", _type_lines(function.ret_ty)), self._sources(result))
        return self.graph

    def _binding(self, binding: relax.Binding) -> None:
        value = binding.value
        if isinstance(value, relax.Var) and isinstance(binding, relax.VarBinding):
            if value in self.places:
                self.places[binding.var] = self.places[value]
            return
        if isinstance(binding, relax.MatchCast):
            title: str = "match_cast"
            ty: Type | None = binding.ty
        else:
            title, ty = _title(value), binding.var.ty
        if ty is None and isinstance(value, relax.Call) and len(value.ty_args) == 1:
            ty = value.ty_args[0]
        box = Box("call", title, (binding.var.name, *_type_lines(ty)))
        self.places[binding.var] = self.graph.add(box, self._sources(value))

    def _sources(self, value: relax.Expr) -> list[int]:
        """The boxes that a value uses; constants in it become boxes."""
        sources = []
        for part in _leaves(value):
            if isinstance(part, relax.Constant):
                shape = ", ".join(map(str, part.data.shape))
                sources.append(self.graph.add(Box("constant", "constant", (f"({shape}) {part.dtype}",))))
            elif isinstance(part, relax.MetadataRef):
                sources.append(self.graph.add(Box("constant", "constant")))
            elif part in self.places:
                sources.append(self.places[part])
        return sources


def _leaves(value: relax.Expr) -> "Iterator[relax.Var | relax.Constant | relax.MetadataRef]":
    for node in walk(value):
        if isinstance(node, relax.Var | relax.Constant | relax.MetadataRef):
            yield node


def _title(value: relax.Expr) -> str:
    """A short description of a binding."""
    match value:
        case relax.Call(op=relax.Op(name=name), args=(first, *_)) if name in CALLERS:
            return f"{name}: {_name(first)}"
        case relax.Call(op=op):
            return _name(op)
        case relax.TupleGetItem(index=index):
            return f"field {index}"
        case _:
            return KINDS.get(type(value), type(value).__name__.lower())


CALLERS = frozenset(("call_tir", "call_tir_inplace", "call_dps_packed", "call_pure_packed", "call_builtin_with_ctx"))
KINDS: Mapping[type, str] = {relax.Tuple: "tuple", relax.If: "if", relax.ShapeExpr: "shape", relax.Constant: "constant"}


def _name(callee: relax.Expr) -> str:
    match callee:
        case tir.GlobalVar(name=name) | relax.Op(name=name) | relax.Var(name=name):
            return name
        case relax.ExternFunc(symbol=symbol):
            return symbol
        case _:
            return type(callee).__name__


def _type_lines(ty: Type | None) -> tuple[str, ...]:
    """The type, as short as it is readable."""
    if ty is None:
        return ()
    return (_short(ty),)


def _short(ty: Type) -> str:
    match ty:
        case TensorType(shape=shape, dtype=dtype) if shape is not None:
            sizes = [str(extent.value) if isinstance(extent, tir.IntImm) else extent.script() for extent in shape]
            return f"({', '.join(sizes)}) {dtype or ''}".rstrip()
        case TupleType(fields=fields):
            return f"[{', '.join(map(_short, fields))}]"
        case _:
            return ty.script().replace("R.", "")
