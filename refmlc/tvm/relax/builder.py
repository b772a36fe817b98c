"""`relax.BlockBuilder`: the builder; in programs of 2022 its functions are as they were made then."""

from collections.abc import Callable

from refmlc.lang.builder import BlockBuilder as Builder
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.tvm.former import as_2022, is_2022, ranked
from refmlc.tvm.topi.names import Function


class BlockBuilder(Builder):
    """Builds one module. Not for concurrent use."""

    _operator = ""

    def call_te(
        self, func: Callable[..., object], *args: object, primfunc_name_hint: str | None = None, **kwargs: object
    ) -> relax.Call:
        """The call alone; the function is added to the module, or an equal one of it is taken."""
        operator = func.operator if isinstance(func, Function) else None
        self._operator = "" if operator is None else operator.name
        return super().call_te(func, *args, primfunc_name_hint=primfunc_name_hint, **kwargs)

    def add_func(self, func: "tir.PrimFunc | relax.Function | relax.ExternFunc", name: str) -> tir.GlobalVar:
        """Add a function under `name`, with a number where that is taken; an equal one there is is taken instead."""
        if is_2022() and isinstance(func, tir.PrimFunc) and func.private:
            func = as_2022(func, None, emitted=True, operator=self._operator)
        return super().add_func(func, name)

    def get(self) -> IRModule:
        """The module so far. Fails: RM112 while a function is open."""
        return ranked(super().get()) if is_2022() else super().get()

    finalize = get
