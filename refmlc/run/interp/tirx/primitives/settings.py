"""The keys of `config` (TIP-004): those that choose a way, and those that would choose a value.

| key                 | of                        | effect                                                            |
|---------------------|---------------------------|-------------------------------------------------------------------|
| a key of `TUNING`   | any                       | none on values                                                    |
| `rounding_mode`     | `ROUNDED`                 | `"rn"` is the rounding of TIP-003; others are unsupported         |
| `thread_reduce`     | `sum`, `max`, `min`       | TIP-033                                                           |
| any other           | any                       | unsupported: it may change the value, or what is accessed         |
"""

from collections.abc import Mapping

TUNING = frozenset(
    (
        *("vec_len", "max_inst_size"),
        *("cache", "l1_evict", "l2_evict", "prefetch_size", "cache_hint", "cache_policy"),
        *("prefetch_tensormap", "tensormap_l2_promotion"),
    )
)
"""Widths, sizes of instructions, caches: what TVM's variants read and no value depends on."""

ROUNDED = frozenset(("add", "sub", "mul", "fma"))
"""Operators whose packed form on CUDA reads `rounding_mode`."""

REDUCING = frozenset(("sum", "max", "min"))
NEAREST = "rn"


def refused(op: str, config: Mapping[str, object]) -> str:
    """What a setting asks for that is not executed; empty: nothing."""
    for key, value in config.items():
        if key in TUNING or (key == "thread_reduce" and op in REDUCING):
            continue
        if key == "rounding_mode" and op in ROUNDED:
            if value in (NEAREST, None):
                continue
            return f"`{key}={value!r}`: another rounding than to nearest, ties to even"
        return f"the setting `{key}`, which may change what it computes"
    return ""
