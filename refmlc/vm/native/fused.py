"""A run of bindings of a dataflow block in C: the tensors that come in, fresh ones that go out, memory in between.

Only fresh memory is written, so where C stops the interpreter executes the bindings, and nothing has to be put back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from refmlc.codegen.build import CFunction
from refmlc.codegen.fuse.plan import Fused, Operand
from refmlc.codegen.unit import Status
from refmlc.interp.graph.activation import Activation
from refmlc.ir import relax, tir
from refmlc.ir.visit import walk
from refmlc.runtime.cells import cell_size
from refmlc.runtime.tensor import Tensor
from refmlc.vm.dims import Dims, known
from refmlc.vm.native.calls import State
from refmlc.vm.native.fitting import MOST_EXTENT, address_of

MOST_SHAPES: Final = 64


@dataclass(frozen=True, slots=True)
class Resolved:
    """What the expressions of a plan come to for one binding of the symbolic dimensions. Units: bytes."""

    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    numbers: tuple[int, ...]
    workspace: int
    allocated: int


class FusedCall:
    """A run of bindings as a callable on activations. Not for concurrent use."""

    def __init__(self, run: Fused, function: CFunction, state: State) -> None:
        """Prepare what does not depend on the activation."""
        self.run = run
        self._function = function
        self._state = state
        self._constants = {
            operand.value: Tensor.from_numpy(operand.value.data, operand.dtype, origin="a constant")
            for operand in run.inputs
            if isinstance(operand.value, relax.Constant)
        }
        self._origins = [origin_of(run, operand) for operand in run.outputs]
        self._vars = _variables(run)
        self._remembered: dict[tuple[object, ...], Resolved | None] = {}

    def __call__(self, env: Activation) -> int:
        """Execute the bindings; how many: all of them or, where C declines or stops, none. Fails: RM601, RM605."""
        resolved = self._resolved(env)
        pointers = None if resolved is None else self._inputs(env, resolved)
        fuel = self._state.provide()
        budget, counts = self._state.budget, self._state.counts
        room = budget.max_bytes - budget.bytes
        if resolved is None or pointers is None or not fuel or budget.depth >= budget.max_depth:
            counts.declined += 1
            return 0
        if resolved.allocated > room:
            counts.declined += 1
            return 0
        status, made = self._call(resolved, pointers)
        if status == Status.FUEL_EXHAUSTED:
            raise budget.out_of_fuel(self.run.block.bindings[self.run.start].span)
        if status != Status.DONE:
            counts.stopped += 1
            return 0
        counts.native += 1
        count = self.run.stop - self.run.start
        budget.charge_fuel(fuel - self._state.run.fuel, count + len(self.run.calls))
        for operand, tensor in zip(self.run.outputs, made, strict=True):
            tensor.mark_initialised()
            if isinstance(operand.value, relax.Var):
                env.values[operand.value] = tensor
        return count

    def _call(self, resolved: Resolved, pointers: list[object]) -> tuple[int, list[Tensor]]:
        """The status, and the outputs."""
        state = self._state
        made = [
            Tensor.empty(shape, operand.dtype, origin=origin, budget=state.budget)
            for operand, shape, origin in zip(self.run.outputs, resolved.outputs, self._origins, strict=True)
        ]
        passed = [*pointers, *map(address_of, made), state.workspace(resolved.workspace), *resolved.numbers]
        return self._function(state.run, *passed), made

    def _inputs(self, env: Activation, resolved: Resolved) -> list[object] | None:
        """Pointers to the inputs; None where one does not surely fit."""
        pointers: list[object] = []
        for operand, shape in zip(self.run.inputs, resolved.inputs, strict=True):
            value = operand.value
            found: Any = env.values.get(value) if isinstance(value, relax.Var) else self._constants[value]
            fits = isinstance(found, Tensor) and found.dtype == operand.dtype and found.shape == shape
            if not fits or found.strides is not None or not found.storage.alive or not found.initialised:
                return None
            pointer = address_of(found)
            if pointer is None:
                return None
            pointers.append(pointer)
        return pointers

    def _resolved(self, env: Activation) -> Resolved | None:
        """The plan for the dimensions that `env` knows; None where it does not hold for them."""
        key = tuple([env.dims.get(var) for var in self._vars])
        if key not in self._remembered:
            if len(self._remembered) >= MOST_SHAPES:
                self._remembered.clear()
            dims = {var: value for var, value in zip(self._vars, key, strict=True) if isinstance(value, int)}
            self._remembered[key] = resolve(self.run, dims) if len(dims) == len(key) else None
        return self._remembered[key]


def resolve(run: Fused, dims: Dims) -> Resolved | None:
    """The plan for these dimensions; None where it does not hold."""
    if not all(0 <= size <= MOST_EXTENT for size in dims.values()):
        return None
    if any(known(one, dims) is None or known(one, dims) != known(other, dims) for one, other in run.equal):
        return None
    inputs, outputs = _shapes(run.inputs, dims), _shapes(run.outputs, dims)
    numbers = _values((*run.numbers, run.workspace, run.allocated), dims)
    if inputs is None or outputs is None or numbers is None:
        return None
    cells = [cell_size(each.dtype) * each.dtype.lanes for each in run.outputs]
    sizes = tuple([prod(shape) * size for shape, size in zip(outputs, cells, strict=True)])
    return Resolved(inputs, outputs, sizes, numbers[:-2], *numbers[-2:])


def _shapes(operands: Sequence[Operand], dims: Dims) -> tuple[tuple[int, ...], ...] | None:
    shapes = [_values(operand.shape, dims) for operand in operands]
    found = tuple([shape for shape in shapes if shape is not None])
    return found if len(found) == len(shapes) else None


def _values(exprs: Iterable[tir.Expr], dims: Dims) -> tuple[int, ...] | None:
    """The values of expressions; None where one has none, or a negative one."""
    values = [known(expr, dims) for expr in exprs]
    found = tuple([value for value in values if value is not None and value >= 0])
    return found if len(found) == len(values) else None


def _variables(run: Fused) -> tuple[tir.Var, ...]:
    """The symbolic dimensions that the plan depends on."""
    shapes = [part for operand in (*run.inputs, *run.outputs) for part in operand.shape]
    pairs = [part for pair in run.equal for part in pair]
    exprs = (*shapes, *pairs, *run.numbers, run.workspace, run.allocated)
    return tuple(dict.fromkeys(node for expr in exprs for node in walk(expr) if isinstance(node, tir.Var)))


def origin_of(run: Fused, operand: Operand) -> str:
    """What allocates an output, as messages say it."""
    for binding in run.block.bindings[run.start : run.stop]:
        if binding.var is operand.value and isinstance(binding.value, relax.Call):
            callee = binding.value.args[0] if binding.value.args else None
            return f"`{callee.name}`" if isinstance(callee, tir.GlobalVar) else ""
    return ""
