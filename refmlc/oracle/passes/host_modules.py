"""Parts of a module put together again: TVM lowers what runs on a device apart from what launches it.

| the stage                                                  | is checked as                                          |
|------------------------------------------------------------|--------------------------------------------------------|
| has some functions of a module with kernels, not all of it | that module, with the stage's functions in their place |
| any other                                                  | itself                                                 |
"""

from dataclasses import replace

from refmlc.lang.ir import IRModule, tir

LAUNCH = "tirx.kernel_launch_params"


class Linker:
    """Knows the last module that was whole."""

    def __init__(self, module: IRModule) -> None:
        self._whole = module

    def linked(self, module: IRModule) -> IRModule:
        """`module`, or the whole that it is a part of."""
        whole = self._whole
        if any(map(is_kernel, whole.functions.values())) and set(module.functions) < set(whole.functions):
            module = replace(whole, functions={**whole.functions, **module.functions})
        self._whole = module
        return module


def is_kernel(func: object) -> bool:
    """Whether it is launched on a device."""
    return isinstance(func, tir.PrimFunc) and LAUNCH in func.attrs
