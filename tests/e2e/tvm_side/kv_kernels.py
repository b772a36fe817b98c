"""Runs where TVM is: writes the paged key-value kernels that TVM 0.27 prints into files, one per kernel and target.

    PYTHON kv_kernels.py FOLDER [TARGET…]

| target | kind  | as                                                   |
|--------|-------|------------------------------------------------------|
| cpu    | llvm  | `llvm`                                               |
| cuda   | cuda  | 1024 threads per block, 48 KiB of shared memory      |
| metal  | metal | 256 threads per block                                |

The sizes are the smallest that every kernel takes: 4 query heads, 2 key-value heads, 32 elements each, pages of 16.
A kernel that the target does not have is printed as the generic one of TVM, which `kv_cache` uses for it too.
"""

import json
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

import tvm
from tvm.relax.frontend.nn.llm import kv_cache
from tvm.target import Target

trees = import_module("tvm.relax.frontend.nn.llm.tree_attn")  # the package has a function of this name

TARGETS = {
    "cpu": "llvm",
    "cuda": {
        "kind": "cuda",
        "max_threads_per_block": 1024,
        "max_num_threads": 1024,
        "thread_warp_size": 32,
        "max_shared_memory_per_block": 49152,
        "arch": "sm_80",
    },
    "metal": {
        "kind": "metal",
        "max_threads_per_block": 256,
        "max_num_threads": 256,
        "thread_warp_size": 32,
        "max_shared_memory_per_block": 32768,
    },
}
KV, QO, D, PAGE = 2, 4, 32, 16
DTYPE = "float32"
SCALING: Mapping[str, object] = {}


def kernels(name: str, target: Target) -> dict[str, Callable[[], object]]:
    """What prints each of the 15 kernels."""
    cpu = name == "cpu"
    k = kv_cache
    return {
        "transpose_append": lambda: k._kv_cache_transpose_append(KV, D, DTYPE),
        "transpose_append_mla": lambda: k._kv_cache_transpose_append_mla(D, DTYPE),
        "prefill_ragged": lambda: (
            k._attention_prefill_ragged_cpu(KV, QO, D, D, DTYPE, SCALING)
            if cpu
            else k._attention_prefill_ragged(KV, QO, D, D, DTYPE, SCALING, target)
        ),
        "prefill": lambda: (
            k._attention_prefill_cpu(KV, QO, D, DTYPE, False, SCALING)
            if cpu
            else k._attention_prefill(KV, QO, D, DTYPE, False, SCALING, target)
        ),
        "prefill_sliding": lambda: (
            k._attention_prefill_cpu(KV, QO, D, DTYPE, True, SCALING)
            if cpu
            else k._attention_prefill(KV, QO, D, DTYPE, True, SCALING, target)
        ),
        "decode": lambda: (
            k._attention_decode_cpu(KV, QO, D, DTYPE, False, SCALING)
            if cpu
            else k._attention_decode(KV, QO, D, DTYPE, False, SCALING, target)
        ),
        "decode_sliding": lambda: (
            k._attention_decode_cpu(KV, QO, D, DTYPE, True, SCALING)
            if cpu
            else k._attention_decode(KV, QO, D, DTYPE, True, SCALING, target)
        ),
        "tree": lambda: (
            trees.tree_attn_cpu(KV, QO, D, DTYPE, SCALING)
            if cpu
            else trees.tree_attn(KV, QO, D, DTYPE, SCALING, target)
        ),
        "tree_paged": lambda: (
            trees.tree_attn_with_paged_kv_cache_cpu(KV, QO, D, DTYPE, SCALING)
            if cpu
            else trees.tree_attn_with_paged_kv_cache(KV, QO, D, DTYPE, SCALING, target)
        ),
        "prefill_mla": lambda: k._attention_prefill_mla(QO, D, D, DTYPE, False, target),
        "merge_state": lambda: (
            k._merge_state_inplace_cpu(DTYPE) if cpu else k._merge_state_inplace(QO, D, DTYPE, target, "merge_state")
        ),
        "rope": lambda: k.llama_rope_with_position_map(10000, 1, D, QO, KV, DTYPE, SCALING, D),
        "copy_single_page": lambda: (
            k._copy_single_page_cpu(KV, PAGE, D, DTYPE) if cpu else k._copy_single_page(KV, PAGE, D, DTYPE, target)
        ),
        "debug_get_kv": lambda: k._kv_cache_debug_get_kv(2, KV, D, DTYPE),
        "debug_get_kv_mla": lambda: k._kv_cache_debug_get_kv_mla(2, D, DTYPE),
        "compact_copy": lambda: (
            k._compact_kv_copy_cpu(KV, D, DTYPE) if cpu else k._compact_kv_copy(KV, D, DTYPE, target)
        ),
    }


def main(folder: Path, names: list[str]) -> None:
    """Write the files, and print what was written and what TVM refused, as JSON."""
    result: dict[str, str] = {}
    for name in names:
        target = Target(TARGETS[name])
        for kernel, make in kernels(name, target).items():
            try:
                func = make()
                text = tvm.IRModule({"main": func}).script()
            except Exception as problem:
                result[f"{name}/{kernel}"] = f"{type(problem).__name__}: {problem}"[:300]
                continue
            file = folder / name / f"{kernel}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            result[f"{name}/{kernel}"] = ""
    json.dump(result, sys.stdout, indent=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(TARGETS))
