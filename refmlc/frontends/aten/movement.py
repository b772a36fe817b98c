"""Elements in other places: shapes, axes, parts, joins."""

from collections.abc import Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, UNSUPPORTED_OP
from refmlc.frontends.emitter import Emitter, Operand, Size, product, same_sizes
from refmlc.frontends.rule import Rule, whole
from refmlc.lang.ir import relax
from refmlc.lang.te import Value

END = 2**63 - 1


def flat(sizes: Sequence[Operand]) -> list[Size]:
    """Sizes given one by one, or as one list."""
    values = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes
    return [item for item in values if isinstance(item, int | Value)]


def view(e: Emitter, x: relax.Expr, *sizes: Operand) -> Operand:
    """The elements in another shape."""
    return e.reshape(x, flat(sizes))


def flatten(e: Emitter, x: relax.Expr, start_dim: int = 0, end_dim: int = -1) -> Operand:
    """Some axes as one."""
    shape = e.shape(x)
    if not shape:
        return e.reshape(x, [1])
    first, last = start_dim % len(shape), end_dim % len(shape)
    return e.reshape(x, [*shape[:first], product(shape[first : last + 1]), *shape[last + 1 :]])


def unflatten(e: Emitter, x: relax.Expr, dim: int, sizes: Sequence[Size]) -> Operand:
    """An axis as several."""
    shape = e.shape(x)
    at = dim % len(shape)
    known = [size for size in sizes if not (isinstance(size, int) and size == -1)]
    result = [_left(shape[at], known) if isinstance(size, int) and size == -1 else size for size in sizes]
    return e.reshape(x, [*shape[:at], *result, *shape[at + 1 :]])


def _left(whole: Size, known: Sequence[Size]) -> Size:
    return whole // product(known)


def permute(e: Emitter, x: relax.Expr, *dims: Operand) -> Operand:
    """The axes in another order."""
    rank = e.rank(x)
    order = tuple(int(dim) % rank for dim in flat(dims))
    return x if order == tuple(range(rank)) else e.call("permute_dims", x, axes=order)


def transpose(e: Emitter, x: relax.Expr, dim0: int, dim1: int) -> Operand:
    """Two axes exchanged."""
    order = list(range(e.rank(x)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return permute(e, x, order)


def turned(e: Emitter, x: relax.Expr) -> Operand:
    """A matrix turned over; a vector as it is."""
    return permute(e, x, list(reversed(range(e.rank(x)))))


def unsqueeze(e: Emitter, x: relax.Expr, dim: int) -> Operand:
    """A new axis of one place."""
    return e.call("expand_dims", x, axis=int(dim))


def squeeze(e: Emitter, x: relax.Expr, *dims: Operand) -> Operand:
    """Axes of one place taken away, others left."""
    shape = e.shape(x)
    named = [dim % len(shape) for dim in flat(dims) if isinstance(dim, int)] if dims else range(len(shape))
    removed = tuple(item for item in named if isinstance(shape[item], int) and shape[item] == 1)
    return e.call("squeeze", x, axis=removed) if removed else x


def expand(e: Emitter, x: relax.Expr, *sizes: Operand) -> Operand:
    """Axes of one place repeated; -1 leaves one as it is."""
    shape, target = e.shape(x), flat(sizes)
    new = len(target) - len(shape)
    full = [shape[at - new] if isinstance(item, int) and item == -1 else item for at, item in enumerate(target)]
    return e.call("broadcast_to", x, e.sizes(full))


def repeat(e: Emitter, x: relax.Expr, *repeats: Operand) -> Operand:
    """The whole tensor repeated along each axis."""
    return e.call("tile", x, repeats=tuple(int(repeat) for repeat in flat(repeats)))


def repeat_interleave(
    e: Emitter, x: relax.Expr, repeats: Operand, dim: int | None = None, *, output_size: Size | None = None
) -> Operand:
    """Each place repeated along an axis. Fails: RM111 where it gives another extent than `output_size`."""
    result = e.call("repeat", x, repeats=whole(repeats), axis=dim)
    extent = e.shape(result)[0 if dim is None else dim]
    if output_size is not None and not same_sizes([extent], [output_size]):
        raise fail(BAD_INPUT, f"`repeat_interleave` gives an extent of {extent}, and `output_size` is {output_size}")
    return result


def flip(e: Emitter, x: relax.Expr, *dims: Operand) -> Operand:
    """The opposite order along axes."""
    result = x
    for item in flat(dims):
        result = e.call("flip", result, axis=int(item))
    return result


def concat(e: Emitter, tensors: Sequence[relax.Expr], dim: int = 0) -> Operand:
    """The tensors one after the other along an axis."""
    return e.call("concat", list(tensors), axis=int(dim))


def stack(e: Emitter, tensors: Sequence[relax.Expr], dim: int = 0) -> Operand:
    """The tensors along a new axis."""
    return e.call("stack", list(tensors), axis=int(dim))


def cut(e: Emitter, x: relax.Expr, dim: int, start: Operand, end: Operand, step: int = 1) -> relax.Expr:
    """The places from `start` on before `end` along an axis."""
    return e.call("strided_slice", x, [dim % e.rank(x)], [start], [end], [step])


def bounds(e: Emitter, x: relax.Expr, dim: int, start: Operand, end: Operand) -> tuple[Operand, Operand]:
    """Where a slice begins and ends; numbers that are known count from the front and stay inside."""
    extent = e.shape(x)[dim]
    begin, stop = (0 if start is None else start), (extent if end is None else end)
    if isinstance(extent, int):
        begin, stop = _inside(begin, extent), _inside(stop, extent)
        if isinstance(begin, int) and isinstance(stop, int):
            stop = max(begin, stop)
    elif isinstance(stop, int) and stop == END:
        stop = extent
    return begin, stop


def _inside(place: Operand, extent: int) -> Operand:
    return min(max(place + extent if place < 0 else place, 0), extent) if isinstance(place, int) else place


def slice_(
    e: Emitter, x: relax.Expr, dim: int = 0, start: Operand = None, end: Operand = None, step: int = 1
) -> Operand:
    """A part along an axis; the whole where nothing is cut."""
    begin, stop = bounds(e, x, dim, start, end)
    if isinstance(begin, int) and begin == 0 and same_sizes([_size(stop)], [e.shape(x)[dim]]) and step == 1:
        return x
    return cut(e, x, dim, begin, stop, step)


def _size(value: Operand) -> Size:
    if not isinstance(value, int | Value):
        raise fail(UNSUPPORTED_OP, f"a place of a slice is {type(value).__name__}: a number or a size is needed")
    return value


def select(e: Emitter, x: relax.Expr, dim: int, index: Operand) -> Operand:
    """One place along an axis, the axis being gone."""
    at = dim % e.rank(x)
    place = index
    if isinstance(index, int) and index < 0:
        place = e.shape(x)[at] + index
    return e.call("squeeze", cut(e, x, at, place, place + 1), axis=(at,))  # type: ignore[operator]


def narrow(e: Emitter, x: relax.Expr, dim: int, start: Operand, length: Operand) -> Operand:
    """`length` places along an axis."""
    begin = e.shape(x)[dim] + start if isinstance(start, int) and start < 0 else start
    return slice_(e, x, dim, begin, begin + length)  # type: ignore[operator]


def split(e: Emitter, x: relax.Expr, size: Operand, dim: int = 0) -> Operand:
    """Parts of one size along an axis, the last being what is left; or parts of the given sizes."""
    whole = e.shape(x)[dim]
    if isinstance(size, int):
        if not isinstance(whole, int):
            raise fail(UNSUPPORTED_OP, "a split into parts of one size takes a known extent")
        return _parts(e, x, list(range(size, whole, size)), dim)
    sizes = flat([size])
    cuts: list[Size] = []
    for item in sizes[:-1]:
        cuts.append(item if not cuts else cuts[-1] + item)
    return _parts(e, x, cuts, dim)


def _parts(e: Emitter, x: relax.Expr, cuts: Sequence[Size], dim: int) -> Operand:
    if not cuts:
        return relax.Tuple((x,))
    if all(isinstance(item, int) for item in cuts):
        return e.call("split", x, indices_or_sections=tuple(cuts), axis=dim % e.rank(x))  # type: ignore[arg-type]
    ends = [*cuts, e.shape(x)[dim]]
    return relax.Tuple(tuple(cut(e, x, dim, a, b) for a, b in zip([0, *cuts], ends, strict=True)))


def chunk(e: Emitter, x: relax.Expr, chunks: int, dim: int = 0) -> Operand:
    """So many parts along an axis."""
    whole = e.shape(x)[dim]
    return split(e, x, -(-whole // chunks), dim)


def unbind(e: Emitter, x: relax.Expr, dim: int = 0) -> Operand:
    """Each place along an axis."""
    whole = e.shape(x)[dim]
    if not isinstance(whole, int):
        raise fail(UNSUPPORTED_OP, "`unbind` takes a known extent")
    return relax.Tuple(tuple(_tensor(select(e, x, dim, place)) for place in range(whole)))


def _tensor(value: Operand) -> relax.Expr:
    if not isinstance(value, relax.Expr):
        raise fail(UNSUPPORTED_OP, f"a tensor is needed here; this is {type(value).__name__}")
    return value


def getitem(e: Emitter, x: Operand, index: Operand) -> Operand:
    """A field of a tuple; the parts of a tensor that an index names."""
    if isinstance(x, list | tuple):
        if isinstance(index, slice):
            return x[index]
        if not -len(x) <= whole(index) < len(x):
            raise fail(UNSUPPORTED_OP, f"result {index} of the operator is not supported")
        return x[whole(index)]
    if isinstance(x, relax.Expr) and not e.is_tensor(x):
        return e.item(x, whole(index))
    result, at = _tensor(x), 0
    values = index if isinstance(index, tuple) else (index,)
    if any(item is Ellipsis for item in values):
        place = next(i for i, item in enumerate(values) if item is Ellipsis)
        named = sum(item is not None and item is not Ellipsis for item in values)
        values = (*values[:place], *(slice(None),) * (e.rank(result) - named), *values[place + 1 :])
    for entry in values:
        match entry:
            case None:
                result, at = _tensor(unsqueeze(e, result, at)), at + 1
            case slice(start=start, stop=stop, step=step):
                result, at = _tensor(slice_(e, result, at, start, stop, step or 1)), at + 1
            case int() | Value():
                result = _tensor(select(e, result, at, entry))
            case _:
                raise fail(UNSUPPORTED_OP, "an index of a tensor by a tensor is not supported here")
    return result


def sym_size(e: Emitter, x: relax.Expr, dim: int | None = None) -> Operand:
    """The extent of an axis, or all of them."""
    return e.shape(x) if dim is None else e.shape(x)[dim]


def attribute(e: Emitter, x: relax.Expr, name: str) -> Operand:
    """What a tensor says of itself. Fails: RM501."""
    match name:
        case "shape":
            return e.shape(x)
        case "dtype":
            return e.dtype(x)
        case "ndim":
            return e.rank(x)
        case "T" | "mT":
            return turned(e, x) if name == "T" else transpose(e, x, -2, -1)
        case "device":
            return "cpu"
    raise fail(UNSUPPORTED_OP, f"the attribute `{name}` of a tensor is not supported")


MOVEMENT: Mapping[str, Rule] = {
    "view": view,
    "_unsafe_view": view,
    "reshape": view,
    "view_as": lambda e, x, other: e.reshape(x, e.shape(other)),
    "flatten": flatten,
    "unflatten": unflatten,
    "permute": permute,
    "transpose": transpose,
    "swapaxes": transpose,
    "t": turned,
    "numpy_T": turned,
    "mT": lambda e, x: transpose(e, x, -2, -1),
    "unsqueeze": unsqueeze,
    "squeeze": squeeze,
    "expand": expand,
    "expand_as": lambda e, x, other: e.call("broadcast_to", x, e.sizes(e.shape(other))),
    "broadcast_to": expand,
    "repeat": repeat,
    "tile": repeat,
    "repeat_interleave": repeat_interleave,
    "flip": flip,
    "cat": concat,
    "concat": concat,
    "stack": stack,
    "slice": slice_,
    "select": select,
    "narrow": narrow,
    "split": split,
    "split_with_sizes": split,
    "chunk": chunk,
    "unbind": unbind,
    "getitem": getitem,
    "getattr": attribute,
    "sym_size": sym_size,
    "size": sym_size,
    "dim": lambda e, x: e.rank(x),
    "numel": lambda e, x: product(e.shape(x)),
    "sym_numel": lambda e, x: product(e.shape(x)),
}
