"""Relax types as text.

| type       | 0.27, 2023                                              | 2022                             |
|------------|---------------------------------------------------------|----------------------------------|
| tensor     | `R.Tensor((1, n), dtype="float32")`, `R.Tensor(ndim=2)` | `Tensor((1, n), "float32")`      |
| on a mesh  | `R.DTensor((1, n), "float32", "mesh[0]", "R")`          |                                  |
| shape      | `R.Shape([1, n])`, `R.Shape(ndim=2)`                    | without `R.`                     |
| primitive  | `T.int64`, `R.Prim(value="n")`; 2023 `R.Prim("int64")`  | `R.Prim("int64")`                |
| tuple      | `R.Tuple(T, U)`, `R.Tuple`                              | without `R.`                     |
| function   | `R.Callable((T,), U, True)`                             | without `R.`                     |
| any        | `R.Any`; 2023 `R.Object`                                | `Object`                         |

In a signature a dimension is a string unless it is a variable that is declared before. `T.int64` is a type in
annotations only: as an argument of a call, 0.27 too reads `R.Prim("int64")` alone.

Decision: what TVM 0.27 prints and does not read (`ty_args=(T.int64,)`) is shown in the way in which it reads it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.lang.ir import tir
from refmlc.lang.ir.types import (
    AnyType,
    DTensorType,
    FuncType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    placement_text,
)
from refmlc.lang.ir.visit import walk
from refmlc.lang.script.printer.expressions import expr_text, tuple_text
from refmlc.lang.script.printer.literals import dtype_text, string_text
from refmlc.lang.script.printer.meshes import mesh_text
from refmlc.lang.script.printer.page import Page


@dataclass(frozen=True, slots=True)
class Types:
    """Writes types. `known`: in a signature, the variables that are declared before it, by identity.

    `argument`: the type is an argument of a call, not an annotation.
    """

    page: Page
    known: frozenset[int] | None = None
    argument: bool = False

    def text(self, ty: Type) -> str:
        """`ty` as text."""
        match ty:
            case AnyType():
                return self.short(self.page.spelled("R.Any"))
            case TensorType():
                return self.tensor(ty)
            case DTensorType():
                return self.spread(ty)
            case ShapeType(values=None, ndim=ndim):
                return f"{self.short('R.Shape')}(ndim={ndim})"
            case ShapeType(values=values):
                return f"{self.short('R.Shape')}([{', '.join(self.dimensions(values or ()))}])"
            case PrimType():
                return self.prim(ty)
            case TupleType(fields=fields):
                inside = ", ".join(self.text(field) for field in fields)
                return f"{self.short('R.Tuple')}({inside})" if fields else self.short("R.Tuple")
            case FuncType():
                return self.function(ty)

    def short(self, name: str) -> str:
        """The name of a type, without `R.` in 2022."""
        return name.removeprefix("R.") if self.page.oldest else name

    def dimensions(self, values: Sequence[tir.Expr]) -> list[str]:
        """Dimensions of a shape."""
        return [self.dimension(value) for value in values]

    def dimension(self, value: tir.Expr) -> str:
        """A dimension, a string where it must be one."""
        page = self.page
        with page.speaking("relax"):
            if isinstance(value, tir.IntImm):
                return expr_text(page, value)
            inside = [node for node in walk(value) if isinstance(node, tir.Var)]
            for node in inside:
                page.names.define(node, node.name)
            text = expr_text(page, value)
        if self.known is None:
            return text
        plain = isinstance(value, tir.Var) and (id(value) in self.known or page.oldest)
        return text if plain else string_text(text)

    def tensor(self, ty: TensorType) -> str:
        """A tensor's type."""
        page = self.page
        shape = None if ty.shape is None else tuple_text(self.dimensions(ty.shape))
        parts = [shape or ty.shape_var or ""]
        if page.oldest:
            return self.old_tensor(ty, parts[0] or "None")
        if ty.dtype is not None:
            parts.append(f"dtype={dtype_text(ty.dtype)}")
        if ty.vdevice is not None:
            parts.append(f"vdevice={string_text(ty.vdevice)}")
        if ty.shape is None and ty.ndim != -1:
            parts.append(f"ndim={ty.ndim}")
        inside = ", ".join(part for part in parts if part)
        return f"R.Tensor({inside})" if inside else "R.Tensor"

    def spread(self, ty: DTensorType) -> str:
        """The type of a tensor on a mesh of devices."""
        tensor = ty.tensor
        shape = None if tensor.shape is None else tuple_text(self.dimensions(tensor.shape))
        mesh, placement = mesh_text(self.page, ty.mesh), string_text(placement_text(ty.placement))
        first = shape or tensor.shape_var
        if first is not None and tensor.dtype is not None:
            return f"R.DTensor({first}, {dtype_text(tensor.dtype)}, {mesh}, {placement})"
        parts = [first] if first is not None else []
        parts += [] if tensor.dtype is None else [f"dtype={dtype_text(tensor.dtype)}"]
        parts += [f"device_mesh={mesh}", f"placement={placement}"]
        parts += [f"ndim={tensor.ndim}"] if first is None and tensor.ndim != -1 else []
        return f"R.DTensor({', '.join(parts)})"

    def old_tensor(self, ty: TensorType, shape: str) -> str:
        """A tensor's type in 2022."""
        parts = [shape, "None" if ty.dtype is None else dtype_text(ty.dtype)]
        if ty.shape is None and ty.ndim != -1:
            parts.append(f"ndim = {ty.ndim}")
        return f"Tensor({', '.join(parts)})"

    def prim(self, ty: PrimType) -> str:
        """A primitive type."""
        if ty.value is None:
            annotation = self.page.modern and not self.argument
            return f"T.{ty.dtype}" if annotation else f"R.Prim({dtype_text(ty.dtype)})"
        return f"R.Prim(value={self.dimension(ty.value)})"

    def function(self, ty: FuncType) -> str:
        """A function's type."""
        name = self.short("R.Callable")
        if ty.params is None:
            parts = [] if ty.ret is None else [f"ret={self.text(ty.ret)}"]
            if ty.pure:
                parts.append("purity=True")
            return f"{name}({', '.join(parts)})" if parts else name
        params = tuple_text([self.text(param) for param in ty.params])
        if ty.ret is None:
            return f"{name}({params}, purity={ty.pure})"
        return f"{name}({params}, {self.text(ty.ret)}, {ty.pure})"


def is_own(ty: Type | None, name: str) -> bool:
    """Whether `ty` is the primitive type of a variable called `name` that names no other value."""
    return isinstance(ty, PrimType) and isinstance(ty.value, tir.Var) and ty.value.name == name
