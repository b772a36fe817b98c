"""For test-suites: two programs mean the same, a program is defined; Hypothesis profiles; the pytest plugin.

>>> from refmlc.testing import assert_defined, assert_equivalent
>>> before = '''
... @T.prim_func(s_tir=True)
... def main(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
...     n = T.int32()
...     for i in range(n):
...         B[i] = A[i] * T.float32(2)
... '''
>>> assert_defined(before)
>>> assert_equivalent(before, before.replace("A[i] * T.float32(2)", "A[i] + A[i]"))
>>> assert_equivalent(before, before.replace("range(n)", "range(n - 1)"))  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
refmlc.oracle.refine.assertions.Inequivalent: error[RM705]: the program before is defined, ...

| file       | holds                                                                                  |
|------------|----------------------------------------------------------------------------------------|
| `profiles` | Hypothesis profiles `ci`, `dev`, `soak`                                                |
| `plugin`   | for pytest: failures as text instead of a traceback, `--refmlc-calls`, `--refmlc-seed` |

The assertions, `Validation` (steps of a schedule validated by running) and what they raise are defined in
`refmlc.oracle.refine`.

The names load lazily, as pytest imports the plugin at each start.
"""

from typing import TYPE_CHECKING

from refmlc.lazy import attach

if TYPE_CHECKING:
    from refmlc.oracle.refine.assertions import (
        Inequivalent,
        InvalidStep,
        NotDefined,
        Validation,
        assert_defined,
        assert_equivalent,
    )

__all__ = ["Inequivalent", "InvalidStep", "NotDefined", "Validation", "assert_defined", "assert_equivalent"]

__getattr__, __dir__ = attach(
    __name__,
    {
        "refmlc.oracle.refine.assertions": tuple(__all__),
    },
)
