"""The part of a module that a call of one function can reach.

A function is reached by its variable, or by a string that is its name or its `global_symbol`: packed calls and tables
of the machine name functions so. Any string of a reached function counts, whatever it is there for: too much is kept,
never too little.
"""

from collections.abc import Iterator
from dataclasses import fields, replace

from refmlc.lang.ir.module import IRModule
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import walk


def reachable(module: IRModule, name: str) -> IRModule:
    """The module without the functions that a call of `name` cannot reach; itself if there are none."""
    if len(module.functions) == 1 and name in module.functions:
        return module
    named: dict[str, list[str]] = {}
    for key, function in module.functions.items():
        for word in {key, str(getattr(function, "attrs", {}).get("global_symbol", key))}:
            named.setdefault(word, []).append(key)
    todo, reached = [name], {name}
    while todo:
        for word in _words(module.functions[todo.pop()]):
            for key in named.get(word, ()):
                if key not in reached:
                    reached.add(key)
                    todo.append(key)
    if len(reached) == len(module.functions):
        return module
    return replace(module, functions={key: value for key, value in module.functions.items() if key in reached})


def _words(function: Node) -> Iterator[str]:
    """Every string in a function, names of variables too."""
    for node in walk(function):
        for part in fields(node):
            value = getattr(node, part.name)
            if isinstance(value, str):
                yield value
