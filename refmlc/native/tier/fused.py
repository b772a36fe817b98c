"""A run of bindings of a dataflow block in C: the tensors that come in, fresh ones that go out, memory in between.

Only fresh memory is written, so where C stops the interpreter executes the bindings, and nothing has to be put back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import known
from refmlc.native.fuse.plan import Fused, Operand
from refmlc.native.tier.calls import State
from refmlc.native.tier.compiled import Compiled, c_type_of_fused
from refmlc.native.tier.fitting import MOST_EXTENT, address_of
from refmlc.native.tier.special import Dimensions, Spending
from refmlc.native.tier.watch import fuel_left
from refmlc.native.unit import Status
from refmlc.run.dims import Dims
from refmlc.run.interp.graph.activation import Activation
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.tensor import Tensor

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
    dims: Dimensions = ()


class FusedCall:
    """A run of bindings as a callable on activations. Not for concurrent use."""

    def __init__(self, run: Fused, compiled: Compiled, state: State) -> None:
        """Prepare what does not depend on the activation."""
        self.run = run
        self.compiled = compiled
        self.spending = Spending(self._for_dims)
        self._function = compiled.function(run.symbol, c_type_of_fused(run))
        self._state = state
        self._constants = {
            operand.value: Tensor.from_numpy(operand.value.data, operand.dtype, origin="a constant")
            for operand in run.inputs
            if isinstance(operand.value, relax.Constant)
        }
        self._origins = [origin_of(run, operand) for operand in run.outputs]
        self.variables = _variables(run)
        self._steps = run.stop - run.start + len(run.calls)
        self._remembered: dict[tuple[object, ...], Resolved | None] = {}

    def __call__(self, env: Activation) -> int:
        """Execute the bindings; how many: all of them or, where C declines or stops, none. Fails: RM601, RM605."""
        resolved = self._resolved(env)
        pointers = None if resolved is None else self._inputs(env, resolved)
        if resolved is None or pointers is None:
            self._state.counts.declined += 1
            return 0
        better = self.spending.better(resolved.dims) if resolved.dims else None
        if better is not None:
            return better(env)
        return self._call(env, resolved, pointers)

    def _call(self, env: Activation, resolved: Resolved, pointers: list[object]) -> int:
        state = self._state
        span = self.run.block.bindings[self.run.start].span
        fuel, budget, counts = state.provide(self._steps, span), state.budget, state.counts
        if not fuel or budget.depth >= budget.max_depth or resolved.allocated > budget.max_bytes - budget.bytes:
            counts.declined += 1
            return 0
        given = min(fuel, self.spending.left(resolved.dims)) if resolved.dims else fuel
        state.watch.begin(state.run, given)
        made = [
            Tensor.empty(shape, operand.dtype, origin=origin, budget=budget)
            for operand, shape, origin in zip(self.run.outputs, resolved.outputs, self._origins, strict=True)
        ]
        passed = [*pointers, *map(address_of, made), state.workspace(resolved.workspace), *resolved.numbers]
        status = self._function(state.run, *passed)
        used = given - max(0, fuel_left(state.run))
        if resolved.dims:
            self.spending.spend(resolved.dims, used)
        if status == Status.DONE:
            counts.native += 1
            self._bind(env, made, used)
            return self.run.stop - self.run.start
        if status == Status.FUEL_EXHAUSTED and given < fuel:  # that much is better done for these dimensions
            return self(env)
        if status == Status.FUEL_EXHAUSTED:
            raise budget.out_of_fuel(span)
        if status == Status.STOPPED:
            raise state.watch.end()
        counts.stopped += 1
        return 0

    def _bind(self, env: Activation, made: list[Tensor], used: int) -> None:
        """Charge what was done, and bind the outputs."""
        self._state.budget.charge_fuel(used, self._steps)
        for operand, tensor in zip(self.run.outputs, made, strict=True):
            tensor.mark_initialised()
            if isinstance(operand.value, relax.Var):
                env.values[operand.value] = tensor

    def _for_dims(self, dims: Dimensions) -> "FusedCall | None":
        specials = self.compiled.specials
        made = None if specials is None else specials.run(self.run, dict(zip(self.variables, dims, strict=True)))
        return None if made is None else FusedCall(made.runs[0], made, self._state)

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
        key = tuple([env.dims.get(var) for var in self.variables])
        if key not in self._remembered:
            if len(self._remembered) >= MOST_SHAPES:
                self._remembered.clear()
            dims = {var: value for var, value in zip(self.variables, key, strict=True) if isinstance(value, int)}
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
    *passed, workspace, allocated = numbers
    return Resolved(inputs, outputs, sizes, tuple(passed), workspace, allocated, tuple(dims.values()))


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
