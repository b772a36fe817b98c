"""`tvm.relax.frontend.nn.llm.kv_cache`: a cache of keys and values as a value of a model that is exported.

The methods of a cache are calls of functions of TVM's runtime, as TVM exports them; a run refuses them by name (RM504).
What makes a cache, with its kernels, is refused when it is called.
"""

from typing import NoReturn

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.te import Value
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.nodes import extent
from refmlc.tvm.relax.call_constructors import call_dps_packed
from refmlc.tvm.relax.constructors import prim_value, tensor_type
from refmlc.tvm.relax.frontend.nn.tensor import Object, Tensor, single

__all__ = ["FlashInferPagedKVCache", "PagedKVCache", "TIRPagedKVCache"]

_PREFIX = "vm.builtin.attention_kv_cache_"
_OTHERS = ("append_mla_kv", "cross_attention", "get_query_positions", "merge_attn_output_inplace", "self_attention")


class PagedKVCache(Object):
    """A cache, as a value that functions take and give back."""

    def attention_with_fused_qkv(self, layer_id: int, qkv: Tensor, num_qo_heads: int, sm_scale: float) -> Tensor:
        """Attention of the queries in `qkv` with the keys and values there and in the cache of a layer.

        Shapes: `qkv` (b, s, heads of queries, keys and values, d); the result (b, s, num_qo_heads, d).
        """
        b, s, heads, d = qkv.shape
        rows = _product(b, s)
        flat = qkv.reshape(rows, heads, d)
        out = self._attended("attention_with_fused_qkv", layer_id, sm_scale, [flat], (rows, num_qo_heads, d))
        return out.reshape(b, s, num_qo_heads, d)

    def attention_with_shared_kv(
        self, source_layer_id: int, q: Tensor, current_k: Tensor, current_v: Tensor, sm_scale: float
    ) -> Tensor:
        """Attention with the keys and values of another layer. Shapes: (b, s, heads, d) of each."""
        b, s, heads, d = q.shape
        kv_heads, d_v, rows = current_k.shape[2], current_v.shape[3], _product(b, s)
        tensors = [
            q.reshape(rows, heads, d),
            current_k.reshape(rows, kv_heads, d),
            current_v.reshape(rows, kv_heads, d_v),
        ]
        out = self._attended("attention_with_shared_kv", source_layer_id, sm_scale, tensors, (rows, heads, d_v))
        return out.reshape(b, s, heads, d_v)

    def _attended(
        self, name: str, layer: int, scale: float, tensors: list[Tensor], shape: tuple[object, ...]
    ) -> Tensor:
        """A call of a function of the cache on tensors."""
        args = [self.expr, prim_value(layer), prim_value(scale), *(item.expr for item in tensors)]
        call = call_dps_packed(f"{_PREFIX}{name}", args, tensor_type(shape, tensors[0].dtype))
        return single(call, "lv")

    def __getattr__(self, name: str) -> NoReturn:
        if name in _OTHERS:
            raise fail(
                UNSUPPORTED_CONSTRUCT,
                f"`PagedKVCache.{name}` is not supported: refmlc exports attention with `qkv` in one tensor",
            )
        raise AttributeError(f"'PagedKVCache' object has no attribute {name!r}")


def _product(b: int | Value, s: int | Value) -> int | Value:
    """`b * s`, as TVM's exporter simplifies it."""
    if isinstance(b, int) and isinstance(s, int):
        return b * s
    for one, other in ((b, s), (s, b)):
        if isinstance(one, int) and one == 1:
            return other
    return Value((Value(extent(b)) * s).expr)


class TIRPagedKVCache(PagedKVCache):
    """A cache whose kernels are TensorIR functions of TVM."""

    def __init__(self, **_: object) -> None:
        """Fails: RM504."""
        kind = type(self).__name__
        raise fail(UNSUPPORTED_CONSTRUCT, f"`{kind}` is not supported: its kernels are TVM's programs for GPUs")


class FlashInferPagedKVCache(TIRPagedKVCache):
    """A cache whose kernels are those of FlashInfer."""


__getattr__ = refusal(__name__, __all__)
