"""`tvm.relax.frontend.nn.llm`: parts of language models; `kv_cache` has the caches."""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.frontend.nn.llm import kv_cache
from refmlc.tvm.relax.frontend.nn.llm.kv_cache import PagedKVCache

__all__ = ["PagedKVCache", "kv_cache"]

_KERNELS = "it makes kernels of TVM for GPUs"

__getattr__ = refusal(
    __name__, __all__, reasons=dict.fromkeys(("llama_rope", "position_embedding", "tree_attn"), _KERNELS)
)
