"""Runs of calls of a block as one C function, with the memory between the calls planned ahead.

| module   | does                                                                           |
|----------|--------------------------------------------------------------------------------|
| `plan`   | what the caller must know of each                                              |
| `runs`   | which bindings are executed together                                           |
| `step`   | one call: what its callee declares against what the graph gives                |
| `sizes`  | expressions of symbolic dimensions                                             |
| `memory` | where what lives between the calls lies                                        |
| `text`   | the C function                                                                 |
| `module` | all runs of a module                                                           |
| `static` | functions and runs once more, for dimensions that are known                    |
"""

from refmlc.native.fuse.module import fuse_module
from refmlc.native.fuse.plan import Fused, Operand, Plan, UnfusedBinding
from refmlc.native.fuse.static import fuse_static, with_dims

__all__ = ["Fused", "Operand", "Plan", "UnfusedBinding", "fuse_module", "fuse_static", "with_dims"]
