"""A run of bindings of a dataflow block in C: tensors that come in, fresh tensors that go out, memory in between.

C writes only fresh memory. So where it stops the interpreter executes the bindings, and nothing has to be restored.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.evaluate import known
from refmlc.native.fuse.plan import Fused, Operand
from refmlc.native.tier.argument_binding import MOST_EXTENT, address_of
from refmlc.native.tier.compiled_module import CompiledModule, c_type_of_fused
from refmlc.native.tier.native_call import State
from refmlc.native.tier.prepared_calls import Dimensions, PreparedCall, PreparedCalls
from refmlc.native.tier.watch import fuel_left
from refmlc.native.unit import Status
from refmlc.run.dims import Dims
from refmlc.run.interp.graph.activation import Activation
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.tensor import Tensor


@dataclass(frozen=True, slots=True)
class ResolvedPlan:
    """The values of the expressions of a plan for some values of the symbolic dimensions. Units: bytes."""

    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    numbers: tuple[int, ...]
    workspace: int
    allocated: int


class FusedCall:
    """A run of bindings as a callable on activations. Not for concurrent use."""

    def __init__(self, run: Fused, compiled: CompiledModule, state: State) -> None:
        """Prepare what does not depend on the activation."""
        self.run = run
        self.compiled = compiled
        self._function = compiled.function(run.symbol, c_type_of_fused(run))
        self._state = state
        self._constants = {
            operand.value: Tensor.from_numpy(operand.value.data, operand.dtype, origin="a constant")
            for operand in run.inputs
            if isinstance(operand.value, relax.Constant)
        }
        self._origins = [origin_of(run, operand) for operand in run.outputs]
        self.variables = _variables(run)
        self._steps = run.steps
        self._prepared: PreparedCalls[PreparedFusedCall | None] = PreparedCalls()

    def __call__(self, env: Activation) -> int:
        """Execute the bindings; returns how many: all, or none where the interpreter has to. Fails: RM601, RM605."""
        prepared = self.prepare(tuple([env.dims.get(var) for var in self.variables]))
        pointers = None if prepared is None else self._inputs(env, prepared.plan)
        if prepared is None or pointers is None:
            self._state.counts.declined += 1
            return 0
        if prepared.specialised is not None:
            return prepared.specialised(env)
        return self._call(env, prepared, pointers)

    def prepare(self, dims: tuple[object, ...]) -> "PreparedFusedCall | None":
        """The prepared call where the variables are `dims`; None: one has no value, or the plan does not hold."""
        return self._prepared.find(dims, lambda: self._prepared_call(dims))

    def _prepared_call(self, dims: tuple[object, ...]) -> "PreparedFusedCall | None":
        sizes = tuple([size for size in dims if isinstance(size, int)])
        plan = resolve(self.run, dict(zip(self.variables, sizes, strict=True))) if len(sizes) == len(dims) else None
        return None if plan is None else PreparedCall(sizes, plan, self._specialise)

    def _call(self, env: Activation, prepared: "PreparedFusedCall", pointers: list[object]) -> int:
        state, resolved = self._state, prepared.plan
        span = self.run.block.bindings[self.run.start].span
        budget, counts = state.budget, state.counts
        budgeted = state.provide(self._steps, span)
        if (
            not budgeted
            or budget.depth + self.run.levels >= budget.max_depth
            or resolved.allocated > budget.max_bytes - budget.bytes
        ):
            counts.declined += 1
            return 0
        fuel = min(budgeted, prepared.left)
        state.watch.begin(state.run, fuel)
        outputs = [
            Tensor.empty(shape, operand.dtype, origin=origin, budget=budget)
            for operand, shape, origin in zip(self.run.outputs, resolved.outputs, self._origins, strict=True)
        ]
        passed = [*pointers, *map(address_of, outputs), state.workspace.pointer(resolved.workspace), *resolved.numbers]
        status = self._function(state.run, *passed)
        fuel_used = fuel - max(0, fuel_left(state.run))
        prepared.count(fuel_used)
        if status == Status.DONE:
            counts.native += 1
            self._bind(env, outputs, fuel_used)
            return self.run.stop - self.run.start
        if status == Status.FUEL_EXHAUSTED and fuel < budgeted:  # so much work is worth a specialisation
            return self(env)
        if status == Status.FUEL_EXHAUSTED:
            raise budget.out_of_fuel(span)
        if status == Status.STOPPED:
            raise state.watch.end()
        counts.stopped += 1
        return 0

    def _bind(self, env: Activation, outputs: list[Tensor], fuel_used: int) -> None:
        """Charge the work, and bind the outputs."""
        self._state.budget.charge_fuel(fuel_used, self._steps)
        for operand, tensor in zip(self.run.outputs, outputs, strict=True):
            tensor.mark_initialised()
            if isinstance(operand.value, relax.Var):
                env.values[operand.value] = tensor
        for var, numbers in self.run.tuples:
            env.values[var] = tuple([outputs[number] for number in numbers])

    def _specialise(self, dims: Dimensions) -> "FusedCall | None":
        specialisations, values = self.compiled.specialisations, dict(zip(self.variables, dims, strict=True))
        compiled = None if specialisations is None else specialisations.run(self.run, values)
        return None if compiled is None else FusedCall(compiled.runs[0], compiled, self._state)

    def _inputs(self, env: Activation, resolved: ResolvedPlan) -> list[object] | None:
        """Pointers to the inputs; None where one does not certainly fit."""
        pointers: list[object] = []
        for operand, shape in zip(self.run.inputs, resolved.inputs, strict=True):
            value = operand.value
            tensor: Any = env.values.get(value) if isinstance(value, relax.Var) else self._constants[value]
            fits = isinstance(tensor, Tensor) and tensor.dtype == operand.dtype and tensor.shape == shape
            if not fits or tensor.strides is not None or not tensor.storage.alive or not tensor.initialised:
                return None
            pointer = address_of(tensor)
            if pointer is None:
                return None
            pointers.append(pointer)
        return pointers


PreparedFusedCall: TypeAlias = PreparedCall[ResolvedPlan, FusedCall]


def resolve(run: Fused, dims: Dims) -> ResolvedPlan | None:
    """The plan for these dimensions; None where it does not hold."""
    if not all(0 <= size <= MOST_EXTENT for size in dims.values()):
        return None
    if any(known(left, dims) is None or known(left, dims) != known(right, dims) for left, right in run.equal):
        return None
    inputs, outputs = _shapes(run.inputs, dims), _shapes(run.outputs, dims)
    numbers = _values((*run.numbers, run.workspace, run.allocated), dims)
    if inputs is None or outputs is None or numbers is None:
        return None
    cells = [cell_size(output.dtype) * output.dtype.lanes for output in run.outputs]
    sizes = tuple([prod(shape) * size for shape, size in zip(outputs, cells, strict=True)])
    *passed, workspace, allocated = numbers
    return ResolvedPlan(inputs, outputs, sizes, tuple(passed), workspace, allocated)


def _shapes(operands: Sequence[Operand], dims: Dims) -> tuple[tuple[int, ...], ...] | None:
    shapes = tuple([shape for operand in operands if (shape := _values(operand.shape, dims)) is not None])
    return shapes if len(shapes) == len(operands) else None


def _values(exprs: Iterable[tir.Expr], dims: Dims) -> tuple[int, ...] | None:
    """The values of expressions; None where one has none, or a negative one."""
    values = [known(expr, dims) for expr in exprs]
    sizes = tuple([value for value in values if value is not None and value >= 0])
    return sizes if len(sizes) == len(values) else None


def _variables(run: Fused) -> tuple[tir.Var, ...]:
    """The symbolic dimensions that the plan depends on."""
    shapes = [part for operand in (*run.inputs, *run.outputs) for part in operand.shape]
    pairs = [part for pair in run.equal for part in pair]
    exprs = (*shapes, *pairs, *run.numbers, run.workspace, run.allocated)
    return tuple(dict.fromkeys(node for expr in exprs for node in walk(expr) if isinstance(node, tir.Var)))


def origin_of(run: Fused, operand: Operand) -> str:
    """The allocator of an output, as messages name it."""
    for binding in run.block.bindings[run.start : run.stop]:
        if binding.var is operand.value and isinstance(binding.value, relax.Call):
            callee = binding.value.args[0] if binding.value.args else None
            return f"`{callee.name}`" if isinstance(callee, tir.GlobalVar) else ""
    return ""
