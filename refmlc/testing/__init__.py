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
refmlc.testing.failures.Inequivalent: error[RM705]: the program before is defined, ...

| file          | holds                                                                              |
|---------------|------------------------------------------------------------------------------------|
| `assertions`  | the two assertions, and what they raise                                            |
| `refinement`  | when one call of the program after may stand for the call of the program before      |
| `comparison`  | two programs on all calls: the first one that tells them apart, as a finding       |
| `calls`       | the calls that are tried: given, or drawn                                          |
| `smallest`    | a drawn call that fails, made small                                                |
| `failures`    | the exceptions, each with a diagnostic                                             |
| `profiles`    | Hypothesis profiles `ci`, `dev`, `soak`                                            |
| `plugin`      | for pytest: failures as text instead of a traceback, `--refmlc-calls`, `--refmlc-seed` |

The names are looked up when they are first used: pytest loads the plugin at each start.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refmlc.testing.assertions import assert_defined, assert_equivalent
    from refmlc.testing.failures import Inequivalent, NotDefined

__all__ = ["Inequivalent", "NotDefined", "assert_defined", "assert_equivalent"]

_HOME = {
    "Inequivalent": "failures",
    "NotDefined": "failures",
    "assert_defined": "assertions",
    "assert_equivalent": "assertions",
}


def __getattr__(name: str) -> object:
    """The object called `name`, from its module."""
    if name not in _HOME:
        raise AttributeError(f"module 'refmlc.testing' has no attribute {name!r}")
    value: object = getattr(import_module(f"refmlc.testing.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The names of the package."""
    return sorted(__all__)
