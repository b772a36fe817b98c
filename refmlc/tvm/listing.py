"""The modules that a program made, as one text: what `python -m refmlc.tvm --show FILE` prints.

| value of a name at the top level          | in the text                                        |
|-------------------------------------------|----------------------------------------------------|
| an `IRModule`                             | a class of that name                               |
| a function of TensorIR or Relax           | a function of that name, in one class for them all |
| anything else, a name that begins with `_` | nothing                                           |

A value with several names has the first.
"""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.script import show

FUNCTIONS = "Functions"
"""The name of the class that holds functions."""


def modules_of(names: Mapping[str, object]) -> list[IRModule]:
    """The modules among the values of `names`, and one of the functions among them."""
    kinds = (IRModule, tir.PrimFunc, relax.Function)
    first: dict[int, str] = {}
    for name, value in names.items():
        if isinstance(value, kinds) and not name.startswith("_"):
            first.setdefault(id(value), name)
    values = {name: names[name] for name in first.values()}
    modules = [replace(value, name=name) for name, value in values.items() if isinstance(value, IRModule)]
    functions = {name: value for name, value in values.items() if isinstance(value, (tir.PrimFunc, relax.Function))}
    return [*modules, IRModule(functions, name=FUNCTIONS)] if functions else modules


def listing(names: Mapping[str, object]) -> str:
    """The text of all modules, empty where there is none; refmlc reads it."""
    return "\n\n".join(show(module, show_meta=True) for module in modules_of(names))
