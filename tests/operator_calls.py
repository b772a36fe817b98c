"""A call of every operator of Relax with arguments of every kind it takes: what the table of operators is made of.

A row is `call | parameters`. A parameter is `name: extents`, then, where its dtype is not the one that varies:

| text          | the elements are                                     |
|---------------|------------------------------------------------------|
| `@int64`      | of this dtype                                        |
| `@int64<k`    | indices of an axis with k places, a few outside      |
| `@int64=0,2`  | these                                                |

Extents are numbers or the letters of `EXTENTS`, one of which may be 0 in a run; `-` is no dimension. `{D}` in a call is
the dtype that varies. Operators of one tensor, or of two that are broadcast, have their rows from their signatures.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from refmlc.lang.library import OPERATORS

EXTENTS = {"n": 3, "k": 4, "m": 2}

ROWS = """
zeros([3, 2], dtype="{D}") | x: 1
ones([3, 2], dtype="{D}") | x: 1
full([3, 2], x) | x: -
full_like(x, y) | x: n k; y: -
eye(3, 4, 1, dtype="{D}") | x: 1
eye_like(x, -1) | x: n k
arange(1, 9, 3, dtype="{D}") | x: 1
tril(x, 1) | x: m n k
triu(x, -1) | x: m n k
hamming_window(5, True, 0.54, 0.46, dtype="{D}") | x: 1
astype(x, dtype="float32") | x: n k
astype(x, dtype="int32") | x: n k
astype(x, dtype="bool") | x: n k
astype(x, dtype="float16") | x: n k
astype(x, dtype="uint8") | x: n k
astype(x, dtype="{D}") | x: n k @float32
wrap_param(x, dtype="float32") | x: n k
where(c, x, y) | c: n 1 @bool; x: n k; y: k
clip(x, -1, 2) | x: n k
ewise_fma(x, y, z) | x: n k; y: n k; z: n k
log_add_exp(x, y) | x: n k; y: k
quantize(x, s, z, out_dtype="int8", axis=1) | x: n k; s: k @float32; z: k @int8
dequantize(x, s, z, out_dtype="float32", axis=1) | x: n k; s: k @float32; z: k @int8
nn.prelu(x, a, axis=1) | x: n k; a: k
nn.softplus(x, beta=0.5, threshold=3.0) | x: n k
nn.dropout(x, rate=0.3) | x: n k
sum(x, axis=[1]) | x: n k
sum(x) | x: n k
prod(x, axis=[0]) | x: n k
max(x, axis=[1]) | x: n k
min(x, axis=[1]) | x: n k
mean(x, axis=[1]) | x: n k
variance(x, axis=[1]) | x: n k
std(x, axis=[1]) | x: n k
argmax(x, axis=1) | x: n k
argmin(x, axis=1) | x: n k
nn.softmax(x, axis=1) | x: n k
nn.log_softmax(x, axis=1) | x: n k
nn.layer_norm(x, g, b, axes=[1]) | x: n k; g: k; b: k
nn.rms_norm(x, w, axes=[1]) | x: n k; w: k
nn.group_norm(x, g, b, num_groups=2, channel_axis=1, axes=[2]) | x: m 4 n; g: 4; b: 4
nn.instance_norm(x, g, b, channel_axis=1, axes=[2]) | x: m 4 n; g: 4; b: 4
matmul(x, y) | x: n k; y: k m
outer(x, y) | x: n; y: k
nn.dense(x, y) | x: n k; y: m k
permute_dims(x, axes=[1, 0]) | x: n k
expand_dims(x, axis=[1]) | x: n k
squeeze(x, axis=[1]) | x: n 1 k
broadcast_to(x, [2, 3, 4]) | x: 3 1
concat((x, y), axis=0) | x: n k; y: m k
stack((x, y), axis=1) | x: n k; y: n k
split(x, indices_or_sections=2, axis=1) | x: n 4
tile(x, repeats=[2, 1]) | x: n k
repeat(x, repeats=2, axis=1) | x: n k
flip(x, axis=1) | x: n k
meshgrid((x, y), indexing="xy") | x: n; y: k
layout_transform(x, index_map=lambda i, j: (i, j // 2, j % 2)) | x: n 4
einsum((x, y), subscripts="ij,jk->ik") | x: n k; y: k m
scatter_elements(x, i, u, axis=1, reduction="update") | x: n k; i: n m @int64<k; u: n m
scatter_elements(x, i, u, axis=1, reduction="add") | x: n k; i: n m @int64<k; u: n m
scatter_elements(x, i, u, axis=1, reduction="max") | x: n k; i: n m @int64<k; u: n m
scatter_nd(x, i, u, reduction="add") | x: n k; i: m 1 @int64<n; u: m k
index_put(x, (i, j), u, accumulate=True) | x: n k; i: m @int64<n; j: m @int64<k; u: m
strided_slice(x, [1], [3], [-5], [-2]) | x: n 4
dynamic_strided_slice(x, b, e, s) | x: n 4; b: 2 @int64=0,3; e: 2 @int64=9,-9; s: 2 @int64=1,-2
slice_scatter(x, y, 1, 4, 2, axis=1) | x: n 4; y: n 2
reverse_sequence(x, l, seq_axis=1, batch_axis=0) | x: n k; l: n @int32<k
take(x, i, axis=1) | x: n k; i: m @int64<k
take(x, i, axis=0, mode="clip") | x: 3 k; i: m @int32
take(x, i, axis=0, mode="wrap") | x: 3 k; i: m @int32
gather_elements(x, i, axis=1) | x: n k; i: n m @int64<k
gather_nd(x, i) | x: n k; i: m 1 @int64<n
index_tensor(x, (i, j)) | x: n k; i: m @int64<n; j: m @int64<k
one_hot(i, R.prim_value(2), R.prim_value(0), depth=4) | i: n
bucketize(x, b) | x: n k; b: 4 @=-1,0,0,2
collapse_sum_to(x, [1, 4]) | x: n 4
collapse_sum_like(x, y) | x: m n k; y: k
size(x) | x: n k
cumsum(x, axis=1) | x: n k
cumsum(x, axis=1, dtype="int64", exclusive=True) | x: n k
cumprod(x, axis=1) | x: n k
multinomial_from_uniform(p, u, i) | p: 3 k; u: m 1; i: m 1 @int64<n
sort(x, axis=1) | x: n k
argsort(x, axis=1, descending=True) | x: n k
topk(x, k=2, axis=1) | x: n 4
median(x, axis=1) | x: n k
nonzero(x) | x: n k
unique(x, True, True, True, True) | x: n k
nn.conv1d(x, w, padding=[1]) | x: m 2 4; w: n 2 3
nn.conv2d(x, w, strides=[2, 1], padding=[1, 0]) | x: m 2 4 3; w: n 2 2 2
nn.conv3d(x, w) | x: m 2 3 2 2; w: n 2 2 1 2
nn.conv1d_transpose(x, w, strides=[2]) | x: m 2 3; w: 2 n 2
nn.conv2d_transpose(x, w, strides=[2, 1]) | x: m 2 2 2; w: 2 n 2 2
nn.conv3d_transpose(x, w) | x: m 2 2 1 2; w: 2 n 1 2 2
nn.max_pool1d(x, pool_size=[2], padding=[1]) | x: m n 4
nn.max_pool2d(x, pool_size=[2, 2], strides=[2, 1], ceil_mode=True) | x: m n 3 4
nn.max_pool3d(x, pool_size=[2, 1, 2]) | x: m n 3 2 3
nn.avg_pool1d(x, pool_size=[2], padding=[1]) | x: m n 4
nn.avg_pool2d(x, pool_size=[2, 2], strides=[2, 1], padding=[1, 0], count_include_pad=True) | x: m n 3 4
nn.avg_pool3d(x, pool_size=[2, 1, 2]) | x: m n 3 2 3
nn.adaptive_avg_pool1d(x, output_size=[3]) | x: m n 4
nn.adaptive_avg_pool2d(x, output_size=[2, 1]) | x: m n 3 2
nn.adaptive_avg_pool3d(x, output_size=[2, 1, 2]) | x: m n 3 2 2
nn.pad(x, pad_width=[1, 0, 0, 2]) | x: n k
nn.pad(x, pad_width=[1, 0, 0, 2], pad_mode="reflect") | x: n k
nn.pixel_shuffle(x, upscale_factor=2) | x: m 4 2 n
nn.batch_norm(x, g, b, e, v, axis=1) | x: m n k; g: n; b: n; e: n; v: n
nn.batch_norm(x, g, b, e, v, axis=1, training=False) | x: m n k; g: n; b: n; e: n; v: n
nn.attention(q, k, v) | q: 1 n 2 2; k: 1 m 2 2; v: 1 m 2 3
nn.attention(q, k, v, causal_mask="BottomRight", window_size=2) | q: 1 n 2 2; k: 1 m 2 2; v: 1 m 2 3
nn.attention_bias(q, k, v, b) | q: 1 n 2 2; k: 1 m 2 2; v: 1 m 2 3; b: 1 1 n m
nn.attention_var_len(q, k, v, s, l) | q: 1 4 2 2; k: 1 4 2 2; v: 1 4 2 3; s: 3 @int32=0,1,4; l: - @int32=3
nn.cross_entropy_with_logits(x, y) | x: n k; y: n k
nn.nll_loss(x, t, w) | x: n 4; t: n @int64<4; w: 4
grad.nll_loss_backward(g, x, t, w) | g: -; x: n 4; t: n @int64<4; w: 4
grad.max_pool2d_backward(g, x, pool_size=[2, 2]) | g: m n 2 2; x: m n 3 3
grad.avg_pool2d_backward(g, x, pool_size=[2, 2]) | g: m n 2 2; x: m n 3 3
grad.take_backward(g, x, i, axis=1) | g: n m; x: n k; i: m @int64<k
image.resize2d(x, [3, 5]) | x: m n 2 4
image.resize2d(x, [3, 2], method="nearest_neighbor", coordinate_transformation_mode="asymmetric") | x: m n 2 4
image.resize2d(x, [3, 2], method="cubic") | x: m n 2 4
image.resize3d(x, [3, 1, 2]) | x: m n 2 2 3
image.grid_sample(x, g) | x: m n 3 2; g: m 2 2 2
image.affine_grid(x, [2, 3]) | x: n 2 3
vision.roi_align(x, r, pooled_size=[2, 1], spatial_scale=0.5) | x: 2 n 3 4; r: 2 5 @=0,1,1,4,5,1,0,0.5,3,9
vision.roi_pool(x, r, pooled_size=[2, 1], spatial_scale=0.5) | x: 2 n 3 4; r: 2 5 @=0,1,1,4,5,1,0,0.5,3,9
vision.multibox_transform_loc(c, l, a) | c: m 2 3; l: m 12; a: 1 3 4
vision.get_valid_counts(x) | x: m n 6
vision.non_max_suppression(x, c, i) | x: m n 6; c: m @int32<n; i: m n @int32<9
vision.non_max_suppression(x, c, i, soft_nms_sigma=0.5, id_index=-1) | x: m n 6; c: m @int32<n; i: m n @int32
vision.all_class_non_max_suppression(b, s, k, o, t) | b: m n 4; s: m 2 n; k: - @int64=2; o: 1 @float32=1; t: 1 @float16
"""


@dataclass(frozen=True)
class Param:
    """An argument: its extents, and its dtype where it does not vary; below `bound` are indices, `values` are all."""

    name: str
    extents: tuple[str, ...]
    dtype: str = ""
    bound: str = ""
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class Row:
    """A call of an operator."""

    operator: str
    call: str
    params: tuple[Param, ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """The extents that may be 0."""
        return tuple(dict.fromkeys(one for param in self.params for one in param.extents if one in EXTENTS))


def _param(text: str) -> Param:
    name, _, rest = (part.strip() for part in text.partition(":"))
    shape, _, kind = (part.strip() for part in rest.partition("@"))
    extents = () if shape == "-" else tuple(shape.split())
    if "<" in kind:
        dtype, _, bound = kind.partition("<")
        return Param(name, extents, dtype, bound)
    dtype, _, values = kind.partition("=")
    return Param(name, extents, dtype, values=tuple(float(one) for one in values.split(",")) if values else ())


def _row(text: str) -> Row:
    call, _, params = text.rpartition(" | ")
    return Row(call.partition("(")[0], call, tuple(_param(one) for one in params.split(";")))


def _from_signatures(written: set[str]) -> Iterator[Row]:
    """Rows of operators of one tensor, and of two that are broadcast."""
    for name, operator in OPERATORS.items():
        needed = [one for one in operator.parameters.values() if one.default is one.empty]
        names = [one.name for one in needed]
        if operator.reason or name in written:
            continue
        if names == ["a", "b"]:
            yield _row(f"{name}(a, b) | a: n k; b: k")
        elif len(names) == 1:
            yield _row(f"{name}(x) | x: n k")


@cache
def rows() -> tuple[Row, ...]:
    """All of them."""
    written = tuple(_row(line) for line in ROWS.strip().splitlines())
    return (*written, *_from_signatures({row.operator for row in written}))
