"""The attributes of modules of `tvm` that are no definitions: members on first use, and one error for all others.

| function  | makes                                                                                        |
|-----------|----------------------------------------------------------------------------------------------|
| `missing` | the error for a name that a module does not have: one message, never a guess                 |
| `refusal` | the `__getattr__` of a module: it loads the members named by their places and refuses others |
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from refmlc.lazy import load

EMPTY: Mapping[str, str] = MappingProxyType({})


def missing(module: str, name: str, names: Iterable[str] = ()) -> AttributeError:
    """The error for `name`, which `module` does not have; `names` are those it has."""
    path = module.removeprefix("refmlc.")
    known = ", ".join(sorted(public for public in names if not public.startswith("_")))
    here = f"; `{path}` has {known}" if known else ""
    return AttributeError(f"`{path}.{name}` is not covered: refmlc reads, builds and runs modules on the CPU{here}")


def refusal(
    module: str, names: Iterable[str], places: Mapping[str, str] = EMPTY, *, reasons: Mapping[str, str] = EMPTY
) -> Callable[[str], object]:
    """`__getattr__` of `module`: members are loaded from their places, any other name is refused, with its reason."""

    def attribute(name: str) -> object:
        if name in places:
            member: object = load(places[name])
            return member
        if name in reasons:
            raise AttributeError(f"`{module.removeprefix('refmlc.')}.{name}` is not covered: {reasons[name]}")
        raise missing(module, name, names)

    return attribute
