"""For test-suites: two programs mean the same, a program is defined; Hypothesis profiles; the pytest plugin.

    from refmlc.testing import assert_defined, assert_equivalent

    def test_my_pass():
        assert_defined(before)
        assert_equivalent(before, my_pass(before))

| file          | holds                                                                              |
|---------------|------------------------------------------------------------------------------------|
| `assertions`  | the two assertions, and what they raise                                            |
| `refinement`  | when one call of the program after may stand for the call of the program before      |
| `calls`       | the calls that are tried: given, or drawn and made small by Hypothesis               |
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
