"""Buffers as text: types, matches, allocations, views.

| construct      | 0.27                                    | 2023                    | 2022                        |
|----------------|-----------------------------------------|-------------------------|-----------------------------|
| parameter      | `T.Buffer((n, 4), "float32")`           | the same                | `T.Buffer[4, "float32"]`    |
| match          | `T.match_buffer(a, (n, 4), "int8")`     | the same                | `T.match_buffer(a, [4], …)` |
| … by a block   | `T.sblock_alloc_buffer((4,))`           | `T.alloc_buffer((4,))`  | `T.alloc_buffer([4], …)`    |
| allocation     | `T.alloc_buffer`, `T.alloc_local`, …    | `T.decl_buffer`         | `T.decl_buffer`             |
| … annotated    | the same                                | `T.allocate`            | `T.allocate`                |
| view           | `A.view(16)`, `T.decl_buffer(…)`        | `T.decl_buffer`         | `T.decl_buffer`             |

float32 is left out, except in the type of a parameter and in 2022.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import FLOAT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import Layout
from refmlc.lang.ir.offsets import own_index
from refmlc.lang.ir.tirx import ComposeLayout, TileLayout
from refmlc.lang.script.printer.expressions import (
    attribute_text,
    buffer_name,
    expr_text,
    region_text,
    tuple_text,
    var_name,
)
from refmlc.lang.script.printer.literals import dtype_text, handle_text, string_text
from refmlc.lang.script.printer.names import python_name
from refmlc.lang.script.printer.page import Page
from refmlc.lang.script.tirx.layout_text import layout_text
from refmlc.lang.script.tirx.layouts import row_major
from refmlc.lang.script.tirx.view_text import derived_text


def is_simple(buffer: tir.Buffer) -> bool:
    """Whether shape and dtype say all."""
    plain = not buffer.strides and buffer.elem_offset is None and not buffer.axis_separators
    plain = plain and buffer.layout is Layout.DEFAULT
    return plain and buffer.scope == "global" and buffer.align == 64 and buffer.offset_factor == 1


def shape_text(page: Page, shape: Sequence[tir.Expr]) -> str:
    """A shape as an argument."""
    return _listed(page, [expr_text(page, extent) for extent in shape])


def _listed(page: Page, texts: Sequence[str]) -> str:
    return f"[{', '.join(texts)}]" if page.oldest else tuple_text(texts)


def arguments(
    page: Page,
    buffer: tir.Buffer,
    *,
    scope: str | None = "global",
    data: tir.Expr | None = None,
    annotations: Mapping[str, tir.Attr] | None = None,
    dimension: Callable[[tir.Expr], str] | None = None,
) -> str:
    """The arguments of a construct that makes `buffer`.

    `scope` is what the construct's name says already; with `dimension`, which writes dimensions, it is a type.
    """
    write = dimension or (lambda node: expr_text(page, node))
    parts = [_listed(page, [write(extent) for extent in buffer.shape])]
    if dimension is not None:
        parts.append(dtype_text(buffer.dtype))
    elif page.oldest:
        parts.append(f"dtype={dtype_text(buffer.dtype)}")
    elif buffer.dtype != FLOAT32:
        parts.append(dtype_text(buffer.dtype))
    if data is not None:
        parts.append(f"data={expr_text(page, data)}")
    if buffer.strides:
        strides = [_stride_text(page, buffer, axis, write) for axis in range(len(buffer.strides))]
        parts.append(f"strides={_listed(page, strides)}")
    own = buffer.elem_offset is not None and _named_by(page, buffer, buffer.elem_offset, "elem_offset")
    if buffer.elem_offset is not None and not own:
        parts.append(f"elem_offset={write(buffer.elem_offset)}")
    if buffer.scope != scope:
        parts.append(f"scope={string_text(buffer.scope)}")
    if buffer.align != 64:
        parts.append(f"align={buffer.align}")
    if own or buffer.offset_factor != 1:
        parts.append(f"offset_factor={buffer.offset_factor}")
    if buffer.axis_separators:
        parts.append(f"axis_separators=[{', '.join(map(str, buffer.axis_separators))}]")
    parts.extend(_tirx_parts(page, buffer))
    if annotations:
        parts.append(f"annotations={attribute_text(page, annotations)}")
    return ", ".join(parts)


def _layout_text(page: Page, buffer: tir.Buffer) -> str:
    """A layout that is not that of the function."""
    match buffer.layout:
        case TileLayout() | ComposeLayout():
            layout: TileLayout | ComposeLayout = buffer.layout
        case Layout.ROW_MAJOR:
            layout = TileLayout(row_major(buffer.shape))
        case _:
            return "None"
    return layout_text(layout, lambda node: expr_text(page, node))


def _tirx_parts(page: Page, buffer: tir.Buffer) -> Iterator[str]:
    """What only buffers of TIRx have."""
    if page.modern and buffer.layout is not Layout.DEFAULT:
        yield f"layout={_layout_text(page, buffer)}"
    addresses = [expr_text(page, item) for item in buffer.allocated_addr]
    if addresses:
        listed = f"[{', '.join(addresses)}]"
        yield f"allocated_addr={addresses[0] if len(addresses) == 1 else listed}"


def _stride_text(page: Page, buffer: tir.Buffer, axis: int, write: Callable[[tir.Expr], str]) -> str:
    """A stride; one that is a variable of its own by the name of that, as a string."""
    stride = buffer.strides[axis]
    if isinstance(stride, tir.Var) and _named_by(page, buffer, stride, f"strides[{axis}]"):
        return string_text(python_name(stride.name))
    return write(stride)


def _named_by(page: Page, buffer: tir.Buffer, part: tir.Expr, path: str) -> bool:
    """Whether this is where a variable gets its value and its name, a part of `buffer`; from here on it has it."""
    if id(part) not in page.parts or page.names.get(part) is not None:
        return False
    page.names.give(part, f"{page.names.define(buffer, buffer.name)}.{path}")
    return True


def type_text(page: Page, buffer: tir.Buffer, dimension: Callable[[tir.Expr], str]) -> str:
    """The type of a parameter; `dimension` writes dimensions."""
    if page.oldest:
        shape = [dimension(extent) for extent in buffer.shape]
        return f"T.Buffer[{shape[0] if len(shape) == 1 else tuple_text(shape)}, {dtype_text(buffer.dtype)}]"
    return f"T.Buffer({arguments(page, buffer, dimension=dimension)})"


def declaration_text(page: Page, node: tir.Buffer | tir.Var) -> str:
    """The declaration of what nothing else declares: `A = T.Buffer((64,))`, `n = T.int64()`."""
    if isinstance(node, tir.Var):
        return variable_text(page, node)
    return f"{buffer_name(page, node)} = T.Buffer({arguments(page, node)})"


def variable_text(page: Page, var: tir.Var) -> str:
    """`n = T.int64()`; in 2022 `n = T.var("int64")`."""
    if page.oldest:
        return f"{var_name(page, var)} = T.var({string_text(str(var.dtype))})"
    text = type_of_var(page, var)
    return f"{var_name(page, var)} = {text if '(' in text else f'{text}()'}"


def type_of_var(page: Page, var: tir.Var) -> str:
    """The type of a variable as an annotation."""
    if var.dtype.kind == "handle":
        return handle_text(var.pointer, modern=page.modern)
    return f"T.{var.dtype}"


def match_text(page: Page, source: str, buffer: tir.Buffer) -> str:
    """`T.match_buffer(source, …)`."""
    return f"T.match_buffer({source}, {arguments(page, buffer)})"


def match_region_text(page: Page, match: tir.MatchBufferRegion) -> str:
    """`T.match_buffer(A[0:4], …)`."""
    return match_text(page, region_text(page, match.source), match.buffer)


def block_alloc_text(page: Page, buffer: tir.Buffer) -> str:
    """An allocation by a block."""
    return f"{page.spelled('T.sblock_alloc_buffer')}({arguments(page, buffer)})"


def alloc_text(page: Page, node: tir.AllocBuffer) -> str:
    """An allocation as a statement, after its name."""
    buffer = node.buffer
    if id(buffer) in page.cells:
        if buffer.scope == "local":
            return f": T.{buffer.dtype}"
        if buffer.scope == "shared":
            return f" = T.shared_scalar({dtype_text(buffer.dtype)})"
        return f" = T.alloc_scalar({dtype_text(buffer.dtype)}, {string_text(buffer.scope)})"
    return f" = {_allocation(page, node)}"


def is_cell(buffer: tir.Buffer, *, s_tir: bool) -> bool:
    """Whether a buffer is what a mutable scalar is: one element laid out, and nothing else said."""
    return buffer.layout is (Layout.ROW_MAJOR if s_tir else Layout.DEFAULT) and (
        [extent.value for extent in buffer.shape if isinstance(extent, tir.IntImm)] == [1]
        and len(buffer.shape) == 1
        and buffer.align == 64
        and buffer.offset_factor == 1
        and not (buffer.strides or buffer.elem_offset or buffer.axis_separators or buffer.allocated_addr)
    )


def _allocation(page: Page, node: tir.AllocBuffer) -> str:
    buffer = node.buffer
    if not page.modern and node.annotations:
        if not is_simple(replace(buffer, scope="global")):
            message = f"`{buffer.name}` has annotations and a layout, which texts of {page.dialect} cannot say"
            raise fail(UNSUPPORTED_CONSTRUCT, message, buffer.span)
        page.pointers.add(id(buffer))
        parts = (shape_text(page, buffer.shape), dtype_text(buffer.dtype), string_text(buffer.scope))
        return f"T.allocate({', '.join(parts)}, annotations={attribute_text(page, node.annotations)})"
    if not page.modern:
        return f"T.decl_buffer({arguments(page, buffer, annotations=node.annotations)})"
    named = {"local": "T.alloc_local", "shared": "T.alloc_shared"}.get(buffer.scope)
    if named is not None:
        return f"{named}({arguments(page, buffer, scope=buffer.scope, annotations=node.annotations)})"
    return f"T.alloc_buffer({arguments(page, buffer, annotations=node.annotations)})"


def decl_text(page: Page, node: tir.DeclBuffer) -> str:
    """A view."""
    buffer, data = node.buffer, node.data
    if page.modern and not page.s_tir and isinstance(data, tir.BufferData):
        derived = derived_text(page, buffer, data.buffer)
        if derived:
            return derived
    if page.modern and isinstance(data, tir.BufferData) and _is_view(buffer, data.buffer):
        shape = ", ".join(expr_text(page, extent) for extent in buffer.shape)
        whole = page.s_tir or buffer.layout is not Layout.DEFAULT or not _is_part(buffer, data.buffer)
        layout = "" if whole else f", layout={_layout_text(page, replace(buffer, layout=Layout.ROW_MAJOR))}"
        return f"{buffer_name(page, data.buffer)}.view({shape}{layout})"
    return f"T.decl_buffer({arguments(page, buffer, data=data)})"


def _is_view(buffer: tir.Buffer, source: tir.Buffer) -> bool:
    """Whether `source.view(shape)` gives `buffer`."""
    same = buffer.dtype == source.dtype and buffer.scope == source.scope and buffer.align == source.align
    same = same and buffer.layout is source.layout and not buffer.allocated_addr and not source.allocated_addr
    same = same and own_index(buffer.shape).bits <= own_index(source.shape).bits  # a view has the offset of its source
    plain = not buffer.strides and not source.strides and not buffer.axis_separators and bool(buffer.shape)
    return same and plain and buffer.elem_offset is source.elem_offset and buffer.offset_factor == source.offset_factor


def _is_part(buffer: tir.Buffer, source: tir.Buffer) -> bool:
    """Whether `buffer` certainly has another number of elements than `source`."""
    counts = [
        prod(extent.value for extent in each.shape if isinstance(extent, tir.IntImm))
        for each in (buffer, source)
        if all(isinstance(extent, tir.IntImm) for extent in each.shape)
    ]
    return len(counts) == 2 and counts[0] != counts[1]
