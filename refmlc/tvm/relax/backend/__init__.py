"""`tvm.relax.backend`: patterns of other compilers, by name, and the compilers whose tables are here.

| module            | registers                                                                                      |
|-------------------|------------------------------------------------------------------------------------------------|
| `pattern_registry` | nothing: it is the registry                                                                   |
| `contrib`         | `example_npu`, `tensorrt`, when they are imported                                               |
| `cuda`            | `cublas`, when it is imported                                                                   |

A pattern says which part of a module a compiler would take. refmlc has none of these compilers: `RunCodegen` refuses.
"""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.backend.pattern_registry import get_pattern, get_patterns_with_prefix, register_patterns

__all__ = ["get_pattern", "get_patterns_with_prefix", "register_patterns"]

_MODULES = ("contrib", "cuda", "pattern_registry")
__getattr__ = refusal(__name__, __all__, {name: f"refmlc.tvm.relax.backend.{name}" for name in _MODULES})
