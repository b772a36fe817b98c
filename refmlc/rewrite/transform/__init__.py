"""Modules made from modules: one file for each transform, with what it keeps.

| transform                 | file              | what it does                                                     |
|---------------------------|-------------------|------------------------------------------------------------------|
| `legalize_ops`            | `legalize`        | operators become calls of TensorIR functions                     |
| `annotate_tir_op_pattern` | `pattern`         | functions say what kind they are of                              |
| `fuse_ops`                | `operator_fusion` | groups of calls become functions of Relax, by kind or by pattern |
| which calls those are     | `grouping`        | the kinds that may follow one another                            |
| `fuse_tir`                | `tir_fusion`      | these become TensorIR functions                                  |
| `dead_code_elimination`   | `dead_code`       | what nothing needs is dropped                                    |
| `normalize`               | `normal_form`     | nothing is nested, variables have types                          |
| `deduced`                 | `deduce`          | regions and return types that the text leaves out                |

`bind_params` and `fold_constant` are of `refmlc.vm`: they take arrays, and execute. Steps within one TensorIR function
are of `refmlc.rewrite.schedule`.
"""

from typing import TYPE_CHECKING

from refmlc.lazy import attach

if TYPE_CHECKING:
    from refmlc.rewrite.transform.dead_code import dead_code_elimination
    from refmlc.rewrite.transform.deduce import deduced, deduced_function
    from refmlc.rewrite.transform.legalize import legalize_ops
    from refmlc.rewrite.transform.normal_form import normalize
    from refmlc.rewrite.transform.operator_fusion import fuse_ops
    from refmlc.rewrite.transform.pattern import annotate_tir_op_pattern
    from refmlc.rewrite.transform.tir_fusion import fuse_tir

__all__ = [
    "annotate_tir_op_pattern",
    "dead_code_elimination",
    "deduced",
    "deduced_function",
    "fuse_ops",
    "fuse_tir",
    "legalize_ops",
    "normalize",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "refmlc.rewrite.transform.dead_code": ("dead_code_elimination",),
        "refmlc.rewrite.transform.deduce": (
            "deduced",
            "deduced_function",
        ),
        "refmlc.rewrite.transform.operator_fusion": ("fuse_ops",),
        "refmlc.rewrite.transform.tir_fusion": ("fuse_tir",),
        "refmlc.rewrite.transform.legalize": ("legalize_ops",),
        "refmlc.rewrite.transform.normal_form": ("normalize",),
        "refmlc.rewrite.transform.pattern": ("annotate_tir_op_pattern",),
    },
)
