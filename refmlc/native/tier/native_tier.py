"""The native tier of one virtual machine: functions and runs of bindings of a compiled module, ready to be called."""

from collections.abc import Callable, Sequence

import numpy as np

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.native.entries import whole_function
from refmlc.native.tier.cached_calls import cached_function, cached_prim_func
from refmlc.native.tier.compiled_module import CompiledModule
from refmlc.native.tier.fused_call import FusedCall
from refmlc.native.tier.native_call import Counts, NativeCall, State
from refmlc.native.tier.tier_switch import CachedCall
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.substitutes import Prepared
from refmlc.run.memory.budget import Budget


class NativeTier:
    """The functions of a compiled module, for calls that use up `budget`. Not for concurrent use."""

    def __init__(self, module: IRModule, compiled: CompiledModule, budget: Budget, state: State | None = None) -> None:
        """`state`: of the tier that this one comes after."""
        self._module = module
        self.compiled = compiled
        self._state = State(budget) if state is None else state
        self._calls: dict[str, NativeCall] = {}
        self._fused: dict[str, FusedCall] = {}

    def exchanged(self, compiled: CompiledModule) -> "NativeTier":
        """The tier with other code in its place; calls that are being made end in this one."""
        return NativeTier(self._module, compiled, self._state.budget, self._state)

    @property
    def is_final(self) -> bool:
        """Whether no better code is to come."""
        return not self.compiled.is_quick

    @property
    def counts(self) -> Counts:
        """The calls so far."""
        return self._state.counts

    def function(self, name: str, interpreted: Callable[[], Prepared]) -> Prepared:
        """The prim_func `name` in C, or as it is `interpreted` where it is not in C."""
        if name in self._calls:
            return self._calls[name]
        func = self._module.functions[name]
        if self.compiled.unit(name) is None or not isinstance(func, tir.PrimFunc):
            return interpreted()
        call = self._calls[name] = NativeCall(name, func, self.compiled, self._state, interpreted)
        return call

    def block(self, block: relax.Block) -> dict[int, FusedCall]:
        """The runs of bindings of `block` in C, by the number of the first binding."""
        runs = [run for run in self.compiled.runs if run.block is block]
        for run in runs:
            if run.symbol not in self._fused:
                self._fused[run.symbol] = FusedCall(run, self.compiled, self._state)
        return {run.start: self._fused[run.symbol] for run in runs}

    def cached_call(
        self, machine: Machine, name: str, args: Sequence[object], evict: Callable[[], None]
    ) -> CachedCall | None:
        """A cached call of the function `name` on `machine` for arguments like `args`; None: it has none.

        The call runs `evict` when a better one can be made.
        """
        arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
        if len(arrays) != len(args) or self._state.budget.max_seconds is not None:
            return None
        if name in self._calls:
            return cached_prim_func(machine, self._state, self._calls[name], arrays, evict)
        function = self._module.functions[name]
        if not isinstance(function, relax.Function):
            return None
        for call in self._fused.values():
            if call.run.function == name and whole_function(call.run, function) is not None:
                return cached_function(machine, self._state, call, (function, arrays), evict)
        return None
