"""Functions of `topi` about shapes and orders whose arguments are not those of an operator: TVM's signatures.

Each calls the function of an operator, but for `reshape`, which has none: the elements in row-major order.
"""

from collections.abc import Callable, Mapping, Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang import te
from refmlc.lang.ir import tir
from refmlc.lang.library import OPERATORS
from refmlc.lang.library.definition import Result, computed
from refmlc.lang.te import Tensor, Value
from refmlc.tvm.nodes import extent

Numbers = Sequence[object]


def apply(name: str, *args: object, **attrs: object) -> Result:
    """The function of an operator."""
    return OPERATORS[name].compute(*args, **attrs)


def single(result: Result) -> Tensor:
    """The one tensor that was made."""
    if not isinstance(result, Tensor):
        raise fail(BAD_ARGUMENTS, "the function returns several tensors here")
    return result


def value(number: object) -> Value:
    """A number, known or not; whole numbers are int64."""
    if isinstance(number, Value):
        return number
    return te.const(number) if isinstance(number, float) else Value(extent(number))


def values(numbers: "Numbers | object") -> tuple[Value, ...]:
    """Several; one number is a tuple of it."""
    several = numbers if isinstance(numbers, list | tuple) else (numbers,)
    return tuple(value(item) for item in several)


def refuse(name: str, **arguments: object) -> None:
    """Refuse arguments other than the defaults, which are all None, False, 0 or empty. Fails: RM105."""
    more = [f"{key}={argument!r}" for key, argument in arguments.items() if argument]
    if more:
        raise fail(BAD_ARGUMENTS, f"`topi.{name}` does not take {', '.join(more)} here")


def reshape(a: Tensor, newshape: Numbers) -> Tensor:
    """The elements in another shape, in row-major order. One -1 is the remaining extent."""
    sizes = list(values(newshape))
    places = [i for i, extent in enumerate(sizes) if isinstance(extent.expr, tir.IntImm) and extent.expr.value == -1]
    if places:
        whole, rest = _product(a.shape), _product([extent for i, extent in enumerate(sizes) if i != places[0]])
        sizes[places[0]] = whole // rest

    def element(*i: Value) -> Value:
        flat, indices = _flat(i, sizes), []
        for size in reversed(a.shape):
            indices.append(flat % size)
            flat = flat // size
        return a(*reversed(indices))

    return computed(sizes, element, "T_reshape")


def _product(sizes: Sequence[Value]) -> Value:
    product = te.const(1, "int64")
    for size in sizes:
        product = product * size
    return product


def _flat(places: Sequence[Value], shape: Sequence[Value]) -> Value:
    flat = te.const(0, "int64")
    for place, size in zip(places, shape, strict=True):
        flat = flat * size + place
    return flat


def expand_dims(a: Tensor, axis: int, num_newaxis: int = 1) -> Tensor:
    """New axes of extent 1, the first of them at `axis`."""
    first = axis if axis >= 0 else a.ndim + axis + 1
    return single(apply("expand_dims", a, axis=tuple(range(first, first + num_newaxis))))


def strided_slice(
    a: Tensor,
    begin: Numbers,
    end: Numbers,
    strides: "Numbers | None" = None,
    axes: "Numbers | None" = None,
    slice_mode: str = "end",
    assume_inbound: bool = True,
) -> Tensor:
    """The places from `begin` on before `end`, `strides` apart, along `axes`, the first ones where none are given.

    `slice_mode`: "size", then `end` are numbers of places. `assume_inbound` is TVM's promise that begin and end are
    inside; they are made to be here.
    """
    del assume_inbound
    first, last = values(begin), values(end)
    along = values(tuple(range(len(first))) if axes is None else axes)
    if slice_mode == "size":
        last = tuple(x + y for x, y in zip(first, last, strict=True))
    elif slice_mode != "end":
        raise fail(BAD_ARGUMENTS, f'the modes of `topi.strided_slice` are "end" and "size"; this is {slice_mode!r}')
    steps = values(strides or (1,) * len(first))
    steps += values((1,) * (len(first) - len(steps))) if len(steps) < len(first) else ()
    return single(apply("strided_slice", a, along, first, last, steps))


def full(shape: Numbers, dtype: str, fill_value: object) -> Tensor:
    """A tensor of one value."""
    number = fill_value.expr if isinstance(fill_value, Value) else fill_value
    constant = te.const(number, dtype) if isinstance(number, bool | int | float) else te.cast(value(fill_value), dtype)
    return computed(values(shape), lambda *_: constant, "tensor")


def full_like(x: Tensor, fill_value: object) -> Tensor:
    """A tensor of one value, with the shape and the dtype of another."""
    return full(x.shape, x.dtype, fill_value)


def _last(indices: Tensor) -> Tensor:
    """The first axis last: `topi` has the indices of a place along the first axis, Relax along the last."""
    return single(apply("permute_dims", indices, axes=(*range(1, indices.ndim), 0)))


def gather_nd(a: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor:
    """For each vector along the first axis of `indices`, the part of `a` at these indices of its first axes."""
    return single(apply("gather_nd", a, _last(indices), batch_dims=batch_dims))


def scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, mode: str) -> Tensor:
    """`data` with `updates` at the places that the vectors along the first axis of `indices` say."""
    return single(apply("scatter_nd", data, _last(indices), updates, reduction=mode))


def arange(start: object, stop: object = None, step: object = 1, dtype: str = "float32") -> Tensor:
    """`start`, `start + step` … below `stop`; `arange(n)` begins with 0."""
    first, last = (0, start) if stop is None else (start, stop)
    return single(apply("arange", value(first), value(last), value(step), dtype=dtype))


def eye(n: int, m: "int | None" = None, k: int = 0, dtype: str = "float32") -> Tensor:
    """Ones on the diagonal `k`, zeros else."""
    return single(apply("eye", value(n), value(n if m is None else m), value(k), dtype=dtype))


def trilu(data: Tensor, k: object, upper: bool) -> Tensor:
    """The triangle above the diagonal `k`, or below it; zeros else."""
    return single(apply("triu" if upper else "tril", data, value(k)))


def identity(x: Tensor) -> Tensor:
    """The same elements."""
    return computed(x.shape, x, "T_identity")


def argmax(
    data: Tensor, axis: "int | Numbers | None" = None, keepdims: bool = False, select_last_index: bool = False
) -> Tensor:
    """The place of the greatest element, int32 as in TVM; the first of equal ones."""
    refuse("argmax", select_last_index=select_last_index)
    return _int32(single(apply("argmax", data, axis=_one(axis), keepdims=keepdims)))


def argmin(
    data: Tensor, axis: "int | Numbers | None" = None, keepdims: bool = False, select_last_index: bool = False
) -> Tensor:
    """The place of the least element, int32 as in TVM; the first of equal ones."""
    refuse("argmin", select_last_index=select_last_index)
    return _int32(single(apply("argmin", data, axis=_one(axis), keepdims=keepdims)))


def _one(axis: object) -> object:
    return axis[0] if isinstance(axis, list | tuple) and len(axis) == 1 else axis


def _int32(x: Tensor) -> Tensor:
    return computed(x.shape, lambda *i: te.cast(x(*i), "int32"), "T_cast")


def one_hot(indices: Tensor, on_value: float, off_value: float, depth: int, axis: int, dtype: str) -> Tensor:
    """`on_value` along a new axis at the place that each index says, `off_value` else."""
    on, off = te.const(on_value, dtype), te.const(off_value, dtype)
    return single(apply("one_hot", indices, on, off, depth=depth, axis=axis))


def sort(data: Tensor, axis: int = -1, is_ascend: int = 1) -> Tensor:
    """The elements in order along an axis."""
    return single(apply("sort", data, axis=axis, descending=not is_ascend))


def argsort(
    data: Tensor, valid_count: object = None, axis: int = -1, is_ascend: int = 1, dtype: str = "float32"
) -> Tensor:
    """The places of the elements in order along an axis."""
    refuse("argsort", valid_count=valid_count)
    return single(apply("argsort", data, axis=axis, descending=not is_ascend, dtype=dtype))


def topk(
    data: Tensor, k: int = 1, axis: int = -1, ret_type: str = "both", is_ascend: bool = False, dtype: str = "int64"
) -> Result:
    """The first k elements along an axis, and their places."""
    return apply("topk", data, k=k, axis=axis, ret_type=ret_type, largest=not is_ascend, dtype=dtype)


def searchsorted(sorted_sequence: Tensor, values: Tensor, right: bool = False, out_dtype: str = "int64") -> Tensor:
    """Where each value is to be put in, so that the vector stays in order."""
    if sorted_sequence.ndim != 1 or out_dtype not in ("int32", "int64"):
        raise fail(BAD_ARGUMENTS, "`topi.searchsorted` takes a vector, and int32 or int64 here")
    wide = out_dtype == "int32"
    return single(apply("bucketize", values, sorted_sequence, out_int32=wide, right=right))


def einsum(subscripts: str, *operand: object) -> Tensor:
    """The sum of products over the letters that the result has not."""
    tensors = operand[0] if len(operand) == 1 and isinstance(operand[0], list | tuple) else operand
    return single(apply("einsum", tuple(tensors) if isinstance(tensors, list | tuple) else (tensors,),
                        subscripts=subscripts))  # fmt: skip


def matmul(a: Tensor, b: Tensor, transp_a: bool = False, transp_b: bool = False) -> Tensor:
    """The product of matrices, each optionally transposed."""
    return single(apply("matmul", turned(a) if transp_a else a, turned(b) if transp_b else b))


def squeeze(a: Tensor, axis: "int | Sequence[int] | None" = None) -> Tensor:
    """The tensor without extents of 1; without an axis those that are numbers."""
    ones = tuple(
        i for i, extent in enumerate(a.shape) if isinstance(extent.expr, tir.IntImm) and extent.expr.value == 1
    )
    return single(apply("squeeze", a, axis=ones if axis is None else axis))


def turned(x: Tensor) -> Tensor:
    """The last two axes in the other order."""
    axes = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return single(apply("permute_dims", x, axes=axes))


def elemwise_sum(xs: Sequence[Tensor]) -> Tensor:
    """The sum of tensors of one shape, from the first on."""
    total = xs[0]
    for term in xs[1:]:
        total = single(apply("add", total, term))
    return total


SHAPED: Mapping[str, Callable[..., Result]] = {
    one.__name__: one
    for one in (
        *(arange, argmax, argmin, argsort, einsum, elemwise_sum, expand_dims, eye, full, full_like),
        *(gather_nd, identity, matmul, one_hot),
        *(reshape, scatter_nd, searchsorted, sort, squeeze, strided_slice, topk, trilu),
    )
}
