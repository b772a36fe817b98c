"""A program in refmlc's virtual machine: its calls, results, and tier."""

import numpy as np

from refmlc.lang.ir import tir
from refmlc.lang.wellformed.reader_checks import read
from refmlc.native.options import Grade
from refmlc.run.memory.tensor import Tensor
from refmlc.tools.bench.witness import Array
from refmlc.tools.bench.workloads import Workload
from refmlc.vm import VirtualMachine, build
from refmlc.vm.tiers import Tier


class Subject:
    """A workload, built for a tier. Its function is called from Python with arrays, checked as every call is."""

    def __init__(self, workload: Workload, tier: str) -> None:
        module = read(workload.text, f"{workload.name}.py")
        self._executable = build(module, tier=tier)
        self._function = VirtualMachine(self._executable)[workload.func]
        self._out = (
            np.zeros_like(workload.output) if isinstance(module.functions[workload.func], tir.PrimFunc) else None
        )
        self._arguments = workload.inputs if self._out is None else (*workload.inputs, self._out)

    def run(self) -> object:
        """One call."""
        return self._function(*self._arguments)

    def result(self) -> Array:
        """The result of a call."""
        value = self.run()
        if self._out is not None:
            return self._out
        if not isinstance(value, Tensor):
            raise TypeError(f"a tensor is expected, {type(value).__name__} is given")
        return value.numpy()

    def interpreted(self) -> str:
        """Which prim_funcs are not in C, and why; empty where all are."""
        report = self._executable.report
        functions = self._executable.module.functions
        prims = [name for name, function in functions.items() if isinstance(function, tir.PrimFunc)]
        left = [f"`{name}` is interpreted: {report[name].reason}" for name in prims if report[name].tier is Tier.INTERP]
        return "; ".join(left)

    def grades(self) -> str:
        """The blocks that are not reordered, with their grades; empty where all are."""
        units = [report.unit for report in self._executable.report.values() if report.unit is not None]
        blocks = [block for unit in units for block in unit.blocks if block.grade is not Grade.REORDERED]
        return ", ".join(f"`{block.name}` {block.grade.name.lower()}" for block in blocks)
