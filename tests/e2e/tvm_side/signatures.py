"""The signatures of real TVM's `topi` and `relax.op`, as JSON: `python signatures.py`, in TVM's environment."""

import inspect
import json
import sys

from tvm import relax, topi


def parameters(function):
    empty = inspect.Parameter.empty
    found = inspect.signature(function).parameters.values()
    return [[one.name, "required" if one.default is empty else repr(one.default)] for one in found]


def functions(module, package, prefix=""):
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if name.startswith("_"):
            continue
        if inspect.ismodule(value) and hasattr(value, "__path__") and value.__name__.startswith(f"{package}."):
            yield from functions(value, package, f"{prefix}{name}.") if prefix.count(".") < 2 else ()
        elif inspect.isfunction(value) and value.__module__.startswith(package):
            yield prefix + name, parameters(value)


def of_topi():
    for prefix, module in (("", topi), ("nn.", topi.nn), ("image.", topi.image), ("vision.", topi.vision)):
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if inspect.isfunction(value) and value.__module__.startswith("tvm.topi") and not name.startswith("_"):
                yield prefix + name, parameters(value)


json.dump({"relax.op": dict(functions(relax.op, "tvm.relax.op")), "topi": dict(of_topi())}, sys.stdout)
