"""Names that are loaded on first use: the only file that imports modules of refmlc by their names.

| function   | serves                                                                                         |
|------------|------------------------------------------------------------------------------------------------|
| `load`     | the object at `package.module:name`                                                            |
| `attach`   | the attributes of a package that loads its modules on first use, so that importing it is quick |
| `provide`  | the root of refmlc, which knows all rooms: what a lower room calls and a higher one defines    |
| `provided` | the lower room: the function that is provided under a name                                     |

Every place is written out as a string, so that the check of the layers sees these edges too (`tests/meta`).
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

_PROVIDED: dict[str, str] = {}


def load(place: str) -> Any:  # noqa: ANN401 - whatever stands there; the caller names its type
    """The object at `package.module:name`, or the module `package.module`. Fails: ImportError, AttributeError."""
    module, _, name = place.partition(":")
    loaded = import_module(module)
    return getattr(loaded, name) if name else loaded


def attach(package: str, homes: Mapping[str, Sequence[str]]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose names are defined in modules: `homes` has the names by module."""
    modules = {name: module for module, names in homes.items() for name in names}

    def attribute(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = load(f"{modules[name]}:{name}")
        setattr(sys.modules[package], name, value)
        return value

    return attribute, lambda: sorted(modules)


def provide(places: Mapping[str, str]) -> None:
    """Say where the functions are that lower rooms call; nothing is loaded yet."""
    _PROVIDED.update(places)


def provided(name: str) -> Any:  # noqa: ANN401 - as `load`
    """The function that is provided as `name`."""
    return load(_PROVIDED[name])
