"""Weights of an imported model: as the attribute `params` of its function, and taken out of it (`detach_params`)."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.ir import IRModule, relax
from refmlc.run.memory.tensor import Tensor
from refmlc.tvm.arrays import tensor
from refmlc.tvm.relax.constructors import const


def with_params(module: IRModule, values: Mapping[str, np.ndarray]) -> IRModule:
    """The module whose `main` has the values of its last parameters as an attribute, in their order."""
    main = module["main"]
    if not isinstance(main, relax.Function):
        raise fail(BAD_ARGUMENTS, "the module has no Relax function `main`")
    weights = tuple(const(values[param.name]) for param in main.params if param.name in values)
    return replace(module, functions={**module.functions, "main": main.with_attr("params", weights)})


def detach_params(mod: IRModule) -> tuple[IRModule, dict[str, list[Tensor]]]:
    """The module without its weights, and the weights by function. Fails: RM105 where an attribute is no weight."""
    functions, params = dict(mod.functions), {}
    for name, func in mod.functions.items():
        weights = func.attrs.get("params") if isinstance(func, relax.Function) else None
        if not isinstance(func, relax.Function) or not isinstance(weights, tuple):
            continue
        params[name] = [_tensor(weight) for weight in weights]
        functions[name] = func.without_attr("params")
    return replace(mod, functions=functions), params


def _tensor(weight: object) -> Tensor:
    if not isinstance(weight, relax.Constant):
        raise fail(BAD_ARGUMENTS, f"the attribute `params` holds tensors; this is {type(weight).__name__}")
    return tensor(weight.data)
