"""Buffers come into being in C: memory of the function's own, and views of other buffers.

Memory of a known size up to `STACK` bytes is an array in the block; other memory is taken when it is reached (again),
and given back when the function is left. A tracked buffer has a shadow of a byte per element beside it.
"""

from math import prod

from refmlc.lang.dtypes import INT32, INT64
from refmlc.lang.ir import tir
from refmlc.lang.ir.scopes import axes_of
from refmlc.lang.ir.unexecuted import refusal
from refmlc.native.emit.access import times
from refmlc.native.emit.expressions import value
from refmlc.native.emit.state import Place, State, Unsuited
from refmlc.run.memory.cells import cell_size

STACK = 4096


def allocate(state: State, buffer: tir.Buffer) -> None:
    """Fresh memory for `buffer` each time this is reached."""
    if refusal(buffer):
        raise Unsuited(refusal(buffer), buffer.span)
    if buffer.dtype.is_vector or buffer.dtype.kind in ("handle", "void"):
        raise Unsuited(f"`{buffer.name}` has elements of {buffer.dtype}", buffer.span)
    if buffer.strides or buffer.elem_offset is not None:
        raise Unsuited(f"`{buffer.name}` is allocated with strides or an offset", buffer.span)
    if any(tag.startswith(axes_of(buffer.scope)) for tag in state.axes - state.threads.keys()):
        raise Unsuited(f"`{buffer.name}` is private to threads, and allocated outside of them", buffer.span)
    shape = tuple(extent(state, part) for part in buffer.shape)
    cells = state.names.new(buffer.name)
    c_type = f"{state.use(buffer.dtype)}_cell"
    sizes = [part.value for part in buffer.shape if isinstance(part, tir.IntImm)]
    size = prod(sizes) * cell_size(buffer.dtype)
    is_static = len(sizes) == len(buffer.shape)
    shadow = state.names.new(f"{buffer.name}_written") if state.tracks(buffer) else ""
    if is_static and size <= STACK:
        aligned = "__attribute__((aligned(64)))"
        state.text.line(f"{c_type} {cells}[{max(1, prod(sizes))}] {aligned};", buffer.span)
        if shadow:
            state.text.line(f"uint8_t {shadow}[{max(1, prod(sizes))}] = {{0}};")
    else:
        _take(state, buffer, cells, shadow, shape)
    state.buffers[buffer] = Place(cells, shadow, shape)


def _take(state: State, buffer: tir.Buffer, cells: str, shadow: str, shape: tuple[str, ...]) -> None:
    """Memory from the heap, freed where the function ends; it counts until then, or until it is taken again."""
    count = state.names.new(f"{buffer.name}_count")
    state.text.line(f"const int64_t {count} = {product(shape)};", buffer.span)
    parts = [(cells, f"{state.use(buffer.dtype)}_cell", cell_size(buffer.dtype)), (shadow, "uint8_t", 1)]
    for name, element, size in parts if shadow else parts[:1]:
        owner = state.names.new(f"{name}_memory")
        state.heap.append(owner)
        state.text.line(f"RM_TAKE({owner}, rm_times({count}, {size}));")
        state.text.line(f"{element} *restrict const {name} = {owner}.data;")
    if shadow:
        state.text.line(f"memset({shadow}, 0, (size_t){count});")


def product(shape: tuple[str, ...]) -> str:
    """The number of elements as C; extents are not negative and the product is known to fit, or saturates."""
    if all(part.isdigit() for part in shape):
        return str(prod(int(part) for part in shape))
    code = shape[0]
    for part in shape[1:]:
        code = f"rm_times({code}, {part})"
    return code


def extent(state: State, part: tir.Expr) -> str:
    """One extent of a fresh buffer, not negative."""
    if isinstance(part, tir.IntImm):
        if part.value < 0:
            raise Unsuited("an extent is negative", part.span)
        return str(part.value)
    name = state.temp("int64_t", value(state, part))
    low = state.facts.bounds(part).low
    if low is None or low < 0:
        state.check(f"{name} >= 0", "the extent is not negative", part.span)
    return name


def declare(state: State, node: tir.DeclBuffer) -> None:
    """A view of another buffer's memory, from its first element on."""
    if node.data is None:
        allocate(state, node.buffer)
        return
    buffer = node.buffer
    if refusal(buffer):
        raise Unsuited(refusal(buffer), buffer.span)
    source = node.data.buffer if isinstance(node.data, tir.BufferData) else None
    if source is None or buffer.strides or buffer.elem_offset is not None or source.dtype != buffer.dtype:
        raise Unsuited(f"`{buffer.name}` is declared on another kind of memory", node.span)
    offset = 0 if source.elem_offset is None else getattr(source.elem_offset, "value", None)
    if offset != 0:
        raise Unsuited(f"`{buffer.name}` begins where `{source.name}` has no element", node.span)
    place = state.place(source, node.span)
    if place.strides or place.offset:
        raise Unsuited(f"`{buffer.name}` is declared on a view", node.span)
    shape = tuple(extent(state, part) for part in buffer.shape)
    size, source_size = product(shape), product(place.shape)
    if not (size.isdigit() and source_size.isdigit() and int(size) <= int(source_size)):
        state.check(f"{size} <= {source_size}", f"`{buffer.name}` lies in `{source.name}`", node.span)
    state.buffers[buffer] = Place(place.cells, place.shadow, shape)


def match_region(state: State, node: tir.MatchBufferRegion) -> None:
    """A view of a region, with the strides of what it views."""
    buffer, source = node.buffer, node.source
    leading = len(source.region) - len(buffer.shape)
    constant_shape = all(isinstance(part, tir.IntImm) for part in buffer.shape) and not buffer.strides
    free_offset = buffer.elem_offset is None or isinstance(buffer.elem_offset, tir.Var)
    if leading < 0 or not constant_shape or not free_offset or buffer.dtype != source.buffer.dtype:
        raise Unsuited(f"the region of `{buffer.name}` binds shapes, strides or an offset", node.span)
    place = state.place(source.buffer, node.span)
    strides = place.strides or tuple(product(place.shape[axis + 1 :]) or "1" for axis in range(len(place.shape)))
    offsets = [place.offset] if place.offset else []
    shape: list[str] = []
    for axis, part in enumerate(source.region):
        size = part.extent.value if isinstance(part.extent, tir.IntImm) else None
        expected = 1 if axis < leading else _constant(buffer.shape[axis - leading])
        if size != expected:
            raise Unsuited(f"axis {axis} of the region of `{buffer.name}` has another extent", node.span)
        low = state.temp("int64_t", value(state, part.min))
        condition = f"{low} >= 0 && {low} + {size} <= {place.shape[axis]}"
        state.check(condition, f"the region of `{source.buffer.name}` is in bounds", node.span)
        offsets.append(times(low, strides[axis]))
        if axis >= leading:
            shape.append(str(size))
    offset = state.names.new(f"{buffer.name}_offset")
    state.text.line(f"const int64_t {offset} = {' + '.join(offsets) or '0'};", node.span)
    state.buffers[buffer] = Place(place.cells, place.shadow, tuple(shape), strides[leading:], offset, place.base)
    if isinstance(buffer.elem_offset, tir.Var):
        _offset(state, buffer, buffer.elem_offset, f"{offset} + {place.base}" if place.base else offset)


def _offset(state: State, buffer: tir.Buffer, var: tir.Var, actual: str) -> None:
    """The offset of a matched region gives its variable a value, and is a multiple of its factor."""
    if var in state.variables or var.dtype not in (INT32, INT64):
        raise Unsuited(f"the offset of `{buffer.name}` is compared", var.span)
    name = state.temp("int64_t", actual)
    state.check(f"{name} <= {var.dtype.maximum}", f"the offset of `{buffer.name}` fits {var.dtype}", var.span)
    state.text.line(f"const {state.variable_type(var.dtype)} {state.declare(var)} = {name};", var.span)
    if buffer.offset_factor > 1:
        state.check(f"{name} % {buffer.offset_factor} == 0", f"`{buffer.name}` has an offset of its factor", var.span)


def _constant(part: tir.Expr) -> int | None:
    return part.value if isinstance(part, tir.IntImm) else None
